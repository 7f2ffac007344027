"""A full disk, two writers, a folder that is read-only: what was committed stays whole, and what
broke off goes on to the same bytes.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents.mining import record, resume
from kernel import journal
from kernel.errors import GoldrushError, JournalInUse, WriteFailed
from kernel.journal import FORK, START
from tests.cli.helpers import ROOT, goldrush
from tests.faults.conftest import Counted
from tests.faults.disk import Disk
from tests.faults.journals import (
    AUTHORITY,
    ROSTER,
    SMALL,
    SOUND,
    TRUST,
    Sound,
    fork_small,
    forked,
    small,
    twin,
)

Act = Callable[[Path], object]
STUCK = pytest.mark.parametrize("stuck", [False, True], ids=["taken back", "nothing taken back"])


def recorded(path: Path, **options: Any) -> object:
    return record(path, SMALL, ROSTER, AUTHORITY, **options)


def went_on(path: Path) -> bytes:
    """The bytes after the run went on with enough room."""
    resume(path, trust=TRUST)
    return path.read_bytes()


def fails(act: Act, path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the error says when something writes to this disk."""
    with monkeypatch.context() as patch:
        patch.setattr(journal, "os", disk)
        with pytest.raises(WriteFailed) as caught:
            act(path)
    return str(caught.value)


def whole_until(sound: Sound, room: int) -> int:
    """Where the last commit ends for which there is room; 0 without a START."""
    return max((commit.end for commit in sound.commits if commit.end <= room), default=0)


def rooms(sound: Sound, stuck: bool) -> range:
    """Every number of bytes for which a disk can have room; a few of them for one that is stuck."""
    return range(0, len(sound.data), 4 if stuck else 1)


def first_written(sound: Sound) -> int:
    """Where the first write ends: that of START, or of a FORK with all that it takes over."""
    places = [commit.end for commit in sound.commits if commit.kind in (START, FORK)]
    return places[-1]


