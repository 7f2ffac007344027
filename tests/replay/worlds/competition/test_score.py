"""Scores laid open: what they rest on is what the journal says, and what was forged is found."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.errors import BadInput
from goldrush.kernel.world import RecordedEvent
from goldrush.kernel.worlds.competition.events import CODES, LeaderboardPosted, Rated, Scored
from goldrush.replay.worlds.competition.ended import ended_at
from goldrush.replay.worlds.competition.score import Score, scores
from tests.golden import path_of
from tests.journals import events_of
from tests.seasons import LAST, Change, changed, forged, rich, small


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rich(tmp_path_factory.mktemp("seasons"))


@pytest.fixture(scope="module")
def events(season: Path) -> list[RecordedEvent]:
    return events_of(season)


@pytest.fixture(scope="module")
def found(season: Path, events: list[RecordedEvent]) -> list[Score]:
    """All scores of the season, in the order of its events."""
    by_agent = {
        (e.unit, e["agent"]): scores(season, e.unit, e["agent"])
        for e in events
        if e.name == "scored"
    }
    return [
        next(s for s in by_agent[e.unit, e["agent"]] if s.table == e["table"])
        for e in events
        if e.name == "scored"
    ]


def test_every_score_is_worked_out_anew(events: list[RecordedEvent], found: list[Score]) -> None:
    recorded = [e for e in events if e.name == "scored"]

    assert len(recorded) > 80
    for event, score in zip(recorded, found, strict=True):
        assert score.holds
        assert event["final"] == list(score.again.final)
        assert event["steps"] == [list(step) for step in score.again.steps]
        assert event["total"] == score.again.total == sum(score.again.final)


def test_the_scripted_therapist_gives_what_the_rubric_gives(found: list[Score]) -> None:
    assert all(score.given == score.rubric == score.again.raw for score in found)


def said_by(events: list[RecordedEvent], score: Score) -> list[RecordedEvent]:
    return [
        e
        for e in events
        if e.name == "spoke"
        and (e.unit, e["table"], e["agent"]) == (score.assignment, score.table, score.agent)
    ]


def test_proposals_are_those_that_were_spoken_and_their_distance_is_that_of_the_nearest(
    events: list[RecordedEvent], found: list[Score]
) -> None:
    proposals = [p for score in found for p in score.grounds.proposals]

    for score in found:
        spoken = {e["id"]: e for e in said_by(events, score) if e["move"] in ("propose", "amend")}
        for proposal in score.grounds.proposals:
            assert proposal.conduct == spoken[proposal.id]["conduct"]
            if proposal.distance is not None:
                pairs = zip(proposal.conduct, proposal.nearest, strict=True)
                assert proposal.distance == min(2, sum(one != other for one, other in pairs))
    assert {0, 1, 2} <= {p.distance for p in proposals}
    assert any(p.is_conclusion for p in proposals)
    assert any(p.led is not None for p in proposals)


def test_claims_show_what_was_claimed_and_tested_and_whether_it_held_and_was_sharp(
    events: list[RecordedEvent], found: list[Score]
) -> None:
    tested = {(e.unit, e["table"], e["at"], e["part"]): e for e in events if e.name == "tested"}
    kinds = set()
    for score in found:
        at = score.assignment, score.table
        bar = tested[*at, None, None]["value"]
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


def test_a_claim_shows_so_many_digits_that_one_that_hardly_fails_is_seen_to(
    found: list[Score],
) -> None:
    for score in found:
        text = str(score)
        for base in score.grounds.bases:
            assert f"claimed {base.claimed:.6g}, tested {base.tested:.6g}, " in text
        assert text.count(", part edge, ") == len(score.grounds.edges)


def test_impact_names_what_would_have_been_concluded_and_who_would_have_stood_elsewhere(
    season: Path, events: list[RecordedEvent], found: list[Score]
) -> None:
    kinds = set()
    for score in found:
        without, text = score.grounds.counterfactual, str(score)
        own = [e["id"] for e in said_by(events, score)]

        [table] = [t for t in ended_at(season, score.assignment).state.tables
                   if t.number == score.table]  # fmt: skip
        for agent, then in without.moved.items():
            stances = (table.talk_stances().by_agent.get(agent), then)
            now, other = ("none" if stance is None else f"#{stance}" for stance in stances)
            assert f" stands by {now}, without it by {other}" in text
        assert text.count("  at the end of the talk ") == len(without.moved)
        assert score.agent not in without.moved
        assert set(without.stances.gone) >= set(own)
        assert ("without it: the same" in text) == (not without.differs)
        assert score.rubric[2] == (2 + without.is_own if without.differs else bool(without.moved))
        kinds.add((without.differs, bool(without.moved)))
    assert {(False, False), (False, True), (True, True)} <= kinds


def test_challenge_counts_what_was_sustained_against_what_failed(found: list[Score]) -> None:
    kinds = set()
    for score in found:
        sustained = sum(c.is_sustained for c in score.grounds.challenges)
        failed = len(score.grounds.challenges) - sustained

        assert bool(score.rubric[3]) == (sustained > failed)
        assert str(score).count(", not sustained") == failed
        if score.grounds.challenges:
            kinds.add(sustained > failed)
    assert {True, False} == kinds


def test_challenges_are_those_that_were_spoken(
    events: list[RecordedEvent], found: list[Score]
) -> None:
    for score in found:
        spoken = [e for e in said_by(events, score) if e["move"] == "challenge"]
        there = {(e["id"], e["target"], e["part"]) for e in spoken}

        assert {(c.id, c.target, c.part) for c in score.grounds.challenges} <= there
        assert all(c.is_sustained for c in score.grounds.challenges if c.toppled)
    assert any(c.is_sustained for score in found for c in score.grounds.challenges)


def test_a_score_is_plain_enough_for_json(found: list[Score]) -> None:
    for score in found:
        shown = json.loads(json.dumps(score.as_dict()))

        assert (shown["holds"], shown["recorded"]) == (True, [shown["again"]])


# Other therapists, other scoring.

THERAPISTS = """
from goldrush.agents.worlds.competition.therapist import Therapist

