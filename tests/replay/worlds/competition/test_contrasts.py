"""The verdicts on the protocol, clause by clause, and a small study of seasons from end to end.

A study is made up: 20 seeds, 6 and 12 workers, the protocol and its four nulls, in which the
protocol is better, worse or the same by what a test says.
"""

import json
import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import attrs
import pytest
from click.testing import CliRunner
from scipy.stats import pearsonr, wilcoxon

from goldrush.agents.worlds.competition.players import configured
from goldrush.cli.main import cli
from goldrush.replay.report.page import TableBlock
from goldrush.replay.report.report import answers as report_answers
from goldrush.replay.report.sections import study_of
from goldrush.replay.study.measuring import results_of
from goldrush.replay.study.plan import studied
from goldrush.replay.study.records import Cell, Manifest, Result
from goldrush.replay.study.results import Results
from goldrush.replay.worlds.competition import study as contrasts
from goldrush.replay.worlds.competition.measures import MEASURES
from goldrush.replay.worlds.competition.sections import CHAPTER
from goldrush.replay.worlds.competition.study import (
    CRITERIA,
    NOT_SUPPORTED,
    SUPPORTED,
    UNDECIDED,
    ContrastFinding,
    ContrastVerdict,
    Control,
    SeasonKept,
    SeasonResult,
    SeasonResults,
    answers,
    controls,
    pooled,
    stabilities,
    summary_lines,
    verdicts,
)
from tests.replay.report.pages import Page
from tests.replay.report.pages import studied as carried_out

Value = float | None

SEEDS = 20
ROUNDS = 40

# By criterion: its measures, and the treatment and the roster of its null.
MEMBERS, LEARNS = "the table beats its members", "the season learns"
PAYS, MERIT = "competition pays", "scores measure merit"
NULLS = {
    MEMBERS: ("independent", "scripted"),
    LEARNS: ("no-memory", "scripted"),
    PAYS: ("no-elimination-no-tiers", "scripted"),
    MERIT: ("baseline", "random"),
}
EVERY = list(NULLS)
STABLE = {k: (float(k), float(k)) for k in range(6)}  # halves that agree
UNSTABLE = {0: (-1.0, -1.0), 1: (-1.0, 1.0), 2: (1.0, -1.0), 3: (1.0, 1.0)}


FEW = 199  # resamples, where nothing depends on how many there are


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contrasts, "RESAMPLES", FEW)


# Made up


@cache
def config() -> Any:
    return configured({"arena": "nk", "assignments": ROUNDS})


def season(
    cell: Cell,
    seed: int = 0,
    *,
    run: Mapping[str, Value] | None = None,
    halves: tuple[Value, Value] = (0.5, 0.5),
    ranks: Mapping[int, tuple[float, float]] | None = None,
    totals: Sequence[Value] = (),
    policies: Sequence[str] = (),
) -> SeasonResult:
    """A season of these figures; `halves`: of the percentile, without a burn-in."""
    names = [name for name, one in MEASURES.items() if one.by_half]
    return Result(
        cell=cell,
        seed=seed,
        config=attrs.evolve(config(), seed=seed),
        units=cell.rounds,
        run=dict.fromkeys(MEASURES, 0.5) | dict(run or {}),
        halves=dict.fromkeys(names, (None, None)),
        halves_whole=dict.fromkeys(names, (0.5, 0.5)) | {"percentile": halves},
        curves={},
        policies=policies or [cell.roster] * 6,
        own=SeasonKept("nk", ranks or {}, totals),
    )


def results(*runs: SeasonResult) -> SeasonResults:
    by_cell: dict[Cell, list[SeasonResult]] = {}
    for run in runs:
        by_cell.setdefault(run.cell, []).append(run)
    manifest = Manifest("competition", {}, [])
    return Results("study", studied("competition"), manifest, by_cell, {})


def cell(treatment: str, roster: str = "scripted", workers: int = 6) -> Cell:
    return Cell(treatment if workers == 6 else f"{treatment}-{workers}", roster, ROUNDS)


def differing(right: int = SEEDS, wrong: int = 0, missing: int = 0) -> list[Value]:
    """By how much the protocol is better, season by season: no two differences are of one size, and
    the wrong ones are the smallest; the rest is 0.
    """
    found: list[Value] = [0.1 + 0.001 * k for k in range(right)]
    found += [-0.01 - 0.001 * k for k in range(wrong)]
    found += [None] * missing
    return found + [0.0] * (SEEDS - len(found))


