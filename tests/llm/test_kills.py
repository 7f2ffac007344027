"""Recorders of models killed: an answer that is in the journal is never asked for again.

A process with one thread forks those that are killed, so that dozens take seconds; each has a key
of its own, by which the server knows who asks.
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.errors import GoldrushError
from goldrush.replay.journal.verify import verify
from tests.cli.helpers import ROOT
from tests.journals import progress
from tests.llm.runs import models, pairs, playing, rows_in, told
from tests.llm.servers import Asked, Reply, Server, serving
from tests.mining import record, resume
from tests.quick_disk import syncing
from tests.waiting import HANGS, until

SETTINGS = {"rounds": 3, "seed": 3}
ROSTER = "llm:a*6,raid*2"
AGENTS = 6
INSTANTS = 32

FORKER = """
import json, os, signal, sys
from pathlib import Path
import openai
from tests.mining import record, resume
from goldrush.kernel.errors import BadInput
from tests.faults.dying import die_at
from tests.llm.runs import models
from tests.quick_disk import syncing
from tests.waiting import HANGS, until

for line in sys.stdin:
    path, address, key, settings, roster, dies_at = json.loads(line)
    pid = os.fork()
    if not pid:
        syncing().__enter__()  # processes die here, not the machine
        die_at(dies_at)
        os.environ["OPENAI_API_KEY"] = key
        code = 0
        try:
            if Path(path).exists():
                resume(path, models=models(address))
            else:
                record(path, settings, roster, models=models(address))
        except BadInput:  # the run had come to its end
            code = 2
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            code = 70
        os._exit(code)
    print(flush=True)
    sys.stdin.readline()
    if dies_at is None:
        os.kill(pid, signal.SIGKILL)  # it may have ended, but nobody else has its number yet
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


class Forker:
    """Starts recorders that are killed."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", FORKER],
            cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip

    def start(self, path: Path, address: str, key: str, dies_at: int | None = None) -> None:
        """Record, or go on with what is there; see `die_at`."""
        self._tell(json.dumps([str(path), address, key, SETTINGS, ROSTER, dies_at]))

    def kill(self) -> int:
        """How who was started last ended: it is killed, unless it dies by itself."""
        return int(self._tell("kill"))

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=HANGS)

    def _tell(self, line: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()


@pytest.fixture(scope="module")
def forker() -> Iterator[Forker]:
    forker = Forker()
    yield forker
    forker.close()


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


@pytest.mark.parametrize("answered", range(AGENTS))
def test_killed_in_the_middle_of_a_round_everybody_has_answered_once_in_the_end(
    forker: Forker, whole: list[dict[str, Any]], path: Path, answered: int
) -> None:
    gate = Gate(2, answered)
    with serving(gate) as server:
        forker.start(path, server.address, "first-one")
        if answered:
            wait_for(path, answered, 2)
        else:
            until(lambda: len(server.asked) == 2 * AGENTS)
        code = forker.kill()
        before = set(rows_in(path))
        gate.gone.set()
        resume(path, models=models(server.address))

        assert -signal.SIGKILL == code
        assert AGENTS + answered == len(before)
        # Once, unless a connection broke, and the journal says that it was asked again.
        tries = {at: row[5]["tries"] for at, row in rows_in(path).items() if row[5]}
        every = {(r, a) for r in (1, 2, 3) for a in range(AGENTS)}
        # The server notes an answer after it has given it.
        until(lambda: every <= set(pairs(server.answered)))
        answers = Counter(pairs(server.answered))
        assert every == set(answers)
        assert all(answers[at] == 1 or answers[at] <= tries[at] for at in answers)
    assert whole == told(path)
    assert (None, 4) == (verify(path).broken, verify(path).level)


def test_killed_at_any_instant_no_answer_in_the_journal_is_asked_for_again(
    forker: Forker, whole: list[dict[str, Any]], tmp_path: Path
) -> None:
    """Every other one by itself, at a call that changes the journal; the others, from outside, as
    soon as so many questions have come.
    """
    chance = random.Random(1)
    kills = runs = 0
    with serving(playing) as server:
        while kills < INSTANTS:
            path = tmp_path / f"{runs}.journal"
            runs += 1
            for attempt in range(3):
                there = rows_in(path) if path.exists() else {}
                key = f"run-{runs}-attempt-{attempt}"
                if runs % 2:
                    forker.start(path, server.address, key, dies_at=chance.randrange(20))
                else:
                    forker.start(path, server.address, key)
                    count = min(chance.randint(1, 3 * AGENTS), 3 * AGENTS - len(there))
                    until(partial(asked, server, key, count))
                code = forker.kill()
                kills += code == -signal.SIGKILL
                again = set(asked_by(server, key)) & set(there)

                assert set() == again
                assert code in (0, 2, -signal.SIGKILL)
                after = rows_in(path) if path.exists() else {}

                assert there.items() <= after.items(), "nothing that was committed is lost"
                if code != -signal.SIGKILL or len(after) == 3 * AGENTS:
                    break
            if not path.exists():
                continue
            if not verify(path, 1).finished:
                resume(path, models=models(server.address))

            assert whole == told(path)
            assert (None, 4) == (verify(path).broken, verify(path).level)


def asked_by(server: Server, key: str) -> list[tuple[int | None, int | None]]:
    return pairs([one for one in server.asked if one.headers["authorization"] == f"Bearer {key}"])


def asked(server: Server, key: str, count: int) -> bool:
    return len(asked_by(server, key)) >= count


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
        assert "stopped: " in err
        assert f"rounds 1 to 1, whole, and {len(there) - 6} answers of round 2; go on with" in err
        assert (None, 4, 1) == (verify(path).broken, verify(path).level, verify(path).rounds)
        assert "Traceback" not in err
        [says] = re.findall(r"`(.*)`", err)
        words = shlex.split(says)

        assert [
            "python",
            "-m",
            "goldrush",
            "resume",
            str(path),
            "--base-url",
            server.address,
        ] == words
        asked = len(server.asked)
        process = command(*words[3:])
        out, err = process.communicate(timeout=HANGS)

        assert (0, "") == (process.returncode, err)
        assert sorted({(r, a) for r in (2, 3) for a in range(AGENTS)} - there) == sorted(
            pairs(server.asked[asked:])
        )
    assert [e for e in whole if e["event"] == "mining_settled"] == [
        e for e in told(path) if e["event"] == "mining_settled"
    ]
    assert verify(path).finished
