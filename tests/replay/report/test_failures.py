"""Reports on studies of language models: whether they played stands above what is said of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from goldrush.agents.llm.failures import Failures
from goldrush.replay.journal.taken import Taken
from goldrush.replay.report.failures import LINES_MAX, hardly_played
from goldrush.replay.report.models import model_tables
from goldrush.replay.report.page import StudyPage
from goldrush.replay.report.report import report
from goldrush.replay.report.reported import study_of
from goldrush.replay.report.values import answers
from goldrush.replay.study.measuring import results_of
from goldrush.replay.study.plan import plan_of
from goldrush.replay.study.records import Cell
from goldrush.replay.study.study import Study
from tests.llm.runs import models, playing
from tests.llm.servers import Asked, Reply, completion, serving
from tests.replay.report.pages import Page
from tests.replay.study.made_up import made, results

# From 3.12 on Python warns of a fork beside threads, which the test runner has.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

TEN = "llm:a,llm:b,raid,raid,llm:a,llm:b,raid,raid,llm:a,llm:b"
PLAN = plan_of(treatments=["scarce", "scarce-20"], rosters={"both": TEN}, seeds=1, rounds=4)
OF_CELLS = ("outcome", "treatments", "policies", "verdicts", "behind", "every", "means")
CUT = completion('{"actions": [[', "length", usage=(100, 500))


def respond(asked: Asked) -> Reply:
    """All answers of model a are cut off, and a few of b's."""
    return CUT if asked.body["model"] == "a-1" or asked.agent == 1 else playing(asked)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("studies") / "study"
    with serving(respond) as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda fd: None)
        chosen = models(server.address, "a", "b")
        study = Study.play(PLAN, folder, jobs=1, models=chosen)
    assert [Failures("a", 36, {"cut": 36}), Failures("b", 36, {"cut": 8})] == study.failures()
    return folder


LINES = [
    "scarce, both, 4 rounds: llm:a: 12 of 12 answers cut off",
    "scarce-20, both, 4 rounds: llm:a: 24 of 24 answers cut off",
]


def test_that_models_hardly_played_stands_above_what_was_found(study: Path, tmp_path: Path) -> None:
    page, path = report(study, tmp_path / "page.html", jobs=1)
    text = Page(path.read_text(encoding="utf-8")).text

    assert LINES == hardly_played(page.study.results)
    for line in LINES:
        assert text.index(line) < text.index("compare 2 treatments")


def test_failures_stand_in_a_table_and_in_the_answers(study: Path) -> None:
    found = results_of(study, jobs=1)
    table = model_tables(study_of(found))[0]
    told = json.loads(json.dumps(answers(study_of(found))))

    assert [
        ["a", "12", *["0", "12", "0", "0", "0", "0"], "100% (hardly played)", "0"],
        ["b", "12", *["0", "4", "0", "0", "0", "0"], "33%", "0"],
    ] == [[str(cell) for cell in row[3:13]] for row in table.rows[:2]]
    assert LINES == told["hardly_played"]
    assert [("a", 12, {"cut": 12}, True), ("b", 12, {"cut": 4}, False)] == [
        (one["model"], one["answers"], one["kinds"], one["hardly_played"])
        for one in told["models"]
        if one["treatment"] == "scarce"
    ]


def test_the_share_of_failed_answers_stands_with_every_number_of_a_cell(study: Path) -> None:
    page = StudyPage(study_of(results_of(study, jobs=1), criteria=True))
    tables = {name: table for name, table in page.tables.items() if name.startswith(OF_CELLS)}
    shares = "Failed answers of models: 67% in scarce, both, 4 rounds; 58% in scarce-20, both, 4"

    assert {"outcome", "treatments", "policies", "every-treatment", "means-1"} <= tables.keys()
    for table in (f"{table.csv} {table.caption}" for table in tables.values()):
        assert ("failed answers" in table, True) == (True, "67%" in table or "58%" in table)
    captions = [figure.caption for figure in page.figures.values()]
    assert [] == [caption for caption in captions if "ailed answers of models: " not in caption]
    assert any(shares in caption for caption in captions)


def test_only_so_many_models_are_named_above_the_verdicts_and_as_text() -> None:
    cells = [Cell("scarce", f"llm:m*{n}", 5) for n in range(LINES_MAX + 3)]
    taken = (
        Taken("<b>\u202e", 20, {"no-json": 11}, 0, 0, 0, 0, 0, 0, 0, None, (), (), ()),
    )  # fmt: skip
    found = results(*(attrs.evolve(made(cell), taken=taken) for cell in cells))
    said = StudyPage(study_of(found)).html().partition("<h2")[0].partition("</p>")[0]
    table = model_tables(study_of(found))[0]

    assert LINES_MAX == said.count("&lt;b&gt;\\u202e")
    assert len(cells) == len(table.rows) == len(answers(study_of(found))["hardly_played"])
