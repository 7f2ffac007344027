"""Scores, one cell of the rubric a test, and the steps afterwards (kernel/competition/README.md 6).

A raw score is [novelty, accuracy, net impact, challenge].
"""

from collections.abc import Mapping
from typing import Any

import pytest

from goldrush.kernel.competition.events import RATED
from goldrush.kernel.competition.rubric import lower_median, related
from goldrush.kernel.competition.state import DEBRIEF, IMPROVE, OPEN
from tests.kernel.competition.seasons import (
    ADA,
    ADMIN,
    BASELINE,
    BEN,
    CLEO,
    DOV,
    FALSE,
    FEW_GUARDS,
    FEW_RAIDERS,
    GUARDS,
    JUDGE,
    MINERS,
    MORE_RAIDERS,
    RAIDERS,
    TRUCE,
    Act,
    Season,
    amend,
    challenge,
    given,
    opened,
    propose,
    support,
    words,
)

REASONS = ("", "", "", "")


def novelty(season: Season, agent: int) -> int:
    return season.closes().raw(agent)[0]


def accuracy(season: Season, agent: int) -> int:
    return season.closes().raw(agent)[1]


def impact(season: Season, agent: int) -> int:
    return season.closes().raw(agent)[2]


def challenged(season: Season, agent: int) -> int:
    return season.closes().raw(agent)[3]


# Novelty


def test_who_proposes_nothing_offers_nothing_new() -> None:
    assert 0 == novelty(given().says(propose(ADA), support(BEN, 0)), BEN)


def test_what_was_said_before_at_the_table_is_nothing_new() -> None:
    assert 0 == novelty(given().says(propose(ADA), propose(BEN)), BEN)


def test_one_field_away_from_the_nearest_known_is_a_variation() -> None:
    assert 1 == novelty(given().says(propose(ADA), propose(BEN, RAIDERS)), BEN)


def test_the_nearest_known_counts_and_not_the_latest() -> None:
    season = given().says(propose(ADA, FEW_GUARDS), propose(BEN, FEW_RAIDERS))

    assert 1 == novelty(season.says(propose(CLEO, MORE_RAIDERS)), CLEO)


def test_what_an_amendment_amends_is_known() -> None:
    assert 1 == novelty(given().says(propose(ADA), amend(BEN, 0, RAIDERS)), BEN)


def test_two_fields_away_from_every_known_is_fresh() -> None:
    assert 2 == novelty(given().says(propose(ADA), propose(BEN, FEW_RAIDERS)), BEN)


def test_where_nothing_is_known_everything_is_fresh() -> None:
    assert 2 == novelty(given().says(propose(ADA)), ADA)


@pytest.mark.parametrize("conduct", [FEW_RAIDERS, FEW_GUARDS])  # two fields away, and three
def test_fresh_and_concluded_while_another_led_is_the_most(conduct: Any) -> None:
    season = given().says(propose(ADA), propose(BEN, conduct), support(CLEO, 1))

    assert 3 == novelty(season, BEN)


def test_fresh_and_amended_into_the_conclusion_is_the_most() -> None:
    season = given(workers=4).says(propose(ADA), propose(BEN, FEW_GUARDS))
    season.says(amend(CLEO, 1, GUARDS), support(DOV, 2)).judges("clean").says(support(BEN, 2))

    assert 3 == novelty(season, BEN)


def test_fresh_and_concluded_while_nobody_led_is_less() -> None:
    assert 2 == novelty(given().says(propose(ADA), support(BEN, 0)), ADA)


def test_fresh_while_another_led_but_not_concluded_is_less() -> None:
    assert 2 == novelty(given().says(propose(ADA), propose(BEN, FEW_GUARDS), support(CLEO, 0)), BEN)


def test_a_variation_that_is_concluded_stays_one() -> None:
    season = given().says(propose(ADA), propose(BEN, RAIDERS), support(CLEO, 1))

    assert 1 == novelty(season, BEN)


def test_novelty_is_that_of_the_best_proposal() -> None:
    season = given().says(propose(ADA), propose(BEN, FEW_GUARDS)).judges("clean")

    assert 2 == novelty(season.says(propose(BEN, MINERS)), BEN)


