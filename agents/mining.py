"""Mining runs: the agents that submit plans each round, and the recording of a whole run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import attrs

from agents.again import Known, Player, sorted_players
from agents.llm.failures import Earlier
from agents.llm.models import LLM, Model, Models, model_of
from agents.llm.prompt import VERSION, Prompts
from agents.llm.rows import reread
from agents.llm.usage import earlier_in
from agents.policy import Policy, Scripted
from agents.recorded import Recording
from agents.roster import POLICIES, Entry, Roster, parse_roster, policy_of
from agents.trust import check_trust, is_own
from kernel import run
from kernel.draws import Draws
from kernel.errors import BadInput, PolicyFailed, described
from kernel.journal import Header, JournalWriter
from kernel.mining import MINING
from kernel.mining.config import MiningConfig, config_of
from kernel.mining.events import SUBMITTED
from kernel.mining.observe import Observation, Shown
from kernel.mining.state import MiningState
from kernel.mining.submit import Actions, Submission, submitted
from kernel.mining.treatments import BASELINE, Treatment, treated, treatment_named
from kernel.run import Coming
from kernel.world import Batch, Block, Row

if TYPE_CHECKING:
    from agents.llm.miners import ModelMiners

# Submissions put in by hand in a fork: round -> agent -> row.
Replaced = Mapping[int, Mapping[int, Row]]


class Miners:
    """Asks every agent for its plan; to be given to the run loop as `ask`, and to be closed.

    Scripted policies answer first, all at once. Then models are asked, and each of their answers is
    given to be committed as it comes.
    """

    def __init__(
        self,
        config: MiningConfig,
        roster: Roster,
        *,
        replaced: Replaced | None = None,
        waiting: Block | None = None,
        models: Models | None = None,
        earlier: Sequence[Earlier] = (),
    ) -> None:
        """Make the policies. `waiting`: submissions of the next round that are there already;
        `earlier`: models' answers that the run has already. Raises BadInput where one cannot be
        made.
        """
        self.config = config
        self.replaced = replaced or {}
        self._waiting = {row[0] for row in waiting.rows(SUBMITTED)} if waiting else set()
        self._scripted = [
            (entry, policy_of(entry, roster.recordings, roster.trust))
            for entry in roster.entries
            if entry.policy != LLM
        ]
        chosen = models_in(roster.entries)
        for entry, _ in self._scripted:
            if entry.agent in self._waiting:  # only what models answer is committed early
                raise BadInput(
                    f"agent {entry.agent} plays {entry.policy}, which never waits for others, but "
                    "the journal has its plan of the round left open",
                    "fork the run at the round before it",
                )
        self._models: ModelMiners | None = None
        if chosen:
            # Imports the client, which takes longer than a whole run of scripted agents.
            from agents.llm.miners import ModelMiners

            self._models = ModelMiners(config, chosen, models or Models(), earlier)
        self._chosen = sorted(chosen)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._models is not None:
            self._models.close()

    def __call__(self, state: MiningState) -> list[Batch] | Coming:
        """The submissions for the next round. Raises PolicyFailed where a policy fails, RunStopped
        where models are not to be asked any more.
        """
        shown = Shown(state)
        by_hand, waiting = self.replaced.get(state.round + 1, {}), self._waiting
        self._waiting = set()
        scripted = self._scripted
        if waiting:
            scripted = [pair for pair in scripted if pair[0].agent not in waiting]
        rows = [
            by_hand.get(entry.agent) or asked(policy, entry, shown, self.config)
            for entry, policy in scripted
        ]
        if self._models is None:
            return [(SUBMITTED, rows)]
        rows += [by_hand[agent] for agent in self._chosen if agent in by_hand.keys() - waiting]
        left = [agent for agent in self._chosen if agent not in by_hand.keys() | waiting]
        pieces = self._models.pieces(shown, left, is_rest=bool(waiting))
        return _and_then(pieces, [(SUBMITTED, sorted(rows))])


def _and_then(pieces: Iterator[Sequence[Batch]], rest: Sequence[Batch]) -> Coming:
    yield from pieces
    return rest


def models_in(entries: Sequence[Entry]) -> dict[int, Model]:
    """The models of a roster by agent. Raises BadInput for one that this version cannot ask."""
    return {entry.agent: model_of(entry.options) for entry in entries if entry.policy == LLM}


def asked(policy: Policy | Scripted, entry: Entry, shown: Shown, config: MiningConfig) -> Row:
    """The row of what an agent submits. Raises PolicyFailed where its policy does not answer."""
    agent = entry.agent
    round = shown.state.round + 1
    try:
        answer = policy.plan(Observation(shown, agent), Draws(config.seed, round, agent, "policy"))
        if type(answer) is Actions and not entry.is_own:
            return (agent, answer, None, None, None, None)
        if isinstance(answer, Submission) and not entry.is_own:
            return answer.row(agent)
        return submitted(agent, answer, config)
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # whatever somebody's policy raises
        raise PolicyFailed(entry.policy, agent, round, described(error)) from error


def prepare(
    settings: Mapping[str, Any],
    roster: str | Roster | None = None,
    treatment: str = BASELINE,
    models: Models | None = None,
) -> tuple[MiningConfig, Roster]:
    """Configuration and roster, brought together: the number of agents follows the roster.

    Raises BadInput for what does not fit; nothing is written, and no model is asked.
    """
    named = treatment_named(treatment)
    wanted = agents_wanted(named, settings)
    if not isinstance(roster, Roster):
        roster = parse_roster(roster, wanted, models)
    elif wanted is not None and wanted != len(roster.entries):
        raise BadInput(f"the roster has {len(roster.entries)} agents", f"agents is {wanted}")
    config = treated(named, settings, len(roster.entries))
    check_recordings(roster.entries, roster.recordings, config)
    return config, roster


def agents_wanted(treatment: Treatment, settings: Mapping[str, Any]) -> int | None:
    """How many agents a treatment and settings ask for; None where the roster decides.

    Raises BadInput as `config_of` does.
    """
    asked_for = {**treatment.settings, **settings}
    return config_of(asked_for).agents if "agents" in asked_for else None


def record(
    path: str | Path,
    settings: Mapping[str, Any] | None = None,
    roster: str | Roster | None = None,
    treatment: str = BASELINE,
    *,
    models: Models | None = None,
    force: bool = False,
    fsync: bool = False,
    on_round: Callable[[int, MiningState], None] | None = None,
) -> MiningState:
    """Play a whole mining run into a new journal at `path` and return the last state.

    `settings` are names and values of MiningConfig and go before those of the treatment; `roster`
    is its text form (None: the default mix), and the policies of somebody's own that it names are
    trusted; `models` says how language models are reached;
    `force` overwrites, `fsync` waits for the disk at every commit, as is always done where models
    play. Raises BadInput before anything is written; PolicyFailed, RunStopped and WriteFailed in
    the middle, with the journal whole up to the last round closed and the answers behind it.
    """
    config, roster = prepare(settings or {}, roster, treatment, models)
    return play(path, config, roster, models=models, force=force, fsync=fsync, on_round=on_round)


def play(
    path: str | Path,
    config: MiningConfig,
    roster: Roster,
    *,
    models: Models | None = None,
    force: bool = False,
    fsync: bool = False,
    on_round: Callable[[int, MiningState], None] | None = None,
) -> MiningState:
    """As `record`, with what `prepare` gave."""
    keep_sources(path, roster.recordings)
    header = Header(MINING.name, MINING.rules)
    with JournalWriter(path, header, force=force, fsync=fsync) as journal:
        roster = with_models_decided(roster, config, models)
        with Miners(config, roster, models=models) as miners:
            setup = {"config": config.as_dict(), "roster": roster.as_setup()}
            return run.record(MINING, setup, miners, journal, on_round)


def with_models_decided(roster: Roster, config: MiningConfig, models: Models | None) -> Roster:
    """The roster, with how each model is asked found out where that is left open.

    Each is asked a short question. Raises BadInput where one does not answer it.
    """
    if not models_in(roster.entries):
        return roster
    from agents.llm.miners import decided

    return attrs.evolve(roster, entries=decided(roster.entries, config, models or Models()))


def keep_sources(path: str | Path, recordings: Sequence[Recording]) -> None:
    """Raises BadInput where a run would overwrite what `recorded` agents play in it."""
    for recording in recordings:
        if Path(path).exists() and Path(path).samefile(recording.path):
            raise BadInput(f"{path} is what `recorded` plays", "give another path")


def resume(
    path: str | Path,
    *,
    models: Models | None = None,
    trust: Sequence[str] = (),
    sources: Sequence[str] = (),
    fsync: bool = False,
    on_round: Callable[[int, MiningState], None] | None = None,
) -> MiningState:
    """Go on with a mining run that broke off and return the last state.

    For deterministic policies the finished journal is what it would have been, byte for byte; of
    models only those are asked whose answers are not in the journal. A journal does not make code
    run by naming it: policies of the form package.module:Class play on only where `trust` lists
    them, `recorded` agents where `sources` has their journal.

    Raises BadInput for who cannot play on and for a run that has ended, and as `record` does.
    """
    with JournalWriter.reopen(path, fsync=fsync) as journal, ExitStack() as stack:

        def ask_of(
            state: MiningState, forks: Sequence[Mapping[str, Any]], waiting: Block
        ) -> Miners:
            recordings = tuple(map(Recording, sources))
            check_players(state, trust, recordings)
            roster = Roster(entries_of(state), recordings, trust)
            there = {row[0] for row in waiting.rows(SUBMITTED)}
            if state.round + 1 < state.config.rounds or models_in(roster.entries).keys() - there:
                # A wrong server is told now, not recorded as one that does not answer.
                with_models_decided(roster, state.config, models)
            with journal.reader() as reader:
                earlier = earlier_in(reader, len(forks))
            miners = Miners(
                state.config,
                roster,
                replaced=replaced_in(forks),
                waiting=waiting,
                models=models,
                earlier=earlier,
            )
            return stack.enter_context(miners)

        return run.resume(MINING, journal, ask_of, on_round)


def check_players(
    state: MiningState, trust: Sequence[str], recordings: Sequence[Recording]
) -> None:
    """Raises BadInput where somebody cannot play on from a state that was read from a journal."""
    entries = entries_of(state)
    for entry in entries:
        if is_own(entry.policy):
            check_trust(entry.policy, trust, f"agent {entry.agent}")
    check_recordings(entries, recordings, state.config)


def entries_of(state: MiningState) -> tuple[Entry, ...]:
    """The roster of a run."""
    return tuple(Entry(item["agent"], item["policy"], item["options"]) for item in state.roster)


def replaced_in(forks: Sequence[Mapping[str, Any]]) -> Replaced:
    """All submissions that were put in by hand; those of a later fork go first."""
    replaced: dict[int, dict[int, Row]] = {}
    for facts in forks:
        for round, row in facts["replaced"]:
            replaced.setdefault(round, {})[row[0]] = row
    return replaced


def check_recordings(
    entries: Sequence[Entry], recordings: Sequence[Recording], config: MiningConfig
) -> None:
    """Raises BadInput unless the recordings hold what `recorded` agents are to play."""
    for recording in recordings:
        for entry in entries:
            if entry.options.get("journal") == recording.sha256:
                recording.check(entry.agent, config.rounds)


class MinersAgain:
    """Asks the agents of a journal again, with policies made afresh for every round.

    Models are not asked again: what they wrote is in the journal, and that is read again, and held
    against the prompt that they must have been given.

    Who cannot be asked gets None in place of a row, and a line in `not_asked`: agents with policies
    of their own that are not in `trust` (a journal must not make code run by naming it), recorded
    agents whose journal is not among `recordings`. `unknown` says whom this version does not know.
    """

    def __init__(
        self,
        state: MiningState,
        forks: Sequence[Mapping[str, Any]] = (),
        trust: Sequence[str] = (),
        recordings: Sequence[Recording] = (),
    ) -> None:
        """Raises Impossible for an agent that no run has."""
        self.config = state.config
        self.replaced = replaced_in(forks)
        self.recordings = recordings
        self.trust = trust
        entries = entries_of(state)
        digests = {recording.sha256 for recording in recordings}
        found = sorted_players(
            (Player(f"agent {e.agent}", e.policy, e.options) for e in entries),
            Known(POLICIES, VERSION, trust, digests),
        )
        self.entries = [
            entry if can_ask else None
            for entry, can_ask in zip(entries, found.can_ask, strict=True)
        ]
        self.not_asked, self.unknown = found.not_asked, found.unknown

    def __call__(self, state: MiningState, recorded: Block) -> list[tuple[int, list[Row | None]]]:
        """The submissions for the next round. Raises PolicyFailed where a policy fails."""
        shown = Shown(state)
        prompts = Prompts(shown)
        rows = {row[0]: row for row in recorded.rows(SUBMITTED)}
        return [
            (
                SUBMITTED,
                [
                    self._row(shown, prompts, agent, entry, rows.get(agent))
                    for agent, entry in enumerate(self.entries)
                ],
            )
        ]

    def waiting(self, state: MiningState, recorded: Block) -> list[tuple[int, list[Row | None]]]:
        """The submissions of the agents of whom one is recorded, in that order; else as a call."""
        rows = recorded.rows(SUBMITTED)
        [(code, every)] = self(state, recorded)
        return [(code, [every[row[0]] for row in rows])]

    def _row(
        self,
        shown: Shown,
        prompts: Prompts,
        agent: int,
        entry: Entry | None,
        recorded: Row | None,
    ) -> Row | None:
        by_hand = self.replaced.get(shown.state.round + 1, {}).get(agent)
        if entry is None or by_hand is not None:
            return by_hand
        if entry.policy == LLM:
            return recorded and reread(recorded, prompts, self.config)
        return asked(policy_of(entry, self.recordings, self.trust), entry, shown, self.config)
