"""The tools on a world that counts from 0, has a cast and no plots."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.journal import UNIT, Commit
from goldrush.kernel.world import Block
from goldrush.replay.journal.diff import Diff, diff
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.verify import verify
from tests.journals import commits_of, write
from tests.lessons import (
    CAST,
    HEADER,
    LESSONS,
    PRAISED,
    SETUP,
    forked,
    member,
    play,
)
from tests.plugins.installed import install_world


@pytest.fixture(autouse=True)
def known(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path_factory.mktemp("world")
    install_world(folder, monkeypatch, LESSONS.name, "tests.lessons:TOOLS")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return play(tmp_path / "a.journal")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return tmp_path / "b.journal"


# Any unit again.


def test_a_unit_is_rebuilt_by_the_number_that_people_know(path: Path) -> None:
    for number in range(-1, 4):
        rebuilt = rebuild(path, number)

        assert (number, number + 1) == (rebuilt.round, rebuilt.state.lesson)
        assert {number} == {event.unit for event in rebuilt.events}
        assert commits_of(path)[number + 1].digest == rebuilt.digest


# The event stream.


@pytest.mark.parametrize(
    ("first", "last", "units"),
    [
        (None, 0, [-1, 0]), (0, None, [0, 1, 2, 3]), (-1, -1, [-1]), (2, 3, [2, 3]),
    ],
)  # fmt: skip
def test_a_range_of_units_is_in_the_numbers_of_people(
    path: Path, first: int | None, last: int | None, units: list[int]
) -> None:
    found = [event.unit for event in log(path, Query(first, last))]

    assert units == list(dict.fromkeys(found))


# Two runs.


def told(found: Diff) -> list[tuple[Any, ...]]:
    return [(cause.kind, cause.round, cause.text) for cause in found.causes]


def test_another_setting_is_a_cause_from_the_start_and_the_cast_is_no_setting(
    path: Path, other: Path
) -> None:
    play(other, {**SETUP, "seed": 6, "cast": [*CAST[:2], member(2, "bold")]})
    found = diff(path, other)

    assert [
        ("configuration", -1, "seed is 5 in A, 6 in B"),
        ("roster", -1, "agent 2: shy in A, bold in B"),
    ] == told(found)


def test_the_cast_of_a_fork_is_read_and_its_ordinals_are_no_difference(
    path: Path, other: Path
) -> None:
    forked(path, 2, other, cast=[member(7, "shy"), member(8, "shy"), member(9, "shy")])
    found = diff(path, other)

    assert [("roster", 2, "agents 0, 1: eager in A, shy in B")] == told(found)


def changed(path: Path, out: Path, at: int, code: int, rows: Sequence[Any]) -> Path:
    """The run with other rows of a type in one of its commits."""
    commits = commits_of(path)
    blocks = [
        Block([(c, rows if c == code else old) for c, old in block]) for block in commits[at].blocks
    ]
    commits[at] = Commit(UNIT, commits[at].unit, commits[at].digest, blocks)
    return write(out, commits, HEADER)


# Verified.


def test_a_break_names_the_unit_as_people_count_and_closed_ones_are_counted(
    path: Path, other: Path
) -> None:
    [(winner, agents, words)] = commits_of(path)[2].blocks[1].rows(PRAISED)
    loser = next(agent for agent in agents if agent != winner)
    verdict = verify(changed(path, other, 2, PRAISED, [(loser, agents, words)]))

    assert verdict.broken.where.startswith("lesson 1, commit 2 at byte ")
    assert verdict.broken.where.endswith(", praised")
    assert '"lesson": 1' in verdict.broken.found
    assert (1, "lessons") == (verdict.rounds, verdict.vocabulary.units)
    assert "words" not in verdict.as_dict()


# What only some worlds have.
