"""The report of a small study: what is on the page, that it follows from what stands beside it."""

import hashlib
import json
import re
import shutil
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from goldrush.kernel.errors import BadInput
from goldrush.kernel.files import MARK
from goldrush.replay.report import report as module
from goldrush.replay.report.answer import NULL_NOTE
from goldrush.replay.report.chapter import PLAIN
from goldrush.replay.report.numbers import p_value
from goldrush.replay.report.page import StudyPage
from goldrush.replay.report.report import report
from goldrush.replay.report.reported import ReportedStudy, StudyQuestion, study_of
from goldrush.replay.report.tables import Marked, ReportTable
from goldrush.replay.report.values import answers
from goldrush.replay.report.verdicts import criteria_tables
from goldrush.replay.studies import Criteria
from goldrush.replay.study.measuring import results_of
from goldrush.replay.study.records import Cell
from goldrush.replay.worlds.mining.study import STUDIES
from tests.browser import PHONE, Tab
from tests.plugins.installed import with_parts
from tests.replay.report.pages import Page, Seen, studied
from tests.replay.study.made_up import CRITERIA, EXPECTED, made, results
from tests.replay.study.test_verdicts import ALL, cell_of

# From 3.12 on Python warns of a fork beside threads, which the test runner has.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

CHANGE = StudyQuestion(criteria=True)  # change over time, too


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that no test changes but for the report in it."""
    return studied(
        tmp_path_factory.mktemp("studies") / "study",
        treatments=["baseline", "history-1", "scarce"], rosters=["random", "mixed"], seeds=2,
        rounds=10,
    )  # fmt: skip


@pytest.fixture(scope="module")
def html(study: Path) -> str:
    return report(study, jobs=2, question=CHANGE).path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The smallest study: one treatment, one roster, one seed, few rounds."""
    return studied(
        tmp_path_factory.mktemp("studies") / "small",
        treatments=["scarce"], rosters=["raid"], seeds=1, rounds=5,
    )  # fmt: skip


# the page


def test_a_page_fetches_and_runs_nothing_and_allows_its_one_style_sheet_by_name(
    html: str, page: Page
) -> None:
    [policy] = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', html)
    [sheet] = re.findall(r"<style[^>]*>(.*?)</style>", html, re.DOTALL)
    name = b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    held = re.sub(r'href="data:text/csv[^"]*"', "", html)  # files to be kept

    assert html.index("Content-Security-Policy") < html.index("<style")
    assert {
        "default-src": ["'none'"], "style-src": [f"'sha256-{name}'"],
        "base-uri": ["'none'"], "form-action": ["'none'"],
    } == {part.split()[0]: part.split()[1:] for part in policy.split("; ")}  # fmt: skip
    assert [] == re.findall(r"""(?:https?:)?//[^\s"'<>]+|@import|url\(| href="data:""", held)
    assert not {"script", "link", "img", "iframe", "object", "image", "base"} & set(page.tags)
    assert not [at for _, at, _ in page.attributes if at.startswith(("on", "style", "script"))]
    assert all(link.startswith("#") for link in page.links)


def test_every_name_is_unique_every_link_leads_somewhere_and_pictures_are_xml(page: Page) -> None:
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert len(page.svgs) > 50


def test_the_same_study_gives_the_same_page(small: Path, tmp_path: Path) -> None:
    """Wherever it is, and by however many processes."""
    first = report(small, jobs=2).path.read_bytes()
    shutil.copytree(small, tmp_path / "elsewhere")

    assert first == report(tmp_path / "elsewhere", tmp_path / "page.html", jobs=1).path.read_bytes()


def test_what_is_identical_by_construction_is_said_and_not_compared(page: Page) -> None:
    assert "history-1" in page.text
    for table in page.tables:
        assert not any("history-1" in cell for row in table.rows for cell in row)


def test_a_browser_shows_it_without_an_error_and_everybody_can_read_it(
    html: str, study: Path, new_tab: Callable[..., Tab]
) -> None:
    tab = new_tab("dark", PHONE)
    tab.page.goto((study / "report.html").as_uri())

    assert [] == tab.violations()
    assert PHONE["width"] == tab.page.evaluate("document.documentElement.scrollWidth")


# verdicts follow from their tables


def number(text: str) -> float | None:
    text = text.replace("−", "-").replace("\u00a0", "").replace(",", "")
    return None if text == "–" else 0.0005 if text.startswith("<") else float(text)


