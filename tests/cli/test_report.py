"""`goldrush report`, as a person calls it: pages, answers, and the commands that a page gives."""

import hashlib
import json
import re
import shlex
from html import unescape
from pathlib import Path

import pytest

from tests.cli.helpers import assert_refused, goldrush
from tests.replay.report.pages import Page, studied

# From 3.12 on Python warns of a fork beside threads, which the test runner has.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that no test changes but for the report in it."""
    return studied(
        tmp_path_factory.mktemp("studies") / "study",
        treatments=["baseline", "agents-20"], rosters=["mixed", "random"], seeds=3, rounds=30,
    )  # fmt: skip


def commands_of(page: Path) -> list[str]:
    """The commands that a report gives."""
    found = re.findall(r"<pre><code>(.*?)</code></pre>", page.read_text(encoding="utf-8"))
    return [unescape(command) for command in found]


def test_the_command_of_the_page_runs_in_the_folder_of_the_study(study: Path) -> None:
    goldrush("report", "study", "--criteria", cwd=study.parent)
    [command] = commands_of(study / "report.html")
    program, *arguments = shlex.split(command)
    ran = goldrush(*arguments, cwd=study)

    assert ("goldrush", 0, "") == (program, ran.code, ran.err)
    assert set(json.loads(ran.out)) >= {"answer", "comparisons", "outcome"}


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
    assert_refused(goldrush("report", study, "--name-hosts", cwd=tmp_path), "file of --models")
