"""The fold, the walks through a journal that stand on it, and the run loop."""

import copy
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.kernel import run
from goldrush.kernel.codec import fingerprint, pack
from goldrush.kernel.errors import (
    BadInput,
    MalformedEvents,
    TornTail,
    UnsupportedJournal,
    WriteFailed,
)
from goldrush.kernel.fold import StepAssembler, checked, events
from goldrush.kernel.journal import (
    END,
    FORK,
    START,
    UNIT,
    Commit,
    Header,
    JournalReader,
    JournalWriter,
)
from goldrush.kernel.shape import INTEGER
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import Batch, Block, EventType, Step, World
from tests import journals
from tests.journals import commits_of
from tests.kernel.choir import (
    CHOIR,
    CHORD,
    COUGHED,
    HEADER,
    SETUP,
    SUNG,
    Hall,
    at_once,
    batches_of,
    record,
    verses,
)


def write(path: Path, *commits: Commit, header: Header = HEADER) -> None:
    """A journal that begins with START."""
    journals.write(path, [Commit(START, 0, 1, setup=SETUP), *commits], header)


def walked(path: Path, walk: Callable[..., Any], world: World[Any] = CHOIR) -> list[Any]:
    """All that a walk through a journal gives."""
    with JournalReader(path) as reader:
        return list(walk(world, reader))


def steps(world: World[Any], reader: JournalReader) -> Iterator[Step]:
    """The whole steps of a journal, put together from its commits."""
    assembler = StepAssembler(world.arrange)
    for commit in checked(world, reader):
        yield from assembler.completed_by(commit)


