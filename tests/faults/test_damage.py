"""Whatever happened to the bytes, every reader tells it, answers as before, or says where it ends.

Systematic on a journal of a few kilobytes in which every type of event and every field occurs, and
on a fork of it (every byte; with FAULTS=all every bit), random on a longer one, of which
`python -m tests.faults` tries a million.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import pytest

from goldrush.agents.players import Resources
from goldrush.kernel.errors import DamagedJournal
from goldrush.kernel.journal import FORK
from goldrush.kernel.worlds.mining.events import EVENTS
from goldrush.replay.journal.verify import verify
from tests.faults import damage
from tests.faults.conftest import Counted
from tests.faults.damage import CORRUPTIONS, Damaged
from tests.faults.journals import SOUND, TRUST, TWINS, Sound, forked, pieces_of, rubble, small
from tests.faults.readers import LONG_READERS, READERS, Bench, Reader, fate_of, resumed, verified
from tests.faults.sampling import sampled, step
from tests.mining import fork

SAMPLE = 1_000  # random corruptions of the longer journal
BOTH = pytest.mark.parametrize("name", ["small", "forked"])


def missed(
    folder: Path, sound: Sound, damaged: Iterable[Damaged], readers: Iterator[Sequence[Reader]]
) -> tuple[int, list[str]]:
    """How many files were tried, and what was wrong with what readers said of them."""
    wrong: list[str] = []
    with Bench(folder, sound) as bench:
        for (what, data), some in zip(damaged, readers, strict=False):
            wrong += [f"{what}: {finding}" for finding in bench.findings(data, some)]
    return bench.cases, wrong[:20]


def all_readers() -> Iterator[Sequence[Reader]]:
    """Every reader, for every file."""
    while True:
        yield (verified, *READERS)


def some_readers(*always: Reader, count: int) -> Iterator[Sequence[Reader]]:
    """These for every file, and so many of all, which take turns."""
    turn = 0
    while True:
        places = range(turn, turn + count)
        yield (verified, *always, *(READERS[place % len(READERS)] for place in places))
        turn += count


def near_fork(sound: Sound) -> range:
    """The places in and around the FORK of a forked journal; all places of another."""
    for commit in sound.commits:
        if commit.kind == FORK:
            return range(commit.offset - 30, commit.end + 30)
    return range(len(sound.data) + 1)


def test_all_that_can_stand_in_a_journal_stands_in_those_that_are_damaged() -> None:
    names = {event.name for event in small().prefixes[-1].events}
    filled = {
        (event.name, field)
        for event in (*small().prefixes[-1].events, *forked().prefixes[-1].events)
        for field, value in event.fields.items()
        if value is not None
    }
    missing = {
        (event.name, field)
        for event in EVENTS
        for field in event.fields
        if (event.name, field) not in filled
    }

    assert {event.name for event in EVENTS} <= names
    assert missing <= {("submitted", "error"), ("submitted", "source")}
    assert any(
        event.name == "forked" and event["replaced"] for event in forked().prefixes[-1].events
    )


@pytest.mark.parametrize("name", SOUND)
def test_the_journals_that_are_damaged_hold_and_every_reader_reads_them(
    name: str, tmp_path: Path
) -> None:
    sound = SOUND[name]()
    _, wrong = missed(tmp_path, sound, [("nothing", sound.data)] * 10, all_readers())

    assert wrong == []
    assert verify(tmp_path / "sound.journal", resources=Resources(trust=TRUST)).holds


@BOTH
def test_every_flipped_bit_is_found_by_verify_and_by_the_readers_in_turn(
    name: str, tmp_path: Path, counted: Counted
) -> None:
    sound = SOUND[name]()
    bits = sampled(damage.flipped(sound.data), 7)
    cases, wrong = missed(tmp_path, sound, bits, some_readers(count=1))
    counted("bits flipped", cases)

    assert wrong == []


@BOTH
def test_every_cut_is_a_torn_tail_or_a_sound_beginning_and_goes_on_to_the_same_bytes(
    name: str, tmp_path: Path, counted: Counted
) -> None:
    sound = SOUND[name]()
    ends = {commit.end + more for commit in sound.commits for more in (-1, 0, 1)}
    cuts = [
        cut
        for size, cut in enumerate(damage.cuts(sound.data))
        if size in ends or size % step(7) == 0
    ]
    cases, wrong = missed(tmp_path, sound, cuts, some_readers(resumed, count=1))
    counted("cuts", cases)

    assert wrong == []


@BOTH
def test_commits_swapped_repeated_or_left_out_are_found(
    name: str, tmp_path: Path, counted: Counted
) -> None:
    sound = SOUND[name]()
    header, pieces = sound.data[: sound.header], sound.pieces
    for kind, make in (
        ("pairs of commits swapped", damage.swapped),
        ("commits repeated", damage.repeated),
        ("runs of commits left out", damage.removed),
    ):
        cases, wrong = missed(tmp_path, sound, make(header, pieces), all_readers())
        counted(kind, cases)

        assert wrong == []


def test_without_its_last_commits_a_journal_is_sound_and_not_finished() -> None:
    sound = small()
    fates = [
        fate_of(data, sound) for _, data in damage.removed(sound.data[: sound.header], sound.pieces)
    ]
    last = len(sound.commits)

    assert [fate.whole for fate in fates if fate.error is None] == list(range(1, last))


@BOTH
def test_commits_of_another_run_are_found(name: str, tmp_path: Path, counted: Counted) -> None:
    sound = SOUND[name]()
    header, others = sound.data[: sound.header], pieces_of(TWINS[name]())
    damaged = [
        *damage.replaced(header, sound.pieces, others),
        *damage.replaced(header, sound.pieces, SOUND["big"]().pieces),
        *damage.appended(sound.data, [b"".join(others), others[-1], sound.pieces[-1]]),
    ]
    cases, wrong = missed(tmp_path, sound, damaged, all_readers())
    counted("commits and tails of another run", cases)

    assert wrong == []


@BOTH
@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("bytes put in", damage.inserted),
        ("ranges taken out", damage.deleted),
        ("ranges wiped", damage.zeroed),
    ],
)
def test_bytes_put_in_taken_out_or_wiped_are_found(
    name: str, kind: str, make: object, tmp_path: Path, counted: Counted
) -> None:
    sound = SOUND[name]()
    near = near_fork(sound)
    assert callable(make)
    damaged = [case for case in make(sound.data) if int(case[0].rpartition(" ")[2]) in near]
    cases, wrong = missed(tmp_path, sound, sampled(damaged, 5), some_readers(count=1))
    counted(kind, cases)

    assert wrong == []


@pytest.mark.parametrize("seed", range(4))
def test_random_corruptions_of_a_longer_journal_are_found(
    seed: int, tmp_path: Path, counted: Counted
) -> None:
    sound, other = SOUND["big"](), rubble("big")
    chance = random.Random(seed)
    damaged = (damage.corrupted(chance, sound.data, other) for _ in range(SAMPLE // 4))
    readers = ((verified, chance.choice(LONG_READERS)) for _ in range(SAMPLE))
    cases, wrong = missed(tmp_path, sound, damaged, readers)
    counted("random corruptions", cases)

    assert wrong == []


def test_a_fork_that_cannot_be_read_is_no_place_to_fork_from(tmp_path: Path) -> None:
    sound = forked()
    place = next(commit for commit in sound.commits if commit.kind == FORK)
    broken = bytearray(sound.data)
    broken[place.end - 1] ^= 1
    (tmp_path / "broken").write_bytes(broken)

    with pytest.raises(DamagedJournal, match=f"commit {place.index}"):
        fork(tmp_path / "broken", place.unit, tmp_path / "out", trust=TRUST)


def test_every_kind_of_corruption_changes_bytes() -> None:
    data, other = SOUND["big"]().data, rubble("big")
    for kind, corrupt in CORRUPTIONS.items():
        chance = random.Random(1)
        changed = [corrupt(chance, data, other) != data for _ in range(50)]

        assert sum(changed) > 40, kind


def test_a_corruption_can_be_had_again() -> None:
    data, other = SOUND["big"]().data, rubble("big")
    twice = [damage.corrupted(random.Random(5), data, other) for _ in range(2)]

    assert twice[0] == twice[1]


def test_a_reader_that_misses_damage_is_found_out(tmp_path: Path) -> None:
    sound = small()

    def blind(case: object) -> None:
        fate_of(sound.data, sound)

    def careless(case: object) -> None:
        raise KeyError("setup")

    bits = islice(damage.flipped(sound.data, 100), 3)
    with Bench(tmp_path, sound) as bench:
        found = [bench.findings(data, [blind, careless]) for _, data in bits]

    assert [["tracebacks"]] * 3 == [[finding.kind for finding in each] for each in found]
