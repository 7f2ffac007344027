"""What a fork may change, and its facts: what they have in common in every world (whose child it
is, other settings), and all of them where all agents submit at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Generic, Protocol, TypeVar

import attrs

from goldrush.kernel.codec import pack
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.rosters import Config, Roster, check_entries, whole_roster
from goldrush.kernel.settings import check_setting
from goldrush.kernel.world import EventType, Row, Vocabulary

C = TypeVar("C", bound=Config)

FACTS: Final = ("parent", "changes", "roster", "replaced")


class Settings(Protocol):
    """A configuration of any world."""

    def as_dict(self) -> dict[str, Any]:
        """All settings in declared order."""
        ...


def changes(old: Settings, new: Settings) -> dict[str, Any]:
    """The settings in which two configurations differ, with the new values, in declared order."""
    before = old.as_dict()
    return {
        name: value for name, value in new.as_dict().items() if pack(value) != pack(before[name])
    }


def check_changes(old: Settings, new: Settings, said: Mapping[str, Any]) -> None:
    """Raises BadInput where the changes that a fork states are not those it makes."""
    if pack(changes(old, new)) != pack(said):
        raise BadInput("the changes are not those of the settings", "leave out what stays")


def check_facts(facts: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raises BadInput unless the facts have these names, in order, and a parent's SHA-256."""
    if list(facts) != list(names):
        raise BadInput(f"a fork has {', '.join(map(str, facts))}", f"it has {', '.join(names)}")
    parent = facts["parent"]
    if type(parent) is not str or len(parent) != 64 or set(parent) - set("0123456789abcdef"):
        raise BadInput(f"the parent is {format_value(parent)}", "it must be a SHA-256 in hex")


def check_fixed(old: Settings, new: Settings, names: Sequence[str], run: str = "run") -> None:
    """Raises BadInput where one of these settings differs; `run` is what the world calls a run."""
    before, after = old.as_dict(), new.as_dict()
    for name in names:
        if after[name] != before[name]:
            raise BadInput(
                f"{name} cannot change in the middle of a {run}, "
                f"from {before[name]} to {after[name]}",
                f"record another {run}",
            )


@attrs.frozen
class Forks(Generic[C]):
    """What forks may change in a world in which all agents submit once a unit: settings, the
    roster, and submissions of units to come, which are put in by hand.

    - `config`: the class of the configuration; `config_of(settings)` makes one, or raises BadInput.
    - `submitted`: the event of a submission, whose first field is the agent.
    - `horizon`: the setting that is the number of units.
    - `fixed`: the settings that stay as they are.

    A fork's facts are `parent`, `changes`, `roster` (or None) and `replaced`, pairs of a unit's
    number, as people count, and the row that is submitted there. `closed`, below, is how many units
    are closed where a run is forked.
    """

    config: type[Any]
    config_of: Callable[[Mapping[str, Any]], C]
    submitted: EventType
    horizon: str
    vocabulary: Vocabulary = attrs.field(factory=Vocabulary)
    fixed: Sequence[str] = ("agents",)

    def forked(self, config: C, facts: Mapping[str, Any], closed: int) -> tuple[C, Roster | None]:
        """The configuration after a fork, and the new roster if there is one. Raises BadInput, or
        what unpacking raises, for facts that this run cannot take.
        """
        self._check(facts)
        new = self.changed(config, facts["changes"], closed)
        check_changes(config, new, facts["changes"])
        self.check_replaced(facts["replaced"], new, closed)
        roster = facts["roster"]
        return new, None if roster is None else whole_roster(roster, new)

    def changed(self, config: C, settings: Mapping[str, Any], closed: int) -> C:
        """The configuration with other settings. Raises BadInput for what cannot be."""
        new = self.config_of({**config.as_dict(), **settings})
        self.check_change(config, new, closed)
        return new

    def show(self, facts: Mapping[str, Any]) -> Mapping[str, Any]:
        """The facts for the `forked` event: of submissions put in by hand the unit and the agent.
        Raises as `forked` does for what can be the facts of no fork.
        """
        self._check(facts)
        return {**facts, "replaced": [[unit, row[0]] for unit, row in facts["replaced"]]}

    def check_change(self, old: C, new: C, closed: int) -> None:
        """Raises BadInput where a run cannot go on under another configuration."""
        check_fixed(old, new, self.fixed)
        units, last = getattr(new, self.horizon), self.vocabulary.number(closed)
        if units < closed:
            raise BadInput(
                f"{self.horizon} is {units}, but the run is forked at {last}",
                f"give {closed} or more",
            )

    def check_replaced(self, replaced: Sequence[tuple[int, Row]], config: C, closed: int) -> None:
        """Raises BadInput unless the rows are of units to come, ascending, once an agent."""
        vocabulary = self.vocabulary
        first, end = vocabulary.number(closed + 1), vocabulary.number(getattr(config, self.horizon))
        last = (first - 1, config.agents)
        for unit, row in replaced:
            if not last < (unit, row[0]) or unit > end:
                raise BadInput(
                    f"{vocabulary.unit} {unit} of agent {row[0]} is replaced",
                    f"give {vocabulary.units} {first} to {end}, ascending, each agent once",
                )
            if row[0] >= config.agents:
                raise BadInput(
                    f"agent {row[0]} is replaced", f"the last one is {config.agents - 1}"
                )
            last = (unit, row[0])

    def _check(self, facts: Mapping[str, Any]) -> None:
        check_facts(facts, FACTS)
        for name, value in facts["changes"].items():
            check_setting(self.config, name, value)
        if facts["roster"] is not None:
            check_entries(facts["roster"])
        for unit, row in facts["replaced"]:
            fault = self.submitted.fault(row)
            if fault is not None or type(unit) is not int:
                says = f"{self.vocabulary.unit} {format_value(unit)} is replaced"
                raise BadInput(fault or says, "give a submission")
