"""What asking language models costs beside waiting for them.

A scripted server in a process of its own answers every question after the same time. Rounds are
timed by the clock, because what is measured is waiting: how much longer ten agents at once take
than one answer does. What a round costs besides is counted as this process's CPU time.
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

import attrs

from goldrush.agents.llm.models import Models
from tests.llm.servers import Asked, Reply, plan, serving
from tests.mining import record

AGENTS = 10
ROUNDS = 21
ANSWER = 0.5  # seconds

Row = tuple[str, str, str, str, str]


@attrs.frozen
class Answering:
    """Responds to every question with a plan, after so many seconds."""

    delay: float

    def __call__(self, asked: Asked) -> Reply:
        agent, round_ = asked.agent or 0, asked.round or 0
        claims = [("claim", (agent * 10 + round_ + step) % 100, 1) for step in range(5)]
        time.sleep(self.delay)
        return plan(*claims)


def rows(folder: Path) -> Iterator[Row]:
    """Ten agents against one answer's time; and a round where nobody has to be waited for."""
    walls, _ = _rounds(folder, AGENTS, ANSWER)
    alone, _ = _rounds(folder, 1, ANSWER)
    wall, one = statistics.median(walls), statistics.median(alone)
    answer = f"{ANSWER * 1e3:.0f} ms"
    yield (
        f"{AGENTS} models asked at once", f"one answer's time, {answer}",
        f"{wall / ANSWER:.3f} x", "<= 1.2", f"one agent alone {one / ANSWER:.3f} x",
    )  # fmt: skip
    yield (
        "a round but for waiting", f"the clock, less {answer}",
        f"{(wall - ANSWER) * 1e3:.1f} ms", "-", f"{AGENTS} agents, median of {len(walls)} rounds",
    )  # fmt: skip
    walls, cpu = _rounds(folder, AGENTS, 0.0)
    wall, work = statistics.median(walls), statistics.median(cpu)
    yield (
        "a round of a server that is quick", "the clock; CPU time of the client's process",
        f"{wall * 1e3:.1f} ms", "-", f"CPU {work * 1e3:.1f} ms",
    )  # fmt: skip


def _rounds(folder: Path, agents: int, delay: float) -> tuple[list[float], list[float]]:
    """Seconds by the clock and of CPU time of each round but the first, which makes connections."""
    marks: list[tuple[float, float]] = []
    with _server(delay) as address:
        record(
            folder / "models.journal",
            {"rounds": ROUNDS},
            f"llm:test*{agents}",
            models=Models(base_url=address, concurrency=agents),
            force=True,
            on_round=lambda *_: marks.append((time.perf_counter(), time.process_time())),
        )
    pairs = list(pairwise(marks))
    return [b[0] - a[0] for a, b in pairs], [b[1] - a[1] for a, b in pairs]


@contextmanager
def _server(delay: float) -> Iterator[str]:
    """The address of a server in another process."""
    here, there = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(there, delay))
    process.start()
    try:
        yield here.recv()
    finally:
        here.send(None)
        process.join()


def _serve(there: Connection, delay: float) -> None:
    with serving(Answering(delay)) as server:
        there.send(server.address)
        there.recv()
