"""`goldrush record`: what it writes, what it says, what it refuses."""

import json
import shlex
import shutil
import signal
from pathlib import Path

import pytest

from goldrush.kernel.files import JOURNAL
from goldrush.replay.journal.verify import verify
from tests.cli.helpers import assert_refused, bars_after, begun, goldrush, in_terminal
from tests.mining import record
from tests.waiting import HANGS, until


def test_a_second_run_without_out_takes_the_next_free_name(tmp_path: Path) -> None:
    for _ in range(2):
        goldrush("record", "--rounds", 2, cwd=tmp_path)

    assert sorted(path.name for path in (tmp_path / "journals").iterdir()) == [
        "mining-seed0-2.journal",
        "mining-seed0.journal",
    ]


def test_a_roster_that_cannot_be_recorded_does_not_touch_what_is_there(tmp_path: Path) -> None:
    name = "p" * 210
    (tmp_path / f"{name}.py").write_text(
        "class A:\n    def plan(self, seen, draws):\n        return []\n"
    )
    (tmp_path / "x.journal").write_bytes(JOURNAL)
    ran = goldrush("record", "--roster", f"{name}:A", "--out", "x.journal", "--force", cwd=tmp_path)

    assert_refused(ran, "entry 0 of the roster")
    assert (tmp_path / "x.journal").read_bytes() == JOURNAL


def test_a_treatment_of_a_file_is_recorded_as_its_settings(tmp_path: Path) -> None:
    """In a run, under a setting by hand, and in a fork."""
    (tmp_path / "own.toml").write_text(
        "seeds = 3\n[treatment.dense]\nrows = 4\nfine = 5.0\n[treatment.kind]\ntruce = 1\n"
    )
    record = ("record", "--rounds", 3, "--set", "fine=2.0")
    of_file = goldrush(*record, "--treatment", "own.toml:dense", "--json", cwd=tmp_path)
    goldrush(*record, "--set", "rows=4", "--out", "set.journal", cwd=tmp_path)
    journal = tmp_path / json.loads(of_file.out)["path"]
    fork = ("fork", "set.journal", "--at", 2)
    goldrush(*fork, "--treatment", "own.toml:kind", "--out", "a.journal", cwd=tmp_path)
    goldrush(*fork, "--set", "truce=1", "--out", "b.journal", cwd=tmp_path)
    both = ("--treatment", "own.toml:kind", "--set", "truce=2")
    forked = goldrush(*fork, *both, "--out", "c.journal", "--serve", cwd=tmp_path)
    [changed] = json.loads(goldrush("info", "c.journal", "--json", cwd=tmp_path).out)["forks"]

    assert "mining-dense-seed0.journal" == journal.name
    assert (tmp_path / "set.journal").read_bytes() == journal.read_bytes()
    assert (tmp_path / "b.journal").read_bytes() == (tmp_path / "a.journal").read_bytes()
    assert {"truce": 2} == changed["changes"]
    assert "--serve served nobody" in forked.err


BROKEN = """
class Broken:
    def plan(self, seen, draws):
        if seen.round == 5:
            raise RuntimeError("cannot go on")
        return [("claim", seen.unowned[0], 1)]
"""


def test_a_policys_traceback_is_printed_from_its_own_frame_on(tmp_path: Path) -> None:
    """Also when it fails as it is asked again, though that is in another process."""
    (tmp_path / "mine.py").write_text(
        BROKEN.replace("== 5", "== AT").replace("\n", "\nAT = 5\n", 1)
    )
    ran = goldrush(
        "record", "--roster", "mine:Broken", "--out", "x.journal", "--traceback", cwd=tmp_path
    )
    (tmp_path / "mine.py").write_text(BROKEN.replace("== 5", "== 2"))
    shutil.copy(tmp_path / "x.journal", tmp_path / "y.journal")
    again = goldrush(
        "verify", ".", "--jobs", 2, "--trust", "mine:Broken", "--traceback", cwd=tmp_path
    )

    for err in (ran.err, again.err):
        assert "Traceback (most recent call last):" == err.splitlines()[0]
        assert "mine.py" in err.splitlines()[1]
        assert "RuntimeError: cannot go on" in err.splitlines()
        assert "rounds.py" not in err
    assert (2, 1) == (ran.code, again.code)


def test_a_run_whose_journal_is_removed_stops_and_says_that_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        """
import os
class Broken:
    def plan(self, seen, draws):
        if seen.round == 5:
            os.unlink("x.journal")
        return []
"""
    )
    ran = goldrush("record", "--roster", "mine:Broken*1", "--out", "x.journal", cwd=tmp_path)

    assert (ran.code, ran.out) == (2, "")
    says = "x.journal: was removed while it was written; what was recorded is lost with it"
    assert [f"goldrush: {says}"] == ran.err.splitlines()
    assert ["mine.py"] == [path.name for path in tmp_path.iterdir() if path.name[0] != "_"]


def test_ctrl_c_ends_at_a_whole_round_with_exit_130(path: Path, tmp_path: Path) -> None:
    process, _ = begun(tmp_path, "record", "--rounds", "1000000", "--out", str(path))
    try:
        until(lambda: path.exists() and path.stat().st_size > 50_000)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=HANGS)
    finally:
        process.kill()
    verdict = verify(path, 2)

    assert process.returncode == 130
    assert "Traceback" not in err
    assert err.startswith("stopped: ")
    assert f"holds rounds 1 to {verdict.rounds}, whole" in err
    assert f"resume {path}" in err
    assert (verdict.holds, verdict.finished) == (True, False)


@pytest.mark.parametrize(("seconds", "bar"), [(0, True), (3600, False)])
def test_a_terminal_gets_a_progress_bar_after_a_while_and_a_pipe_does_not(
    tmp_path: Path, seconds: int, bar: bool
) -> None:
    command = ("record", "--rounds", "50", "--force", "--out", "a.journal")
    piped = goldrush(*command, cwd=tmp_path)
    shown = in_terminal(*command, cwd=tmp_path, **bars_after(seconds, tmp_path))

    assert (0, 0) == (piped.code, shown.code)
    assert piped.err == ""
    assert bar == ("50/50" in shown.out)


STOPS = """
class Stops:
    def plan(self, seen, draws):
        if seen.round == {round} and not __import__("os").path.exists("ready"):
            raise ValueError("not ready")
        return [("claim", plot, 1) for plot in seen.unowned[:1]]
"""


@pytest.mark.parametrize(("round_", "holds"), [(4, "rounds 1 to 3, whole"), (1, "no round yet")])
def test_the_command_that_is_printed_has_all_that_is_needed_to_go_on(
    tmp_path: Path, round_: int, holds: str
) -> None:
    (tmp_path / "stops.py").write_text(STOPS.format(round=round_))
    record(tmp_path / "source.journal", {"rounds": 6}, "random*2")
    ran = goldrush(
        "record", "--rounds", 6, "--roster", "recorded:source.journal*2,stops:Stops*2",
        "--out", "x.journal", cwd=tmp_path,
    )  # fmt: skip
    command = shlex.split(ran.err.rpartition("`python -m goldrush ")[2].partition("`")[0])
    (tmp_path / "ready").touch()

    assert (ran.code, holds in ran.err) == (2, True)
    assert command[:2] == ["resume", "x.journal"]
    assert goldrush(*command, cwd=tmp_path).code == 0
    assert goldrush("verify", "x.journal", *command[2:], cwd=tmp_path).code == 0
