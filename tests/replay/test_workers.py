"""Processes at work: in order, and told when one of them dies."""

import os
import signal
import struct
import sys
import time
from pathlib import Path

import pytest

from goldrush.agents.pool import WorkerDied, workers
from goldrush.replay.workers import SERIAL_MAX, map_in_order
from tests.waiting import HANGS, until

# From 3.12 on Python warns of a fork beside threads, which the test runner has.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


def slowly(number: int) -> int:
    time.sleep((7 * number % 5) / 500)
    return number * number


def deadly(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def wrong(number: int) -> int:
    if number == 3:
        raise ValueError(number)
    return number


def note(path: str) -> int:
    Path(path).touch()
    return os.getpid()


@pytest.mark.parametrize("jobs", [1, 2, None])
def test_outcomes_come_in_the_order_of_the_tasks(jobs: int | None) -> None:
    assert [n * n for n in range(40)] == list(map_in_order(slowly, range(40), jobs))
    assert [] == list(map_in_order(slowly, [], jobs))


def test_what_a_task_raises_is_raised_and_a_process_that_dies_is_told() -> None:
    with pytest.raises(ValueError, match="3"):
        list(map_in_order(wrong, range(10), 2))
    with pytest.raises(WorkerDied):
        list(map_in_order(deadly, range(10), 2))


def test_who_stops_asking_leaves_no_process_behind(tmp_path: Path) -> None:
    outcomes = map_in_order(note, [str(tmp_path / str(n)) for n in range(200)], 2)
    pid = next(outcomes)
    outcomes.close()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert len(list(tmp_path.iterdir())) < 100


def test_what_is_printed_in_a_worker_is_no_part_of_an_answer(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with workers(1) as pool:
        pool.submit(print, "loud").result()

    assert ("", "loud\n") == capfd.readouterr()


@pytest.mark.parametrize(("jobs", "size"), [(1, None), (2, SERIAL_MAX)])
def test_little_work_or_one_job_starts_no_process(
    tmp_path: Path, jobs: int, size: int | None, capfd: pytest.CaptureFixture[str]
) -> None:
    paths = [str(tmp_path / str(n)) for n in range(3)]

    assert [os.getpid()] * 3 == list(map_in_order(note, paths, jobs, size))
    assert os.getpid() not in map_in_order(note, paths, 2, SERIAL_MAX + 1)
    assert [None] == list(map_in_order(print, ["loud"], jobs, size))
    assert ("", "loud\n") == capfd.readouterr()


def sends_a_part(path: str) -> None:
    """Begins to send a result of 1,000 bytes, as one that is killed meanwhile."""
    queue = sys._getframe(1).f_locals["result_queue"]
    os.write(queue._writer.fileno(), struct.pack("!i", 1_000) + b"a part")
    Path(path).touch()
    time.sleep(HANGS)


def test_a_pool_stops_where_a_worker_has_sent_a_part_of_a_result(tmp_path: Path) -> None:
    with workers(1) as pool:
        pool.submit(sends_a_part, str(tmp_path / "sent"))
        until((tmp_path / "sent").exists)
        pool.stop()  # which waits for the thread that reads results
