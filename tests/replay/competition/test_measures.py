import math
from collections import defaultdict
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from goldrush.kernel.competition.arenas.nk import CONDUCTS, landscape
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import Event
from goldrush.replay.competition.measures import (
    COMPARED_MIN,
    MEASURES,
    TABLES_MIN,
    MeasuredSeason,
    measured,
    spearman,
    stability,
)
from tests.seasons import events_of, kept, small

Series = dict[str, float | None]


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without a judge nothing is redirected, so that contributions can be counted by events."""
    return small(tmp_path_factory.mktemp("s") / "s.journal", assignments=6, judged=False)


def of(path: Path) -> MeasuredSeason:
    with JournalReader(path) as reader:
        return measured(reader)


def series_of(events: list[Event]) -> Series:
    """The measures of an assignment with one table, from its events alone."""
    rows = defaultdict(list)
    for event in events:
        rows[event.name].append(event)
    (opened,), (concluded,) = rows["assignment_opened"], rows["concluded"]
    bar = next(test for test in rows["tested"] if test["at"] is None)
    base = {test["at"]: test["value"] for test in rows["tested"] if test["part"] == "base"}
    claims = {one["id"]: one for one in rows["spoke"] if one["move"] in ("propose", "amend")}
    challenges = [one for one in rows["spoke"] if one["move"] == "challenge"]
    held = {id for id in claims if base[id] >= claims[id]["claim"][0]}
    sharp = {
        id for id in held
        if 2 * abs(claims[id]["claim"][0] - bar["value"]) >= abs(base[id] - bar["value"])
    }  # fmt: skip
    sustained = [one for one in challenges if one["target"] not in held]
    totals = {one["agent"]: one["total"] for one in rows["scored"]}
    best: dict[int, float] = {}
    for id, one in claims.items():
        best[one["agent"]] = max(base[id], best.get(one["agent"], -math.inf))
    values = landscape(opened["subjects"][0][1], 0.2)
    exact = dict(zip(CONDUCTS, values, strict=True))
    concluded_on = exact[concluded["conduct"] or bar["conduct"]]
    tested = exact[max(claims.values(), key=lambda one: base[one["id"]])["conduct"]]
    return {
        "percentile": fmean((v < concluded_on) + (v == concluded_on) / 2 for v in values),
        "regret": max(values) - concluded_on,
        "discovery": max(values) - tested,
        "selection": tested - concluded_on,
        "drawn": float(bool(concluded["tied"])),
        "open": float(concluded["proposal"] is None),
        "held": len(held) / len(claims),
        "sharp": len(sharp) / len(claims),
        "sustained": len(sustained) / len(challenges) if challenges else None,
        "passes": fmean(one["move"] == "pass" for one in rows["spoke"]),
        "words": sum(len(one["words"].split()) for one in rows["spoke"]),
        "trials": len(rows["tried"]),
        "total": fmean(totals.values()),
        "validity": correlation([totals[agent] for agent in best], list(best.values())),
        "faced": len(rows["elimination_faced"]),
        "returned": len(rows["returned"]),
    }


def correlation(one: list[float], other: list[float]) -> float | None:
    is_defined = len(one) >= COMPARED_MIN and len(set(one)) > 1 and len(set(other)) > 1
    return float(stats.spearmanr(one, other).statistic) if is_defined else None


def test_measures_are_those_that_the_events_give(journal: Path) -> None:
    found, events = of(journal), events_of(journal)
    assert not any(event.name == "refused" for event in events)
    expected = [
        series_of([event for event in events if event.unit == assignment])
        for assignment in range(found.units)
    ]

    assert 6 == found.units
    for name in expected[0]:
        assert [one[name] for one in expected] == pytest.approx(found.values[name]), name
    assert any(one["sustained"] for one in expected)
    assert any(one["validity"] is not None for one in expected)


def test_every_measure_stays_within_its_limits() -> None:
    found = of(kept("rich"))

    assert [n for n, m in MEASURES.items() if m.by_unit] == list(found.values)
    for name, values in found.values.items():
        low, high = MEASURES[name].limits
        assert all(value is None or low <= value <= high for value in values), name


def test_halves_are_mean_totals_at_odd_and_even_tables_centred() -> None:
    totals = defaultdict(list)
    for event in events_of(kept("rich")):
        if event.name == "scored":
            totals[event["agent"]].append(event["total"])
    often = {agent: own for agent, own in totals.items() if len(own) >= TABLES_MIN}
    odd = {agent: fmean(own[0::2]) for agent, own in often.items()}
    even = {agent: fmean(own[1::2]) for agent, own in often.items()}
    found = of(kept("rich"))

    assert len(often) > 2
    assert {
        agent: pytest.approx((odd[agent] - fmean(odd.values()), even[agent] - fmean(even.values())))
        for agent in often
    } == found.halves_of
    assert [fmean(totals[agent]) for agent in range(5, 11)] == pytest.approx(found.first_totals)


def test_stability_is_corrected_for_the_length_and_undefined_without_spread() -> None:
    r = stats.pearsonr([1, 2, 4], [2, 1, 3]).statistic

    assert pytest.approx(2 * r / (1 + r)) == stability([(1, 2), (2, 1), (4, 3)])
    assert 1 == stability([(-1, -1), (1, 1)])
    assert stability([]) is stability([(0, 1), (0, 2)]) is stability([(-1, 1), (1, -1)]) is None


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_spearman_averages_ties_and_is_undefined_where_one_is_constant(
    pairs: list[tuple[int, int]],
) -> None:
    one, other = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    found = spearman(one, other)

    if len(set(one)) == 1 or len(set(other)) == 1:
        assert found is None
    else:
        assert pytest.approx(stats.spearmanr(one, other).statistic) == found
