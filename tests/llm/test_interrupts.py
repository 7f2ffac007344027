"""Ctrl-C while answers come in: what has come is kept, however slow the disk is."""

from __future__ import annotations

import os
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import attrs
import pytest

from goldrush.agents.llm import client
from goldrush.agents.llm.models import Models
from goldrush.agents.mining.players import record, resume
from goldrush.kernel import files
from goldrush.kernel.journal import JournalReader
from goldrush.replay.verify import verify
from tests.llm.runs import rows_in
from tests.llm.servers import Asked, Reply, Server, plan, serving
from tests.quick_disk import syncing
from tests.waiting import until

AGENTS = 6


class Arrivals(SimpleQueue[Any]):
    """What the client takes answers from; counts those that ever came."""

    count = 0

    def put(self, item: Any, *more: Any) -> None:
        super().put(item, *more)
        Arrivals.count += 1  # in the client's one thread


class Slow:
    """A disk on which the waiting for the first answer takes until everybody has answered, then is
    interrupted.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self.interrupted = False

    def __call__(self, fd: int) -> None:
        os.fsync(fd)
        if Arrivals.count > self.server.greeted and not self.interrupted:
            until(lambda: Arrivals.count == self.server.greeted + AGENTS)
            self.interrupted = True
            raise KeyboardInterrupt


@pytest.mark.parametrize("concurrency", [AGENTS, 2 * AGENTS])
def test_answers_that_came_while_the_disk_was_waited_for_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, concurrency: int
) -> None:
    path = tmp_path / "run.journal"

    def respond(asked: Asked) -> Reply:
        return plan(("claim", (asked.agent or 0) * 10, 1))

    with serving(respond) as server:
        models = Models(base_url=server.address, concurrency=concurrency)
        with monkeypatch.context() as patch:
            patch.setattr(Arrivals, "count", 0)
            patch.setattr(client, "SimpleQueue", Arrivals)
            with syncing(Slow(server)), pytest.raises(KeyboardInterrupt):
                record(path, {"rounds": 1}, f"llm:m*{AGENTS},raid*1", models=models)
        there = rows_in(path)
        resume(path, models=models)

    assert AGENTS == len(there) == len(server.asked)
    assert (True, True) == (verify(path).holds, verify(path).finished)


def test_an_answer_whose_commit_was_interrupted_is_committed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.journal"
    has_been: list[bool] = []

    def interrupted(fd: int, data: bytes, offset: int) -> int:
        if path.exists() and not has_been:  # the first answer
            has_been.append(True)
            os.pwrite(fd, data[: len(data) // 2], offset)
            raise KeyboardInterrupt
        return os.pwrite(fd, data, offset)

    with serving(lambda asked: plan(("claim", 5, 1))) as server:
        models = Models(base_url=server.address, concurrency=1)
        with monkeypatch.context() as patch:
            patch.setattr(files, "system", attrs.evolve(files.system, write=interrupted))
            with pytest.raises(KeyboardInterrupt):
                record(path, {"rounds": 1}, "llm:m*2,raid*1", models=models)
        there = rows_in(path)
        resume(path, models=models)

    assert [(1, 0)] == sorted(there)[:1]
    assert 1 == [asked.agent for asked in server.asked].count(0)  # who was still out is asked again
    with JournalReader(path) as reader:
        assert all(commit.blocks or commit.setup or commit.kind for commit in reader)
    assert verify(path).finished
