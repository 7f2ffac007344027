"""A world of one's own is watched by verify where its author may have slipped."""

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from goldrush.kernel.errors import BadInput, WriteFailed
from goldrush.kernel.journal import Header, JournalReader, JournalWriter
from goldrush.kernel.run import last_of, steps
from goldrush.kernel.shape import AMOUNT, INTEGER, Kind, optional, several
from goldrush.kernel.world import Batch, Block, EventType, World
from goldrush.replay.journal.log import log
from goldrush.replay.journal.verify import verify
from tests.found import found

State = list[int]  # [rounds, sum]

TOLD, ADDED = range(2)


def decide(state: State, inputs: Block) -> Sequence[Batch]:
    [(number,)] = inputs.rows(TOLD)
    return [(ADDED, [(number,)])]


def evolve(state: State, block: Block) -> State:
    for (number,) in block.rows(ADDED):
        state = [state[0] + 1, state[1] + number]
    return state


SUMS: World[State] = World(
    "sums",
    1,
    (
        EventType("told", {"number": INTEGER}, is_input=True),
        EventType("added", {"number": INTEGER}),
    ),
    lambda _: [0, 0],
    decide,
    evolve,
    ended=lambda state: state[0] == 6,
)


def tell(state: State) -> Sequence[Batch]:
    return [(TOLD, [(state[0],)])]


def recorded(path: Path, world: World[State]) -> Path:
    with JournalWriter(path, Header(world.name, world.rules)) as journal:
        last_of(steps(world, {}, journal, ask=tell))
    return path


def test_a_sound_world_holds_at_every_level(tmp_path: Path) -> None:
    with found(SUMS, tell):
        verdict = verify(recorded(tmp_path / "a", SUMS))

    assert (verdict.broken, verdict.level, verdict.rounds) == (None, 4, 6)


def slips(state: State, inputs: Block) -> Sequence[Batch]:
    state[1] += 1  # decide must not
    return decide(state, inputs)


def unknown(state: State, inputs: Block) -> Sequence[Batch]:
    return [*decide(state, inputs), (9, [(1,)])]


def too_long(state: State, inputs: Block) -> Sequence[Batch]:
    return [*decide(state, inputs), (TOLD, [(1, 1)])]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [(slips, "a new state"), (unknown, "event type 9"), (too_long, "told among derived")],
)
def test_a_decide_that_is_wrong_in_the_same_way_twice_breaks_level_3(
    tmp_path: Path, wrong: Callable[[State, Block], Any], says: str
) -> None:
    world = replace(SUMS, decide=wrong, checks_rows=False)  # some are invalid
    verdict = verify(recorded(tmp_path / "a", world), 3, world=world)

    assert verdict.broken.level == 3
    assert says in verdict.broken.found


# What is recorded is checked as what is read.

FIELDS = {"number": AMOUNT, "all": several(optional(AMOUNT))}
TALLIES = replace(
    SUMS,
    events=(EventType("told", FIELDS, is_input=True), EventType("added", FIELDS)),
    decide=lambda state, inputs: [(ADDED, inputs.rows(TOLD))],
    evolve=lambda state, block: [state[0] + len(block.rows(ADDED)), state[1]],
)
UNREADABLE = {
    "a whole float": ((24.0, ()), r"24\.0 must be stored as the integer 24"),
    "one in a list": ((0, (1.0, 2.5)), r"\(1\.0, 2\.5\) must be stored as \(1, 2\.5\)"),
    "a field too few": ((24,), "2 fields expected, found 1"),
    "no row": (24, "2 fields expected, found 24"),
    "an object": ((0, (object(),)), "cannot be stored"),
    "a set": ((0, {0.5, 1.5}), "cannot be stored"),
    "a lone surrogate": (("\ud800", ()), "cannot be stored"),
}


