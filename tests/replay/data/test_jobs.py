"""Many journals read by several processes: what they give is what one process gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from goldrush.agents import pool
from goldrush.cli.main import cli
from goldrush.kernel.errors import BadInput, TornTail
from goldrush.replay import workers
from goldrush.replay.data import encoded
from goldrush.replay.data.groups import groups
from tests.golden import path_of
from tests.mining import record

# From 3.12 on Python warns of a fork beside threads, which the test runner has.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Runs of different lengths, so that a later one is read sooner than an earlier one."""
    folder = tmp_path_factory.mktemp("runs")
    found = [folder / f"{seed}.journal" for seed in range(5)]
    for seed, path in enumerate(found):
        record(path, {"rounds": 12 - 2 * seed, "seed": seed})
    return found


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of processes of each pool, which even the smallest journals start."""
    found: list[int] = []
    start = pool.workers
    monkeypatch.setattr(workers, "SERIAL_MAX", 0)
    monkeypatch.setattr(pool, "workers", lambda jobs: found.append(jobs) or start(jobs))
    return found


def by_command(*words: object) -> Callable[[list[Path], int], object]:
    def run(paths: list[Path], jobs: int) -> object:
        given = [*words[:1], *paths, *words[1:], "--jobs", jobs]
        ran = CliRunner().invoke(cli, list(map(str, given)), catch_exceptions=False)
        return ran.exit_code, ran.output

    return run


@pytest.mark.parametrize(
    "read",
    [
        groups,
        by_command("measure", "--json"),
        by_command("measure", "--usage"),
    ],
)
def test_the_number_of_processes_changes_nothing(
    paths: list[Path],
    started: list[int],
    read: Callable[[list[Path], int], Any],
) -> None:
    alone = read(paths, 1)

    assert alone == read(paths, 2)
    assert [2] == started


def test_the_first_journal_that_cannot_be_read_is_named(paths: list[Path], tmp_path: Path) -> None:
    torn = [tmp_path / name for name in ("a", "b")]
    for path in torn:
        path.write_bytes(paths[0].read_bytes()[:-3])
    of_two_worlds = [paths[0], path_of("seasons/short"), torn[0]]
    for jobs in (1, 2):
        with pytest.raises(TornTail, match=r"/a\b"):
            groups([*paths, *torn], jobs)
    with pytest.raises(TornTail, match=r"/a\b"):
        encoded.write_tables([*paths, *torn], tmp_path / "out", "csv")
    with pytest.raises(BadInput, match=r"is a run of the competition world, .* of the mining"):
        encoded.write_tables(of_two_worlds, tmp_path / "out", "csv")

    assert {"a", "b"} == {path.name for path in tmp_path.iterdir()}