def test_what_was_proposed_within_the_window_is_known() -> None:
    season = given(assignments_per_day=1, rolling_days=3).says(propose(ADA)).closes()

    assert 0 == novelty(season.closes().says(propose(BEN)), BEN)


def test_what_was_proposed_before_the_window_is_not() -> None:
    season = given(assignments_per_day=1, rolling_days=3).says(propose(ADA)).closes(3)

    assert 2 == novelty(season.says(propose(BEN)), BEN)


def test_what_is_proposed_again_is_known_for_longer() -> None:
    season = given(assignments_per_day=1, rolling_days=3).says(propose(ADA)).closes(2)
    season.says(propose(BEN)).closes(2)

    assert 0 == novelty(season.says(propose(CLEO)), CLEO)


def test_what_was_redirected_is_not_known() -> None:
    season = given().says(propose(ADA)).judges("redirect", 0)

    assert 2 == novelty(season.says(propose(BEN)), BEN)
    season = given().says(propose(ADA)).judges("redirect", 0).closes()
    assert 2 == novelty(season.says(propose(BEN)), BEN)


def test_what_was_redirected_is_not_new_either() -> None:
    assert 0 == novelty(given().says(propose(ADA)).judges("redirect", 0), ADA)


def test_what_was_said_at_the_first_table_is_known_at_the_second() -> None:
    season = given().has(JUDGE, stage=3).judges("split").closes()
    season.does(opened(ADMIN, ("efficiency", BASELINE), ("gini", TRUCE), order=(ADA, BEN, CLEO)))

    season.says(propose(ADA, FEW_RAIDERS))
    while len(season.state.tables) < 2:
        season.does(*season.neutral())
    season.says(propose(BEN, ("mine", "raid", 1, TRUCE), 0.4)).closes()

    assert [[2, 2, 3, 0], [1, 0, 3, 0]] == [
        event["raw"] for event in season.events("scored")[3:] if any(event["raw"])
    ]


# Accuracy


def test_who_claims_nothing_is_not_accurate() -> None:
    assert 0 == accuracy(given().says(propose(ADA), support(BEN, 0)), BEN)


def test_none_held() -> None:
    assert 0 == accuracy(given().worth({MINERS: FALSE}).says(propose(ADA)), ADA)


def test_a_value_of_nothing_does_not_hold() -> None:
    assert 0 == accuracy(given().worth({MINERS: None}).says(propose(ADA)), ADA)


def test_some_held() -> None:
    season = given().worth({RAIDERS: FALSE}).says(propose(ADA)).judges("clean")

    assert 1 == accuracy(season.says(propose(ADA, RAIDERS)), ADA)


def test_all_held() -> None:
    season = given().says(propose(ADA)).judges("clean")

    assert 2 == accuracy(season.says(propose(ADA, RAIDERS)), ADA)


def test_all_held_and_an_edge() -> None:
    assert 3 == accuracy(given().says(propose(ADA, edge=TRUCE)), ADA)


def test_an_edge_that_does_not_hold_takes_nothing_away() -> None:
    season = given().worth({(MINERS, TRUCE): FALSE}).says(propose(ADA, edge=TRUCE))

    assert 2 == accuracy(season, ADA)


def test_an_edge_is_worth_nothing_without_its_base() -> None:
    season = given().worth({MINERS: FALSE, (MINERS, TRUCE): 0.9}).says(propose(ADA, edge=TRUCE))

    assert 0 == accuracy(season, ADA)


def test_an_edge_is_worth_nothing_where_another_base_fails() -> None:
    season = given().worth({RAIDERS: FALSE}).says(propose(ADA, edge=TRUCE)).judges("clean")

    assert 1 == accuracy(season.says(propose(ADA, RAIDERS)), ADA)


@pytest.mark.parametrize(("worth", "expected"), [(FALSE, 2), (0.9, 0)])
def test_a_challenge_is_a_claim_that_a_part_is_false(worth: float, expected: int) -> None:
    season = given().worth({MINERS: worth}).says(propose(ADA), challenge(BEN, 0))

    assert expected == accuracy(season, BEN)