@attrs.frozen
class Shown:
    """What a study shows at one size: by how much the protocol is better than its null by each
    measure, and the halves of mean totals under the protocol and where all is random.
    """

    members: Sequence[Value] = tuple(differing())
    learns: Sequence[Value] = tuple(differing())
    pays: Sequence[Value] = tuple(differing())
    validity: Sequence[Value] = tuple(differing())
    ranks: Mapping[int, tuple[float, float]] = attrs.field(factory=lambda: STABLE)
    random: Mapping[int, tuple[float, float]] = attrs.field(factory=lambda: UNSTABLE)
    seeds: int = SEEDS

    def runs(self, workers: int) -> list[SeasonResult]:
        """The seasons. The protocol has 0.5 throughout, and what it gains in the second half does
        not show in the figures of the whole.
        """
        found = []
        for seed in range(self.seeds):
            found.append(season(cell("baseline", workers=workers), seed, ranks=self.ranks))
            for name, better in (
                ("independent", self.members),
                ("no-elimination-no-tiers", self.pays),
            ):
                run = {"percentile": less(0.5, better[seed])}
                found.append(season(cell(name, workers=workers), seed, run=run))
            halves = 0.3, less(0.3, self.learns[seed])
            found.append(season(cell("no-memory", workers=workers), seed, halves=halves))
            run = {"validity": less(0.5, self.validity[seed])}
            null = cell("baseline", "random", workers)
            found.append(season(null, seed, run=run, ranks=self.random))
        return found


def less(value: float, better: Value) -> Value:
    return None if better is None else value - better


PARTS = {
    "members": (MEMBERS, "percentile"),
    "learns": (LEARNS, "percentile"),
    "pays": (PAYS, "percentile"),
    "validity": (MERIT, "validity"),
}
WRONG = differing(right=0, wrong=SEEDS)
OTHER_WAY = Shown(WRONG, WRONG, WRONG, WRONG, UNSTABLE, STABLE)


def study(few: Shown | None = None, many: Shown | None = None) -> SeasonResults:
    """With 6 workers and with 12 (the same, if nothing else is said)."""
    few = few or Shown()
    return results(*few.runs(6), *(many or few).runs(12))


def verdicts_of(found: SeasonResults) -> dict[str, ContrastVerdict]:
    return {one.criterion: one for one in verdicts(found)}


def judged(found: SeasonResults) -> dict[str, str]:
    return {name: one.verdict for name, one in verdicts_of(found).items()}


def finding(
    found: SeasonResults, criterion: str, measure: str, workers: int = 6
) -> ContrastFinding:
    [one] = [
        one for one in verdicts_of(found)[criterion].findings
        if (one.measure, one.workers) == (measure, workers)
    ]  # fmt: skip
    return one


# supported


def test_criteria_measures_and_nulls_are_those_of_the_rules() -> None:
    assert NULLS == {one.name: (one.treatment, one.roster) for one in CRITERIA}
    assert {
        MEMBERS: ["percentile"],
        LEARNS: ["percentile"],
        PAYS: ["percentile"],
        MERIT: ["validity", "stability"],
    } == {one.name: [*one.measures] for one in CRITERIA}
    assert [LEARNS] == [one.name for one in CRITERIA if one.is_change]
    assert ["independent", "no-memory", "no-elimination-no-tiers", "random"] == [
        one.null for one in CRITERIA
    ]  # fmt: skip


def test_a_criterion_is_supported_where_every_measure_differs_as_expected() -> None:
    found = verdicts_of(study())

    assert dict.fromkeys(EVERY, SUPPORTED) == {name: one.verdict for name, one in found.items()}
    assert {""} == {one.note for one in found.values()}
    assert [("validity", 6), ("stability", 6), ("validity", 12), ("stability", 12)] == [
        (one.measure, one.workers) for one in found[MERIT].findings
    ]


@pytest.mark.parametrize("workers", [6, 12])
@pytest.mark.parametrize("part", PARTS)
def test_a_measure_that_does_not_differ_so_leaves_its_criterion_undecided(
    part: str, workers: int
) -> None:
    criterion, measure = PARTS[part]
    unclear = Shown(**{part: differing(right=10, wrong=10)})  # type: ignore[arg-type]
    few, many = (unclear, Shown()) if workers == 6 else (Shown(), unclear)
    found = study(few, many)

    assert dict.fromkeys(EVERY, SUPPORTED) | {criterion: UNDECIDED} == judged(found)
    assert f"not clear: {measure}, {workers} workers" == verdicts_of(found)[criterion].note


