"""The measures of a season, derived a second time from its events, by their definitions alone.

`Told` reads a season assignment by assignment, its tables as the season oracle has them, and shares
no code with what it is held against: the landscapes of `nk` are hashed anew, correlations are
scipy's. What has a known answer stands below.
"""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from goldrush.agents.worlds.competition.arenas import arena_record
from goldrush.agents.worlds.competition.benches.mining import atlas, conducts
from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.agents.worlds.competition.treatments import TREATMENTS
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.measures import spearman
from goldrush.replay.data.measures import Span
from goldrush.replay.worlds.competition.measures import (
    LEARNING,
    MEASURES,
    STABILITY,
    MeasuredSeason,
    measured,
    stability,
)
from goldrush.replay.worlds.competition.quality import quality
from tests.arena_oracle import nk_values
from tests.golden import SEASON, SEASON_NAMES, season_path
from tests.journals import commits_of, events_of, write
from tests.playing import record
from tests.replay.worlds.competition.told import Assignment, assignments_of
from tests.season_oracle import Table
from tests.seasons import HEADER

Value = float | None


def mean_of(values: Sequence[Value]) -> Value:
    """The mean of what is defined."""
    defined = [value for value in values if value is not None]
    return fmean(defined) if defined else None


def share(part: float, whole: int) -> Value:
    return part / whole if whole else None


# A season told by its events.

UNTOLD = -9.0  # below all values of a measure: the events do not tell it


def told_measures(one: Assignment, table: Table) -> dict[str, Value]:
    """The measures of a table."""
    counted, tests = table.counted(), table.tests
    claims = table.proposals(counted)
    challenges = [said for said in counted if said["move"] == "challenge"]
    [end] = one.all("concluded", table)
    scored = one.all("scored", table)
    raw = {event["agent"]: event["rubric"] for event in scored}
    merits = {event["agent"]: event["rubric"] - event["raw"][2] for event in scored}
    is_rubrics = all(sum(event["raw"]) == event["rubric"] for event in scored)  # nobody rated else

    def valid(by_agent: Mapping[int, int]) -> Value:
        totals, bests = [], []
        for agent, total in by_agent.items():
            own = [tests[c["id"], "base"] for c in claims if c["agent"] == agent]
            if values := [value for value in own if value is not None]:
                totals.append(total)
                is_up = table.arena.is_up(table.objective)
                bests.append(max(values) if is_up else -min(values))
        if len(totals) < 4 or len(set(totals)) == 1 or len(set(bests)) == 1:
            return None
        return float(spearmanr(totals, bests).statistic)

    holding = [c["id"] for c in claims if table.holds(c["id"], "base")]
    return {
        **told_quality(table, end["proposal"]),
        "chose_best": float(end["proposal"] in table.best(holding)),
        "open": float(end["proposal"] is None),
        "held": share(len(holding), len(claims)),
        "sharp": share(sum(table.is_sharp(c["id"]) for c in claims), len(claims)),
        "sustained": share(sum(map(table.is_sustained, challenges)), len(challenges)),
        "passes": share(sum(s["move"] == "pass" for s in table.said), len(table.said)),
        "trials": len(one.done("tried", table)),
        "total": fmean(event["total"] for event in scored),
        "validity": valid(raw),
        "merit": valid(merits) if is_rubrics else UNTOLD,
    }


def told_quality(table: Table, chosen: int | None) -> dict[str, Value]:
    """Of `nk`, whose values are known. Where nothing was concluded, or tested, the bar's conduct
    counts. Elsewhere the share of the table's proposals that the conclusion is better than.
    """
    arena, claims = table.arena, table.proposals(table.counted())
    if arena.name != "nk":
        own = table.bar if chosen is None else table.tests[chosen, "base"]
        points = 0.0
        for value in (table.tests[c["id"], "base"] for c in claims):
            points += 0.5 if value == own else table.is_better(own, value)
        return {"percentile": share(points, len(claims))}
    values = nk_values(arena.options["landscape"], table.treatment, arena.options["drift"])

    def worth(id: int | None) -> float:
        bar = arena.bar(table.treatment)
        return values[bar if id is None else table.said[id]["conduct"]]

    concluded = worth(chosen)
    tested = [c["id"] for c in claims if table.tests[c["id"], "base"] is not None]
    best = worth(next(iter(table.best(tested)), None))
    below = sum(value < concluded for value in values.values())
    as_good = sum(value == concluded for value in values.values())
    optimum = max(values.values())
    middle = fmean(values.values())
    return {
        "percentile": (below + as_good / 2) / 4_096,
        "optimum_share": (concluded - middle) / (optimum - middle),
        "regret": optimum - concluded,
        "discovery": optimum - best,
        "selection": best - concluded,
    }


