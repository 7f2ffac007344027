"""The headline of a season: its numbers are those of the events."""

from collections.abc import Callable
from pathlib import Path

import pytest

from goldrush.replay.data.run_data import measured_at
from goldrush.replay.worlds.competition.leaderboard import season_at
from goldrush.replay.worlds.competition.measures import headline
from tests.golden import season_path
from tests.seasons import kept
from tests.stances import apart, odd, silent

EVERY = season_path("every-event")


def rich() -> Path:
    return kept("rich")


def every() -> Path:
    return EVERY


@pytest.mark.parametrize("path", [every, rich, odd, apart, silent])
def test_the_headline_has_the_leader_and_the_measures_of_claims_and_choices(
    path: Callable[[], Path],
) -> None:
    journal = path()
    measured = measured_at(journal)
    leads, *tables = headline(measured).sentences
    first, held, best = season_at(journal).ranks[0], measured.of("held"), measured.of("chose_best")

    assert leads.startswith(f"{first['name']} ranks first with {first['rolling']:,} recent point")
    assert bool(tables) == (held is not None)
    if held is not None:
        assert tables[0].startswith(f"On average {held:.0%} of the claims of a table held")
        assert f"; {best:.0%} of tables chose the best" in tables[0]
