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
from tests.browser import PHONE, WIDE, Tab
from tests.plugins.installed import with_parts
from tests.replay.report.pages import Page, Seen, studied
from tests.replay.study.made_up import CRITERIA, EXPECTED, made, results
from tests.replay.study.test_verdicts import ALL, Changes, cell_of

# From 3.12 on Python warns of a fork beside threads, which the test runner has.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

CHANGE = StudyQuestion(criteria=True)  # change over time, too
TREATMENTS = ["baseline", "history-1", "scarce", "scarce-20"]
ROSTERS = ["random", "mixed", "tit-for-tat-raid"]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that no test changes but for the report in it."""
    return studied(
        tmp_path_factory.mktemp("studies") / "study",
        treatments=TREATMENTS, rosters=ROSTERS, seeds=3, rounds=30,
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


def test_the_page_says_what_was_played_and_by_whom(page: Page) -> None:
    assert "Agents claim, raid, defend and mine the plots of a grid" in page.text
    assert re.search(r"agents of the rosters: mixed \(\d+ greedy-mine, [^)]+\)\. ", page.text)


def test_the_page_needs_nothing_else(html: str, page: Page) -> None:
    held = re.sub(r'href="data:[^"]*"', "", html)  # files to be kept, which name what SVG is
    outside = re.findall(r"""(?:https?:)?//[^\s"'<>]+""", held)

    assert [] == outside
    assert not {"script", "link", "img", "iframe", "object", "image", "base"} & set(page.tags)
    assert [] == [name for _, name, _ in page.attributes if name.startswith("on")]
    assert "@import" not in html
    assert all(link.startswith("#") for link in page.links)


