"""What asking language models costs beside waiting for them.

A scripted server in a process of its own answers every question after the same time. Rounds are
timed by the clock, because what is measured is waiting: how much longer ten agents at once take
than one answer does.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path

from goldrush.agents.llm.models import Models
from tests.llm.servers import Asked, Reply, plan, serving
from tests.mining import record

from .timing import Row

AGENTS = 10
ROUNDS = 21
ANSWER = 0.5  # seconds


def answered(asked: Asked) -> Reply:
    """Responds to every question with a plan, after ANSWER."""
    agent, round_ = asked.agent or 0, asked.round or 0
    claims = [("claim", (agent * 10 + round_ + step) % 100, 1) for step in range(5)]
    time.sleep(ANSWER)
    return plan(*claims)


def rows(folder: Path) -> Iterator[Row]:
    """Ten agents against one answer's time."""
    wall, alone = (statistics.median(_rounds(folder, agents)) for agents in (AGENTS, 1))
    yield (
        f"{AGENTS} models asked at once", f"one answer's time, {ANSWER * 1e3:.0f} ms",
        f"{wall / ANSWER:.3f} x", "<= 1.2", f"one agent alone {alone / ANSWER:.3f} x",
    )  # fmt: skip


def _rounds(folder: Path, agents: int) -> list[float]:
    """Seconds by the clock of each round but the first, which makes connections."""
    marks: list[float] = []
    with _server() as address:
        record(
            folder / "models.journal",
            {"rounds": ROUNDS},
            f"llm:test*{agents}",
            models=Models(base_url=address, concurrency=agents),
            force=True,
            on_round=lambda *_: marks.append(time.perf_counter()),
        )
    return [end - start for start, end in pairwise(marks)]


@contextmanager
def _server() -> Iterator[str]:
    """The address of a server in another process."""
    here, there = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(there,))
    process.start()
    try:
        yield here.recv()
    finally:
        here.send(None)
        process.join()


def _serve(there: Connection) -> None:
    with serving(answered) as server:
        there.send(server.address)
        there.recv()
