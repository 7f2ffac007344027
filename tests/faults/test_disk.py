"""A disk that is full, that fails, that loses its power at any call; two writers; a folder that is
read-only: what was committed stays whole, and what broke off goes on to the same bytes.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from goldrush.kernel import files
from goldrush.kernel.journal import JournalWriter
from tests.cli.helpers import ROOT, goldrush
from tests.faults.conftest import Counted
from tests.faults.journals import SOUND
from tests.faults.recorders import RECORDERS, recorders
from tests.faults.sampling import step
from tests.faults.tries import Found, crashes, failures, full_disks, tree

STEPS = {"record with models": 7}  # its calls are many and alike


@pytest.mark.turns
@pytest.mark.parametrize("name", RECORDERS)
@pytest.mark.parametrize(
    ("law", "kind"), [(failures, "calls that failed"), (crashes, "losses of power")]
)
def test_whole_commits_survive_a_fault_at_any_call_and_the_run_goes_on_to_the_same_bytes(
    law: Callable[..., Found], kind: str, name: str, tmp_path: Path, counted: Counted
) -> None:
    found = law(recorders()[name], tmp_path, step(STEPS.get(name, 3)))
    counted(f"{kind} while a journal was written", found.cases)

    assert [] == found.says


@pytest.mark.parametrize("stuck", [False, True], ids=["taken back", "nothing taken back"])
@pytest.mark.parametrize("name", ["record", "record over another", "resume", "fork"])
def test_whole_commits_survive_a_disk_with_room_for_any_number_of_bytes(
    name: str, stuck: bool, tmp_path: Path, counted: Counted
) -> None:
    writer = recorders()[name]
    rooms = range(0, len(writer.whole) + 10, step(199 if stuck else 97))
    found = full_disks(writer, tmp_path, rooms, stuck=stuck)
    counted("disks that were full while a journal was written", found.cases)

    assert [] == found.says


# What must be found, or these laws prove nothing.


def nothing(*given: object) -> None:
    """What a broken program does."""


@pytest.mark.parametrize(
    ("broken", "part", "name", "kind"),
    [
        (files.Unfinished, "sync", "record, synced", "things lost"),
        (files.Unfinished, "sync", "record over another", "tracebacks"),
        (files, "sync_folder", "record, synced", "things lost"),
        (files, "sync_folder", "record with models", "things lost"),
        (files, "sweep", "record", "wrong answers"),
    ],
)
def test_a_program_that_promises_too_much_is_found_out_when_the_power_goes(
    broken: object, part: str, name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = recorders()[name]
    monkeypatch.setattr(broken, part, nothing)

    assert crashes(writer, tmp_path, STEPS.get(name, 1)).kinds[kind] > 0


@pytest.mark.parametrize(
    ("broken", "part", "law"),
    [
        (JournalWriter, "_take_back", partial(full_disks, rooms=range(100, 2_000, 100))),
        (files.Unfinished, "discard", failures),
    ],
)
def test_a_program_that_leaves_half_of_something_is_found_out_when_a_call_fails(
    broken: object, part: str, law: Callable[..., Found], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(broken, part, nothing)

    assert law(recorders()["record"], tmp_path).says


# The disk of this machine.


def limited(size: int, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command line in a process whose files can have so many bytes."""
    program = (
        "import resource, runpy, sys\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"
        "sys.argv[0] = 'goldrush'\n"
        "runpy.run_module('goldrush', run_name='__main__')\n"
    )
    return subprocess.run(
        [sys.executable, "-B", "-c", program, *map(str, arguments)],
        cwd=cwd, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=600,
    )  # fmt: skip


def test_the_command_line_says_how_a_run_goes_on_that_met_the_largest_file(tmp_path: Path) -> None:
    options = ("--seed", 5, "--rounds", 20, "--roster", "random*3", "--set", "rows=4")
    assert goldrush("record", *options, "--out", "whole", cwd=tmp_path).code == 0
    ran = limited(2_501, "record", *options, "--out", "run", cwd=tmp_path)
    whole, path = (tmp_path / "whole").read_bytes(), tmp_path / "run"
    command = ran.stderr.rpartition("`goldrush ")[2].partition("`")[0].split()

    assert (ran.returncode, ran.stdout, len(ran.stderr.splitlines())) == (2, "", 1)
    assert command == ["resume", "run"]
    assert whole.startswith(path.read_bytes())
    assert goldrush(*command, cwd=tmp_path).code == 0
    assert whole == path.read_bytes()


STUDY = ("study", "--treatment", "baseline", "--roster", "random", "--rounds", 2)
WRITERS = {
    "record": ("record", "--rounds", 2, "--out", "out"),
    "record over another": ("record", "--rounds", 2, "--out", "b.journal", "--force"),
    "resume": ("resume", "torn.journal"),
    "study": (*STUDY, "--seeds", 2, "--out", "new/out"),
    "study, its runs": (*STUDY, "--seeds", 1, "--out", "study"),
    "export": ("export", "a.journal", "--format", "csv", "--out", "out"),
}


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What commands read, and an unfinished study, whose manifest is there."""
    folder = tmp_path_factory.mktemp("before")
    goldrush("record", "--rounds", 2, "--out", "a.journal", cwd=folder)
    for name in ("b", "torn"):
        shutil.copy(folder / "a.journal", folder / f"{name}.journal")
    goldrush(*STUDY, "--seeds", 1, "--out", "study", cwd=folder)
    for path in (folder / "study").rglob("*.journal"):
        path.unlink()
    torn = (folder / "torn.journal").read_bytes()
    (folder / "torn.journal").write_bytes(torn[: len(torn) - 40])
    return folder


@pytest.mark.parametrize("name", WRITERS)
def test_what_cannot_be_written_is_exit_code_2_in_one_line_and_leaves_nothing(
    name: str, before: Path, tmp_path: Path
) -> None:
    """1 is said of runs and journals alone: a script must not take a full disk for it."""
    folder = tmp_path / "folder"
    shutil.copytree(before, folder)
    there = tree(folder)
    ran = limited(0, *WRITERS[name], cwd=folder)
    left = tree(folder)
    left["torn.journal"] = there["torn.journal"]  # its tail may be dropped

    assert (2, 1) == (ran.returncode, len(ran.stderr.splitlines())), ran.stderr
    assert "file too large" in ran.stderr
    assert there == left
    assert not (folder / "new").exists()
    assert not list(folder.glob("out*"))


def test_all_readers_work_in_a_folder_that_cannot_be_written(counted: Counted) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for key, make in SOUND.items():
            (folder / f"{key}.journal").write_bytes(make().data)
            (folder / f"{key}.journal").chmod(0o444)
        folder.chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-B", "-m", "tests.faults.readonly", name],
            cwd=ROOT, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        folder.chmod(0o755)
    counted("reads in a read-only folder", 2 * len(SOUND))

    assert (done.returncode, done.stderr) == (0, "")
    assert {"wrong": [], "left": sorted(f"{key}.journal" for key in SOUND)} == json.loads(
        done.stdout
    )