def test_the_policy_of_the_page_covers_all_that_is_in_it(html: str, page: Page) -> None:
    """Nothing can be fetched or run, and what is inline is allowed by name: one style sheet."""
    [policy] = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', html)
    allowed = {part.split()[0]: part.split()[1:] for part in policy.split("; ")}
    sheets = re.findall(r"<style[^>]*>(.*?)</style>", html, re.DOTALL)
    hashes = [b64encode(hashlib.sha256(sheet.encode()).digest()).decode() for sheet in sheets]

    assert html.index("Content-Security-Policy") < html.index("<style")
    assert 1 == len(sheets) == page.tags.count("style")
    assert {
        "default-src": ["'none'"],
        "style-src": [f"'sha256-{hashes[0]}'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    } == allowed
    assert not {"script", "style"} & {name for _, name, _ in page.attributes}
    assert not {"form", "a"} & {
        tag
        for tag, name, value in page.attributes
        if name == "href" and not value.startswith(("#", "data:text/csv"))
    }
    assert page.html.count(' href="data:') == len(
        re.findall(r' download="[^"]+" href="data:', html)
    )
    assert not [value for *_, value in page.attributes if "url(" in value]
    assert "url(" not in sheets[0]


def test_every_name_is_unique_and_every_link_leads_somewhere(page: Page) -> None:
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links} <= set(page.ids)


def test_every_picture_is_well_formed(page: Page) -> None:
    assert page.tags.count("figure") > 15
    assert len(page.svgs) > 100


def test_where_it_was_made_is_not_in_it(html: str, study: Path) -> None:
    assert str(study.parent) not in html
    assert "tmp" not in html


def test_the_same_study_gives_the_same_page(small: Path, tmp_path: Path) -> None:
    """Wherever it is, and by however many processes."""
    first = report(small, jobs=2).path.read_bytes()
    shutil.copytree(small, tmp_path / "elsewhere")

    assert first == report(tmp_path / "elsewhere", tmp_path / "page.html", jobs=1).path.read_bytes()


def test_what_it_comes_to_stands_before_all_else(html: str, page: Page) -> None:
    order = ['<p class="leads">', '<figure id="answer">', "<h2", "<table>", 'id="criteria"']

    assert sorted(order, key=html.index) == order
    assert 3 == html.partition("<figure")[0].count('<p class="leads">')
    assert [1, 2] == [int(tag[1]) for tag in page.tags if re.fullmatch("h[1-6]", tag)][:2]
    assert not re.search(
        r"`|\.\. |\w_\w|\b1 (round|run|seed|agent|journal)s\b",
        " ".join(text for tag, text in page.texts if tag in ("p", "figcaption", "span", "td")),
    )


def test_pressure_stands_beside_every_result(page: Page) -> None:
    for table in page.tables:
        says = " ".join([*table.head, table.caption])
        if table.caption or "roster" in table.head:
            about_all = {"rule", "runs", "tied", "definition", "b − a", "agent"} & set(table.head)
            assert "pressure" in says or about_all, says


def test_the_page_says_where_the_question_is_tested(page: Page) -> None:
    assert "Under baseline, history-1 it is below 1: nothing is scarce" in page.text
    assert "The question is tested where it is 1 or more: scarce, scarce-20." in page.text


def test_what_is_identical_by_construction_is_said_and_not_compared(page: Page) -> None:
    assert 3 == page.text.count("Identical by construction to the baseline, and so not shown: hist")
    for table in page.tables:
        assert not any("history-1" in cell for row in table.rows for cell in row)


def test_three_seeds_are_said_to_be_too_few(page: Page) -> None:
    assert (
        "With 3 seeds, the smallest possible p-value is 0.125 before the correction, so no "
        "sub-measure can pass the test in either direction. At least 8 seeds are needed."
    ) in page.text


@pytest.mark.turns
@pytest.mark.parametrize(("scheme", "size"), [("light", WIDE), ("dark", PHONE)])
def test_a_browser_shows_it_without_a_word_and_everybody_can_read_it(
    scheme: str, size: dict[str, int], html: str, study: Path, new_tab: Callable[..., Tab]
) -> None:
    tab = new_tab(scheme, size)
    tab.page.goto((study / "report.html").as_uri())

    assert [] == tab.violations()
    assert size["width"] == tab.page.evaluate("document.documentElement.scrollWidth")


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


def assert_verdicts_follow(page: Page) -> int:
    """Work every verdict out again from the tables of the page; how many there were."""
    [verdicts] = [
        t
        for t in page.tables
        if "Verdicts on each criterion, with N = 10 and with N = 20." in t.caption
    ]
    every = [table for table in page.tables if table.head[0] == "sub-measure"]
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


def test_every_verdict_follows_from_its_table(page: Page) -> None:
    assert 2 == assert_verdicts_follow(page)


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
    page = Page("")
    page.tables = tables

    assert 4 == assert_verdicts_follow(page)
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
        {"rounds": 1, "settings": {"stamina": 0}},
        {"rounds": [1, 5], "seeds": 2},
        {"rounds": 2, "settings": {"agents": 1}, "rosters": ["random"]},
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
    assert not re.search(r"\b1 (round|run|seed|roster|treatment)s\b", page.text)
    assert "No verdicts: a verdict compares 10 with 20 agents" in page.text
    [found] = [results_of(study, jobs=1)]
    json.dumps(answers(found, CHANGE), allow_nan=False)


def test_a_study_with_one_treatment_has_nothing_to_compare(small: Path) -> None:
    page = Page(report(small, jobs=1).path.read_text(encoding="utf-8"))

    assert "The study has no baseline, or no other treatment, to compare." in page.text
    assert "There is nothing to compare: one treatment, one roster and one policy." in page.text
    assert "Gold by treatment and roster: a study of 1 run " in page.text
    assert "1 run in 1 cell (treatment, roster, horizon) with n = 1 run each, seeds 0;" in page.text
    assert 2 == len(re.findall(r"\b1 run (?:of|in)\b", page.text))


def test_horizons_are_told_apart() -> None:
    found = results(
        *(made(Cell(t, "raid", rounds), seed, run={"gini": 0.1 * len(t)})
          for t in ("baseline", "scarce") for rounds in (100, 500) for seed in range(4))
    )  # fmt: skip
    page = StudyPage(study_of(found, question=CHANGE))
    settings = [settings for _, settings, _ in page.treatments]

    for rounds in (100, 500):
        assert f"{rounds} rounds" in page.figures[f"forest-{rounds}"].caption
    assert "Settings: rounds 100, rows 10" in settings[0]
    assert settings[1].endswith("Settings: rounds 500, all else as in baseline of 100 rounds.")
    assert settings[2].endswith("as in baseline of 100 rounds.")
    assert settings[3].endswith("as in baseline of 500 rounds.")
    assert "rounds 500" not in settings[3]


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


def test_no_outcome_of_one_number_of_agents_reads_like_a_verdict() -> None:
    opposite = {name: [(b, a) for a, b in halves] for name, halves in ALL.items()}
    runs = [*cell_of(opposite, "scarce"), *cell_of({}, "scarce", "random")]
    table = named(study_of(results(*runs)))["every-treatment"]
    says = {str(cell).partition(" (")[0] for row in table.rows for cell in row[4:]}

    assert {"not as expected", "unclear"} == says


def test_what_there_was_none_of_is_said_wherever_an_outcome_stands() -> None:
    """In the verdicts, in those over all rounds, and for every treatment."""
    calm: Changes = {"raid_rate": [(0.0, 0.0)] * 20, "targeting": [(None, None)] * 20}
    runs = [
        attrs.evolve(run, halves_whole=dict(run.halves) | {"raid_rate": (0.1, 0.0)})
        for treatment in ("baseline", "agents-20")
        for run in cell_of(calm, treatment, "greedy-mine")
    ]
    for treatment in ("baseline", "agents-20"):
        runs += cell_of({}, treatment, "random")
    study = study_of(results(*runs))
    tables = named(study)
    [conflict] = [row for row in tables["verdicts"].rows if row[4] == "conflict"]

    assert [
        "not supported (no conflict to reduce)",
        "undecided (raid rate: as expected, targeting of defence: no data)",
    ] == list(map(str, conflict[5:]))
    assert "not as expected (no conflict to reduce)" == str(tables["every-treatment"].rows[0][6])


# where it is written


@pytest.fixture
def drawn_once(small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The smallest study, measured already."""
    found = results_of(small)
    monkeypatch.setattr(module, "results_of", lambda folder, **_: found)
    return small


def test_an_output_that_is_there_is_kept_unless_forced(drawn_once: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(mine := f"# of another file {MARK}")
    with pytest.raises(BadInput, match=r"page.html already exists; .*--force"):
        report(drawn_once, page)
    assert mine == page.read_text()

    report(drawn_once, page, jobs=2, force=True)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_an_earlier_report_is_replaced_without_being_told(drawn_once: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    report(drawn_once, page)
    kept = page.read_bytes()
    page.write_bytes(kept + b"and more")
    report(drawn_once, page)

    assert kept == page.read_bytes()


def test_the_page_in_a_studys_folder_is_not_written_over_another(drawn_once: Path) -> None:
    page = drawn_once / "report.html"
    page.unlink(missing_ok=True)
    page.write_text("mine")
    try:
        for force in (False, True):
            with pytest.raises(BadInput, match=r"already exists and is not recognised"):
                report(drawn_once, force=force)
        assert "mine" == page.read_text()
    finally:
        page.unlink()


@pytest.mark.parametrize("kind", ["link", "dangling", "device"])
def test_a_page_is_never_written_through_a_link_or_to_a_device(
    kind: str, drawn_once: Path, tmp_path: Path
) -> None:
    page, target = tmp_path / "page.html", tmp_path / "target.html"
    if kind == "link":
        target.write_text("mine")
    if kind != "device":
        page.symlink_to(target)
    place = Path("/dev/null") if kind == "device" else page
    with pytest.raises(BadInput, match="is not an ordinary file"):
        report(drawn_once, place, force=True)

    assert (kind == "link") == target.exists()
    assert kind == "device" or page.is_symlink()


@pytest.mark.parametrize(("out", "says"), [("", "is a folder"), ("no/page.html", "no such folder")])
def test_a_place_that_cannot_be_written_is_refused_before_anything_is_measured(
    out: str, says: str, drawn_once: Path, tmp_path: Path
) -> None:
    told: list[str] = []
    with pytest.raises(BadInput, match=says):
        report(drawn_once, tmp_path / out, on_step=lambda what, _, __: told.append(what))

    assert [] == told


def test_what_is_under_way_is_told(small: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    report(small, tmp_path / "my page.html", jobs=1, on_step=lambda *step: told.append(step))

    assert ("measuring", 1, 1) == told[0]
    assert told[-1] == told[0]


def test_without_scipy_it_says_what_to_install(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "scipy", None)

    with pytest.raises(BadInput, match=r"needs scipy; install it: pip install"):
        report(small)


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
    assert "No verdicts: this world has no criteria." in text
    assert "5 x 6 plots for 10 agents. Settings: rows 5, cols 6, alpha by plot (2.0, 2.0, " in text
    assert ", 2.0), all else as in baseline." in text
    assert "Settings: rounds 9, rows 10, cols 10, agents 10, stamina 10, mining cap 3, " in text
    assert {"by-run", "forest"} <= set(page.figures)
    assert not {"trade-off", "survival"} & set(page.figures)
    assert "ressure" not in text
    assert "for Gini of gold and HHI of plots the value at the end" in text
