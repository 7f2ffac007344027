"""Whoever goes on from a journal believes of it what `verify` does, and no more."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from msgspec.structs import replace

from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.kernel import fold
from goldrush.kernel.errors import GoldrushError, MalformedEvents
from goldrush.kernel.journal import START, UNIT, Commit, JournalReader
from goldrush.kernel.shape import Kind
from goldrush.kernel.walk import DERIVED, SHOWN_MAX, Walk, format_events
from goldrush.kernel.world import Block, InvalidInputs, World
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import Role
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import SUBMITTED
from goldrush.replay.journal import verify as verifying
from goldrush.replay.journal.batch import verify_all
from goldrush.replay.journal.prompts import prompted
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.verify import DERIVE, FOLD, verify
from tests.faults.hostile_seasons import season
from tests.found import found
from tests.journals import commits_of, forged, write
from tests.mining import fork, record, resume


@pytest.fixture
def commits(tmp_path: Path) -> list[Commit]:
    """A run that broke off after its second round."""
    record(tmp_path / "sound.journal", {"rounds": 3})
    return commits_of(tmp_path / "sound.journal")[:3]


@attrs.frozen
class Packed:
    """A START with a body of its own."""

    raw: bytes
    kind: int = START

    def body(self) -> bytes:
        return self.raw


def long_start(commits: list[Commit]) -> list[Any]:
    body = commits[0].body()
    return [Packed(body[:2] + b"\xde\x00\x02" + body[3:]), *commits[1:]]  # a map in three bytes


def long_inputs(commits: list[Commit]) -> list[Any]:
    start, first, *more = commits
    inputs, derived = first.blocks
    long = Block(inputs.batches, b"\xdc\x00\x01" + inputs.packed[1:])
    return [start, Commit(UNIT, 1, first.digest, [long, derived]), *more]


@pytest.mark.parametrize("packed", [long_start, long_inputs])
@pytest.mark.parametrize(
    "act",
    [
        resume,
        lambda path: fork(path, 1, path.with_name("fork.journal"), settings={"seed": 5}),
        lambda path: prompted(path, MINING_PLAYERS, 2, 0),
    ],
    ids=["resume", "fork", "prompt"],
)
def test_nobody_goes_on_from_inputs_that_are_not_packed_in_the_one_way(
    commits: list[Commit],
    tmp_path: Path,
    packed: Callable[[list[Commit]], list[Any]],
    act: Callable[[Path], object],
) -> None:
    path = write(tmp_path / "forged.journal", packed(commits))
    before = path.read_bytes()
    with pytest.raises(MalformedEvents, match="the canonical encoding"):
        act(path)
    broken = verify(path, DERIVE).broken

    assert DERIVE == broken.level
    assert before == path.read_bytes()
    assert not (tmp_path / "fork.journal").exists()


def raises(error: type[Exception]) -> Callable[..., Any]:
    def function(*_: object) -> Any:
        raise error("slipped")

    return function


def left_open(commits: list[Commit], path: Path, closed: int = 0) -> Path:
    row = (0, (), None, None, None, None)
    waiting = Commit(UNIT, closed + 1, None, [Block([(SUBMITTED, [row])])])
    return write(path, [*commits[: closed + 1], waiting])


# A bug of the world: its rows are valid, and what was before follows.

BUGS = {
    "decide": OverflowError,
    "evolve": KeyError,
    "close": AttributeError,
    "unit_done": ValueError,
    "digest": OverflowError,
    "ended": RuntimeError,
    "pending_fault": ZeroDivisionError,
    "arrange": IndexError,
}


def with_bug(function: str) -> World[Any]:
    """Mining with a function that fails from the second round on."""
    sound = getattr(MINING, function)

    def fails(*given: Any) -> Any:
        if getattr(given[0], "round", 1):
            raise BUGS[function]("slipped")
        return sound(*given)

    return replace(MINING, **{function: fails})


@pytest.mark.parametrize("function", BUGS)
def test_what_a_world_raises_on_a_sound_journal_is_raised_as_its_own(
    commits: list[Commit], tmp_path: Path, function: str
) -> None:
    world, path = with_bug(function), write(tmp_path / "run.journal", commits)
    if function in ("pending_fault", "arrange"):
        path = left_open(commits, path, 1)
    with JournalReader(path) as reader, pytest.raises(BUGS[function], match="slipped") as caught:
        list(Walk(world, reader, DERIVED))
    with pytest.raises(BUGS[function], match="slipped"):
        verify(path, DERIVE, world=world)

    assert re.fullmatch(
        r"code of the mining world failed in round [012], commit \d at byte \d+",
        *caught.value.__notes__,
    )


@pytest.mark.parametrize("function", ["evolve", "close", "unit_done", "digest"])
def test_a_fold_raises_what_the_world_raises_as_its_own_only_if_the_events_follow(
    commits: list[Commit], tmp_path: Path, function: str
) -> None:
    world, path = with_bug(function), write(tmp_path / "run.journal", commits)
    with pytest.raises(BUGS[function], match="slipped"):
        verify(path, FOLD, world=world)
    with found(world), pytest.raises(BUGS[function], match="slipped"):
        rebuild(path, 2)

    inputs, derived = commits[1].blocks
    commits[1].blocks = (inputs, Block(derived.batches[:-1]))
    broken = verify(forged(path, MINING, commits), FOLD, world=world).broken

    assert FOLD == broken.level
    assert "slipped" in broken.found
    with found(world), pytest.raises(MalformedEvents, match="slipped"):
        rebuild(path, 2)


@pytest.mark.parametrize("function", ["decide", "evolve", "close"])
def test_a_row_that_is_none_is_told_before_what_the_world_raises_of_it(
    commits: list[Commit], tmp_path: Path, function: str
) -> None:
    inputs, derived = commits[2].blocks
    [(code, [_, *rows])] = inputs.batches
    commits[2].blocks = (Block([(code, [("x", (), None, None, None, None), *rows])]), derived)
    path = write(tmp_path / "forged.journal", commits)
    for level in (FOLD, DERIVE):
        broken = verify(path, level, world=with_bug(function)).broken

        assert "submitted.agent: integer >= 0 expected, found 'x'" in broken.found


def test_a_kind_that_fails_on_a_value_is_a_fault_of_the_row(
    commits: list[Commit], tmp_path: Path
) -> None:
    path = left_open(commits, tmp_path / "open.journal")
    submitted, *others = MINING.events
    fields = {**submitted.fields, "agent": Kind("agent", raises(ZeroDivisionError))}
    world = replace(MINING, events=(replace(submitted, fields=fields), *others))
    broken = verify(path, DERIVE, world=world).broken

    assert "ZeroDivisionError: slipped" in broken.found


def test_the_walk_leaves_the_inputs_that_wait(commits: list[Commit], tmp_path: Path) -> None:
    with JournalReader(left_open(commits, tmp_path / "open.journal")) as reader:
        walk = Walk(MINING, reader, DERIVED)
        list(walk)

    assert [0] == [row[0] for row in walk.pending.rows(SUBMITTED)]


def test_a_world_that_fails_on_one_journal_does_not_keep_the_others_from_being_judged(
    commits: list[Commit], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = left_open(commits, tmp_path / "open.journal")
    good = write(tmp_path / "whole.journal", commits)
    world = replace(MINING, pending_fault=raises(RuntimeError))
    monkeypatch.setattr(verifying, "open_world", lambda reader: world)
    first, second = verify_all([str(bad), str(good)], DERIVE, jobs=1)

    assert (None, True) == (first.holds, second.holds)
    assert f"mining world failed in round 1, {commits_of(bad)[1].where}" in first.error
    assert 'raise error("slipped")' in first.trace


def test_pending_inputs_that_the_world_refuses_do_not_follow(
    commits: list[Commit], tmp_path: Path
) -> None:
    world = replace(MINING, pending_fault=raises(InvalidInputs))
    broken = verify(left_open(commits, tmp_path / "open.journal"), DERIVE, world=world).broken

    assert (DERIVE, "slipped") == (broken.level, broken.found)


@pytest.mark.parametrize(("length", "cut"), [(1, False), (SHOWN_MAX, True)])
def test_a_long_event_is_cut_in_a_message(length: int, cut: bool) -> None:
    rows = [(0, (), None, None, "x" * length + end, None) for end in ("here", "there")]
    one, two = fold.block_events(MINING, 1, Block([(SUBMITTED, rows)]))
    whole = json.dumps(one.as_dict())

    assert (whole[:SHOWN_MAX] + "..." if cut else whole) == format_events(one, None)[0]
    assert "xhere" in format_events(one, two)[0]
    assert "xthere" in format_events(one, two)[1]


def test_an_office_that_forged_events_left_empty_is_told_as_such() -> None:
    short = season("short")
    state: SeasonState = short.world.initial(short.commits[0].setup or {})
    state.agents = {n: agent for n, agent in state.agents.items() if agent.role != Role.JUDGE}
    with pytest.raises(LookupError, match="there is no judge") as caught:
        state.holder(Role.JUDGE)

    assert isinstance(caught.value, fold.REFUSED)
    assert not isinstance(caught.value, GoldrushError)
