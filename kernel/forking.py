"""Forks: which facts a FORK records and which changes are valid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from goldrush.kernel.codec import pack
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.rosters import ENTRY, Config, Roster, Settings, check_entries, whole_roster
from goldrush.kernel.settings import check_setting
from goldrush.kernel.shape import Kind
from goldrush.kernel.world import EventType, Row, Vocabulary

C = TypeVar("C", bound=Config)

# A submission that a fork replaces: the number of its unit, of its step (in worlds whose units have
# several), and its row.
Replacement = tuple[int, Row] | tuple[int, int, Row]


def changes(old: Settings, new: Settings) -> dict[str, Any]:
    """The settings in which two configurations differ, with the new values, in declared order;
    those that one of them leaves out come last.
    """
    before, after = old.as_dict(), new.as_dict()
    names = dict.fromkeys([*(name for name in after if name in before), *after, *before])

    def value(config: Settings, recorded: Mapping[str, Any], name: str) -> Any:
        return recorded[name] if name in recorded else getattr(config, name, None)

    return {
        name: value(new, after, name)
        for name in names
        if pack(value(new, after, name)) != pack(value(old, before, name))
    }


def place_of(replaced: Replacement) -> tuple[int, int, Row]:
    """(unit, step, row) of a replaced submission; the step is 0 where it is not recorded."""
    unit, *step, row = replaced
    return unit, step[0] if step else 0, row


class Forks(msgspec.Struct, Generic[C], frozen=True):
    """What a fork may change: settings, the roster, and submissions of later units, given by hand.

    A fork's facts are `parent`, `changes`, `roster` (or None) and `replaced`: for each submission
    the number of its unit, as shown to people, in worlds whose units have several steps that of its
    step, from 0, and its row. In the methods, `closed` is the number of closed units at the fork,
    and `agents` that of the agents; None: as many as the configuration has.

    Attributes:
        config: the class of the configuration.
        config_of: makes a configuration from settings by name, or raises BadInput.
        submitted: by step of a unit, the event of a submission, whose first field is the agent;
            None: nobody submits in that step.
        horizon: the setting that is the number of units.
        vocabulary: the world's nouns.
        fixed: the settings that a fork cannot change.
        entry: the kinds of the fields of the roster's entries.
        more, last: the names of further facts, which the world checks; `more` precede `replaced`,
            and `last` follow it.
        place: `place(row)`: the place of a submission in its step: numbers by name, `agent` last.
    """

    config: type[Any]
    config_of: Callable[[Mapping[str, Any]], C]
    submitted: Sequence[EventType | None]
    horizon: str
    vocabulary: Vocabulary = msgspec.field(default_factory=Vocabulary)
    fixed: Sequence[str] = ("agents",)
    entry: Mapping[str, Kind] = msgspec.field(default_factory=lambda: ENTRY)
    more: Sequence[str] = ()
    last: Sequence[str] = ()
    place: Callable[[Row], Mapping[str, int]] = lambda row: {"agent": row[0]}

    def forked(
        self, config: C, facts: Mapping[str, Any], closed: int, agents: int | None = None
    ) -> tuple[C, Roster | None]:
        """The configuration after a fork, and its new roster or None.

        Raises BadInput for facts that this run cannot take; TypeError, ValueError, LookupError for
        values that are no facts at all.
        """
        self._check(facts)
        new = self.changed(config, facts["changes"], closed)
        if pack(changes(config, new)) != pack(facts["changes"]):
            raise BadInput("the changes are not those of the settings", "leave out unchanged ones")
        agents = new.agents if agents is None else agents
        self.check_replaced(facts["replaced"], new, closed, agents)
        players = self.vocabulary.players
        roster = facts[players]
        return new, None if roster is None else whole_roster(roster, agents, players, self.entry)

    def changed(self, config: C, settings: Mapping[str, Any], closed: int) -> C:
        """The configuration with other settings. Raises BadInput for an invalid change."""
        new = self.with_settings(config, settings)
        self.check_change(config, new, closed)
        return new

    def with_settings(self, config: C, settings: Mapping[str, Any]) -> C:
        """The configuration with other settings, whether or not a run can go on under it."""
        return self.config_of({**config.as_dict(), **settings})

    def show(self, facts: Mapping[str, Any]) -> Mapping[str, Any]:
        """The facts for the `forked` event, with `replaced` as pairs of unit and agent.

        Raises as `forked`.
        """
        self._check(facts)
        replaced = [[*unit, self.place(row)["agent"]] for *unit, row in facts["replaced"]]
        return {**facts, "replaced": replaced}

    def check_change(self, old: C, new: C, closed: int) -> None:
        """Check that a run with `closed` closed units can continue under another configuration.

        Raises BadInput, naming setting and values, for a fixed setting that differs, and for a
        horizon before the fork.
        """
        run, before, after = self.vocabulary.run, old.as_dict(), new.as_dict()
        for name in self.fixed:
            if after[name] != before[name]:
                raise BadInput(
                    f"{name} cannot change in the middle of a {run}, "
                    f"from {before[name]} to {after[name]}",
                    f"record another {run}",
                )
        units, last = getattr(new, self.horizon), self.vocabulary.number(closed)
        if units < closed:
            raise BadInput(
                f"{self.horizon} is {units}, but the {run} is forked at {last}",
                f"give {closed} or more",
            )

    def check_replaced(
        self, replaced: Sequence[Replacement], config: C, closed: int, agents: int | None = None
    ) -> None:
        """Check the submissions that a fork replaces.

        Raises BadInput unless they are of later units, ascending, at most one for each place in a
        step.
        """
        vocabulary = self.vocabulary
        first, end = vocabulary.number(closed + 1), vocabulary.number(getattr(config, self.horizon))
        last: tuple[int, ...] = (first, -1)
        agents = config.agents if agents is None else agents
        for unit, step, row in map(place_of, replaced):
            # Without an agent it is of all together, and stands for that of the first.
            place = {name: number or 0 for name, number in self.place(row).items()}
            here, agent = (unit, step, *place.values()), place["agent"]
            if not last < here or unit > end:
                steps = {"step": step} if len(self.submitted) > 1 else {}
                numbers = {vocabulary.unit: unit, **steps, **place}
                where = ", ".join(f"{name} {n}" for name, n in numbers.items() if name != "agent")
                raise BadInput(
                    f"the submission of agent {agent} in {where} cannot be replaced",
                    f"give {vocabulary.units} {first} to {end}, and each place once",
                )
            if agent >= agents:
                raise BadInput(
                    f"a submission of agent {agent} is given, who does not exist",
                    f"the last agent is {agents - 1}",
                )
            last = here

    def check_setting(self, name: str, value: object) -> None:
        """Check the name and the value of a changed setting. Raises BadInput."""
        check_setting(self.config, name, value)

    def _check(self, facts: Mapping[str, Any]) -> None:
        players = self.vocabulary.players
        names = ["parent", "changes", players, *self.more, "replaced", *self.last]
        if list(facts) != names:
            raise BadInput(f"a fork has {', '.join(map(str, facts))}", f"it has {', '.join(names)}")
        parent = facts["parent"]
        if type(parent) is not str or len(parent) != 64 or set(parent) - set("0123456789abcdef"):
            raise BadInput(f"the parent is {format_value(parent)}", "it must be a SHA-256 in hex")
        for name, value in facts["changes"].items():
            self.check_setting(name, value)
        if facts[players] is not None:
            check_entries(facts[players], players, self.entry)
        for item in facts["replaced"]:
            if type(item) is not tuple or len(item) != (2 if len(self.submitted) == 1 else 3):
                raise BadInput(f"{format_value(item)} is replaced", "give a place and a submission")
            unit, step, row = place_of(item)
            is_step = type(step) is int and 0 <= step < len(self.submitted)
            submitted = self.submitted[step] if is_step else None
            if submitted is None:
                raise BadInput(f"there is no step {format_value(step)} to replace", "give another")
            fault = submitted.fault(row)
            if fault is not None or type(unit) is not int:
                unknown = f"there is no {self.vocabulary.unit} {format_value(unit)} to replace"
                raise BadInput(fault or unknown, "give a submission")
