"""Treatments against the baseline: pairs of the same seed, what cannot differ, the trade-off."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from goldrush.agents.mining.players import prepare, record
from goldrush.agents.mining.roster import POLICIES
from goldrush.kernel import fold
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.mining import MINING
from goldrush.kernel.mining.config import MiningConfig, config_of
from goldrush.kernel.mining.treatments import TREATMENTS
from goldrush.kernel.treatments import BASELINE
from goldrush.replay.mining.measures import MEASURES
from goldrush.replay.study.comparisons import (
    against_baseline,
    identical_cells,
    nulls,
    same_by_construction,
    trade_offs,
)
from goldrush.replay.study.inference import interval, spearman
from goldrush.replay.study.plan import Cell
from tests.replay.study.made_up import made, results

ROSTER = "greedy-mine"
HERE, THERE = Cell("scarce", ROSTER, 9), Cell(BASELINE, ROSTER, 9)


# pairs


def test_runs_are_paired_by_seed_whatever_their_order() -> None:
    ours = [made(HERE, seed, run={"turnover": float(seed)}) for seed in (2, 0, 1)]
    theirs = [made(THERE, seed, run={"turnover": 10.0 * seed}) for seed in (0, 1, 2)]
    [found] = against_baseline(results(*ours, *theirs))

    assert (HERE, THERE, False) == (found.cell, found.baseline, found.identical)
    assert list(MEASURES) == list(found.differences)
    assert interval([0.0, -9.0, -18.0]) == found.differences["turnover"]


def test_seeds_that_one_side_has_not_are_left_out() -> None:
    ours = [made(HERE, seed, run={"idle": float(seed)}) for seed in (0, 1, 2, 7)]
    theirs = [made(THERE, seed, run={"idle": 0.0}) for seed in (1, 2, 3)]
    [found] = against_baseline(results(*ours, *theirs))

    assert interval([1.0, 2.0]) == found.differences["idle"]


def test_seeds_without_data_on_one_side_are_left_out_for_that_measure() -> None:
    ours = [made(HERE, seed, run={"half_life": None if seed else 5.0}) for seed in (0, 1)]
    theirs = [made(THERE, seed, run={"half_life": 3.0}) for seed in (0, 1)]
    [found] = against_baseline(results(*ours, *theirs))

    assert interval([2.0]) == found.differences["half_life"]
    assert interval([0.0, 0.0]) == found.differences["idle"]


def test_rosters_and_horizons_have_a_baseline_of_their_own() -> None:
    cells = [
        Cell(t, roster, rounds)
        for t in (BASELINE, "scarce")
        for roster in (ROSTER, "random")
        for rounds in (5, 9)
    ]
    found = against_baseline(results(*map(made, cells)))

    assert cells[4:] == [one.cell for one in found]
    assert cells[:4] == [one.baseline for one in found]


def test_without_a_baseline_nothing_is_compared() -> None:
    assert [] == against_baseline(results(made(HERE), made(Cell(BASELINE, "random", 9))))


# the null


def test_the_null_of_a_cell_plays_the_same_under_the_same_treatment() -> None:
    cells = [Cell(t, r, 9) for t in (BASELINE, "scarce") for r in (ROSTER, "random", "raid")]
    found = nulls(results(*map(made, cells)))

    assert {cell: Cell(cell.treatment, "random", 9) for cell in cells} == found


def test_the_null_has_as_many_agents() -> None:
    many = made(Cell(BASELINE, "many", 9), settings={"agents": 20})
    blind = Cell(BASELINE, "random", 9)

    assert {blind: blind} == nulls(results(many, made(blind)))


def test_two_nulls_are_each_their_own() -> None:
    cells = [Cell(BASELINE, name, 9) for name in ("random", "random,random")]
    runs = [made(cell, policies=["random"] * 10) for cell in cells]

    assert {cell: cell for cell in cells} == nulls(results(*runs))


# identical by construction, held against what runs come to

ROSTERS = (*POLICIES, "random,raid", "tit-for-tat-raid,greedy-mine,defend", "mine,raid,claim")


def config(treatment: str, roster: str, seed: int) -> MiningConfig:
    return prepare({"seed": seed, "rounds": 30}, roster, treatment)[0]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The derived events of a run, by configuration and roster; each is played once."""
    folder = tmp_path_factory.mktemp("runs")

    @cache
    def derived(treatment: str, roster: str, seed: int) -> list[Any]:
        path = folder / f"{treatment}-{roster}-{seed}.journal"
        record(path, {"seed": seed, "rounds": 30}, roster, treatment=treatment)
        return derived_in(path)

    return derived


def derived_in(path: Path) -> list[Any]:
    own = ("run_started", "submitted", "round_closed", "run_ended")
    with JournalReader(path) as reader:
        return [
            (event.name, event.fields)
            for event in fold.events(MINING, reader)
            if event.name not in own
        ]


def policies(roster: str) -> list[str]:
    return [entry.policy for entry in prepare({"rounds": 1}, roster)[1].entries]