def test_stability_like_that_of_random_leaves_merit_undecided() -> None:
    found = study(Shown(random=STABLE))

    assert dict.fromkeys(EVERY, SUPPORTED) | {MERIT: UNDECIDED} == judged(found)
    assert "not clear: stability, 6 workers; stability, 12 workers" == (
        verdicts_of(found)[MERIT].note
    )


@pytest.mark.parametrize("part", PARTS)
def test_the_right_sign_in_15_of_20_seasons_is_enough_and_in_14_is_not(part: str) -> None:
    criterion, measure = PARTS[part]
    for rest in ({}, {"missing": 5}):
        for right, verdict in ((15, SUPPORTED), (14, UNDECIDED)):
            found = study(Shown(**{part: differing(right, **rest)}))  # type: ignore[arg-type]
            p = finding(found, criterion, measure).p

            assert p is not None
            assert p < 0.05  # it is the sign alone that is missing
            assert verdict == judged(found)[criterion]


@pytest.mark.parametrize("missing", [6, 12])
def test_without_one_size_nothing_is_supported_and_it_is_said(missing: int) -> None:
    found = verdicts_of(results(*Shown().runs(18 - missing)))

    assert dict.fromkeys(EVERY, (UNDECIDED, f"no seasons with {missing} workers")) == {
        name: (one.verdict, one.note) for name, one in found.items()
    }


def test_a_criterion_without_seasons_of_its_null_has_no_verdict() -> None:
    runs = [run for run in [*Shown().runs(6), *Shown().runs(12)] if run.cell.roster == "scripted"]

    assert [MEMBERS, LEARNS, PAYS] == list(judged(results(*runs)))
    assert {} == judged(results(*(run for run in runs if "baseline" in run.cell.treatment)))
    assert {} == judged(results(*(run for run in runs if "baseline" not in run.cell.treatment)))


# not supported


def test_what_passes_the_other_way_round_is_not_supported() -> None:
    assert dict.fromkeys(EVERY, NOT_SUPPORTED) == judged(study(OTHER_WAY))


@pytest.mark.parametrize("part", PARTS)
def test_one_measure_at_one_size_is_enough_against_a_criterion(part: str) -> None:
    criterion, _ = PARTS[part]
    bad = Shown(**{part: WRONG})  # type: ignore[arg-type]
    expected = dict.fromkeys(EVERY, SUPPORTED) | {criterion: NOT_SUPPORTED}

    assert expected == judged(study(bad, Shown())) == judged(study(Shown(), bad))


def test_stability_below_that_of_random_is_enough_against_merit() -> None:
    found = judged(study(Shown(), Shown(ranks=UNSTABLE, random=STABLE)))

    assert dict.fromkeys(EVERY, SUPPORTED) | {MERIT: NOT_SUPPORTED} == found


def test_where_a_size_is_missing_the_other_one_can_still_speak_against() -> None:
    assert dict.fromkeys(EVERY, NOT_SUPPORTED) == judged(results(*OTHER_WAY.runs(12)))


@pytest.mark.parametrize("part", PARTS)
def test_the_other_way_round_takes_15_of_20_seasons_too(part: str) -> None:
    criterion, _ = PARTS[part]
    for wrong, verdict in ((15, NOT_SUPPORTED), (14, UNDECIDED)):
        shown = Shown(**{part: differing(right=0, wrong=wrong)})  # type: ignore[arg-type]

        assert verdict == judged(study(shown))[criterion]


@pytest.mark.parametrize("part", ["members", "learns", "pays"])
def test_where_all_differences_are_0_nothing_is_supported(part: str) -> None:
    criterion, _ = PARTS[part]
    same = Shown(**{part: differing(right=0)})  # type: ignore[arg-type]
    found = verdicts_of(study(same, Shown()))[criterion]

    assert (NOT_SUPPORTED, "no difference in any season with 6 workers") == (
        found.verdict, found.note
    )  # fmt: skip
    assert NOT_SUPPORTED == judged(results(*same.runs(12)))[criterion]


