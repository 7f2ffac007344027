"""The leaderboard after an assignment: what was posted, and who stands behind it."""

from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.errors import MalformedEvents
from goldrush.kernel.world import RecordedEvent
from goldrush.kernel.worlds.competition.events import CODES, LeaderboardPosted
from goldrush.replay.worlds.competition.leaderboard import ranks_at
from tests.journals import commits_of, write
from tests.seasons import HEADER, LAST, changed, forged


def test_ranks_and_sums_are_those_that_were_posted(
    season: Path, events: list[RecordedEvent]
) -> None:
    for event in events:
        if event.name == "leaderboard_posted":
            found = ranks_at(season, event.unit)

            names = ("assignment", "day", "rank", "agent", "rolling", "all_time")
            assert [[row[name] for name in names] for row in found] == [
                [event.unit, event.unit // 2, *row] for row in event["rows"]
            ]


def test_of_a_season_under_way_it_is_that_of_the_last_closed_assignment(
    season: Path, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.journal", commits_of(season)[:6], HEADER)

    assert ranks_at(path) == ranks_at(season, 4)


def test_a_leaderboard_that_ranks_nobody_known_is_malformed(season: Path, tmp_path: Path) -> None:
    def unknown(row: list[Any]) -> None:
        row[0] = ((1, 99, 0, 0), *row[0])

    path = forged(
        tmp_path / "a.journal", changed(season, CODES[LeaderboardPosted], LAST, unknown), season
    )

    with pytest.raises(MalformedEvents):
        ranks_at(path)
    assert ranks_at(path, LAST - 1) == ranks_at(season, LAST - 1)
