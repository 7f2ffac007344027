"""The verdicts on the protocol, clause by clause.

A study is made up: 20 seeds, 6 and 12 workers, the protocol and its nulls, in which the protocol is
better, worse or the same by what a test says.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest
from scipy.stats import pearsonr, wilcoxon

from goldrush.replay.study.judging import (
    NOT_SUPPORTED,
    SUPPORTED,
    UNDECIDED,
    CriterionVerdict,
    Finding,
)
from goldrush.replay.study.records import Cell
from goldrush.replay.worlds.competition.study import (
    SeasonResult,
    SeasonResults,
    planted,
    pooled,
    verdicts,
)
from tests.replay.study.made_up import season, seasons

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
    return seasons(*few.runs(6), *(many or few).runs(12))


def verdicts_of(found: SeasonResults) -> dict[str, CriterionVerdict]:
    return {one.criterion: one for one in verdicts(found)}


def judged(found: SeasonResults) -> dict[str, str]:
    return {name: one.verdict for name, one in verdicts_of(found).items()}


def finding(found: SeasonResults, criterion: str, workers: int = 6) -> Finding:
    [one] = verdicts_of(found)[criterion].by_size[workers].findings
    return one


# What is supported, and what is not.


UNCLEAR = differing(right=10, wrong=10)
SAME = differing(right=0)
NO_CHANGE = "6 workers: no change at all"


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    ("few", "many", "verdict", "note"),
    [
        (differing(15), differing(15, missing=5), SUPPORTED, ""),
        (differing(), differing(14), UNDECIDED, "12 workers: unclear"),
        (UNCLEAR, differing(), UNDECIDED, "6 workers: unclear"),
        (WRONG, differing(), NOT_SUPPORTED, None),
        (differing(), WRONG, NOT_SUPPORTED, None),
        (differing(), differing(right=0, wrong=15), NOT_SUPPORTED, None),
        (differing(), differing(right=0, wrong=14), UNDECIDED, None),
        (SAME, differing(), NOT_SUPPORTED, NO_CHANGE),
        (differing(right=0, missing=5), differing(), NOT_SUPPORTED, NO_CHANGE),
        (differing(right=0, missing=6), differing(), UNDECIDED, None),
        (differing(right=1), differing(), UNDECIDED, "6 workers: unclear"),
    ],
)
def test_a_criterion_is_judged_by_its_measure_at_each_size(
    part: str, few: Sequence[Value], many: Sequence[Value], verdict: str, note: str | None
) -> None:
    """It takes the right sign in 15 of 20 seasons at both sizes, or the wrong one at one size."""
    criterion, *_ = PARTS[part]
    found = study(Shown(**{part: few}), Shown(**{part: many}))  # type: ignore[arg-type]

    assert dict.fromkeys(EVERY, SUPPORTED) | {criterion: verdict} == judged(found)
    assert note is None or note == verdicts_of(found)[criterion].note


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


@pytest.mark.parametrize("missing", [6, 12])
def test_without_one_size_nothing_is_supported_and_it_is_said(missing: int) -> None:
    found = verdicts_of(seasons(*Shown().runs(18 - missing)))

    assert dict.fromkeys(EVERY, (UNDECIDED, f"no seasons with {missing} workers")) == {
        name: (one.verdict, one.note) for name, one in found.items()
    }
    assert dict.fromkeys(EVERY, NOT_SUPPORTED) == judged(seasons(*OTHER_WAY.runs(18 - missing)))


def test_a_criterion_without_seasons_of_its_null_has_no_verdict() -> None:
    runs = [*Shown().runs(6), *Shown().runs(12)]
    without = [run for run in runs if "no-memory" not in run.cell.treatment]

    assert [MEMBERS, PAYS, MERIT] == list(judged(seasons(*without)))
    assert {} == judged(seasons(*(run for run in runs if "no-memory" in run.cell.treatment)))


def test_the_table_is_judged_by_seasons_of_80_assignments_the_shortest_that_both_have() -> None:
    def pairs(rounds: int, better: float) -> list[SeasonResult]:
        return [
            season(cell(name, rounds=rounds), seed, run={"optimum_share": value})
            for seed in range(SEEDS)
            for name, value in (("no-elimination-no-tiers", 0.5), ("independent", 0.5 - better))
        ]

    assert MEMBERS not in judged(seasons(*pairs(79, 0.2)))
    found = finding(seasons(*pairs(100, 0.3), *pairs(80, 0.2), *pairs(40, 0.1)), MEMBERS)
    assert found.change.first.mean == pytest.approx(0.3)
    alone = [run for run in pairs(80, 0.2) if run.cell.treatment != "independent"]
    assert finding(seasons(*alone, *pairs(100, 0.4)), MEMBERS).change.first.mean == pytest.approx(
        0.1
    )


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


# Pairs


def test_seasons_are_paired_by_their_seeds_alone() -> None:
    """Whatever comes first, and where a seed has no partner it does not count."""

    def varying(treatment: str, seeds: range, slope: float) -> list[SeasonResult]:
        return [season(cell(treatment), seed, run={"percentile": slope * seed}) for seed in seeds]

    ours = varying("equal-trials", range(20), 0.02)
    theirs = varying("no-elimination-no-tiers", range(5, 25), 0.019)[::-1]
    found = finding(seasons(*theirs, *ours), PAYS)

    assert (15, 15, 15) == (found.change.seeds, found.change.n, found.change.right)
    assert [0.02 * 12, 0.019 * 12] == pytest.approx(
        [found.change.second.mean, found.change.first.mean]
    )
    assert [] == verdicts(seasons(*ours[:5], *theirs[:5]))


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

    assert verdicts(seasons(*own)) == verdicts(seasons(*others, *own))


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


# A study of seasons