def left(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


@STUCK
def test_a_run_on_a_disk_that_takes_any_number_of_bytes_goes_on_to_the_same_bytes(
    stuck: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counted: Counted
) -> None:
    path, sound = tmp_path / "run.journal", small()
    for room in rooms(sound, stuck):
        path.unlink(missing_ok=True)
        disk = Disk(room, piece=1 + room % 70, stuck=stuck)
        says = fails(recorded, path, disk, monkeypatch)
        whole = whole_until(sound, room)
        there = left(path)

        assert f"{path}: no space left on device" in says
        if whole:
            assert sound.data[: room if stuck else whole] == there
            assert sound.data == went_on(path)
        else:
            assert there is None
    counted("disks that were full while a run was recorded", len(rooms(sound, stuck)))


@STUCK
def test_a_run_that_goes_on_on_a_full_disk_can_go_on_later(
    stuck: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counted: Counted
) -> None:
    path, sound = tmp_path / "run.journal", small()
    torn = sound.commits[2].end + 20

    def going_on(path: Path) -> object:
        return resume(path, trust=TRUST)

    for room in range(torn - 20, len(sound.data), 3):
        path.unlink(missing_ok=True)
        path.write_bytes(sound.data[:torn])
        fails(going_on, path, Disk(room, piece=1 + room % 70, stuck=stuck), monkeypatch)
        there = path.read_bytes()
        counted("disks that were full while a run went on", 1)

        if stuck:  # nor could the torn commit be dropped
            assert sound.data[:torn] == there
        else:
            assert sound.data[: max(whole_until(sound, room), sound.commits[2].end)] == there
        assert sound.data == went_on(path)


@STUCK
def test_a_fork_on_a_full_disk_is_nothing_or_goes_on_to_the_same_bytes(
    stuck: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counted: Counted
) -> None:
    parent, path, sound = tmp_path / "parent.journal", tmp_path / "fork.journal", forked()
    parent.write_bytes(small().data)
    for room in rooms(sound, stuck):
        path.unlink(missing_ok=True)
        disk = Disk(room, piece=1 + room % 70, stuck=stuck)
        fails(lambda path: fork_small(parent, path), path, disk, monkeypatch)

        if room < first_written(sound):
            assert left(path) is None
        else:
            assert sound.data == went_on(path)
    counted("disks that were full while a run was forked", len(rooms(sound, stuck)))

    assert small().data == parent.read_bytes()


@STUCK
@pytest.mark.parametrize("act", [recorded, fork_small], ids=["record", "fork"])
def test_what_is_overwritten_on_a_full_disk_is_kept_or_is_no_journal(
    act: Callable[..., object], stuck: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent, path = tmp_path / "parent.journal", tmp_path / "run.journal"
    parent.write_bytes(small().data)
    sound = small() if act is recorded else forked()
    for room in range(0, first_written(sound), 11):
        path.unlink(missing_ok=True)
        path.write_bytes(twin())
        over = [path] if act is recorded else [parent, path]
        disk = Disk(room, stuck=stuck)
        fails(lambda _, over=over: act(*over, force=True), path, disk, monkeypatch)  # type: ignore[misc]

        if stuck:
            assert twin() == path.read_bytes()
        else:
            assert path.read_bytes() == b""
            with pytest.raises(GoldrushError, match="an empty file"):
                resume(path)


def test_a_fork_whose_first_bytes_are_taken_in_pieces_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent, path = tmp_path / "parent.journal", tmp_path / "fork.journal"
    parent.write_bytes(small().data)
    with monkeypatch.context() as patch:
        patch.setattr(journal, "os", Disk(piece=4))
        fork_small(parent, path)

    assert forked().data == path.read_bytes()


def limited(size: int, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command line in a process whose files can have so many bytes."""
    program = (
        "import resource, runpy, sys\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"
        "sys.argv[0] = 'goldrush'\n"
        "runpy.run_module('cli', run_name='__main__')\n"
    )
    return subprocess.run(
        [sys.executable, "-B", "-c", program, *map(str, arguments)],
        cwd=cwd, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize("size", [300, 1_500, 2_501, 5_000])
def test_the_command_line_says_how_a_run_goes_on_that_met_the_largest_file(
    size: int, tmp_path: Path, counted: Counted
) -> None:
    options = ("--seed", 5, "--rounds", 20, "--roster", "random*3", "--set", "rows=4")
    assert goldrush("record", *options, "--out", "whole", cwd=tmp_path).code == 0
    ran = limited(size, "record", *options, "--out", "run", cwd=tmp_path)
    there = left(tmp_path / "run")
    counted("largest files met", 1)

    assert (ran.returncode, ran.stdout) == (1, "")
    assert len(ran.stderr.splitlines()) == 1
    assert "file too large" in ran.stderr
    if "nothing was recorded" in ran.stderr:
        assert size == 300
        assert there is None
        return
    command = ran.stderr.rpartition("`goldrush ")[2].partition("`")[0].split()
    assert command == ["resume", "run"]
    assert (tmp_path / "whole").read_bytes().startswith(there or b"?")
    assert goldrush(*command, cwd=tmp_path).code == 0
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "run").read_bytes()


def test_a_journal_that_is_written_by_a_process_is_no_other_processes_to_write(
    tmp_path: Path, counted: Counted
) -> None:
    path, parent = tmp_path / "run.journal", tmp_path / "parent.journal"
    parent.write_bytes(small().data)
    attempts = (
        ("record", "--force", "--rounds", 3, "--out", path),
        ("resume", path, "--trust", TRUST[0]),
    )
    writer = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.writer", path],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        for round in range(1, SMALL["rounds"] + 1):
            assert f"{round}\n" == writer.stdout.readline()
            before = path.read_bytes()
            ran = [goldrush(*attempt, cwd=tmp_path) for attempt in attempts if round == 2]
            for act in (
                lambda: recorded(path, force=True),
                lambda: resume(path, trust=TRUST),
                lambda: fork_small(parent, path, force=True),
            ):
                with pytest.raises(JournalInUse, match=str(path)):
                    act()
            counted("second writers", len(ran) + 3)

            assert [2] * len(ran) == [each.code for each in ran]
            assert all("another process is writing this journal" in each.err for each in ran)
            assert before == path.read_bytes()
            writer.stdin.write("go on\n")
            writer.stdin.flush()
    assert writer.returncode == 0
    assert small().data == path.read_bytes()


def test_all_readers_work_in_a_folder_that_cannot_be_written(counted: Counted) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for key, make in SOUND.items():
            (folder / f"{key}.journal").write_bytes(make().data)
            (folder / f"{key}.journal").chmod(0o444)
        folder.chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-B", "-m", "tests.faults.readonly", name],
            cwd=ROOT, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        folder.chmod(0o755)
    counted("reads in a read-only folder", 2 * len(SOUND))

    assert (done.returncode, done.stderr) == (0, "")
    assert {"wrong": [], "left": sorted(f"{key}.journal" for key in SOUND)} == json.loads(
        done.stdout
    )


def test_the_disk_of_these_tests_takes_what_it_has_room_for(tmp_path: Path) -> None:
    disk = Disk(5, piece=3)
    fd = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    taken = [disk.write(fd, b"abcdef"), disk.write(fd, b"def")]
    with pytest.raises(OSError, match="No space left"):
        disk.write(fd, b"f")
    os.close(fd)

    assert [3, 2] == taken
    assert (tmp_path / "file").read_bytes() == b"abcde"
