"""Time for the client of models, which passes when a test says so.

It stands in for `asyncio` in agents.llm.client alone, so that everything else finds the real one.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any


class Clock:
    """`asyncio`, with pauses that are over once `awake` is set (it is, at first) and time limits
    that nothing reaches by itself. `slept`: the seconds of each pause; `limits`: those of each
    time limit.
    """

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.limits: list[float] = []
        self.awake = threading.Event()
        self.awake.set()
        self.running: list[tuple[asyncio.AbstractEventLoop, asyncio.Timeout]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        while not self.awake.is_set():
            await asyncio.sleep(0.001)

    @asynccontextmanager
    async def timeout(self, seconds: float) -> AsyncIterator[None]:
        self.limits.append(seconds)
        async with asyncio.timeout(None) as limit:
            running = asyncio.get_running_loop(), limit
            self.running.append(running)
            try:
                yield
            finally:
                self.running.remove(running)

    def run_out(self) -> None:
        """Let the time of all tries that are out be over."""
        for running in list(self.running):
            running[0].call_soon_threadsafe(self._end, running)

    def _end(self, running: tuple[asyncio.AbstractEventLoop, asyncio.Timeout]) -> None:
        if running in self.running:  # it may have come to its end meanwhile
            running[1].reschedule(0)
