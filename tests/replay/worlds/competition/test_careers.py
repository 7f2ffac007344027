"""The season of a worker in sentences: its numbers are those of the events."""

import re
from pathlib import Path

import pytest

from goldrush.kernel.text import format_count
from goldrush.kernel.worlds.competition.terms import Status
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.worlds.competition.career_text import (
    MOVES_MAX,
    format_career,
    format_departure,
)
from goldrush.replay.worlds.competition.careers import Careers
from goldrush.replay.worlds.competition.headline import headline
from goldrush.replay.worlds.competition.story import names_in
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
    names = names_in(path)
    events = events_of(path)
    left = [(e.unit, e["agent"]) for e in events if e.name in ("relegated", "deleted")]
    causes = {(e.unit, e["agent"]): e["cause"] for e in events if e.name == "elimination_faced"}
    streaks = {(e.unit, e["agent"]): e["streak"] for e in events if e.name == "bottomed"}

    assert left == [(each.assignment, each.agent) for each in found.departures]
    for each in found.departures:
        settled = each.settled
        said = format_departure(each, names.__getitem__)
        assert causes[each.assignment, each.agent] == each.cause
        if each.cause == "sparks":
            assert settled.before + settled.points <= settled.fees
            numbers = f"{settled.before} before, {settled.points} earned, {settled.fees} paid"
            assert numbers in said
        else:
            assert len(each.lasts) == streaks[each.assignment, each.agent] >= each.limit
            assert f"last at {len(each.lasts)} tables in a row (assignments " in said
        assert each.heir is not None
        assert f"{names[each.heir]} {'joins' if each.is_new else 'comes back'}" in said


def test_both_causes_and_both_fates_are_told() -> None:
    departures = [each for path in (EVERY, rich()) for each in measured_at(path).careers.departures]

    assert {"sparks", "bottoms"} == {each.cause for each in departures}
    assert {True, False} == {each.is_deleted for each in departures}
    assert {True, False} == {each.is_new for each in departures}


def test_a_story_has_the_numbers_of_its_worker(season: tuple[Path, Careers]) -> None:
    path, found = season
    names = names_in(path)
    for career in found.careers:
        said = " ".join(format_career(career, found, names.__getitem__))
        assert said.startswith(names[career.agent])
        assert f"sat at {career.tables} of the season's" in said
        assert (f"after assignment {career.joined}" in said) == (career.joined is not None)
        assert (f"{format_count(career.claims, 'claim')}, of which" in said) == bool(career.claims)
        assert min(MOVES_MAX, len(career.departures)) == len(
            re.findall(r"In assignment \d+ ", said)
        )
        if career.tables:
            better = sum(other.points > career.points for other in found.careers)
            assert f"number {better + 1} of {len(found.careers)} workers" in said


def test_the_fewest_sparks_are_those_of_the_events(season: tuple[Path, Careers]) -> None:
    path, found = season
    fewest: dict[int, int] = {}
    for event in events_of(path):
        if event.name == "sparks_moved":
            agent = event["agent"]
            fewest[agent] = min(fewest.get(agent, event["balance"]), event["balance"])
    for career in found.careers:
        assert career.low[0] == min(career.sparks_start, fewest.get(career.agent, 10**9))


def test_a_story_tells_of_each_return_from_the_bench(season: tuple[Path, Careers]) -> None:
    path, found = season
    returned: dict[int, list[str]] = {}
    for event in events_of(path):
        if event.name == "returned":
            returned.setdefault(event["agent"], []).append(str(event.unit))
    for career in found.careers:
        said = " ".join(format_career(career, found, str))
        after = re.findall(r"came back from the bench after assignment ([^.]+)", said)
        assert returned.get(career.agent, []) == re.findall(r"\d+", "".join(after))


def test_a_streak_of_last_places_has_those_in_a_row_alone(season: tuple[Path, Careers]) -> None:
    path, found = season
    last = {e["agent"]: e["streak"] for e in events_of(path) if e.name == "bottomed"}

    assert last == {career.agent: len(career.streak) for career in found.careers if career.streak}


def test_many_losses_of_a_seat_are_told_up_to_a_limit() -> None:
    found = measured_at(EVERY).careers
    career = next(each for each in found.careers if each.departures)
    career.departures *= MOVES_MAX + 2
    lines = format_career(career, found, str)

    assert "lost its seat" in lines[-2]
    assert MOVES_MAX == sum(line.startswith("In assignment ") for line in lines)


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
