"""Inputs that are committed as they come, before anything follows from them.

Whatever the order and the pieces in which the notes of a choir come, and wherever a recording
breaks off, the run must be the one that is recorded without pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel import run
from goldrush.kernel.errors import BadInput, GoldrushError, MalformedEvents, TornTail
from goldrush.kernel.fold import events
from goldrush.kernel.journal import (
    END,
    FORK,
    UNIT,
    Commit,
    JournalReader,
    JournalWriter,
)
from goldrush.kernel.run import InputPieces, rest_of
from goldrush.kernel.world import Batch, Block, RecordedEvent
from goldrush.replay.journal.diff import diff
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.verify import verify
from tests.found import found
from tests.journals import commits_of, events_of, write
from tests.kernel.choir import (
    AFAR,
    CHOIR,
    CHORD,
    HEADER,
    SUNG,
    SUNG_IN_ALL,
    WAYS,
    Asked,
    Hall,
    at_once,
    batches_of,
    record,
    resume,
)
from tests.quick_disk import syncing

told = partial(events_of, world=CHOIR)


@pytest.fixture(autouse=True)
def _choir_is_found() -> Iterator[None]:
    with found(CHOIR, at_once):
        yield


def digests(path: Path) -> list[int]:
    return [commit.digest for commit in commits_of(path) if commit.digest is not None]


def sung_in(commits: Sequence[Commit]) -> set[tuple[int, int, int]]:
    """(song, verse, singer) of the notes from afar that stand in these commits."""
    found = set()
    song = verse = 0
    for commit in commits:
        if commit.kind != UNIT:
            continue
        if commit.unit - 1 != song:
            song, verse = commit.unit - 1, 0
        for place, block in enumerate(commit.blocks):
            found |= {(song, verse, row[0]) for row in block.rows(SUNG) if row[0] in AFAR}
            verse += place % 2
    return found


@pytest.fixture(autouse=True, scope="module")
def quick_disk() -> Iterator[None]:
    """Hundreds of runs need not wait for the disk; that they would is a test of its own."""
    with syncing():
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run without pieces."""
    path = tmp_path_factory.mktemp("choir") / "whole.journal"
    record(path, at_once)
    return path


