"""A run followed while it is recorded, whatever piece of it is in the file."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from goldrush.kernel.errors import BadInput, DamagedJournal
from goldrush.kernel.journal import UNIT
from goldrush.replay.journal.rebuild import follow, rebuild
from tests.golden import FORKED, FORKED_SEASON, MODEL_SEASON, MODELS, path_of, season_path
from tests.journals import commits_of


def grows(path: Path, data: bytes, ends: list[int]) -> Callable[[], None]:
    """What lets a file grow to the next of these lengths of its data; it has the first."""
    path.write_bytes(data[: ends[0]])
    rest = iter(ends[1:])

    def grow() -> None:
        with path.open("ab") as file:
            file.write(data[path.stat().st_size : next(rest)])

    return grow


SOURCES = [path_of(FORKED), path_of(MODELS), season_path(FORKED_SEASON), season_path(MODEL_SEASON)]


@pytest.mark.parametrize("source", SOURCES,
                         ids=["forked", "models", "season", "models in a season"])  # fmt: skip
def test_every_unit_is_given_once_however_the_file_grows(source: Path, tmp_path: Path) -> None:
    path, data = tmp_path / "run.journal", source.read_bytes()
    start = commits_of(source)[0].end
    grow = grows(path, data, [*range(start, len(data), 997), len(data)])
    seen = list(follow(path, grow))
    closed = [c for c in commits_of(source) if c.kind == UNIT and c.digest is not None]

    assert [c.digest for c in closed] == [one.digest for one in seen[1:]]
    for one in seen:
        assert rebuild(source, one.round).events == one.events


def test_what_takes_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    path, other = tmp_path / "run.journal", tmp_path / "other"
    data = path_of(FORKED).read_bytes()
    path.write_bytes(data[:9000])
    other.write_bytes(data)

    with pytest.raises(BadInput, match="names another file by now"):
        list(follow(path, lambda: other.rename(path)))


def test_nothing_is_locked_or_left(tmp_path: Path) -> None:
    path, data = tmp_path / "run.journal", path_of(FORKED).read_bytes()
    path.write_bytes(data)
    tmp_path.chmod(0o500)
    path.chmod(0o400)
    list(follow(path, lambda: None))
    tmp_path.chmod(0o700)

    assert [path] == list(tmp_path.iterdir())
    assert hashlib.sha256(data).digest() == hashlib.sha256(path.read_bytes()).digest()


def test_damage_is_no_torn_tail(tmp_path: Path) -> None:
    path, data = tmp_path / "run.journal", bytearray(path_of(FORKED).read_bytes())
    data[6000] ^= 1
    path.write_bytes(data)

    with pytest.raises(DamagedJournal):
        list(follow(path, lambda: None))
