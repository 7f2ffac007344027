"""The page of a folder: what it says of each run is what the run says of itself; other files are
told apart; and everything on it is reached by pointer, keyboard and address.
"""

import json
import operator
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from goldrush.games.epidemic import Epidemic
from goldrush.kernel.errors import BadInput
from goldrush.kernel.measures import Value, mean
from goldrush.replay.data.course import course_of
from goldrush.replay.data.sampling import Sampling
from goldrush.replay.run import Run
from goldrush.replay.study.outcomes import outcome_named
from goldrush.replay.study.study import Study, study
from goldrush.replay.text import format_number
from goldrush.replay.view.chart import short
from goldrush.replay.view.folder import runs_in
from goldrush.replay.view.overview import write_overview
from tests.browser import PHONE, WIDE, Tab
from tests.golden import season_path
from tests.journals import commits_of, write
from tests.pages import data_of

HOSTILE = "<b>&amp;'{{data}} .journal"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of 24 runs, a run of a hostile name, a season, and files that are no whole runs."""
    base = tmp_path_factory.mktemp("overview") / "runs"
    study(
        base / "study", treatments=["baseline", "scarce"], seeds=6, rounds=8, jobs=1,
        rosters={"greedy": "greedy-mine*4", "mixed": "greedy-mine*3,raid"}, agents=4,
    )  # fmt: skip
    run = Run.record(base / HOSTILE, seed=3, rounds=90, roster="random*3", alpha=0.5)
    commits = commits_of(run.path)
    write(base / "unfinished.journal", commits[:31])
    data = bytearray(Path(run.path).read_bytes())
    data[len(data) // 2] ^= 1
    (base / "damaged.journal").write_bytes(data)
    (base / "torn.journal").write_bytes(data[: len(data) // 3])
    (base / "foreign.journal").write_text("hello\n")
    (base / "gone.journal").symlink_to(base / "nowhere")
    shutil.copy(season_path("every-code"), base / "season.journal")
    shutil.copy(run.path, base / "study/scarce/mixed/rounds-8/seed-0005.journal")
    return base


@pytest.fixture
def opened(folder: Path, tmp_path: Path, new_tab: Callable[..., Tab]) -> Callable[..., Tab]:
    """Opens the page of the folder at an address."""
    page = write_overview(folder, tmp_path / "page.html", jobs=1, force=True).path

    def made(address: str = "", scheme: str = "light", size: dict[str, int] = WIDE) -> Tab:
        tab = new_tab(scheme, size)
        tab.page.goto(page.as_uri() + address)
        tab.page.wait_for_selector("html[data-ready]")
        return tab

    return made


def test_files_that_are_no_whole_runs_are_told_with_why(folder: Path) -> None:
    reasons = runs_in(folder, jobs=1).left_out

    assert "unfinished: 30 rounds of 90 closed" == reasons["unfinished.journal"]
    assert "checksum" in reasons["damaged.journal"]
    assert "torn tail" in reasons["torn.journal"]
    assert "not a goldrush journal" in reasons["foreign.journal"]
    assert "gone.journal" in reasons
    assert "the manifest" in reasons["study/scarce/mixed/rounds-8/seed-0005.journal"]
    assert 6 == len(reasons)


def test_units_with_other_agents_are_left_out_of_a_course() -> None:
    sampling = Sampling[Mapping[str, Sequence[Value]]](10)
    for unit, gold in enumerate([[1], [2], [3, 5]], 1):
        sampling.add(unit, {"gold": gold})
    course = course_of(sampling, 3, {"gold": [3, 5]}, ["raid", "mine"])

    assert (3,) == tuple(course.units)
    assert {"gold": {"raid": (3,), "mine": (5,)}} == course.means


def test_the_course_of_a_run_is_that_of_its_states(tmp_path: Path) -> None:
    run = Run.record(tmp_path / "a.journal", seed=5, rounds=150, roster="greedy-mine*2,raid*2")
    measured = run.measured()
    course = measured.course

    assert 150 == course.units[-1]
    assert 30 < len(course.units) <= 61
    for place, unit in enumerate(course.units):
        gold = run.at(unit).state.gold
        assert mean(gold[:2]) == course.means["gold"]["greedy-mine"][place]
        assert mean(gold[2:]) == course.means["gold"]["raid"][place]


def test_a_study_that_is_not_finished_is_shown(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "study", tmp_path / "study")
    manifest = json.loads((tmp_path / "study/manifest.json").read_text())
    for run in manifest["runs"][:2]:
        (tmp_path / "study" / run["path"]).unlink()
        run.update(sha256=None, bytes=None)
    (tmp_path / "study/manifest.json").write_text(json.dumps(manifest))
    page = Study.open(tmp_path / "study").view(jobs=1)

    assert tmp_path / "study/runs.html" == page
    assert 2 == page.read_text().count("</code>: not played</li>")


def test_runs_are_in_the_order_of_treatment_roster_length_and_seed(tmp_path: Path) -> None:
    for index, seed in enumerate((3, 20, 1)):
        for rounds in (5, 4):
            path = tmp_path / f"{index}-{rounds}.journal"
            Run.record(path, seed=seed, rounds=rounds, roster="greedy-mine*2")
    Run.record(tmp_path / "0.journal", seed=9, rounds=4, roster="greedy-mine*2", alpha=2.0)
    [world] = _data(write_overview(tmp_path, jobs=1).path)["worlds"]

    assert [("agents=2", 4), ("agents=2", 5), ("agents=2 alpha=2.0", 4)] == [
        (cell["treatment"], cell["rounds"]) for cell in world["cells"]
    ]
    assert [(4, 1), (4, 3), (4, 20), (5, 1), (5, 3), (5, 20), (4, 9)] == [
        (run["units"], run["seed"]) for run in world["runs"]
    ]


def test_measures_of_the_user_are_columns_and_can_be_charted(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.py").write_text(
        "def raided(events):\n    return sum(e.name == 'raid_resolved' for e in events)\n"
        "def kept(state):\n    'gold kept'\n    return [gold / 2 for gold in state.gold]\n"
        "def owed(state):\n    return state.debts\n"
    )
    monkeypatch.chdir(tmp_path)
    own = ["own.py:raided", "own.py:kept"]
    page = Study.open(folder / "study").view("page.html", outcome="kept", measures=own, jobs=1)
    [world] = _data(page)["worlds"]
    column = [measure["name"] for measure in world["columns"]].index("raided")

    earned = [row["outcome"] for row in world["runs"]]
    ends = " to ".join(map(format_number, (min(earned), max(earned))))
    assert ends in page.read_text().partition("<h1>")[2].partition("</h1>")[0]
    assert "kept" == world["outcome"]["name"]
    assert 23 == len(world["runs"])
    for row in world["runs"]:
        run = Run.open(tmp_path / row["path"])
        measured = run.measures(own)
        assert pytest.approx(measured["raided"], rel=1e-5) == row["values"][column]
        assert pytest.approx(measured["kept"], rel=1e-5) == row["outcome"]
        standings = run.outcome("kept", measures=own).standings
        assert standings[0].policy == row["ahead"]
    with pytest.raises(BadInput, match=r"no run can be measured .* measure owed in round 1 failed"):
        Study.open(folder / "study").view("other.html", measures="own.py:owed", jobs=1)


@pytest.mark.parametrize("outcome", ["attack", "ill"])
def test_a_run_has_the_numbers_of_its_table_and_its_points_however_early_it_ends(
    outcome: str, tmp_path: Path
) -> None:
    made = study(
        tmp_path / "study", world=Epidemic, treatments="baseline", seeds=4, jobs=1, rounds=[36, 72],
        people=60,
    )  # fmt: skip
    written = write_overview(made.folder, tmp_path / "page.html", outcome=outcome, jobs=1)
    [world] = _data(written.path)["worlds"]
    table = {(row["days"], row["seed"]): row for row in made.table().to_pylist()}
    results = made.results()
    measured = {(run.cell.rounds, run.seed): run for of in results.by_cell.values() for run in of}

    for run in world["runs"]:
        key = (world["cells"][run["cell"]]["rounds"], run["seed"])
        row = table.pop(key)
        assert short(row[outcome]) == run["outcome"]
        assert [short(row[column["name"]]) for column in world["columns"]] == run["values"]
        curve = outcome_named(results, outcome).curves(measured[key])[""]
        spans, points = zip(*curve.values(), strict=True)
        lengths = [span.last - span.first + 1 for span in spans]
        assert run["units"] == spans[-1].last <= key[0]
        if outcome == "attack":
            assert ({1}, row["attack"]) == (set(lengths), points[-1])
        else:
            assert (1, run["units"]) == (spans[0].first, sum(lengths))
            added = sum(map(operator.mul, points, lengths)) / run["units"]
            assert added == pytest.approx(row["ill"], rel=1e-5)
    assert {} == table
    assert len({run["units"] for run in world["runs"]}) > 2


def test_runs_of_no_study_that_end_early_are_alike(tmp_path: Path) -> None:
    for seed in range(3):
        Run.record(tmp_path / f"{seed}.journal", world=Epidemic, seed=seed, people=30)
    [world] = _data(write_overview(tmp_path, tmp_path / "page.html", jobs=1).path)["worlds"]

    assert [200] == [cell["rounds"] for cell in world["cells"]]
    assert 1 < len({run["units"] for run in world["runs"]})


def test_runs_without_a_seed_and_of_two_studies_are_draws_of_their_own(tmp_path: Path) -> None:
    for name in "ab":
        study(tmp_path / name, treatments="baseline", rosters="random*3", rounds=4, seeds=[3, 5],
              jobs=1, agents=3, **({} if name == "a" else {"alpha": 0.3}))  # fmt: skip
    shutil.copy(tmp_path / "a/baseline/random_3/rounds-4/seed-0003.journal", tmp_path / "c.journal")
    runs = runs_in(tmp_path, jobs=1).runs
    cells: dict[Any, list[str]] = {}
    for run in runs:
        cells.setdefault(run.cell, []).append(run.draw)

    assert [4, 1] == [len(set(draws)) for draws in cells.values()]


def _data(page: Path) -> Any:
    return data_of(page.read_text())


# In a browser


def rows(tab: Tab, world: int = 0) -> list[list[str]]:
    """The cells of the table that are seen."""
    cells = "rows => rows.map(row => Array.from(row.cells, cell => cell.innerText.trim()))"
    found = tab.page.locator(f"#world-{world} .runs-table tbody tr").evaluate_all(cells)
    return list(found)


def test_runs_are_filtered_and_sorted_by_keys_and_the_address_keeps_it(
    opened: Callable[..., Tab],
) -> None:
    tab = opened()
    world = tab.page.locator("#world-0")
    assert 24 == len(rows(tab))
    world.get_by_label("Treatment").select_option("scarce")
    world.get_by_label("Seeds").fill("0-2, 4")
    world.locator(".count", has_text="8 of").wait_for()
    header = world.get_by_role("button", name="gold, mean")
    header.focus()
    tab.press("Enter", "Enter")

    sorted_by = world.locator("th[aria-sort]")
    assert "descending" == sorted_by.get_attribute("aria-sort")
    gold = [float(row[5].replace(",", "")) for row in rows(tab)]
    assert sorted(gold, reverse=True) == gold
    assert {"0", "1", "2", "4"} == {row[3] for row in rows(tab)}
    again = opened(f"#{tab.moment}")
    assert rows(tab) == rows(again)
    world.get_by_role("button", name="Show all").click()
    assert 24 == len(rows(tab))


def test_anybody_can_use_the_page_of_a_folder(opened: Callable[..., Tab]) -> None:
    tab = opened("#treatment=scarce&roster=greedy", "dark", PHONE)
    for details in tab.page.locator("header summary").all():
        details.click()
    assert [] == tab.violations()
    assert not tab.page.evaluate("document.documentElement.scrollWidth > innerWidth")