def test_the_ground_of_a_challenged_edge_is_no_edge_of_ones_own() -> None:
    season = given().worth({(MINERS, TRUCE): FALSE})
    season.says(propose(ADA, edge=TRUCE), challenge(BEN, 0, "edge"))

    assert 2 == accuracy(season, BEN)


def test_a_ground_that_did_not_hold_is_among_what_did_not() -> None:
    season = given().says(propose(ADA), propose(BEN, RAIDERS, edge=TRUCE)).judges("clean")

    assert 1 == accuracy(season.says(challenge(BEN, 0)), BEN)


def test_what_was_redirected_is_no_claim() -> None:
    season = given().worth({RAIDERS: FALSE}).says(propose(ADA, RAIDERS)).judges("redirect", 0)

    assert 2 == accuracy(season.says(propose(ADA)), ADA)


# Net impact


def test_nothing_would_differ_without_who_says_nothing() -> None:
    assert 0 == impact(given().says(propose(ADA)), BEN)


def test_nothing_would_differ_without_who_only_joins_the_many() -> None:
    assert 0 == impact(given().says(propose(ADA), support(BEN, 0), support(CLEO, 0)), CLEO)


def test_ones_own_stance_is_no_impact() -> None:
    season = given(workers=4).says(propose(ADA), support(BEN, 0), support(CLEO, 0))

    assert 0 == impact(season.says(propose(DOV, RAIDERS)), DOV)


def test_the_stance_of_another_would_differ() -> None:
    season = given(workers=5).says(propose(ADA), support(BEN, 0), support(CLEO, 0))
    season.says(propose(DOV, RAIDERS), support(9, 3))

    assert 1 == impact(season, DOV)


def test_another_would_stand_where_it_now_stands_nowhere() -> None:
    season = given(workers=4).worth({RAIDERS: FALSE})
    season.says(propose(ADA), support(BEN, 0), propose(CLEO, RAIDERS), challenge(DOV, 2))

    assert 1 == impact(season, DOV)


def test_the_conclusion_would_differ() -> None:
    season = given(workers=4).worth({RAIDERS: FALSE})
    season.says(propose(ADA, RAIDERS), support(BEN, 0), propose(CLEO), challenge(DOV, 0))

    assert 2 == impact(season, DOV)


def test_the_conclusion_would_differ_and_is_ones_own() -> None:
    assert 3 == impact(given().says(propose(ADA)), ADA)


def test_the_conclusion_would_differ_and_amends_ones_own_at_any_depth() -> None:
    season = given(workers=4).says(propose(ADA), amend(BEN, 0, RAIDERS), amend(CLEO, 1, GUARDS))
    season.says(support(DOV, 2)).judges("clean").says(support(ADA, 2))

    assert (3, 3, 3) == (impact(season, ADA), season.raw(BEN)[2], season.raw(CLEO)[2])


def test_ones_own_conclusion_without_a_difference_is_no_more() -> None:
    season = given(workers=5).says(propose(ADA), propose(BEN), support(CLEO, 1), support(DOV, 1))

    assert 1 == impact(season.says(support(9, 0)), BEN)


def test_conclusions_are_compared_as_conducts() -> None:
    season = given(workers=4).says(propose(ADA), propose(BEN), support(CLEO, 1), support(DOV, 0))
    season.judges("clean").says(support(BEN, 0))

    assert 1 == impact(season, ADA)  # the same is concluded, of another's proposal


@pytest.mark.parametrize(("seed", "expected"), [(0, 0), (1, 1)])
def test_a_tie_without_somebody_is_drawn_with_the_same_key(seed: int, expected: int) -> None:
    seeds = [seed for seed in range(50) if words(seed, 0, 0, 0, "conclude")[0] % 2 == expected]
    season = given(seed=seeds[0], workers=3)
    season.says(propose(ADA), propose(BEN, RAIDERS), support(CLEO, 0))

    # Without cleo the two are tied; with her the first is concluded.
    assert [0, 2][expected] == impact(season, CLEO)


