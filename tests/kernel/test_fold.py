"""The fold, the walks through a journal that stand on it, and the run loop.

In a tiny world: players bid, one of the bidders is drawn and gets what it bid; a hand takes two
such steps. Its state changes in place, as large states do, so that what `fold` promises about the
state it is given is worth something.
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.kernel import run
from goldrush.kernel.codec import fingerprint, pack
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import (
    BadInput,
    MalformedEvents,
    TornTail,
    UnsupportedJournal,
    WriteFailed,
)
from goldrush.kernel.fold import StepAssembler, checked, events, fold
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
from goldrush.kernel.shape import AMOUNT, INTEGER, NATURAL, TEXT, WORD, optional, several
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import Batch, Block, EventType, Step, Vocabulary, World
from tests import journals
from tests.journals import commits_of

BID, WON, PASSED = range(3)
STEPS = 2  # in a hand


class Table:
    """Changes in place: totals by player, steps of the hand under way, hands closed."""

    def __init__(self, setup: Mapping[str, Any]) -> None:
        if setup["players"] < 1:
            raise BadInput(f"players is {setup['players']}", "it must be 1 or more")
        self.seed: int = setup["seed"]
        self.hands: int = setup["hands"]
        self.totals = [0.0] * setup["players"]
        self.bids: list[int] = []
        self.step = 0
        self.hand = 0

    @property
    def key(self) -> tuple[Any, ...]:
        return (self.seed, self.hands, self.totals, self.bids, self.step, self.hand)


def decide(table: Table, inputs: Block) -> list[Batch]:
    bids = inputs.rows(BID)
    if not bids:
        return [(PASSED, [()])]
    draws = Draws(table.seed, table.hand + 1, len(table.bids), "win")  # bids before this step
    player, amount, _ = bids[draws.below(len(bids))]
    return [(WON, [(player, amount, draws.words())])]


def evolve(table: Table, block: Block) -> Table:
    for code, rows in block:
        for row in rows:
            if code == BID:
                table.bids.append(row[1])
            elif code == WON:
                table.totals[row[0]] += row[1]
            elif code != PASSED:
                raise LookupError(code)
        table.step += code != BID
    return table


def close(table: Table) -> Table:
    table.hand += 1
    table.step = 0
    table.bids.clear()
    return table


BIDDING: World[Table] = World(
    name="bidding",
    rules=4,
    events=(
        EventType(
            "bid", {"player": NATURAL, "amount": INTEGER, "note": optional(TEXT)}, is_input=True
        ),
        EventType("won", {"player": NATURAL, "points": AMOUNT, "words": several(WORD)}),
        EventType("passed", {}),
    ),
    initial=Table,
    decide=decide,
    evolve=evolve,
    ended=lambda table: table.hand >= table.hands,
    unit_done=lambda table: table.step == STEPS,
    close=close,
    digest=lambda table: fingerprint(table.key),
    copy=copy.deepcopy,
    vocabulary=Vocabulary("hand", "bidding_started", ended="bidding_ended"),
)
HEADER = Header("bidding", 4)
SETUP = {"seed": 11, "players": 3, "hands": 3}


def ask(table: Table) -> list[Batch]:
    """Everybody bids a little more than before; in the second step of a hand player 1 passes."""
    base = 10 * table.hand + table.step
    players = [p for p in range(len(table.totals)) if not (p == 1 and table.step == 1)]
    return [(BID, [(p, base + p, "all in" if p == 2 else None) for p in players])]


def play(
    path: Path,
    ask: Callable[[Table], Sequence[Batch]] = ask,
    setup: Mapping[str, Any] = SETUP,
    on_unit: Callable[[int, Table], None] | None = None,
) -> Table:
    with JournalWriter(path, HEADER) as journal:
        return run.record(BIDDING, setup, ask, journal, on_unit)


def write(path: Path, *commits: Commit, header: Header = HEADER) -> None:
    """A journal that begins with START."""
    journals.write(path, [Commit(START, 0, 1, setup=SETUP), *commits], header)


def walked(path: Path, walk: Callable[..., Any], world: World[Any] = BIDDING) -> list[Any]:
    """All that a walk through a journal gives."""
    with JournalReader(path) as reader:
        return list(walk(world, reader))


def steps(world: World[Any], reader: JournalReader) -> Iterator[Step]:
    """The whole steps of a journal, put together from its commits."""
    assembler = StepAssembler(world.arrange)
    for commit in checked(world, reader):
        yield from assembler.completed_by(commit)


# The fold.

BIDS = st.tuples(st.integers(0, 2), st.integers(-5, 5), st.none() | st.just("note"))
WINS = st.tuples(st.integers(0, 2), st.integers(-5, 5) | st.just(0.1), st.just(()))
BLOCKS = st.lists(
    st.lists(BIDS, min_size=1, max_size=3).map(lambda rows: Block([(BID, rows)]))
    | st.lists(WINS, min_size=1, max_size=3).map(lambda rows: Block([(WON, rows)])),
    max_size=6,
)


def cut_in_pieces(items: Sequence[Any], data: st.DataObject) -> list[Sequence[Any]]:
    """The items in order, in up to five pieces, some of them empty."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(items)), max_size=4)))
    return [items[a:b] for a, b in pairwise([0, *cuts, len(items)])]


