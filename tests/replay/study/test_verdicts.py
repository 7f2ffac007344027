"""The verdicts, clause by clause: when a criterion is supported, not supported, undecided.

A study is made up: 20 seeds, N = 10 and N = 20, in which nothing changes but what a test says.
"""

from collections.abc import Mapping, Sequence
from functools import cache

import attrs
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from goldrush.replay.study.inference import holm
from goldrush.replay.study.judging import (
    AS_EXPECTED,
    LIKE_NULL,
    NO_CHANGE,
    NO_DATA,
    NOT_SUPPORTED,
    OPPOSITE,
    SUPPORTED,
    UNCLEAR,
    UNDECIDED,
    CriterionVerdict,
)
from goldrush.replay.study.records import Cell, Result
from goldrush.replay.study.results import Results
from goldrush.replay.study.verdicts import Assessment, families
from goldrush.replay.worlds.mining.measures import MEASURES
from tests.replay.study.made_up import CRITERIA, EXPECTED, Halves, made, results

SEEDS = range(20)
LEARNER = "greedy-mine"
FEW, MANY = "baseline", "agents-20"

Changes = Mapping[str, Sequence[Halves]]  # by measure, the halves of each seed


def changing(name: str, right: int = 20, wrong: int = 0, missing: int = 0) -> list[Halves]:
    """Halves of 20 seeds: so many change as expected, the other way, have no data; else none.

    No two changes are of one size, and the wrong ones are the smallest.
    """
    sign = EXPECTED[name]
    moved = [1.0 + sign * (0.5 + 0.01 * k) for k in range(right)]
    moved += [1.0 - sign * (0.1 + 0.01 * k) for k in range(wrong)]
    halves: list[Halves] = [(1.0, second) for second in moved]
    halves += [(None, 1.0)] * missing
    return halves + [(1.0, 1.0)] * (20 - len(halves))


ALL = {name: changing(name) for name in EXPECTED}


def cell_of(
    changes: Changes, treatment: str, roster: str = LEARNER, **more: object
) -> list[Result]:
    return [
        made(
            Cell(treatment, roster, 200),
            seed,
            halves={name: halves[seed] for name, halves in changes.items()},
            **more,  # type: ignore[arg-type]
        )
        for seed in SEEDS
    ]


def study(
    few: Changes, many: Changes | None = None, null: Changes | None = None, **more: object
) -> Results:
    """A learner with N = 10 and with N = 20 (the same, if nothing else is said), and the null."""
    many = few if many is None else many
    runs = [*cell_of(few, FEW, **more), *cell_of(many, MANY, **more)]
    for treatment in (FEW, MANY):
        runs += cell_of(null or {}, treatment, "random")
    return results(*runs)


def verdicts_of(
    found: Results, roster: str = LEARNER, **options: bool
) -> dict[str, CriterionVerdict]:
    verdicts = Assessment(found, **options).verdicts
    return {one.criterion: one for one in verdicts if one.cells[0].roster == roster}


def judged(found: Results, roster: str = LEARNER, **options: bool) -> dict[str, str]:
    return {name: one.verdict for name, one in verdicts_of(found, roster, **options).items()}


def shown(found: Results, treatment: str = FEW, roster: str = LEARNER) -> dict[str, str]:
    findings = Assessment(found).findings(Cell(treatment, roster, 200))
    return {name: one.shows for name, one in findings.items()}


EVERY = list(CRITERIA)


# a naive reading

# Of 20 seeds: as expected, the other way, without data; on both sides of what counts.
KINDS = [
    (20, 0, 0), (15, 5, 0), (15, 0, 5), (15, 0, 0), (14, 6, 0), (14, 0, 6), (10, 10, 0), (1, 0, 0),
    (0, 20, 0), (0, 15, 5), (0, 15, 0), (0, 14, 0), (0, 0, 0), (0, 0, 5), (0, 0, 6), (0, 0, 20),
]  # fmt: skip
Counts = tuple[int, int, int]


