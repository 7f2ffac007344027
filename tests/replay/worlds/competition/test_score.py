"""Scores laid open: what they rest on is what the journal says, and what was forged is found."""

from pathlib import Path
from typing import Any

import pytest

from goldrush.agents.worlds.competition.therapist import Therapist
from goldrush.kernel.errors import BadInput
from goldrush.kernel.world import RecordedEvent
from goldrush.kernel.worlds.competition.events import CODES, LeaderboardPosted, Rated, Scored
from goldrush.replay.worlds.competition.ended import ended_at
from goldrush.replay.worlds.competition.score import Score, scores
from tests.seasons import LAST, Change, changed, forged, small


@pytest.fixture(scope="module")
def found(season: Path, events: list[RecordedEvent]) -> list[Score]:
    """The scores of every third assignment, in the order of the season's events."""
    seats = dict.fromkeys((e.unit, e["agent"]) for e in scored_in(events))
    of_seats = [score for unit, agent in seats for score in scores(season, unit, agent)]
    by_place = {(score.assignment, score.table, score.agent): score for score in of_seats}
    return [by_place[e.unit, e["table"], e["agent"]] for e in scored_in(events)]


def scored_in(events: list[RecordedEvent]) -> list[RecordedEvent]:
    return [e for e in events if e.name == "scored" and e.unit % 3 == 0]


def test_every_score_is_worked_out_anew(events: list[RecordedEvent], found: list[Score]) -> None:
    assert len(found) > 20
    for event, score in zip(scored_in(events), found, strict=True):
        assert score.holds
        assert event["final"] == list(score.again.final)
        assert event["steps"] == [list(step) for step in score.again.steps]
        assert event["total"] == score.again.total == sum(score.again.final)
        assert score.given == score.rubric == score.again.raw


def test_claims_show_what_was_claimed_and_tested_and_whether_it_held_and_was_sharp(
    events: list[RecordedEvent], found: list[Score]
) -> None:
    tested = {(e.unit, e["table"], e["at"], e["part"]): e for e in events if e.name == "tested"}
    kinds = set()
    for score in found:
        at = score.assignment, score.table
        bar = tested[*at, None, None]["value"]
        assert str(score).count(", part edge, ") == len(score.grounds.edges)
        for claim in (*score.grounds.bases, *score.grounds.edges):
            event = tested[*at, claim.id, claim.part]
            margin = event["value"] - bar
            is_sharp = claim.part == "base" and 2 * (claim.claimed - bar) >= margin

            assert (event["value"], event["treatment"]) == (claim.tested, claim.treatment)
            assert score.bar == bar
            assert claim.held is (claim.tested is not None and claim.tested >= claim.claimed)
            assert claim.is_sharp is (claim.held and is_sharp)
            kinds.add((claim.part, claim.held, claim.is_sharp))
    assert {("base", True, True), ("base", True, False), ("base", False, False)} <= kinds
    assert "edge" in {part for part, _, _ in kinds}
    assert any(base.is_counted for score in found for base in score.grounds.bases)


def test_impact_names_what_would_have_been_concluded_and_who_would_have_stood_elsewhere(
    season: Path, found: list[Score]
) -> None:
    kinds, units = set(), {score.assignment for score in found}
    tables = {(n, t.number): t for n in units for t in ended_at(season, n).state.tables}
    for score in found:
        without, text = score.grounds.counterfactual, str(score)
        table = tables[score.assignment, score.table]

        for agent, then in without.moved.items():
            stances = (table.talk_stances().by_agent.get(agent), then)
            now, other = ("none" if stance is None else f"#{stance}" for stance in stances)
            assert f" stands by {now}, without it by {other}" in text
        assert score.rubric[2] == (2 + without.is_own if without.differs else bool(without.moved))
        kinds.add((without.differs, bool(without.moved)))
    assert {(False, False), (False, True), (True, True)} <= kinds


# Other therapists, other scoring.


class Generous(Therapist):
    """Gives everybody all points."""

    def rate(self, *seen: Any, **told: Any) -> Any:
        return {"raw": [3, 3, 3, 3], "reasons": ["well done"] * 4}


class Mute(Therapist):
    """Gives nothing."""

    def rate(self, *seen: Any, **told: Any) -> Any:
        return {}


@pytest.mark.parametrize("therapist", [Generous, Mute])
def test_another_judgement_than_the_rubrics_stands_and_is_shown_next_to_it(
    therapist: type, path: Path
) -> None:
    season = small(path, f"therapist={__name__}:{therapist.__name__}", assignments=1)
    [score] = scores(season, 0, 5)
    given = (3, 3, 3, 3) if therapist is Generous else None

    assert score.holds
    assert (given, given or score.rubric) == (score.given, score.again.raw)
    assert score.rubric != score.given


# Forgeries, under right checksums and digests.


def _total(row: list[Any]) -> None:
    row[5] += 1


def _final(row: list[Any]) -> None:
    row[4] = (*row[4][:3], (row[4][3] + 1) % 4)


def _rating(row: list[Any]) -> None:
    row[2] = tuple((score + 1) % 4 for score in row[2])


SCORED, RATED = CODES[Scored], CODES[Rated]


@pytest.mark.parametrize(("code", "change"), [(SCORED, _total), (SCORED, _final), (RATED, _rating)])
def test_what_was_forged_in_a_score_does_not_hold(
    season: Path, tmp_path: Path, code: int, change: Change
) -> None:
    commits = changed(season, code, 0, change, is_meant=lambda row: row[1] == 8)
    path = forged(tmp_path / "forged.journal", commits, season)

    assert [False] == [score.holds for score in scores(path, 0, 8)]
    assert all(score.holds for score in scores(path, 0, 5))


def test_an_assignment_without_scores_does_not_hold(season: Path, tmp_path: Path) -> None:
    path = season
    for form in (LeaderboardPosted, Scored):
        commits = changed(path, CODES[form], LAST, list.clear)
        path = forged(tmp_path / form.__name__, commits, season)
    [score] = scores(path, LAST, 7)

    assert not score.holds
    assert "DOES NOT HOLD: the event is recorded 0 times" in str(score)


@pytest.mark.parametrize("ask", [(0, 99), (0, 2), (0, 5, 3), (16, 5)])
def test_whoever_has_no_score_is_refused(season: Path, ask: tuple[Any, ...]) -> None:
    with pytest.raises(BadInput):
        scores(season, *ask)
