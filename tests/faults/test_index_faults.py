"""A wrong index costs time and changes no answer; one that is found wrong is made anew.

The index is built with states frozen close together, then changed in every byte, cut everywhere,
exchanged, and forged under right checksums. What is asked afterwards is asked of the sound journal
too, and must be the same.
"""

import os
import random
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
import pytest

from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.errors import GoldrushError
from goldrush.replay.journal import index as module
from goldrush.replay.journal.draws import draws_at
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.rebuild import rebuild
from tests.faults import damage
from tests.faults.conftest import Counted
from tests.faults.damage import Damaged
from tests.faults.journals import SOUND, Sound, big, frozen, small, twin
from tests.faults.sampling import sampled, step
from tests.indexes import FOOT, Parts, facts_of, index_of

Rows, States = list[list[int]], list[bytes]  # entries, and frozen states


class Indexed:
    """A sound journal with an index, and whether questions are answered as they were."""

    def __init__(self, folder: Path, sound: Sound) -> None:
        self.sound = sound
        self.path = folder / f"{sound.name}.journal"
        self.path.write_bytes(sound.data)
        self.index = index_of(self.path)
        rebuild(self.path, sound.rounds)
        self.right = self.index.read_bytes()
        self.parts = Parts.of(self.path)

    def put(self, data: bytes, parts: Parts | None = None) -> None:
        """Write the journal, and these parts as an index that seems to have been made from it."""
        self.path.write_bytes(data)
        self.index = index_of(self.path)
        if parts is not None:
            self.index.write_bytes(attrs.evolve(parts, facts=facts_of(self.path)).whole())

    def asked(self, round: int) -> Iterator[str]:
        """What is wrong with the answers about a round."""
        for way in (self.rebuilt, self.logged, self.audited):
            yield from way(round)

    def rebuilt(self, round: int) -> Iterator[str]:
        found = rebuild(self.path, round)
        if (frozen(found.state), found.digest, found.events) != self.sound.states[round]:
            yield f"round {round} was rebuilt otherwise"

    def logged(self, round: int) -> Iterator[str]:
        events = self.sound.prefixes[-1].events
        if list(log(self.path, Query(round))) != [event for event in events if event.unit >= round]:
            yield f"the log from {round} on is another"

    def audited(self, round: int) -> Iterator[str]:
        audits = [a for a in self.sound.prefixes[-1].audits if a.location["round"] == round]
        for wanted in audits[:1]:
            if draws_at(self.path, *wanted.location.values(), wanted.kind) != [wanted]:
                yield f"the audit of {round} is another"

    def forged(self, change: Callable[[Rows, States], object]) -> bytes:
        """An index with other entries or states under checksums that are right."""
        return self.parts.changed(change).whole()

    def missed(
        self, indices: Iterable[Damaged], rounds: Sequence[int], *, is_found: bool = True
    ) -> tuple[int, list[str]]:
        """How many indices were tried, and what was wrong with answers; `is_found`: or left in
        their place.
        """
        cases, wrong = 0, []
        ways = (self.logged, self.audited, self.rebuilt)
        for what, data in indices:
            self.index.write_bytes(data)
            for round in rounds:
                # The log reads no state, so only the rebuilding finds out about a wrong one.
                for way in {ways[(cases + round) % 3]: 0, self.rebuilt: 0}:
                    wrong += [f"{what}: {says}" for says in way(round)]
            if is_found and self.index.read_bytes() != self.right:
                wrong.append(f"{what}: the wrong index is still there")
            cases += 1
        return cases, wrong


@pytest.fixture(autouse=True)
def _short_journals_have_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "INDEX_FROM", 1_000)
    monkeypatch.setattr(module, "SPACING", 3)
    monkeypatch.setattr(module, "SHARE", 2)


@pytest.fixture
def short(tmp_path: Path) -> Indexed:
    """Four rounds; one state is frozen, after round 3."""
    return Indexed(tmp_path, small())


@pytest.fixture
def long(tmp_path: Path) -> Indexed:
    """Thirty rounds; several states are frozen."""
    return Indexed(tmp_path, big())


def test_the_index_under_test_is_used(short: Indexed, long: Indexed) -> None:
    assert [3] == [entry[0] for entry in short.parts.entries]
    assert len(long.parts.entries) > 3
    for indexed in (short, long):
        for round in range(1, indexed.sound.rounds + 1):
            assert [] == list(indexed.asked(round))


def test_every_flipped_bit_and_every_cut_of_an_index_changes_no_answer(
    short: Indexed, counted: Counted
) -> None:
    bits, wrong = short.missed(sampled(damage.flipped(short.right), 17), [4])
    cuts, more = short.missed(sampled(damage.cuts(short.right), 11), [4])
    counted("bits of an index flipped, and cuts", bits + cuts)
    [[*_, at, state]] = short.parts.entries
    # A state that is said to be of a later round is not looked at, so it stays.
    later = [f"of byte {place} flipped: the wrong" for place in range(at + state, at + state + 8)]

    assert [] == [says for says in wrong + more if not any(place in says for place in later)]


