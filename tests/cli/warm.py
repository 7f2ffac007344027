"""Processes of the command line that need not load it: `python -m tests.cli.warm`.

One process with all modules, those of worlds too, forks one for each command that it is given, a
line of JSON each, and prints its exit code. What runs is a process as any other, with its own
folder, environment and files, after a hundredth of the time.
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
import sys
import threading
import traceback
import warnings
from typing import Any

import goldrush
from tests.waiting import HANGS

HEAVY = ("openai", "pyarrow.csv", "pyarrow.parquet", "rich.progress",
         "scipy.stats", "statsmodels.api")  # fmt: skip


def main() -> None:
    """Fork until there is nobody left who asks."""
    modules = [found.name for found in pkgutil.walk_packages(goldrush.__path__, "goldrush.")]
    for name in (*modules, *HEAVY):
        if not name.endswith("__main__"):  # that would run it
            importlib.import_module(name)
    gc.collect()
    gc.freeze()  # else each process copies all of this when it collects
    for line in sys.stdin:
        asked = json.loads(line)
        with warnings.catch_warnings(action="ignore"):  # of threads that libraries have started
            pid = os.fork()
        if not pid:
            run(asked)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def run(asked: dict[str, Any]) -> None:
    """Be the process that `python -m goldrush` would be, and end."""
    signal.alarm(int(HANGS))
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    for fd, name, flags in (
        (0, os.devnull, os.O_RDONLY), (1, asked["out"], os.O_WRONLY), (2, asked["err"], os.O_WRONLY)
    ):  # fmt: skip
        os.dup2(os.open(name, flags), fd)
    sys.stdin = sys.__stdin__ = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(  # noqa: SIM115
        2, "w", buffering=1, errors="backslashreplace", closefd=False
    )
    root = os.path.dirname(os.path.dirname(goldrush.__file__))
    sys.path[:] = [os.getcwd(), root, *(path for path in sys.path if path not in ("", root))]
    sys.argv = ["cli", *asked["arguments"]]
    code = 0
    try:
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