class Told:
    """A season: by assignment its measures; `totals`: of each agent, in order."""

    def __init__(self, path: Path) -> None:
        self.by_assignment: list[dict[str, Value]] = []
        self.totals: dict[int, list[int]] = {}
        self.most_tables = 0
        self.first: list[Value] = []  # percentiles at first visits of a family
        self.later: list[Value] = []
        start = events_of(path)[0]
        self.start: int = start["config"]["sparks_start"]
        self.workers = [seat["ordinal"] for seat in start["cast"] if seat["role"] == "worker"]
        self.sparks = dict.fromkeys(self.workers, self.start)
        self.families: set[str] = set()
        for one in assignments_of(path):
            self._take(one)

    def _take(self, one: Assignment) -> None:
        for event in one.events:
            match event.name:
                case "scored":
                    self.totals.setdefault(event["agent"], []).append(event["total"])
                case "sparks_moved":
                    self.sparks[event["agent"]] = event["balance"]
                case "joined":
                    self.sparks[event["ordinal"]] = self.start
                case "deleted":
                    del self.sparks[event["agent"]]
        of_tables = [told_measures(one, table) for table in one.tables]
        values = {name: mean_of([of[name] for of in of_tables]) for name in of_tables[0]}
        if any(of["merit"] == UNTOLD for of in of_tables):
            values["merit"] = UNTOLD
        for name in ("percentile", "optimum_share", "regret", "discovery", "selection"):
            values.setdefault(name, None)
        families = [one.family(table) for table in one.tables]
        new, old = [], []
        for family, of in zip(families, of_tables, strict=True):
            (old if family in self.families else new).append(of["percentile"])
        self.first += [mean_of(new)] if new else []
        self.later += [mean_of(old)] if old else []
        self.families |= set(families)
        held = list(self.sparks.values())
        gaps = sum(abs(a - b) for a in held for b in held)
        values["spark_gini"] = gaps / (2 * len(held) * sum(held)) if sum(held) else None
        values["faced"] = len(one.all("elimination_faced"))
        self.by_assignment.append(values)
        self.most_tables = max(self.most_tables, len(one.tables))

    def over(self, name: str, first: int, last: int) -> Value:
        """Over the assignments from one up to another, counted from 1."""
        values = [of[name] for of in self.by_assignment[first - 1 : last]]
        return values[-1] if name == "spark_gini" else mean_of(values)

    def halves_of(self) -> dict[int, tuple[float, float]]:
        """Of all who sat at 8 tables: the mean at the odd ones, at the even ones, centred."""
        means = {
            agent: (fmean(totals[::2]), fmean(totals[1::2]))
            for agent, totals in self.totals.items()
            if len(totals) >= 8
        }
        if not means:
            return {}
        odd, even = (fmean(pair[k] for pair in means.values()) for k in (0, 1))
        return {agent: (a - odd, b - even) for agent, (a, b) in means.items()}


def corrected(halves: Sequence[tuple[float, float]]) -> Value:
    """Spearman and Brown's 2r ÷ (1 + r), never below −1; None where r is undefined, or −1."""
    first, second = [a for a, _ in halves], [b for _, b in halves]
    if len(halves) < 2 or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    r = float(pearsonr(first, second).statistic)
    return None if math.isclose(r, -1, abs_tol=1e-12) else max(-1.0, 2 * r / (1 + r))


# Seasons: golden ones, and small ones in which more is different.

