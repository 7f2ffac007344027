"""`goldrush report`, as a person calls it: pages, answers, and the commands that a page gives."""

import csv
import hashlib
import json
import math
import os
import re
import shlex
import shutil
from collections import Counter
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goldrush.replay.study.inference import interval
from goldrush.replay.study.measuring import results_of
from goldrush.replay.study.records import Cell
from goldrush.replay.study.verdicts import Assessment
from goldrush.replay.worlds.mining.measures import MEASURES
from tests.cli.helpers import Ran, assert_refused, goldrush
from tests.replay.report.pages import Page, studied
from tests.replay.study.made_up import CRITERIA, results
from tests.replay.study.test_verdicts import ALL, Changes, cell_of

# From 3.12 on Python warns of a fork beside threads, which the test runner has.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that no test changes but for the report in it."""
    return studied(
        tmp_path_factory.mktemp("studies") / "study",
        treatments=["baseline", "agents-20"], rosters=["mixed", "random"], seeds=3, rounds=30,
    )  # fmt: skip


@pytest.fixture(scope="module")
def told(study: Path) -> Ran:
    return goldrush("report", "study", "--criteria", cwd=study.parent)


@pytest.fixture(scope="module")
def answered(study: Path) -> dict[str, Any]:
    ran = goldrush("report", "study", "--json", "--criteria", cwd=study.parent)
    assert (0, "") == (ran.code, ran.err)

    def refuse(text: str) -> None:
        raise AssertionError(text)

    found = json.loads(ran.out, parse_constant=refuse)
    assert isinstance(found, dict)
    return found


def test_the_page_stands_in_the_folder_of_the_study_and_the_verdicts_are_told(
    told: Ran, study: Path, answered: dict[str, Any]
) -> None:
    *sentences, empty = told.out.splitlines()[:4]
    lines = told.out.splitlines()[4:]
    rows = [re.split(r"  +", line) for line in lines[1 : lines.index("")]]
    verdicts = [verdict for *_, verdict, _ in rows]

    assert (0, "page: study/report.html", "") == (told.code, lines[-1], told.err)
    assert ("", answered["answer"]) == (empty, sentences)
    assert ["treatments", "roster", "rounds", "criterion", "verdict", "because"] == lines[0].split()
    assert list(CRITERIA) == [row[3] for row in rows[: len(CRITERIA)]]
    assert [one["verdict"] for one in answered["verdicts"]] == verdicts
    assert len(verdicts) >= len(CRITERIA)
    assert "Verdicts" in Page((study / "report.html").read_text(encoding="utf-8")).text


def test_the_reason_of_each_verdict_is_told_beside_it() -> None:
    peace: Changes = {"raid_rate": [(0.0, 0.0)] * 20, "targeting": [(None, None)] * 20}
    runs = [
        run
        for roster, changes in (("greedy-mine", ALL | peace), ("random", {}))
        for treatment in ("baseline", "agents-20")
        for run in cell_of(changes, treatment, roster)
    ]
    lines = Assessment(results(*runs)).verdicts.format("rounds").splitlines()

    assert [
        ["stability", "turnover rate: as expected, survival of ownership: as expected"],
        ["efficiency", "efficiency: as expected, idle stamina rate: as expected"],
        ["conflict", "no conflict to reduce"],
        ["norms", "respect for first possession: as expected"],
    ] == [re.split(r"  +", line)[3::2] for line in lines[1:]]


def commands_of(page: Path) -> list[str]:
    """The commands that a report gives."""
    found = re.findall(r"<pre><code>(.*?)</code></pre>", page.read_text(encoding="utf-8"))
    return [unescape(command) for command in found]


def test_the_command_of_the_page_runs_in_the_folder_of_the_study(told: Ran, study: Path) -> None:
    [command] = commands_of(study / "report.html")
    program, *arguments = shlex.split(command)
    ran = goldrush(*arguments, cwd=study)

    assert ("goldrush", 0, "") == (program, ran.code, ran.err)
    assert set(json.loads(ran.out)) >= {"answer", "comparisons", "outcome"}


