"""Reading takes memory for the state, not for the file; what measuring takes is bounded, too."""

import gc
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.kernel import journal
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.walk import Walk
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.data import encoded
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.find import tools_at
from goldrush.replay.journal.diff import diff
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.outline import outline_of
from goldrush.replay.journal.prompts import prompted
from goldrush.replay.journal.rebuild import rebuild, rebuilt_from
from goldrush.replay.journal.story import narrator
from goldrush.replay.journal.usage import usage
from goldrush.replay.journal.verify import verify
from tests.journals import peak
from tests.mining import fork, record, resume

FEW, MANY = 300, 900  # rounds
BOUNDED = 16  # bytes a round: less than a list with anything new for each of them
MEASURED = 300  # bytes: numbers of eight for measures and gold, six of four for a spell


def run_of(folder: Path, rounds: int) -> Path:
    """A small run, a fork of it from its second round on, and its first nine tenths."""
    path = folder / f"{rounds}.journal"
    settings = {"seed": 3, "rounds": rounds, "rows": 2, "cols": 4, "stamina": 4}
    record(path, settings, "tit-for-tat-raid*1,random*1")
    fork(path, 2, path.with_suffix(".forked"), roster="random*2")
    data = path.read_bytes()
    path.with_suffix(".cut").write_bytes(data[: len(data) * 9 // 10])
    return path


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A short run and a long one."""
    folder = tmp_path_factory.mktemp("runs")
    return [run_of(folder, rounds) for rounds in (FEW, MANY)]


@pytest.fixture(autouse=True)
def _in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read or held at once, up to a limit, is small beside these runs."""
    monkeypatch.setattr(journal, "_BUFFER", 1 << 12)
    monkeypatch.setattr(journal, "_PIECE", 1 << 12)
    monkeypatch.setattr(encoded, "BATCH", 20)


def drained(items: Iterable[Any]) -> None:
    deque(items, maxlen=0)


def folded(path: Path) -> None:
    with JournalReader(path) as reader:
        drained(Walk(MINING, reader))


def told(path: Path) -> None:
    drained(narrator(path)(log(path, Query())))


def explained(path: Path) -> None:
    drained(tools_at(path).explain(path))


def resumed(path: Path) -> None:
    again = path.with_suffix(".resumed")
    again.write_bytes(path.with_suffix(".cut").read_bytes())
    resume(again)


READERS: dict[str, Callable[[Path], object]] = {
    "walk.Walk": folded,
    "log.log": lambda path: drained(log(path, Query())),
    "story.narrator": told,
    "rebuild.rebuild": lambda path: rebuild(path, 90),
    "rebuild.rebuilt_from": lambda path: drained(rebuilt_from(path, 1)),
    "outline.outline_of": lambda path: outline_of(path, hashed=True),
    "verify.verify, 2": lambda path: verify(path, 2),
    "verify.verify, 4": lambda path: verify(path, 4),
    "usage.usage": usage,
    "prompts.prompted": lambda path: prompted(path, MINING_PLAYERS, 90, 0),
    "why": explained,
    "diff.diff, the same": lambda path: diff(path, path),
    "diff.diff": lambda path: diff(path, path.with_suffix(".forked")),
    "encoded.csv_table": lambda path: drained(encoded.csv_table([path], "agents")),
    "players.resume": resumed,
    "players.fork": lambda path: fork(path, 90, path.with_suffix(".forked"), force=True),
}


def a_round(reader: Callable[[Path], object], paths: list[Path]) -> float:
    """Bytes that a reader takes for each round by which a run is longer."""
    gc.collect()
    gc.disable()  # it would free the tuples that Python keeps for reuse, 2,000 of a size
    try:
        reader(paths[1])  # imports, and makes these tuples
        few, many = (peak(lambda path=path: reader(path)) for path in paths)  # type: ignore[misc]
    finally:
        gc.enable()
    return (many - few) / (MANY - FEW)


@pytest.mark.turns
@pytest.mark.parametrize("name", READERS)
def test_a_longer_run_takes_no_more_memory_to_read(name: str, paths: list[Path]) -> None:
    assert a_round(READERS[name], paths) < BOUNDED


def of_rounds(path: Path) -> None:
    drained(encoded.csv_table([path], "rounds"))


@pytest.mark.parametrize("measured", [measured_at, of_rounds])
def test_measuring_takes_a_few_numbers_for_each_round(
    measured: Callable[[Path], object], paths: list[Path]
) -> None:
    assert a_round(measured, paths) < MEASURED
