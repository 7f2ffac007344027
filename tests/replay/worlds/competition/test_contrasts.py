"""The verdicts on the protocol, clause by clause, and a small study of seasons from end to end.

A study is made up: 20 seeds, 6 and 12 workers, the protocol and its nulls, in which the protocol is
better, worse or the same by what a test says.
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
from goldrush.replay.report.page import StudyPage
from goldrush.replay.report.reported import StudyQuestion, study_of
from goldrush.replay.report.values import answers as report_answers
from goldrush.replay.study.judging import (
    NOT_SUPPORTED,
    SUPPORTED,
    UNDECIDED,
    CriterionVerdict,
    Finding,
)
from goldrush.replay.study.measuring import results_of
from goldrush.replay.study.plan import studied
from goldrush.replay.study.records import Cell, Manifest, Result
from goldrush.replay.study.results import Results
from goldrush.replay.study.verdicts import Assessment
from goldrush.replay.worlds.competition.measures import MEASURES
from goldrush.replay.worlds.competition.study import (
    CRITERIA,
    SeasonResult,
    SeasonResults,
    answers,
    planted,
    pooled,
    verdicts,
)
from tests.replay.report.pages import Page
from tests.replay.report.pages import studied as carried_out

Value = float | None

SEEDS = 20
ROUNDS = 80

# By criterion: its measure, the treatment of the protocol and that of its null.
MEMBERS, LEARNS = "the table beats its members", "the season learns"
PAYS, MERIT = "competition pays", "scores measure merit"
PARTS = {
    "members": (MEMBERS, "optimum_share", "no-elimination-no-tiers", "independent"),
    "learns": (LEARNS, "learning", "baseline", "no-memory"),
    "pays": (PAYS, "percentile", "equal-trials", "no-elimination-no-tiers"),
    "merit": (MERIT, "merit", "baseline", None),
}
EVERY = [criterion for criterion, *_ in PARTS.values()]
STABLE = {k: (float(k), float(k)) for k in range(6)}  # halves that agree
UNSTABLE = {0: (-1.0, -1.0), 1: (-1.0, 1.0), 2: (1.0, -1.0), 3: (1.0, 1.0)}
PLANTED = ["scripted"] * 3 + ["random"] * 3
AHEAD, BEHIND = (5.0, 6.0, 7.0, 1.0, 2.0, 3.0), (1.0, 2.0, 3.0, 5.0, 6.0, 7.0)


# Made up


@cache
def config() -> Any:
    return configured({"arena": "nk", "assignments": ROUNDS})


def season(
    cell: Cell,
    seed: int = 0,
    *,
    run: Mapping[str, Value] | None = None,
    ranks: Mapping[int, tuple[float, float]] | None = None,
    totals: Sequence[Value] = (),
    policies: Sequence[str] = (),
) -> SeasonResult:
    """A season of these figures."""
    names = [name for name, one in MEASURES.items() if one.by_half]
    is_eliminating = not cell.treatment.startswith("no-elimination")
    return Result(
        cell=cell,
        seed=seed,
        path="",
        config=attrs.evolve(config(), seed=seed, elimination=is_eliminating),
        units=cell.rounds,
        run=dict.fromkeys(MEASURES, 0.5) | dict(run or {}),
        halves=dict.fromkeys(names, (None, None)),
        halves_whole=dict.fromkeys(names, (0.5, 0.5)),
        curves={},
        windows=(),
        policies=policies or [cell.roster] * 6,
        by_agent={"score": totals or [None] * len(policies or [None] * 6)},
        kept=ranks or {},
    )


def results(*runs: SeasonResult) -> SeasonResults:
    by_cell: dict[Cell, list[SeasonResult]] = {}
    for run in runs:
        by_cell.setdefault(run.cell, []).append(run)
    manifest = Manifest("competition", {}, [], 2)
    return Results("study", studied("competition"), manifest, by_cell)


def cell(treatment: str, roster: str = "scripted", workers: int = 6, rounds: int = ROUNDS) -> Cell:
    return Cell(treatment if workers == 6 else f"{treatment}-{workers}", roster, rounds)


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
    measure, and the planted control.
    """

    members: Sequence[Value] = tuple(differing())
    learns: Sequence[Value] = tuple(differing())
    pays: Sequence[Value] = tuple(differing())
    merit: Sequence[Value] = tuple(differing())
    planted: Sequence[Sequence[Value]] = (AHEAD,) * SEEDS
    ranks: Mapping[int, tuple[float, float]] = attrs.field(factory=lambda: STABLE)
    seeds: int = SEEDS

    def runs(self, workers: int) -> list[SeasonResult]:
        """The seasons. What is compared with a null has 0.5 under the protocol."""
        found = []
        for seed in range(self.seeds):
            run = {"merit": self.merit[seed]}
            found.append(season(cell("baseline", workers=workers), seed, run=run))
            found.append(season(cell("equal-trials", workers=workers), seed))
            for name, measure, better in (
                ("independent", "optimum_share", self.members),
                ("no-memory", "learning", self.learns),
                ("no-elimination-no-tiers", "percentile", self.pays),
            ):
                null = {measure: less(0.5, better[seed])}
                found.append(season(cell(name, workers=workers), seed, run=null))
            control = cell("no-elimination", "planted", workers)
            totals = self.planted[seed] if seed < len(self.planted) else ()
            if totals:
                found.append(
                    season(control, seed, ranks=self.ranks, totals=totals, policies=PLANTED)
                )
        return found


