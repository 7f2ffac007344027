"""Whatever happened to the bytes, every reader tells it, answers as before, or says where it ends.

Systematic on a journal of a few kilobytes in which every type of event and every field occurs, and
on a fork of it; random on a longer one.
"""

import os
import random
from collections.abc import Callable, Iterable, Sequence
from itertools import cycle, islice
from pathlib import Path

import pytest

from goldrush.agents.players import Resources
from goldrush.kernel.worlds.mining.events import EVENTS
from goldrush.replay.journal.verify import verify
from tests.faults import damage
from tests.faults.conftest import Counted
from tests.faults.damage import Damaged
from tests.faults.journals import SOUND, TRUST, TWINS, Sound, forked, pieces_of, rubble, small
from tests.faults.readers import READERS, Bench, Reader, resumed, verified
from tests.faults.sampling import ALL, in_turn, sampled, step

PIECE = 250  # random corruptions of a test
PIECES = range(int(os.environ.get("CORRUPTIONS", 750)) // PIECE)
BOTH = pytest.mark.parametrize("name", ["small", "forked"])


def missed(
    folder: Path, sound: Sound, damaged: Iterable[Damaged], readers: Iterable[Sequence[Reader]]
) -> tuple[int, list[str]]:
    """How many files were tried, and what was wrong with what readers said of them."""
    wrong: list[str] = []
    with Bench(folder, sound) as bench:
        for (what, data), some in zip(damaged, readers, strict=False):
            wrong += [f"{what}: {finding}" for finding in bench.findings(data, some)]
    return bench.cases, wrong[:20]


ALL_OF_THEM = cycle([(verified, *READERS)])
IN_TURN = cycle([(verified, reader) for reader in READERS])
MOST = ALL_OF_THEM if ALL else IN_TURN
RESUMED_TOO = cycle([(verified, resumed, reader) for reader in READERS])


def test_all_that_can_stand_in_a_journal_stands_in_those_that_are_damaged() -> None:
    found = [*small().prefixes[-1].events, *forked().prefixes[-1].events]
    fields = {(event.name, field) for event in EVENTS for field in event.fields}
    filled = {(e.name, field) for e in found for field, value in e.fields.items() if value != None}  # noqa: E711

    assert fields - filled <= {("submitted", "error"), ("submitted", "source")}
    assert any(event.name == "forked" and event["replaced"] for event in found)


@pytest.mark.parametrize("name", SOUND)
def test_the_journals_that_are_damaged_hold_and_every_reader_reads_them(
    name: str, tmp_path: Path
) -> None:
    sound = SOUND[name]()
    _, wrong = missed(tmp_path, sound, [("nothing", sound.data)] * 2, ALL_OF_THEM)

    assert wrong == []
    assert verify(tmp_path / "sound.journal", resources=Resources(trust=TRUST)).holds


def cuts(sound: Sound) -> Iterable[Damaged]:
    """Around the ends of all commits, and anywhere."""
    ends = {commit.end + more for commit in sound.commits for more in (-1, 0, 1)}
    for size, cut in enumerate(damage.cuts(sound.data)):
        if size in ends or size % step(23) == 0:
            yield cut


def by_commit(sound: Sound) -> Iterable[Damaged]:
    """Commits in other places, or none, and those of other runs."""
    header, pieces = sound.data[: sound.header], sound.pieces
    others = pieces_of(TWINS[sound.name]())
    yield from damage.swapped(header, pieces)
    yield from damage.repeated(header, pieces)
    yield from damage.removed(header, pieces)
    yield from damage.replaced(header, pieces, others)
    yield from damage.replaced(header, pieces, SOUND["big"]().pieces)
    yield from damage.appended(sound.data, [b"".join(others), others[-1], pieces[-1]])


@BOTH
@pytest.mark.parametrize(
    ("kind", "make", "readers"),
    [
        ("bits flipped", lambda sound: sampled(damage.flipped(sound.data), 17), IN_TURN),
        ("cuts", cuts, RESUMED_TOO),
        ("commits out of place", by_commit, MOST),
    ],
)
def test_damage_of_every_kind_is_found(
    name: str,
    kind: str,
    make: Callable[[Sound], Iterable[Damaged]],
    readers: Iterable[Sequence[Reader]],
    tmp_path: Path,
    counted: Counted,
) -> None:
    sound = SOUND[name]()
    cases, wrong = missed(tmp_path, sound, make(sound), readers)
    counted(kind, cases)

    assert wrong == []


@pytest.mark.parametrize("seed", in_turn(PIECES))
def test_random_corruptions_of_a_longer_journal_are_found(
    seed: int, tmp_path: Path, counted: Counted
) -> None:
    sound, other, chance = SOUND["big"](), rubble("big"), random.Random(seed)
    damaged = (damage.corrupted(chance, sound.data, other) for _ in range(PIECE))
    readers = ((verified, chance.choice(READERS)) for _ in range(PIECE))
    cases, wrong = missed(tmp_path, sound, damaged, readers)
    counted("random corruptions", cases)

    assert wrong == []


def test_a_reader_that_misses_damage_is_found_out(tmp_path: Path) -> None:
    def blind(case: object) -> None:
        pass

    def careless(case: object) -> None:
        raise KeyError("setup")

    [(_, data)] = islice(damage.flipped(small().data, 100), 1)
    with Bench(tmp_path, small()) as bench:
        found = bench.findings(data, [blind, careless])

    assert ["careless: KeyError: 'setup'"] == found