def test_a_command_gives_the_figures_that_are_drawn(told: Ran, study: Path) -> None:
    """Halves, rounds, spells and gold of a cell, from what is printed, and from the results."""
    cell = Cell("baseline", "mixed", 30)
    results = results_of(study, jobs=1).by_cell[cell]
    arguments = ("baseline/mixed", "--by-round", "--json")
    runs = json.loads(goldrush("measure", *arguments, cwd=study).out)
    rows = csv.DictReader(
        goldrush(
            "export", "baseline/mixed", "--format", "csv", "--table", "agents", cwd=study
        ).out.splitlines()
    )
    gold = [float(row["gold"]) for row in rows if row["round"] == "30"]
    table = ("--format", "csv", "--table", "spells")
    spells = goldrush("export", "baseline/mixed", *table, cwd=study).out.splitlines()[1:]

    assert 3 == len(runs) == len(results)
    assert [g for result in results for g in result.by_agent["gold"]] == gold
    for run, result in zip(runs, results, strict=True):
        for name, (first, second) in result.halves.items():
            assert first == run["halves"]["first_half"][name]
            assert second == run["halves"]["second_half"][name]
        turnover = [row["turnover"] for row in run["by_round"]]
        windows = [turnover[n] for n in range(30)]  # of one round each
        assert list(result.curves["turnover"]) == windows
    assert sum(sum(one.kept.lengths.values()) for one in results) == len(spells)


def test_the_answers_are_plain_values(answered: dict[str, Any]) -> None:
    assert {
        "folder", "runs", "answer", "outcome", "comparisons", "models", "hardly_played", "verdicts",
        "cells", "against_baseline", "trade_off", "theory",
    } == set(answered)  # fmt: skip
    assert ("study", 12) == (answered["folder"], answered["runs"])
    assert Counter(mixed=4) == Counter(one["roster"] for one in answered["verdicts"])
    assert {("baseline", "agents-20")} == {tuple(v["treatments"]) for v in answered["verdicts"]}
    assert {0.4, 0.8} == {cell["pressure"] for cell in answered["cells"]}
    assert {"agents-20", "baseline"} == {
        judged["cell"]["treatment"]
        for verdict in answered["verdicts"]
        for judged in verdict["by_size"].values()
    }
    for cell in answered["cells"]:
        for key in ("criteria", "criteria_without_burn_in"):
            assert 7 == sum(len(one["findings"]) for one in cell[key])
    assert {"possession", "defending"} == set(answered["theory"])


def test_the_answers_are_differences_of_runs_of_the_same_seed(
    answered: dict[str, Any], study: Path
) -> None:
    by_cell = results_of(study, jobs=1).by_cell
    for found in answered["against_baseline"]:
        ours = by_cell[Cell("agents-20", found["roster"], 30)]
        theirs = by_cell[Cell("baseline", found["roster"], 30)]

        assert list(MEASURES) == list(found["differences"])
        gaps = [a.run["gini"] - b.run["gini"] for a, b in zip(ours, theirs, strict=True)]  # type: ignore[operator]
        assert interval(gaps).mean == pytest.approx(found["differences"]["gini"]["mean"])
        low = np.mean(gaps) - 4.302653 * np.std(gaps, ddof=1) / math.sqrt(3)
        assert low == pytest.approx(found["differences"]["gini"]["low"])


def test_answers_write_nothing(study: Path, tmp_path: Path) -> None:
    copy = tmp_path / "study"
    shutil.copytree(study, copy, ignore=shutil.ignore_patterns("report*"))
    before = sorted(os.walk(copy))
    goldrush("report", copy, "--json", cwd=tmp_path)

    assert before == sorted(os.walk(copy))