@pytest.mark.parametrize(("row", "says"), UNREADABLE.values(), ids=UNREADABLE)
@pytest.mark.parametrize("code", [TOLD, ADDED], ids=["submitted", "derived"])
def test_what_no_tool_would_read_is_not_recorded(
    tmp_path: Path, row: Any, says: str, code: int
) -> None:
    def batch_of(state: State, kind: int) -> Sequence[Batch]:
        return [(kind, [row if (state[0], kind) == (2, code) else (state[0], (0.5, None))])]

    world = replace(TALLIES, decide=lambda state, inputs: batch_of(state, ADDED))
    with (
        JournalWriter(tmp_path / "a", Header(world.name, world.rules)) as journal,
        pytest.raises(WriteFailed, match=f"round 3: .*{says}"),
    ):
        last_of(steps(world, {}, journal, ask=lambda state: batch_of(state, TOLD)))
    verdict = verify(tmp_path / "a", world=world)

    assert (True, 2) == (verdict.holds, verdict.rounds)
    with found(world):
        assert 7 == len(list(log(tmp_path / "a")))


@pytest.mark.parametrize("value", [{1, 2}, Decimal(1), frozenset()])
@pytest.mark.parametrize("kind", [lambda anything: anything, several])
def test_a_kind_that_takes_whatever_comes_takes_what_can_be_stored(
    tmp_path: Path, kind: Callable[[Kind], Kind], value: object
) -> None:
    lax = kind(Kind("anything", lambda value: True))
    told = (value,) if kind is several else value
    world = replace(
        SUMS,
        events=(SUMS.events[TOLD], EventType("added", {"number": lax})),
        decide=lambda state, inputs: [(ADDED, [(told,)])],
        evolve=lambda state, block: [state[0] + 1, state[1]],
    )
    with pytest.raises(WriteFailed, match="cannot be stored"):
        recorded(tmp_path / "a", world)


@pytest.mark.parametrize(
    ("number", "error", "says"),
    [
        (lambda: 2**64, WriteFailed, "round 1 has a number beyond 64 bits"),
        (lambda: math.exp(1000), OverflowError, "math range error"),  # a bug of the world
    ],
)
def test_only_an_integer_that_cannot_be_stored_is_told_as_one(
    tmp_path: Path, number: Callable[[], Any], error: type[Exception], says: str
) -> None:
    world = replace(SUMS, decide=lambda state, inputs: [(ADDED, [(number(),)])])
    with pytest.raises(error, match=says):
        recorded(tmp_path / "a", world)


def test_the_run_loop_has_rows_as_they_will_be_read(tmp_path: Path) -> None:
    seen = []

    def evolve(state: State, block: Block) -> State:
        seen.extend(row for _, rows in block for row in rows)
        return TALLIES.evolve(state, block)

    world = replace(TALLIES, evolve=evolve)
    with JournalWriter(tmp_path / "a", Header(world.name, world.rules)) as journal:
        lists = lambda state: [(TOLD, [[state[0], [0.5]]])]  # noqa: E731  # as in JSON
        last_of(steps(world, {}, journal, ask=lists))

    assert [(count, (0.5,)) for count in range(6) for _ in (TOLD, ADDED)] == seen


def test_a_world_that_ends_inside_a_unit_is_refused_and_its_whole_units_are_kept(
    tmp_path: Path,
) -> None:
    world = replace(SUMS, unit_done=lambda state: state[0] % 4 == 0)
    with pytest.raises(BadInput, match="ended inside round 2"):
        recorded(tmp_path / "a", world)
    with JournalReader(tmp_path / "a") as reader:
        units = [commit.unit for commit in reader]

    assert units == [0, 1]


@pytest.mark.parametrize("digest", [-1, 2**64, None, True])
def test_a_digest_that_is_not_64_bits_is_refused_before_anything_is_written(
    tmp_path: Path, digest: Any
) -> None:
    world = replace(SUMS, digest=lambda _: digest)
    with pytest.raises(BadInput, match="it must be 64 bits"):
        recorded(tmp_path / "a", world)

    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("level", [0, 5, -1, "3"])
def test_a_level_that_there_is_not_is_refused(tmp_path: Path, level: Any) -> None:
    with pytest.raises(BadInput, match="from 1 to 4"):
        verify(recorded(tmp_path / "a", SUMS), level, world=SUMS)