@st.composite
def counts(draw: st.DrawFn) -> dict[str, Counts]:
    """Of each sub-measure: most are alike, or no criterion would ever be supported."""
    others = st.dictionaries(st.sampled_from([*EXPECTED]), st.sampled_from(KINDS), max_size=4)
    return dict.fromkeys(EXPECTED, draw(st.sampled_from(KINDS))) | draw(others)


@cache
def naive_p(kind: Counts, way: str) -> float:
    """The one-sided p of a sub-measure that should grow; 1 where there is nothing to test."""
    right, wrong, _ = kind
    moved = [0.5 + 0.01 * k for k in range(right)] + [-0.1 - 0.01 * k for k in range(wrong)]
    return float(wilcoxon(moved, alternative=way, method="exact").pvalue) if moved else 1.0


def naive_shows(of: dict[str, Counts]) -> dict[str, str]:
    """What each sub-measure shows alone."""
    ups, downs = (holm([naive_p(kind, way) for kind in of.values()]) for way in ("greater", "less"))
    found = {}
    for (name, (right, wrong, missing)), up, down in zip(of.items(), ups, downs, strict=True):
        found[name] = (
            NO_DATA if missing == 20
            else (NO_CHANGE if missing <= 5 else UNCLEAR) if not right and not wrong
            else AS_EXPECTED if up < 0.05 and right >= 15
            else OPPOSITE if down < 0.05 and wrong >= 15
            else UNCLEAR
        )  # fmt: skip
    return found


def naive_outcome(shows: list[str]) -> str:
    """What a criterion comes to with one number of agents."""
    if all(each == AS_EXPECTED for each in shows):
        return SUPPORTED
    with_data = {each for each in shows if each != NO_DATA}
    return NOT_SUPPORTED if OPPOSITE in shows or with_data == {NO_CHANGE} else UNDECIDED


ALIKE = dict.fromkeys(EXPECTED, (20, 0, 0))
CONTRARY = dict.fromkeys(EXPECTED, (0, 20, 0))


@settings(deadline=None, phases=(Phase.explicit, Phase.generate))
@given(counts(), counts(), counts())
@example(ALIKE, ALIKE, CONTRARY)
@example(ALIKE, ALIKE, ALIKE)
@example(CONTRARY, CONTRARY, CONTRARY)
@example(CONTRARY, ALIKE, dict.fromkeys(EXPECTED, (14, 6, 0)))
@example(ALIKE | {"idle": (0, 20, 0)}, ALIKE | {"respect": (0, 0, 6)}, CONTRARY)
@example(ALIKE | {"turnover": (14, 0, 6)}, ALIKE | {"survival": (15, 0, 5)}, CONTRARY)
@example(dict.fromkeys(EXPECTED, (0, 0, 5)), ALIKE | {"idle": (0, 0, 5)}, CONTRARY)
@example(dict.fromkeys(EXPECTED, (15, 0, 5)), dict.fromkeys(EXPECTED, (15, 5, 0)), CONTRARY)
@example(ALIKE, ALIKE | {"idle": (0, 0, 0), "efficiency": (0, 0, 20)}, CONTRARY)
def test_verdicts_are_those_of_a_naive_reading_of_the_rules(
    few: dict[str, Counts], many: dict[str, Counts], null: dict[str, Counts]
) -> None:
    found = study(*({name: changing(name, *kind) for name, kind in of.items()}
                    for of in (few, many, null)))  # fmt: skip
    of_null = naive_shows(null)
    by_size = []
    for treatment, of in ((FEW, few), (MANY, many)):
        expected = {
            name: LIKE_NULL
            if shows in (AS_EXPECTED, OPPOSITE) and shows == of_null[name]
            else shows
            for name, shows in naive_shows(of).items()
        }
        by_size.append({c: naive_outcome([expected[n] for n in ns]) for c, ns in CRITERIA.items()})

        assert expected == shown(found, treatment)
    for criterion, verdict in judged(found).items():
        outcomes = {of[criterion] for of in by_size}
        assert verdict == (
            NOT_SUPPORTED if NOT_SUPPORTED in outcomes
            else SUPPORTED if outcomes == {SUPPORTED}
            else UNDECIDED
        )  # fmt: skip


# examples