# Challenge


def test_who_never_challenges() -> None:
    assert 0 == challenged(given().says(propose(ADA), support(BEN, 0)), BEN)


def test_a_challenge_counts_even_if_it_was_wrong() -> None:
    assert 1 == challenged(given().says(propose(ADA), challenge(BEN, 0)), BEN)


def test_two_challenges_in_different_rounds_of_which_one_is_sustained() -> None:
    season = given().worth({MINERS: FALSE}).says(propose(ADA), propose(CLEO, RAIDERS))

    season.judges("clean").says(challenge(BEN, 0)).judges("clean").says(challenge(BEN, 2))

    assert 2 == challenged(season, BEN)


def test_two_challenges_neither_sustained() -> None:
    season = given().says(propose(ADA), propose(CLEO, RAIDERS))

    season.judges("clean").says(challenge(BEN, 0)).judges("clean").says(challenge(BEN, 2))

    assert 1 == challenged(season, BEN)


def test_one_sustained_and_nothing_more() -> None:
    assert 1 == challenged(
        given().worth({MINERS: FALSE}).says(propose(ADA), challenge(BEN, 0)), BEN
    )


def test_a_sustained_one_followed_by_a_proposal_of_ones_own() -> None:
    season = given().worth({MINERS: FALSE}).says(propose(ADA), challenge(BEN, 0)).judges("clean")

    assert 2 == challenged(season.says(amend(BEN, 0, RAIDERS)), BEN)


def test_a_proposal_before_it_does_not_follow_it() -> None:
    season = given().worth({MINERS: FALSE}).says(propose(ADA), propose(BEN, RAIDERS))

    assert 1 == challenged(season.judges("clean").says(challenge(BEN, 0)), BEN)


def test_a_proposal_after_a_wrong_one_does_not_follow_a_sustained_one() -> None:
    season = given().says(propose(ADA), challenge(BEN, 0)).judges("clean")

    assert 1 == challenged(season.says(amend(BEN, 0, RAIDERS)), BEN)


def test_a_leader_of_two_stances_that_leads_no_more() -> None:
    season = given(workers=4).worth({MINERS: FALSE})

    season.says(propose(ADA), support(BEN, 0), propose(CLEO, RAIDERS), challenge(DOV, 0))

    assert 3 == challenged(season, DOV)


def test_a_leader_of_one_stance_is_no_leader_to_topple() -> None:
    season = given().worth({MINERS: FALSE}).says(propose(ADA), propose(BEN, RAIDERS))

    assert 1 == challenged(season.says(challenge(CLEO, 0)), CLEO)


def test_who_did_not_lead_is_not_toppled() -> None:
    season = given(workers=6).worth({RAIDERS: FALSE}).says(propose(ADA), support(BEN, 0))

    season.says(propose(CLEO, RAIDERS), support(DOV, 2), challenge(9, 2))

    assert 1 == challenged(season, 9)


def test_a_sustained_edge_topples_nobody() -> None:
    season = given().worth({(MINERS, TRUCE): FALSE})

    season.says(propose(ADA, edge=TRUCE), support(BEN, 0), challenge(CLEO, 0, "edge"))

    assert 1 == challenged(season, CLEO)


def test_a_leader_that_still_leads_is_not_toppled_by_what_comes_later() -> None:
    season = given().worth({(MINERS, TRUCE): FALSE}).says(propose(ADA, edge=TRUCE), support(BEN, 0))
    season.says(challenge(CLEO, 0, "edge")).judges("clean")
    season.says(propose(ADA, RAIDERS), support(BEN, 3)).judges("clean")

    assert 1 == challenged(season, CLEO)
    assert [3] == season.events("concluded", "proposal")


def test_a_challenge_redirected_never_was() -> None:
    season = given().says(propose(ADA), challenge(BEN, 0)).judges("redirect", 1)

    assert 0 == challenged(season, BEN)


# The steps afterwards


