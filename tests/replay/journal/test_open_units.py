"""Inputs that wait in a unit left open are judged, as far as they can be, by `verify`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.journal import UNIT, Commit, Header
from goldrush.kernel.world import Block
from goldrush.kernel.worlds.competition.events import CODES, Answered
from goldrush.kernel.worlds.mining.events import SUBMITTED
from goldrush.replay.journal.verify import DERIVE, FOLD, verify
from tests.faults.hostile_seasons import season
from tests.faults.journals import small
from tests.kernel.tiny_reader import framed


def left_open(sound: Any, code: int, rows: Sequence[Any], torn: bytes = b"") -> bytes:
    """The start of a journal, and these inputs behind it, each committed by itself."""
    start = sound.commits[0]
    commits = [start, *(Commit(UNIT, 1, None, [Block([(code, [row])])]) for row in rows)]
    header = Header(sound.world.name, sound.world.rules).packed()
    return framed([commit.body() for commit in commits], header) + torn


def submission(agent: int) -> tuple[Any, ...]:
    return (agent, (), None, None, None, None)


@pytest.mark.parametrize("torn", [b"", b"\x94\xce", bytes(100)], ids=["", "torn", "zeros"])
@pytest.mark.parametrize(
    "agents", [(1, 1), (0, 1, 0), (99,), (0, 3)], ids=["twice", "again", "none", "the next"]
)
def test_a_round_left_open_has_one_submission_of_different_agents(
    path: Path, agents: Sequence[int], torn: bytes
) -> None:
    path.write_bytes(left_open(small(), SUBMITTED, [*map(submission, agents)], torn))
    broken = verify(path).broken

    assert DERIVE == broken.level
    assert "not of different agents of the step" in broken.found
    assert not broken.torn


@pytest.mark.parametrize("row", [(), (0,), submission(-1), (0, (), 1, None, None, None)])
def test_rows_that_are_none_break_the_fold_though_it_needs_none_of_their_values(
    path: Path, row: Sequence[Any]
) -> None:
    path.write_bytes(left_open(small(), SUBMITTED, [row]))
    broken = verify(path, FOLD).broken

    assert FOLD == broken.level
    assert broken.where.startswith("commit 1 at byte ")
    assert broken.found.startswith("submitted")


@pytest.mark.parametrize("agents", [(), (0,), (2, 0), (1, 2, 0)])
def test_submissions_of_different_agents_may_wait(path: Path, agents: Sequence[int]) -> None:
    path.write_bytes(left_open(small(), SUBMITTED, [*map(submission, agents)]))

    assert verify(path, DERIVE).holds
    assert verify(path, FOLD).holds


@pytest.mark.parametrize(("agent", "holds"), [(5, True), (99, False)])
def test_an_answer_that_waits_is_somebodys_of_the_season(
    path: Path, agent: int, holds: bool
) -> None:
    path.write_bytes(left_open(season("short"), CODES[Answered], [(agent, "speak", "words", None)]))
    verdict = verify(path, DERIVE)

    assert holds is verdict.holds
    if verdict.broken:
        assert "agent 99" in verdict.broken.found