def shows(row: dict[str, str]) -> str:
    """What a sub-measure shows alone, from nothing but the figures of its row."""
    found = re.match(r"(\d+) of\s(\d+)(?: \((\d+) with data\))?", row["seeds as expected"])
    assert found is not None
    right, seeds, wrong, same = (int(n) for n in (found[1], found[2], row["opposite"], row["same"]))
    data = int(found[3] or seeds)
    assert data == right + wrong + same
    holm, opposite = number(row["Holm"]), number(row["Holm, opposite"])
    if not data:
        return "no data"
    if same == data:
        return "no change at all" if same >= 0.75 * seeds else "unclear"
    if holm is not None and holm < 0.05 and right >= 0.75 * seeds:
        return "as expected"
    if opposite is not None and opposite < 0.05 and wrong >= 0.75 * seeds:
        return "opposite"
    return "unclear"


def criterion(shown: list[str]) -> str:
    if all(one == "as expected" for one in shown):
        return "supported"
    with_data = {one for one in shown if one != "no data"}
    if "opposite" in shown or with_data == {"no change at all"}:
        return "not supported"
    return "undecided"


def assert_verdicts_follow(tables: list[Seen]) -> int:
    """Work every verdict out again from the tables; how many families there were."""
    [verdicts] = [
        t for t in tables if "Verdicts on each criterion, with N = 10 and with N = 20." in t.caption
    ]
    every = [table for table in tables if table.head[0] == "sub-measure"]
    behind = [table for table in every if not table.caption.endswith(f"{NULL_NOTE}.")]
    families = [verdicts.rows[at : at + 4] for at in range(0, len(verdicts.rows), 4)]
    assert len(behind) == len(families) == len(every) - 1
    for table, family in zip(behind, families, strict=True):
        treatments, roster, rounds, pressures = family[0][:4]
        assert f"{roster}, {treatments}, {rounds} rounds, pressure {pressures}" in table.caption
        rows = [dict(zip(table.head, row, strict=True)) for row in table.rows]
        assert 14 == len(rows)
        by_size: dict[str, dict[str, str]] = {"10": {}, "20": {}}
        for name, row in zip((n for n in EXPECTED for _ in "ab"), rows, strict=True):
            alone, _, null = row["shows"].partition(", ")
            assert shows(row) == alone
            by_size[row["N"]][name] = null or alone
        for (*_, at, cell, _), (name, parts) in zip(family, CRITERIA.items(), strict=True):
            assert at == name
            outcomes = {criterion([found[p] for p in parts]) for found in by_size.values()}
            expected = (
                "undecided" if "null" in cell.partition("decided ")[2]
                and "as the null" not in cell
                else "supported" if outcomes == {"supported"}
                else "not supported" if "not supported" in outcomes
                else "undecided"
            )  # fmt: skip
            assert cell.startswith(expected), (name, cell, by_size)
    return len(families)


def test_verdicts_of_all_kinds_follow_from_their_tables() -> None:
    opposite = {name: [(b, a) for a, b in halves] for name, halves in ALL.items()}
    none = ALL | {"respect": [(None, 1.0)] * 20, "idle": [(1.0, 1.0)] * 20}
    runs = []
    for roster, changes in (
        ("greedy-mine", ALL), ("raid", opposite), ("mine", none), ("mixed", {}),
        ("random", {"turnover": ALL["turnover"]}),
    ):  # fmt: skip
        for treatment in ("baseline", "agents-20"):
            runs += cell_of(changes, treatment, roster)
    parts = criteria_tables(study_of(results(*runs)))
    tables = [
        Seen(
            part.caption, list(part.head),
            [[f"{c.verdict} {c.why}" if isinstance(c, Marked) else c for c in row]
             for row in part.rows],
        )
        for part in parts
    ]  # fmt: skip

    assert 4 == assert_verdicts_follow(tables)
    verdicts: dict[str, list[str]] = {}
    for row in tables[0].rows:
        verdicts.setdefault(row[1], []).append(row[5].partition("ed ")[0])
    assert ["undecid", "support", "support", "support"] == verdicts["greedy-mine"]
    assert ["not support"] * 4 == verdicts["mixed"]


def test_the_tables_have_p_values_before_and_after_the_correction() -> None:
    halves = {"turnover": [(1.0, 1.0 + 0.01 * (n - 6)) for n in range(20)]}
    runs = [r for t in ("baseline", "agents-20") for r in cell_of(halves, t, "greedy-mine")]
    study = study_of(results(*runs))
    found = study.assessment.findings(runs[0].cell)["turnover"]
    table = named(study)["behind-1"]
    row = dict(zip(table.head, table.rows[0], strict=True))

    assert len({found.change.p, found.change.p_opposite, found.holm, found.holm_opposite}) >= 3
    assert [p_value(p) for p in (found.change.p, found.holm, found.holm_opposite)] == [
        row[name] for name in ("p", "Holm", "Holm, opposite")
    ]