def test_that_nothing_differs_must_be_seen_in_15_of_20_seasons() -> None:
    for missing, verdict in ((5, NOT_SUPPORTED), (6, UNDECIDED), (20, UNDECIDED)):
        same = Shown(pays=differing(right=0, missing=missing))

        assert verdict == judged(study(same))[PAYS]


def test_one_season_that_differs_is_a_difference() -> None:
    assert UNDECIDED == judged(study(Shown(pays=differing(right=1))))[PAYS]


# Holm, over all measures of a size


def holm_of(p_values: Mapping[str, float]) -> dict[str, float]:
    """Step-down, by hand: the smallest of m times m, the next one times m − 1, never falling."""
    corrected: dict[str, float] = {}
    for rank, name in enumerate(sorted(p_values, key=p_values.__getitem__)):
        least = max(corrected.values(), default=0.0)
        corrected[name] = min(1.0, max(least, p_values[name] * (len(p_values) - rank)))
    return corrected


def test_p_values_are_those_of_wilcoxon_after_holm_over_the_five_measures_of_a_size() -> None:
    draws = random.Random(5)
    better = {part: [draws.gauss(0.04, 0.1) for _ in range(SEEDS)] for part in PARTS}
    found = study(Shown(**better), OTHER_WAY)  # type: ignore[arg-type]

    for way, field in (("greater", "p"), ("less", "p_opposite")):
        raw = {part: float(wilcoxon(better[part], alternative=way).pvalue) for part in PARTS}
        stable = (
            1 / (1 + FEW) if way == "greater" else 1.0
        )  # no resample in which random is as stable
        corrected = holm_of({**raw, "stability": stable})
        assert corrected["stability"] == pytest.approx(
            getattr(finding(found, MERIT, "stability"), field)
        )
        for part, where in PARTS.items():
            assert corrected[part] == pytest.approx(getattr(finding(found, *where), field)), part


def test_with_few_seasons_it_is_the_correction_that_is_missing() -> None:
    """All right in n seasons: 1 ÷ 2ⁿ, times 5, for the stability of ranks is no surer."""
    for seeds, p, verdict in ((6, 5 / 64, UNDECIDED), (7, 5 / 128, SUPPORTED)):
        found = study(Shown(seeds=seeds))

        assert p == pytest.approx(finding(found, PAYS, "percentile").p)
        assert dict.fromkeys(EVERY, verdict) == judged(found)


def test_the_measures_of_the_other_size_are_corrected_apart() -> None:
    few = Shown(seeds=7)

    assert finding(study(few), PAYS, "percentile").p == (
        finding(results(*few.runs(6)), PAYS, "percentile").p
    )


# Learning


def learning(ours: tuple[Value, Value], theirs: tuple[Value, Value]) -> SeasonResults:
    """Halves of the protocol and of the null, of every season alike but for its seed."""
    runs = []
    for workers in (6, 12):
        for seed in range(SEEDS):
            for name, (first, second) in (("baseline", ours), ("no-memory", theirs)):
                level = 0.001 * seed if name == "baseline" else 0.0
                later = None if second is None else second + level
                halves = first, later
                runs.append(season(cell(name, workers=workers), seed, halves=halves))
    return results(*runs)


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        ((0.5, 0.6), (0.5, 0.5), SUPPORTED),
        ((0.2, 0.3), (0.9, 0.9), SUPPORTED),  # the level says nothing
        ((0.5, 0.5), (0.5, 0.4), SUPPORTED),  # where the null falls it is enough to stay
        ((0.5, 0.7), (0.5, 0.8), NOT_SUPPORTED),
        ((0.9, 0.8), (0.1, 0.2), NOT_SUPPORTED),
        ((None, 0.6), (0.5, 0.5), UNDECIDED),
        ((0.5, 0.6), (0.5, None), UNDECIDED),
    ],
)
def test_learning_is_the_second_half_less_the_first_less_that_of_no_memory(
    ours: tuple[Value, Value], theirs: tuple[Value, Value], verdict: str
) -> None:
    assert verdict == judged(learning(ours, theirs))[LEARNS]


def test_values_of_learning_are_what_both_gained() -> None:
    found = finding(learning((0.5, 0.6), (0.5, 0.45)), LEARNS, "percentile")

    assert (0.1 + 0.001 * 9.5, -0.05) == (
        pytest.approx(found.protocol), pytest.approx(found.null)
    )  # fmt: skip
    assert found.change is not None
    assert found.change.difference.mean == pytest.approx(0.1595)


