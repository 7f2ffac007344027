"""The fold, the walks through a journal that stand on it, and the run loop.

In a tiny world: players bid, one of the bidders is drawn and gets what it bid; a hand takes two
such steps. Its state changes in place, as large states do, so that what `fold` promises about the
state it is given is worth something.
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    DamagedJournal,
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
from goldrush.kernel.worlds.mining import MINING
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


def write(path: Path, commits: Sequence[Commit], header: Header = HEADER) -> None:
    with JournalWriter(path, header, force=True) as journal:
        for commit in commits:
            journal.append(commit)


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


@given(BLOCKS)
def test_the_state_given_is_not_changed(blocks: list[Block]) -> None:
    state = Table(SETUP)
    before = copy.deepcopy(state.key)
    fold(BIDDING, state, blocks)

    assert state.key == before


@given(BLOCKS, st.data())
def test_folding_in_pieces_gives_the_same_wherever_it_is_cut(
    blocks: list[Block], data: st.DataObject
) -> None:
    whole = fold(BIDDING, Table(SETUP), blocks)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(blocks)), max_size=3)))
    state = Table(SETUP)
    for start, end in zip([0, *cuts], [*cuts, len(blocks)], strict=True):
        state = fold(BIDDING, state, blocks[start:end])

    assert state.key == whole.key


def test_folding_nothing_gives_an_equal_state_that_is_another() -> None:
    state = Table(SETUP)
    folded = fold(BIDDING, state, [])

    assert folded is not state
    assert folded.key == state.key


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
    assert [state for _, state in walked(path, Walk, SUM)] == [1, 2, 4, 8, 16, 16]
    assert [commit.digest for commit, _ in walked(path, Walk, SUM)] == [
        *(fingerprint(state) for state in (1, 2, 4, 8, 16)),
        None,
    ]


# The states of a journal.


def test_the_last_state_is_the_fold_of_all_blocks(path: Path) -> None:
    play(path, setup={**SETUP, "hands": 1})
    [_, unit, _] = commits_of(path)
    folded = BIDDING.close(fold(BIDDING, Table({**SETUP, "hands": 1}), unit.blocks))

    assert BIDDING.digest(folded) == unit.digest


def test_a_unit_that_is_open_is_applied_and_not_closed(path: Path) -> None:
    write(
        path,
        [
            Commit(START, 0, 1, setup=SETUP),
            Commit(UNIT, 1, None, [Block([(BID, [(0, 5, None)])]), Block([(WON, [(0, 5, ())])])]),
        ],
    )
    [_, (_, table)] = walked(path, Walk)

    assert (table.totals, table.step, table.hand) == ([5, 0, 0], 1, 0)


@pytest.mark.parametrize("walk", [Walk, events, steps])
def test_a_header_alone_is_torn(path: Path, walk: Callable[..., Any]) -> None:
    path.write_bytes(HEADER.packed())

    with pytest.raises(TornTail):
        walked(path, walk)


CLOSES = [Block([(BID, [(0, 5, None)])]), Block([(WON, [(0, 5, ())])])]


@pytest.mark.parametrize(
    ("unit", "fault"),
    [
        (Commit(UNIT, 1, 7, CLOSES), "hand 1 closes before it is done"),
        (Commit(UNIT, 1, None, CLOSES * 2), "hand 1 is done but open"),
    ],
)
def test_a_commit_closes_its_unit_when_it_is_done_and_not_before(
    path: Path, unit: Commit, fault: str
) -> None:
    write(path, [Commit(START, 0, 1, setup=SETUP), unit])

    with pytest.raises(MalformedEvents, match=fault):
        walked(path, Walk)


# The events of a journal.


def test_events_are_told_in_their_logical_form(path: Path) -> None:
    setup = {"seed": 0, "players": 2, "hands": 1}
    word = Draws(0, 1, 0, "win").word()
    write(
        path,
        [
            Commit(START, 0, 1, setup=setup),
            Commit(
                UNIT,
                1,
                0xABC,
                [
                    Block([(BID, [(0, 5, None), (1, 7, "up")])]),
                    Block([(WON, [(1, 7, (word,)), (0, 0.5, ())])]),
                ],
            ),
            Commit(END, 1),
        ],
    )

    assert [event.as_dict() for event in walked(path, events)] == [
        {"event": "bidding_started", "world": "bidding", "rules": 4, **setup},
        {"event": "bid", "hand": 1, "player": 0, "amount": 5, "note": None},
        {"event": "bid", "hand": 1, "player": 1, "amount": 7, "note": "up"},
        {"event": "won", "hand": 1, "player": 1, "points": 7.0, "words": [f"{word:016x}"]},
        {"event": "won", "hand": 1, "player": 0, "points": 0.5, "words": []},
        {"event": "hand_closed", "hand": 1, "digest": "0000000000000abc"},
        {"event": "bidding_ended", "hand": 1},
    ]


def test_real_numbers_are_told_as_floats_however_they_are_held(path: Path) -> None:
    play(path)
    points = [event["points"] for event in walked(path, events) if event.name == "won"]

    assert {type(value) for value in points} == {float}


def test_events_know_their_unit(path: Path) -> None:
    play(path)
    units = [(event.name, event.unit) for event in walked(path, events)]

    assert units[0] == ("bidding_started", 0)
    assert [unit for name, unit in units if name == "won"] == [1, 1, 2, 2, 3, 3]
    assert units[-1] == ("bidding_ended", 3)


def test_an_unfinished_journal_tells_no_end(path: Path) -> None:
    play(path)
    write(path.with_name("cut"), commits_of(path)[:-1])

    assert walked(path.with_name("cut"), events) == walked(path, events)[:-1]


def test_what_stands_before_the_damage_is_told(path: Path) -> None:
    play(path)
    third = commits_of(path)[2]
    data = bytearray(path.read_bytes())
    data[third.offset + 20] ^= 1
    path.write_bytes(data)
    with JournalReader(path) as reader:
        walk = events(BIDDING, reader)
        before = [next(walk) for _ in range(9)]  # start, two steps, closed
        with pytest.raises(DamagedJournal):
            next(walk)
    assert (before[-1].name, before[-1].unit) == ("hand_closed", 1)


# The steps of a journal.


def flat(step: Step) -> tuple[bytes, bytes]:
    return step.inputs.packed, step.derived.packed


def test_a_unit_of_two_steps_gives_both(path: Path) -> None:
    play(path)
    expected = []
    for unit in commits_of(path)[1:-1]:
        first, won, second, won_too = unit.blocks
        expected += [(first.packed, won.packed), (second.packed, won_too.packed)]

    assert [flat(step) for step in walked(path, steps)] == expected
    assert len(expected) == 6


@given(st.data())
def test_inputs_spread_over_commits_give_the_step_again(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    bids = data.draw(st.lists(BIDS, min_size=1, max_size=6))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(bids)), max_size=4)))
    parts = [
        Block([(BID, rows)] if rows else [])
        for rows in (bids[a:b] for a, b in zip([0, *cuts], [*cuts, len(bids)], strict=True))
    ]
    derived = Block([(WON, [(0, 1, ())])])
    path = tmp_path_factory.mktemp("any") / "run.journal"
    write(
        path,
        [
            Commit(START, 0, 1, setup=SETUP),
            *(Commit(UNIT, 1, None, [part]) for part in parts[:-1]),
            Commit(UNIT, 1, 2, [parts[-1], derived, Block([(BID, bids[:1])]), derived]),
        ],
    )

    assert [flat(step) for step in walked(path, steps)] == [
        (Block([(BID, bids)]).packed, derived.packed),
        (Block([(BID, bids[:1])]).packed, derived.packed),
    ]


def test_a_step_without_its_derived_block_is_not_given(path: Path) -> None:
    write(
        path,
        [Commit(START, 0, 1, setup=SETUP), Commit(UNIT, 1, None, [Block([(BID, [(0, 1, None)])])])],
    )

    assert walked(path, steps) == []


# Journals of something else.


@pytest.mark.parametrize("header", [Header("betting", 4), Header("bidding", 3), Header("", 4)])
@pytest.mark.parametrize("walk", [Walk, events, steps])
def test_a_journal_of_another_world_or_other_rules_is_unsupported(
    path: Path, header: Header, walk: Callable[..., Any]
) -> None:
    write(path, [Commit(START, 0, 1, setup=SETUP), Commit(END, 0)], header)

    with pytest.raises(UnsupportedJournal, match=f"{header.world!r} under rules {header.rules}"):
        walked(path, walk)


@pytest.mark.parametrize(
    ("setup", "fault"),
    [
        ({**SETUP, "players": 0}, "players is 0"),
        ({"players": 2}, "seed"),
        ({**SETUP, "players": "two"}, "str"),
        ({**SETUP, "players": None}, "NoneType"),
        ({}, "players"),
    ],
)
@pytest.mark.parametrize("walk", [Walk, events, steps])
def test_a_setup_that_the_world_cannot_take_is_malformed(
    path: Path, setup: dict[str, Any], fault: str, walk: Callable[..., Any]
) -> None:
    write(path, [Commit(START, 0, 1, setup=setup)])

    with pytest.raises(MalformedEvents, match=fault) as caught:
        walked(path, walk)
    assert caught.value.where.startswith("commit 0 at byte ")


# Malformed rows.

GOOD_BID, GOOD_WIN = (0, 5, None), (0, 5, ())

MALFORMED_INPUTS = {
    "an unknown type": ([(3, [(1,)])], "event type 3, but there are 3"),
    "a derived event among inputs": ([(WON, [GOOD_WIN])], "won among inputs"),
    "a row too short": ([(BID, [(0, 5)])], "bid: 3 fields expected"),
    "a row too long": ([(BID, [(0, 5, None, 1)])], "bid: 3 fields expected"),
    "a row that is no array": ([(BID, [GOOD_BID, 7])], "bid: 3 fields expected, found 7"),
    "a row that is nil": ([(BID, [None])], "bid: 3 fields expected, found None"),
    "a player below 0": ([(BID, [(-1, 5, None)])], "bid.player: integer >= 0 expected, found -1"),
    "a player that is true": ([(BID, [(True, 5, None)])], "bid.player: integer >= 0 expected"),
    "an amount that is text": ([(BID, [(0, "5", None)])], "bid.amount: integer expected"),
    "an amount that is a float": ([(BID, [(0, 5.0, None)])], "bid.amount: integer expected"),
    "a note that is a number": ([(BID, [(0, 5, 1)])], "bid.note: text or null expected, found 1"),
    "the second batch": ([(BID, [GOOD_BID]), (BID, [(0, 5, ())])], "bid.note: text or null"),
}
MALFORMED_DERIVED = {
    "an unknown type": ([(3, [(1,)])], "event type 3, but there are 3"),
    "an input among derived events": ([(BID, [GOOD_BID])], "bid among derived events"),
    "a row that should be empty": ([(PASSED, [(1,)])], "passed: 0 fields expected, found 1: (1,)"),
    "points that are text": ([(WON, [(0, "5", ())])], "won.points: real number expected"),
    "a whole number held as a float": ([(WON, [(0, 5.0, ())])], "won.points: real number expected"),
    "not a number": ([(WON, [(0, float("nan"), ())])], "won.points: real number expected"),
    "an infinity": ([(WON, [(0, float("-inf"), ())])], "won.points: real number expected"),
    "points that are true": ([(WON, [(0, True, ())])], "won.points: real number expected"),
    "words that are a number": ([(WON, [(0, 5, 1)])], "won.words: list of 64-bit word expected"),
    "a word below 0": ([(WON, [(0, 5, (-1,))])], "won.words: list of 64-bit word expected"),
    "a word that is text": ([(WON, [(0, 5, ("a",))])], "won.words: list of 64-bit word expected"),
}


def write_unit(path: Path, inputs: Any, derived: Any) -> None:
    write(
        path,
        [
            Commit(START, 0, 1, setup=SETUP),
            Commit(UNIT, 1, None, [Block([(BID, [GOOD_BID])]), Block([(WON, [GOOD_WIN])])]),
            Commit(UNIT, 1, 2, [Block(inputs), Block(derived)]),
        ],
    )


def assert_malformed(path: Path, walk: Callable[..., Any], fault: str) -> None:
    third = commits_of(path)[2]
    with pytest.raises(MalformedEvents) as caught:
        walked(path, walk)

    assert fault in caught.value.fault
    assert caught.value.where == third.where


@pytest.mark.parametrize(("inputs", "fault"), MALFORMED_INPUTS.values(), ids=MALFORMED_INPUTS)
@pytest.mark.parametrize("walk", [events, steps])
def test_inputs_that_are_none_of_the_world_are_malformed(
    path: Path, inputs: Any, fault: str, walk: Callable[..., Any]
) -> None:
    write_unit(path, inputs, [(WON, [GOOD_WIN])])

    assert_malformed(path, walk, fault)


@pytest.mark.parametrize(("derived", "fault"), MALFORMED_DERIVED.values(), ids=MALFORMED_DERIVED)
@pytest.mark.parametrize("walk", [events, steps])
def test_derived_events_that_are_none_of_the_world_are_malformed(
    path: Path, derived: Any, fault: str, walk: Callable[..., Any]
) -> None:
    write_unit(path, [(BID, [GOOD_BID])], derived)

    assert_malformed(path, walk, fault)


@pytest.mark.parametrize(
    ("derived", "fault"),
    [
        ([(3, [(1,)])], "event type 3, but there are 3"),
        ([(WON, [(0,)])], "won: 3 fields expected, found 1: (0,)"),
        ([(WON, [None])], "won: 3 fields expected, found None"),
        ([(WON, [(0, "5", ())])], "won.points: real number expected, found '5'"),
        ([(WON, [("0", 5, ())])], "won.player: integer >= 0 expected, found '0'"),
    ],
)
def test_what_the_world_cannot_apply_is_malformed_and_names_the_field(
    path: Path, derived: Any, fault: str
) -> None:
    write_unit(path, [(BID, [GOOD_BID])], derived)

    assert_malformed(path, Walk, fault)


def test_a_row_of_the_right_kinds_that_fits_no_state_is_malformed(path: Path) -> None:
    write_unit(path, [(BID, [GOOD_BID])], [(WON, [(99, 5, ())])])

    assert_malformed(path, Walk, "IndexError: ")


def test_the_state_before_a_malformed_unit_is_given(path: Path) -> None:
    write_unit(path, [(BID, [GOOD_BID])], [(WON, [(99, 5, ())])])
    given_states = []
    with JournalReader(path) as reader:
        walk = iter(Walk(BIDDING, reader))
        for _ in range(2):
            given_states.append(next(walk)[1].totals.copy())

        with pytest.raises(MalformedEvents):
            next(walk)
    assert given_states == [[0, 0, 0], [5, 0, 0]]


def test_what_a_message_shows_of_a_row_is_cut(path: Path) -> None:
    write_unit(path, [(BID, [(0, "x" * 100_000, None)])], [])

    with pytest.raises(MalformedEvents) as caught:
        walked(path, events)
    assert len(caught.value.fault) < 200


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (b"\x91" * 1_015 + b"\x90", "won: 3 fields expected"),
        (b"\x93\x00" + b"\x91" * 1_010 + b"\x90\x90", "won.points: real number expected"),
    ],
)
@pytest.mark.parametrize("walk", [events, steps, Walk])
def test_a_row_nested_as_deep_as_can_be_read_is_malformed(
    path: Path, walk: Callable[..., Any], row: bytes, fault: str
) -> None:
    deep = Block([(WON, [()])], b"\x91\x92\x01\x91" + row)
    write(
        path,
        [
            Commit(START, 0, 1, setup=SETUP),
            Commit(UNIT, 1, None, [Block([(BID, [GOOD_BID])])]),
            Commit(UNIT, 1, 2, [Block([]), deep]),
        ],
    )

    assert_malformed(path, walk, fault)


@pytest.mark.parametrize("walk", [events, Walk])
def test_a_mining_setup_nested_as_deep_as_can_be_read_is_malformed(
    path: Path, walk: Callable[..., Any]
) -> None:
    class Deep(Commit):
        def body(self) -> bytes:
            deep = b"\x91" * 1_015 + b"\x90"
            return b"\x93\x00\x82\xa6config\x81\xa4seed" + deep + b"\xa6roster\x90\x01"

    write(path, [Deep(START, 0)], Header(MINING.name, MINING.rules))

    with pytest.raises(MalformedEvents, match="seed is"):
        walked(path, walk, MINING)


def test_a_code_below_0_is_not_taken_for_one_from_the_end(path: Path) -> None:
    write_unit(path, [(-3, [GOOD_BID])], [(WON, [GOOD_WIN])])

    for walk in (events, steps):
        with pytest.raises(MalformedEvents):
            walked(path, walk)


# The run loop.


def test_a_run_is_a_start_its_units_and_an_end(path: Path) -> None:
    play(path)

    assert [(commit.kind, commit.unit) for commit in commits_of(path)] == [
        (START, 0), (UNIT, 1), (UNIT, 2), (UNIT, 3), (END, 3),
    ]  # fmt: skip


def test_a_unit_of_several_steps_is_one_commit(path: Path) -> None:
    play(path)
    for commit in commits_of(path)[1:-1]:
        codes = [[code for code, _ in block] for block in commit.blocks]

        assert codes == [[BID], [WON], [BID], [WON]]


def test_the_setup_stands_in_the_journal_with_the_digest_of_the_start(path: Path) -> None:
    play(path)
    start = commits_of(path)[0]

    assert start.setup == SETUP
    assert start.digest == BIDDING.digest(Table(SETUP))


def test_the_same_run_gives_the_same_bytes(path: Path) -> None:
    again, other = path.with_name("again"), path.with_name("other")
    play(path)
    play(again)
    play(other, setup={**SETUP, "seed": 12})

    assert again.read_bytes() == path.read_bytes()
    assert other.read_bytes() != path.read_bytes()


def test_a_step_in_which_nobody_acts_is_a_step(path: Path) -> None:
    play(path, ask=lambda table: [], setup={**SETUP, "hands": 1})
    [_, unit, _] = commits_of(path)

    assert [block.batches for block in unit.blocks] == [(), ((PASSED, ((),)),)] * STEPS


def test_progress_is_told_after_each_commit(path: Path) -> None:
    told = []

    def on_unit(unit: int, table: Table) -> None:
        told.append((unit, table.hand, len(commits_of(path))))

    play(path, on_unit=on_unit)

    assert told == [(1, 1, 2), (2, 2, 3), (3, 3, 4)]


class Asleep(Exception):
    pass


@pytest.mark.parametrize(("hand", "step", "whole"), [(0, 0, 0), (0, 1, 0), (1, 0, 1), (2, 1, 2)])
def test_whoever_does_not_answer_leaves_whole_units_alone(
    path: Path, hand: int, step: int, whole: int
) -> None:
    def ask_until(table: Table) -> list[Batch]:
        if (table.hand, table.step) == (hand, step):
            raise Asleep
        return ask(table)

    with pytest.raises(Asleep):
        play(path, ask_until)
    play(path.with_name("whole"))
    with JournalReader(path) as reader:
        found = list(reader)

        assert not reader.ended
    assert [commit.unit for commit in found] == list(range(whole + 1))
    assert path.with_name("whole").read_bytes().startswith(path.read_bytes())


@pytest.mark.parametrize("answer", [[(BID, [(0, 2**64, None)])], [(BID, [(0, 1, {1})])]])
def test_an_answer_that_no_journal_holds_leaves_whole_units_alone(
    path: Path, answer: list[Batch]
) -> None:
    with pytest.raises((WriteFailed, TypeError)):
        play(path, lambda table: ask(table) if table.hand == 0 else answer)

    assert [commit.unit for commit in commits_of(path)] == [0, 1]


def test_a_setup_that_the_world_refuses_leaves_nothing_written(path: Path) -> None:
    with pytest.raises(BadInput):
        play(path, setup={**SETUP, "players": 0})

    assert not path.exists()


def test_a_run_of_no_units_is_a_start_and_an_end(path: Path) -> None:
    play(path, setup={**SETUP, "hands": 0})

    assert [(commit.kind, commit.unit) for commit in commits_of(path)] == [(START, 0), (END, 0)]


# Blocks.


def test_a_block_leaves_out_empty_batches_and_makes_one_of_neighbours() -> None:
    block = Block([(0, []), (1, [(1,)]), (0, []), (1, [(2,)]), (0, [(3,)]), (2, [])])

    assert block == Block([(1, [(1,), (2,)]), (0, [(3,)])])
    assert block.packed == pack([(1, [(1,), (2,)]), (0, [(3,)])])


def test_making_a_block_changes_nothing_of_what_it_is_made_of() -> None:
    first, second = [(1,)], [(2,)]
    batches = [(1, first), (1, second)]
    Block(batches)

    assert batches == [(1, [(1,)]), (1, [(2,)])]


@given(BLOCKS, st.data())
def test_joining_the_pieces_of_a_block_gives_it_again(
    blocks: list[Block], data: st.DataObject
) -> None:
    whole = Block.joined(blocks) if len(blocks) != 1 else Block(blocks[0].batches)
    rows = [(code, row) for code, rows in whole for row in rows]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    pieces = []
    for start, end in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        pieces.append(Block.joined([Block([]), *(Block([(c, [r])]) for c, r in rows[start:end])]))

    assert Block.joined(pieces) == whole
    assert Block.joined(pieces).packed == pack(whole.batches)


def test_runs_of_a_world_without_forks_cannot_be_forked(path: Path, tmp_path: Path) -> None:
    play(path)
    out = tmp_path / "fork"
    with (
        JournalReader(path) as reader,
        pytest.raises(BadInput, match=r"runs of the .* world cannot be forked"),
    ):
        run.fork(BIDDING, reader, 1, lambda _: {}, lambda *_: ask, out)

    assert not out.exists()


def test_a_fork_in_a_journal_of_a_world_without_forks_is_malformed(path: Path) -> None:
    write(path, [Commit(START, 0, 1, setup=SETUP), Commit(FORK, 0, 1, setup={})])

    for walk in (Walk, events):
        with pytest.raises(MalformedEvents, match="cannot be forked"):
            walked(path, walk)