def less(value: float, better: Value) -> Value:
    return None if better is None else value - better


WRONG = differing(right=0, wrong=SEEDS)
OTHER_WAY = Shown(WRONG, WRONG, WRONG, WRONG)


def study(few: Shown | None = None, many: Shown | None = None) -> SeasonResults:
    """With 6 workers and with 12 (the same, if nothing else is said)."""
    few = few or Shown()
    return results(*few.runs(6), *(many or few).runs(12))


def verdicts_of(found: SeasonResults) -> dict[str, CriterionVerdict]:
    return {one.criterion: one for one in verdicts(found)}


def judged(found: SeasonResults) -> dict[str, str]:
    return {name: one.verdict for name, one in verdicts_of(found).items()}


def finding(found: SeasonResults, criterion: str, workers: int = 6) -> Finding:
    [one] = verdicts_of(found)[criterion].by_size[workers].findings
    return one


# supported


def test_criteria_measures_and_nulls_are_those_of_the_rules() -> None:
    assert [*PARTS.values()] == [
        (one.name, one.measure, one.treatment, one.null) for one in CRITERIA
    ]
    assert {MEMBERS: 80} == {one.name: one.assignments for one in CRITERIA if one.assignments > 1}
    assert [MERIT] == [one.name for one in CRITERIA if one.needs_control]
    assert ["independent", "no-memory", "no-elimination-no-tiers", "chance"] == [
        one.null_name for one in CRITERIA
    ]


def test_a_criterion_is_supported_where_its_measure_differs_as_expected() -> None:
    found = verdicts_of(study())

    assert dict.fromkeys(EVERY, SUPPORTED) == {name: one.verdict for name, one in found.items()}
    assert {""} == {one.note for one in found.values()}
    assert [("merit", 6), ("merit", 12)] == [
        (one.measure, size) for size, of in found[MERIT].by_size.items() for one in of.findings
    ]


@pytest.mark.parametrize("workers", [6, 12])
@pytest.mark.parametrize("part", PARTS)
def test_a_measure_that_does_not_differ_so_leaves_its_criterion_undecided(
    part: str, workers: int
) -> None:
    criterion, *_ = PARTS[part]
    unclear = Shown(**{part: differing(right=10, wrong=10)})  # type: ignore[arg-type]
    few, many = (unclear, Shown()) if workers == 6 else (Shown(), unclear)
    found = study(few, many)

    assert dict.fromkeys(EVERY, SUPPORTED) | {criterion: UNDECIDED} == judged(found)
    assert f"{workers} workers: unclear" == verdicts_of(found)[criterion].note


