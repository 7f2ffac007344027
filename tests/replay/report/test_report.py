"""The report of a small study: what is on the page, that it follows from what stands beside it."""

import hashlib
import json
import re
import shutil
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest

from goldrush.kernel.errors import BadInput
from goldrush.kernel.files import MARK
from goldrush.replay.report import report as module
from goldrush.replay.report.numbers import p_value
from goldrush.replay.report.page import StudyPage
from goldrush.replay.report.report import report
from goldrush.replay.report.reported import ReportedStudy, study_of
from goldrush.replay.report.tables import Marked, ReportTable
from goldrush.replay.report.values import answers
from goldrush.replay.report.verdicts import criteria_tables
from goldrush.replay.study.measuring import results_of
from goldrush.replay.study.records import Cell
from goldrush.replay.study.verdicts import families
from tests.browser import PHONE, Tab
from tests.replay.report.pages import Page, studied
from tests.replay.study.made_up import EXPECTED, made, results
from tests.replay.study.test_verdicts import ALL, cell_of

# From 3.12 on Python warns of a fork beside threads, which the test runner has.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


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
    return report(study, jobs=2, criteria=True)[1].read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The smallest study: one treatment, one roster, one seed, few rounds."""
    return studied(
        tmp_path_factory.mktemp("studies") / "small",
        treatments=["scarce"], rosters=["raid"], seeds=1, rounds=1, settings={"stamina": 0},
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
    """Wherever it is, and by however many processes: even where nothing can be worked out."""
    first = report(small, jobs=2)[1].read_bytes()
    shutil.copytree(small, tmp_path / "elsewhere")

    assert first == report(tmp_path / "elsewhere", tmp_path / "page.html", jobs=1)[1].read_bytes()
    page = Page(first.decode())
    assert "nan" not in page.text.lower() + str([value for *_, value in page.attributes])
    json.dumps(answers(study_of(results_of(small, jobs=1), criteria=True)), allow_nan=False)


def test_what_is_identical_by_construction_is_said_and_not_compared(page: Page) -> None:
    assert "history-1" in page.text
    for table in page.tables:
        assert not any("history-1" in cell for row in table.rows for cell in row)


@pytest.mark.turns("pages for everybody")
def test_a_browser_shows_it_without_an_error_and_everybody_can_read_it(
    html: str, study: Path, new_tab: Callable[..., Tab]
) -> None:
    tab = new_tab("dark", PHONE)
    tab.page.goto((study / "report.html").as_uri())

    assert [] == tab.violations()
    assert PHONE["width"] == tab.page.evaluate("document.documentElement.scrollWidth")


# the criteria


def test_the_tables_of_criteria_have_the_findings_and_the_verdicts_of_the_study() -> None:
    opposite = {name: [(b, a) for a, b in halves] for name, halves in ALL.items()}
    unclear = {"turnover": [(1.0, 1.0 + 0.01 * (n - 6)) for n in range(20)]}
    runs = []
    for roster, changes in (
        ("greedy-mine", ALL), ("raid", opposite), ("mixed", unclear), ("random", {}),
    ):  # fmt: skip
        for treatment in ("baseline", "agents-20"):
            runs += cell_of(changes, treatment, roster)
    study = study_of(results(*runs))
    assessment, tables = study.assessment, named(study)

    assert [(one.criterion, one.verdict) for one in assessment.verdicts] == [
        (str(row[4]), row[5].verdict)
        for row in tables["verdicts"].rows
        if isinstance(row[5], Marked)
    ]
    for index, cells in enumerate(families(study.results), 1):
        table = tables[f"behind-{index}"]
        findings = [assessment.findings(cell)[name] for name in EXPECTED for cell in cells]
        for finding, values in zip(findings, table.rows, strict=True):
            row, change = dict(zip(table.head, map(str, values), strict=True)), finding.change
            assert row["seeds as expected"].startswith(f"{change.right} of")
            assert [str(change.wrong), str(change.same)] == [row["opposite"], row["same"]]
            ps = (change.p, finding.holm, finding.holm_opposite)
            assert [p_value(p) for p in ps] == [
                row[name] for name in ("p", "Holm", "Holm, opposite")
            ]
            assert finding.alone == row["shows"].partition(", ")[0]


def named(study: ReportedStudy) -> dict[str, ReportTable]:
    """The tables on its criteria by name."""
    return {table.name: table for table in criteria_tables(study)}


# studies of all shapes


def test_how_many_seeds_have_a_value_is_told_where_not_all_do() -> None:
    runs = [
        made(Cell("baseline", "raid", 9), n, run={"respect": 2.0 if n else None}) for n in (0, 1)
    ]
    table = StudyPage(study_of(results(*runs))).tables["means-1"]
    values = {row[0]: row[1] for row in table.rows}

    assert "2 (1 of 2)" == values["respect for first possession"]
    assert "1 ± 0" == values["turnover rate"]


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

    whole = report(measured, page, force=True)[1].read_bytes()
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