def rating(season: Season, agent: int, raw: Any, reasons: Any = REASONS) -> Act:
    return (RATED, (season.table.number, agent, raw, reasons))


def rated(season: Season, raws: Mapping[int, tuple[int, ...]]) -> Season:
    """The season after an assignment in which the therapist gave these numbers."""
    season.to(DEBRIEF).does(*[rating(season, agent, raw) for agent, raw in raws.items()])
    return season if season.state.phase == OPEN else season.closes()


def test_farming_novelty_costs_accuracy() -> None:
    season = given().worth({MINERS: FALSE}).says(propose(ADA)).judges("clean")
    season.says(propose(ADA, RAIDERS)).closes()

    assert ([2, 1, 3, 0], [2, 0, 3, 0]) == (season.raw(ADA), season.final(ADA))
    assert [["novelty-farming", "accuracy", 1, 0]] == season.steps(ADA)


def test_a_variation_that_is_refuted_is_no_farming() -> None:
    season = given().worth({RAIDERS: FALSE, TRUCE: FALSE}).says(propose(BEN)).judges("clean")
    season.says(propose(ADA, RAIDERS)).judges("clean").says(propose(ADA, GUARDS)).closes()

    assert ([1, 1, 0, 0], []) == (season.raw(ADA), season.steps(ADA))


def test_what_earned_the_novelty_counts_and_nothing_else() -> None:
    season = given().worth({RAIDERS: FALSE}).says(propose(ADA)).judges("clean")
    season.says(propose(ADA, RAIDERS)).closes()

    assert ([2, 1, 3, 0], []) == (season.raw(ADA), season.steps(ADA))


def test_of_equals_the_earliest_earned_the_novelty() -> None:
    season = given().worth({FEW_GUARDS: FALSE})
    season.says(propose(ADA), support(BEN, 0), support(CLEO, 0)).judges("clean")
    season.says(propose(ADA, FEW_GUARDS)).closes()

    assert ([2, 1, 3, 0], []) == (season.raw(ADA), season.steps(ADA))


def test_a_claim_of_which_no_value_came_is_farming_too() -> None:
    season = given().worth({MINERS: None}).says(propose(ADA))
    rated(season, {ADA: (2, 3, 0, 0)})

    assert [["novelty-farming", "accuracy", 3, 0]] == season.steps(ADA)


def test_a_therapist_who_gives_no_novelty_finds_no_farming() -> None:
    season = given().worth({MINERS: FALSE}).says(propose(ADA))
    rated(season, {ADA: (1, 3, 0, 0)})

    assert [1, 3, 0, 0] == season.final(ADA)


def test_who_agrees_with_everyone_challenged_nobody_whatever_the_therapist_says() -> None:
    season = given().says(propose(ADA), support(BEN, 0))
    rated(season, dict.fromkeys((ADA, BEN), (0, 0, 0, 2)))

    assert ([0, 0, 0, 2], [0, 0, 0, 0]) == (season.final(ADA), season.final(BEN))
    assert [["agreeing", "challenge", 2, 0]] == season.steps(BEN)


def test_who_supports_and_challenges_does_not_agree_with_everyone() -> None:
    season = given().says(propose(ADA), support(BEN, 0)).judges("clean").says(challenge(BEN, 0))
    rated(season, {BEN: (0, 0, 0, 2)})

    assert [0, 0, 0, 2] == season.final(BEN)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [((1,), 1), ((3, 1, 2), 2), ((0, 3, 2, 1), 1), ((2, 2, 0, 3), 2), ((0, 0, 3, 3), 0)],
)
def test_of_two_in_the_middle_the_lower_is_the_median(
    scores: tuple[int, ...], expected: int
) -> None:
    assert expected == lower_median(scores)


@pytest.mark.parametrize(
    ("middle", "expected"),
    [(0, [0, 2, 3, 3]), (1, [0, 1, 2, 3]), (2, [0, 1, 1, 2]), (3, [0, 1, 1, 1])],
)
def test_a_score_is_relative_to_the_middle_of_the_table(middle: int, expected: list[int]) -> None:
    assert expected == [related(score, middle) for score in range(4)]


