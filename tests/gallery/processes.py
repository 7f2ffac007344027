"""Programs that are ended after a time, with all that they started."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import attrs

# Windows are not opened, sounds not played, and each process takes one core.
HEADLESS: Final = {
    "SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy", "PYGAME_HIDE_SUPPORT_PROMPT": "1",
    "MPLBACKEND": "Agg", "PYGLET_HEADLESS": "1", "JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "1",
    "PYTHONWARNINGS": "ignore", "NO_COLOR": "1",
}  # fmt: skip
_DROPPED: Final = ("DISPLAY", "PYTHONPATH", "PYTHONHASHSEED", "VIRTUAL_ENV")


@attrs.frozen
class Ended:
    """A program that ended. `code`: None if it was ended after its time."""

    code: int | None
    out: str
    err: str

    @property
    def last_line(self) -> str:
        """What it said last, or how it ended."""
        lines = self.err.strip().splitlines() or [f"exit code {self.code}"]
        return lines[-1].strip() if self.code is not None else "it takes too long"


def ran(command: Sequence[str], seconds: float, folder: Path | None = None) -> Ended:
    """A program, run without a screen."""
    kept = {name: value for name, value in os.environ.items() if name not in _DROPPED}
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=folder, env={**kept, **HEADLESS}, text=True, errors="replace",
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            out, err = process.communicate(timeout=seconds)
        except BaseException as error:
            _end(process.pid)
            out, err = process.communicate()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            return Ended(None, out, err)
    return Ended(process.returncode, out, err)


def _end(parent: int) -> None:
    """End a process and what it started, in sessions of their own too."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], check=True, capture_output=True, text=True
    )
    children: dict[int, list[int]] = {}
    for line in listed.stdout.splitlines():
        pid, above = map(int, line.split())
        children.setdefault(above, []).append(pid)
    ending = [parent]
    for pid in ending:
        ending += children.get(pid, [])
    for pid in ending:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
