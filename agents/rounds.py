"""A step of worlds whose agents submit simultaneously: what such a world gives, and how its agents
are asked.

A submission is the row of an input; the answer of a model or a person is read into one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Generic, Protocol, TypeVar

import attrs

from goldrush.agents.llm.failures import NO_JSON
from goldrush.agents.llm.model import Model
from goldrush.agents.llm.question import Answer, Message, Question, Source, Whole
from goldrush.agents.llm.usage import AnswerFields
from goldrush.agents.llm.wording_rosters import wording_at
from goldrush.agents.llm.wordings import RESERVED, Wording
from goldrush.agents.people import Inquiry
from goldrush.agents.players import Players
from goldrush.agents.recorded import Recording
from goldrush.agents.roster import Entry, Roster
from goldrush.agents.seats import PolicySet, is_outside
from goldrush.agents.session import Input, Script, row_of
from goldrush.agents.trust import LLM
from goldrush.kernel.collector import CollectorPaused
from goldrush.kernel.errors import PolicyFailed, format_error
from goldrush.kernel.forking import Forks
from goldrush.kernel.rosters import Config
from goldrush.kernel.shape import Schema
from goldrush.kernel.treatments import Treatment
from goldrush.kernel.world import Row, World

Played = tuple[Entry, Any]  # an agent and its policy
# Replaced submissions of a fork: (unit, step) -> agent -> row.
Replaced = Mapping[tuple[int, int], Mapping[int, Row]]


class SimultaneousState(Protocol):
    """A state of such a world."""

    @property
    def config(self) -> Any: ...
    @property
    def roster(self) -> Sequence[Mapping[str, Any]]: ...


S = TypeVar("S", bound=SimultaneousState)
V = TypeVar("V")


class RoundPlayers(Players[S], Generic[S, V], ABC):
    """What a world gives whose agents submit simultaneously, and how a step is played. A world
    derives `SimultaneousPlayers` and gives the attributes and methods before `play`; those with a
    default suit most worlds.

    Attributes:
        world: the world.
        policy_set: the policies that rosters can name, and the prompt of models if these can play.
        codes: by step of a unit, the code of the event of a submission, an input whose first field
            is the agent; None: nobody submits in that step. If models can play, it has the fields
            `error` (text or null) and `source` (facts or null), as far from its end in each.
        treatments: the treatments of runs.
        forks: the changes that forks can make; None: runs cannot be forked.
        stand_in: the policy that plays instead of models when their costs are estimated.
        source: the source of the rules, as START and FORK record it; None: they record none.
        noun: for a submission; empty: the name of its event.
        talk: name of the setting with which agents read texts of others; empty: they never do.
        leaves_state: `view` and the world's own policies leave the state that they are given as it
            is. Otherwise `verify` gives them a copy.
        checks_replaced: before a fork, its units are played in memory, as far as policies alone
            decide, to refuse a replaced submission of an agent that is not asked.
    """

    world: World[S]
    policy_set: PolicySet
    codes: Sequence[int | None]
    treatments: Mapping[str, Treatment[Any]] = {}
    forks: Forks[Any] | None = None
    stand_in: str = ""
    source: Mapping[str, object] | None = None
    noun: str = ""
    talk: str = ""
    leaves_state: bool = False
    checks_replaced: bool = False

    def __init__(self) -> None:
        """Raises ValueError for a policy set of another world."""
        known = self.policy_set
        if known.world != self.world.name:
            raise ValueError(f"a policy set of {known.world!r} in a world {self.world.name!r}")
        self.recording, self.policies, self.prompt = known.recording, known.catalogue, known.prompt
        if known.prompt is not None:
            self.answers = AnswerFields(self.submitted, self.answer_in, "agent", known.prompt)

    @abstractmethod
    def config_of(self, settings: Mapping[str, object]) -> Config:
        """The configuration with these settings. Raises BadInput."""

    @abstractmethod
    def unit(self, state: S) -> int:
        """The displayed number of the next unit."""

    def turn(self, state: S) -> tuple[int, Sequence[int]]:
        """The number of the next step in its unit, from 0, and the agents who submit in it,
        ascending. By default a unit has one step, in which all submit.
        """
        return 0, range(len(state.roster))

    @abstractmethod
    def view(self, state: S) -> V:
        """The observation that all agents share, computed once a step."""

    @abstractmethod
    def ask(self, policy: Any, entry: Entry, view: V) -> Row:
        """The row of a policy's submission. Any exception is reported as the policy's failure."""

    @abstractmethod
    def resubmitted(self, item: Mapping[str, Any], config: Any, code: int) -> Row:
        """The row of a replaced submission, given in the form of its event. Raises BadPlan, and
        KeyError for a missing field.
        """

    def replayed(self, row: Row, view: V) -> Row:
        """The submission of a recorded agent, from its recorded row."""
        return row

    def unread(self, row: Row) -> bool:
        """Whether a submission has actions, of which none could be read."""
        return False

    # Of worlds in which models can play.

    def messages(self, view: V, agent: int) -> Sequence[Message]:
        """The messages of a prompt."""
        raise NotImplementedError

    def schema(self, view: V, agent: int) -> Schema:
        """The JSON schema of an answer, for servers that enforce one."""
        raise NotImplementedError

    def answered(
        self, view: V, agent: int, text: str | None, error: str | None, source: Source
    ) -> Row:
        """The submission of an answer: see `session.Play.row`. An unreadable answer is an empty
        submission with an error.
        """
        raise NotImplementedError

    # A step.

    def play(
        self,
        state: S,
        policies: Mapping[int, Played],
        entries: Sequence[Entry],
        *,
        models: Mapping[int, Model] = {},
        replaced: Mapping[tuple[int, int], Mapping[int, Row]] = {},
        believed: Collection[int] = (),
    ) -> RoundPlay[V] | None:
        """The next step; None if nobody submits in it. `replaced`: of all units; the others are as
        those of RoundPlay.
        """
        step, agents = self.turn(state)
        if self.codes[step] is None:
            return None
        unit = self.unit(state)
        return RoundPlay(
            self, unit, self.view(state), step, agents, policies, entries, models,
            replaced.get((unit, step), {}), believed, state.config.seed,
        )  # fmt: skip

    @property
    def submitted(self) -> Sequence[int]:
        """The codes of the events of submissions, each once."""
        return list(dict.fromkeys(code for code in self.codes if code is not None))

    @property
    def has_steps(self) -> bool:
        """Whether a unit has several steps, so that a submission is known by its step, too."""
        return len(self.codes) > 1

    def field(self, name: str) -> int:
        """The index of a field in the rows of submissions, from their end."""
        fields = list(self.world.events[self.submitted[0]].fields)
        return fields.index(name) - len(fields)

    def answer_in(self, row: Row) -> Answer:
        """The answer that a submission records."""
        fields = self.world.events[self.submitted[0]].fields
        source = row[self.field("source")] if "source" in fields else None
        error = row[self.field("error")] if "error" in fields else None
        text = source.get("raw") if source else None
        answer = Answer.recorded(row[0], "", text if type(text) is str else None, error, source)
        return attrs.evolve(answer, is_unread=True) if self.unread(row) else answer

    def check_prompt(self, entry: Entry) -> None:
        """Raises BadInput for a model or a person that was asked with another prompt."""
        if self.prompt is not None and is_outside(entry.policy):
            self.prompt.check(entry.options)

    def wording_of(self, entry: Entry, roster: Roster) -> Wording | None:
        """The wording of a model or a person; None: the default texts. Raises BadInput."""
        if self.prompt is None or "wording" not in entry.options:
            return None
        return wording_at(entry, roster, self.prompt.wordable())

    def prompt_for(
        self, view: V, asked: Question, entry: Entry, model: Model | None, models: int = 1
    ) -> Question:
        """A question to an agent in the form for a model or a person. `models`: the agents of the
        roster that are models.
        """
        is_model = entry.policy == LLM
        whole = Whole.of(entry.options.get("reasoning"), models) if is_model else None
        schema = partial(self.schema, view, asked.agent)
        messages = self.messages(view, asked.agent)
        return attrs.evolve(asked, model=model, messages=messages, make_schema=schema, whole=whole)

    def units(self, config: Config) -> int:
        """The number of units of a run."""
        number: int = getattr(config, self.horizon)
        return number


@attrs.define  # frozen, it would take a microsecond more, in each step of a run
class RoundPlay(Generic[V]):
    """One step: a `session.Play`.

    Attributes:
        number: of the unit, as displayed.
        step: its number in the unit, from 0.
        agents: those who submit in it, ascending.
        policies: the agents that policies play; the others answer from outside.
        entries: of the roster, by agent.
        models: the models that play, or in whose place policies play, by agent.
        replaced: submissions that replace those of agents, by agent.
        believed: agents from outside whose recorded rows are not read again.
        seed: the run's, for seeds of requests.
    """

    players: RoundPlayers[Any, V]
    number: int
    view: V
    step: int
    agents: Sequence[int]
    policies: Mapping[int, Played]
    entries: Sequence[Entry]
    models: Mapping[int, Model] = attrs.field(factory=dict)
    replaced: Mapping[int, Row] = attrs.field(factory=dict)
    believed: Collection[int] = ()
    seed: int = 0

    @property
    def code(self) -> int:
        code = self.players.codes[self.step]
        assert code is not None  # a step in which nobody submits is not played
        return code

    @property
    def unit(self) -> str:
        step = f", step {self.step}" if self.players.has_steps else ""
        return f"{self.players.world.vocabulary.unit} {self.number}{step}"

    def script(self) -> Script:
        """Asks everybody whose submission is not replaced."""
        asked = [Question(agent) for agent in self.agents if agent not in self.replaced]
        answers = yield asked
        rows = {**self.replaced, **dict(zip((a.agent for a in asked), answers, strict=True))}
        yield tuple(row for agent in self.agents if (row := rows[agent]) is not None)

    def do(self, acts: tuple[Row, ...]) -> list[Input]:
        return [(self.code, row) for row in acts]

    def is_outside(self, asked: Question) -> bool:
        return asked.agent not in self.policies

    def answer(self, asked: Question, number: int) -> Row:
        # Draws do not depend on the number of the question: an agent has one in a step.
        return self.submissions([asked.agent])[0]

    def submissions(self, agents: Iterable[int]) -> list[Row]:
        """The rows of agents whom policies play. Raises PolicyFailed for any exception of one."""
        rows: list[Row] = []
        players, view, policies = self.players, self.view, self.policies
        try:
            with CollectorPaused():
                for agent in agents:
                    entry, policy = policies[agent]
                    if isinstance(policy, Recording):
                        unit = players.world.vocabulary.unit_of(self.number)
                        row = players.replayed(policy.submission(unit, self.step, agent), view)
                    else:
                        row = players.ask(policy, entry, view)
                    rows.append(row)
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:  # a policy may raise anything
            noun, fault = players.world.vocabulary.unit, format_error(error)
            raise PolicyFailed(entry.policy, agent, self.number, fault, noun) from error
        return rows

    def model(self, asked: Question) -> Model | None:
        return self.models.get(asked.agent)

    def prompt(self, asked: Question) -> Question:
        if asked.agent in self.believed:
            return attrs.evolve(asked, is_believed=True)
        entry = self.entries[asked.agent]
        model = self.model(asked)
        return self.players.prompt_for(self.view, asked, entry, model, self._all_models)

    @cached_property
    def _all_models(self) -> int:
        return sum(entry.policy == LLM for entry in self.entries)

    def inquiry(self, prompt: Question) -> Inquiry:
        agent = prompt.agent
        wording = self.players.wording_of(self.entries[agent], Roster(self.entries))
        player, unit = f"agent {agent}", self.unit
        event = self.players.world.events[self.code].name
        wrong = f"it is not a {self.players.noun or f'`{event}`'}"
        if wording is not None:  # the world's own words would give away what it renames
            is_named = wording.names.agents is not None
            player = wording.names.agent(agent) if is_named else f"number {agent}"
            unit, wrong = "", "it does not have the form that is asked for"

        def fault(text: str) -> str | None:
            code = self.answer_in(row_of(self, prompt, Answer(agent, text=text))).error
            if code == NO_JSON:
                keys = prompt.schema["properties"]
                fields = " or ".join([key for key in keys if key not in RESERVED] or keys)
                return f"{wrong}: there is no JSON object with {fields}"
            return None if code is None else f"{wrong} ({code})"

        return Inquiry(player, unit, prompt.messages, prompt.schema, fault)

    def row(self, prompt: Question, text: str | None, error: str | None, source: Source) -> Row:
        return self.players.answered(self.view, prompt.agent, text, error, source)

    def unanswered(self, prompt: Question) -> None:
        """None: an agent that is not asked submits nothing."""

    def answer_in(self, row: Row) -> Answer:
        return self.players.answer_in(row)

    def read(self, asked: Question, row: Row | None) -> None:
        """None: the row itself is an input."""

    def rest(self, asked: Sequence[Question], acts: Sequence[Input]) -> None:
        """None: who cannot be asked again is believed, and no other act of the step follows."""