def test_relative_scores_are_taken_by_dimension_and_told() -> None:
    raws = {ADA: (3, 0, 1, 2), BEN: (2, 0, 1, 3), CLEO: (1, 1, 1, 0)}
    season = rated(given(scoring="relative"), raws)

    assert [2, 0, 1, 1] == season.final(ADA)
    assert [1, 0, 1, 2] == season.final(BEN)
    assert [1, 2, 1, 0] == season.final(CLEO)
    assert [["relative", "novelty", 3, 2], ["relative", "challenge", 2, 1]] == season.steps(ADA)
    assert [["relative", "accuracy", 1, 2]] == season.steps(CLEO)
    assert [4, 4, 4] == season.events("scored", "total")


def test_the_median_is_taken_after_the_other_steps() -> None:
    season = given(scoring="relative").says(propose(ADA), support(BEN, 0), support(CLEO, 0))
    rated(season, dict.fromkeys((ADA, BEN, CLEO), (0, 0, 0, 2)))

    assert [[0, 0, 0, 3], [0, 0, 0, 0], [0, 0, 0, 0]] == season.events("scored", "final")


def test_absolute_scores_are_not_related() -> None:
    season = rated(given(scoring="absolute"), dict.fromkeys((ADA, BEN, CLEO), (3, 3, 3, 3)))

    assert [12, 12, 12] == season.events("scored", "total")


# The therapist


def test_the_therapists_numbers_stand_in_place_of_the_rubrics() -> None:
    season = given().says(propose(ADA))
    rated(season, {ADA: (0, 1, 2, 3)})

    assert ([0, 1, 2, 3], 6) == (season.raw(ADA), season.events("scored", "total")[0])


def test_whoever_is_not_rated_has_the_rubrics_own_numbers() -> None:
    season = given().says(propose(ADA))
    rated(season, {BEN: (1, 1, 1, 1)})

    assert ([2, 2, 3, 0], [1, 1, 1, 1]) == (season.raw(ADA), season.raw(BEN))


def test_a_rating_is_final() -> None:
    season = given().to(DEBRIEF)
    season.does(rating(season, ADA, (1, 1, 1, 1)), rating(season, ADA, (3, 3, 3, 3)))

    assert (["score/final"], [1, 1, 1, 1]) == (season.codes, season.raw(ADA))


def test_nothing_changes_a_recorded_score() -> None:
    season = given(moves=1).worth({MINERS: FALSE}).says(propose(ADA), challenge(BEN, 0)).to(IMPROVE)

    assert ["score/final"] == season.does(rating(season, ADA, (3, 3, 3, 3))).codes
    assert ["score/final"] == season.does((RATED, (0, ADA, (3, 3, 3, 3), REASONS))).codes


@pytest.mark.parametrize(
    ("raw", "reasons"),
    [
        ((0, 0, 0), REASONS), ((0, 0, 0, 0, 0), REASONS), ((0, 0, 0, 4), REASONS),
        ((0, 0, 0, -1), REASONS), ((0, 0, 0, 1.5), REASONS), ((0, 0, 0, True), REASONS),
        (None, REASONS), ("0000", REASONS), ((0, 0, 0, None), REASONS),
        ((0, 0, 0, 0), ("", "", "")), ((0, 0, 0, 0), None), ((0, 0, 0, 0), ("", "", "", 1)),
        ((0, 0, 0, 0), ("", "", "", "x" * 4_001)),
    ],
)  # fmt: skip
def test_a_rating_is_four_numbers_with_reasons(raw: Any, reasons: Any) -> None:
    season = given().to(DEBRIEF)

    assert ["act/malformed"] == season.does(rating(season, ADA, raw, reasons)).codes


def test_only_participants_are_rated() -> None:
    season = given(workers=4).does(opened(team=(ADA, BEN, CLEO))).to(DEBRIEF)

    acts = rating(season, DOV, (1, 1, 1, 1)), (RATED, (1, ADA, (1, 1, 1, 1), REASONS))

    assert ["act/malformed"] * 2 == season.does(*acts).codes
