"""Recorders of models killed: an answer that is in the journal is never asked for again."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from goldrush.replay.journal.verify import verify
from tests.faults.dying import die_at
from tests.llm.runs import models, pairs, playing, rows_in, told
from tests.llm.servers import serving
from tests.mining import record, resume
from tests.quick_disk import syncing
from tests.waiting import HANGS

SETTINGS = {"rounds": 3, "seed": 3}
ROSTER = "llm:a*6,raid*2"
KILLS = 12

# Forks a process that has only imported this module, so that a kill takes no time.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([__name__, "openai"])


def recorder(path: Path, address: str, key: str, dies_at: int) -> None:
    """Record, or go on with what is there, until a call that changes the journal."""
    os.environ["OPENAI_API_KEY"] = key
    with syncing():  # processes die here, not the machine
        die_at(dies_at)
        if path.exists():
            resume(path, models=models(address))
        else:
            record(path, SETTINGS, ROSTER, models=models(address))


@pytest.fixture(autouse=True, scope="module")
def quick_disk() -> Iterator[None]:
    with syncing():
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The events of a run that was never killed."""
    path = tmp_path_factory.mktemp("whole") / "run.journal"
    with serving(playing) as server:
        record(path, SETTINGS, ROSTER, models=models(server.address))
    return told(path)


def test_killed_at_any_instant_no_answer_in_the_journal_is_asked_for_again(
    whole: list[dict[str, Any]], path: Path
) -> None:
    chance = random.Random(1)
    kills = 0
    with serving(playing) as server:
        while kills < KILLS:
            there = rows_in(path) if path.exists() else {}
            key = f"behind-{len(server.asked)}"
            given = path, server.address, key, chance.randrange(20)
            process = FORKS.Process(target=recorder, args=given)
            process.start()
            process.join(HANGS)
            kills += process.exitcode == -signal.SIGKILL
            asked = [a for a in server.asked if a.headers["authorization"] == f"Bearer {key}"]
            after = rows_in(path) if path.exists() else {}

            assert process.exitcode in (0, -signal.SIGKILL)
            assert not set(pairs(asked)) & set(there)
            assert there.items() <= after.items(), "nothing that was committed is lost"
            if not path.exists() or (kills < KILLS and not verify(path, 1).finished):
                continue
            if not verify(path, 1).finished:
                resume(path, models=models(server.address))
            assert whole == told(path)
            assert (None, 4) == (verify(path).broken, verify(path).level)
            path.unlink()
