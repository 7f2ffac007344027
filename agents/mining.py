"""Mining runs: the agents that submit plans each round, and the recording of a whole run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.policy import Policy
from agents.roster import Entry, Roster, parse_roster, policy_of
from kernel import run
from kernel.draws import Draws
from kernel.errors import PolicyFailed
from kernel.journal import Header, JournalWriter
from kernel.mining import MINING
from kernel.mining.config import MiningConfig, config_of
from kernel.mining.events import SUBMITTED
from kernel.mining.observe import Observation, Shown
from kernel.mining.state import MiningState
from kernel.mining.submit import submitted
from kernel.world import Batch, Row

JOURNALS = Path("journals")  # where runs land by default


class Miners:
    """Asks every agent for its plan; to be given to the run loop as `ask`."""

    def __init__(self, config: MiningConfig, roster: Roster) -> None:
        """Make the policies. Raises BadInput where one cannot be made."""
        self.config = config
        self.entries = roster.entries
        self.policies: list[Policy] = [
            policy_of(entry, roster.recordings) for entry in roster.entries
        ]

    def __call__(self, state: MiningState) -> list[Batch]:
        """The submissions for the next round. Raises PolicyFailed where a policy does not answer."""
        shown = Shown(state)
        config = self.config
        seed, round = config.seed, state.round + 1
        rows: list[Row] = []
        try:
            for agent, policy in enumerate(self.policies):
                draws = Draws(seed, round, agent, "policy")
                answer = policy.plan(Observation(shown, agent), draws)
                rows.append(submitted(agent, answer, config))
        except Exception as error:  # whatever somebody's policy raises
            agent = len(rows)
            reason = f"{type(error).__name__}: {error}"
            raise PolicyFailed(self.entries[agent].policy, agent, round, reason) from error
        return [(SUBMITTED, rows)]


def prepare(settings: Mapping[str, Any], roster: str | Roster | None) -> tuple[MiningConfig, Roster]:
    """Configuration and roster, brought together: the number of agents follows the roster.

    Raises BadInput for what does not fit; nothing is written.
    """
    wanted = config_of(settings).agents if "agents" in settings else None
    if not isinstance(roster, Roster):
        roster = parse_roster(roster, wanted)
    config = config_of({**settings, "agents": len(roster.entries)})
    for recording in roster.recordings:
        for entry in roster.entries:
            if entry.options.get("journal") == recording.sha256:
                recording.check(entry.agent, config.rounds)
    return config, roster


def record(
    path: str | Path,
    settings: Mapping[str, Any] | None = None,
    roster: str | Roster | None = None,
    *,
    force: bool = False,
    fsync: bool = False,
    on_round: Callable[[int, MiningState], None] | None = None,
) -> MiningState:
    """Play a whole mining run into a new journal at `path` and return the last state.

    `settings` are names and values of MiningConfig, `roster` its text form (None: the default
    mix); `force` overwrites, `fsync` waits for the disk at every commit. Raises BadInput before
    anything is written; PolicyFailed and WriteFailed in the middle, with the journal whole up to
    the last round closed.
    """
    config, roster = prepare(settings or {}, roster)
    miners = Miners(config, roster)
    setup = {"config": config.as_dict(), "roster": roster.as_setup()}
    with JournalWriter(path, Header(MINING.name, MINING.rules), force=force, fsync=fsync) as journal:
        return run.record(MINING, setup, miners, journal, on_round)


def entries_of(roster: Sequence[Mapping[str, Any]]) -> tuple[Entry, ...]:
    """The entries of a roster as a journal holds it."""
    return tuple(Entry(item["agent"], item["policy"], item["options"]) for item in roster)