# Pairs


def test_seasons_are_paired_by_their_seeds_alone() -> None:
    """Whatever comes first, and where a seed has no partner it does not count."""
    ours = [season(cell("baseline"), seed, run={"percentile": 0.02 * seed}) for seed in range(20)]
    theirs = [
        season(cell("independent"), seed, run={"percentile": 0.02 * seed - 0.001 * (1 + seed)})
        for seed in reversed(range(5, 25))
    ]
    found = finding(results(*theirs, *ours), MEMBERS, "percentile")

    assert found.change is not None
    assert (15, 15, 15) == (found.seeds, found.change.n, found.change.right)
    assert (0.02 * 12, 0.02 * 12 - 0.013) == (
        pytest.approx(found.protocol), pytest.approx(found.null)
    )  # fmt: skip


def test_seasons_of_other_seeds_are_no_pairs() -> None:
    ours = [season(cell("baseline"), seed) for seed in range(5)]
    theirs = [season(cell("independent"), seed) for seed in range(5, 10)]

    assert [] == verdicts(results(*ours, *theirs))


def test_other_casts_and_other_treatments_are_nobodys_null() -> None:
    worse: dict[str, Value] = dict.fromkeys(("percentile", "validity"), 0.0)
    others = [
        season(cell(treatment, roster, workers), seed, run=worse)
        for treatment, roster in (
            ("independent", "random"), ("no-judge", "scripted"), ("baseline", "ben=silent"),
        )
        for workers in (6, 12)
        for seed in range(SEEDS)
    ]  # fmt: skip
    own = [*OTHER_WAY.runs(6), *OTHER_WAY.runs(12)]

    assert verdicts(results(*own)) == verdicts(results(*others, *own))


# Stability, pooled


def random_halves(draws: random.Random, agreement: float) -> dict[int, tuple[float, float]]:
    """Of six workers, centred."""
    first = [draws.gauss(0, 1) for _ in range(6)]
    second = [agreement * one + (1 - agreement) * draws.gauss(0, 1) for one in first]
    one, other = sum(first) / 6, sum(second) / 6
    return {k: (a - one, b - other) for k, (a, b) in enumerate(zip(first, second, strict=True))}


def merit(ours: Sequence[Any], theirs: Sequence[Any]) -> SeasonResults:
    """Seasons of these halves under the protocol, and where all is random."""
    runs = [season(cell("baseline"), seed, ranks=ranks) for seed, ranks in enumerate(ours)]
    null = cell("baseline", "random")
    runs += [season(null, seed, ranks=ranks) for seed, ranks in enumerate(theirs)]
    return results(*runs)


def test_stability_is_that_of_all_seasons_together() -> None:
    """Not the mean of theirs: one with wide differences counts for more."""
    draws = random.Random(1)
    ours = [random_halves(draws, agreement) for agreement in (0.9, 0.1, 0.5)]
    ours.append({k: (10 * a, 10 * b) for k, (a, b) in random_halves(draws, 0.5).items()})
    theirs = [random_halves(draws, 0.0) for _ in ours]
    found = finding(merit(ours, theirs), MERIT, "stability")
    pairs = [pair for ranks in ours for pair in ranks.values()]
    r = float(pearsonr(*zip(*pairs, strict=True)).statistic)

    assert 2 * r / (1 + r) == pytest.approx(found.protocol)
    assert found.change is None
    assert 4 == found.seeds
    assert found.protocol == pooled(merit(ours, theirs).by_cell[cell("baseline")])


def test_the_bootstrap_resamples_pairs_of_seasons() -> None:
    """Where both sides are the same seasons no resample shows a difference."""
    draws = random.Random(2)
    same = [random_halves(draws, 0.3) for _ in range(8)]
    found = finding(merit(same, same), MERIT, "stability")

    assert (1.0, 1.0) == (found.p, found.p_opposite)


def test_the_bootstrap_is_the_same_each_time() -> None:
    draws = random.Random(3)
    ours = [random_halves(draws, 0.5) for _ in range(8)]
    theirs = [random_halves(draws, 0.3) for _ in range(8)]
    first, second = (finding(merit(ours, theirs), MERIT, "stability") for _ in range(2))

    assert first == second
    assert first.p is not None
    assert 1 / (1 + FEW) < first.p < 1
    assert first.p_opposite is not None