def test_an_index_of_something_else_changes_no_answer(
    short: Indexed, tmp_path: Path, counted: Counted
) -> None:
    other = tmp_path / "other.journal"
    others = [("nothing", b""), ("zeros", bytes(5000)), ("a foot", short.right[-FOOT.size :])]
    others += [("rubbish", random.Random(n).randbytes(n * 50)) for n in range(1, 20)]
    sources = {f"it at commit {c.index}": small().data[: c.end] for c in small().commits[4:-1]}
    sources |= {"its fork": SOUND["forked"]().data, "another": twin(), "a longer": big().data}
    for what, data in sources.items():
        other.write_bytes(data)
        rebuild(other, 4)
        parts = Parts.of(other)
        others.append((what, parts.whole()))
        others.append((f"{what}, its facts", attrs.evolve(parts, facts=short.parts.facts).whole()))
    cases, wrong = short.missed(others, [4])
    counted("indices of something else", cases)

    assert wrong == []


def full_folder(path: Path) -> None:
    path.mkdir()
    (path / "in the way").touch()


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("nowhere"), full_folder])
def test_what_is_no_file_in_the_place_of_an_index_is_done_without(
    make: Callable[[Path], None], short: Indexed
) -> None:
    short.index.unlink()
    make(short.index)
    signal.alarm(600)  # who reads the pipe waits for ever
    says = [says for round in range(1, 5) for says in short.asked(round)]
    signal.alarm(0)

    assert [] == says


ODD: Sequence[Any] = (
    None, True, -1, 0, 2**64 - 1, 0.5, float("nan"), "", "x", b"x", (), ((),), {}, {"a": 1},
    ((0, 0, 0, 0),), ((0, 1, 1, 1), (0, 2, 1, 1)), "long" * 500,
)  # fmt: skip


def _wrong_states(state: bytes) -> Iterator[tuple[str, bytes]]:
    """The frozen state with every part, and every part of a part, of another value."""
    fields = unpack(state)
    for place, value in enumerate(fields):
        wrong = list(ODD)
        if isinstance(value, tuple):
            inner = range(len(value))
            wrong += [(*value[:at], odd, *value[at + 1 :]) for at in inner for odd in ODD]
            wrong += [value[::-1], value[:-1], (*value, value)]
        if isinstance(value, dict):
            wrong += [{**value, name: odd} for name in value for odd in ODD]
            wrong += [dict(reversed(value.items()))]
        for odd in wrong:
            yield f"{place}: {odd!r:.60}", pack((*fields[:place], odd, *fields[place + 1 :]))
    yield "a part less", pack(fields[:-1])
    yield "a part more", pack((*fields, None))
    for raw in (b"", b"\xc0", b"\xc1", b"\x91" * 100_000, b"\xdd\xff\xff\xff\xff"):
        yield f"{raw!r:.60}", raw


def test_a_forged_state_changes_no_answer(short: Indexed, counted: Counted) -> None:
    [state] = short.parts.states
    indices = [
        (what, short.forged(lambda _, states, to=wrong: states.__setitem__(0, to)))
        for what, wrong in sampled(_wrong_states(state), 4)
        if wrong != state
    ]
    # A state with a plot given twice is the same in the end, so not all of them are replaced.
    cases, wrong_answers = short.missed(indices, [4])
    counted("forged states of an index", cases)

    assert [] == [says for says in wrong_answers if "still there" not in says]
    assert len(wrong_answers) <= 2


def _moved(rows: Rows, place: int, by: int) -> None:
    for row in rows:
        row[place] = (row[place] + by) % 2**64


def _at_the_next(rows: Rows) -> None:
    """Each entry but the last stands at the next one's place, as the end of its own unit."""
    for row, later in pairwise(rows):
        row[1] = later[1]


def _all_the_first(rows: Rows, states: States) -> None:
    rows[:] = [list(rows[0]) for _ in rows]
    states[:] = [states[0]] * len(states)


def test_forged_entries_change_no_answer(long: Indexed, counted: Counted) -> None:
    steps = (1, -1, 2, 50, 1 << 20, 1 << 31, -(1 << 20), 1 << 50)
    indices = [
        (f"{place} by {by}", long.forged(lambda rows, _, p=place, b=by: _moved(rows, p, b)))
        for place in range(5)
        for by in steps
    ]  # fmt: skip
    indices += [
        ("backwards", long.forged(lambda rows, states: (rows.reverse(), states.reverse()))),
        ("all the first", long.forged(_all_the_first)),
        ("at the next", long.forged(lambda rows, _: _at_the_next(rows))),
        ("no entries", long.forged(lambda rows, _: rows.clear())),
        ("states exchanged", long.forged(lambda _, states: states.reverse())),
    ]
    cases, wrong = long.missed(sampled(indices, 1), [5, 30], is_found=False)
    counted("forged entries of an index", cases)

    assert wrong == []


def test_of_a_damaged_journal_with_an_index_that_seems_fresh_no_answer_is_wrong(
    long: Indexed, counted: Counted
) -> None:
    data, cases, wrong, answered = long.sound.data, 0, [], 0
    for place in range(28, len(data), step(1_499)):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        for round in (4 + place % 3, 27 + place % 4):
            long.put(changed, long.parts)
            for ask in (long.rebuilt, long.logged, long.audited):
                cases += 1
                try:
                    wrong += [f"byte {place}: {says}" for says in ask(round)]
                    answered += 1
                except GoldrushError:
                    pass
    counted("damaged journals with a fresh index", cases)

    assert wrong == []
    assert 0 < answered < cases