def test_merit_is_judged_only_where_the_planted_difference_is_found() -> None:
    none, small = Shown(planted=()), Shown(planted=(AHEAD,) * 17 + (BEHIND,) * 3)
    unstable = Shown(ranks=UNSTABLE)
    for few, many, note in (
        (none, Shown(), "no seasons of the roster planted under no-elimination"),
        (Shown(), none, "no seasons of the roster planted under no-elimination-12"),
        (small, Shown(), "the planted difference is not found with 6 workers"),
        (Shown(), small, "the planted difference is not found with 12 workers"),
        (unstable, Shown(), "the planted difference is not found with 6 workers"),
        (attrs.evolve(none, merit=WRONG), Shown(),
         "no seasons of the roster planted under no-elimination"),
    ):  # fmt: skip
        one = verdicts_of(study(few, many))[MERIT]

        assert (UNDECIDED, note) == (one.verdict, one.note)
    enough = study(Shown(planted=(AHEAD,) * 18 + (BEHIND,) * 2))
    assert SUPPORTED == judged(enough)[MERIT]
    assert [18, 18] == [one.ahead for one in planted(enough)]


@pytest.mark.parametrize("part", PARTS)
def test_the_right_sign_in_15_of_20_seasons_is_enough_and_in_14_is_not(part: str) -> None:
    criterion, *_ = PARTS[part]
    for rest in ({}, {"missing": 5}):
        for right, verdict in ((15, SUPPORTED), (14, UNDECIDED)):
            found = study(Shown(**{part: differing(right, **rest)}))  # type: ignore[arg-type]
            p = finding(found, criterion).holm

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
    runs = [*Shown().runs(6), *Shown().runs(12)]
    without = [run for run in runs if "no-memory" not in run.cell.treatment]

    assert [MEMBERS, PAYS, MERIT] == list(judged(results(*without)))
    assert {} == judged(results(*(run for run in runs if "no-memory" in run.cell.treatment)))


def test_the_table_is_judged_by_seasons_of_80_assignments_the_shortest_that_both_have() -> None:
    def pairs(rounds: int, better: float) -> list[SeasonResult]:
        return [
            season(cell(name, rounds=rounds), seed, run={"optimum_share": value})
            for seed in range(SEEDS)
            for name, value in (("no-elimination-no-tiers", 0.5), ("independent", 0.5 - better))
        ]

    assert MEMBERS not in judged(results(*pairs(79, 0.2)))
    found = finding(results(*pairs(100, 0.3), *pairs(80, 0.2), *pairs(40, 0.1)), MEMBERS)
    assert found.change.first.mean == pytest.approx(0.3)
    alone = [run for run in pairs(80, 0.2) if run.cell.treatment != "independent"]
    assert finding(results(*alone, *pairs(100, 0.4)), MEMBERS).change.first.mean == pytest.approx(
        0.1
    )


# not supported


def test_what_passes_the_other_way_round_is_not_supported() -> None:
    assert dict.fromkeys(EVERY, NOT_SUPPORTED) == judged(study(OTHER_WAY))


@pytest.mark.parametrize("part", PARTS)
def test_one_measure_at_one_size_is_enough_against_a_criterion(part: str) -> None:
    criterion, *_ = PARTS[part]
    bad = Shown(**{part: WRONG})  # type: ignore[arg-type]
    expected = dict.fromkeys(EVERY, SUPPORTED) | {criterion: NOT_SUPPORTED}

    assert expected == judged(study(bad, Shown())) == judged(study(Shown(), bad))


def test_where_a_size_is_missing_the_other_one_can_still_speak_against() -> None:
    assert dict.fromkeys(EVERY, NOT_SUPPORTED) == judged(results(*OTHER_WAY.runs(12)))


@pytest.mark.parametrize("part", PARTS)
def test_the_other_way_round_takes_15_of_20_seasons_too(part: str) -> None:
    criterion, *_ = PARTS[part]
    for wrong, verdict in ((15, NOT_SUPPORTED), (14, UNDECIDED)):
        shown = Shown(**{part: differing(right=0, wrong=wrong)})  # type: ignore[arg-type]

        assert verdict == judged(study(shown))[criterion]


