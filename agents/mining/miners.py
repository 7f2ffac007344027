"""The agents of a mining run: asked for their plans each round, and asked again to verify a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from goldrush.agents.again import Known, Player, sorted_players
from goldrush.agents.llm.failures import Earlier
from goldrush.agents.llm.models import LLM, Models
from goldrush.agents.mining.policy import Policy, Scripted
from goldrush.agents.mining.prompt import VERSION, Prompts
from goldrush.agents.mining.recorded import Recording
from goldrush.agents.mining.roster import (
    POLICIES,
    Entry,
    Roster,
    entries_in,
    installed_policy,
    models_in,
    policy_of,
)
from goldrush.agents.mining.rows import reread
from goldrush.agents.trust import RECORDED
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, PolicyFailed, described
from goldrush.kernel.mining.config import MiningConfig
from goldrush.kernel.mining.events import SUBMITTED
from goldrush.kernel.mining.observe import Observation, Shown
from goldrush.kernel.mining.state import MiningState
from goldrush.kernel.mining.submit import Actions, Submission, submitted
from goldrush.kernel.run import Coming
from goldrush.kernel.world import Batch, Block, Row

if TYPE_CHECKING:
    from goldrush.agents.mining.models import ModelMiners

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
            from goldrush.agents.mining.models import ModelMiners

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


def replaced_in(forks: Sequence[Mapping[str, Any]]) -> Replaced:
    """All submissions that were put in by hand; those of a later fork go first."""
    replaced: dict[int, dict[int, Row]] = {}
    for facts in forks:
        for round, row in facts["replaced"]:
            replaced.setdefault(round, {})[row[0]] = row
    return replaced


def _installed(entries: Sequence[Entry]) -> set[str]:
    """The policies of a roster that are here, and nobody's own. Where all are built in, the
    distributions are not looked through: that takes longer than to verify a short run.
    """
    names = {entry.policy for entry in entries if entry.policy not in (LLM, RECORDED)}
    return {name for name in names if name in POLICIES or installed_policy(name) is not None}


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
        entries = entries_in(state.roster)
        digests = {recording.sha256 for recording in recordings}
        found = sorted_players(
            (Player(f"agent {e.agent}", e.policy, e.options) for e in entries),
            Known(_installed(entries), VERSION, trust, digests),
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