def test_stability_is_shown_with_its_interval_over_seasons_or_not_at_all() -> None:
    draws = random.Random(4)
    ours = [random_halves(draws, 0.5) for _ in range(8)]
    theirs = [random_halves(draws, 0.3) for _ in range(8)]
    enough, few = merit(ours, theirs), merit(ours[:7], theirs[:7])
    [one, _] = stabilities(enough)
    found = finding(enough, MERIT, "stability")

    assert one.stability is not None
    assert one.interval is not None
    assert one.interval[0] < one.stability < one.interval[1]
    assert (found.protocol, found.protocol_interval) == (one.stability, one.interval)
    assert f"[{one.interval[0]:.2f},".replace("-", "−") in "".join(summary_lines(enough))

    assert [None, None] == [each.interval for each in stabilities(few)]
    [told] = [line for line in summary_lines(few) if "stability" in line]
    assert told.startswith(
        "  stability, 6 workers: no interval with fewer than 8 seasons, so no value, p "
    )
    rows = [
        dict(zip(part.head, row, strict=True))
        for part in CHAPTER.sections(study_of(few))
        if isinstance(part, TableBlock)
        for row in part.rows
    ]
    pooled_in = [row for row in rows if "stability" in (row.get("measure"), *row)]
    assert 3 == len(pooled_in)
    assert {"–"} == {row[name] for row in pooled_in for name in ("protocol", "null", "stability")
                     if name in row}  # fmt: skip


def test_without_workers_with_enough_tables_stability_is_no_figure_and_decides_nothing() -> None:
    found = study(Shown(ranks={}))

    for workers in (6, 12):
        one = finding(found, MERIT, "stability", workers)
        assert (None, None, None, False, False) == (
            one.protocol, one.p, one.p_opposite, one.right, one.wrong
        )  # fmt: skip
    assert dict.fromkeys(EVERY, SUPPORTED) | {MERIT: UNDECIDED} == judged(found)


# The positive control

SILENT = ["scripted", "silent", "scripted"]


def controlled(*totals: Sequence[Value], policies: Sequence[str] = SILENT) -> list[Control]:
    of = cell("baseline", "ben=silent")
    runs = [season(of, k, totals=one, policies=policies) for k, one in enumerate(totals)]
    return controls(results(*runs, season(cell("baseline"), 0, totals=(1, 2, 3))))


def test_the_silent_worker_is_last_where_all_others_have_more() -> None:
    found = controlled(
        (2.0, 1.0, 3.0),
        (2.0, 1.0, 1.0),  # a tie is not last
        (1.0, 2.0, 3.0),
        (1.0, 3.0, 2.0),
        (None, 1.0, 3.0),  # who was never scored is no rival
        (2.0, None, 3.0),
    )

    assert [Control(cell("baseline", "ben=silent"), 6, 2)] == found


@pytest.mark.parametrize("policies", [["scripted"] * 3, ["silent", "silent", "scripted"]])
def test_without_exactly_one_silent_worker_there_is_no_control(policies: Sequence[str]) -> None:
    assert [] == controlled((2.0, 1.0, 3.0), policies=policies)


def test_each_cell_with_a_silent_worker_is_a_control() -> None:
    cells = [cell(name, "ada=silent") for name in ("baseline", "independent")]
    runs = [
        season(one, seed, totals=(0.5, 1.0), policies=["silent", "scripted"])
        for one in cells
        for seed in range(3)
    ]

    assert [Control(one, 3, 3) for one in cells] == controls(results(*runs))


# What is said


def test_a_verdict_is_said_with_its_figures_and_the_name_of_its_null() -> None:
    lines = summary_lines(study(Shown(), Shown(pays=differing(right=10, wrong=10))))

    assert [
        "the table beats its members: supported",
        "  percentile, 6 workers: 0.5 against 0.391 (independent), more in 20 of 20 seasons, "
        "p <\u00a00.001",
        "  percentile, 12 workers: 0.5 against 0.391 (independent), more in 20 of 20 seasons, "
        "p <\u00a00.001",
    ] == lines[:3]
    assert "competition pays: undecided (not clear: percentile, 12 workers)" in lines
    [unclear] = [line for line in lines if "10 of 20" in line]
    assert "(no-elimination-no-tiers)" in unclear
    assert "(no-memory)" in lines[lines.index("the season learns: supported") + 1]
    assert (
        "  stability, 6 workers: 1.00 [1.00,\u00a01.00] against 0.00 [0.00,\u00a00.00] (random), "
        "p 0.005"
    ) in lines
    assert 4 + 2 * 5 == len(lines)


