"""Recording, resuming, forking and re-checking runs, written once for all worlds.

A world derives `Players`; the functions here drive its agents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import msgspec

from goldrush.agents.roster import Roster
from goldrush.agents.seats import PolicySet
from goldrush.kernel.errors import BadInput, PolicyFailed
from goldrush.kernel.files import check_target, folder_kept, is_journal
from goldrush.kernel.fold import is_opening
from goldrush.kernel.journal import Header, JournalReader, JournalWriter
from goldrush.kernel.records import Record
from goldrush.kernel.run import Ask, OnUnit, fork_steps, last_of, resume_steps, steps
from goldrush.kernel.world import Batch, Block, World

if TYPE_CHECKING:
    from goldrush.agents import people
    from goldrush.agents.catalogue import CatalogueEntry
    from goldrush.agents.llm.models import Models
    from goldrush.agents.llm.question import AnswerFields, Question
    from goldrush.agents.llm.usage import RecordedAnswer
    from goldrush.agents.llm.versions import PromptVersion
    from goldrush.agents.plugins import PluginKind
    from goldrush.agents.recorded import Recording

S = TypeVar("S")

# Describes, in PolicyCheck.not_asked, agents that nothing but the recording program could play.
PROGRAM: Final = "the recording program"

Facts = Mapping[str, Any]  # the fields of a START or FORK commit


class PreparedRun(msgspec.Struct, frozen=True):
    """A run that is ready to begin.

    Attributes:
        facts: the fields of START, without the agents.
        field: the field of START that has the agents.
    """

    facts: Facts
    roster: Roster
    field: str = "roster"

    @property
    def setup(self) -> Facts:
        """The fields of START."""
        return {**self.facts, self.field: self.roster.as_setup()}


class Resources(Record, frozen=True):
    """What playing needs on this machine; never stored in a journal.

    Attributes:
        jobs: number of test runs at the same time.
        program: path of a user-defined test program; None: the test of the world.
        people: asks people who play; None: nobody can be asked.
        policies: the objects that play `external` agents, by agent.
        roster: the entries of a journal's roster whose agents these objects play; None: any. A
            fork may have replaced one external agent by another.
        models: how language models are reached; None: with the defaults.
        trust: names (`module:Class`) of user-defined policies that may be imported, besides those
            of a roster that is typed.
        sources: paths of the journals that `recorded` agents replay, besides those that a typed
            roster names.
    """

    jobs: int = 1
    program: str | None = None
    people: people.AskTogether | None = None
    policies: Mapping[int, object] = {}
    roster: Sequence[Mapping[str, Any]] | None = None
    models: Models | None = None
    trust: Sequence[str] = ()
    sources: Sequence[str] = ()

    def objects_for(self, roster: Sequence[Mapping[str, object]]) -> Mapping[int, object]:
        """The objects whose agents have the same entry in another roster of the run."""
        if self.roster is None:
            return self.policies
        return {
            agent: policy
            for agent, policy in self.policies.items()
            if agent < len(roster) and roster[agent] == self.roster[agent]
        }


class ForkChange(msgspec.Struct, frozen=True):
    """The changes that a fork makes, as typed by a user.

    Attributes:
        treatment: the name of one whose settings apply from there on.
        roster: a new roster, as text.
        replace: submissions that replace recorded ones, in the form of their events.
        parent: the journal that is forked.
    """

    settings: Mapping[str, Any] = {}
    treatment: str | None = None
    roster: str | None = None
    replace: Sequence[Mapping[str, Any]] = ()
    parent: str = ""


_RESOURCES: Final = Resources()
_NO_CHANGE: Final = ForkChange()


class ResolvedChange(msgspec.Struct, frozen=True):
    """A change that was checked against the state it applies to.

    Attributes:
        facts: the fields of the FORK commit, without `parent`.
        roster: the new roster; without entries if it stays.
    """

    facts: Facts
    roster: Roster = Roster(())


class RunContext(Record, Generic[S], frozen=True):
    """Everything that the agents of a run need to continue from a state.

    Attributes:
        state: the state that the next unit begins with. It is the run's own: agents must not change
            it, and the run may change it in place, so a value of the start has to be copied.
        forks: the fields of the FORK commits before it, oldest first.
        pending: inputs of the next step that the journal holds already.
        earlier: answers of models that the run has already paid for.
        recordings: the journals that `recorded` agents replay.
        probe: ask each model a short question first, so that a wrong server is an error and not
            a row of missing answers.
    """

    state: S
    forks: Sequence[Facts] = ()
    pending: Block = msgspec.field(default_factory=lambda: Block(()))
    earlier: Sequence[RecordedAnswer] = ()
    recordings: Sequence[Recording] = ()
    probe: bool = False
    resources: Resources = msgspec.field(default_factory=Resources)


# Like Ask, with the recorded inputs as second argument, whose rows stand for agents not asked.
AskAgain = Callable[[Any, Block], Sequence[Batch]]


class PolicyCheck(msgspec.Struct, frozen=True):
    """The agents of a recorded run, to be asked again by `verify`.

    Attributes:
        ask: the submissions of the next step; None: no agent can be asked.
        not_asked: descriptions of the agents whose policy is not available here.
        unknown: descriptions of the agents that this version does not know.
        pending: as `ask`, for an unclosed step: only the inputs that are recorded.
        close: releases what asking needs.
        leaves_state: asking changes nothing in the state; else `verify` gives it a copy, which
            takes as long as asking where there are many agents.
        unjudged: what asking so far could not compare with the record, why, and what to do: one
            text for each; the record stands in the answers. Grows with every call.
    """

    ask: AskAgain | None
    not_asked: Sequence[str] = ()
    unknown: Sequence[str] = ()
    pending: AskAgain | None = None
    close: Callable[[], None] = lambda: None
    leaves_state: bool = False
    unjudged: Sequence[str] = ()


class Players(Generic[S]):
    """How the agents of a world are chosen and asked. A world derives it.

    The defaults are those of a world whose runs its own program records: they refuse what needs an
    agent.

    Attributes:
        answers: where the journal keeps the answers of language models; None: none can play.
        recording: reads a journal that agents replay, and raises JournalError; None: they cannot
            replay any.
        policy_set: the policies that a roster can name, and how its text is read.
        policies: those policies, without those of other distributions.
        horizon: the name of the setting that is the number of the last unit; empty: there is none.
        prompt: the version of the prompt of models; None: none can play.
        takes_program: whether agents have tests made, for which users may give a program.
        kinds: what other distributions can add to the world besides policies.
    """

    policy_set: PolicySet = PolicySet("", {}, "", agents=0, agents_max=0, method="")
    answers: AnswerFields | None = None
    recording: Callable[[str | Path], Recording] | None = None
    policies: Mapping[str, CatalogueEntry] = {}
    horizon: str = ""
    takes_program: bool = False
    kinds: Sequence[PluginKind] = ()
    prompt: PromptVersion | None = None

    # Before a run.

    def prepare(
        self, settings: Mapping[str, object], roster: str | None, treatment: str | None,
        resources: Resources,
    ) -> PreparedRun:  # fmt: skip
        """A run that is ready to begin; None is the world's default. Writes nothing and asks no
        model. Raises BadInput.
        """
        raise _no_players()

    def asks(self, policy: str, agents: int | None = None) -> str:
        """The text of a roster in which this policy is asked all that models can be asked, and
        others play beside it. `agents`: their number, if the world has such a setting; None: as
        many as play by default.
        """
        return policy

    def questions(self, run: PreparedRun, resources: Resources) -> Iterator[Sequence[Question]]:
        """The questions to the models of a run in each of its first units, in which policies play
        instead of models and people. Raises PolicyFailed, and BadInput where no model can play.
        """
        raise BadInput("no model can play in this world", "take another world")

    def resolve_models(self, roster: Roster, facts: Facts, models: Models | None) -> Roster:
        """The roster with the request options of each model resolved, by a short question where
        they are open. `facts`: the other fields of START. Raises BadInput if a model does not
        answer.
        """
        return roster

    # During a run.

    def start_agents(self, context: RunContext[S]) -> AbstractContextManager[Ask[S]]:
        """A context manager that gives the run loop its `kernel.run.Ask`. Raises BadInput if an
        agent cannot play.
        """
        raise _no_players()

    # After a run.

    def policy_check(self, resources: Resources) -> Callable[[S, Sequence[Facts]], PolicyCheck]:
        """A function of a state and of the fields of the FORK commits before it. It raises
        `seats.ImpossiblePlayer` for a player that no run has.

        Raises JournalError for unreadable `sources`.
        """
        return lambda state, forks: PolicyCheck(None, ("the policies of this world",))

    def resolve_change(self, state: S, change: ForkChange, resources: Resources) -> ResolvedChange:
        """A change checked against the state after the last unit that stays. The models of a new
        roster are asked a short question.

        Raises BadInput for a change that is not possible, and for a model that does not answer.
        """
        raise BadInput("runs of this world cannot be forked", "record a new run")


def _no_players() -> BadInput:
    return BadInput("this world has no players", "record its runs with its own program")


NOBODY: Final[Players[Any]] = Players()  # of a world whose runs are recorded by its own program


def context_of(
    players: Players[S],
    state: S,
    roster: Roster,
    resources: Resources,
    forks: Sequence[Facts] = (),
    *,
    probe: bool = False,
) -> RunContext[S]:
    """The context of agents who play on from a state. `roster`: typed for them; without entries if
    they are those of a journal. Raises JournalError for an unreadable source.
    """
    return RunContext(
        state, forks, probe=probe,
        recordings=[*roster.recordings, *recordings_of(players, resources.sources)],
        resources=msgspec.structs.replace(resources, trust=[*resources.trust, *roster.trust]),
    )  # fmt: skip


@folder_kept()
def record(
    world: World[S],
    players: Players[S],
    path: str | Path,
    prepared: PreparedRun,
    *,
    resources: Resources = _RESOURCES,
    force: bool = False,
    fsync: bool = False,
    on_unit: OnUnit[S] | None = None,
    on_start: Callable[[S], object] | None = None,
) -> S:
    """Play a whole run into a new journal and return the last state.

    Args:
        force: replace an existing journal, once the first unit or answer is recorded.
        fsync: wait for the disk at every commit; always done for runs with models.
        on_unit: called with the number of each closed unit in the journal and the state.
        on_start: called with the initial state before anything is written. The world makes that
            state once: code that remembers would make another one the second time.

    Raises:
        BadInput: before anything is written.
        PolicyFailed, RulesFailed, RunStopped, WriteFailed: during the run; the journal keeps all
            closed units and the answers after them. Where code of the world failed in the first
            unit (`is_of_world`), none is left.
    """
    _check_sources(players, path, resources.sources)
    _keep_sources(path, [*prepared.roster.sources, *resources.sources])
    header = Header(world.name, world.rules)
    opening = partial(is_opening, world.vocabulary)
    with JournalWriter(path, header, force=force, fsync=fsync, is_opening=opening) as journal:
        roster = players.resolve_models(prepared.roster, prepared.facts, resources.models)
        setup = msgspec.structs.replace(prepared, roster=roster).setup
        state = world.initial(setup)
        if on_start is not None:
            on_start(state)
        context = context_of(players, state, roster, resources)
        try:
            with players.start_agents(context) as ask:
                return last_of(steps(world, setup, journal, on_unit, context.state, ask))
        except (BadInput, PolicyFailed) as error:
            if not journal.is_begun and is_of_world(error, players):
                journal.discard()
            raise


def is_of_world(error: BadInput | PolicyFailed, players: Players[S]) -> bool:
    """Whether the world's own code failed: its rules, or a policy of its own."""
    return isinstance(error, BadInput) or error.policy in players.policies


