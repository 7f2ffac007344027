"""Running the command line as a person would: a process, its exit code, what it printed where."""

import os
import subprocess
import sys
from pathlib import Path

import attrs

from tests.waiting import HANGS

ROOT = Path(__file__).resolve().parents[2]


@attrs.frozen
class Ran:
    code: int
    out: str
    err: str


def goldrush(*arguments: object, cwd: Path, **env: str) -> Ran:
    done = subprocess.run(
        [sys.executable, "-m", "cli", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        text=True,
        timeout=HANGS,
        stdin=subprocess.DEVNULL,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def assert_refused(ran: Ran, *says: str) -> None:
    """One clear line on stderr, exit 2, nothing on stdout, no traceback."""
    assert (ran.code, ran.out) == (2, "")
    assert len(ran.err.strip().splitlines()) == 1, ran.err
    for words in says:
        assert words in ran.err
