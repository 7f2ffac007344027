"""What theory predicts: the figures by hand, and against what other tools say of the journals."""

from pathlib import Path

import attrs
import pytest

from goldrush.kernel import fold
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.study.inference import correlated, interval
from goldrush.replay.study.records import Cell
from goldrush.replay.worlds.mining.theory import (
    NO_DIFFERENCE,
    RAIDED_MORE,
    SPARED,
    TOO_FEW,
    YARDSTICK,
    defending,
    possession,
    trade_offs,
)
from tests.mining import record
from tests.replay.study.made_up import made, measured_as, results

ROSTER = "greedy-mine"
BASE = Cell("baseline", "greedy-mine", 9)
BLIND = Cell("baseline", "random", 9)
MIXED = Cell("baseline", "mixed", 9)


# possession

HOLDERS = {
    "long_claimed_plots": 100, "long_claimed_raids": 10, "new_claimed_plots": 50,
    "new_captured_raids": 10,
}  # fmt: skip


def holding(cell: Cell, *ratios: float | None) -> list[object]:
    """A run a seed with such a ratio of raids a plot; None: no raids on new plots."""
    return [
        made(
            cell, seed,
            totals=HOLDERS | (
                {"new_captured_raids": 0}
                if ratio is None
                else {"long_claimed_raids": round(20 * ratio)}
            ),
        )
        for seed, ratio in enumerate(ratios)
    ]  # fmt: skip


def test_the_ratio_follows_from_the_events(path: Path) -> None:
    """Counted again: who held what since when, and what of it was raided."""
    settings = {"rounds": 25, "rows": 3, "cols": 3}
    record(path, settings, "greedy-mine*2,defend-then-mine*2,random*2")
    [found] = possession(results(measured_as(Cell("crowded", "six", 25), measured_at(path))))
    long, new = [0, 0], [0, 0]
    since: dict[int, int] = {}
    start: dict[int, int] = {}
    raids: dict[int, int] = {}
    round_ = 0
    with JournalReader(path) as reader:
        for event in fold.events(MINING, reader):
            if event.name == "raid_resolved" and event["plot"] in start:
                raids[event["plot"]] = len(event["raiders"])
            if event.name == "claim_drawn" or event.fields.get("outcome") == "captured":
                since[event["plot"]] = event["round"]
            if event.name in ("run_started", "round_closed"):
                for plot in start:
                    group = long if round_ - start[plot] >= 5 else new
                    group[0] += 1
                    group[1] += raids.get(plot, 0)
                round_, start, raids = round_ + 1, dict(since), {}

    assert (long[1] / long[0]) / (new[1] / new[0]) == pytest.approx(found.ratio.mean)
    assert min(long + new) > 0


@pytest.mark.parametrize(
    ("ours", "blind", "shows"),
    [
        ([0.5, 0.6, 0.55, 0.5], [1.0, 1.1, 0.9, 1.0], SPARED),
        ([1.5, 1.6, 1.55, 1.5], [1.0, 1.1, 0.9, 1.0], RAIDED_MORE),
        ([0.5, 0.6, 0.55, 0.5], [0.5, 0.6, 0.55, 0.55], NO_DIFFERENCE),  # random shows it too
        ([0.9, 1.1, 0.95, 1.05], [1.5, 1.6, 1.55, 1.5], NO_DIFFERENCE),  # 1 is within
        ([0.5, 0.6, 0.55, 0.5], [0.1, 0.15, 0.1, 0.1], NO_DIFFERENCE),  # below 1, above random
        ([0.5, 0.6, 0.55, None], [], SPARED),  # without random 1 is the yardstick
        ([0.5], [], TOO_FEW),
        ([0.5, 0.55, None, None], [1.0, 1.1, 0.9, 1.0], TOO_FEW),
    ],
)
def test_stable_holders_are_spared_where_they_are_beyond_1_and_beyond_random(
    ours: list[float | None], blind: list[float], shows: str
) -> None:
    runs = [*holding(BASE, *ours), *holding(BLIND, *blind)]
    found = {one.cell: one for one in possession(results(*runs))}  # type: ignore[arg-type]

    assert shows == found[BASE].shows
    assert not blind or YARDSTICK == found[BLIND].shows
    assert BLIND not in found or found[BLIND].beyond_null is None


def test_the_difference_from_random_is_seed_by_seed() -> None:
    runs = [*holding(BASE, 0.5, 0.7, None), *holding(BLIND, 1.0, 1.1, 0.9)]
    found = possession(results(*runs))[0]  # type: ignore[arg-type]

    by_seed = interval([0.5 - 1.0, 0.7 - 1.1])
    assert attrs.astuple(by_seed) == pytest.approx(attrs.astuple(found.beyond_null))


# defence