@given(BLOCKS, st.data())
def test_folding_in_pieces_gives_the_same_and_changes_no_state_that_it_is_given(
    blocks: list[Block], data: st.DataObject
) -> None:
    given_state = Table(SETUP)
    whole = fold(BIDDING, given_state, blocks)
    state = Table(SETUP)
    for piece in cut_in_pieces(blocks, data):
        state = fold(BIDDING, state, piece)

    assert state.key == whole.key
    assert given_state.key == Table(SETUP).key


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
        total = run.record(SUM, {"from": 1}, lambda total: [(0, [(total,)])], journal)

    assert total == 16
    assert [(commit.digest, state) for commit, state in walked(path, Walk, SUM)] == [
        *((fingerprint(state), state) for state in (1, 2, 4, 8, 16)),
        (None, 16),
    ]


# The states, events and steps of a journal.

WALKS = [Walk, events, steps]
BID_OF_5, WON_5 = (0, 5, None), (0, 5, ())
STEP = [Block([(BID, [BID_OF_5])]), Block([(WON, [WON_5])])]


def test_a_unit_that_is_open_is_applied_and_not_closed(path: Path) -> None:
    write(path, Commit(UNIT, 1, None, STEP))
    [_, (_, table)] = walked(path, Walk)

    assert (table.totals, table.step, table.hand) == ([5, 0, 0], 1, 0)


@pytest.mark.parametrize("walk", WALKS)
def test_a_header_alone_is_torn(path: Path, walk: Callable[..., Any]) -> None:
    path.write_bytes(HEADER.packed())

    with pytest.raises(TornTail):
        walked(path, walk)


@pytest.mark.parametrize(
    ("unit", "fault"),
    [
        (Commit(UNIT, 1, 7, STEP), "closes before it is done"),
        (Commit(UNIT, 1, None, STEP * 2), "is done but open"),
    ],
)
def test_a_commit_closes_its_unit_when_it_is_done_and_not_before(
    path: Path, unit: Commit, fault: str
) -> None:
    write(path, unit)

    with pytest.raises(MalformedEvents, match=fault):
        walked(path, Walk)


def test_events_are_told_in_their_logical_form(path: Path) -> None:
    word = Draws(0, 1, 0, "win").word()
    blocks = [
        Block([(BID, [(0, 5, None), (1, 7, "up")])]),
        Block([(WON, [(1, 7, (word,)), (0, 0.5, ())])]),
    ]
    write(path, Commit(UNIT, 1, 0xABC, blocks), Commit(END, 1))
    found = walked(path, events)

    # In words: 7.0 is not 7 here.
    assert [str(event.as_dict()) for event in found] == [
        str({"event": "bidding_started", "world": "bidding", "rules": 4, **SETUP}),
        str({"event": "bid", "hand": 1, "player": 0, "amount": 5, "note": None}),
        str({"event": "bid", "hand": 1, "player": 1, "amount": 7, "note": "up"}),
        str({"event": "won", "hand": 1, "player": 1, "points": 7.0, "words": [f"{word:016x}"]}),
        str({"event": "won", "hand": 1, "player": 0, "points": 0.5, "words": []}),
        str({"event": "hand_closed", "hand": 1, "digest": "0000000000000abc"}),
        str({"event": "bidding_ended", "hand": 1}),
    ]
    assert [event.unit for event in found] == [0, 1, 1, 1, 1, 1, 1]


