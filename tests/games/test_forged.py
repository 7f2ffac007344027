"""Forged submissions under right checksums: the journal is told, and not a bug of the rules."""

import pytest

import goldrush
from goldrush.games.fishery import Fishery
from goldrush.kernel.game.world import world_of
from goldrush.kernel.journal import UNIT, Commit, Header
from goldrush.kernel.world import Block
from goldrush.replay.journal.verify import verify
from tests.journals import commits_of, write

ASKED, LANDED, REGROWN, DRAWN = range(4)


@pytest.mark.parametrize(
    ("is_pending", "says"),
    [
        (False, "a step needs one submission of each agent whose turn it is"),
        (True, "the pending submissions are not of different agents of the step, but of"),
    ],
    ids=["judged", "pending"],
)
@pytest.mark.parametrize("agents", [(0, 1, 99), (0, 1, 1), (0, 1, 2, 3)])
def test_forged_agents_are_found(tmp_path, agents, is_pending, says) -> None:
    source = goldrush.record(Fishery, tmp_path / "source.journal", roster="share*3").path
    start, first, *_ = commits_of(source)
    _, derived = first.blocks
    inputs = Block([(ASKED, [(agent, 20, None, None) for agent in agents])])
    landed = [(agent, 20) for agent in agents]
    others = [(code, derived.rows(code)) for code in (DRAWN, REGROWN)]
    unit = Commit(UNIT, 1, None, [inputs])
    if not is_pending:
        forged = Block([others[0], (LANDED, landed), others[1]])
        unit = Commit(UNIT, 1, first.digest, [inputs, forged])
    path = write(tmp_path / "forged.journal", [start, unit], Header("fishery", 1))

    folded, derived_again = (
        verify(path, level, world=world_of(Fishery)).broken for level in (2, 3)
    )

    assert is_pending == (folded is None)
    assert says in str(derived_again)