class Generous(Therapist):
    def rate(self, *seen, **told):
        return {"raw": [3, 3, 3, 3], "reasons": ["well done"] * 4}

class Mute(Therapist):
    def rate(self, *seen, **told):
        return {}
"""


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """A small season with a therapist of one's own, or other settings."""
    (tmp_path / "therapists_of_ours.py").write_text(THERAPISTS)
    monkeypatch.syspath_prepend(tmp_path)

    def play(therapist: str = "", **settings: Any) -> Path:
        parts = [f"therapist=therapists_of_ours:{therapist}"] if therapist else []
        return small(tmp_path / "a.journal", *parts, **{"assignments": 2, **settings})

    return play


def test_another_judgement_than_the_rubrics_stands_and_is_shown_next_to_it(
    played: Callable[..., Path],
) -> None:
    [score] = scores(played("Generous"), 0, 5)

    assert score.holds
    assert (score.given, score.again.raw) == ((3, 3, 3, 3), (3, 3, 3, 3))
    assert score.rubric != score.given


def test_where_the_therapist_gives_nothing_the_rubric_stands(played: Callable[..., Path]) -> None:
    [score] = scores(played("Mute"), 0, 5)

    assert score.holds
    assert (score.given, score.again.raw) == (None, score.rubric)


def test_absolute_scores_are_relative_to_nothing(played: Callable[..., Path]) -> None:
    [score] = scores(played(scoring="absolute"), 0, 5)

    assert score.holds
    assert all(rule != "relative" for rule, *_ in score.again.steps)


# Forgeries, under right checksums and digests.


def _total(row: list[Any]) -> None:
    row[5] += 1


def _final(row: list[Any]) -> None:
    row[4] = (*row[4][:3], (row[4][3] + 1) % 4)


def _raw(row: list[Any]) -> None:
    row[2] = ((row[2][0] + 1) % 4, *row[2][1:])


def _steps(row: list[Any]) -> None:
    row[3] = (*row[3], ("agreeing", "challenge", 1, 0))


def _rubric(row: list[Any]) -> None:
    row[6] += 1


def _rating(row: list[Any]) -> None:
    row[2] = tuple((score + 1) % 4 for score in row[2])


SCORED, RATED = CODES[Scored], CODES[Rated]
FORGED: dict[str, tuple[int, Change]] = {
    "a total": (SCORED, _total),
    "a final score": (SCORED, _final),
    "a raw score": (SCORED, _raw),
    "the steps": (SCORED, _steps),
    "the sum by the rubric": (SCORED, _rubric),
    "what the therapist gave": (RATED, _rating),
}


@pytest.mark.parametrize(("code", "change"), FORGED.values(), ids=FORGED)
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


# Who is meant.


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        ((0, 99), r"agent 99 sat at no table in assignment 0; take ada \(5\), ben"),
        ((0, 2), r"agent 2 sat at no table in assignment 0; take ada \(5\), ben"),
        ((0, 5, 3), "agent 5 sat at no table 3 in assignment 0; "),
        ((16, 5), "no assignment 16; give one from 0 to 15"),
    ],
    ids=str,
)
def test_whoever_has_no_score_is_refused(season: Path, ask: tuple[Any, ...], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        scores(season, *ask)


def test_runs_of_other_worlds_are_refused() -> None:
    with pytest.raises(BadInput, match="of the mining world"):
        scores(path_of("scarce"), 1, 5)
