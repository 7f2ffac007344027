"""Predictions of theory for mining, tested on the runs of a study.

There are two: agents that learn and see possession spare stable holders when raiding (those that
cannot learn raid blindly); and defence pays if it saves more than it costs. Cells identical to
their baseline by construction are left out, as the same runs would count twice. The correlation of
concentration with turnover is here, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs
from attrs.filters import exclude

from goldrush.kernel.measures import Value, ratio
from goldrush.kernel.worlds.mining.config import MiningConfig
from goldrush.replay.outcome import means_of
from goldrush.replay.study.comparisons import identical_cells, nulls
from goldrush.replay.study.inference import (
    SIGN_SHARE,
    Correlation,
    Interval,
    correlated,
    interval,
    paired,
)
from goldrush.replay.study.judging import by_seed
from goldrush.replay.study.records import Cell, Result
from goldrush.replay.study.results import Results, cell_as_dict
from goldrush.replay.worlds.mining.counting import Counts
from goldrush.replay.worlds.mining.measures import MeasuredRun, respect

DEFENDER: Final = "defend-then-mine"
MINER: Final = "greedy-mine"
# What is seen of the holders of plots.
SPARED, RAIDED_MORE, NO_DIFFERENCE, TOO_FEW, YARDSTICK = (
    "spared", "raided more", "no clear difference", "too few seeds", "the yardstick",
)  # fmt: skip


@attrs.frozen
class MiningKept:
    """The part of a run's measures that a study keeps: sums over its rounds, and the number of
    ownership spells by length and by whether they ended.
    """

    totals: Counts
    lengths: Mapping[tuple[int, bool], int]


MiningResult = Result[MiningConfig, MiningKept]
MiningResults = Results[MiningConfig, MiningKept]


def kept(measured: MeasuredRun) -> MiningKept:
    return MiningKept(measured.totals, measured.lengths)


@attrs.frozen
class Possession:
    """Raids on plots held for 5 rounds or more compared with raids on others, in one cell.

    The ratio is that of raid actions per plot over all rounds of a run; blind raiders give about 1.
    A mean of the rounds' ratios would be above 1 for them, because few plots are new and ratios
    with small denominators vary mostly upwards. Even the ratio of all rounds is a few per cent off
    1 for them, because agents do not raid their own plots, and the most active raiders may hold the
    newest ones; so it is also compared with `random`, which is blind.

    Attributes:
        seeds: its number of seeds.
        ratio: over seeds.
        beyond_null: ratio − ratio of `random` under the same treatment, paired by seed; None if
            the study has no such runs, or the cell is `random` itself.
        is_null: whether the cell is `random` itself.
    """

    cell: Cell
    seeds: int
    ratio: Interval
    beyond_null: Interval | None
    is_null: bool

    @property
    def shows(self) -> str:
        """The finding.

        "Spared" and "raided more" require an interval of the ratio that excludes 1, a difference
        from `random` whose interval excludes 0, if the study has that treatment, and data in three
        quarters of the seeds.
        """
        if self.is_null:
            return YARDSTICK
        if self.ratio.n < max(2, SIGN_SHARE * self.seeds):
            return TOO_FEW
        against = [_side(self.ratio, 1.0)]
        if self.beyond_null is not None:
            against.append(_side(self.beyond_null, 0.0))
        if all(side < 0 for side in against):
            return SPARED
        return RAIDED_MORE if all(side > 0 for side in against) else NO_DIFFERENCE


def _side(bounds: Interval, value: float) -> int:
    """The side of a value (−1 or 1) on which an interval lies; 0 if it contains the value."""
    if bounds.low is None or bounds.high is None:
        return 0
    return (bounds.low > value) - (bounds.high < value)


def possession(results: MiningResults) -> list[Possession]:
    found = []
    blind_cells = nulls(results)
    for cell, runs in _different(results):
        draws, ratios = [run.draw for run in runs], [respect(run.kept.totals) for run in runs]
        if all(value is None for value in ratios):
            continue
        beyond, null = None, blind_cells.get(cell)
        if null is not None and null != cell:
            pairs = by_seed(runs, results.by_cell[null])
            beyond = paired(
                ((respect(a.kept.totals), respect(b.kept.totals)) for a, b in pairs),
                [(a.draw, b.draw) for a, b in pairs],
            )
        ratio = interval(ratios, draws)
        found.append(Possession(cell, len(set(draws)), ratio, beyond, null == cell))
    return found


def _different(
    results: MiningResults,
) -> Iterator[tuple[Cell, Sequence[MiningResult]]]:
    same = identical_cells(results)
    return ((cell, runs) for cell, runs in results.by_cell.items() if cell not in same)


@attrs.frozen
class Defending:
    """The value of a point of defence in a cell with both defenders and miners, in gold per round.

    Attributes:
        raided: the chance that a defended plot is raided in a round.
        stake: gold mined on a defended plot per round (at the mean α, if α differs).
        fell: the share of raided defended plots that were captured.
        saves: a lower bound of the saving, raided × (1 − fell) × (stake + α): this round's gold,
            and the stamina of a new claim, worth α.
        cost: α, the gold of a point mined elsewhere.
        break_even: the chance of a raid at which both are equal, α ÷ ((1 − fell) × (stake + α)).
        gap: gold per agent of defenders − miners, over seeds.
    """

    cell: Cell
    raided: Value
    stake: Value
    fell: Value
    saves: Value
    cost: float
    break_even: Value
    gap: Interval

    @property
    def pays(self) -> bool | None:
        """Whether defence is predicted to pay."""
        return None if self.saves is None else self.saves > self.cost

    @property
    def did_pay(self) -> bool | None:
        """Whether defenders got more gold than miners; None if the interval contains 0."""
        low, high = self.gap.low, self.gap.high
        if low is None or high is None or low <= 0 <= high:
            return None
        return low > 0


def defending(results: MiningResults) -> list[Defending]:
    return [
        _defending(cell, runs)
        for cell, runs in _different(results)
        if {DEFENDER, MINER} <= set(runs[0].policies)
    ]


def _defending(cell: Cell, runs: Sequence[MiningResult]) -> Defending:
    def total(name: str) -> int:
        return sum(getattr(result.kept.totals, name) for result in runs)

    alphas = runs[0].config.alphas
    alpha = math.fsum(alphas) / len(alphas)
    raided = ratio(total("defended_raided"), total("defended"))
    staked = ratio(total("staked"), total("defended"))
    fell = ratio(total("defended_captured"), total("defended_raided"))
    saves = break_even = None
    if raided is not None and staked is not None:
        worth = (1 - (fell or 0.0)) * (staked + 1) * alpha
        saves, break_even = raided * worth, ratio(alpha, worth)
    gold = [(run.draw, means_of(run.by_agent["gold"], run.policies)) for run in runs]
    gaps = [
        (draw, ours - theirs)
        for draw, means in gold
        if (ours := means.get(DEFENDER)) is not None and (theirs := means.get(MINER)) is not None
    ]
    return Defending(
        cell=cell,
        raided=raided,
        stake=None if staked is None else staked * alpha,
        fell=fell,
        saves=saves,
        cost=alpha,
        break_even=break_even,
        gap=interval([gap for _, gap in gaps], [draw for draw, _ in gaps]),
    )


@attrs.frozen
class TradeOff:
    """The concentration–stability trade-off at one horizon, of one roster or (None) of all:
    Spearman's rank correlation, over runs, of the Gini coefficient and of the Herfindahl–Hirschman
    index with turnover.
    """

    roster: str | None
    rounds: int
    gini: Correlation
    hhi: Correlation


def trade_offs(results: MiningResults) -> list[TradeOff]:
    """The trade-off for each horizon, of all rosters together and of each roster.

    Treatments that are identical by construction count once.
    """
    same = identical_cells(results)
    found = []
    for rounds in dict.fromkeys(cell.rounds for cell in results.by_cell):
        cells = [c for c in results.by_cell if c.rounds == rounds and c not in same]
        for roster in (None, *dict.fromkeys(cell.roster for cell in cells)):
            runs = [
                result.run
                for cell in cells
                if roster in (None, cell.roster)
                for result in results.by_cell[cell]
                if result.equal_to is None
            ]
            turnover = [run["turnover"] for run in runs]
            gini, hhi = (
                correlated([run[name] for run in runs], turnover) for name in ("gini", "hhi")
            )
            found.append(TradeOff(roster, rounds, gini, hhi))
    return found


def answers(results: MiningResults) -> dict[str, object]:
    """The results of the trade-off and of the predictions for JSON. Undefined values are None."""

    def row_of(result: Possession | Defending, **derived: object) -> dict[str, object]:
        cell = cell_as_dict(results, result.cell)
        return {**cell, **attrs.asdict(result, filter=exclude("cell")), **derived}

    return {
        "trade_off": [attrs.asdict(each) for each in trade_offs(results)],
        "theory": {
            "possession": [row_of(each, shows=each.shows) for each in possession(results)],
            "defending": [
                row_of(each, pays=each.pays, did_pay=each.did_pay) for each in defending(results)
            ],
        },
    }
