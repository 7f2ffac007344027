"""Predictions of theory for mining, tested on the runs of a study.

There are three: tied agents win equally often; agents that learn and see possession spare stable
holders when raiding (those that cannot learn raid blindly); and defence pays if it saves more than
it costs. Cells identical to their baseline by construction are left out, as the same runs would
count twice. The correlation of concentration with turnover is here, too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.kernel.measures import Value, mean, ratio
from goldrush.kernel.worlds.mining.config import MiningConfig
from goldrush.replay.journal.fairness import Fairness, tested
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
from goldrush.replay.worlds.mining.counting import Tie, Totals
from goldrush.replay.worlds.mining.measures import MeasuredRun
from goldrush.replay.worlds.mining.spells import times_of

DEFENDER: Final = "defend-then-mine"
MINER: Final = "greedy-mine"
# What is seen of the holders of plots.
SPARED, RAIDED_MORE, NO_DIFFERENCE, TOO_FEW, YARDSTICK = (
    "spared", "raided more", "no clear difference", "too few seeds", "the yardstick",
)  # fmt: skip


@attrs.frozen
class MiningKept:
    """The part of a run's measures that a study keeps: sums over its rounds, the draws between tied
    agents, and the number of ownership spells by length and by whether they ended.
    """

    totals: Totals
    ties: Sequence[Tie]
    lengths: Mapping[tuple[int, bool], int]


MiningResult = Result[MiningConfig, MiningKept]
MiningResults = Results[MiningConfig, MiningKept]


def kept(measured: MeasuredRun) -> MiningKept:
    return MiningKept(
        totals=measured.totals,
        ties=list(measured.ties),
        lengths=Counter((end - start + 1, lost) for start, end, lost in times_of(measured.spells)),
    )


def packed(part: MiningKept) -> object:
    return (
        attrs.astuple(part.totals),
        [attrs.astuple(tie) for tie in part.ties],
        [(*seen, count) for seen, count in part.lengths.items()],
    )


def unpacked(values: Any) -> MiningKept:
    totals, ties, lengths = values
    return MiningKept(
        Totals(*totals),
        [Tie(*tie) for tie in ties],
        {(length, is_over): count for length, is_over, count in lengths},
    )


def ties(results: MiningResults) -> dict[str, list[Fairness]]:
    """Chi-square tests of the winners of ties, for claims and for raids.

    There is one test for each number of participants, and a last one for all together. Draws with
    the same key, in runs with the same seed, are the same draw and count once.
    """
    wins: dict[str, dict[int, list[int]]] = {"claim": {}, "raid": {}}
    seen: set[tuple[int, int, int, str]] = set()
    for _, runs in _different(results):
        for result in runs:
            for tie in result.kept.ties:
                key = (result.draw, tie.round, tie.plot, tie.kind)
                if key not in seen:
                    seen.add(key)
                    counts = wins[tie.kind].setdefault(tie.participants, [0] * tie.participants)
                    counts[tie.rank] += 1
    return {kind: tested(counts) for kind, counts in wins.items()}


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
        ratios = [_raids_on_holders(result) for result in runs]
        if all(value is None for value in ratios):
            continue
        beyond = None
        null = blind_cells.get(cell)
        if null is not None and null != cell:
            pairs = by_seed(runs, results.by_cell[null])
            beyond = paired(
                ((_raids_on_holders(a), _raids_on_holders(b)) for a, b in pairs),
                [(a.draw, b.draw) for a, b in pairs],
            )
        is_null, draws = null == cell, [result.draw for result in runs]
        ratio_of = interval(ratios, draws)
        found.append(Possession(cell, len(set(draws)), ratio_of, beyond, is_null))
    return found


def _different(
    results: MiningResults,
) -> Iterator[tuple[Cell, Sequence[MiningResult]]]:
    same = identical_cells(results)
    return ((cell, runs) for cell, runs in results.by_cell.items() if cell not in same)


def _raids_on_holders(result: MiningResult) -> Value:
    total = result.kept.totals
    on_long, on_new = (
        ratio(total.long_raids, total.long_plots),
        ratio(total.new_raids, total.new_plots),
    )
    return None if on_long is None or on_new is None else ratio(on_long, on_new)


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
    gaps = [
        (result.draw, ours - theirs)
        for result in runs
        if (ours := _gold_each(result, DEFENDER)) is not None
        and (theirs := _gold_each(result, MINER)) is not None
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


def _gold_each(result: MiningResult, policy: str) -> Value:
    """The mean gold of a policy's agents at the end of a run."""
    return mean(
        [
            gold
            for gold, name in zip(result.by_agent["gold"], result.policies, strict=True)
            if name == policy
        ]
    )


@attrs.frozen
class Breaking:
    """Raids on defended plots under one rule of defence (the setting `defense`), as counts of plots
    over rounds: raided; `overrun`, which must fall by the rule; `undone`, captured and given back
    by an authority; `fell`, captured for good.

    Theory: if one point stops all raiders, no defended plot falls; if a point stops one raider, a
    plot falls whenever there are more raiders than points.
    """

    rule: str
    raided: int
    overrun: int
    undone: int
    fell: int

    @property
    def holds(self) -> bool:
        """Whether as many plots fell as the rule requires, less those that were given back."""
        return self.fell == self.overrun - self.undone


def breaking(results: MiningResults) -> list[Breaking]:
    found: dict[str, list[Totals]] = {}
    for _, runs in _different(results):
        for result in runs:
            found.setdefault(result.config.defense, []).append(result.kept.totals)
    return [
        Breaking(
            rule,
            raided=sum(total.defended_raided for total in totals),
            overrun=sum(total.overrun for total in totals),
            undone=sum(total.defended_undone for total in totals),
            fell=sum(total.defended_captured for total in totals),
        )
        for rule, totals in found.items()
    ]


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
    """The results of the trade-off and of the other predictions for JSON.

    Undefined values are None.
    """

    def cell_of(cell: Cell) -> dict[str, Any]:
        return cell_as_dict(results, cell)

    return {
        "trade_off": [attrs.asdict(one) for one in trade_offs(results)],
        "theory": {
            "ties": {kind: [t.as_dict() for t in tests] for kind, tests in ties(results).items()},
            "possession": [
                {**cell_of(one.cell), **attrs.asdict(one, filter=_but_cell), "shows": one.shows}
                for one in possession(results)
            ],
            "defending": [
                {
                    **cell_of(one.cell),
                    **attrs.asdict(one, filter=_but_cell),
                    "pays": one.pays,
                    "did_pay": one.did_pay,
                }
                for one in defending(results)
            ],
            "breaking": [attrs.asdict(one) for one in breaking(results)],
        },
    }


def _but_cell(attribute: attrs.Attribute[Any], value: Any) -> bool:
    return attribute.name != "cell"
