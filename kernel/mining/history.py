"""What a closed round looks like afterwards: public events, summaries, and one's own actions.

Made from the record that the state keeps of the last rounds; who is shown what is decided in
`observe`.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from goldrush.kernel.mining.events import (
    CAPTURED,
    CLAIM,
    CLAIM_DRAWN,
    DEFEND,
    KINDS,
    MINE,
    MINING_SETTLED,
    OUTCOMES,
    PRUNED,
    RAID_RESOLVED,
    REASONS,
    RESTORED,
    RULED,
    SUBMITTED,
)
from goldrush.kernel.mining.state import RoundRecord


@attrs.frozen
class PublicClaim:
    """A claimed plot: who claimed it (ascending ids) and who won."""

    plot: int
    claimants: tuple[int, ...]
    winner: int


@attrs.frozen
class PublicRaid:
    """A raided plot: its owner after the claims (None: nobody's), the raiders (ascending ids),
    whether it was defended, the outcome, and who took it (None: nobody).
    """

    plot: int
    owner: int | None
    raiders: tuple[int, ...]
    defended: bool
    outcome: str
    winner: int | None


@attrs.frozen
class PublicRound:
    """The public events of a round, each tuple by ascending plot; `defended` lists plots."""

    round: int
    claims: tuple[PublicClaim, ...]
    raids: tuple[PublicRaid, ...]
    defended: tuple[int, ...]


@attrs.frozen
class PlotSummary:
    """One plot in a round further back: numbers of claimants and raiders, and what came of it."""

    plot: int
    claimants: int
    raiders: int
    defended: bool
    captured: bool


@attrs.frozen
class RoundSummary:
    """A round further back: the plots on which something public happened, ascending."""

    round: int
    plots: tuple[PlotSummary, ...]


@attrs.frozen
class PastAction:
    """One of the agent's own actions and what came of it.

    `kind` and `plot` are None and `amount` 0 for an item that was no action. `result`: a reason
    for removal (see the `pruned` event), or: mined, forfeited (mine); won, lost (claim); captured,
    undone (by an authority), lost (another raider took it), blocked, truce, void (raid); held,
    fell, untested (defend). `gold` is what it mined.
    """

    round: int
    kind: str | None
    plot: int | None
    amount: int
    result: str
    gold: float = 0.0


def public_round(record: RoundRecord) -> PublicRound:
    """The public events of a recorded round."""
    return PublicRound(
        record.round,
        tuple(
            PublicClaim(plot, tuple(claimants), winner)
            for plot, claimants, winner, _ in record.rows(CLAIM_DRAWN)
        ),
        tuple(
            PublicRaid(plot, owner, tuple(raiders), defense > 0, OUTCOMES[outcome], winner)
            for plot, owner, raiders, defense, outcome, winner, _ in record.rows(RAID_RESOLVED)
        ),
        tuple(sorted({action[1] for _, action in kept_actions(record) if action[0] == DEFEND})),
    )


def kept_actions(record: RoundRecord) -> Iterator[tuple[int, tuple[int, int, int]]]:
    """(agent, action) of every action that was left after pruning, in plan order."""
    removed = {
        (agent, place) for agent, removals, _ in record.rows(PRUNED) for place, _ in removals
    }
    for row in record.rows(SUBMITTED):
        for place, action in enumerate(row[1]):
            if action is not None and (row[0], place) not in removed:
                yield row[0], action


def summary(public: PublicRound) -> RoundSummary:
    """A round boiled down to counts by plot."""
    claims = {claim.plot: len(claim.claimants) for claim in public.claims}
    raids = {raid.plot: raid for raid in public.raids}
    defended = set(public.defended)
    return RoundSummary(
        public.round,
        tuple(
            PlotSummary(
                plot,
                claims.get(plot, 0),
                len(raids[plot].raiders) if plot in raids else 0,
                plot in defended,
                plot in raids and raids[plot].outcome == OUTCOMES[CAPTURED],
            )
            for plot in sorted({*claims, *raids, *defended})
        ),
    )


class Outcomes:
    """What came of every action of a recorded round, looked up by agent."""

    def __init__(self, record: RoundRecord) -> None:
        self.round = record.round
        self._actions = {row[0]: row[1] for row in record.rows(SUBMITTED)}
        self._removed = {row[0]: dict(row[1]) for row in record.rows(PRUNED)}
        self._claims = {row[0]: row[2] for row in record.rows(CLAIM_DRAWN)}
        self._raids = {row[0]: row for row in record.rows(RAID_RESOLVED)}
        self._undone = {row[0] for row in record.rows(RULED) if row[4] == RESTORED}
        self._settled = {row[0]: row[3] for row in record.rows(MINING_SETTLED)}

    def of(self, agent: int) -> Iterator[PastAction]:
        """An agent's actions in plan order, with what came of each."""
        removed = self._removed.get(agent, {})
        for place, action in enumerate(self._actions[agent]):
            if action is None:
                yield PastAction(self.round, None, None, 0, REASONS[removed[place]])
                continue
            kind, plot, points = action
            gold = 0.0
            if place in removed:
                result = REASONS[removed[place]]
            elif kind == MINE:
                result = "forfeited" if self._fell(plot) else "mined"
                gold = float(self._settled.get(plot, 0))
            else:
                result = self._result(agent, kind, plot)
            yield PastAction(self.round, KINDS[kind], plot, points, result, gold)

    def _result(self, agent: int, kind: int, plot: int) -> str:
        if kind == CLAIM:
            return "won" if self._claims[plot] == agent else "lost"
        if kind == DEFEND:
            if plot not in self._raids:
                return "untested"
            return "fell" if self._fell(plot) else "held"
        _, _, _, _, outcome, winner, _ = self._raids[plot]
        if outcome != CAPTURED:
            return OUTCOMES[outcome]
        if winner != agent:
            return "lost"
        return "undone" if plot in self._undone else "captured"

    def _fell(self, plot: int) -> bool:
        """Whether a plot was taken from who owned it, for good."""
        raid = self._raids.get(plot)
        return raid is not None and raid[4] == CAPTURED and plot not in self._undone