def named(study: ReportedStudy) -> dict[str, ReportTable]:
    """The tables on its criteria by name."""
    return {table.name: table for table in criteria_tables(study)}


# studies of all shapes


@pytest.mark.parametrize(
    "plan",
    [
        {"rounds": [1, 5], "settings": {"stamina": 0}},
        {"treatments": ["cap-2"], "rosters": ["greedy-mine*2"], "settings": {"rows": 1, "cols": 1}},
    ],
    ids=str,
)  # fmt: skip
def test_small_and_odd_studies_have_a_page(plan: dict[str, Any], tmp_path: Path) -> None:
    given = {"treatments": ["baseline"], "rosters": ["raid"], "seeds": 1, "rounds": 5} | plan
    study = studied(tmp_path / "study", **given)
    page = Page(report(study, jobs=1, question=CHANGE).path.read_text(encoding="utf-8"))

    assert "nan" not in page.text.lower()
    assert "nan" not in {value for *_, value in page.attributes}
    assert "No verdicts" in page.text
    json.dumps(answers(results_of(study, jobs=1), CHANGE), allow_nan=False)


def test_forty_treatments_have_a_section_each() -> None:
    found = results(
        *(made(Cell(f"own-{n}", "raid", 9), settings={"alpha": 1.0 + n}) for n in range(45))
    )
    page = StudyPage(study_of(found, question=CHANGE))
    anchors = re.findall(r'<h3 id="(t\d+)">Treatment own-', page.html())

    assert 45 == len(set(anchors)) == len([t for t in page.tables if t.startswith("means-")])
    assert {f"own-{n}" for n in range(45)} == {row["x"] for row in page.figures["by-run"].data}


def test_how_many_seeds_have_a_value_is_told_where_not_all_do() -> None:
    runs = [
        made(Cell("baseline", "raid", 9), n, run={"respect": 2.0 if n else None}) for n in (0, 1)
    ]
    table = StudyPage(study_of(results(*runs))).tables["means-1"]
    values = {row[0]: row[1] for row in table.rows}

    assert "2 (1 of 2)" == values["respect for first possession"]
    assert "1 ± 0" == values["turnover rate"]


def test_every_treatment_is_judged_with_its_own_number_of_agents() -> None:
    study = study_of(results(*cell_of(ALL, "agents-20"), *cell_of({}, "agents-20", "random")))
    table = named(study)["every-treatment"]

    cells = [cell.verdict if isinstance(cell, Marked) else cell for cell in table.rows[0]]
    seen = ["as expected"] * 4
    assert ["agents-20", "greedy-mine", "0.8", "20", *seen] == cells
    assert "as expected (respect for first possession: as expected)" == (str(table.rows[0][-1]))


# where it is written


@pytest.fixture
def measured(small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The smallest study, measured already."""
    found = results_of(small)
    monkeypatch.setattr(module, "results_of", lambda folder, **_: found)
    return small


def test_an_earlier_report_is_replaced_and_another_file_only_by_force(
    measured: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    page.write_text(mine := f"# of another file {MARK}")
    with pytest.raises(BadInput, match="--force"):
        report(measured, page)
    assert mine == page.read_text()

    whole = report(measured, page, force=True).path.read_bytes()
    page.write_bytes(whole + b"and more")
    report(measured, page)
    assert whole == page.read_bytes()

    page.write_text("of somebody else")
    with pytest.raises(BadInput):
        report(measured, page, force=True)
    assert "of somebody else" == page.read_text()


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_measured(
    measured: Path, tmp_path: Path
) -> None:
    steps: list[str] = []
    for out in ("", "no/page.html"):
        with pytest.raises(BadInput):
            report(measured, tmp_path / out, on_step=lambda what, _, __: steps.append(what))

    assert [] == steps


# a world without criteria, and without anything of its own


def test_a_world_that_is_not_judged_has_a_page_of_its_measures_alone() -> None:
    runs = [
        made(Cell(t, "raid", 9), seed, run={"gini": 0.1 * len(t)}, settings=settings)
        for t, settings in (("baseline", {}), ("scarce", {"alpha_by_plot": (2.0,) * 30}))
        for seed in range(3)
    ]
    found = results(*runs)
    bare = attrs.evolve(STUDIES, criteria=Criteria(), covariate=None, compared=None)
    of = with_parts(found.of, studies=bare, chapter=PLAIN)
    study = study_of(attrs.evolve(found, of=of), question=CHANGE)
    page = StudyPage(study)
    text = Page(page.html()).text

    assert [] == study.assessment.verdicts == criteria_tables(study)
    assert "No verdicts" in text
    assert {"by-run", "forest"} <= set(page.figures)
    assert not {"trade-off", "survival"} & set(page.figures)
    assert "ressure" not in text