@given(st.lists(BIDS, min_size=1, max_size=6), st.data())
def test_inputs_spread_over_commits_give_the_step_again(
    tmp_path_factory: pytest.TempPathFactory, bids: list[Any], data: st.DataObject
) -> None:
    parts = [Block([(BID, rows)] if rows else []) for rows in cut_in_pieces(bids, data)]
    derived, second = STEP[1], Block([(BID, bids[:1])])
    path = tmp_path_factory.mktemp("any") / "run.journal"
    write(
        path,
        *(Commit(UNIT, 1, None, [part]) for part in parts[:-1]),
        Commit(UNIT, 1, 2, [parts[-1], derived, second, derived]),
        Commit(UNIT, 2, None, [second]),  # a step without its derived block is not given
    )

    assert [(step.inputs.packed, step.derived.packed) for step in walked(path, steps)] == [
        (Block([(BID, bids)]).packed, derived.packed),
        (second.packed, derived.packed),
    ]


# Journals of something else.


@pytest.mark.parametrize("header", [Header("betting", 4), Header("bidding", 3)])
@pytest.mark.parametrize("walk", WALKS)
def test_a_journal_of_another_world_or_other_rules_is_unsupported(
    path: Path, header: Header, walk: Callable[..., Any]
) -> None:
    write(path, Commit(END, 0), header=header)

    with pytest.raises(UnsupportedJournal):
        walked(path, walk)


@pytest.mark.parametrize("setup", [{**SETUP, "players": 0}, {**SETUP, "players": "two"}, {}])
@pytest.mark.parametrize("walk", WALKS)
def test_a_setup_that_the_world_cannot_take_is_malformed(
    path: Path, setup: dict[str, Any], walk: Callable[..., Any]
) -> None:
    journals.write(path, [Commit(START, 0, 1, setup=setup)], HEADER)

    with pytest.raises(MalformedEvents) as caught:
        walked(path, walk)
    assert caught.value.where.startswith("commit 0 at byte ")


# Malformed rows. Kinds and their checks: test_shape.py.

GOOD = [(BID, [BID_OF_5])], [(WON, [WON_5])]
MALFORMED: dict[str, tuple[Any, Any, str]] = {
    "an unknown type": ([(3, [(1,)])], GOOD[1], "event type 3"),
    "a derived event among inputs": ([(WON, [WON_5])], GOOD[1], "won among inputs"),
    "an input among derived events": (GOOD[0], [(BID, [BID_OF_5])], "bid among derived events"),
    "a row too short": ([(BID, [(0, 5)])], GOOD[1], "bid: 3 fields expected, found 2"),
    "a row too long": (GOOD[0], [(PASSED, [(1,)])], "passed: 0 fields expected, found 1"),
    "a row that is no array": ([(BID, [BID_OF_5, 7])], GOOD[1], "bid: 3 fields expected, found 7"),
    "the second batch": ([*GOOD[0], (BID, [(0, 5, ())])], GOOD[1], "bid.note: text or null"),
    "a derived field": (GOOD[0], [(WON, [(0, 5.0, ())])], "won.points: real number expected"),
    "a long text": ([(BID, [(0, "x" * 100_000, None)])], GOOD[1], "bid.amount: integer expected"),
}


def write_unit(path: Path, inputs: Any, derived: Any) -> None:
    write(
        path,
        Commit(UNIT, 1, None, STEP),
        Commit(UNIT, 1, 2, [Block(inputs), derived if type(derived) is Block else Block(derived)]),
    )


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
    write_unit(path, inputs, derived)

    assert_malformed(path, walk, fault)


@pytest.mark.parametrize(
    ("derived", "fault"),
    [
        ([(3, [(1,)])], "event type 3, but there are 3"),
        ([(WON, [None])], "won: 3 fields expected, found None"),
        ([(WON, [(0, "5", ())])], "won.points: real number expected, found '5'"),
        ([(WON, [(99, 5, ())])], "IndexError: "),  # the right kinds, but of no state
    ],
)
def test_what_the_world_cannot_apply_is_malformed_and_names_the_field(
    path: Path, derived: Any, fault: str
) -> None:
    write_unit(path, GOOD[0], derived)
    assert_malformed(path, Walk, fault)

    with JournalReader(path) as reader:
        walk = iter(Walk(BIDDING, reader))  # the states before it are given
        assert [[0, 0, 0], [5, 0, 0]] == [next(walk)[1].totals.copy() for _ in range(2)]


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (b"\x91" * 1_015 + b"\x90", "won: 3 fields expected"),
        (b"\x93\x00" + b"\x91" * 1_010 + b"\x90\x90", "won.points: real number expected"),
    ],
)
@pytest.mark.parametrize("walk", WALKS)
def test_a_row_nested_as_deep_as_can_be_read_is_malformed(
    path: Path, walk: Callable[..., Any], row: bytes, fault: str
) -> None:
    write_unit(path, GOOD[0], Block([(WON, [()])], b"\x91\x92\x01\x91" + row))

    assert_malformed(path, walk, fault)


