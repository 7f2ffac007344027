"""`goldrush season`, and what the other commands say of a season."""

import json
import sys
from pathlib import Path

import pytest

from goldrush import open as open_run
from goldrush import record
from tests.cli.helpers import assert_refused, goldrush
from tests.journals import commits_of

# A program of one's own.

VOWELS = """#!{python}
import json, sys
text = sys.stdin.read()
print(json.dumps({{"value": sum(letter in "aeiou" for letter in text) + {more}}}))
"""
ARENA = "command[agenda=agenda.toml;seeds=1]"
AGENDA = """
[[subject]]
treatment = "words"
objective = "vowels"
better = "up"
task = "Many vowels."
start = "one 1 two 2"
"""


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a season that a program of its own tested, and with another program."""
    folder = tmp_path_factory.mktemp("command")
    (folder / "agenda.toml").write_text(AGENDA)
    for name, more in (("test.py", 0), ("other.py", 1)):
        (folder / name).write_text(VOWELS.format(python=sys.executable, more=more))
        (folder / name).chmod(0o755)
    ran = goldrush(
        "season", "--arena", ARENA, "--test", "./test.py",
        "--assignments", 2, "--workers", 3, "--set", "trials=[2,2]", "--set", "rounds_max=2",
        "--jobs", 2, "--out", "s.journal", cwd=folder,
    )  # fmt: skip
    assert 0 == ran.code, ran.err
    return folder


def test_a_season_under_a_program_is_asked_again_with_it(tested: Path) -> None:
    without = goldrush("verify", "s.journal", cwd=tested)
    whole = goldrush("verify", "s.journal", "--test", "./test.py", cwd=tested)
    other = goldrush("verify", "s.journal", "--test", "./other.py", cwd=tested)

    assert (0, 0, 2) == (without.code, whole.code, other.code)
    assert "levels 1 to 3 (4 not checked, not asked again: all agents, whose acts" in without.out
    assert "holds at levels 1 to 4" in whole.out
    assert "" == whole.err
    assert "other.py has the SHA-256" in other.err


def test_python_plays_the_same_season_with_an_agenda_and_a_program(
    tested: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tested)
    run = record(
        tmp_path / "s.journal", world="competition", arena=ARENA, program="./test.py",
        assignments=2, workers=3, trials=[2, 2], rounds_max=2, jobs=2,
    )  # fmt: skip

    assert (tested / "s.journal").read_bytes() == run.path.read_bytes()
    opened = open_run(run.path, program="./test.py")
    assert not {*run.verify().not_asked, *opened.verify().not_asked}
    assert open_run(run.path).verify().not_asked


def test_resume_takes_the_program_that_tested_and_no_other(tested: Path, tmp_path: Path) -> None:
    whole, cut = tested / "s.journal", tmp_path / "cut.journal"
    cut.write_bytes(whole.read_bytes()[: commits_of(whole)[1].end])

    assert_refused(goldrush("resume", cut, cwd=tested), "give it (--test PROGRAM)")
    assert_refused(goldrush("resume", cut, "--test", "other.py", cwd=tested), "has the SHA-256")
    resumed = goldrush("resume", cut, "--test", "test.py", cwd=tested)
    assert 0 == resumed.code
    assert resumed.out.endswith(f"goldrush verify {cut} --test test.py\n")
    assert whole.read_bytes() == cut.read_bytes()


def test_a_fork_may_be_tested_by_another_program_and_says_so(tested: Path, tmp_path: Path) -> None:
    fork = ("fork", "s.journal", "--at", 0, "--out", tmp_path / "f.journal", "--force", "--test")
    same = goldrush(*fork, "test.py", cwd=tested)
    other = goldrush(*fork, "other.py", cwd=tested)
    told = goldrush("log", tmp_path / "f.journal", "--event", "forked", cwd=tested).out
    bars = goldrush("log", tmp_path / "f.journal", "--event", "tested", "--json", cwd=tested).out
    bar = {e["assignment"]: e["value"] for e in map(json.loads, bars.splitlines()) if not e["part"]}

    assert (0, "") == (same.code, same.err)
    assert (0, "goldrush: other.py is not the program that tested so far; the fork names it\n") == (
        other.code, other.err
    )  # fmt: skip
    assert 'another program, "other.py"' in told
    assert {0: 3, 1: 4} == bar
    assert 0 == goldrush("verify", tmp_path / "f.journal", "--level", 3, cwd=tested).code
    assert 2 == goldrush("verify", tmp_path / "f.journal", "--test", "other.py", cwd=tested).code
