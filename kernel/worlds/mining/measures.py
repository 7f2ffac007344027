"""The measures of a round of the mining world, with their definitions.

The events of a round are counted first (`Counts`); each measure is a function of the counts. The
definitions that reports print are in replay.worlds.mining.measures. A measure is None, never 0,
where its denominator is 0. Captures that an authority has undone do not count as captures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

import attrs

from goldrush.kernel import measures
from goldrush.kernel.measures import Value, ratio
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.mining.config import MiningConfig
from goldrush.kernel.worlds.mining.events import CAPTURED

HELD_LONG: Final = 5  # rounds after which a holder counts as stable
WINDOW: Final = 10  # rounds over which stamina is pooled for the convergence of shares


class Basic(Protocol):
    """The counts from which the main rates are computed.

    Attributes:
        owned: plots owned at the start of the round.
        turned: those of them with another owner at its end.
        raids: raid actions on the owned plots.
        mined: gold.

    """

    @property
    def owned(self) -> int: ...
    @property
    def turned(self) -> int: ...
    @property
    def raids(self) -> int: ...
    @property
    def mined(self) -> float: ...


@attrs.frozen
class Basics:
    """See Basic."""

    owned: int
    turned: int
    raids: int
    mined: float


def basics(
    before: Sequence[int | None],
    after: Sequence[int | None],
    raids: Sequence[Row],
    settled: Sequence[Row],
) -> Basics:
    """Count a round.

    Args:
        before, after: the owners of all plots before and after the round.
        raids: its `raid_resolved` rows.
        settled: its `mining_settled` rows.

    """
    on_owned = [row for row in raids if before[row[0]] is not None]
    return Basics(
        owned=len(before) - before.count(None),
        turned=sum([row[4] == CAPTURED and before[row[0]] != after[row[0]] for row in on_owned]),
        raids=sum([len(row[2]) for row in on_owned]),
        mined=math.fsum([row[3] for row in settled]),
    )


@attrs.frozen
class PlotGroup:
    """Plots owned at the start of a round, and the raid actions on them."""

    plots: int
    raids: int


@attrs.frozen
class Counts:
    """Counts of a round. Actions are those left after pruning; stamina is in points.

    Attributes:
        round: the round.
        owned: plots owned at the start of the round.
        turned: those of them with another owner at its end.
        owned_after: plots owned at its end.
        raided: those of `owned` that were raided.
        raids: raid actions on `owned` plots.
        speculative: raid actions on unowned plots.
        captures: captures that were not undone.
        undone: captures undone by an authority.
        defended: defended plots.
        defended_raided, defended_captured, defended_undone: of these.
        overrun: defended plots, not in a truce, with more raiders (apart from the owner) than
            points, under pointwise defence; 0 under the absolute one, where one point stops all.
        undefended_captured: other plots of `owned` that were captured.
        staked: stamina allocated to mining on defended plots.
        claims: claimed plots.
        contested: those with two claimants or more.
        defend, mine, claim, raid: stamina spent on each.
        stamina: the stamina of all agents.
        lost_claims: stamina spent on claims that another agent won.
        failed_raids: stamina spent on raids without a lasting capture.
        forfeited: stamina spent on mining plots that were lost in the same round.
        untested: stamina spent on defence of plots that nobody raided.
        mined: gold.
        long_claimed, long_captured: plots held for 5 rounds or more, by how they are held.
        new_claimed, new_captured: the other owned plots.

    """

    round: int
    owned: int
    turned: int
    owned_after: int
    raided: int
    raids: int
    speculative: int
    captures: int
    undone: int
    defended: int
    defended_raided: int
    defended_captured: int
    defended_undone: int
    overrun: int
    undefended_captured: int
    staked: int
    claims: int
    contested: int
    defend: int
    mine: int
    claim: int
    raid: int
    stamina: int
    lost_claims: int
    failed_raids: int
    forfeited: int
    untested: int
    mined: float
    long_claimed: PlotGroup
    long_captured: PlotGroup
    new_claimed: PlotGroup
    new_captured: PlotGroup

    @property
    def spent(self) -> int:
        """The stamina spent by all agents."""
        return self.defend + self.mine + self.claim + self.raid


@attrs.frozen
class Land:
    """The yield of the grid in a round, in gold.

    Attributes:
        all: if every plot is mined to its cap.
        reachable: with the stamina of all agents, plots filled to the cap by descending α.

    """

    all: float
    reachable: float


def land_of(config: MiningConfig) -> Land:
    """The yield of a grid."""
    cap, left = config.mining_cap, sum(config.staminas)
    alphas = sorted(config.alphas, reverse=True)
    filled = []
    for alpha in alphas:
        if left <= 0:
            break
        filled.append(min(cap, left) * alpha)
        left -= cap
    return Land(math.fsum(cap * alpha for alpha in alphas), math.fsum(filled))


def turnover(n: Basic) -> Value:
    """Turnover rate: plots owned at round start whose owner differs at round end ÷ plots owned at
    round start. 0 .. 1.
    """
    return ratio(n.turned, n.owned)


def raid_rate(n: Basic) -> Value:
    """Raid rate: raid actions left after pruning on plots owned at round start ÷ such plots.
    Raids on nobody's plots (speculative ones, under truce 0) are left out. 0 or more.
    """
    return ratio(n.raids, n.owned)


def defense_trigger(n: Counts) -> Value:
    """Defence trigger rate: defended plots that were raided ÷ defended plots. 0 .. 1."""
    return ratio(n.defended_raided, n.defended)


def targeting(n: Counts) -> Value:
    """Targeting: (defended plots that were raided ÷ defended plots) ÷ (plots owned at round start
    that were raided ÷ plots owned at round start). About 1 when defence is blind, above when it
    stands where raids come; as a mean of ratios, to be compared with `random`.
    """
    triggered, raided = defense_trigger(n), ratio(n.raided, n.owned)
    return None if triggered is None or raided is None else ratio(triggered, raided)


def raid_success(n: Counts) -> Value:
    """Raid success rate: captures that stand ÷ raid actions left after pruning. 0 .. 1."""
    return ratio(n.captures, n.raids + n.speculative)


def idle(n: Counts) -> Value:
    """Idle stamina rate: stamina not spent ÷ the stamina of all, ΣS. 0 .. 1."""
    return ratio(n.stamina - n.spent, n.stamina)


def wasted(n: Counts) -> Value:
    """Wasted stamina rate: stamina spent on claims that another won, on raids that captured nothing
    for good, on mining plots that were lost, and on defence of plots that nobody raided ÷ stamina
    spent. 0 .. 1.
    """
    return ratio(n.lost_claims + n.failed_raids + n.forfeited + n.untested, n.spent)


def share_defend(n: Counts) -> Value:
    """Share of defence in the stamina spent. 0 .. 1."""
    return ratio(n.defend, n.spent)


def share_raid(n: Counts) -> Value:
    """Share of raids in the stamina spent. 0 .. 1."""
    return ratio(n.raid, n.spent)


def share_mine(n: Counts) -> Value:
    """Share of mining in the stamina spent. 0 .. 1."""
    return ratio(n.mine, n.spent)


def share_claim(n: Counts) -> Value:
    """Share of claims in the stamina spent. 0 .. 1."""
    return ratio(n.claim, n.spent)


def respect(n: Counts) -> Value:
    """Respect for first possession: (raid actions ÷ plot, over plots held for 5 rounds or more at
    round start) ÷ (raid actions ÷ plot, over the other owned plots). About 1 when raids are blind,
    below when stable holders are spared. The mean over rounds lies above that of all rounds taken
    together, for a ratio to a small number varies most upwards: compare with `random`.
    """
    return _spared((n.long_claimed, n.long_captured), (n.new_claimed, n.new_captured))


def respect_claimed(n: Counts) -> Value:
    """Respect for first possession, over the plots held by claim alone."""
    return _spared((n.long_claimed,), (n.new_claimed,))


def respect_captured(n: Counts) -> Value:
    """Respect for first possession, over the plots held by capture alone."""
    return _spared((n.long_captured,), (n.new_captured,))


def contention(n: Counts) -> Value:
    """Contention rate: claimed plots with two claimants or more ÷ claimed plots. 0 .. 1."""
    return ratio(n.contested, n.claims)


def efficiency(n: Basic, land: Land) -> Value:
    """Efficiency: gold mined ÷ (Σ over plots of mining_cap × α). 0 .. 1."""
    return ratio(n.mined, land.all)


def reachable_efficiency(n: Basic, land: Land) -> Value:
    """Reachable efficiency: gold mined ÷ the most that the stamina of all, ΣS, could mine on this
    grid, plots being filled to the cap by α descending. 0 .. 1.
    """
    return ratio(n.mined, land.reachable)


def gini(gold: Iterable[float]) -> Value:
    """Gini coefficient of gold: Σ over i, j of |x_i − x_j| ÷ (2 N² · mean), over the agents'
    cumulative gold; of a half, over the gold earned in it. 0: all have the same. None where the
    mean is not above 0: in a half, fines may take more than was mined.
    """
    return measures.gini(gold)


def hhi(plots: Iterable[int]) -> Value:
    """Herfindahl–Hirschman index of plots: Σ over agents of (plots of the agent ÷ owned plots)²,
    at round end. 1 ÷ N (all the same) .. 1 (one has all).
    """
    held = [count for count in plots if count]
    owned = sum(held)
    return ratio(sum(count * count for count in held), owned * owned)


def convergence(spent: Sequence[Counts]) -> Value:
    """Share convergence: the total-variation distance, ½ Σ |p_k − q_k| over the four kinds, between
    the pooled shares of stamina of two successive full windows of 10 rounds (1 .. 10, 11 .. 20 and
    so on). It stands at the last round of the second. 0 (nothing changes any more) .. 1.
    """
    older, newer = (
        [sum(getattr(n, kind) for n in window) for kind in ("defend", "mine", "claim", "raid")]
        for window in (spent[:WINDOW], spent[WINDOW:])
    )
    if not sum(older) or not sum(newer):
        return None
    return (
        math.fsum(abs(p / sum(older) - q / sum(newer)) for p, q in zip(older, newer, strict=True))
        / 2
    )


def _spared(long: Sequence[PlotGroup], new: Sequence[PlotGroup]) -> Value:
    on_long, on_new = (
        ratio(sum([group.raids for group in groups]), sum([group.plots for group in groups]))
        for groups in (long, new)
    )
    return None if on_long is None or on_new is None else ratio(on_long, on_new)
