"""What a report says of mining alone: theory, pressure, the trade-off, treatments in words."""

import re

import pytest

from goldrush.replay.report.page import StudyPage
from goldrush.replay.report.reported import study_of
from goldrush.replay.report.tables import ReportTable
from goldrush.replay.study.records import Cell
from goldrush.replay.worlds.mining.counting import Tie
from goldrush.replay.worlds.mining.sections import tables_of
from goldrush.replay.worlds.mining.theory import MiningResult
from tests.replay.report.pages import Page
from tests.replay.study.made_up import made, results


def theory_tables(*runs: MiningResult) -> dict[str, ReportTable]:
    return {table.name: table for table in tables_of(study_of(results(*runs)))}


def said(*runs: MiningResult) -> str:
    """All that is to be read on the page of these runs."""
    return Page(StudyPage(study_of(results(*runs))).html()).text


def tied(kind: str, first: int, second: int) -> list[Tie]:
    places = [0] * first + [1] * second
    return [Tie(kind, n, len(kind), 2, place) for n, place in enumerate(places)]


def test_fair_draws_are_rejected_only_after_the_correction() -> None:
    """38 of 60 for one place has p = 0.039 alone, and four are asked; 60 of 60 leaves no doubt."""
    cell = Cell("baseline", "raid", 9)
    for counts, raids in (((38, 22), "not rejected"), ((60, 0), "rejected")):
        ties = tied("claim", 30, 30) + tied("raid", *counts)
        shown = {
            (row[0], row[1]): row[-1] for row in theory_tables(made(cell, ties=ties))["ties"].rows
        }

        assert "not rejected" == shown["claims", "2"]
        assert raids == shown["raids", "2"] == shown["raids", "all"]


def test_few_draws_are_said_to_be_too_few() -> None:
    """And no figure of a test that nobody may trust is shown."""
    ties = tied("claim", 9, 0)
    table = theory_tables(made(Cell("baseline", "raid", 9), ties=ties))["ties"]
    rows = [dict(zip(table.head, map(str, row), strict=True)) for row in table.rows]

    assert ["too few draws"] * 2 == [row["1/k"] for row in rows]
    for row in rows:
        assert ["–"] * 3 == [row[name] for name in ("chi-square", "p", "Holm")]


@pytest.mark.parametrize(
    ("counts", "defense", "seen"),
    [
        ((0, 0, 0, 0), "absolute", "no defended plot was raided"),
        ((9, 0, 0, 0), "absolute", "as the rule says"),
        ((9, 0, 0, 1), "absolute", "contradicted"),
        ((8, 1, 0, 1), "pointwise", "as the rule says"),
        ((8, 3, 1, 2), "pointwise", "as the rule says"),
        ((8, 0, 0, 0), "pointwise", "as the rule says"),
        ((8, 1, 0, 0), "pointwise", "contradicted"),
        ((8, 1, 0, 2), "pointwise", "contradicted"),
    ],
)
def test_where_defence_breaks_is_held_against_its_rule(
    counts: tuple[int, ...], defense: str, seen: str
) -> None:
    names = ("defended_raided", "overrun", "defended_undone", "defended_captured")
    totals = dict(zip(names, counts, strict=True))
    run = made(Cell("own", "raid", 9), totals=totals, settings={"defense": defense})
    row = theory_tables(run)["breaking"].rows[0]

    assert [defense, *map(str, counts), seen] == [*row[:5], row[6]]


def test_rosters_of_other_sizes_are_named_where_pressure_differs() -> None:
    runs = [
        made(Cell("baseline", "few", 9)),
        made(Cell("baseline", "many", 9), settings={"agents": 30}),
        made(Cell("scarce", "few", 9)),
    ]
    says = said(*runs)

    assert "Under baseline (for few) it is below 1" in says
    assert "The question is tested where it is 1 or more: baseline (for many), scarce." in says
    assert "Treatment baseline, 9 rounds, pressure 0.4 or 1.2" in says


def test_what_differs_by_arithmetic_alone_is_named() -> None:
    cells = [Cell(t, "raid", 9) for t in ("baseline", "agents-20", "cap-2", "scarce", "scarce-20")]
    says = said(*map(made, cells))

    assert "The intervals are not corrected for multiple comparisons." in says
    assert "so the differences of agents-20, scarce, scarce-20 are not due to behaviour" in says
    assert "arithmetically, so the" not in said(*map(made, (cells[0], cells[2])))


def test_a_correlation_of_one_has_no_interval() -> None:
    runs = [
        made(Cell("scarce", "raid", 9), n, run={"turnover": n, "gini": n, "hhi": (n - 1) ** 2})
        for n in range(5)
    ]
    table = theory_tables(*runs)["trade-off"]

    assert "1.00" == table.rows[0][3]
    assert re.fullmatch(r"0\.\d+ \[.+\]", str(table.rows[0][4]))
    assert "A correlation of 1 or −1 has no interval" in said(*runs)


@pytest.mark.parametrize(
    ("treatment", "begins"),
    [
        ("baseline", "The default configuration. 10 x 10 plots, 10 agents, 10 stamina each, cap"),
        ("scarce-20", "5 x 6 plots, 20 agents, 10 stamina each, cap"),
        ("agents-20", "10 x 10 plots, 20 agents, 10 stamina each, cap"),
        ("stamina-8", "10 x 10 plots, 10 agents, 8 stamina each, cap"),
        ("cap-2", "2 stamina at most pay on a plot. 10 x 10 plots"),
        ("alpha-rich", "A fifth of the plots pays double. 10 x 10 plots"),
    ],
)
def test_what_a_treatment_sets_is_said_once(treatment: str, begins: str) -> None:
    assert f" {begins}" in said(made(Cell(treatment, "raid", 9))).replace("\n", " ")
