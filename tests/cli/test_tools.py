"""`log`, `diff`, `audit`, `fork` and `verify` over folders, as a person or a CI calls them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from goldrush import open as open_run
from goldrush.kernel.worlds.mining import MINING
from tests.cli.helpers import ROOT, assert_refused, cold, goldrush
from tests.journals import commits_of, damaged, forged, redrawn
from tests.mining import fork, record

ROUNDS = 12
LOUD = """
from goldrush.kernel.worlds.mining.submit import Plan

class Loud:
    def plan(self, seen, draws):
        print("a policy prints this")
        return Plan([("claim", p, 1) for p in seen.unowned[:2]], memo="\\x1b[31m\\x07\\u202e")
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of journals that no test changes: a run, a fork of it, a bad copy."""
    folder = tmp_path_factory.mktemp("kept")
    a = folder / "a.journal"
    record(a, {"seed": 7, "rounds": ROUNDS}, treatment="authority-punish")
    fork(a, 5, folder / "fork.journal", settings={"alpha": 2.0})
    damaged(a, folder / "damaged.journal", 6)
    return folder


def exported(path: Path) -> list[dict[str, Any]]:
    ran = goldrush("export", path, cwd=path.parent)
    assert ran.code == 0
    return [json.loads(line) for line in ran.out.splitlines()]


# log


# audit


def contested(path: Path) -> dict[str, Any]:
    return next(e for e in exported(path) if e["event"] == "claim_drawn" and e["words"])


def test_why_without_a_round_names_all_that_have_something(tmp_path: Path) -> None:
    record(tmp_path / "long.journal", {"seed": 7, "rounds": 30})
    rounds = json.loads(goldrush("why", "long.journal", "--json", cwd=tmp_path).out)
    text = goldrush("why", "long.journal", cwd=tmp_path).out

    assert sorted({each.unit for each in open_run(tmp_path / "long.journal").why()}) == rounds
    assert text.startswith(f"rounds with something to explain (--at): {rounds[0]}")


def test_why_of_a_run_with_nothing_to_explain_names_the_log(tmp_path: Path) -> None:
    goldrush("record", "--rounds", 1, "--agents", 1, "--out", "quiet.journal", cwd=tmp_path)
    of_run = goldrush("why", "quiet.journal", cwd=tmp_path)
    of_agent = goldrush("why", "quiet.journal", "--agent", 0, cwd=tmp_path)

    assert_refused(of_run, "nothing in quiet.journal can be explained", "log quiet.journal` lists")
    assert_refused(of_agent, "nothing there can be explained; `python -m goldrush why")


def test_draws_that_do_not_hold_exit_with_1(kept: Path, tmp_path: Path) -> None:
    forged(tmp_path / "one.journal", MINING, redrawn(commits_of(kept / "a.journal")))
    good = goldrush("audit", kept / "a.journal", cwd=tmp_path)
    ran = goldrush("audit", "one.journal", "--json", cwd=tmp_path)
    plot = contested(tmp_path / "one.journal")["plot"]
    one = goldrush("audit", "one.journal", "--at", 1, "--plot", plot, cwd=tmp_path)

    assert (0, 1, "") == (good.code, ran.code, ran.err)
    assert [plot] == [draw["plot"] for draw in json.loads(ran.out) if not draw["holds"]]
    assert (1, "", True) == (one.code, one.err, "NO: the key gives" in one.out)


# verify


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_policies_print_is_not_among_the_verdicts(tmp_path: Path, jobs: int) -> None:
    (tmp_path / "loud.py").write_text(LOUD)
    for name in ("a.journal", "b.journal"):
        goldrush("record", "--rounds", 2, "--roster", "loud:Loud*2", "--out", name, cwd=tmp_path)
    ran = goldrush(
        "verify", "a.journal", "b.journal", "--trust", "loud:Loud", "--jobs", jobs, "--json",
        cwd=tmp_path,
    )  # fmt: skip

    assert ran.code == 0
    assert "a policy prints this" not in ran.out
    assert [True, True] == [outcome["holds"] for outcome in json.loads(ran.out)]


# fork


def test_submissions_are_put_in_from_a_file_and_from_standard_input(
    kept: Path, tmp_path: Path
) -> None:
    lines = [{"round": 6, "agent": agent, "actions": [], "memo": "by hand"} for agent in (3, 4)]
    text = "\n\n".join(map(json.dumps, lines)) + "\n"
    (tmp_path / "by-hand.jsonl").write_text(text)
    arguments = ("fork", kept / "a.journal", "--at", 5, "--replace-submission")
    from_file = goldrush(*arguments, "by-hand.jsonl", "--out", "b.journal", cwd=tmp_path)
    from_stdin = cold(*arguments, "-", "--out", "c.journal", cwd=tmp_path, input=text)
    memos = [event.get("memo") for event in exported(tmp_path / "b.journal")]

    assert (0, 0) == (from_file.code, from_stdin.code)
    assert (tmp_path / "b.journal").read_bytes() == (tmp_path / "c.journal").read_bytes()
    assert 2 == memos.count("by hand")


# all


@pytest.mark.parametrize(
    ("command", "code"),
    [("log a.journal", 0), ("diff a.journal fork.journal", 1),
     ("verify a.journal damaged.journal --jobs 2", 1)],
)  # fmt: skip
def test_a_reader_that_goes_away_is_no_error(kept: Path, command: str, code: int) -> None:
    """The pipe is closed before anything is written to it: codes that are answers are the same."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "goldrush", *command.split()],
        cwd=kept, stdout=write, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True, timeout=600,
    )  # fmt: skip
    os.close(write)

    assert (code, "") == (done.returncode, done.stderr)
