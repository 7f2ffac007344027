"""Recorders of models killed: an answer that is in the journal is never asked for again."""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.errors import GoldrushError
from goldrush.replay.journal.verify import verify
from tests.cli.helpers import ROOT
from tests.faults.dying import die_at
from tests.journals import progress
from tests.llm.runs import models, pairs, playing, rows_in, told
from tests.llm.servers import Asked, Reply, serving
from tests.mining import record, resume
from tests.quick_disk import syncing
from tests.waiting import HANGS, until

SETTINGS = {"rounds": 3, "seed": 3}
ROSTER = "llm:a*6,raid*2"
AGENTS = 6
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


class Gate:
    """Answers of a round but for so many agents, which are held back until who asks has gone."""

    def __init__(self, round: int, answered: int) -> None:
        self.round = round
        self.answered = answered
        self.gone = threading.Event()

    def __call__(self, asked: Asked) -> Reply:
        held = asked.round == self.round and (asked.agent or 0) >= self.answered
        if held and not self.gone.is_set():
            self.gone.wait(HANGS)
            raise ConnectionResetError
        return playing(asked)


def wait_for(path: Path, waiting: int, round: int) -> None:
    """Until so many answers of a round are in the journal."""

    def have_come() -> bool:
        try:
            found = progress(path)
        except (GoldrushError, OSError):
            return False
        return found == (round - 1, waiting)

    until(have_come)


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


def command(*arguments: str) -> subprocess.Popen[str]:
    environment = {name: v for name, v in os.environ.items() if not name.startswith("OPENAI_")}
    return subprocess.Popen(
        [sys.executable, "-m", "goldrush", *arguments],
        cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**environment, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def test_stopped_by_ctrl_c_it_says_how_to_go_on_and_that_works(
    whole: list[dict[str, Any]], tmp_path: Path
) -> None:
    path = tmp_path / "a run.journal"
    gate = Gate(2, 4)
    with serving(gate) as server:
        process = command(
            "record", "--out", str(path), "--roster", ROSTER, "--base-url", server.address,
            "--rounds", "3", "--seed", "3",
        )  # fmt: skip
        wait_for(path, 4, 2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=HANGS)
        gate.gone.set()
        there = set(rows_in(path))  # the last may have been taken back, if the disk was slow

        assert (130, "") == (process.returncode, out)
        assert 6 + 3 <= len(there) <= 6 + 4
        assert (None, 4, 1) == (verify(path).broken, verify(path).level, verify(path).rounds)
        assert "Traceback" not in err
        [says] = re.findall(r"`(.*)`", err)
        asked = len(server.asked)
        process = command(*shlex.split(says)[3:])
        out, err = process.communicate(timeout=HANGS)

        assert (0, "") == (process.returncode, err)
        assert sorted({(r, a) for r in (2, 3) for a in range(AGENTS)} - there) == sorted(
            pairs(server.asked[asked:])
        )
    assert [e for e in whole if e["event"] == "mining_settled"] == [
        e for e in told(path) if e["event"] == "mining_settled"
    ]
    assert verify(path).finished