def test_figures_are_written_for_a_paper_and_named(tmp_path: Path) -> None:
    study = studied(tmp_path / "study", treatments=["scarce"], rosters=["raid"], seeds=2, rounds=5)
    options = ("--figures", "figures", "--jobs", "1")
    ran = goldrush("report", study, *options, cwd=tmp_path)
    names = {"answer", "by-run", "rounds-gini", "trade-off", "survival"}
    written = {path.name: path.read_bytes() for path in (tmp_path / "figures").iterdir()}

    said = ran.out.partition("figures: ")[2].partition(" in figures, each as .pdf, .png, .csv")[0]
    kinds = ("pdf", "png", "csv", "tex")
    assert names < set(said.split(", "))
    assert {f"{name}.{kind}" for name in said.split(", ") for kind in kinds} == set(written)
    assert ran == goldrush("report", study, *options, "--force", cwd=tmp_path)
    assert written == {path.name: path.read_bytes() for path in (tmp_path / "figures").iterdir()}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere"], "nowhere holds no study (no manifest.json)"),
        (["."], ". holds no study"),
        (["study", "--out", "no/page.html"], "no such folder; create the folder first"),
        (["study", "--out", "study"], "study is a folder; give the path of a file"),
        (["study", "--json", "--out", "a.html"], "--json writes no page; leave out --out"),
        (["study", "--json", "--force"], "--json writes no page; leave out --force"),
        (["study", "--json", "--figures", "f"], "--json writes no page; leave out --figures"),
        (["study", "--width", "single"], "a width was given without a folder of figures"),
        (["study", "--figures", "study"], "study holds 'agents-20', which is not a figure"),
        (["study", "--figures", "study/manifest.json"], "cannot read study/manifest.json: not a"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    study: Path, arguments: list[str], says: str
) -> None:
    assert_refused(goldrush("report", *arguments, cwd=study.parent), says)


def test_a_study_with_a_changed_journal_is_refused(study: Path, tmp_path: Path) -> None:
    copy = tmp_path / "study"
    shutil.copytree(study, copy)
    journal = copy / "baseline" / "mixed" / "rounds-30" / "seed-0001.journal"
    journal.write_bytes(journal.read_bytes()[:-1] + b"\0")
    for options in ([], ["--json"]):
        assert_refused(
            goldrush("report", "study", *options, cwd=tmp_path),
            "study/baseline/mixed/rounds-30/seed-0001.journal is not the journal that the manifest",
            "run the study's command again",
        )


def test_what_is_no_page_is_never_written_over(study: Path, tmp_path: Path) -> None:
    journal = next(study.rglob("*.journal"))
    for out, says in ((study / "manifest.json", "not recognised"), (journal, "is a journal")):
        before = out.read_bytes()
        refused = goldrush("report", study, "--out", out, "--force", cwd=tmp_path)

        assert_refused(refused, says)
        assert before == out.read_bytes()


def test_change_over_time_is_asked_for(study: Path, tmp_path: Path) -> None:
    ran = goldrush("report", study, "--out", "page.html", cwd=tmp_path)
    page = (tmp_path / "page.html").read_text()
    answers = json.loads(goldrush("report", study, "--json", cwd=tmp_path).out)

    assert (0, 5) == (ran.code, len(ran.out.splitlines()))
    assert not {"verdicts", "cells"} & set(answers)
    assert 'id="criteria"' not in page
    assert "Half against half" not in page


def test_a_page_takes_the_question_of_its_author(study: Path, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "def seized(events):\n    'plots raided, a round'\n"
        "    return sum(event.name == 'raid_resolved' for event in events)\n"
    )
    options = ("--measure", "own.py:seized", "--outcome", "seized")
    ran = goldrush(
        "report", study, *options, "--out", "page.html", cwd=tmp_path,
    )  # fmt: skip
    page = Page((tmp_path / "page.html").read_text())
    answers = json.loads(goldrush("report", study, *options, "--json", cwd=tmp_path).out)
    digest = hashlib.sha256((tmp_path / "own.py").read_bytes()).hexdigest()

    assert (0, "") == (ran.code, ran.err)
    assert "the outcome is plots raided, a round, as mean over the rounds." in page.text
    assert digest in page.text
    assert [digest] == [one["sha256"] for one in answers["outcome"]["measures"]]
    [command] = commands_of(tmp_path / "page.html")
    assert goldrush(*shlex.split(command)[1:], cwd=study).code == 0


def test_an_outcome_that_is_none_is_refused(study: Path, tmp_path: Path) -> None:
    assert_refused(goldrush("report", study, "--outcome", "x", cwd=tmp_path), "no measure")