@folder_kept()
def resume(
    world: World[S],
    players: Players[S],
    path: str | Path,
    *,
    resources: Resources = _RESOURCES,
    fsync: bool = False,
    on_unit: OnUnit[S] | None = None,
) -> S:
    """Continue an unfinished run and return the last state.

    With deterministic policies the finished journal is the same, byte for byte, as without the
    interruption. Only models whose answers are not in the journal are asked. The journal alone
    imports no code: user-defined policies need `Resources.trust`, `recorded` agents its `sources`.

    Raises BadInput for an agent that cannot play on, and for a run that has ended; JournalError for
    an unreadable journal; PolicyFailed, RunStopped, WriteFailed as `record`.
    """
    _check_sources(players, path, resources.sources)
    # Of use to resumed runs alone; everything else imports this module too.
    from goldrush.agents.llm.usage import earlier_in

    answers = players.answers
    with JournalWriter.reopen(path, fsync=fsync) as journal, ExitStack() as stack:

        def ask_of(state: S, forks: Sequence[Facts], pending: Block) -> Ask[S]:
            earlier: Sequence[RecordedAnswer] = ()
            if answers is not None:
                with journal.reader() as reader:
                    earlier = earlier_in(reader, world, answers, len(forks))
            context = context_of(players, state, Roster(()), resources, forks, probe=True)
            context = msgspec.structs.replace(context, pending=pending, earlier=earlier)
            return stack.enter_context(players.start_agents(context))

        return last_of(resume_steps(world, journal, ask_of, on_unit))