@pytest.fixture(scope="module", params=WAYS)
def pieces(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run in pieces of some form."""
    path = tmp_path_factory.mktemp("choir") / f"{request.param}.journal"
    record(path, Asked(request.param))
    return path


def test_a_run_in_pieces_has_the_state_the_digests_and_the_events_of_one_without(
    pieces: Path, whole: Path, tmp_path: Path
) -> None:
    again = record(tmp_path / "again.journal", Asked(pieces.stem))
    without = record(tmp_path / "without.journal", at_once)

    assert without == again
    assert digests(whole) == digests(pieces)
    assert told(whole) == told(pieces)
    assert diff(whole, pieces).same


def test_pieces_stand_in_the_order_in_which_they_came_and_none_is_empty(path: Path) -> None:
    record(path, Asked("with nothing in between"))
    inputs = [c.blocks[0] for c in commits_of(path) if c.unit == 1]

    assert [[2], [4, 0], [1, 3]] == [[row[0] for row in block.rows(SUNG)] for block in inputs]


def test_a_piece_is_on_the_disk_before_the_next_is_asked_for(path: Path) -> None:
    kept = []

    def ask(hall: Hall) -> InputPieces:
        for singer in AFAR:
            kept.append(len(sung_in(commits_of(path))))
            yield batches_of(hall, [singer])
        return batches_of(hall, (1, 3))

    record(path, ask)

    assert list(range(len(SUNG_IN_ALL))) == kept


def test_from_the_first_piece_on_the_disk_is_waited_for(path: Path) -> None:
    synced: list[int] = []
    with syncing(synced.append):
        record(path, at_once)
        assert [] == synced
        record(path, Asked("backwards"))

    assert len(commits_of(path)) - 1 <= len(synced)  # and its folder


def test_what_a_generator_holds_is_let_go_whoever_fails(tmp_path: Path) -> None:
    closed = []

    def ask(hall: Hall) -> InputPieces:
        try:
            yield batches_of(hall, [2])
            raise LookupError
        finally:
            closed.append(True)

    def take(batches: Sequence[Batch]) -> None:
        raise OSError

    with pytest.raises(LookupError):
        record(tmp_path / "run.journal", ask)
    with pytest.raises(OSError):  # noqa: PT011
        rest_of(ask(Hall(1, 1)), take)

    assert [True, True] == closed


def test_a_run_in_pieces_holds_cut_after_any_commit(pieces: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.journal"
    for commit in commits_of(pieces):
        cut.write_bytes(pieces.read_bytes()[: commit.end])
        ended = commit.kind == END
        closed = commit.unit - (commit.digest is None and not ended)
        for ask in (at_once, Asked("turning")):
            with found(CHOIR, ask):
                verdict = verify(cut)

            assert (None, 4) == (verdict.broken, verdict.level)
            assert (ended, closed) == (verdict.finished, verdict.rounds)


ONE_WAY = pytest.mark.parametrize("pieces", ["in pieces of several"], indirect=True)


@ONE_WAY
@pytest.mark.parametrize("fails", [None, RuntimeError, SystemExit])
def test_level_4_finds_a_note_that_nobody_would_sing(
    pieces: Path, fails: type[BaseException] | None
) -> None:
    sung_off: list[int] = []

    def out_of_tune(hall: Hall) -> InputPieces:
        for singer in (4, 0, 2):
            off = hall.song == 2 and hall.verse == 1 and singer == 2
            if off and sung_off and fails:  # asked once more for the cause
                raise fails
            sung_off.extend([singer] * off)
            yield [(SUNG, [(2, 77)])] if off else batches_of(hall, [singer])
        return batches_of(hall, (1, 3))

    with found(CHOIR, out_of_tune):
        broken = verify(pieces).broken

    assert (4, True) == (broken.level, broken.where.startswith("song 3"))


@pytest.mark.parametrize("way", ["as before", "turning"])
def test_broken_off_after_any_commit_it_goes_on_to_the_same_digests_and_asks_nothing_twice(
    pieces: Path, whole: Path, tmp_path: Path, way: str
) -> None:
    data, commits = pieces.read_bytes(), commits_of(pieces)
    cut = tmp_path / "cut.journal"
    for number, commit in enumerate(commits[:-1]):
        there = sung_in(commits[: number + 1])
        cut.write_bytes(data[: commit.end])
        asked = resume(cut, pieces.stem if way == "as before" else way)

        assert digests(whole) == digests(cut)
        assert told(whole) == told(cut)
        assert sorted(set(SUNG_IN_ALL) - there) == sorted(asked)
        if way == "as before" and pieces.stem != "in pieces of several":
            assert data == cut.read_bytes()


def test_cut_inside_its_start_there_is_nothing_to_go_on_with(whole: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.journal"
    for size in range(commits_of(whole)[0].end):
        cut.write_bytes(whole.read_bytes()[:size])
        with pytest.raises(GoldrushError, match=str(cut)):
            resume(cut, "turning")

        assert size == cut.stat().st_size


def told_before_torn_tail(stream: Iterator[RecordedEvent]) -> list[RecordedEvent]:
    """The events of a stream that a torn tail ends."""
    found: list[RecordedEvent] = []
    with pytest.raises(TornTail):
        found.extend(stream)
    return found


def test_what_waits_is_told_in_order_and_goes_before_a_torn_tail(
    pieces: Path, whole: Path, tmp_path: Path
) -> None:
    """As far as they go, the events of a run that broke off are those of the whole one."""
    data, commits = pieces.read_bytes(), commits_of(pieces)
    cut = tmp_path / "cut.journal"
    in_order = told(whole)
    for number, commit in enumerate(commits[:-1]):
        there = sung_in(commits[: number + 1])
        cut.write_bytes(data[: commit.end + 7])
        logged = told_before_torn_tail(log(cut))
        chords = told_before_torn_tail(log(cut, Query(names=["chord"])))
        with JournalReader(cut) as reader:
            again = told_before_torn_tail(events(CHOIR, reader))
        left = iter(in_order)

        assert again == logged
        assert all(event in left for event in logged), "in the order of the whole run"
        assert len(there) == len([e for e in logged if e.name == "sung" and e["singer"] in AFAR])
        assert chords == [event for event in logged if event.name == "chord"]


@ONE_WAY
@pytest.mark.parametrize("tail", [0, 7])
def test_songs_around_one_left_open_are_rebuilt(
    pieces: Path, whole: Path, tmp_path: Path, tail: int
) -> None:
    opened = [c for c in commits_of(pieces) if c.unit == 3 and c.digest is None]
    cut = tmp_path / "cut.journal"
    cut.write_bytes(pieces.read_bytes()[: opened[-1].end + tail])
    for song in range(3):
        rebuilt, expected = (rebuild(path, song) for path in (cut, whole))

        assert expected.state == rebuilt.state
        assert (expected.events, expected.digest) == (rebuilt.events, rebuilt.digest)
    with pytest.raises(TornTail if tail else BadInput):
        rebuild(cut, 3)


def test_a_song_left_open_is_the_beginning_of_one_that_came_in_another_order(
    tmp_path: Path,
) -> None:
    one, two = tmp_path / "one.journal", tmp_path / "two.journal"
    record(one, Asked("backwards"))
    record(two, Asked("turning"))
    for path, size in ((one, 2), (two, 3)):
        inside = [c for c in commits_of(path) if c.unit == 2 and c.digest is None]
        path.write_bytes(path.read_bytes()[: inside[2 + size].end])
    difference = diff(one, two)

    assert (None, []) == (difference.first, list(difference.causes))
    assert "a" == difference.prefix


def forked(parent: Path, at: int, out: Path, way: str) -> list[tuple[int, int, int]]:
    made: list[Asked] = []

    def ask_of(hall: Hall, forks: Sequence[Mapping[str, Any]], waiting: Block) -> Asked:
        made.append(Asked(way, waiting))
        return made[0]

    with JournalReader(parent) as reader:
        run.last_of(run.fork_steps(CHOIR, reader, at, lambda hall: {"seed": 9}, out, ask_of=ask_of))
    return made[0].asked


@ONE_WAY
def test_a_fork_asks_everybody_anew_from_there_on_and_no_more(
    pieces: Path, whole: Path, tmp_path: Path
) -> None:
    """Of a whole parent, and of one that was left open behind the fork."""
    opened = [c for c in commits_of(pieces) if c.unit == 3]
    half = tmp_path / "half.journal"
    half.write_bytes(pieces.read_bytes()[: opened[0].end])
    forked(whole, 2, tmp_path / "expected.journal", "in order")
    for parent in (pieces, half):
        out = tmp_path / f"of-{parent.stem}.journal"
        asked = forked(parent, 2, out, "backwards")

        assert [note for note in SUNG_IN_ALL if note[0] >= 2] == sorted(asked)
        assert digests(tmp_path / "expected.journal") == digests(out)
        assert verify(out).holds
    with pytest.raises(BadInput, match="has no closed song 3"):
        forked(half, 3, tmp_path / "fork.journal", "in order")


def test_a_fork_that_broke_off_goes_on_from_the_notes_behind_it(
    whole: Path, tmp_path: Path
) -> None:
    out, cut = tmp_path / "fork.journal", tmp_path / "cut.journal"
    forked(whole, 1, out, "turning")
    commits = commits_of(out)
    fork_at = next(c.index for c in commits if c.kind == FORK)
    for commit in commits[fork_at:-1]:
        cut.write_bytes(out.read_bytes()[: commit.end])
        asked = resume(cut, "turning")
        there = sung_in(commits[: commit.index + 1])

        assert out.read_bytes() == cut.read_bytes()
        assert sorted(set(SUNG_IN_ALL) - there) == sorted(asked)


# Forged journals.


def row(code: int, *fields: object) -> Commit:
    return Commit(UNIT, 2, None, [Block([(code, [fields])])])


OPEN = row(SUNG, 4, 14)
FORGED: dict[str, tuple[list[Commit], str]] = {
    "derived events without inputs": ([row(CHORD, 0, 1, ())], "chord among inputs"),
    "a missing field": ([row(SUNG, 1)], "2 fields expected"),
    "a wrong one behind a right one": ([OPEN, row(SUNG, 1, None)], "integer >= 0 expected"),
    "a wrong one before a right one": ([row(SUNG, "a", 1), OPEN], "integer >= 0 expected"),
}


@pytest.fixture
def beginning(tmp_path: Path) -> list[Commit]:
    """START and the first song."""
    path = tmp_path / "source.journal"
    record(path, at_once)
    return commits_of(path)[:2]


@pytest.mark.parametrize(("commits", "says"), FORGED.values(), ids=FORGED)
def test_forged_inputs_that_wait_are_refused_before_anybody_is_asked(
    beginning: list[Commit], tmp_path: Path, commits: list[Commit], says: str
) -> None:
    path = write(tmp_path / "forged.journal", [*beginning, *commits], HEADER)
    before = path.read_bytes()
    asked: list[Any] = []
    with JournalWriter.reopen(path) as journal, pytest.raises(MalformedEvents, match=says):
        run.last_of(run.resume_steps(CHOIR, journal, lambda *given: asked.append(given) or at_once))
    broken = verify(path).broken

    assert ([], before) == (asked, path.read_bytes())
    assert says in broken.found
    with pytest.raises(MalformedEvents, match=says):
        told(path)


@pytest.mark.parametrize("opened", [0, 3])
def test_a_wrong_digest_before_inputs_that_wait_is_refused(
    beginning: list[Commit], tmp_path: Path, opened: int
) -> None:
    start, first = beginning
    wrong = Commit(UNIT, 1, (first.digest or 0) ^ 1, first.blocks)
    path = write(tmp_path / "forged.journal", [start, wrong, *[OPEN] * opened], HEADER)
    before = path.read_bytes()
    with pytest.raises(MalformedEvents, match="but its events give"):
        resume(path, "turning")
    broken = verify(path, 2, world=CHOIR).broken

    assert before == path.read_bytes()
    assert f"{first.digest or 0:016x}" in broken.expected


def test_a_verse_whose_derived_events_are_wrong_is_found_though_its_song_is_open(
    path: Path,
) -> None:
    record(path, Asked("backwards"))
    commits = commits_of(path)
    place = next(c.index for c in commits if len(c.blocks) == 3)
    rest, derived, piece = commits[place].blocks
    [(code, [(best, points, words)])] = derived.batches
    wrong = Block([(code, [(best, points + 1, words)])])
    forged = [*commits[:place], Commit(UNIT, commits[place].unit, None, [rest, wrong, piece])]
    broken = verify(write(path, forged, HEADER), 3, world=CHOIR).broken

    assert (3, True) == (broken.level, ", chord" in broken.where)