# The run loop.


def test_a_run_is_a_start_its_units_and_an_end(path: Path) -> None:
    told = []

    def on_unit(unit: int, table: Table) -> None:
        told.append((unit, table.hand, len(commits_of(path))))

    play(path, on_unit=on_unit)
    start, *units, end = commits_of(path)

    assert (start.setup, start.digest) == (SETUP, BIDDING.digest(Table(SETUP)))
    assert [(commit.kind, commit.unit) for commit in (start, *units, end)] == [
        (START, 0), (UNIT, 1), (UNIT, 2), (UNIT, 3), (END, 3),
    ]  # fmt: skip
    for unit in units:  # of several steps
        assert [[BID], [WON]] * STEPS == [[code for code, _ in block] for block in unit.blocks]
    assert told == [(1, 1, 2), (2, 2, 3), (3, 3, 4)]


def test_a_step_in_which_nobody_acts_is_a_step(path: Path) -> None:
    play(path, ask=lambda table: [], setup={**SETUP, "hands": 1})
    [_, unit, _] = commits_of(path)

    assert [block.batches for block in unit.blocks] == [(), ((PASSED, ((),)),)] * STEPS


@pytest.mark.parametrize(("hand", "step", "whole"), [(0, 1, 0), (2, 1, 2)])
@pytest.mark.parametrize("answer", [None, [(BID, [(0, 2**64, None)])], [(BID, [(0, 1, {1})])]])
def test_whoever_does_not_answer_or_gives_what_no_journal_holds_leaves_whole_units_alone(
    path: Path, hand: int, step: int, whole: int, answer: Any
) -> None:
    def ask_until(table: Table) -> list[Batch]:
        if (table.hand, table.step) != (hand, step):
            return ask(table)
        if answer is None:
            raise TimeoutError
        return answer

    with pytest.raises((TimeoutError, WriteFailed, TypeError)):
        play(path, ask_until)
    play(path.with_name("whole"))

    assert [commit.unit for commit in commits_of(path)] == list(range(whole + 1))
    assert path.with_name("whole").read_bytes().startswith(path.read_bytes())


# Blocks.


def test_a_block_leaves_out_empty_batches_and_makes_one_of_neighbours() -> None:
    batches = [(0, []), (1, [(1,)]), (0, []), (1, [(2,)]), (0, [(3,)]), (2, [])]
    before = copy.deepcopy(batches)
    block = Block(batches)

    assert block == Block([(1, [(1,), (2,)]), (0, [(3,)])])
    assert block.packed == pack([(1, [(1,), (2,)]), (0, [(3,)])])
    assert before == batches


@given(BLOCKS, st.data())
def test_joining_the_pieces_of_a_block_gives_it_again(
    blocks: list[Block], data: st.DataObject
) -> None:
    whole = Block.joined(blocks) if len(blocks) != 1 else Block(blocks[0].batches)
    rows = [(code, row) for code, rows in whole for row in rows]
    pieces = [
        Block.joined([Block([]), *(Block([(code, [row])]) for code, row in piece)])
        for piece in cut_in_pieces(rows, data)
    ]

    assert Block.joined(pieces) == whole
    assert Block.joined(pieces).packed == pack(whole.batches)


# A world without forks.


def test_runs_of_a_world_without_forks_cannot_be_forked(path: Path, tmp_path: Path) -> None:
    play(path)
    out = tmp_path / "fork"
    with JournalReader(path) as reader, pytest.raises(BadInput, match="cannot be forked"):
        run.fork(BIDDING, reader, 1, lambda _: {}, lambda *_: ask, out)

    assert not out.exists()


def test_a_fork_in_a_journal_of_a_world_without_forks_is_malformed(path: Path) -> None:
    write(path, Commit(FORK, 0, 1, setup={}))

    for walk in (Walk, events):
        with pytest.raises(MalformedEvents, match="cannot be forked"):
            walked(path, walk)