SMALL: Mapping[str, Any] = {"arena": "nk[seeds=1]", "assignments": 12}
RECORDED: Mapping[str, tuple[Mapping[str, Any], str, Sequence[str]]] = {
    "independent": ({"seed": 1}, "independent", ()),
    "no-challenges": ({"seed": 2}, "no-challenges", ()),
    "random": ({"seed": 3, "workers": 5}, "baseline", ("random",)),
    "less is better": (
        {"seed": 0, "assignments": 5, "arena": "mining[agents=5;rounds=20;seeds=1]"},
        "baseline",
        ("random",),
    ),
    "silent": ({"seed": 4, "elimination_bottoms": 1}, "baseline", ("ben=silent",)),
}
SEASONS = (*sorted(SEASON_NAMES), *RECORDED)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("seasons")


@pytest.fixture(scope="module")
def path_of(folder: Path) -> Callable[[str], Path]:
    @functools.cache
    def path(name: str) -> Path:
        if name in SEASON_NAMES:
            return season_path(name)
        settings, treatment, parts = RECORDED[name]
        settings = {**SMALL, **TREATMENTS[treatment].settings, **settings}
        cast = cast_of(settings.get("workers", 6), parts)
        record(folder / f"{name}.journal", settings, cast)
        return folder / f"{name}.journal"

    return path


def measure(path: Path) -> MeasuredSeason:
    with JournalReader(path) as reader:
        return measured(reader)


Both = tuple[MeasuredSeason, Told]


@pytest.fixture(scope="module")
def both(path_of: Callable[[str], Path]) -> Callable[[str], Both]:
    return functools.cache(lambda name: (measure(path_of(name)), Told(path_of(name))))


def almost(value: Any) -> Any:
    """To 1e-9, None being nothing but None."""
    if isinstance(value, (list, tuple)):
        return [almost(item) for item in value]
    return None if value is None else pytest.approx(value, rel=1e-9, abs=1e-9)


BY_UNIT = [name for name, one in MEASURES.items() if one.by_unit]


@pytest.mark.parametrize("season", SEASONS)
def test_by_assignment_measures_are_those_of_the_events(
    season: str, both: Callable[[str], Both]
) -> None:
    found, told = both(season)

    assert len(told.by_assignment) == found.units > 0
    assert set(BY_UNIT) == set(found.values) == set(told.by_assignment[0])
    for name in BY_UNIT:
        for of, value in zip(told.by_assignment, found.values[name], strict=True):
            if of[name] != UNTOLD:
                assert almost(of[name]) == value, name
                low, high = MEASURES[name].limits
                assert value is None or low <= value <= high


@pytest.mark.parametrize("season", SEASONS)
def test_over_halves_and_the_whole_measures_are_those_of_the_events(
    season: str, both: Callable[[str], Both]
) -> None:
    """The second half has the odd assignment."""
    found, told = both(season)
    units = len(told.by_assignment)

    for name in BY_UNIT:
        if any(of[name] == UNTOLD for of in told.by_assignment):
            continue
        assert almost(told.over(name, 1, units)) == found.of(name)
        middle = units // 2
        if middle:
            halves = [told.over(name, 1, middle), told.over(name, middle + 1, units)]
            assert almost(halves) == list(found.compared(name, burn_in=False)), name


@pytest.mark.parametrize("season", SEASONS)
def test_of_a_whole_season_alone_there_are_stability_learning_and_scores(
    season: str, both: Callable[[str], Both]
) -> None:
    found, told = both(season)
    halves, first, later = told.halves_of(), mean_of(told.first), mean_of(told.later)
    learnt = None if first is None or later is None else later - first
    scores = [mean_of(told.totals.get(worker, [])) for worker in told.workers]

    assert set(halves) == set(found.halves_of)
    assert all(almost(pair) == list(found.halves_of[agent]) for agent, pair in halves.items())
    assert almost(corrected(list(halves.values()))) == found.of(STABILITY)
    assert almost([first, later]) == list(found.visits)
    assert almost(learnt) == found.of(LEARNING)
    assert almost(scores) == list(found.by_agent["score"])
    for name in (STABILITY, LEARNING):
        assert (None, None) == found.compared(name, burn_in=False)
        assert found.units == 1 or found.of(name, Span(1, found.units - 1)) is None


