"""What is said at a table, what is tested, what is concluded (kernel/worlds/competition/README.md
5).
"""

from typing import Any

import pytest

from goldrush.kernel.worlds.competition.terms import Phase
from tests.kernel.worlds.competition.seasons import (
    ADA,
    BAR,
    BASELINE,
    BEN,
    CLAIMED,
    CLEO,
    DOV,
    FALSE,
    FEW_GUARDS,
    FEW_RAIDERS,
    GUARDS,
    JUDGE,
    MINERS,
    RAIDERS,
    TRIO,
    TRUCE,
    Line,
    Season,
    amend,
    challenge,
    given,
    opened,
    propose,
    shown,
    silent,
    support,
    words,
)

# Contributions


CLAIM = (CLAIMED, None)


@pytest.mark.parametrize(
    "line",
    [
        Line(ADA, "propose", conduct=MINERS), Line(ADA, "propose", 0, MINERS, CLAIM),
        Line(ADA, "propose", None, MINERS, CLAIM, "base"),
        Line(ADA, "amend", None, RAIDERS, CLAIM), Line(ADA, "support"),
        Line(ADA, "challenge", 0), Line(ADA, "pass", 0), Line(ADA, "shout"),
        propose(ADA)._replace(words=None), propose(ADA, value="0.75"), propose(ADA, value=True),
        propose(ADA, edge=BASELINE), propose(ADA, edge="paradise"),
    ],
)  # fmt: skip
def test_a_move_carries_what_it_must_and_nothing_else(line: Line) -> None:
    season = given().says(propose(BEN)).judges("clean")

    assert ["act/malformed"] == season.says(line).codes


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (support(ADA, 7), "move/unknown-target"), (support(ADA, -1), "move/unknown-target"),
        (support(ADA, "0"), "move/unknown-target"), (support(ADA, 2), "move/unknown-target"),
        (challenge(ADA, 1, "edge"), "move/unknown-target"),
        (challenge(ADA, 1, "heart"), "move/unknown-target"), (challenge(ADA, 0), "move/own"),
        (support(ADA, 0), "move/own"), (amend(ADA, 1, RAIDERS), "move/repeated"),
        (propose(ADA, ("mine", None, 1, BASELINE)), "conduct/not-canonical"),
        (propose(ADA, ("mine", None, 0, TRUCE)), "conduct/not-canonical"),
        (propose(ADA, MINERS, BAR), "claim/vacuous"),
    ],
)  # fmt: skip
def test_a_refused_contribution_is_a_pass_and_spends_nothing(line: Line, code: str) -> None:
    season = given().says(propose(ADA, GUARDS), propose(BEN, RAIDERS)).judges("clean").says(line)

    said = season.table.contributions[3]

    assert [code] == season.codes
    assert ("pass", code, {ADA: 2, BEN: 2, CLEO: 3}) == (said.move, said.code, season.table.moves)
    assert BEN == season.speaker


@pytest.mark.parametrize("agent", [BEN, DOV, JUDGE])
def test_nobody_speaks_in_the_turn_of_another_or_without_a_seat(agent: int) -> None:
    season = given(workers=4).does(opened(team=TRIO, order=TRIO)).to(Phase.SPEAK)

    season.does(season.spoke(propose(agent)))

    assert (["act/malformed"], []) == (season.codes, season.table.contributions)


# Leading and concluded


@pytest.mark.parametrize("seed", range(3))
def test_of_equals_one_is_drawn_by_ascending_ids(seed: int) -> None:
    season = given(seed=seed, workers=5).closes().worth({FEW_RAIDERS: 0.8})
    season.says(propose(ADA, FEW_RAIDERS), propose(BEN, RAIDERS), propose(CLEO, GUARDS)).closes()

    (word,) = words(seed, 1, 0, 0, "conclude")
    expected = ([1, 2][word % 2], [1, 2], shown([word]))

    assert expected == season.last("concluded", "proposal", "tied", "words")


@pytest.mark.parametrize(
    ("signal", "ids", "reason"),
    [
        ("fine", (), ""), ("clean", (0,), ""), ("clean", None, ""), ("clean", (), "x" * 4_001),
        ("redirect", (), ""), ("redirect", (0, 0), ""), ("redirect", (1,), ""),
        ("redirect", (False,), ""),
    ],
)  # fmt: skip
def test_what_is_no_signal_is_malformed(signal: Any, ids: Any, reason: Any) -> None:
    season = given().says(propose(ADA), silent(BEN)).to(Phase.JUDGE)

    assert ["act/malformed"] == season.does(season.judged(signal, ids, reason)).codes


