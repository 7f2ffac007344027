"""The players of a world whose agents submit simultaneously: each once in a step of a unit.

A submission is the row of an input; the answer of a model or a person is read into one. A world
derives `SimultaneousPlayers`, which prepares, plays and forks its runs; `StepPlay` is one step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property, partial
from itertools import cycle, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

import msgspec

from goldrush.agents.llm.failures import NO_JSON
from goldrush.agents.llm.options import RESERVED
from goldrush.agents.llm.question import (
    Answer,
    AnswerFields,
    Message,
    Question,
    Source,
    Whole,
)
from goldrush.agents.people import Inquiry
from goldrush.agents.players import (
    Facts,
    ForkChange,
    Players,
    PolicyCheck,
    PreparedRun,
    ResolvedChange,
    Resources,
    RunContext,
    recordings_of,
)
from goldrush.agents.recorded import Recording, several_steps_error
from goldrush.agents.replacements import (
    ReplacedByStep,
    parse_replacements,
    replaced_in,
)
from goldrush.agents.roster import Entry, Roster, entries_in, with_personas
from goldrush.agents.seats import (
    OBJECT,
    ImpossiblePlayer,
    check_people,
    classified,
    family_of,
    is_outside,
    models_in,
    with_models_resolved,
)
from goldrush.agents.session import Input, Script, Session, asked_again, row_of
from goldrush.agents.trust import LLM, check_trust, is_import_name
from goldrush.kernel.collector import CollectorPaused
from goldrush.kernel.errors import BadInput, PolicyFailed, format_error
from goldrush.kernel.forking import Forks, changes
from goldrush.kernel.records import Record
from goldrush.kernel.rosters import Config
from goldrush.kernel.run import Ask
from goldrush.kernel.shape import Schema
from goldrush.kernel.treatments import Treatment, treated, treatment_named
from goldrush.kernel.world import Batch, Block, Row, World

if TYPE_CHECKING:
    # Imported where a model plays, as everywhere: runs without one would begin later.
    from goldrush.agents.llm.model import Model
    from goldrush.agents.llm.models import Models

PLAYED: Final = 20  # units, at most, that stand-ins play for an estimate

Played = tuple[Entry, Any]  # an agent and its policy


class SimultaneousState(Protocol):
    """A state of such a world."""

    @property
    def config(self) -> Any: ...
    @property
    def roster(self) -> Sequence[Mapping[str, Any]]: ...


class StepPrompts(Protocol):
    """How models and people are asked in one step, and how their answers are read."""

    def messages(self, agent: int) -> Sequence[Message]:
        """The messages of a prompt."""

    def schema(self, agent: int) -> Schema:
        """The JSON schema of an answer, for servers that enforce one."""

    def row(self, agent: int, text: str | None, error: str | None, source: Source) -> Row:
        """The submission of an answer: see `session.Play.row`. An unreadable answer is an empty
        submission with an error.
        """


S = TypeVar("S", bound=SimultaneousState)
V = TypeVar("V")


class SimultaneousPlayers(Players[S], Generic[S, V], ABC):
    """The players of a world whose agents submit simultaneously. A world derives it and gives the
    attributes and the methods before `play`; those with a default suit most worlds.

    Attributes:
        world: the world.
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
    """

    world: World[S]
    codes: Sequence[int | None]
    treatments: Mapping[str, Treatment[Any]] = {}
    forks: Forks[Any] | None = None
    stand_in: str = ""
    source: Mapping[str, object] | None = None
    noun: str = ""
    talk: str = ""
    leaves_state: bool = False

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

    def prompts(self, view: V) -> StepPrompts:
        """How models and people are asked in a step, in worlds in which they can play."""
        raise NotImplementedError

    # A step.

    def play(
        self,
        state: S,
        policies: Mapping[int, Played],
        entries: Sequence[Entry],
        *,
        models: Mapping[int, Model] = {},
        replaced: ReplacedByStep | None = None,
        believed: Collection[int] = (),
    ) -> StepPlay[V] | None:
        """The next step; None if nobody submits in it. `replaced`: of all units; the others are as
        those of StepPlay.
        """
        step, agents = self.turn(state)
        if self.codes[step] is None:
            return None
        unit = self.unit(state)
        return StepPlay(
            self, unit, self.view(state), step, agents, policies, entries, models,
            (replaced or {}).get((unit, step), {}), believed, state.config.seed,
        )  # fmt: skip

    @property
    def submitted(self) -> Sequence[int]:
        """The codes of the events of submissions, each once."""
        return list(dict.fromkeys(code for code in self.codes if code is not None))

    @property
    def has_steps(self) -> bool:
        """Whether a unit has several steps, so that a submission is known by its step, too."""
        return len(self.codes) > 1

    def answer_in(self, row: Row) -> Answer:
        """The answer that a submission records."""
        fields = reversed([*self.world.events[self.submitted[0]].fields])
        named = dict(zip(fields, reversed(row), strict=False))  # as far from the end in each
        source, error = named.get("source"), named.get("error")
        text = source.get("raw") if source else None
        answer = Answer.recorded(row[0], "", text if type(text) is str else None, error, source)
        return msgspec.structs.replace(answer, is_unread=self.unread(row))

    def check_prompt(self, entry: Entry) -> None:
        """Raises BadInput for a model or a person that was asked with another prompt."""
        if self.prompt is not None and is_outside(entry.policy):
            self.prompt.check(entry.options)

    def units(self, config: Config) -> int:
        """The number of units of a run."""
        return int(getattr(config, self.horizon))

    # Before a run.

    def prepare(
        self, settings: Mapping[str, object], roster: str | None, treatment: str | None,
        resources: Resources,
    ) -> PreparedRun:  # fmt: skip
        return self.prepared(*self.configured(settings, roster, treatment, resources.models))

    def configured(
        self,
        settings: Mapping[str, object],
        roster: str | None = None,
        treatment: str | None = None,
        models: Models | None = None,
    ) -> tuple[Config, Roster]:
        """The configuration and the roster of a run; the number of agents follows the roster.

        Writes nothing and asks no model. The settings override those of the treatment. Raises
        BadInput for invalid settings or rosters, and for settings that do not fit the roster.
        """
        named = treatment_named(self.treatments, treatment)
        if not self.submitted:
            if roster is not None:
                raise BadInput(
                    f"nobody plays in the {self.world.name} world", "leave the roster out"
                )
            return treated(named, settings, self.config_of), Roster(())
        required = {**named.settings, **settings}
        wanted = self.config_of(required).agents if "agents" in required else None
        found = self.policy_set.parse(roster, wanted, models)
        config = treated(named, {**settings, "agents": len(found.entries)}, self.config_of)
        self.check_recordings(found, config)
        self.check_names(found, config)
        entries = with_personas(found.entries, config.seed)
        return config, msgspec.structs.replace(found, entries=entries)

    def prepared(self, config: Config, roster: Roster) -> PreparedRun:
        """The run with a configuration and a roster as `configured` gives them."""
        source = {} if self.source is None else {"source": self.source}
        return PreparedRun({"config": config.as_dict(), **source}, roster)

    def asks(self, policy: str, agents: int | None = None) -> str:
        others = self.policy_set.names_by_agent(None) if self.policy_set.default else []
        each = [policy, *(one for other in dict.fromkeys(others) for one in (other, policy))]
        return ",".join(islice(cycle(each), agents or max(len(others), len(each))))

    def questions(self, run: PreparedRun, resources: Resources) -> Iterator[Sequence[Question]]:
        from goldrush.agents.session import asked_by_unit

        chosen = models_in(run.roster.entries)
        entries = [
            Entry(entry.agent, self.stand_in) if is_outside(entry.policy) else entry
            for entry in run.roster.entries
        ]
        policies = self._made(msgspec.structs.replace(run.roster, entries=entries))

        play_of = partial(self.play, policies=policies, entries=run.roster.entries, models=chosen)
        return asked_by_unit(self.world, self.world.initial(run.setup), play_of, PLAYED)

    def resolve_models(self, roster: Roster, facts: Facts, models: Models | None) -> Roster:
        def schema() -> Mapping[str, Any]:
            start = self.world.initial({**facts, "roster": roster.as_setup()})
            return self.prompts(self.view(start)).schema(0)

        return msgspec.structs.replace(
            roster, entries=with_models_resolved(roster.entries, models, schema)
        )

    def start_agents(self, context: RunContext[S]) -> AbstractContextManager[Ask[S]]:
        state, needs = context.state, context.resources
        roster = Roster(entries_in(state.roster), context.recordings, needs.trust, needs.policies)
        for entry in roster.entries:
            self.check_prompt(entry)
            if is_import_name(entry.policy):
                check_trust(entry.policy, roster.trust, entry.label)
        self.check_recordings(roster, state.config)
        self.check_names(roster, state.config)
        answered = {row[0] for _, rows in context.pending for row in rows}
        is_last = self.world.vocabulary.unit_of(self.unit(state)) == self.units(state.config)
        if context.probe and (not is_last or models_in(roster.entries).keys() - answered):
            # A wrong server is an error now, not a row of missing answers.
            self.resolve_models(roster, self._start(state.config), needs.models)
        return self.session(roster, context)

    def _start(self, config: Config) -> Facts:
        """The fields of START with a configuration, without the agents."""
        return self.prepared(config, Roster(())).facts

    def policy_check(self, resources: Resources) -> Callable[[S, Sequence[Facts]], PolicyCheck]:
        recordings = recordings_of(self, resources.sources)

        def check(state: S, forks: Sequence[Facts]) -> PolicyCheck:
            entries, objects = entries_in(state.roster), resources.objects_for(state.roster)
            roster = Roster(entries, recordings, resources.trust, objects)
            checked = self.roster_check(roster, forks)
            try:
                self.check_names(roster, state.config)
            except BadInput as error:
                from goldrush.agents.llm.wordings import InvalidWording

                # One of another version: its agent is among those that are not known.
                if not isinstance(error, InvalidWording):
                    expected = "wordings whose names all its agents can have together"
                    raise ImpossiblePlayer("the roster", expected, error.what) from None
            return checked

        return check

    def roster_check(self, roster: Roster, forks: Sequence[Facts] = ()) -> PolicyCheck:
        """The check of a journal's policies, which are made anew in every unit.

        Agents that cannot be asked are believed: those with user-defined policies that are not
        trusted (a journal must not run code by naming it), with recordings or objects that are not
        given, and those that this version does not know. Raises ImpossiblePlayer for an agent that
        no run has.
        """
        entries, replaced, policy_set = roster.entries, replaced_in(forks), self.policy_set
        can_ask, not_asked, unknown = classified(policy_set, roster)
        believed = {e.agent for e, can in zip(entries, can_ask, strict=True) if not can}
        makers: dict[int, Callable[[], object]] = {}
        for entry in entries:
            if entry.agent not in believed and not is_outside(entry.policy):
                try:
                    makers[entry.agent] = policy_set.factory_of(entry, roster)
                except BadInput as error:
                    if family_of(entry.policy) is OBJECT:
                        raise  # the caller gave the object
                    believed.add(entry.agent)
                    unknown.append(f"{entry.label}: {error.what}")
        # Replaced submissions are known even if no agent can be asked.
        if len(believed) == len(entries) and not replaced:
            return PolicyCheck(None, not_asked, unknown)
        is_alone = len(makers) + len(believed) == len(entries)  # no model and no person
        outside = {entry.agent for entry in entries if is_outside(entry.policy)}

        def ask(state: S, recorded: Block, *, is_whole: bool = True) -> Sequence[Batch]:
            play = self.play(state, {}, entries, replaced=replaced, believed=believed)
            if play is None:
                return []
            asked = [agent for agent in play.agents if agent in makers]
            policies = {agent: (entries[agent], makers[agent]()) for agent in asked}
            play = msgspec.structs.replace(play, policies=policies)
            if is_alone and is_whole and not play.replaced:
                rows = [row for row in recorded.rows(play.code) if row[0] in believed]
                rows += play.submissions(asked)
                return [(play.code, sorted(rows, key=itemgetter(0)))]
            if not is_whole:  # nobody else's is recorded before the step is complete
                rows = [row for row in recorded.rows(play.code) if row[0] in outside]
                recorded = Block([(play.code, rows)] if rows else ())
            return self.world.arrange(Block(asked_again(play, recorded, is_whole=is_whole))).batches

        # A user-defined policy may change what it is shown.
        are_of_world = {entries[agent].policy for agent in makers} <= policy_set.policies.keys()
        return PolicyCheck(
            ask, not_asked, unknown, partial(ask, is_whole=False),
            leaves_state=self.leaves_state and are_of_world,
        )  # fmt: skip

    def resolve_change(self, state: S, change: ForkChange, resources: Resources) -> ResolvedChange:
        if self.forks is None:
            says = f"runs of the {self.world.name} world cannot be forked"
            raise BadInput(says, "record a new run")
        old: Config = state.config
        closed = self.world.vocabulary.unit_of(self.unit(state)) - 1

        named = treatment_named(self.treatments, change.treatment)
        config: Config = treated(named, change.settings, partial(self.forks.with_settings, old))
        self.forks.check_change(old, config, closed)
        replaced = parse_replacements(
            self.world, self.codes, change.replace,
            lambda item, code: self.resubmitted(item, config, code),
        )  # fmt: skip
        self.forks.check_replaced(replaced, config, closed)
        source = {} if self.source is None else {"source": self.source}
        facts = {"changes": changes(old, config), "roster": None, "replaced": replaced, **source}
        if change.roster is None:
            self.check_names(Roster(entries_in(state.roster)), config)
            return ResolvedChange(facts)
        models = resources.models
        roster = self.policy_set.parse(change.roster, config.agents, models)
        entries = with_personas(roster.entries, config.seed)
        roster = msgspec.structs.replace(roster, entries=entries)
        self.check_names(roster, config)
        roster = self.resolve_models(roster, self._start(old), models)
        return ResolvedChange({**facts, "roster": roster.as_setup()}, roster)

    def _made(self, roster: Roster) -> dict[int, Played]:
        """The policies of a roster, by agent. Raises BadInput if one cannot be made."""
        return {
            entry.agent: (entry, self.policy_set.factory_of(entry, roster)())
            for entry in roster.entries
            if not is_outside(entry.policy)
        }

    def check_names(self, roster: Roster, config: Config) -> None:
        """Check the names that the wordings of a roster give to things: see `wording_rosters`.

        Raises BadInput, also for a wording that no run records; InvalidWording, if the version of
        the prompt lacks it.
        """
        if roster.wordings and self.prompt is not None:
            from goldrush.agents.llm.wording_rosters import check_names

            is_open = bool(self.talk) and getattr(config, self.talk)
            check_names(roster, self.prompt, is_open=is_open)

    def check_recordings(self, roster: Roster, config: Config) -> None:
        """Raises BadInput unless the recordings cover all units of the `recorded` agents."""
        for recording in roster.recordings:
            for entry in roster.entries:
                if entry.options.get("journal") == recording.sha256:
                    recording.check(entry.agent, self.units(config))

    def session(self, roster: Roster, context: RunContext[S]) -> Session[S]:
        """The agents of a run. Raises BadInput if one cannot play.

        A policy is made once for a run.
        """
        policies = self._made(roster)
        check_people(roster.entries, context.resources.people)
        chosen, replaced = models_in(roster.entries), replaced_in(context.forks)
        is_recorded = any(isinstance(policy, Recording) for _, policy in policies.values())
        all_policies = len(policies) == len(roster.entries)
        last: tuple[int, int] | None = None  # the last unit and step

        def play_of(state: S) -> StepPlay[V] | list[Batch]:
            nonlocal last
            play = self.play(state, policies, roster.entries, models=chosen, replaced=replaced)
            if play is None:
                return []
            play.check_asked()
            if (play.number, play.step) == last and (play.replaced or is_recorded):
                place = f"{self.world.vocabulary.unit} {play.number}"
                raise several_steps_error(self.world.name, place, is_replaced=bool(play.replaced))
            last = play.number, play.step
            if all_policies and not play.replaced:
                return [(play.code, play.submissions(play.agents))]
            return play

        return Session(self.world, play_of, context, list(chosen.values()), prompt=self.prompt)


class StepPlay(Record, Generic[V], frozen=True, dict=True):  # with a cached property
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

    players: SimultaneousPlayers[Any, V]
    number: int
    view: V
    step: int
    agents: Sequence[int]
    policies: Mapping[int, Played]
    entries: Sequence[Entry]
    models: Mapping[int, Model] = {}
    replaced: Mapping[int, Row] = {}
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

    def check_asked(self) -> None:
        """Raises BadInput for a replaced submission of an agent that is not among those asked."""
        for agent in self.replaced:
            if agent not in self.agents:
                comma = "," if self.players.has_steps else ""
                raise BadInput(
                    f"the submission of agent {agent} is replaced in {self.unit}{comma} in which "
                    "it is not asked",
                    "fork without it",
                )

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
            return msgspec.structs.replace(asked, is_believed=True)
        entry, prompts = self.entries[asked.agent], self._prompts
        is_model = entry.policy == LLM
        reasoning = entry.options.get("reasoning")
        return msgspec.structs.replace(
            asked,
            model=self.model(asked),
            messages=prompts.messages(asked.agent),
            make_schema=partial(prompts.schema, asked.agent),
            whole=Whole.of(reasoning, self._all_models) if is_model else None,
        )

    @cached_property
    def _prompts(self) -> StepPrompts:
        return self.players.prompts(self.view)

    @cached_property
    def _all_models(self) -> int:
        return sum(entry.policy == LLM for entry in self.entries)

    def inquiry(self, prompt: Question) -> Inquiry:
        agent, entry, version = prompt.agent, self.entries[prompt.agent], self.players.prompt
        player, unit = f"agent {agent}", self.unit
        event = self.players.world.events[self.code].name
        wrong = f"it is not a {self.players.noun or f'`{event}`'}"
        if version is not None and "wording" in entry.options:
            from goldrush.agents.llm.wording_rosters import wording_at

            # The world's own words would give away what a wording renames.
            names = wording_at(entry, Roster(self.entries), version.wordable()).names
            player = f"number {agent}" if names.agents is None else names.agent(agent)
            unit, wrong = "", "it does not have the form that is asked for"

        def fault(text: str) -> str | None:
            code = self.answer_in(row_of(self, prompt, Answer(agent, text=text))).error
            if code == NO_JSON:
                keys = prompt.schema["properties"]
                fields = " or ".join([key for key in keys if key not in RESERVED] or keys)
                return f"{wrong}: there is no JSON object with {fields}"
            return None if code is None else f"{wrong} ({code})"

        return Inquiry(agent, player, unit, prompt.messages, prompt.schema, fault)

    def row(self, prompt: Question, text: str | None, error: str | None, source: Source) -> Row:
        return self._prompts.row(prompt.agent, text, error, source)

    def unanswered(self, prompt: Question) -> None:
        """None: an agent that is not asked submits nothing."""

    def answer_in(self, row: Row) -> Answer:
        return self.players.answer_in(row)

    def read(self, asked: Question, row: Row | None) -> None:
        """None: the row itself is an input."""

    def rest(self, asked: Sequence[Question], acts: Sequence[Input]) -> None:
        """None: who cannot be asked again is believed, and no other act of the step follows."""