def defended(seed: int = 0, gap: float = 0.0, **totals: int) -> object:
    """A mixed run; agents 0 .. 2 only mine, 3 .. 5 defend."""
    gold = [1.0] * 3 + [1.0 + gap] * 3 + [9.0] * 4
    return made(MIXED, seed, totals=totals, gold=gold)


def test_break_even_is_worked_out_by_hand() -> None:
    """Of 100 defended plots 40 are raided, 10 of these fall; 200 points are mined on them.

    A point saves 0.4 · 0.75 · (2 + 1) = 0.9 gold and costs 1; it would pay from a chance of
    1 ÷ (0.75 · 3) = 4/9 on.
    """
    run = defended(defended=100, defended_raided=40, defended_captured=10, staked=200)
    [found] = defending(results(run))  # type: ignore[arg-type]

    assert (0.4, 2.0, 0.25) == (found.raided, found.stake, found.fell)
    assert (0.9, 1.0, 4 / 9) == (
        pytest.approx(found.saves), found.cost, pytest.approx(found.break_even)
    )  # fmt: skip
    assert found.pays is False


def test_where_nothing_is_defended_nothing_is_predicted_and_what_nobody_tests_does_not_pay() -> (
    None
):
    [none] = defending(results(defended()))  # type: ignore[arg-type]
    runs = [defended(0, defended=10, staked=10), defended(1, defended=30)]
    [untested] = defending(results(*runs))  # type: ignore[arg-type]

    assert (None, None, None, None) == (none.raided, none.saves, none.break_even, none.pays)
    assert (0.0, 0.0, None, False) == (
        untested.raided, untested.saves, untested.fell, untested.pays
    )  # fmt: skip
    assert 10 / 40 == untested.stake  # runs of a cell are taken together
    assert [] == defending(results(made(BASE), made(BLIND)))  # nobody defends among miners


def test_at_break_even_savings_are_the_cost() -> None:
    for raided, pays in ((44, False), (45, True)):
        run = defended(defended=100, defended_raided=raided, staked=125)  # stake 1.25
        [found] = defending(results(run))  # type: ignore[arg-type]

        assert 1 / 2.25 == found.break_even
        assert pays == (raided / 100 > 1 / 2.25) == found.pays


@pytest.mark.parametrize(
    ("gaps", "paid"),
    [([2.0, 3.0, 2.5], True), ([-2.0, -3.0, -2.5], False), ([2.0, -3.0, 0.5], None),
     ([2.0], None), ([0.0, 0.0], None)],
)  # fmt: skip
def test_whether_defence_paid_is_seen_in_the_gold_of_those_who_defend(
    gaps: list[float], paid: bool | None
) -> None:
    runs = [defended(seed, gap) for seed, gap in enumerate(gaps)]
    [found] = defending(results(*runs))  # type: ignore[arg-type]

    assert interval(gaps) == found.gap
    assert paid is found.did_pay


def test_what_is_identical_by_construction_counts_once() -> None:
    cells = [Cell(name, "mixed", 9) for name in ("baseline", "history-1")]
    totals = HOLDERS | {"defended": 10, "defended_raided": 4}
    found = results(*(made(cell, totals=totals) for cell in cells))

    assert [cells[0]] == [one.cell for one in possession(found)]
    assert [cells[0]] == [one.cell for one in defending(found)]


# the trade-off


def test_the_trade_off_is_over_the_runs_of_each_roster_and_of_all() -> None:
    figures = [(0.1, 0.5, 0.9), (0.2, 0.4, 0.7), (0.3, 0.2, 0.8), (0.4, 0.3, 0.1)]
    runs = [
        made(Cell(t, roster, 9), seed, run={"turnover": a + shift, "gini": b, "hhi": c})
        for t, shift in (("baseline", 0.0), ("scarce", 0.05))
        for roster in (ROSTER, "random")
        for seed, (a, b, c) in enumerate(figures)
    ]
    found = {one.roster: one for one in trade_offs(results(*runs))}
    turnover = [a for a, _, _ in figures] + [a + 0.05 for a, _, _ in figures]

    assert [None, ROSTER, "random"] == list(found)
    for place, name in ((1, "gini"), (2, "hhi")):
        of = [each[place] for each in figures] * 2
        assert correlated(of, turnover) == getattr(found["random"], name)
    assert (16, 8) == (found[None].gini.n, found[ROSTER].hhi.n)


def test_every_horizon_has_a_trade_off_of_its_own() -> None:
    runs = [made(Cell("baseline", ROSTER, rounds), seed) for rounds in (5, 9) for seed in range(4)]

    assert [(None, 5), (ROSTER, 5), (None, 9), (ROSTER, 9)] == [
        (one.roster, one.rounds) for one in trade_offs(results(*runs))
    ]