def test_equal_runs_are_no_further_seeds_of_a_criterion() -> None:
    """Twenty seeds that gave two distinct runs supported every criterion."""
    found = study(ALL)
    by_cell = {
        cell: [
            attrs.evolve(runs[run.seed % 2], seed=run.seed, path=run.path,
                         equal_to=run.seed % 2 if run.seed > 1 else None)
            for run in runs
        ]
        for cell, runs in found.by_cell.items()
    }  # fmt: skip
    found = attrs.evolve(found, by_cell=by_cell)

    assert dict.fromkeys(EVERY, UNDECIDED) == judged(found)
    changes = [one.change for one in Assessment(found).findings(Cell(FEW, LEARNER, 200)).values()]
    assert {(2, 2, 2, 0.25)} == {(one.seeds, one.n, one.right, one.p) for one in changes}


def test_the_p_value_counts_after_holms_correction_over_all_seven() -> None:
    """15 of 20, those that are wrong with ranks of 52 together: the table has 5% at 60 and 1% at
    43; after a correction for seven alike it is beyond 5%.
    """
    sizes = [-rank if rank in (20, 14, 10, 6, 2) else rank for rank in range(1, 21)]
    halves: list[Halves] = [(1.0, 1.0 + size * EXPECTED["respect"]) for size in sizes]
    found = study({"respect": halves})
    finding = Assessment(found).findings(Cell(FEW, LEARNER, 200))["respect"]

    assert (15, 5) == (finding.change.right, finding.change.wrong)
    assert finding.change.p is not None
    assert 0.05 / 7 < finding.change.p < 0.05 < (finding.holm or 0)
    assert UNDECIDED == judged(found)["norms"]


def test_with_fewer_than_eight_seeds_nothing_can_pass() -> None:
    for seeds, verdict in ((7, UNDECIDED), (8, SUPPORTED)):
        found = study(ALL)
        few = results(*(run for runs in found.by_cell.values() for run in runs[:seeds]))

        assert dict.fromkeys(EVERY, verdict) == judged(few)


def test_random_is_held_against_runs_of_the_same_treatment() -> None:
    runs = [r for runs in study(ALL).by_cell.values() for r in runs if r.cell.roster != "random"]
    found = results(*runs, *cell_of({}, FEW, "random"), *cell_of(ALL, MANY, "random"))

    assert dict.fromkeys(EXPECTED, AS_EXPECTED) == shown(found, FEW)
    assert dict.fromkeys(EXPECTED, LIKE_NULL) == shown(found, MANY)


def test_the_null_itself_is_judged_by_nobody() -> None:
    found = study(ALL, null=ALL)
    of_null = Assessment(found).judged(Cell(FEW, "random", 200))

    assert EVERY == [one.criterion for one in Assessment(found).verdicts]
    assert {} == verdicts_of(found, "random")
    assert {(UNDECIDED, "the null itself")} == {(one.outcome, one.note) for one in of_null}
    assert [] == Assessment(results(*cell_of(ALL, FEW, "random"))).verdicts


def test_the_null_is_known_by_who_plays_and_not_by_the_name_of_a_roster() -> None:
    blind = [
        attrs.evolve(run, cell=attrs.evolve(run.cell, roster="blind"))
        for treatment in (FEW, MANY)
        for run in cell_of(ALL, treatment, "random")
    ]
    runs = [*cell_of(ALL, FEW), *cell_of(ALL, MANY), *blind]
    is_called_random = cell_of(ALL, FEW, "random", policies=["raid"] * 10)

    assert dict.fromkeys(EVERY, UNDECIDED) == judged(results(*runs))
    assert {} == verdicts_of(results(*runs), "blind")
    found = results(*runs[:40], *is_called_random)
    verdicts = verdicts_of(found).values()
    says = "the study has no null (roster random)"
    assert [(UNDECIDED, says)] * len(EVERY) == [(one.verdict, one.note) for one in verdicts]


# nothing to reduce

PEACE = {
    "raid_rate": [(0.0, 0.0)] * 20,
    "targeting": [(None, None)] * 20,
    "respect": [(None, None)] * 20,
}


