"""Where the surroundings are the trouble: too little memory, a module that leaves Python, encodings
that lack what is printed.
"""

import json
import os
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from goldrush.kernel.journal import Header, JournalReader
from tests.cli.helpers import ROOT, Ran, assert_refused, cold, goldrush
from tests.kernel.tiny_reader import framed
from tests.mining import record
from tests.waiting import HANGS

SMALL = 400 << 20  # bytes of address space


def limited(*arguments: object, cwd: Path) -> Ran:
    """Run the command line in a process that gets little memory, and its workers too."""
    limit = partial(resource.setrlimit, resource.RLIMIT_AS, (SMALL, SMALL))
    return cold(*arguments, cwd=cwd, preexec_fn=limit)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sound journals, and between them a small file that asks for a gigabyte."""
    folder = tmp_path_factory.mktemp("journals")
    for name in ("a", "c"):
        record(folder / f"{name}.journal", {"rounds": 2})
    with JournalReader(folder / "a.journal") as reader:
        start = next(iter(reader)).raw
    count = 20 << 20
    body = b"\x94\x01\x01\xc0\xdd" + count.to_bytes(4, "big") + b"\xe0" * count
    header = Header("mining", 1).packed()
    (folder / "b.journal").write_bytes(framed([start, body], header))
    return folder


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_folder_is_verified_around_a_journal_that_takes_too_much_memory(
    folder: Path, jobs: int
) -> None:
    ran = limited("verify", folder, "--jobs", jobs, cwd=folder)

    assert 2 == ran.code
    assert "DOES NOT HOLD" not in ran.out
    assert "3 journals: 2 hold, 0 do not, 1 could not be judged" in ran.out
    assert "b.journal: not enough memory to judge it" in ran.err
    assert "Traceback" not in ran.err


def test_a_policy_that_takes_too_much_memory_does_not_speak_against_the_journal(
    tmp_path: Path,
) -> None:
    (tmp_path / "greedy.py").write_text(
        "import os\n"
        "class Greedy:\n"
        "    def plan(self, seen, draws):\n"
        "        return [] if 'ENOUGH' in os.environ else [None] * (1 << 60)\n"
    )
    own = "greedy:Greedy"
    arguments = ("--rounds", 2, "--roster", f"{own}*2", "--out", "run.journal")
    recorded = goldrush("record", *arguments, cwd=tmp_path, ENOUGH="1")
    ran = goldrush("verify", "run.journal", "--trust", own, cwd=tmp_path)

    assert 0 == recorded.code, recorded.err
    assert (2, "") == (ran.code, ran.out)
    assert "not enough memory to judge it" in ran.err


def test_an_answer_for_a_fork_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "answer.txt").write_bytes(b"caf\xe9")
    words = ("--at", 1, "--answer", "answer.txt", "--", "true")
    ran = goldrush("fork", "run.journal", *words, cwd=tmp_path)

    assert_refused(ran, "--answer is not UTF-8; give a file that is")


ENCODINGS = [{"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"},
             {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "env"),
    [
        *((command.split(), ENCODINGS[0]) for command in (
            "log", "replay --round 1 --json", "verify", "export",
        )),
        *((["log"], env) for env in ENCODINGS[1:]),
    ],
    ids=str,
)  # fmt: skip
def test_what_the_terminals_encoding_lacks_is_escaped(
    tmp_path: Path, env: dict[str, str], command: list[str]
) -> None:
    (tmp_path / "polyglot.py").write_text(
        "from goldrush.kernel.worlds.mining.submit import Plan\n"
        "class Polyglot:\n"
        "    def plan(self, seen, draws):\n"
        "        return Plan([], say='\\u91d1 \\u2192 caf\\xe9', memo='\\U0001f4b0')\n",
        "utf-8",
    )
    name, *options = command
    goldrush(
        "record", "--treatment", "communication", "--rounds", 2, "--roster", "polyglot:Polyglot*2",
        "--out", "\u91d1.journal", cwd=tmp_path,
    )  # fmt: skip
    ran = goldrush(name, "\u91d1.journal", *options, cwd=tmp_path, **env)

    assert "Traceback" not in ran.err
    assert 0 == ran.code, ran.err
    assert ran.out.isascii() or "latin-1" in env.values()
    if name == "log":
        assert "\\u91d1" in ran.out
    if "--json" in options:
        assert ran.out.isascii()
        for line in [ran.out] if name != "log" else ran.out.splitlines():
            json.loads(line)


def test_errors_are_escaped_too(tmp_path: Path) -> None:
    ran = goldrush("verify", "\u91d1.journal", cwd=tmp_path, PYTHONIOENCODING="ascii")

    assert_refused(ran, "\\u91d1.journal")


# What Ctrl-C meets before there is a command, and what would never come.

STOPPED_AT = """
import sys

class Stopped:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            sys.meta_path.remove(self)
            raise KeyboardInterrupt

from goldrush.__main__ import main
sys.meta_path.insert(0, Stopped())
main()
"""


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("goldrush.cli.codes", ""),
        ("goldrush.cli.main", ""),
        ("click", ""),
        ("goldrush.cli.catalogue", "\nstopped\n"),  # of the command
    ],
)
def test_ctrl_c_while_the_command_line_is_imported_is_ctrl_c(
    name: str, says: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STOPPED_AT.format(name=name), "policies"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        timeout=HANGS,
    )  # fmt: skip

    assert (130, "", says) == (done.returncode, done.stdout, done.stderr)