@pytest.mark.parametrize("roster", ROSTERS)
def test_what_is_called_identical_by_construction_is_identical_when_it_is_played(
    roster: str, played: Any
) -> None:
    for treatment in TREATMENTS:
        if treatment == BASELINE:
            continue
        theirs, ours = (config(name, roster, 0) for name in (BASELINE, treatment))
        if same_by_construction(ours, theirs, policies(roster)):
            for seed in (0, 1, 2):
                assert played(BASELINE, roster, seed) == played(treatment, roster, seed)


@pytest.mark.parametrize("roster", ROSTERS)
def test_what_the_rules_name_is_called_identical(roster: str) -> None:
    """History and communication for scripted policies, truce 0 where nobody speculates."""
    base = config(BASELINE, roster, 0)
    found = {
        name
        for name in TREATMENTS
        if same_by_construction(config(name, roster, 0), base, policies(roster))
    }
    never = {BASELINE, "history-1", "history-all", "communication"}

    assert (never if "raid" in roster.split(",") else never | {"truce-0"}) == found


def test_a_raider_makes_a_truce_of_0_another_game(played: Any) -> None:
    assert any(
        played(BASELINE, "raid", seed) != played("truce-0", "raid", seed) for seed in (0, 1, 2)
    )


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({}, True),
        ({"seed": 5}, True),
        ({"visibility": "all", "communication": True}, True),
        ({"detection": 0.5, "fine": 9.0}, True),
        ({"truce": 0}, True),
        ({"truce": 2}, False),
        ({"authority": "adjudicate"}, False),
        ({"rounds": 31}, False),
        ({"alpha": 1.5}, False),
        ({"alpha_by_plot": [1.0] * 99 + [2.0]}, False),
        ({"stamina_by_agent": [10] * 9 + [9]}, False),
        ({"defense": "pointwise", "visibility": 1}, False),
        ({"agents": 11}, False),
        ({"rows": 5, "cols": 20}, False),
    ],
    ids=str,
)
def test_only_settings_that_nobody_looks_at_may_differ(changes: dict[str, Any], same: bool) -> None:
    base = {"rounds": 30, "agents": 10}
    ours, theirs = config_of({**base, **changes}), config_of(base)

    assert same == same_by_construction(ours, theirs, [ROSTER] * 10)
    assert same == same_by_construction(theirs, ours, [ROSTER] * 10)


def test_where_there_is_an_authority_its_chance_and_fine_count() -> None:
    base = {"rounds": 30, "agents": 10, "authority": "punish"}
    for change in ({"detection": 0.5}, {"fine": 9.0}):
        ours, theirs = config_of({**base, **change}), config_of(base)

        assert not same_by_construction(ours, theirs, [ROSTER] * 10)


@pytest.mark.parametrize("policy", ["llm:a", "recorded", "package.module:Class"])
def test_one_policy_that_may_look_is_enough_not_to_be_identical(policy: str) -> None:
    ours, theirs = config_of({"agents": 10, "visibility": 1}), config_of({"agents": 10})

    assert not same_by_construction(ours, theirs, [ROSTER] * 9 + [policy])
    assert not same_by_construction(theirs, theirs, [policy])


def test_what_is_identical_is_not_compared() -> None:
    cells = [Cell(t, ROSTER, 9) for t in (BASELINE, "history-1", "scarce")]
    found = results(*map(made, cells))

    assert {cells[1]: cells[0]} == identical_cells(found)
    assert [(cells[1], True, {}), (cells[2], False, list(MEASURES))] == [
        (one.cell, one.identical, one.differences and list(one.differences))
        for one in against_baseline(found)
    ]


# the trade-off


def test_the_trade_off_is_over_the_runs_of_each_roster_and_of_all() -> None:
    figures = [(0.1, 0.5, 0.9), (0.2, 0.4, 0.7), (0.3, 0.2, 0.8), (0.4, 0.3, 0.1)]
    runs = [
        made(Cell(t, roster, 9), seed, run={"turnover": a + shift, "gini": b, "hhi": c})
        for t, shift in ((BASELINE, 0.0), ("scarce", 0.05))
        for roster in (ROSTER, "random")
        for seed, (a, b, c) in enumerate(figures)
    ]
    found = {one.roster: one for one in trade_offs(results(*runs))}
    turnover = [a for a, _, _ in figures] + [a + 0.05 for a, _, _ in figures]

    assert [None, ROSTER, "random"] == list(found)
    for place, name in ((1, "gini"), (2, "hhi")):
        of = [each[place] for each in figures] * 2
        assert spearman(of, turnover) == getattr(found["random"], name)
    assert (16, 8) == (found[None].gini.n, found[ROSTER].hhi.n)


def test_the_trade_off_counts_runs_that_are_identical_by_construction_once() -> None:
    runs = [made(Cell(t, ROSTER, 9), seed) for t in (BASELINE, "history-1") for seed in range(5)]

    assert {5} == {one.gini.n for one in trade_offs(results(*runs))}


def test_every_horizon_has_a_trade_off_of_its_own() -> None:
    runs = [made(Cell(BASELINE, ROSTER, rounds), seed) for rounds in (5, 9) for seed in range(4)]

    assert [(None, 5), (ROSTER, 5), (None, 9), (ROSTER, 9)] == [
        (one.roster, one.rounds) for one in trade_offs(results(*runs))
    ]
