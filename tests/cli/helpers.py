"""Running the command line as a person would: a process, its exit code, what it printed where."""

import atexit
import fcntl
import json
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import sysconfig
import tempfile
import termios
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import attrs
import click
import pytest

from goldrush.cli.main import _run, cli
from tests.waiting import HANGS

ROOT = Path(__file__).resolve().parents[2]


@attrs.frozen
class Ran:
    code: int
    out: str
    err: str


def goldrush(*arguments: object, cwd: Path, installed: Path | None = None, **env: str) -> Ran:
    """Run a command. Most are forked from a process that has loaded all of it (see tests.cli.warm):
    not where a module of one's own hides another, or a variable for Python changes what is loaded.
    `installed`: a folder of packages to be found, of which that process loads none.
    """
    words = [str(argument) for argument in arguments]
    path = str(ROOT) if installed is None else f"{installed}{os.pathsep}{ROOT}"
    hides = any(_hides(path.stem) for path in Path(cwd).glob("*.py"))
    is_cold = hides or any(name.startswith(("PYTHON", "LC_")) for name in env)
    env = {"PYTHONPATH": path, **env}
    return cold(*words, cwd=cwd, env=env) if is_cold else _warm(words, cwd, env)


def _hides(name: str) -> bool:
    """Whether a module would hide another: of Python, or installed."""
    installed = PathFinder.find_spec(name, [str(ROOT), sysconfig.get_path("purelib")])
    return name in sys.stdlib_module_names or installed is not None


def cold(
    *arguments: object,
    cwd: Path,
    front: Sequence[str] = ("-m", "goldrush"),
    env: Mapping[str, str] = {"PYTHONPATH": str(ROOT)},
    **how: Any,
) -> Ran:
    """Run a command in a new process; `how`: what else `subprocess.run` is told."""
    done = subprocess.run(
        [sys.executable, *front, *map(str, arguments)], cwd=cwd, env={**os.environ, **env},
        capture_output=True, text=True, timeout=HANGS, **{"input": "", **how},
    )  # fmt: skip
    return Ran(done.returncode, done.stdout, done.stderr)


def _warm(words: list[str], cwd: Path, env: dict[str, str]) -> Ran:
    server = _server(env["PYTHONPATH"])
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.NamedTemporaryFile("r") as out, tempfile.NamedTemporaryFile("r") as err:
        asked = {
            "arguments": words, "cwd": str(cwd), "out": out.name, "err": err.name,
            "env": {**os.environ, **env},
        }  # fmt: skip
        server.stdin.write(json.dumps(asked) + "\n")
        server.stdin.flush()
        return Ran(int(server.stdout.readline()), out.read(), err.read())


@cache
def _server(path: str) -> "subprocess.Popen[str]":
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.warm"],
        cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    atexit.register(_end, server)
    return server


def _end(server: "subprocess.Popen[str]") -> None:
    server.communicate()


@cache
def listening() -> str:
    """The address of a process that forks commands for the programs of `tests.cli.warm.shim`."""
    # No TemporaryDirectory: a forked child of CPython 3.13 forgets what is to be done at exit, and
    # the last reference to the object with it, which removes the folder.
    folder = tempfile.mkdtemp()
    address = os.path.join(folder, "socket")
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.warm", address], cwd=ROOT, stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert server.stdout is not None
    assert server.stdout.readline()
    atexit.register(shutil.rmtree, folder)
    atexit.register(server.communicate)
    atexit.register(server.kill)
    return address


def drained(master: int) -> bytes:
    """What was written to a terminal by the time when the last who had it open closed it."""
    shown = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:  # the other side has closed
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    return shown


def in_terminal(*arguments: object, cwd: Path, until: bytes = b"", **env: str) -> Ran:
    """Run a command in a terminal of 40 lines of 100 characters, which gets stdout and stderr.
    `until`: what is shown when Ctrl-C is pressed.
    """
    master, slave = pty.openpty()
    inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "goldrush", *map(str, arguments)],
        cwd=cwd,
        env={**inherited, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **env},
        stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
    )  # fmt: skip
    os.close(slave)
    shown = b""
    while until not in shown:
        shown += os.read(master, 4096)
    if until:
        process.send_signal(signal.SIGINT)
    shown += drained(master)
    return Ran(process.wait(timeout=HANGS), shown.decode(), "")


def begun(folder: Path, *command: str, **env: str) -> tuple["subprocess.Popen[str]", Iterator[str]]:
    """A command under way, in a group of its own, and the lines of its stderr."""
    process = subprocess.Popen(
        [sys.executable, "-m", "goldrush", *command], cwd=folder, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stderr is not None
    return process, process.stderr


def in_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ran]:
    """A function that runs a command in this process."""

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["goldrush", *map(str, arguments)])
        code = _run()
        return Ran(code, *capsys.readouterr())

    return run


def bars_after(seconds: int, folder: Path) -> dict[str, str]:
    """The environment of commands that show progress bars after so long."""
    start = f"import goldrush.cli.progress\ngoldrush.cli.progress.AFTER = {seconds}\n"
    own = folder / "start"  # by itself, so that nothing else in the folder can be imported
    own.mkdir()
    (own / "sitecustomize.py").write_text(start)  # Python imports it when it starts
    return {"PYTHONPATH": os.pathsep.join((str(own), str(ROOT)))}


def built_in() -> dict[str, click.Command]:
    """The commands of goldrush itself, by name."""
    context = click.Context(cli)
    found = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


def assert_refused(ran: Ran, *says: str) -> None:
    """One clear line on stderr, exit 2, nothing on stdout, no traceback."""
    assert (ran.code, ran.out) == (2, "")
    assert len(ran.err.strip().splitlines()) == 1, ran.err
    for words in says:
        assert words in ran.err
