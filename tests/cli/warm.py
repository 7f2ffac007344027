"""Processes of the command line that need not load it: `python -m tests.cli.warm [SOCKET]`.

One process with all modules, those of worlds too, forks one for each command that it is given, a
line of JSON each, and prints its exit code. What runs is a process as any other, with its own
folder, environment and files, after a hundredth of the time. With a socket, it forks one for each
program of `shim` that a shell starts.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import sys
import threading
import traceback
import warnings
from typing import Any

import goldrush
from goldrush.cli.main import main as commands
from tests.waiting import HANGS

HEAVY = ("openai", "pyarrow.csv", "pyarrow.parquet", "rich.progress", "scipy.stats")


# Hands its arguments, folder, environment and files over, and ends as what is forked for them does.
SHIM = """#!{python} -SE
import json, os, socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as there:
    there.connect({address!r})
    asked = dict(program=sys.argv[0], arguments=sys.argv[1:], cwd=os.getcwd(), env=dict(os.environ))
    socket.send_fds(there, [json.dumps(asked).encode()], [0, 1, 2])
    os._exit(there.recv(1)[0])
"""
ASKED_MAX = 1 << 20  # bytes


def shim(address: str) -> str:
    """A program that is `goldrush`, for who listens there."""
    return SHIM.format(python=sys.executable, address=address)


def main() -> None:
    """Fork until there is nobody left who asks."""
    modules = [found.name for found in pkgutil.walk_packages(goldrush.__path__, "goldrush.")]
    for name in (*modules, *HEAVY):
        if not name.endswith("__main__"):  # that would run it
            importlib.import_module(name)
    gc.collect()
    gc.freeze()  # else each process copies all of this when it collects
    if sys.argv[1:]:
        listen(sys.argv[1])
    for line in sys.stdin:
        asked = json.loads(line)
        with warnings.catch_warnings(action="ignore"):  # of threads that libraries have started
            pid = os.fork()
        if not pid:
            written = [os.open(asked[name], os.O_WRONLY) for name in ("out", "err")]
            run(asked, [os.open(os.devnull, os.O_RDONLY), *written])
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def listen(address: str) -> None:
    """Fork for whoever connects, until this process is ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who wait
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as here:
        here.bind(address)
        here.listen()
        print("listens", flush=True)
        while True:
            asker, _ = here.accept()
            with asker, warnings.catch_warnings(action="ignore"):
                if not os.fork():
                    serve(asker)


def serve(asker: socket.socket) -> None:
    """Let one process run, tell its exit code, and end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    asked, fds, _, _ = socket.recv_fds(asker, ASKED_MAX, 3)
    pid = os.fork()
    if not pid:
        run(json.loads(asked), fds)
    for fd in (0, 1, 2, *fds):  # or who reads what is written waits for this process
        os.close(fd)
    asker.send(bytes([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) % 256]))
    os._exit(0)


def run(asked: dict[str, Any], files: list[int]) -> None:
    """Be the process that `python -m goldrush`, or the program, would be, with these files as 0, 1
    and 2, and end.
    """
    signal.alarm(int(HANGS))
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    for fd, file in enumerate(files):
        os.dup2(file, fd)
        os.close(file)
    sys.stdin = sys.__stdin__ = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(  # noqa: SIM115
        2, "w", buffering=1, errors="backslashreplace", closefd=False
    )
    root = os.path.dirname(os.path.dirname(goldrush.__file__))
    first = os.path.dirname(asked["program"]) if "program" in asked else os.getcwd()
    sys.path[:] = [first, root, *(path for path in sys.path if path not in ("", root))]
    sys.argv = [asked.get("program", "cli"), *asked["arguments"]]
    code = 0
    try:
        if "program" in asked:
            commands()
        else:
            runpy.run_module("goldrush", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except OSError:
        code = 120  # as Python does
    os._exit(code)


if __name__ == "__main__":
    main()
