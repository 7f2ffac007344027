"""`StageGame`: the functions of a world whose agents submit at once, in each step of a unit.

`simultaneous.StagePlayers` are the players of such a world.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

import attrs

from goldrush.agents.llm.model import Model
from goldrush.agents.llm.question import About, Message, Question, Source, Whole
from goldrush.agents.llm.wording_rosters import check_names, wording_at
from goldrush.agents.llm.wordings import Wording
from goldrush.agents.roster import Entry, Roster
from goldrush.agents.seats import PolicySet, is_outside
from goldrush.agents.trust import LLM
from goldrush.kernel.forking import Forks
from goldrush.kernel.rosters import Config
from goldrush.kernel.shape import Schema
from goldrush.kernel.treatments import Treatment
from goldrush.kernel.world import Row, World


class StageState(Protocol):
    """A state of such a world."""

    @property
    def config(self) -> Any: ...
    @property
    def roster(self) -> Sequence[Mapping[str, Any]]: ...


S = TypeVar("S", bound=StageState)
V = TypeVar("V")


@attrs.frozen
class Prompting(Generic[V]):
    """How language models are asked.

    Attributes:
        messages, schema: `(view, agent)` to the messages of the prompt, and to the JSON schema of
            an answer, for servers that enforce one.
        row: `(view, agent, text, error, source)` to the submission of an answer: see
            `session.Play.row`. An unreadable answer is an empty submission with an error.
    """

    messages: Callable[[V, int], Sequence[Message]]
    schema: Callable[[V, int], Schema]
    row: Callable[[V, int, str | None, str | None, Source], Row]


@attrs.frozen
class Turn:
    """Who submits in the next step of a unit.

    Attributes:
        step: the number of the step in its unit, from 0.
        code: of the event of a submission; None: nobody submits.
        agents: those who submit, ascending.
    """

    step: int
    code: int | None
    agents: Sequence[int]


def _unchanged(row: Row, view: Any) -> Row:
    return row


@attrs.frozen
class StageGame(Generic[S, V]):
    """The functions of a world that concern its agents.

    Attributes:
        codes: by step of a unit, the code of the event of a submission, an input whose first field
            is the agent; None: nobody submits in that step. If models can play, it has the fields
            `error` (text or null) and `source` (facts or null), as far from its end in each.
        turn: `turn(state)`, the number of the next step in its unit and the agents who submit in
            it; None: a unit has one step, in which all submit.
        config_of: the configuration with these settings. Raises BadInput.
        horizon: name of the setting that is the number of units.
        unit: the displayed number of the next unit.
        view: the observation that all agents share, computed once a step.
        ask: `(policy, entry, view)` to the row of a policy's submission. Any exception is reported
            as the policy's failure.
        resubmitted: `(item, config, code)` to the row of a replaced submission, given in the form
            of its event. Raises BadPlan, and KeyError for a missing field.
        replayed: `(row, view)` to the submission of a recorded agent, from its recorded row.
        forks: the changes that forks can make; None: runs cannot be forked.
        prompting: how models are asked; None: they cannot play.
        stand_in: the policy that plays instead of models when their costs are estimated.
        source: the source of the rules, as START and FORK record it; None: they record none.
        noun: for a submission; empty: the name of its event.
        talk: name of the setting with which agents read texts of others; empty: they never do.
        leaves_state: `view` and the world's own policies leave the state that they are given as it
            is. Otherwise `verify` gives them a copy.
        unread: whether a submission has actions, of which none could be read.
        plays_ahead: units can be played in memory before they are recorded.
    """

    world: World[S]
    policy_set: PolicySet
    codes: Sequence[int | None]
    config_of: Callable[[Mapping[str, Any]], Config]
    horizon: str
    unit: Callable[[S], int]
    view: Callable[[S], V]
    ask: Callable[[Any, Entry, V], Row]
    resubmitted: Callable[[Mapping[str, Any], Any, int], Row]
    treatments: Mapping[str, Treatment[Any]] = attrs.field(factory=dict)
    turn: Callable[[S], tuple[int, Sequence[int]]] | None = None
    replayed: Callable[[Row, V], Row] = _unchanged
    forks: Forks[Any] | None = None
    prompting: Prompting[V] | None = None
    stand_in: str = ""
    source: Mapping[str, object] | None = None
    noun: str = ""
    talk: str = ""
    leaves_state: bool = False
    unread: Callable[[Row], bool] = lambda row: False
    plays_ahead: bool = True

    def __attrs_post_init__(self) -> None:
        """Raises ValueError if world, policy set and prompting do not match."""
        if self.policy_set.world != self.world.name:
            raise ValueError(
                f"a policy set of {self.policy_set.world!r} in a game of {self.world.name!r}"
            )
        if (self.policy_set.prompt is None) is not (self.prompting is None):
            raise ValueError("a policy set has a version of the prompt if the game has prompting")

    @property
    def submitted(self) -> Sequence[int]:
        """The codes of the events of submissions, each once."""
        return list(dict.fromkeys(code for code in self.codes if code is not None))

    @property
    def has_steps(self) -> bool:
        """Whether a unit has several steps, so that a submission is known by its step, too."""
        return len(self.codes) > 1

    def turn_of(self, state: S) -> Turn:
        """Who submits in the next step."""
        if self.turn is None:
            return Turn(0, self.codes[0], range(len(state.roster)))
        step, agents = self.turn(state)
        return Turn(step, self.codes[step], agents)

    def field(self, name: str) -> int:
        """The index of a field in the rows of submissions, from their end."""
        fields = list(self.world.events[self.submitted[0]].fields)
        return fields.index(name) - len(fields)

    def about(self, row: Row) -> About:
        """The facts of a submission."""
        fields = self.world.events[self.submitted[0]].fields
        source = row[self.field("source")] if "source" in fields else None
        error = row[self.field("error")] if "error" in fields else None
        text = source.get("raw") if source else None
        text = text if type(text) is str else None
        return About(row[0], "", text, error, source, unread=self.unread(row))

    @property
    def asked(self) -> Prompting[V]:
        """How models are asked, where they play."""
        assert self.prompting is not None
        return self.prompting

    def check_prompt(self, entry: Entry) -> None:
        """Raises BadInput for a model or a person that was asked with another prompt."""
        if self.policy_set.prompt is not None and is_outside(entry.policy):
            self.policy_set.prompt.check(entry.options)

    def wording_of(self, entry: Entry, roster: Roster) -> Wording | None:
        """The wording of a model or a person; None: the default texts. Raises BadInput."""
        if self.policy_set.prompt is None or "wording" not in entry.options:
            return None
        return wording_at(entry, roster, self.policy_set.prompt.wordable())

    def prompt(
        self, view: V, asked: Question, entry: Entry, model: Model | None, models: int = 1
    ) -> Question:
        """A question to an agent in the form for a model or a person. `models`: the agents of the
        roster that are models.
        """
        is_model = entry.policy == LLM
        whole = Whole.of(entry.options.get("reasoning"), models) if is_model else None
        schema = partial(self.asked.schema, view, asked.agent)
        messages = self.asked.messages(view, asked.agent)
        return attrs.evolve(asked, model=model, messages=messages, make_schema=schema, whole=whole)

    def units(self, config: Config) -> int:
        """The number of units of a run."""
        units: int = getattr(config, self.horizon)
        return units

    def check_names(self, roster: Roster, config: Config) -> None:
        """Check the names that the wordings of a roster give to things: see `wording_rosters`.

        Raises BadInput, also for a wording that no run records; InvalidWording, if the version of
        the prompt lacks it.
        """
        if roster.wordings and self.policy_set.prompt is not None:
            is_open = bool(self.talk) and getattr(config, self.talk)
            check_names(roster, self.policy_set.prompt, is_open=is_open)

    def check_recordings(self, roster: Roster, config: Config) -> None:
        """Raises BadInput unless the recordings cover all units of the `recorded` agents."""
        for recording in roster.recordings:
            for entry in roster.entries:
                if entry.options.get("journal") == recording.sha256:
                    recording.check(entry.agent, self.units(config))
