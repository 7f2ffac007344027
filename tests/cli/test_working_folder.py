"""The current folder is no place for code, but for a policy that was named at the keyboard."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.cli.helpers import ROOT, Ran, cold
from tests.mining import record
from tests.seasons import small
from tests.waiting import HANGS

# Modules of this project, of Python and of others that are imported at the start, or late.
HOSTILE = (
    "replay", "agents", "kernel", "email", "random", "json", "click", "rich", "msgpack", "attrs",
    "openai", "numpy", "scipy", "multiprocessing", "concurrent", "tomllib", "hashlib", "tempfile",
    "sitecustomize", "importlib_metadata", "readline",
)  # fmt: skip
OWN = "class Own:\n    def plan(self, seen, draws):\n        return []\n"
SCRIPT = "from goldrush.__main__ import main; main()"  # as an installed `goldrush` does


@pytest.fixture(scope="module")
def journals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("journals")
    record(folder / "run.journal", {"rounds": 3})
    small(folder / "season.journal", assignments=1)
    return folder


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder full of modules that leave a mark when they are imported."""
    for name in HOSTILE:
        (tmp_path / f"{name}.py").write_text("open('mark', 'a').write(__name__ + '\\n')\n")
    return tmp_path


def typed(how: str, *words: object, cwd: Path) -> Ran:
    """A command, typed in a folder: by the script, or as a module."""
    front = {"script": ["-P", "-c", SCRIPT], "module": ["-m", "goldrush"]}[how]
    return cold(*words, cwd=cwd, front=front)


COMMANDS: Mapping[str, Sequence[Sequence[object]]] = {
    "record": [
        ["--rounds", 2, "--out", "x.journal"],
        ["--roster", "raid*2", "--rounds", 1],
        ["competition", "--rounds", 1, "--set", "arena=nk"],
    ],
    "study": [["--seeds", 2, "--rounds", 2, "--treatment", "scarce", "--jobs", 2, "--out", "s"]],
    "replay": [["{run}", "--round", 2], ["{season}", "--round", 0]],
    "measure": [["{run}"]],
    "verify": [["{run}", "{season}", "--jobs", 2]],
    "prompt": [["{run}", "--round", 2, "--agent", 0], ["{season}", "--round", 0, "--agent", 5]],
    "resume": [["{run}"]],
    "fork": [["{run}", "--at", 1, "--out", "f.journal"]],
    "report": [["{run}"]],
}


@pytest.mark.turns
@pytest.mark.parametrize(
    ("command", "how"),
    [*((command, "script") for command in COMMANDS), ("record", "module"), ("study", "module")],
)
def test_nothing_of_the_current_folder_is_imported(
    command: str, how: str, hostile: Path, journals: Path
) -> None:
    paths = {name: journals / f"{name}.journal" for name in ("run", "season")}
    for words in COMMANDS[command]:
        ran = typed(how, command, *(str(word).format(**paths) for word in words), cwd=hostile)

        assert not (hostile / "mark").exists(), (hostile / "mark").read_text()
        assert "Traceback" not in ran.err
        assert ran.code == 0 or command in ("resume", "report"), ran.err  # an ended run, no study


@pytest.mark.parametrize("how", ["script", "module"])
def test_a_policy_of_ones_own_is_found_behind_everything_else(how: str, hostile: Path) -> None:
    (hostile / "mine.py").write_text("import random, email.message\n" + OWN)
    roster = ("--roster", "mine:Own*2", "--rounds", 2)
    ran = [
        typed(how, "record", *roster, "--out", "own.journal", cwd=hostile),
        typed(how, "verify", "own.journal", "--trust", "mine:Own", cwd=hostile),
        typed(how, "study", *roster, "--seeds", 2, "--treatment", "baseline", "--jobs", 2,
              "--out", "s", cwd=hostile),
    ]  # fmt: skip

    assert [0, 0, 0] == [one.code for one in ran], [one.err for one in ran]
    assert "holds at levels 1 to 4" in ran[1].out
    assert not (hostile / "mark").exists(), (hostile / "mark").read_text()


@pytest.mark.parametrize("start", ["spawn", "forkserver"])
def test_processes_that_begin_afresh_import_nothing_of_it(start: str, hostile: Path) -> None:
    """As they do on other systems, and with newer Pythons."""
    program = hostile / "elsewhere" / "program.py"
    program.parent.mkdir()
    program.write_text(
        "import multiprocessing\n"
        "if __name__ == '__main__':\n"
        f"    multiprocessing.set_start_method({start!r})\n"
        f"    {SCRIPT}\n"
    )
    (hostile / "mine.py").write_text(OWN)
    done = subprocess.run(
        [sys.executable, program, "study", "--roster", "mine:Own", "--seeds", "2", "--rounds", "2",
         "--treatment", "scarce", "--jobs", "2", "--out", "s"],
        cwd=hostile, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        timeout=HANGS,
    )  # fmt: skip

    assert 0 == done.returncode, done.stderr
    assert not (hostile / "mark").exists(), (hostile / "mark").read_text()


def test_without_its_name_at_the_keyboard_it_is_not_found(hostile: Path) -> None:
    (hostile / "mine.py").write_text("open('mark', 'a').write('mine')\n" + OWN)
    (hostile / "plan.toml").write_text('treatments = "scarce"\nrosters = ["mine:Own"]\nseeds = 1\n')
    refused = typed("module", "study", "plan.toml", "--out", "s", cwd=hostile)
    trusted = typed(
        "module", "study", "plan.toml", "--trust", "mine:Own", "--out", "s", cwd=hostile
    )

    assert (2, 1) == (refused.code, len(refused.err.splitlines()))
    assert "'mine:Own' is a user-defined policy; allow it with trust (--trust mine:Own)" \
        in refused.err  # fmt: skip
    assert 0 == trusted.code, trusted.err
    assert {"mine"} == set((hostile / "mark").read_text().replace("mine", "mine ").split())
