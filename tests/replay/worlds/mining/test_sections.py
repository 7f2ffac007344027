"""What a report says of mining alone: pressure, the trade-off, treatments in words."""

import re

from goldrush.replay.report.page import StudyPage
from goldrush.replay.report.reported import study_of
from goldrush.replay.report.tables import ReportTable
from goldrush.replay.study.records import Cell
from goldrush.replay.worlds.mining.sections import tables_of
from goldrush.replay.worlds.mining.study import MiningResult
from tests.replay.report.pages import Page
from tests.replay.study.made_up import made, results


def tables(*runs: MiningResult) -> dict[str, ReportTable]:
    return {table.name: table for table in tables_of(study_of(results(*runs)))}


def said(*runs: MiningResult) -> str:
    """All that is to be read on the page of these runs."""
    return Page(StudyPage(study_of(results(*runs))).html()).text


def test_what_differs_by_arithmetic_alone_is_named() -> None:
    cells = [Cell(t, "raid", 9) for t in ("baseline", "agents-20", "cap-2", "scarce", "scarce-20")]
    says = said(*map(made, cells))

    assert "so the differences of agents-20, scarce, scarce-20 are not due to behaviour" in says
    assert "arithmetically, so the" not in said(*map(made, (cells[0], cells[2])))


def test_a_correlation_of_one_has_no_interval() -> None:
    runs = [
        made(Cell("scarce", "raid", 9), n, run={"turnover": n, "gini": n, "hhi": (n - 1) ** 2})
        for n in range(5)
    ]
    table = tables(*runs)["trade-off"]

    assert "1.00" == table.rows[0][3]
    assert re.fullmatch(r"0\.\d+ \[.+\]", str(table.rows[0][4]))
    assert "A correlation of 1 or −1 has no interval" in said(*runs)
