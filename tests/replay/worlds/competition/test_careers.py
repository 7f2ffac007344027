"""The season of a worker in sentences: its numbers are those of the events."""

from pathlib import Path

import pytest

from goldrush.kernel.worlds.competition.terms import Status
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.worlds.competition.careers import Careers
from goldrush.replay.worlds.competition.headline import headline
from tests.golden import season_path
from tests.journals import events_of
from tests.seasons import kept
from tests.stances import apart, odd, silent

EVERY = season_path("every-event")


def rich() -> Path:
    return kept("rich")


def every() -> Path:
    return EVERY


@pytest.fixture(params=[every, rich, odd, apart, silent])
def season(request: pytest.FixtureRequest) -> tuple[Path, Careers]:
    path = request.param()
    return path, measured_at(path).careers


def test_a_departure_has_the_rule_and_numbers_that_lead_to_it(
    season: tuple[Path, Careers],
) -> None:
    path, found = season
    events = events_of(path)
    left = [(e.unit, e["agent"]) for e in events if e.name in ("relegated", "deleted")]
    causes = {(e.unit, e["agent"]): e["cause"] for e in events if e.name == "elimination_faced"}
    streaks = {(e.unit, e["agent"]): e["streak"] for e in events if e.name == "bottomed"}
    joined = {(e.unit, e["ordinal"]) for e in events if e.name == "joined"}

    assert left == [(each.assignment, each.agent) for each in found.departures]
    for each in found.departures:
        settled = each.settled
        assert causes[each.assignment, each.agent] == each.cause
        if each.cause == "sparks":
            assert settled.before + settled.points <= settled.fees
        else:
            assert len(each.lasts) == streaks[each.assignment, each.agent] >= each.limit
        assert each.heir is not None
        assert each.is_new == ((each.assignment, each.heir) in joined)


def test_both_causes_and_both_fates_are_told() -> None:
    departures = [each for path in (EVERY, rich()) for each in measured_at(path).careers.departures]

    assert {"sparks", "bottoms"} == {each.cause for each in departures}
    assert {True, False} == {each.is_deleted for each in departures}
    assert {True, False} == {each.is_new for each in departures}


def test_the_fewest_sparks_are_those_of_the_events(season: tuple[Path, Careers]) -> None:
    path, found = season
    fewest: dict[int, int] = {}
    for event in events_of(path):
        if event.name == "sparks_moved":
            agent = event["agent"]
            fewest[agent] = min(fewest.get(agent, event["balance"]), event["balance"])
    for career in found.careers:
        assert career.low[0] == min(career.sparks_start, fewest.get(career.agent, 10**9))


def test_a_streak_of_last_places_has_those_in_a_row_alone(season: tuple[Path, Careers]) -> None:
    path, found = season
    last = {e["agent"]: e["streak"] for e in events_of(path) if e.name == "bottomed"}

    assert last == {career.agent: len(career.streak) for career in found.careers if career.streak}


def test_the_headline_follows_from_what_was_measured_and_reads_no_journal(tmp_path: Path) -> None:
    journal = tmp_path / "season.journal"
    journal.write_bytes(EVERY.read_bytes())
    season = measured_at(journal)
    says = headline(season)
    journal.write_bytes(b"another")

    assert list(says) == list(headline(season)) == list(headline(measured_at(EVERY)))
    journal.unlink()
    assert list(says) == list(headline(season))


@pytest.mark.parametrize(
    ("status", "says"),
    [(Status.ACTIVE, ""), (Status.BENCHED, ", though on the bench"),
     (Status.GONE, ", though it was then deleted")],
)  # fmt: skip
def test_the_headline_says_if_the_leader_has_lost_its_seat(status: str, says: str) -> None:
    season = measured_at(EVERY)
    leader, recent = season.careers.leader
    leader.status = status

    head = headline(season)[0]
    assert head.startswith(f"{leader.name} ranks first with {recent} recent points{says}")
    assert says or "though" not in head
