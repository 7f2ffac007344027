"""Ctrl-C while answers come in: what has come is kept, however slow the disk is."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from agents.llm.models import Models
from agents.mining import record, resume
from kernel.journal import JournalReader
from replay.verify import verify
from tests.llm.runs import rows_in
from tests.llm.servers import Asked, Reply, plan, serving

AGENTS = 6


class Slow:
    """A disk on which the waiting takes until everybody has answered, then is interrupted."""

    def __init__(self, at: int, come: threading.Semaphore) -> None:
        self.left = at
        self.come = come
        self.fsync = os.fsync

    def __call__(self, fd: int) -> None:
        self.fsync(fd)
        self.left -= 1
        if self.left == 0:
            for _ in range(AGENTS):
                assert self.come.acquire(timeout=10)
            threading.Event().wait(0.2)  # the answers are written; now they arrive
            raise KeyboardInterrupt


@pytest.mark.parametrize("concurrency", [AGENTS, 2 * AGENTS])
def test_answers_that_came_while_the_disk_was_waited_for_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, concurrency: int
) -> None:
    path = tmp_path / "run.journal"
    come = threading.Semaphore(0)

    def respond(asked: Asked) -> Reply:
        come.release()
        return plan(("claim", (asked.agent or 0) * 10, 1))

    with serving(respond) as server:
        models = Models(base_url=server.address, concurrency=concurrency)
        with monkeypatch.context() as patch:
            patch.setattr("kernel.journal.os.fsync", Slow(1, come))
            with pytest.raises(KeyboardInterrupt):
                record(path, {"rounds": 1}, f"llm:m*{AGENTS},raid*1", models=models)
        there = rows_in(path)
        resume(path, models=models)

    assert AGENTS == len(there) == len(server.asked)
    assert (True, True) == (verify(path).holds, verify(path).finished)


def test_an_answer_whose_commit_was_interrupted_is_committed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.journal"
    write, left = os.write, [2]  # START, then the first answer

    def interrupted(fd: int, data: bytes) -> int:
        left[0] -= 1
        if left[0] == 0:
            write(fd, data[: len(data) // 2])
            raise KeyboardInterrupt
        return write(fd, data)

    with serving(lambda asked: plan(("claim", 5, 1))) as server:
        models = Models(base_url=server.address, concurrency=1)
        with monkeypatch.context() as patch:
            patch.setattr("kernel.journal.os.write", interrupted)
            with pytest.raises(KeyboardInterrupt):
                record(path, {"rounds": 1}, "llm:m*2,raid*1", models=models)
        there = rows_in(path)
        resume(path, models=models)

    assert [(1, 0)] == sorted(there)[:1]
    assert 1 == [asked.agent for asked in server.asked].count(0)  # who was still out is asked again
    with JournalReader(path) as reader:
        assert all(commit.blocks or commit.setup or commit.kind for commit in reader)
    assert verify(path).finished
