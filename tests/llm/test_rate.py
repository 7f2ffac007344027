"""One rate of requests for all processes: spaced evenly, whoever dies or cannot share the file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.agents.llm import client as client_
from goldrush.agents.llm.client import Client
from goldrush.agents.llm.model import Model
from goldrush.agents.llm.options import TEXT
from goldrush.agents.llm.rate import BUSY, Rate, runtime_folder
from tests.llm.clock import Clock
from tests.llm.servers import answered, completion, error, question, serving

ADDRESS = "http://127.0.0.1:8000/v1"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "goldrush"


def unshared(line: str) -> None:
    pytest.fail(line)


@given(
    pauses=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 40)), max_size=30),
    start=st.sampled_from([0.0, 1e9]),
)
def test_requests_of_all_are_spaced_evenly(
    pauses: Sequence[tuple[int, int]], start: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Three who ask whenever they like, of whom one comes anew each time."""
    address = str(tmp_path_factory.mktemp("a"))  # of its own: the file stays
    rates = [Rate(address, 6, unshared) for _ in range(2)]
    now, taken = start, list[float]()
    for who, pause in pauses:
        now += pause / 4
        rate = rates[who] if who < 2 else Rate(address, 6, unshared)
        wait = rate.wait(now)
        if wait:
            assert now + wait == pytest.approx(taken[-1] + 10)
        else:
            taken.append(now)
        if who == 2:
            rate.close()
    for rate in rates:
        rate.close()

    assert all(later - earlier >= 10 for earlier, later in pairwise(taken))
    assert bool(pauses) == bool(taken)


def test_a_clock_that_was_set_back_and_a_file_that_is_not_ours_hold_nothing_up(
    folder: Path,
) -> None:
    rate = Rate(ADDRESS, 1, unshared)
    assert 0.0 == rate.wait(5_000)
    assert 0.0 == rate.wait(1_000)
    assert 60.0 == rate.wait(1_000)
    [file] = folder.iterdir()
    for content in (b"\xff" * 8, b"", b"abc"):
        file.write_bytes(content)
        assert 0.0 == Rate(ADDRESS, 1, unshared).wait(2_000)


def test_who_dies_with_the_file_locked_holds_nobody_up(folder: Path) -> None:
    rate = Rate(ADDRESS, 60, unshared)
    [file] = folder.iterdir()
    code = (
        "import fcntl, sys, time\n"
        f"file = open({str(file)!r}, 'r+')\n"
        "fcntl.flock(file, fcntl.LOCK_EX)\n"
        "print('locked', flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        held = rate.wait(1_000)
        other.send_signal(signal.SIGKILL)

    assert BUSY == held
    assert 0.0 == rate.wait(1_000)


@pytest.mark.parametrize("what", ["mode", "link", "file"])
def test_a_folder_that_is_open_to_others_is_told_once(
    what: str, folder: Path, tmp_path: Path
) -> None:
    if what == "mode":
        folder.mkdir()
        folder.chmod(0o777)
    elif what == "link":
        (tmp_path / "there").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "there")
    else:
        folder.touch()
    lines: list[str] = []
    rate = Rate(ADDRESS, 6, lines.append)

    assert [0.0, 8.0, 0.0] == [rate.wait(now) for now in (1_000, 1_002, 1_010)]
    assert [True] == ["holds for this process alone" in line for line in lines]


@pytest.mark.parametrize("runtime", ["", "here", "/nowhere/at/all"])
def test_without_a_runtime_folder_a_private_one_is_made(
    runtime: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    made = Path(runtime_folder())

    assert (tmp_path / f"goldrush-{os.geteuid()}", 0o40700) == (made, made.stat().st_mode)
    assert str(made) == runtime_folder()


def test_a_client_waits_and_every_try_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two models at one address share its rate."""

    class Passing(Clock):
        """Time that passes in pauses alone."""

        now = 1_000.0

        async def sleep(self, seconds: float) -> None:
            self.now += seconds
            await super().sleep(0)

    clock, taken, wait = Passing(), list[float](), Rate.wait

    def watched(rate: Rate, now: float) -> float:
        seconds = wait(rate, now)
        taken.extend([] if seconds else [now])
        return seconds

    monkeypatch.setattr(Rate, "wait", watched)
    monkeypatch.setattr(client_, "asyncio", clock)
    monkeypatch.setattr(time, "time", lambda: clock.now)
    replies = [error(503), *[completion("{}")] * 9]

    with serving(lambda asked: replies.pop(0)) as server:
        questions = [
            question(server.address, model=Model(name, name, answer=TEXT), tries=2, rate=6)
            for name in ("a", "b", "a")
        ]
        with closing(Client(3, unshared)) as client:
            answers = [answer for _, answer in answered(client, questions)]

    assert ["{}"] * 3 == [answer.text for answer in answers]
    assert len(server.asked) == len(taken) == 4
    assert all(later - earlier >= 10 for earlier, later in pairwise(taken))