# The judge


def test_a_redirect_takes_back_what_was_said_and_what_refers_to_it() -> None:
    season = given(workers=4).says(propose(ADA), amend(BEN, 0), support(CLEO, 1))

    season.says(propose(DOV, GUARDS)).judges("redirect", 0)

    assert (frozenset({0, 1, 2}), {DOV: 3}) == (season.table.removed, season.stances)
    assert {ADA: 2, BEN: 2, CLEO: 2, DOV: 2} == season.table.moves


def test_weak_consensus_gives_everybody_one_move_and_one_round_more() -> None:
    season = given(rounds_max=1, moves=1).has(JUDGE, stage=2).says(propose(ADA))

    season.judges("weak-consensus")

    assert (Phase.SPEAK, 1, 2) == (season.phase, season.table.round, season.table.rounds)
    assert {ADA: 1, BEN: 2, CLEO: 2} == season.table.moves
    assert Phase.PROVE == season.judges("clean").phase


def test_weak_consensus_goes_on_even_after_a_silent_round() -> None:
    season = given().has(JUDGE, stage=2).judges("weak-consensus")

    assert (Phase.SPEAK, 1, 6) == (season.phase, season.table.round, season.table.rounds)


def test_weak_consensus_is_signalled_once_a_table() -> None:
    season = given().has(JUDGE, stage=2).judges("weak-consensus").says(propose(ADA))

    assert ["move/repeated"] == season.judges("weak-consensus").codes
    season.closes()
    assert [] == season.judges("weak-consensus").codes


@pytest.mark.parametrize(
    ("because", "is_right"),
    [
        (None, True), (((), False), True), (((0,), False), True), (((1, 0), True), True),
        (((3,), False), False), (((-1,), False), False), (((0, 0), False), False),
        (((0,), 1), False), ((0, False), False),
    ],
)  # fmt: skip
def test_a_contribution_may_name_what_it_relies_on(because: Any, is_right: bool) -> None:
    season = given().says(propose(BEN)).judges("clean")

    season.says(support(ADA, 1)._replace(because=because))

    assert ([] if is_right else ["act/malformed"]) == season.codes
    assert (because if is_right else None) == season.table.contributions[3].because


def test_a_stance_on_a_refuted_proposal_falls_back_to_the_latest_that_is_not() -> None:
    season = given(workers=4).worth({GUARDS: FALSE})
    season.says(propose(ADA), propose(BEN, RAIDERS), propose(CLEO, GUARDS)).judges("clean")
    season.says(support(ADA, 1), support(BEN, 2), support(CLEO, 0), propose(DOV, FEW_GUARDS))
    season.says(support(ADA, 2), challenge(BEN, 2)).to(Phase.JUDGE)

    assert {ADA: 1, BEN: 1, CLEO: 0, DOV: 7} == season.stances


def at_stand(worth: Any = None, **settings: Any) -> Season:
    """Where final stances are asked for: 0 and 1 hold, 2 is a support, 3 was redirected, 4 refuted
    by the proof. Ada's stance fell back to 0, that of ben and cleo is 1, dov has none.
    """
    team = (ADA, BEN, CLEO, DOV)
    season = given(workers=5, **settings).does(opened(team=team, order=team))
    season.worth({GUARDS: FALSE} | (worth or {})).says(
        propose(ADA), propose(BEN, RAIDERS), support(CLEO, 1)
    )
    season.says(propose(DOV, FEW_RAIDERS)).judges("redirect", 3)
    return season.says(propose(ADA, GUARDS)).to(Phase.STAND)


def test_a_final_stance_is_given_once() -> None:
    season = at_stand()

    season.does(season.stood(ADA, 1), season.stood(ADA, None))

    assert (["act/malformed"], 1) == (season.codes, season.stances[ADA])


def test_the_proposal_with_most_stances_leads_and_of_equals_the_earliest() -> None:
    season = given(workers=4).says(propose(ADA), propose(BEN, RAIDERS), support(CLEO, 1))
    leading = season.table.stances.leading()

    season.says(support(DOV, 0))

    assert (1, 0) == (leading, season.table.stances.leading())


def test_what_was_tested_is_not_tested_again_for_another_challenge() -> None:
    season = given().worth({MINERS: FALSE}).says(propose(ADA), challenge(BEN, 0))
    season.judges("redirect", 1).says(challenge(BEN, 0))

    assert (Phase.SPEAK, CLEO) == (season.phase, season.speaker)
    assert ({}, {0}) == (season.stances, season.table.stances.refuted)