@pytest.mark.parametrize("part", PARTS)
def test_where_all_differences_are_0_nothing_is_supported(part: str) -> None:
    criterion, *_ = PARTS[part]
    same = Shown(**{part: differing(right=0)})  # type: ignore[arg-type]
    found = verdicts_of(study(same, Shown()))[criterion]

    assert (NOT_SUPPORTED, "6 workers: no change at all") == (
        found.verdict, found.note
    )  # fmt: skip
    assert NOT_SUPPORTED == judged(results(*same.runs(12)))[criterion]


def test_that_nothing_differs_must_be_seen_in_15_of_20_seasons() -> None:
    for missing, verdict in ((5, NOT_SUPPORTED), (6, UNDECIDED), (20, UNDECIDED)):
        same = Shown(pays=differing(right=0, missing=missing))

        assert verdict == judged(study(same))[PAYS]


def test_one_season_that_differs_is_a_difference() -> None:
    assert UNDECIDED == judged(study(Shown(pays=differing(right=1))))[PAYS]


# Holm, over all criteria and both sizes


def holm_of(p_values: Mapping[Any, float]) -> dict[Any, float]:
    """Step-down, by hand: the smallest of m times m, the next one times m − 1, never falling."""
    corrected: dict[Any, float] = {}
    for rank, name in enumerate(sorted(p_values, key=p_values.__getitem__)):
        least = max(corrected.values(), default=0.0)
        corrected[name] = min(1.0, max(least, p_values[name] * (len(p_values) - rank)))
    return corrected


def test_p_values_are_those_of_wilcoxon_after_holm_over_all_criteria_and_sizes() -> None:
    draws = random.Random(5)
    better = {
        workers: {part: [draws.gauss(0.04, 0.1) for _ in range(SEEDS)] for part in PARTS}
        for workers in (6, 12)
    }
    few, many = (Shown(**better[workers]) for workers in (6, 12))  # type: ignore[arg-type]
    found = study(few, many)

    for way, field in (("greater", "holm"), ("less", "holm_opposite")):
        corrected = holm_of(
            {
                (part, workers): float(wilcoxon(values, alternative=way).pvalue)
                for workers, parts in better.items()
                for part, values in parts.items()
            }
        )
        for (part, workers), p in corrected.items():
            one = finding(found, PARTS[part][0], workers)
            assert p == pytest.approx(getattr(one, field)), (part, workers)


def test_with_few_seasons_it_is_the_correction_that_is_missing() -> None:
    """All right in n seasons: 1 ÷ 2ⁿ, times 8."""
    for seeds, p, verdict in ((7, 8 / 128, UNDECIDED), (8, 8 / 256, SUPPORTED)):
        found = study(Shown(seeds=seeds))

        assert p == pytest.approx(finding(found, PAYS).holm)
        assert dict.fromkeys(EVERY, verdict) == judged(found)


# Yes where a difference was planted, and no where there is none


@pytest.mark.parametrize("part", PARTS)
def test_where_there_is_no_difference_yes_is_said_as_rarely_as_promised(part: str) -> None:
    """Of 200 made-up studies without any difference at most a few say that there is one."""
    draws = random.Random(8)
    said = 0
    for _ in range(200):
        noise = [[draws.gauss(0, 0.1) for _ in range(SEEDS)] for _ in range(2)]
        few, many = (Shown(**{part: own}) for own in noise)  # type: ignore[arg-type]
        said += judged(study(few, many))[PARTS[part][0]] != UNDECIDED

    assert said <= 10


@pytest.mark.parametrize("part", PARTS)
def test_where_a_difference_was_planted_yes_is_said(part: str) -> None:
    """As large as the noise from season to season: found in nearly all of 50 studies."""
    draws = random.Random(9)
    said = 0
    for _ in range(50):
        noise = [[draws.gauss(0.12, 0.1) for _ in range(SEEDS)] for _ in range(2)]
        few, many = (Shown(**{part: own}) for own in noise)  # type: ignore[arg-type]
        said += judged(study(few, many))[PARTS[part][0]] == SUPPORTED

    assert said >= 45


