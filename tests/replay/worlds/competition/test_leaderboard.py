"""The leaderboard after an assignment: what was posted, and who stands behind it."""

from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.errors import BadInput, MalformedEvents, TornTail
from goldrush.kernel.world import RecordedEvent
from goldrush.kernel.worlds.competition.events import CODES, LeaderboardPosted
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.worlds.competition.leaderboard import season_at
from tests.golden import path_of
from tests.journals import commits_of, events_of, write
from tests.seasons import HEADER, LAST, changed, forged, rich


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rich(tmp_path_factory.mktemp("seasons"))


@pytest.fixture(scope="module")
def events(season: Path) -> list[RecordedEvent]:
    return events_of(season)


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


def test_without_a_number_it_is_that_of_the_last_assignment(season: Path) -> None:
    assert season_at(season).ranks == season_at(season, LAST).ranks


def test_all_time_is_the_sum_of_all_scores(season: Path, events: list[RecordedEvent]) -> None:
    for at in (0, 6, LAST):
        for row in season_at(season, at).ranks:
            assert row["all_time"] == sum(
                e["total"] for e in events
                if e.name == "scored" and e["agent"] == row["agent"] and e.unit <= at
            )  # fmt: skip


def test_the_rest_is_what_the_assignment_left_of_an_agent(season: Path) -> None:
    agents = rebuild(season, 9).state.agents
    for row in season_at(season, 9).ranks:
        agent = agents[row["agent"]]
        assert [row[name] for name in ("name", "status", "class", "sparks")] == [
            agent.name, agent.status, agent.class_, agent.sparks
        ]  # fmt: skip


def test_who_went_in_the_assignment_still_stands_there(
    season: Path, events: list[RecordedEvent]
) -> None:
    for event in events:
        if event.name == "deleted":
            [row] = [r for r in season_at(season, event.unit).ranks if r["agent"] == event["agent"]]

            assert row["status"] == "gone"


def test_of_a_season_under_way_it_is_that_of_the_last_closed_assignment(
    season: Path, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.journal", commits_of(season)[:6], HEADER)

    assert season_at(path).ranks == season_at(season, 4).ranks


def test_damage_behind_an_assignment_that_is_named_does_not_matter(
    season: Path, path: Path
) -> None:
    path.write_bytes(season.read_bytes()[:-3])

    assert season_at(path, LAST - 1).ranks == season_at(season, LAST - 1).ranks
    with pytest.raises(TornTail):
        season_at(path)


@pytest.mark.parametrize(
    ("at", "says"),
    [(-1, "no closed assignment -1; give one from 0 to 15"), (16, "no closed assignment 16; "),
     (10**30, "give one from ")],
)  # fmt: skip
def test_an_assignment_that_is_not_there_is_refused(season: Path, at: int, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        season_at(season, at)


def test_a_season_that_has_only_started_has_none(season: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "a.journal", commits_of(season)[:1], HEADER)

    with pytest.raises(BadInput, match="no closed assignment"):
        season_at(path)


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


def test_runs_of_other_worlds_are_refused() -> None:
    with pytest.raises(BadInput, match="of the mining world"):
        season_at(path_of("scarce"))
