"""Closed rounds as agents see them: public events, summaries, the agent's own actions.

They are made from the state's record of the last rounds; `observe` decides what each agent is
shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from goldrush.kernel.world import Row
from goldrush.kernel.worlds.mining.events import (
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
    RULED,
    SUBMITTED,
    RaidOutcome,
    Remedy,
)
from goldrush.kernel.worlds.mining.state import RoundRecord


class PublicClaim(msgspec.Struct, frozen=True):
    """A claimed plot, its claimants (ascending ids) and the winner."""

    plot: int
    claimants: tuple[int, ...]
    winner: int


class PublicRaid(msgspec.Struct, frozen=True):
    """A raided plot.

    Attributes:
        owner: after the claims; None: unowned.
        raiders: ascending ids.
        defended: whether it was defended.
        outcome: one of OUTCOMES.
        winner: the agent that captured it; None: nobody.
    """

    plot: int
    owner: int | None
    raiders: tuple[int, ...]
    defended: bool
    outcome: str
    winner: int | None


class PublicRound(msgspec.Struct, frozen=True):
    """The public events of a round, by ascending plot.

    Attributes:
        defended: plots that were defended, raided or not.
    """

    round: int
    claims: tuple[PublicClaim, ...]
    raids: tuple[PublicRaid, ...]
    defended: tuple[int, ...]


class PlotSummary(msgspec.Struct, frozen=True):
    """One plot in an earlier round: the numbers of claimants and raiders, and the outcome."""

    plot: int
    claimants: int
    raiders: int
    defended: bool
    captured: bool


class RoundSummary(msgspec.Struct, frozen=True):
    """An earlier round: the plots with public events, ascending."""

    round: int
    plots: tuple[PlotSummary, ...]


class PastAction(msgspec.Struct, frozen=True):
    """One of the agent's own actions and its result.

    Attributes:
        round: its round, from 1.
        kind: defend, mine, claim or raid; None for a malformed item.
        plot: the plot; None for a malformed item.
        amount: points of stamina; 0 for a malformed item.
        result: a reason for removal (see the `pruned` event), or: mined, forfeited (mine); won,
            lost (claim); captured, undone (by an authority), lost (to another raider), blocked,
            truce, void (raid); held, fell, untested (defend).
        gold: the gold that it mined.
    """

    round: int
    kind: str | None
    plot: int | None
    amount: int
    result: str
    gold: float = 0.0


def kept_plans(record: RoundRecord) -> Iterator[tuple[int, Sequence[tuple[int, int, int]]]]:
    """Each agent with those of its actions that were not pruned, in the order of its plan."""
    removed = {agent: dict(removals) for agent, removals, _ in record.rows(PRUNED)}
    for row in record.rows(SUBMITTED):
        agent, plan = row[0], row[1]
        if (
            agent in removed or None in plan
        ):  # None is malformed, and pruned where nothing is forged
            pruned = removed.get(agent, ())
            plan = [
                action
                for index, action in enumerate(plan)
                if index not in pruned and action is not None
            ]
        yield agent, plan


# Views of a record: see RoundRecord.view.


def public_round(record: RoundRecord) -> PublicRound:
    """The public events of a round."""
    plans = kept_plans(record)
    return PublicRound(
        record.round,
        tuple(
            [
                PublicClaim(plot, tuple(claimants), winner)
                for plot, claimants, winner, _ in record.rows(CLAIM_DRAWN)
            ]
        ),
        tuple(map(public_raid, record.rows(RAID_RESOLVED))),
        tuple(sorted({plot for _, plan in plans for kind, plot, _ in plan if kind == DEFEND})),
    )


def raids_by_owner(record: RoundRecord) -> Mapping[int | None, Sequence[Row]]:
    """The `raid_resolved` rows of a round by the owner of the plot after the claims: most policies
    look at no other public event.
    """
    raids: dict[int | None, list[Row]] = {}
    for row in record.rows(RAID_RESOLVED):
        raids.setdefault(row[1], []).append(row)
    return raids


def public_raid(row: Row) -> PublicRaid:
    """What is public of a `raid_resolved` row."""
    plot, owner, raiders, defense, outcome, winner, _ = row
    return PublicRaid(plot, owner, tuple(raiders), defense > 0, OUTCOMES[outcome], winner)


def summary(record: RoundRecord) -> RoundSummary:
    """A round summarised as counts by plot."""
    public = record.view(public_round)
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
                plot in raids and raids[plot].outcome == OUTCOMES[RaidOutcome.CAPTURED],
            )
            for plot in sorted({*claims, *raids, *defended})
        ),
    )


class Outcomes:
    """The result of every action of a recorded round, by agent."""

    def __init__(self, record: RoundRecord) -> None:
        self.round = record.round
        self._actions = {row[0]: row[1] for row in record.rows(SUBMITTED)}
        self._removed = {row[0]: dict(row[1]) for row in record.rows(PRUNED)}
        self._claims = {row[0]: row[2] for row in record.rows(CLAIM_DRAWN)}
        self._raids = {row[0]: row for row in record.rows(RAID_RESOLVED)}
        self._undone = {row[0] for row in record.rows(RULED) if row[4] == Remedy.RESTORED}
        self._settled = {row[0]: row[3] for row in record.rows(MINING_SETTLED)}

    def of(self, agent: int) -> Iterator[PastAction]:
        """An agent's actions with their results, in the order of its plan."""
        removed = self._removed.get(agent, {})
        for index, action in enumerate(self._actions[agent]):
            if action is None:
                yield PastAction(self.round, None, None, 0, REASONS[removed[index]])
                continue
            kind, plot, points = action
            gold = 0.0
            if index in removed:
                result = REASONS[removed[index]]
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
        if outcome != RaidOutcome.CAPTURED:
            return OUTCOMES[outcome]
        if winner != agent:
            return "lost"
        return "undone" if plot in self._undone else "captured"

    def _fell(self, plot: int) -> bool:
        """Whether a plot was captured, and not given back by an authority."""
        raid = self._raids.get(plot)
        return raid is not None and raid[4] == RaidOutcome.CAPTURED and plot not in self._undone