def test_in_these_seasons_every_measure_is_defined_somewhere_and_all_occurs(
    both: Callable[[str], Both],
) -> None:
    """Else that both are None would show nothing."""
    told = {name: both(name)[1] for name in SEASONS}
    values = [of for one in told.values() for of in one.by_assignment]
    rare = [n for n in BY_UNIT if not any(of[n] not in (None, 0, UNTOLD) for of in values)]

    assert [] == rare
    assert 2 == told[SEASON].most_tables
    assert all(of["sustained"] is None for of in told["no-challenges"].by_assignment)
    downwards = [of["validity"] for of in told["less is better"].by_assignment]
    assert 2 <= sum(value is not None for value in downwards)
    for name in ("percentile", "held", "sharp", "sustained", "validity"):
        assert any(of[name] is None for of in values), name
    assert any((of["selection"] or 0) < 0 for of in values)
    assert any(of["open"] == 1 and of["percentile"] is not None for of in values)
    assert any(len(one.halves_of()) > 2 for one in told.values())
    assert sum(bool(one.later) for one in told.values()) > 2


def test_an_assignment_that_was_not_closed_is_not_measured(
    path_of: Callable[[str], Path], tmp_path: Path
) -> None:
    """Broken off in the last assignment: all is as if the one before had been the last."""
    commits = commits_of(path_of("independent"))
    ends = [place for place, one in enumerate(commits) if one.digest is not None and one.unit]
    path = write(tmp_path / "cut.journal", commits[: ends[-2]], HEADER)
    found, whole = measure(path), measure(path_of("independent"))

    assert (False, len(Told(path).by_assignment)) == (found.finished, found.units)
    assert 0 < found.units < whole.units
    for name in BY_UNIT:
        assert list(whole.values[name])[: found.units] == list(found.values[name])


# Correlations.


_FEW = st.integers(0, 5).map(float)


@given(st.lists(st.tuples(_FEW, _FEW), max_size=9))
def test_spearman_is_that_of_scipy(pairs: list[tuple[float, float]]) -> None:
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    is_constant = len(set(one)) < 2 or len(set(other)) < 2
    expected = None if is_constant else float(spearmanr(one, other).statistic)

    assert almost(expected) == spearman(one, other)


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), max_size=7))
@example([(-1, 1), (0, 0), (1, -1)])  # r = −1, and 1 + r = 0
@example([(-1, 0), (0, 1), (1, -1)])  # r = −½, 2r ÷ (1 + r) = −2
def test_stability_is_what_spearman_and_brown_make_of_the_correlation(
    halves: list[tuple[float, float]],
) -> None:
    assert almost(corrected(halves)) == stability(halves)


@given(st.floats(-12, 12), st.lists(st.floats(-12, 12), min_size=1, max_size=14))
@example(6.684381090675711, [float(k * k) for k in range(7)])  # 7 times it is no multiple of it
@example(11.9, [float(k * k) for k in range(13)])
def test_where_a_half_is_constant_there_is_no_stability(same: float, others: list[float]) -> None:
    """Whatever rounding leaves of a mean less itself."""
    assert stability([(same, other) for other in others]) is None
    assert stability([(other, same) for other in others]) is None


# The atlas of mining, and arenas that have none.


@pytest.mark.parametrize("better", ["up", "down"])
def test_quality_in_mining_is_that_of_the_atlas(better: str) -> None:
    """By plain counting: where less is better, fewer are to be below."""
    arena = arena_record("mining", 20)
    subject = next(one for one in arena.subjects if one.better == better)
    values = dict(zip(conducts(subject.treatment), atlas()[subject.key], strict=True))
    defined = [value for value in values.values() if value is not None]
    optimum = max(defined) if better == "up" else min(defined)
    some = [conduct for conduct, value in values.items() if value is not None]
    concluded, best = some[3], some[40]
    mine, tested = values[concluded], values[best]
    assert mine is not None
    assert tested is not None
    worse = [v for v in values.values() if v is None or (v < mine if better == "up" else v > mine)]
    equal = [v for v in defined if v == mine]

    quality_ = quality(arena, subject, concluded, best)

    sign = 1 if better == "up" else -1
    assert (len(worse) + len(equal) / 2) / len(values) == pytest.approx(quality_.percentile)
    assert sign * (optimum - mine) == pytest.approx(quality_.regret)
    assert sign * (optimum - tested) == pytest.approx(quality_.discovery)
    assert sign * (tested - mine) == pytest.approx(quality_.selection)
    unknown = quality(arena, subject, ("no", "conduct"), best)
    assert (0, None) == (unknown.percentile, unknown.regret)
