"""Whatever takes turns is tried within so many commits, and one of each kind with every commit."""

from itertools import chain

import pytest

from tests.faults import sampling


@pytest.mark.parametrize("count", range(8))
def test_all_have_their_turn_and_none_is_without_one(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "ALL", False)
    turns = []
    for turn in range(sampling.TURNS):
        monkeypatch.setattr(sampling, "TURN", turn)
        turns.append(sampling.in_turn(range(count)))

    assert set(range(count)) == set(chain.from_iterable(turns))
    assert all(turns) == bool(count)