def test_without_pairs_the_seasons_that_are_missing_are_named() -> None:
    [line] = summary_lines(results(season(cell("baseline"))))

    assert line.startswith("no verdicts: ")
    assert "no-memory" in line


@pytest.mark.parametrize(
    "found",
    [
        study(Shown(), OTHER_WAY),
        study(Shown(ranks={}, validity=differing(right=0, missing=SEEDS))),
        results(season(cell("baseline"))),
    ],
    ids=["all", "missing figures", "no pairs"],
)
def test_answers_are_plain_values(found: SeasonResults) -> None:
    told = json.loads(json.dumps(answers(found), allow_nan=False))

    assert {"protocol", "control", "stability"} == set(told)
    assert [one.verdict for one in verdicts(found)] == [one["verdict"] for one in told["protocol"]]
    for one, shown in zip(verdicts(found), told["protocol"], strict=True):
        assert [each.p for each in one.findings] == [each["p"] for each in shown["findings"]]
    assert [
        {**attrs.asdict(of), "stability": pooled(runs)} for of, runs in found.by_cell.items()
    ] == [{k: v for k, v in one.items() if k != "interval"} for one in told["stability"]]


# A study of seasons


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine assignments, so that somebody sits at eight tables."""
    return carried_out(
        tmp_path_factory.mktemp("seasons") / "study",
        world="competition", treatments=["baseline", "independent"],
        rosters=["scripted", "random", "ben=silent"], seeds=2, rounds=9,
        settings={"arena": "nk[seeds=1]"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def measured(small: Path) -> SeasonResults:
    return results_of(small, jobs=1)


def test_a_study_of_seasons_is_judged_by_what_was_measured(measured: SeasonResults) -> None:
    baseline = measured.by_cell[Cell("baseline", "scripted", 9)]
    independent = measured.by_cell[Cell("independent", "scripted", 9)]
    found = verdicts_of(measured)
    one = finding(measured, MEMBERS, "percentile")

    assert {MEMBERS: UNDECIDED, MERIT: UNDECIDED} == judged(measured)
    assert (2, 6) == (one.seeds, one.workers)
    for side, runs in ((one.protocol, baseline), (one.null, independent)):
        values = [run.run["percentile"] for run in runs]
        assert sum(value or 0 for value in values) / 2 == pytest.approx(side)
    assert {"no seasons with 12 workers"} == {verdict.note for verdict in found.values()}
    assert [(of.roster, n) for of, n in ((c.cell, c.seasons) for c in controls(measured))] == [
        ("ben=silent", 2)
    ] * 2
    assert {"nk"} == {run.own.arena for runs in measured.by_cell.values() for run in runs}


def test_the_answers_of_a_report_have_the_verdicts_of_seasons(measured: SeasonResults) -> None:
    told = json.loads(json.dumps(report_answers(measured), allow_nan=False))

    assert json.loads(json.dumps(answers(measured))) == {
        name: told[name] for name in ("protocol", "control", "stability")
    }
    assert 12 == told["runs"]


def test_a_report_says_the_verdicts_and_has_the_chapter_of_seasons(
    small: Path, measured: SeasonResults
) -> None:
    ran = CliRunner().invoke(cli, ["report", str(small), "--jobs", "1"])
    page = Page((small / "report.html").read_text(encoding="utf-8"))

    assert (0, "") == (ran.exit_code, ran.stderr)
    assert [*summary_lines(measured), f"page: {small}/report.html"] == [
        line for line in ran.stdout.splitlines() if line
    ]
    assert {"protocol", "stability", "control"} <= set(page.ids)
    headings = [text for tag, text in page.texts if tag == "h2"]
    first = headings.index("Does the protocol work?")
    assert ["Does the protocol work?", "Stability of ranks", "The positive control"] == headings[
        first : first + 3
    ]
    assert "The seasons were played in the arena nk." in page.text
    rows = [row for table in page.tables for row in table.rows]
    for one in verdicts(measured):
        assert [one.criterion, f"{one.verdict} {one.note}"] in rows
    for control in controls(measured):
        shown = [control.cell.treatment, control.cell.roster, f"{control.last} of 2"]
        assert shown in rows
