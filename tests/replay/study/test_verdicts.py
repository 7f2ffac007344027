"""The verdicts, clause by clause: when a criterion is supported, not supported, undecided.

A study is made up: 20 seeds, N = 10 and N = 20, in which nothing changes but what a test says.
"""

from collections.abc import Mapping, Sequence

import attrs
import pytest

from goldrush.replay.study.inference import holm
from goldrush.replay.study.judging import (
    AS_EXPECTED,
    LIKE_NULL,
    NO_CHANGE,
    NO_DATA,
    NOT_SUPPORTED,
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
OTHER_WAY = {name: changing(name, right=0, wrong=20) for name in EXPECTED}


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


def verdicts_of(found: Results, roster: str = LEARNER) -> dict[str, CriterionVerdict]:
    return {one.criterion: one for one in Assessment(found).verdicts if one.roster == roster}


def judged(found: Results, roster: str = LEARNER) -> dict[str, str]:
    return {criterion: one.verdict for criterion, one in verdicts_of(found, roster).items()}


def shown(found: Results, treatment: str = FEW, roster: str = LEARNER) -> dict[str, str]:
    findings = Assessment(found).findings(Cell(treatment, roster, 200))
    return {name: one.shows for name, one in findings.items()}


EVERY = list(CRITERIA)


# supported


def test_a_criterion_is_supported_where_every_sub_measure_changes_as_expected() -> None:
    assert dict.fromkeys(EVERY, SUPPORTED) == judged(study(ALL))


@pytest.mark.parametrize("name", EXPECTED)
def test_one_sub_measure_that_does_not_change_so_leaves_its_criterion_unsupported(
    name: str,
) -> None:
    found = judged(study(ALL | {name: changing(name, right=10, wrong=10)}))

    for criterion, parts in CRITERIA.items():
        assert (UNDECIDED if name in parts else SUPPORTED) == found[criterion]


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


@pytest.mark.parametrize("size", [10, 20])
def test_a_criterion_that_holds_with_one_number_of_agents_alone_is_undecided(size: int) -> None:
    unclear = {name: changing(name, right=10, wrong=10) for name in EXPECTED}
    few, many = (ALL, unclear) if size == 10 else (unclear, ALL)

    assert dict.fromkeys(EVERY, UNDECIDED) == judged(study(few, many))


def test_the_right_sign_in_15_of_20_seeds_is_enough_and_in_14_is_not() -> None:
    for right, verdict in ((15, SUPPORTED), (14, UNDECIDED)):
        halves = {name: changing(name, right=right) for name in EXPECTED}
        found = study(halves)
        finding = Assessment(found).findings(Cell(FEW, LEARNER, 200))["turnover"]

        assert finding.holm is not None
        assert finding.holm < 0.05  # it is the sign alone that is missing
        assert dict.fromkeys(EVERY, verdict) == judged(found)


def test_seeds_without_data_do_not_have_the_right_sign() -> None:
    for right, verdict in ((15, SUPPORTED), (14, UNDECIDED)):
        halves = {name: changing(name, right=right, missing=20 - right) for name in EXPECTED}

        assert dict.fromkeys(EVERY, verdict) == judged(study(halves))


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


def test_the_correction_is_over_the_sub_measures_of_all_criteria_of_a_cell() -> None:
    mixed = ALL | {
        "idle": changing("idle", right=13, wrong=7),
        "targeting": changing("targeting", right=0, missing=20),
        "raid_rate": changing("raid_rate", right=0, wrong=20),
    }
    findings = Assessment(study(mixed)).findings(Cell(FEW, LEARNER, 200)).values()

    assert 7 == len(findings)
    assert holm([f.change.p for f in findings]) == [f.holm for f in findings]
    assert holm([f.change.p_opposite for f in findings]) == [f.holm_opposite for f in findings]


def test_with_fewer_than_eight_seeds_nothing_can_pass() -> None:
    for seeds, verdict in ((7, UNDECIDED), (8, SUPPORTED)):
        found = study(ALL)
        few = results(*(run for runs in found.by_cell.values() for run in runs[:seeds]))

        assert dict.fromkeys(EVERY, verdict) == judged(few)


# not supported


def test_what_passes_the_other_way_round_is_not_supported() -> None:
    assert dict.fromkeys(EVERY, NOT_SUPPORTED) == judged(study(OTHER_WAY))


@pytest.mark.parametrize("name", EXPECTED)
def test_one_sub_measure_that_passes_the_other_way_round_is_enough(name: str) -> None:
    found = judged(study(ALL | {name: OTHER_WAY[name]}))

    for criterion, parts in CRITERIA.items():
        assert (NOT_SUPPORTED if name in parts else SUPPORTED) == found[criterion]


@pytest.mark.parametrize("size", [10, 20])
def test_one_number_of_agents_is_enough_against_a_criterion(size: int) -> None:
    few, many = (OTHER_WAY, ALL) if size == 10 else (ALL, OTHER_WAY)

    assert dict.fromkeys(EVERY, NOT_SUPPORTED) == judged(study(few, many))


def test_the_other_way_round_takes_15_of_20_seeds_too() -> None:
    for wrong, verdict in ((15, NOT_SUPPORTED), (14, UNDECIDED)):
        halves = {name: changing(name, right=0, wrong=wrong) for name in EXPECTED}

        assert dict.fromkeys(EVERY, verdict) == judged(study(halves))


def test_where_all_differences_are_0_nothing_is_supported() -> None:
    found = study({})

    assert dict.fromkeys(EXPECTED, NO_CHANGE) == shown(found)
    assert dict.fromkeys(EVERY, NOT_SUPPORTED) == judged(found)


@pytest.mark.parametrize("name", [n for n in EXPECTED if n != "respect"])
def test_one_sub_measure_that_never_changes_is_not_enough_against_its_criterion(name: str) -> None:
    same = {name: [(1.0, 1.0)] * 20}
    for others in (ALL, {n: changing(n, right=10, wrong=10) for n in EXPECTED}):
        found = study(others | same)
        [criterion] = [c for c, parts in CRITERIA.items() if name in parts]

        assert NO_CHANGE == shown(found)[name]
        assert UNDECIDED == judged(found)[criterion]


def test_where_the_sub_measures_with_data_never_change_those_without_do_not_count() -> None:
    found = study(ALL | {"idle": [(1.0, 1.0)] * 20, "efficiency": [(None, 1.0)] * 20})

    assert {NO_CHANGE, NO_DATA} == {shown(found)[name] for name in CRITERIA["efficiency"]}
    assert NOT_SUPPORTED == judged(found)["efficiency"]


def test_where_no_sub_measure_has_data_nothing_is_decided() -> None:
    found = study(dict.fromkeys(EXPECTED, [(None, 1.0)] * 20))

    assert dict.fromkeys(EVERY, UNDECIDED) == judged(found)


def test_one_seed_that_changes_is_a_change() -> None:
    found = study(ALL | {"idle": changing("idle", right=1)})

    assert UNCLEAR == shown(found)["idle"]
    assert UNDECIDED == judged(found)["efficiency"]


def test_that_nothing_changes_must_be_seen_in_15_of_20_seeds() -> None:
    for missing, shows in ((5, NO_CHANGE), (6, UNCLEAR), (19, UNCLEAR)):
        found = study(ALL | {"respect": changing("respect", right=0, missing=missing)})

        assert shows == shown(found)["respect"]
        assert (NOT_SUPPORTED if shows == NO_CHANGE else UNDECIDED) == judged(found)["norms"]


# no data


def test_where_a_half_has_no_data_it_is_said_and_counts_for_nothing() -> None:
    found = study(ALL | {"targeting": changing("targeting", right=0, missing=20)})

    assert NO_DATA == shown(found)["targeting"]
    assert UNDECIDED == judged(found)["conflict"]
    assert verdicts_of(found)["conflict"].note.endswith("targeting of defence: no data")


def test_no_data_does_not_save_a_criterion_that_fails_otherwise() -> None:
    found = study(
        {"targeting": changing("targeting", right=0, missing=20),
         "raid_rate": OTHER_WAY["raid_rate"]}
    )  # fmt: skip

    assert NOT_SUPPORTED == judged(found)["conflict"]


# the null


def test_what_random_shows_too_counts_for_nobody() -> None:
    found = study(ALL, null=ALL)

    assert dict.fromkeys(EXPECTED, LIKE_NULL) == shown(found)
    assert dict.fromkeys(EVERY, UNDECIDED) == judged(found)


def test_what_random_shows_too_counts_against_nobody() -> None:
    assert dict.fromkeys(EVERY, UNDECIDED) == judged(study(OTHER_WAY, null=OTHER_WAY))


def test_a_change_that_random_shows_the_other_way_round_counts() -> None:
    assert dict.fromkeys(EVERY, SUPPORTED) == judged(study(ALL, null=OTHER_WAY))
    assert dict.fromkeys(EVERY, NOT_SUPPORTED) == judged(study(OTHER_WAY, null=ALL))


def test_what_random_shows_counts_measure_by_measure() -> None:
    found = study(ALL, null={"turnover": ALL["turnover"]})

    assert {LIKE_NULL: 1, AS_EXPECTED: 6} == {
        each: list(shown(found).values()).count(each) for each in set(shown(found).values())
    }
    assert dict.fromkeys(EVERY, SUPPORTED) | {"stability": UNDECIDED} == judged(found)


def test_random_must_pass_the_test_itself_to_take_a_change_away() -> None:
    almost = {name: changing(name, right=14) for name in EXPECTED}

    assert dict.fromkeys(EVERY, SUPPORTED) == judged(study(ALL, null=almost))


def test_random_is_held_against_runs_of_the_same_treatment() -> None:
    runs = [r for runs in study(ALL).by_cell.values() for r in runs if r.cell.roster != "random"]
    found = results(*runs, *cell_of({}, FEW, "random"), *cell_of(ALL, MANY, "random"))

    assert dict.fromkeys(EXPECTED, AS_EXPECTED) == shown(found, FEW)
    assert dict.fromkeys(EXPECTED, LIKE_NULL) == shown(found, MANY)


def test_that_nothing_changes_for_random_either_is_no_excuse() -> None:
    assert dict.fromkeys(EVERY, NOT_SUPPORTED) == judged(study({}, null={}))


def test_the_null_itself_is_judged_by_nobody() -> None:
    found = study(ALL, null=ALL)
    of_null = Assessment(found).judged(Cell(FEW, "random", 200))

    assert EVERY == [one.criterion for one in Assessment(found).verdicts]
    assert {} == verdicts_of(found, "random")
    assert {(UNDECIDED, "the null itself")} == {(one.outcome, one.note) for one in of_null}
    assert [] == Assessment(results(*cell_of(ALL, FEW, "random"))).verdicts


@pytest.mark.parametrize("changes", [ALL, OTHER_WAY, {}], ids=["right", "wrong", "none"])
def test_without_random_in_the_study_all_is_undecided_and_it_is_said(changes: Changes) -> None:
    found = results(*cell_of(changes, FEW), *cell_of(changes, MANY))

    assert dict.fromkeys(EVERY, UNDECIDED) == judged(found)
    for one in verdicts_of(found).values():
        assert "the study has no null (roster random)" == one.note


def test_random_is_known_by_who_plays_and_not_by_the_name_of_a_roster() -> None:
    runs = [
        attrs.evolve(run, cell=attrs.evolve(run.cell, roster="blind"))
        if run.cell.roster == "random"
        else run
        for runs in study(ALL, null=ALL).by_cell.values()
        for run in runs
    ]

    assert dict.fromkeys(EVERY, UNDECIDED) == judged(results(*runs))
    assert {} == verdicts_of(results(*runs), "blind")


def test_a_roster_that_is_called_random_and_is_not_is_no_null() -> None:
    runs = [*cell_of(ALL, FEW), *cell_of(ALL, MANY)]
    for treatment, agents in ((FEW, 10), (MANY, 20)):
        runs += cell_of(ALL, treatment, "random", policies=["raid"] * agents)

    assert "the study has no null (roster random)" == verdicts_of(results(*runs))["norms"].note


# nothing to reduce

PEACE = {
    "raid_rate": [(0.0, 0.0)] * 20,
    "targeting": [(None, None)] * 20,
    "respect": [(None, None)] * 20,
}


def test_where_nobody_raided_there_was_no_conflict_to_reduce() -> None:
    found = study(ALL | PEACE)

    assert NOT_SUPPORTED == judged(found)["conflict"]  # all differences are 0
    assert UNDECIDED == judged(found)["norms"]  # there are no data
    for criterion in EVERY:
        says = "no conflict to reduce" == verdicts_of(found)[criterion].note
        assert (criterion in ("conflict", "norms")) == says


NONE_TO_REDUCE = {
    "stability": ("turnover", "no turnover to reduce"),
    "efficiency": ("idle", "no idle stamina to reduce"),
    "conflict": ("raid_rate", "no conflict to reduce"),
    "norms": ("raid_rate", "no conflict to reduce"),
}


def test_what_there_was_none_of_in_any_seed_is_said() -> None:
    for criterion, (name, says) in NONE_TO_REDUCE.items():
        found = verdicts_of(study({name: [(0.0, 0.0)] * 20}))[criterion]

        assert (NOT_SUPPORTED, says, says) == (found.verdict, found.note, found.nothing)


def test_where_there_was_some_of_it_nothing_is_said() -> None:
    assert {""} == {one.nothing for one in verdicts_of(study({})).values()}
    for criterion, (name, _) in NONE_TO_REDUCE.items():
        constant: list[Halves] = [(0.0, 0.0)] * 19 + [(0.01, 0.01)]

        assert "" == verdicts_of(study({name: constant}))[criterion].nothing


@pytest.mark.parametrize("other", ["survival", "efficiency", "targeting", "respect"])
def test_where_another_sub_measure_changes_in_one_seed_it_is_not_said(other: str) -> None:
    [criterion] = [c for c, parts in CRITERIA.items() if other in parts]
    name, _ = NONE_TO_REDUCE[criterion]
    found = study({name: [(0.0, 0.0)] * 20, other: changing(other, right=1)})

    assert "" == verdicts_of(found)[criterion].nothing


def test_what_there_was_none_of_with_one_number_of_agents_alone_is_told_with_it() -> None:
    found = verdicts_of(study(ALL | PEACE, ALL))["conflict"]

    assert "no conflict to reduce" == found.nothing
    assert found.note.startswith("N = 10: no conflict to reduce; N = 20: raid rate: as expected")


def test_raids_before_the_halves_are_no_conflict_in_them() -> None:
    found = study(ALL | PEACE, totals={"raids": 3})

    assert "no conflict to reduce" == verdicts_of(found)["conflict"].note


def test_one_raid_in_one_half_of_one_run_is_a_conflict() -> None:
    raided: list[Halves] = [(0.0, 0.0)] * 19 + [(0.0, 0.01)]
    found = study(ALL | PEACE | {"raid_rate": raided})

    assert (
        "raid rate: unclear, targeting of defence: no data" == verdicts_of(found)["conflict"].note
    )


def test_raids_on_what_nobody_owns_yet_are_a_conflict_too() -> None:
    found = study(ALL | PEACE, totals={"speculative": 1})

    assert "no conflict" not in verdicts_of(found)["conflict"].note


def test_where_nothing_was_owned_there_are_no_data_and_no_peace() -> None:
    found = study(ALL | dict.fromkeys(PEACE, [(None, None)] * 20))

    assert "no data" in verdicts_of(found)["conflict"].note
    assert UNDECIDED == judged(found)["conflict"]


def test_peace_without_a_null_is_undecided_and_both_are_said() -> None:
    found = results(*cell_of(PEACE, FEW), *cell_of(PEACE, MANY))

    assert UNDECIDED == judged(found)["conflict"]
    note = verdicts_of(found)["conflict"].note
    assert "no conflict to reduce; the study has no null (roster random)" == note


# the burn-in


def test_halves_are_judged_after_the_burn_in_or_without_one() -> None:
    runs = [
        attrs.evolve(run, halves_whole=dict(run.halves) | {"idle": (1.0, 1.0)})
        for runs in study(ALL).by_cell.values()
        for run in runs
    ]
    found = results(*runs)
    whole = [one for one in Assessment(found, burn_in=False).verdicts if one.roster == LEARNER]

    assert dict.fromkeys(EVERY, SUPPORTED) == judged(found)
    expected = dict.fromkeys(EVERY, SUPPORTED) | {"efficiency": UNDECIDED}
    assert expected == {one.criterion: one.verdict for one in whole}


def test_peace_is_looked_for_in_the_halves_that_are_judged() -> None:
    runs = [
        attrs.evolve(run, halves_whole=dict(run.halves) | {"raid_rate": (0.1, 0.0)})
        if run.cell.roster == LEARNER
        else run
        for runs in study(PEACE).by_cell.values()
        for run in runs
    ]
    whole = Assessment(results(*runs), burn_in=False).verdicts

    assert "no conflict to reduce" == verdicts_of(results(*runs))["conflict"].note
    notes = [one.note for one in whole if (one.roster, one.criterion) == (LEARNER, "conflict")]
    assert ["raid rate: as expected, targeting of defence: no data"] == notes


# what a verdict says


def test_a_note_says_what_every_sub_measure_shows() -> None:
    found = study(ALL | {"idle": OTHER_WAY["idle"]})

    assert "efficiency: as expected, idle stamina rate: opposite" == (
        verdicts_of(found)["efficiency"].note
    )


def test_a_note_tells_apart_what_two_numbers_of_agents_show() -> None:
    found = study(ALL, OTHER_WAY)

    assert (
        "N = 10: respect for first possession: as expected; "
        "N = 20: respect for first possession: opposite"
    ) == verdicts_of(found)["norms"].note


def test_criteria_and_directions_are_those_of_the_rules() -> None:
    assert {
        "stability": {"turnover": -1, "survival": +1},
        "efficiency": {"efficiency": +1, "idle": -1},
        "conflict": {"raid_rate": -1, "targeting": +1},
        "norms": {"respect": -1},
    } == CRITERIA
    assert set(EXPECTED) <= set(MEASURES)


def test_what_one_number_of_agents_comes_to_is_told_for_every_cell() -> None:
    found = study(ALL, OTHER_WAY)
    few, many = (Assessment(found).judged(Cell(name, LEARNER, 200)) for name in (FEW, MANY))

    assert [(c, 10, SUPPORTED) for c in EVERY] == [(j.criterion, j.size, j.outcome) for j in few]
    assert [(c, 20, NOT_SUPPORTED) for c in EVERY] == [
        (j.criterion, j.size, j.outcome) for j in many
    ]


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


def test_treatments_of_ones_own_are_paired_by_what_they_set() -> None:
    own = {"mine": {"alpha": 3.0}, "mine-20": {"alpha": 3.0, "agents": 20}}
    other = {"mine": {"alpha": 3.0}, "mine-20": {"alpha": 2.0, "agents": 20}}
    cells = [Cell(name, LEARNER, 50) for name in own]

    assert [tuple(map(str, cells))] == pairs(*cells, **own)
    assert [] == pairs(*cells, **other)


def test_every_horizon_and_every_roster_has_a_pair_of_its_own() -> None:
    cells = [
        Cell(t, roster, rounds)
        for t in (FEW, MANY)
        for roster in (LEARNER, "random")
        for rounds in (100, 500)
    ]
    found = pairs(*cells)

    assert 4 == len(found)
    for few, many in found:
        assert few.split(", ")[1:] == many.split(", ")[1:]


def test_other_numbers_of_agents_and_mixed_stamina_are_no_pair() -> None:
    own = {"a": {"agents": 5}, "b": {"agents": 20, "rows": 7}}

    assert [] == pairs(Cell("a", LEARNER, 9), Cell("b", LEARNER, 9), **own)
    assert [] == pairs(Cell("stamina-mixed", LEARNER, 9), Cell(MANY, LEARNER, 9))


def test_of_two_treatments_that_set_the_same_the_first_is_taken() -> None:
    same = {"again": {"agents": 20}}
    cells = [Cell(t, LEARNER, 200) for t in (FEW, MANY, "again")]

    assert [tuple(map(str, cells[:2]))] == pairs(*cells, **same)


def test_without_a_pair_there_is_no_verdict() -> None:
    assert [] == Assessment(results(*cell_of(ALL, FEW))).verdicts