NONE_TO_REDUCE = {
    "stability": ("turnover", "no turnover to reduce"),
    "efficiency": ("idle", "no idle stamina to reduce"),
    "conflict": ("raid_rate", "no conflict to reduce"),
    "norms": ("raid_rate", "no conflict to reduce"),
}


def test_what_there_was_none_of_in_any_seed_is_said() -> None:
    for criterion, (name, says) in NONE_TO_REDUCE.items():
        found = verdicts_of(study({name: [(0.0, 0.0)] * 20}))[criterion]

        assert (NOT_SUPPORTED, says) == (found.verdict, found.note)


@pytest.mark.parametrize("other", ["survival", "efficiency", "targeting", "respect"])
def test_where_another_sub_measure_changes_in_one_seed_it_is_not_said(other: str) -> None:
    [criterion] = [c for c, parts in CRITERIA.items() if other in parts]
    name, says = NONE_TO_REDUCE[criterion]
    found = study({name: [(0.0, 0.0)] * 20, other: changing(other, right=1)})

    assert says not in verdicts_of(found)[criterion].note


def test_what_there_was_none_of_with_one_number_of_agents_alone_is_told_with_it() -> None:
    found = verdicts_of(study(ALL | PEACE, ALL))["conflict"]

    assert found.note.startswith("N = 10: no conflict to reduce; N = 20: raid rate: as expected")


def test_raids_on_what_nobody_owns_yet_are_a_conflict_too() -> None:
    found = study(ALL | PEACE, speculated=True)

    assert "no conflict" not in verdicts_of(found)["conflict"].note


# the burn-in


def test_halves_are_judged_after_the_burn_in_or_without_one() -> None:
    runs = [
        attrs.evolve(run, halves_whole=dict(run.halves) | {"idle": (1.0, 1.0)})
        for runs in study(ALL).by_cell.values()
        for run in runs
    ]
    found = results(*runs)

    assert dict.fromkeys(EVERY, SUPPORTED) == judged(found)
    expected = dict.fromkeys(EVERY, SUPPORTED) | {"efficiency": UNDECIDED}
    assert expected == judged(found, burn_in=False)


# what a verdict says


def test_criteria_and_directions_are_those_of_the_rules() -> None:
    assert {
        "stability": {"turnover": -1, "survival": +1},
        "efficiency": {"efficiency": +1, "idle": -1},
        "conflict": {"raid_rate": -1, "targeting": +1},
        "norms": {"respect": -1},
    } == CRITERIA
    assert set(EXPECTED) <= set(MEASURES)


# families


def pairs(*cells: Cell, **settings: object) -> list[tuple[str, ...]]:
    found = results(*(made(cell, settings=settings.get(cell.treatment)) for cell in cells))  # type: ignore[arg-type]
    return [tuple(map(str, family)) for family in families(found)]


def test_treatments_that_differ_in_the_number_of_agents_alone_are_a_pair() -> None:
    cells = [
        Cell(t, LEARNER, 200)
        for t in ("agents-20", "truce-0", "scarce-20", "baseline", "scarce", "cap-2")
    ]

    assert [
        ("baseline, greedy-mine, 200", "agents-20, greedy-mine, 200"),
        ("scarce, greedy-mine, 200", "scarce-20, greedy-mine, 200"),
    ] == pairs(*cells)


@pytest.mark.parametrize(
    ("treatments", "are_pair"),
    [
        ({"mine": {"alpha": 3.0}, "mine-20": {"alpha": 3.0, "agents": 20}}, True),
        ({"mine": {"alpha": 3.0}, "mine-20": {"alpha": 2.0, "agents": 20}}, False),
        ({"a": {"agents": 5}, "b": {"agents": 20, "rows": 7}}, False),
        ({"stamina-mixed": None, MANY: None}, False),
        ({FEW: None, MANY: None, "again": {"agents": 20}}, True),  # the first of the same
    ],
)
def test_treatments_are_paired_by_what_they_set(
    treatments: Mapping[str, object], are_pair: bool
) -> None:
    cells = [Cell(name, LEARNER, 50) for name in treatments]

    assert [tuple(map(str, cells[:2]))] * are_pair == pairs(*cells, **treatments)
