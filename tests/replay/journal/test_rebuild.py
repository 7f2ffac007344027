"""Any round again: the state that the recording had, and the events in it."""

from pathlib import Path

import pytest

from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.state import MiningState
from goldrush.replay.journal.rebuild import rebuild
from tests.mining import record


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[MiningState]]:
    """A journal, and the states that the run loop went through, round by round."""
    path = tmp_path_factory.mktemp("journals") / "a.journal"
    states: list[MiningState] = []
    record(path, {"rounds": 15}, on_round=lambda _, state: states.append(MINING.copy(state)))
    return path, states


def test_every_round_is_rebuilt_as_it_was(recorded: tuple[Path, list[MiningState]]) -> None:
    path, states = recorded
    for round_, state in enumerate(states, start=1):
        rebuilt = rebuild(path, round_)

        assert state.owner == rebuilt.state.owner
        assert state.since == rebuilt.state.since
        assert state.gold == rebuilt.state.gold
        assert state.spent == rebuilt.state.spent
        assert MINING.digest(state) == MINING.digest(rebuilt.state) == rebuilt.digest


@pytest.mark.parametrize("round_", [-1, 16, 10**30])
def test_a_round_that_was_not_played_is_refused_with_the_rounds_there_are(
    recorded: tuple[Path, list[MiningState]], round_: int
) -> None:
    with pytest.raises(BadInput, match="from 0 to 15"):
        rebuild(recorded[0], round_)