def cut_in_pieces(items: Sequence[Any], data: st.DataObject) -> list[Sequence[Any]]:
    """The items in order, in up to five pieces, some of them empty."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(items)), max_size=4)))
    return [items[a:b] for a, b in pairwise([0, *cuts, len(items)])]


# The states, events and steps of a journal. Folding in pieces: laws/test_mining_laws.py.

WALKS = [Walk, events, steps]
STEP = [Block([(SUNG, [(0, 5)])]), Block([(CHORD, [(0, 5, ())])])]
FIRST = Commit(UNIT, 1, 2, STEP)  # a song of one verse; the next one has two
SUM: World[int] = World(
    name="sum",
    rules=1,
    events=(EventType("added", {"amount": INTEGER}, is_input=True),),
    initial=lambda setup: setup["from"],
    decide=lambda total, inputs: [],
    evolve=lambda total, block: total + sum(amount for (amount,) in block.rows(0)),
    ended=lambda total: total >= 10,
)


def test_a_state_that_cannot_change_needs_no_copy_and_no_closing(path: Path) -> None:
    with JournalWriter(path, Header("sum", 1)) as journal:
        total = run.last_of(
            run.steps(SUM, {"from": 1}, journal, ask=lambda total: [(0, [(total,)])])
        )

    assert total == 16
    assert [(commit.digest, state) for commit, state in walked(path, Walk, SUM)] == [
        *((fingerprint(state), state) for state in (1, 2, 4, 8, 16)),
        (None, 16),
    ]


def test_a_unit_that_is_open_is_applied_and_not_closed(path: Path) -> None:
    write(path, FIRST, Commit(UNIT, 2, None, STEP))
    [_, _, (_, hall)] = walked(path, Walk)

    assert (hall.points[0], hall.verse, hall.song) == (10, 1, 1)


@pytest.mark.parametrize("walk", WALKS)
def test_a_header_alone_is_torn(path: Path, walk: Callable[..., Any]) -> None:
    path.write_bytes(HEADER.packed())

    with pytest.raises(TornTail):
        walked(path, walk)


@pytest.mark.parametrize(
    ("units", "fault"),
    [
        ([FIRST, Commit(UNIT, 2, 7, STEP)], "closes before it is done"),
        ([Commit(UNIT, 1, None, STEP)], "is done but open"),
    ],
)
def test_a_commit_closes_its_unit_when_it_is_done_and_not_before(
    path: Path, units: list[Commit], fault: str
) -> None:
    write(path, *units)

    with pytest.raises(MalformedEvents, match=fault):
        walked(path, Walk)


def test_events_are_told_in_their_logical_form(path: Path) -> None:
    blocks = [
        Block([(SUNG, [(0, 5), (1, 7)]), (COUGHED, [(1,)])]),
        Block([(CHORD, [(1, 7, (2**60,)), (0, 0.5, ())])]),
    ]
    write(path, Commit(UNIT, 1, 0xABC, blocks), Commit(END, 1))
    found = walked(path, events)

    # In words: 7.0 is not 7 here.
    assert [str(event.as_dict()) for event in found] == [
        str({"event": "concert_began", "world": "choir", "rules": 1, **SETUP}),
        str({"event": "sung", "song": 1, "singer": 0, "note": 5}),
        str({"event": "sung", "song": 1, "singer": 1, "note": 7}),
        str({"event": "coughed", "song": 1, "singer": 1}),
        str({"event": "chord", "song": 1, "best": 1, "points": 7.0, "words": [f"{2**60:016x}"]}),
        str({"event": "chord", "song": 1, "best": 0, "points": 0.5, "words": []}),
        str({"event": "song_closed", "song": 1, "digest": "0000000000000abc"}),
        str({"event": "concert_ended", "song": 1}),
    ]
    assert [event.unit for event in found] == [0, *[1] * 7]


@given(st.lists(st.tuples(st.integers(0, 9), st.just(1)), min_size=1, max_size=6), st.data())
def test_inputs_spread_over_commits_give_the_step_again(
    tmp_path_factory: pytest.TempPathFactory, notes: list[Any], data: st.DataObject
) -> None:
    parts = [Block([(SUNG, rows)] if rows else []) for rows in cut_in_pieces(notes, data)]
    derived, second = STEP[1], Block([(SUNG, notes[:1])])
    path = tmp_path_factory.mktemp("any") / "run.journal"
    write(
        path,
        *(Commit(UNIT, 1, None, [part]) for part in parts[:-1]),
        Commit(UNIT, 1, 2, [parts[-1], derived, second, derived]),
        Commit(UNIT, 2, None, [second]),  # a step without its derived block is not given
    )
    whole = Block([(SUNG, notes if len(parts) == 1 else sorted(notes, key=lambda row: row[0]))])

    assert [(step.inputs.packed, step.derived.packed) for step in walked(path, steps)] == [
        (whole.packed, derived.packed),
        (second.packed, derived.packed),
    ]


# Journals of something else.


@pytest.mark.parametrize("header", [Header("quire", 1), Header("choir", 3)])
@pytest.mark.parametrize("walk", WALKS)
def test_a_journal_of_another_world_or_other_rules_is_unsupported(
    path: Path, header: Header, walk: Callable[..., Any]
) -> None:
    write(path, Commit(END, 0), header=header)

    with pytest.raises(UnsupportedJournal):
        walked(path, walk)


@pytest.mark.parametrize("setup", [{**SETUP, "songs": -1}, {**SETUP, "songs": "two"}, {}])
@pytest.mark.parametrize("walk", WALKS)
def test_a_setup_that_the_world_cannot_take_is_malformed(
    path: Path, setup: dict[str, Any], walk: Callable[..., Any]
) -> None:
    journals.write(path, [Commit(START, 0, 1, setup=setup)], HEADER)

    with pytest.raises(MalformedEvents) as caught:
        walked(path, walk)
    assert caught.value.where.startswith("commit 0 at byte ")


# Malformed rows. Kinds and their checks: test_shape.py.

INPUTS, DERIVED = [(SUNG, [(0, 5)])], [(CHORD, [(0, 5, ())])]
MALFORMED: dict[str, tuple[Any, Any, str]] = {
    "an unknown type": ([(3, [(1,)])], DERIVED, "event type 3"),
    "a derived event among inputs": (DERIVED, DERIVED, "chord among inputs"),
    "an input among derived events": (INPUTS, INPUTS, "sung among derived events"),
    "a row too short": ([(SUNG, [(0,)])], DERIVED, "sung: 2 fields expected, found 1"),
    "a row too long": (INPUTS, [(CHORD, [(0, 5, (), 1)])], "chord: 3 fields expected, found 4"),
    "a row that is no array": ([(SUNG, [(0, 5), 7])], DERIVED, "sung: 2 fields expected, found 7"),
    "the second batch": ([*INPUTS, (COUGHED, [("a",)])], DERIVED, "coughed.singer: integer >= 0"),
    "a derived field": (INPUTS, [(CHORD, [(0, 5.0, ())])], "chord.points: real number expected"),
    "a long text": ([(SUNG, [(0, "x" * 100_000)])], DERIVED, "sung.note: integer >= 0 expected"),
}


def write_unit(path: Path, inputs: Block, derived: Block) -> None:
    write(path, FIRST, Commit(UNIT, 2, None, [inputs, derived]))


def assert_malformed(path: Path, walk: Callable[..., Any], fault: str) -> None:
    third = commits_of(path)[2]
    with pytest.raises(MalformedEvents) as caught:
        walked(path, walk)

    assert fault in caught.value.fault
    assert caught.value.where == third.where
    assert len(caught.value.fault) < 200


@pytest.mark.parametrize(("inputs", "derived", "fault"), MALFORMED.values(), ids=MALFORMED)
@pytest.mark.parametrize("walk", [events, steps])
def test_rows_that_are_none_of_the_world_are_malformed(
    path: Path, inputs: Any, derived: Any, fault: str, walk: Callable[..., Any]
) -> None:
    write_unit(path, Block(inputs), Block(derived))

    assert_malformed(path, walk, fault)


@pytest.mark.parametrize(
    ("derived", "fault"),
    [
        ([(CHORD, [None])], "chord: 3 fields expected, found None"),
        ([(CHORD, [(0, "5", ())])], "chord.points: real number expected, found '5'"),
        ([(CHORD, [(99, 5, ())])], "IndexError: "),  # the right kinds, but of no state
    ],
)
def test_what_the_world_cannot_apply_is_malformed_and_names_the_field(
    path: Path, derived: Any, fault: str
) -> None:
    write_unit(path, STEP[0], Block(derived))
    assert_malformed(path, Walk, fault)

    with JournalReader(path) as reader:
        walk = iter(Walk(CHOIR, reader))  # the states before it are given
        assert [0, 5] == [next(walk)[1].points[0] for _ in range(2)]


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (b"\x91" * 1_015 + b"\x90", "chord: 3 fields expected"),
        (b"\x93\x00" + b"\x91" * 1_010 + b"\x90\x90", "chord.points: real number expected"),
    ],
)
@pytest.mark.parametrize("walk", WALKS)
def test_a_row_nested_as_deep_as_can_be_read_is_malformed(
    path: Path, walk: Callable[..., Any], row: bytes, fault: str
) -> None:
    write_unit(path, STEP[0], Block([(CHORD, [()])], b"\x91\x92\x02\x91" + row))

    assert_malformed(path, walk, fault)


# The run loop.


def test_a_run_is_a_start_its_units_and_an_end(path: Path) -> None:
    told = []

    def on_unit(unit: int, hall: Hall) -> None:
        told.append((unit, hall.song, len(commits_of(path))))

    record(path, at_once, on_unit)
    start, *units, end = commits_of(path)

    assert (start.setup, start.digest) == (SETUP, CHOIR.digest(Hall(5, 4)))
    assert [(UNIT, number, verses(number - 1) * 2) for number in range(1, 5)] == [
        (unit.kind, unit.unit, len(unit.blocks)) for unit in units
    ]
    assert (end.kind, end.unit) == (END, 4)
    assert told == [(1, 1, 2), (2, 2, 3), (3, 3, 4), (4, 4, 5)]


@pytest.mark.parametrize(("song", "verse", "whole"), [(0, 0, 0), (1, 1, 1), (3, 0, 3)])
@pytest.mark.parametrize("note", [None, 2**64, {1}])
def test_whoever_does_not_answer_or_gives_what_no_journal_holds_leaves_whole_units_alone(
    path: Path, song: int, verse: int, whole: int, note: Any
) -> None:
    def ask(hall: Hall) -> list[Batch]:
        if (hall.song, hall.verse) != (song, verse):
            return batches_of(hall, range(5))
        if note is None:
            raise TimeoutError
        return [(SUNG, [(singer, note) for singer in range(5)])]

    with pytest.raises((TimeoutError, WriteFailed, TypeError)):
        record(path, ask)
    left = path.read_bytes() if path.exists() else b""
    record(path.with_name("whole"), at_once)

    assert left == b"" or [c.unit for c in commits_of(path)] == list(range(whole + 1))
    assert path.with_name("whole").read_bytes().startswith(left)


# Blocks.


def test_a_block_leaves_out_empty_batches_and_makes_one_of_neighbours() -> None:
    batches = [(0, []), (1, [(1,)]), (0, []), (1, [(2,)]), (0, [(3,)]), (2, [])]
    before = copy.deepcopy(batches)
    block = Block(batches)

    assert block == Block([(1, [(1,), (2,)]), (0, [(3,)])])
    assert block.packed == pack([(1, [(1,), (2,)]), (0, [(3,)])])
    assert before == batches


@given(st.lists(st.tuples(st.integers(0, 2), st.tuples(st.integers(0, 9)))), st.data())
def test_joining_the_pieces_of_a_block_gives_it_again(
    rows: list[tuple[int, Any]], data: st.DataObject
) -> None:
    whole = Block([(code, [row]) for code, row in rows])
    pieces = [
        Block.joined([Block([]), *(Block([(code, [row])]) for code, row in piece)])
        for piece in cut_in_pieces(rows, data)
    ]

    assert Block.joined(pieces) == whole
    assert Block.joined(pieces).packed == pack(whole.batches)


# A world without forks.


def test_runs_of_a_world_without_forks_cannot_be_forked(path: Path, tmp_path: Path) -> None:
    with JournalWriter(path, Header("sum", 1)) as journal:
        run.last_of(run.steps(SUM, {"from": 1}, journal, ask=lambda total: [(0, [(total,)])]))
    with JournalReader(path) as reader, pytest.raises(BadInput, match="cannot be forked"):
        run.last_of(
            run.fork_steps(
                SUM, reader, 1, lambda _: {}, tmp_path / "fork", ask_of=lambda *_: at_once
            )
        )
    assert not (tmp_path / "fork").exists()

    start = Commit(START, 0, 1, setup={"from": 1})
    journals.write(path, [start, Commit(FORK, 0, 1, setup={})], Header("sum", 1))
    for walk in (Walk, events):
        with pytest.raises(MalformedEvents, match="cannot be forked"):
            walked(path, walk, SUM)