@folder_kept()
def fork(
    world: World[S],
    players: Players[S],
    parent: str | Path,
    at: int,
    out: str | Path,
    change: ForkChange = _NO_CHANGE,
    *,
    resources: Resources = _RESOURCES,
    force: bool = False,
    fsync: bool = False,
    on_unit: OnUnit[S] | None = None,
) -> S:
    """Play a run anew from the close of a unit on, and return the last state.

    The new journal has its parent's bytes up to there, a `forked` event with all changes, so that
    an interrupted fork can be resumed from its journal alone, and the new units. Without a change
    deterministic policies submit the same again; language models are asked again.

    Args:
        at: the last unit that stays, by its displayed number.
        force, fsync, on_unit: as for `record`.

    Raises BadInput for an unknown unit and an impossible change: before anything is written, or
    where the run comes to it, and no journal is left unless it waits for the disk (`fsync`);
    JournalError for an unreadable parent; PolicyFailed, RunStopped, WriteFailed as `record`.
    """
    _check_sources(players, parent, resources.sources)
    check_target(str(out), force=force, by_force=is_journal)  # before a model is asked anything
    change, resolved = msgspec.structs.replace(change, parent=str(parent)), ResolvedChange({})

    def facts_of(state: S) -> Facts:
        nonlocal resolved
        _keep_sources(out, resources.sources)
        with folder_kept():
            resolved = players.resolve_change(state, change, resources)
        _keep_sources(out, resolved.roster.sources)
        return {"parent": reader.sha256(), **resolved.facts}

    with JournalReader(parent, hashed=True) as reader, ExitStack() as stack:

        def ask_of(state: S, forks: Sequence[Facts], pending: Block) -> Ask[S]:
            is_old = change.roster is None  # resolve_change asks the models of a new one
            context = context_of(players, state, resolved.roster, resources, forks, probe=is_old)
            return stack.enter_context(players.start_agents(context))

        unit = world.vocabulary.unit_of(at)
        loop = fork_steps(
            world, reader, unit, facts_of, out, on_unit, ask_of, force=force, fsync=fsync
        )
        return last_of(loop)


def _keep_sources(path: str | Path, sources: Iterable[str]) -> None:
    """Raises BadInput if a run would overwrite a journal that its `recorded` agents replay."""
    for source in sources:
        if Path(path).exists() and Path(source).exists() and Path(path).samefile(source):
            raise BadInput(
                f"{path} is a journal that `recorded` agents replay", "give another path"
            )


def recordings_of(players: Players[S], sources: Sequence[str]) -> list[Recording]:
    """The journals that `recorded` agents replay. Raises JournalError for an unreadable one."""
    return [] if players.recording is None else list(map(players.recording, sources))


def _check_sources(players: Players[Any], path: str | Path, sources: Sequence[str]) -> None:
    if sources and players.recording is None:
        raise BadInput(
            f"{path}: agents of this world cannot replay a journal", "leave --source out"
        )
