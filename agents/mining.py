"""Mining runs: the agents that submit plans each round, and the recording of a whole run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.policy import Policy, Scripted
from agents.recorded import Recording
from agents.roster import POLICIES, RECORDED, Entry, Roster, parse_roster, policy_of
from kernel import run
from kernel.draws import Draws
from kernel.errors import BadInput, PolicyFailed, described, shown
from kernel.journal import Header, JournalWriter
from kernel.mining import MINING
from kernel.mining.config import MiningConfig, config_of
from kernel.mining.events import SUBMITTED
from kernel.mining.observe import Observation, Shown
from kernel.mining.state import MiningState
from kernel.mining.submit import Actions, Submission, submitted
from kernel.mining.treatments import BASELINE, treated, treatment_named
from kernel.world import Batch, Row

# Submissions put in by hand in a fork: round -> agent -> row.
Replaced = Mapping[int, Mapping[int, Row]]


class Miners:
    """Asks every agent for its plan; to be given to the run loop as `ask`."""

    def __init__(
        self, config: MiningConfig, roster: Roster, replaced: Replaced | None = None
    ) -> None:
        """Make the policies. Raises BadInput where one cannot be made."""
        self.config = config
        self.entries = roster.entries
        self.policies = [policy_of(entry, roster.recordings) for entry in roster.entries]
        self.replaced = replaced or {}

    def __call__(self, state: MiningState) -> list[Batch]:
        """The submissions for the next round. Raises PolicyFailed where a policy fails."""
        shown = Shown(state)
        config, by_hand = self.config, self.replaced.get(state.round + 1, {})
        return [
            (
                SUBMITTED,
                [
                    by_hand.get(entry.agent) or asked(policy, entry, shown, config)
                    for policy, entry in zip(self.policies, self.entries, strict=True)
                ],
            )
        ]


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
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever somebody's policy raises
        raise PolicyFailed(entry.policy, agent, round, described(error)) from error


def prepare(
    settings: Mapping[str, Any], roster: str | Roster | None = None, treatment: str = BASELINE
) -> tuple[MiningConfig, Roster]:
    """Configuration and roster, brought together: the number of agents follows the roster.

    Raises BadInput for what does not fit; nothing is written.
    """
    named = treatment_named(treatment)
    asked_for = {**named.settings, **settings}
    wanted = config_of(asked_for).agents if "agents" in asked_for else None
    if not isinstance(roster, Roster):
        roster = parse_roster(roster, wanted)
    elif wanted is not None and wanted != len(roster.entries):
        raise BadInput(f"the roster has {len(roster.entries)} agents", f"agents is {wanted}")
    config = treated(named, settings, len(roster.entries))
    check_recordings(roster.entries, roster.recordings, config)
    return config, roster


def record(
    path: str | Path,
    settings: Mapping[str, Any] | None = None,
    roster: str | Roster | None = None,
    treatment: str = BASELINE,
    *,
    force: bool = False,
    fsync: bool = False,
    on_round: Callable[[int, MiningState], None] | None = None,
) -> MiningState:
    """Play a whole mining run into a new journal at `path` and return the last state.

    `settings` are names and values of MiningConfig and go before those of the treatment; `roster`
    is its text form (None: the default mix); `force` overwrites, `fsync` waits for the disk at
    every commit. Raises BadInput before anything is written; PolicyFailed and WriteFailed in the
    middle, with the journal whole up to the last round closed.
    """
    config, roster = prepare(settings or {}, roster, treatment)
    return play(path, config, roster, force=force, fsync=fsync, on_round=on_round)


def play(
    path: str | Path,
    config: MiningConfig,
    roster: Roster,
    *,
    force: bool = False,
    fsync: bool = False,
    on_round: Callable[[int, MiningState], None] | None = None,
) -> MiningState:
    """As `record`, with what `prepare` gave."""
    miners = Miners(config, roster)
    keep_sources(path, roster.recordings)
    setup = {"config": config.as_dict(), "roster": roster.as_setup()}
    with JournalWriter(
        path, Header(MINING.name, MINING.rules), force=force, fsync=fsync
    ) as journal:
        return run.record(MINING, setup, miners, journal, on_round)


def keep_sources(path: str | Path, recordings: Sequence[Recording]) -> None:
    """Raises BadInput where a run would overwrite what `recorded` agents play in it."""
    for recording in recordings:
        if Path(path).exists() and Path(path).samefile(recording.path):
            raise BadInput(f"{path} is what `recorded` plays", "give another path")


def resume(
    path: str | Path,
    *,
    trust: Sequence[str] = (),
    sources: Sequence[str] = (),
    fsync: bool = False,
    on_round: Callable[[int, MiningState], None] | None = None,
) -> MiningState:
    """Go on with a mining run that broke off and return the last state.

    For deterministic policies the finished journal is what it would have been, byte for byte. A
    journal does not make code run by naming it: policies of the form package.module:Class play on
    only where `trust` lists them, `recorded` agents where `sources` has their journal.

    Raises BadInput for who cannot play on and for a run that has ended, and as `record` does.
    """

    def ask_of(state: MiningState, forks: Sequence[Mapping[str, Any]]) -> Miners:
        return miners_of(state, forks, trust, tuple(map(Recording, sources)))

    return run.resume(MINING, path, ask_of, on_round, fsync=fsync)


def miners_of(
    state: MiningState,
    forks: Sequence[Mapping[str, Any]],
    trust: Sequence[str],
    recordings: Sequence[Recording],
) -> Miners:
    """Who plays on from a state that was read from a journal, after these forks.

    Raises BadInput where somebody cannot: see `resume`.
    """
    entries = entries_of(state)
    for entry in entries:
        if entry.is_own and entry.policy not in trust:
            raise BadInput(
                f"agent {entry.agent} plays {shown(entry.policy)}, code of somebody's own",
                "allow it with trust (--trust)",
            )
    check_recordings(entries, recordings, state.config)
    return Miners(state.config, Roster(entries, tuple(recordings)), replaced_in(forks))


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

    Who cannot be asked gets None in place of a row, and a line in `not_asked`: agents with policies
    of their own that are not in `trust` (a journal must not make code run by naming it), recorded
    agents whose journal is not among `recordings`, and policies that this version does not have.
    """

    def __init__(
        self,
        state: MiningState,
        forks: Sequence[Mapping[str, Any]] = (),
        trust: Sequence[str] = (),
        recordings: Sequence[Recording] = (),
    ) -> None:
        self.config = state.config
        self.replaced = replaced_in(forks)
        self.recordings = recordings
        known = {recording.sha256 for recording in self.recordings}
        self.entries: list[Entry | None] = []
        left: Counter[str] = Counter()
        for entry in entries_of(state):
            if (
                entry.policy in POLICIES
                or entry.policy in trust
                or (entry.policy == RECORDED and entry.options.get("journal") in known)
            ):
                self.entries.append(entry)
            else:
                self.entries.append(None)
                left[entry.policy] += 1
        self.not_asked = tuple(
            f"{policy} ({count} agent{'s' if count > 1 else ''})" for policy, count in left.items()
        )

    def __call__(self, state: MiningState) -> list[tuple[int, list[Row | None]]]:
        """The submissions for the next round. Raises PolicyFailed where a policy fails."""
        shown = Shown(state)
        rows = [self._row(shown, agent, entry) for agent, entry in enumerate(self.entries)]
        return [(SUBMITTED, rows)]

    def _row(self, shown: Shown, agent: int, entry: Entry | None) -> Row | None:
        by_hand = self.replaced.get(shown.state.round + 1, {}).get(agent)
        if entry is None or by_hand is not None:
            return by_hand
        return asked(policy_of(entry, self.recordings), entry, shown, self.config)
