"""The leaderboard after an assignment: what was posted, and who stands behind it."""

from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.errors import MalformedEvents
from goldrush.kernel.world import RecordedEvent
from goldrush.kernel.worlds.competition.events import CODES, LeaderboardPosted
from goldrush.replay.worlds.competition.leaderboard import season_at
from tests.journals import commits_of, write
from tests.seasons import HEADER, LAST, changed, forged


def test_ranks_and_sums_are_those_that_were_posted(
    season: Path, events: list[RecordedEvent]
) -> None:
    for event in events:
        if event.name == "leaderboard_posted":
            found = season_at(season, event.unit).ranks

            names = ("assignment", "day", "rank", "agent", "rolling", "all_time")
            assert [[row[name] for name in names] for row in found] == [
                [event.unit, event.unit // 2, *row] for row in event["rows"]
            ]


def test_of_a_season_under_way_it_is_that_of_the_last_closed_assignment(
    season: Path, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.journal", commits_of(season)[:6], HEADER)

    assert season_at(path).ranks == season_at(season, 4).ranks


def test_a_leaderboard_that_ranks_nobody_known_is_malformed(season: Path, tmp_path: Path) -> None:
    def unknown(row: list[Any]) -> None:
        row[0] = ((1, 99, 0, 0), *row[0])

    path = forged(
        tmp_path / "a.journal", changed(season, CODES[LeaderboardPosted], LAST, unknown), season
    )

    with pytest.raises(MalformedEvents):
        season_at(path)
    assert season_at(path, LAST - 1).ranks == season_at(season, LAST - 1).ranks


def test_scores_are_told_whole(season: Path, events: list[RecordedEvent]) -> None:
    scores = season_at(season, 5).scores
    recorded = [e for e in events if e.name == "scored" and e.unit <= 5]

    assert sum(map(len, scores.values())) == len(recorded)
    for event in recorded:
        [score] = [
            s
            for assignment, s in scores[event["agent"]]
            if (assignment, s.table) == (event.unit, event["table"])
        ]
        assert (list(score.raw), list(score.final)) == (event["raw"], event["final"])
