"""A number of a study is worked out once: its page, the answer of its report, the table of runs,
the means of `measure` and the rows of its figures say the same of each outcome.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from goldrush.replay.data.groups import groups
from goldrush.replay.report.numbers import bounds
from goldrush.replay.study.inference import Interval
from goldrush.replay.study.outcomes import outcome_named
from goldrush.replay.study.records import Cell
from goldrush.replay.study.study import Study, study
from goldrush.replay.view.chart import short
from goldrush.replay.view.overview import write_overview
from tests.pages import data_of

KINDS: dict[str, dict[str, Any]] = {
    "mining": {
        "treatments": ["baseline", "scarce"], "seeds": 3, "rounds": 30, "agents": 4,
        "rosters": {"mixed": "greedy-mine*2,raid*2", "random": "random*4"},
    },
    "game": {"world": "goldrush.games.fishery:Fishery", "rosters": "share*3,greedy", "seeds": 3},
    "equal runs": {"world": "goldrush.games.public_goods:PublicGoods", "seeds": 3},
    "competition": {
        "world": "competition", "treatments": ["baseline", "no-memory"], "rosters": "scripted",
        "seeds": 2, "rounds": 2,
    },
}  # fmt: skip


MODEL = """
import random

class Walk:
    def __init__(self, seed=0, n=3):
        self.rng = random.Random(seed)
        self.x = n

    def step(self):
        self.x += self.rng.choice([-1, 2])
"""


@pytest.fixture(scope="module", params=[*KINDS, "model"])
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Study]:
    base = tmp_path_factory.mktemp(request.param)
    (base / "walk.py").write_text(MODEL)
    model = {"world": f"{base / 'walk.py'}:Walk", "seeds": 3, "rounds": 5,
             "treatments": {"more": {"n": 4}, "less": {"n": 2}}}  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("goldrush.agents.given._MAKERS", {})
        yield study(base / "study", jobs=1, **KINDS.get(request.param, model))


def cells_of(page: Path) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """The cells of a page with a line for each policy by its name."""
    [world] = data_of(page.read_text())["worlds"]
    for cell in world["cells"]:
        shown = Cell(cell["treatment"], cell["roster"], cell["rounds"])
        yield shown, {**cell, "lines": {policy: of for policy, *of in cell["lines"]}}


def _told(results: Any, cell: Cell) -> Cell:
    """A cell as an answer names it: without a roster where nobody plays."""
    played = any(run.policies for run in results.by_cell[cell])
    return cell if played else attrs.evolve(cell, roster="")


def test_page_report_table_and_measure_say_the_same(made: Study, tmp_path: Path) -> None:
    results = made.results(jobs=1)
    table = made.table(jobs=1).to_pylist()
    horizon = results.of.players.horizon
    means = groups([made.folder / run.path for run in made.manifest.runs], 1)
    by_cell = dict(zip(results.by_cell, means, strict=True))
    for name in results.measures.outcomes:
        answer = made.answer(name, jobs=1)
        page = write_overview(
            made.folder, tmp_path / "page.html", outcome=name, jobs=1, force=True
        ).path
        shown = {(each.cell, each.policy): each.values for each in answer.standings}
        for cell, on_page in cells_of(page):
            values = shown[_told(results, cell), ""]
            rows = [row for row in table
                    if (row["treatment"], row["roster"], row[horizon])
                    == (cell.treatment, cell.roster, cell.rounds)]  # fmt: skip
            defined = [row[name] for row in rows if row[name] is not None]
            assert values.mean == (pytest.approx(sum(defined) / len(defined)) if defined else None)
            assert values == by_cell[cell].means[name]
            assert values.n <= len({run.draw for run in results.by_cell[cell]})
            assert on_page["note"] == f"{len(rows)} runs, mean {bounds(values)}"
            _check_ends(results, name, cell, on_page, shown)


def _check_ends(
    results: Any, name: str, cell: Cell, on_page: Any, shown: dict[tuple[Cell, str], Interval]
) -> None:
    """The last point of a measure at the end is the number of the study, if no run ended early."""
    outcome, runs = outcome_named(results, name), results.by_cell[cell]
    if not outcome.at_end or len({run.units for run in runs}) > 1:
        return
    for policy, line in on_page["lines"].items():
        alone = len(on_page["lines"]) == 1
        values = shown[_told(results, cell), "" if alone else policy]
        assert [of[-1] for of in line] == [
            short(values.mean),
            short(values.low),
            short(values.high),
        ]


def test_the_figure_of_the_answer_has_its_numbers(made: Study) -> None:
    answer = made.answer(jobs=1)
    rows = {(row["series"], row["x"]): row for row in made.figure("answer").data
            if row["panel"] == answer.outcome.title}  # fmt: skip
    cells = [each for each in answer.standings if not each.policy]
    drawn = [
        (row["y"], row["low"], row["high"], row["n"])
        for each in cells
        for row in rows.values()
        if each.cell.treatment in str(row["x"]) and each.cell.roster in str(row["series"])
    ]

    assert {(v.mean, v.low, v.high, v.n) for v in (each.values for each in cells)} == set(drawn)
    assert len(drawn) == len(cells) > 0


def test_a_figure_over_the_units_has_the_means_of_the_curves(made: Study, tmp_path: Path) -> None:
    results = made.results(jobs=1)
    figures = made.figures()
    names = [name for name in results.measures.known
             if f"{results.of.vocabulary.units}-{name}" in figures]  # fmt: skip
    assert names
    for name in names:
        drawn: dict[tuple[object, object], list[float | None]] = {}
        for row in made.figure(f"{results.of.vocabulary.units}-{name}").data:
            assert not isinstance(row["y"], str)
            drawn.setdefault((row["panel"], row["series"]), []).append(short(row["y"]))
        page = write_overview(
            made.folder, tmp_path / "page.html", outcome=name, jobs=1, force=True
        ).path
        shown = [cell["lines"][""][0] for _, cell in cells_of(page) if cell["lines"]]
        assert drawn
        assert [each for each in drawn.values() if each not in shown] == []
