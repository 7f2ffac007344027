"""The door of the readers: forged events are named, and a bug stays a bug."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kernel.errors import MalformedEvents
from kernel.mining.events import MINING_SETTLED
from replay.forged import reader_of, telling_forged
from tests.faults import forge
from tests.faults.journals import small


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    path = tmp_path / "sound.journal"
    path.write_bytes(small().data)
    return path


@pytest.fixture
def forged(tmp_path: Path) -> Path:
    """A journal whose digests hold, and one of whose plots yields what it cannot."""
    path = tmp_path / "forged.journal"
    made = forge.event_makers(small(), MINING_SETTLED, {"ninety-nine": 99})
    path.write_bytes(next(make() for what, make in made if what.endswith("gold is ninety-nine")))
    return path


@reader_of
def careless(path: Path) -> Any:
    return {}[path]


@reader_of
def careless_one_by_one(path: Path, first: int = 1) -> Iterator[int]:
    yield first
    raise AssertionError("a table as the rules never leave one")


def test_what_a_reader_raises_of_forged_events_names_the_first_of_them(forged: Path) -> None:
    with pytest.raises(MalformedEvents, match=r"mining_settled.*expected .*found .*99") as caught:
        careless(forged)

    assert str(forged) == caught.value.path
    assert isinstance(caught.value.__cause__, KeyError)


def test_what_was_read_before_is_given(forged: Path) -> None:
    found = []
    with pytest.raises(MalformedEvents):
        found.extend(careless_one_by_one(forged, first=7))

    assert [7] == found


def test_of_a_journal_that_holds_a_failure_is_a_bug_and_stays_one(sound: Path) -> None:
    with pytest.raises(KeyError):
        careless(sound)
    with pytest.raises(AssertionError):
        list(careless_one_by_one(sound))


def test_of_what_cannot_be_judged_a_failure_stays_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no journal")
    for path in (tmp_path / "text", tmp_path / "nothing"):
        with pytest.raises(KeyError):
            careless(path)


def test_of_two_journals_the_forged_one_is_named(sound: Path, forged: Path) -> None:
    with pytest.raises(MalformedEvents) as caught, telling_forged(sound, forged):
        raise LookupError

    assert str(forged) == caught.value.path