# Pairs


def test_seasons_are_paired_by_their_seeds_alone() -> None:
    """Whatever comes first, and where a seed has no partner it does not count."""
    ours = [
        season(cell("equal-trials"), seed, run={"percentile": 0.02 * seed}) for seed in range(20)
    ]
    theirs = [
        season(
            cell("no-elimination-no-tiers"), seed,
            run={"percentile": 0.02 * seed - 0.001 * (1 + seed)},
        )
        for seed in reversed(range(5, 25))
    ]  # fmt: skip
    found = finding(results(*theirs, *ours), PAYS)

    assert (15, 15, 15) == (found.change.seeds, found.change.n, found.change.right)
    assert (0.02 * 12, 0.02 * 12 - 0.013) == (
        pytest.approx(found.change.second.mean), pytest.approx(found.change.first.mean)
    )  # fmt: skip


def test_seasons_of_other_seeds_are_no_pairs() -> None:
    ours = [season(cell("equal-trials"), seed) for seed in range(5)]
    theirs = [season(cell("no-elimination-no-tiers"), seed) for seed in range(5, 10)]

    assert [] == verdicts(results(*ours, *theirs))


def test_other_casts_and_other_treatments_are_nobodys_null() -> None:
    worse: dict[str, Value] = dict.fromkeys(("percentile", "optimum_share", "learning"), 0.0)
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


# Stability, pooled, where nobody is eliminated


def random_halves(draws: random.Random, agreement: float) -> dict[int, tuple[float, float]]:
    """Of six workers, centred."""
    first = [draws.gauss(0, 1) for _ in range(6)]
    second = [agreement * one + (1 - agreement) * draws.gauss(0, 1) for one in first]
    one, other = sum(first) / 6, sum(second) / 6
    return {k: (a - one, b - other) for k, (a, b) in enumerate(zip(first, second, strict=True))}


def ranked(*halves: Mapping[int, tuple[float, float]]) -> list[SeasonResult]:
    of = cell("no-elimination")
    return [season(of, seed, ranks=ranks) for seed, ranks in enumerate(halves)]


def test_stability_is_that_of_all_seasons_together() -> None:
    """Not the mean of theirs: one with wide differences counts for more."""
    draws = random.Random(1)
    ours = [random_halves(draws, agreement) for agreement in (0.9, 0.1, 0.5)]
    ours.append({k: (10 * a, 10 * b) for k, (a, b) in random_halves(draws, 0.5).items()})
    pairs = [pair for ranks in ours for pair in ranks.values()]
    r = float(pearsonr(*zip(*pairs, strict=True)).statistic)

    assert 2 * r / (1 + r) == pytest.approx(pooled(ranked(*ours)))


# What is said


def test_a_verdict_is_said_with_its_figures_and_the_name_of_its_null() -> None:
    found = study(Shown(), Shown(pays=differing(right=10, wrong=10)))
    page = StudyPage(study_of(found, StudyQuestion(criteria=True)))
    first, *others = page.tables["protocol-tests"].rows

    assert [MEMBERS, "optimum_share", "6", "20", "0.5", "0.391 (independent)"] == first[:6]
    assert ["p <\u00a00.001".removeprefix("p "), "20 of 20"] == first[-2:]
    assert 2 * 4 == len([first, *others])
    [unclear] = [row for row in others if row[-1] == "10 of 20"]
    assert [PAYS, "percentile", "12"] == unclear[:3]
    nulls = dict.fromkeys(str(row[5]).partition(" ")[2] for row in [first, *others])
    assert ["(independent)", "(no-memory)", "(no-elimination-no-tiers)", "(chance)"] == [*nulls]
    assert "12 workers: unclear" in verdicts(found).format("assignments")


def test_without_pairs_the_seasons_that_are_missing_are_named() -> None:
    found = Assessment(results(season(cell("no-judge")))).verdicts

    assert [] == found
    assert "no-memory" in found.reason


