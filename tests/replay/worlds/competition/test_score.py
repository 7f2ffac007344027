"""Scores laid open: what they rest on is what the journal says, and what was forged is found."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from goldrush.kernel.errors import BadInput, UnsupportedJournal
from goldrush.kernel.world import Event
from goldrush.kernel.worlds.competition.events import CODES, LeaderboardPosted, Rated, Scored
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS
from goldrush.replay.worlds.competition.score import Score, format_score, scores
from tests.golden import path_of
from tests.journals import events_of
from tests.seasons import LAST, Change, changed, forged, rich, small


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rich(tmp_path_factory.mktemp("seasons"))


@pytest.fixture(scope="module")
def events(season: Path) -> list[Event]:
    return events_of(season)


@pytest.fixture(scope="module")
def found(season: Path, events: list[Event]) -> list[Score]:
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


def test_every_score_is_worked_out_anew(events: list[Event], found: list[Score]) -> None:
    recorded = [e for e in events if e.name == "scored"]

    assert len(recorded) > 80
    for event, score in zip(recorded, found, strict=True):
        assert score.holds
        assert event["final"] == list(score.again.final)
        assert event["steps"] == [list(step) for step in score.again.steps]
        assert event["total"] == score.again.total == sum(score.again.final)


def test_the_scripted_therapist_gives_what_the_rubric_gives(found: list[Score]) -> None:
    assert all(score.given == score.rubric == score.again.raw for score in found)


def said_by(events: list[Event], score: Score) -> list[Event]:
    return [
        e
        for e in events
        if e.name == "spoke"
        and (e.unit, e["table"], e["agent"]) == (score.assignment, score.table, score.agent)
    ]


def test_proposals_are_those_that_were_spoken_and_their_distance_is_that_of_the_nearest(
    events: list[Event], found: list[Score]
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
    events: list[Event], found: list[Score]
) -> None:
    tested = {(e.unit, e["table"], e["at"], e["part"]): e for e in events if e.name == "tested"}
    kinds = set()
    for score in found:
        at = score.assignment, score.table
        bar = tested[*at, None, None]["value"]
        for claim in score.claims:
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
    assert any(claim.is_counted for score in found for claim in score.claims)


def test_a_claim_that_hardly_fails_shows_by_how_much(found: list[Score]) -> None:
    score = next(score for score in found if score.claims)
    close = attrs.evolve(score.claims[0], claimed=0.40052, tested=0.40047, held=False)
    grounds = attrs.evolve(score.grounds, bases=[close], edges=[])
    head, *lines = format_score(attrs.evolve(score, bar=0.40046, grounds=grounds)).splitlines()

    assert head.endswith("the bar is 0.40046")
    assert any("claimed 0.40052, tested 0.40047, not held" in line for line in lines)


def test_impact_names_what_would_have_been_concluded_and_who_would_have_stood_elsewhere(
    found: list[Score],
) -> None:
    differing = [score for score in found if score.grounds.counterfactual.differs]
    moving = [score for score in found if score.moved]

    assert differing
    assert moving
    for score in found:
        assert score.grounds.counterfactual.differs is (
            score.concluded.conduct != score.grounds.counterfactual.conclusion.conduct
        )
        assert score.agent not in {moved.agent for moved in score.moved}
        assert all(moved.stance != moved.without for moved in (*score.moved, *score.went))
        assert score.rubric[2] == (
            2 + score.grounds.counterfactual.is_own
            if score.grounds.counterfactual.differs
            else bool(score.moved)
        )


def test_impact_counts_stances_before_the_tests_and_shows_what_is_left_out(
    events: list[Event], found: list[Score]
) -> None:
    stood = {(e.unit, e["table"], e["agent"]): e["target"] for e in events if e.name == "stood"}
    kinds = set()
    for score in found:
        text = format_score(score)
        own = [e["id"] for e in said_by(events, score)]

        assert text.count("  at the end of the talk: ") == len(score.moved)
        assert text.count("  in the end: ") == len(score.went)
        assert set(score.gone) >= set(own)
        if score.stood is not None:
            assert score.stood.target == stood[score.assignment, score.table, score.agent]
            target = score.stood.target
            assert f"its final stance: {'none' if target is None else f'#{target}'}" in text
        if not score.grounds.counterfactual.differs:
            assert score.rubric[2] == bool(score.moved)
            kinds.add((bool(score.moved), bool(score.went)))
    assert {(False, False), (True, False)} <= kinds


def test_challenge_counts_what_was_sustained_against_what_failed(found: list[Score]) -> None:
    kinds = set()
    for score in found:
        sustained = sum(c.is_sustained for c in score.grounds.challenges)
        failed = len(score.grounds.challenges) - sustained

        assert bool(score.rubric[3]) == (sustained > failed)
        assert format_score(score).count(", not sustained") == failed
        if score.grounds.challenges:
            kinds.add(sustained > failed)
    assert {True, False} == kinds


def test_challenges_are_those_that_were_spoken(events: list[Event], found: list[Score]) -> None:
    for score in found:
        spoken = [e for e in said_by(events, score) if e["move"] == "challenge"]
        there = {(e["id"], e["target"], e["part"]) for e in spoken}

        assert {(c.id, c.target, c.part) for c in score.grounds.challenges} <= there
        assert all(c.is_sustained for c in score.grounds.challenges if c.toppled)
    assert any(c.is_sustained for score in found for c in score.grounds.challenges)


def test_relative_scores_are_told_with_the_median_of_the_table(found: list[Score]) -> None:
    tables: dict[tuple[int, int], list[Score]] = {}
    for score in found:
        tables.setdefault((score.assignment, score.table), []).append(score)
    for table in tables.values():
        for place, dimension in enumerate(DIMENSIONS):
            before = sorted(
                next(
                    (step[2] for step in score.again.steps if step[:2] == ("relative", dimension)),
                    score.again.final[place],
                )
                for score in table
            )

            assert {before[(len(before) - 1) // 2]} == {score.middles[place] for score in table}


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
    assert list(score.middles) == []
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
    assert "DOES NOT HOLD: the event is recorded 0 times" in format_score(score)


# Who is meant.


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        ((0, 99), r"no agent 99; give admin \(0\), "),
        ((0, 2), r"'judge' sat at no table in assignment 0; give one of ada \(5\), ben"),
        ((0, 5, 3), "no table 3 in assignment 0; give one from 0 to 0"),
        ((16, 5), "no assignment 16; give one from 0 to 15"),
    ],
    ids=str,
)
def test_whoever_has_no_score_is_refused(season: Path, ask: tuple[Any, ...], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        scores(season, *ask)


def test_runs_of_other_worlds_are_refused() -> None:
    with pytest.raises(UnsupportedJournal, match="this reads 'competition'"):
        scores(path_of("scarce"), 1, 5)
