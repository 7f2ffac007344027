"""Treatments against the baseline: pairs of the same seed, the null, what cannot differ."""

from goldrush.kernel.treatments import BASELINE
from goldrush.replay.study.comparisons import against_baseline, identical_cells, nulls
from goldrush.replay.study.inference import interval
from goldrush.replay.study.records import Cell
from goldrush.replay.worlds.mining.measures import MEASURES
from tests.replay.study.made_up import made, results

ROSTER = "greedy-mine"
HERE, THERE = Cell("scarce", ROSTER, 9), Cell(BASELINE, ROSTER, 9)


# pairs


def test_runs_are_paired_by_seed_whatever_their_order() -> None:
    ours = [made(HERE, seed, run={"turnover": float(seed)}) for seed in (2, 0, 1)]
    theirs = [made(THERE, seed, run={"turnover": 10.0 * seed}) for seed in (0, 1, 2)]
    [(cell, differences)] = against_baseline(results(*ours, *theirs)).items()

    assert HERE == cell
    assert list(MEASURES) == list(differences)
    assert interval([0.0, -9.0, -18.0]) == differences["turnover"]


def test_seeds_without_data_on_one_side_are_left_out_for_that_measure() -> None:
    ours = [made(HERE, seed, run={"half_life": None if seed else 5.0}) for seed in (0, 1)]
    theirs = [made(THERE, seed, run={"half_life": 3.0}) for seed in (0, 1)]
    [differences] = against_baseline(results(*ours, *theirs)).values()

    assert interval([2.0]) == differences["half_life"]
    assert interval([0.0, 0.0]) == differences["idle"]


def test_rosters_and_horizons_have_a_baseline_of_their_own() -> None:
    cells = [
        Cell(t, roster, rounds)
        for t in (BASELINE, "scarce")
        for roster in (ROSTER, "random")
        for rounds in (5, 9)
    ]
    runs = [made(cell, run={"idle": float(n)}) for n, cell in enumerate(cells)]
    found = against_baseline(results(*runs))

    assert cells[4:] == list(found)
    assert {interval([4.0])} == {differences["idle"] for differences in found.values()}


# the null


def test_the_null_of_a_cell_plays_the_same_under_the_same_treatment() -> None:
    cells = [Cell(t, r, 9) for t in (BASELINE, "scarce") for r in (ROSTER, "random", "raid")]
    found = nulls(results(*map(made, cells)))

    assert {cell: Cell(cell.treatment, "random", 9) for cell in cells} == found


def test_a_roster_with_others_beside_the_null_is_no_null() -> None:
    assert {} == nulls(results(made(Cell("baseline", "random*5,raid*5", 9))))


def test_the_null_has_as_many_agents() -> None:
    many = made(Cell(BASELINE, "many", 9), settings={"agents": 20})
    blind = Cell(BASELINE, "random", 9)

    assert {blind: blind} == nulls(results(many, made(blind)))


# identical by construction


def test_what_is_identical_is_not_compared() -> None:
    cells = [Cell(t, ROSTER, 9) for t in (BASELINE, "history-1", "scarce")]
    found = results(*map(made, cells))

    assert {cells[1]: cells[0]} == identical_cells(found)
    assert [cells[2]] == list(against_baseline(found))