@pytest.mark.parametrize(
    "found",
    [
        study(Shown(), OTHER_WAY),
        study(Shown(ranks={}, merit=differing(right=0, missing=SEEDS))),
        results(season(cell("no-judge"))),
    ],
    ids=["all", "missing figures", "no pairs"],
)
def test_answers_are_plain_values(found: SeasonResults) -> None:
    told = json.loads(json.dumps(answers(found), allow_nan=False))

    assert {"planted"} == set(told)
    assert [one.is_found for one in planted(found)] == [one["found"] for one in told["planted"]]


# A study of seasons


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine assignments, so that somebody sits at eight tables."""
    return carried_out(
        tmp_path_factory.mktemp("seasons") / "study",
        world="competition", treatments=["baseline", "no-memory", "no-elimination"],
        rosters=["scripted", "planted", "ben=silent"], seeds=2, rounds=9,
        settings={"arena": "nk[seeds=1]"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def measured(small: Path) -> SeasonResults:
    return results_of(small, jobs=1)


def test_a_study_of_seasons_is_judged_by_what_was_measured(measured: SeasonResults) -> None:
    baseline = measured.by_cell[Cell("baseline", "scripted", 9)]
    forgetful = measured.by_cell[Cell("no-memory", "scripted", 9)]
    found = verdicts_of(measured)
    one = finding(measured, LEARNS)

    assert {LEARNS: UNDECIDED, MERIT: UNDECIDED} == judged(measured)
    assert (2, [6]) == (one.change.seeds, [*found[LEARNS].by_size])
    for side, runs in ((one.change.second, baseline), (one.change.first, forgetful)):
        values = [run.run["learning"] for run in runs]
        assert sum(value or 0 for value in values) / 2 == pytest.approx(side.mean)
    assert "no seasons with 12 workers" == found[LEARNS].note
    half = ["scripted"] * 3 + ["random"] * 3
    runs = measured.by_cell[Cell("no-elimination", "planted", 9)]
    assert {tuple(half)} == {tuple(run.policies) for run in runs}
    assert [Cell("no-elimination", "planted", 9)] == [one.cell for one in planted(measured)]


def test_the_answers_of_a_report_have_each_verdict_on_seasons_once(measured: SeasonResults) -> None:
    asked = report_answers(measured, StudyQuestion(criteria=True))
    told = json.loads(json.dumps(asked, allow_nan=False))
    judgements = verdicts(measured)

    assert [] == told["cells"]
    assert 1 == json.dumps(told).count(json.dumps(judgements[0].note))
    for judgement, shown in zip(judgements, told["verdicts"], strict=True):
        assert (judgement.criterion, judgement.verdict) == (shown["criterion"], shown["verdict"])
        assert {str(size) for size in judgement.by_size} == set(shown["by_size"])
        for workers, judged in judgement.by_size.items():
            [test] = shown["by_size"][str(workers)]["findings"]
            assert [test["holm"]] == [each.holm for each in judged.findings]
    assert "verdicts" not in report_answers(measured)
    assert json.loads(json.dumps(answers(measured)["planted"])) == told["planted"]


def test_a_report_says_the_verdicts_and_has_the_chapter_of_seasons(
    small: Path, measured: SeasonResults
) -> None:
    ran = CliRunner().invoke(cli, ["report", str(small), "--criteria", "--jobs", "1"])
    page = Page((small / "report.html").read_text(encoding="utf-8"))

    assert (0, "") == (ran.exit_code, ran.stderr)
    answer, *printed = [line for line in ran.stdout.splitlines() if line]
    assert answer.startswith("18 runs of 9 assignments compare 3 treatments")
    table = verdicts(measured).format("assignments").splitlines()
    assert [*table, f"page: {small}/report.html"] == printed[-len(table) - 1 :]
    assert {"criteria", "protocol", "planted"} <= set(page.ids)
    rows = [row for table in page.tables for row in table.rows]
    for one in verdicts(measured):
        assert [one.criterion, f"{one.verdict} {one.note}"] in rows
