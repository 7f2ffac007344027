"""What is said at a table, and what is concluded (kernel/competition/README.md 5)."""

from typing import Any

import pytest

from goldrush.kernel.competition.conduct import at_least_as_good, distance, is_canonical
from goldrush.kernel.competition.state import DIGEST, PROVE, SPEAK, TEST
from goldrush.kernel.competition.state import JUDGED as JUDGING
from goldrush.kernel.competition.turns import speaker
from tests.kernel.competition.seasons import (
    ADA,
    BAR,
    BASELINE,
    BEN,
    CLEO,
    DOV,
    ELIF,
    FALSE,
    FEW_GUARDS,
    FEW_RAIDERS,
    GUARDS,
    JUDGE,
    MINERS,
    MORE_RAIDERS,
    RAIDERS,
    TRUCE,
    Line,
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


def test_a_contribution_has_its_ordinal_its_round_and_its_agent() -> None:
    season = given().says(silent(ADA), propose(BEN)).judges("clean").says(support(ADA, 1))

    said = [(said.id, said.round, said.agent, said.move) for said in season.table.said]

    expected = [(0, 0, 5, "pass"), (1, 0, 6, "propose"), (2, 0, 7, "pass"), (3, 1, 5, "support")]
    assert expected == said


@pytest.mark.parametrize("field", [0, 1, 2])
def test_a_contribution_says_its_table_its_round_and_its_ordinal(field: int) -> None:
    season = given().to(SPEAK)
    code, row = season.spoke(propose(ADA))

    wrong = (*row[:field], row[field] + 1, *row[field + 1 :])

    assert ["act/malformed"] == season.does((code, wrong)).codes


@pytest.mark.parametrize(
    "line",
    [
        (ADA, "propose", None, MINERS, None, None, ""),
        (ADA, "propose", None, None, (0.6, None), None, ""),
        (ADA, "propose", 0, MINERS, (0.6, None), None, ""),
        (ADA, "propose", None, MINERS, (0.6, None), "base", ""),
        (ADA, "amend", None, RAIDERS, (0.6, None), None, ""),
        (ADA, "amend", 0, RAIDERS, None, None, ""),
        (ADA, "amend", 0, None, (0.6, None), None, ""),
        (ADA, "support", None, None, None, None, ""),
        (ADA, "support", 0, RAIDERS, None, None, ""),
        (ADA, "challenge", 0, None, None, None, ""),
        (ADA, "challenge", None, None, None, "base", ""),
        (ADA, "challenge", 0, None, (0.6, None), "base", ""),
        (ADA, "pass", 0, None, None, None, ""),
        (ADA, "shout", None, None, None, None, ""),
        (ADA, None, None, None, None, None, ""),
        (ADA, ("propose",), None, MINERS, (0.6, None), None, ""),
        (ADA, "propose", None, MINERS, (0.6, None), None, None),
        (ADA, "propose", None, MINERS, (0.6, None), None, "x" * 4_001),
        (ADA, "propose", None, MINERS, ("0.6", None), None, ""),
        (ADA, "propose", None, MINERS, (None, None), None, ""),
        (ADA, "propose", None, MINERS, (True, None), None, ""),
        (ADA, "propose", None, MINERS, (0.6,), None, ""),
        (ADA, "propose", None, MINERS, 0.6, None, ""),
        (ADA, "propose", None, MINERS, (0.6, "paradise"), None, ""),
        (ADA, "propose", None, MINERS, (0.6, BASELINE), None, ""),
        (ADA, "propose", None, MINERS, (0.6, ()), None, ""),
    ],
)
def test_a_move_carries_what_it_must_and_nothing_else(line: Line) -> None:
    season = given().says(propose(BEN)).judges("clean")

    assert ["act/malformed"] == season.says(line).codes


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (support(ADA, 7), "move/unknown-target"),
        (support(ADA, -1), "move/unknown-target"),
        (support(ADA, "0"), "move/unknown-target"),
        (support(ADA, True), "move/unknown-target"),
        (support(ADA, 2), "move/unknown-target"),  # a pass
        (amend(ADA, 7, RAIDERS), "move/unknown-target"),
        (challenge(ADA, 7), "move/unknown-target"),
        (challenge(ADA, 1, "edge"), "move/unknown-target"),  # there is none
        (challenge(ADA, 1, "heart"), "move/unknown-target"),
        (challenge(ADA, 0), "move/own"),
        (support(ADA, 0), "move/own"),
        (amend(ADA, 1, RAIDERS), "move/repeated"),
        (propose(ADA, ("mine", None, 1, BASELINE)), "conduct/not-canonical"),
        (propose(ADA, MINERS, 0.49), "claim/vacuous"),
        (amend(ADA, 1, MINERS, 0.49), "claim/vacuous"),
    ],
)  # fmt: skip
def test_a_refused_contribution_is_a_pass_and_spends_nothing(line: Line, code: str) -> None:
    season = given().says(propose(ADA, GUARDS), propose(BEN, RAIDERS)).judges("clean").says(line)

    said = season.table.said[3]

    assert [code] == season.codes
    assert ("pass", code, {ADA: 2, BEN: 2, CLEO: 3}) == (said.move, said.code, season.table.moves)
    assert BEN == speaker(season.state)


def test_a_refused_act_is_told_whole() -> None:
    season = given().to(SPEAK).says(support(ADA, 3))

    (refused,) = season.followed("refused")

    assert (ADA, "spoke", "support", 3) == (
        refused["who"], refused["act"]["event"], refused["act"]["move"], refused["act"]["target"],
    )  # fmt: skip


def test_nobody_speaks_twice_in_a_turn() -> None:
    season = given().to(SPEAK)

    season.does(season.spoke(propose(ADA)), season.spoke(propose(ADA, RAIDERS)))

    assert (["act/malformed"], 1) == (season.codes, len(season.table.said))


def test_nobody_is_heard_again_after_a_refusal() -> None:
    season = given().to(SPEAK)
    code, row = season.spoke(propose(ADA, GUARDS))

    season.does(season.spoke(support(ADA, 9)), (code, (0, 0, 1, *row[3:])))

    assert ["move/unknown-target", "act/malformed"] == season.codes
    assert ["pass"] == [said.move for said in season.table.said]


def test_nobody_speaks_in_the_turn_of_another() -> None:
    season = given().to(SPEAK)

    season.does(season.spoke(propose(BEN)))

    assert (["act/malformed"], []) == (season.codes, season.table.said)


def test_who_does_not_sit_there_says_nothing() -> None:
    season = given(workers=4).does(opened(team=(ADA, BEN, CLEO), order=(ADA, BEN, CLEO))).to(SPEAK)

    assert ["act/malformed"] == season.does(season.spoke(propose(DOV))).codes
    assert ["act/malformed"] == season.does(season.spoke(propose(JUDGE))).codes


def test_who_has_no_moves_left_contributes_nothing() -> None:
    season = given(moves=1).says(propose(ADA)).judges("clean")

    assert ["move/none-left"] == season.does(season.spoke(propose(ADA, RAIDERS))).codes
    assert ["act/malformed"] == season.does(season.spoke(silent(ADA))).codes


def test_every_contribution_spends_a_move() -> None:
    season = given(workers=5)

    season.says(propose(ADA), amend(BEN, 0, RAIDERS), support(CLEO, 0), challenge(DOV, 0))

    assert {ADA: 2, BEN: 2, CLEO: 2, DOV: 2, ELIF: 3} == season.to(JUDGING).table.moves


# Moves


def test_a_refuted_proposal_may_be_amended() -> None:
    season = given().worth({MINERS: FALSE})

    season.says(propose(ADA), challenge(BEN, 0), amend(CLEO, 0, RAIDERS))

    assert ([], {CLEO: 2}) == (season.codes, season.stances)


def test_ones_own_proposal_may_be_amended() -> None:
    season = given().says(propose(ADA)).judges("clean").says(amend(ADA, 0, RAIDERS))

    assert ([], {ADA: 3}) == (season.codes, season.stances)


def test_a_refuted_proposal_is_not_supported() -> None:
    season = given().worth({MINERS: FALSE}).says(propose(ADA), challenge(BEN, 0), support(CLEO, 0))

    assert ["move/refuted"] == season.codes


def test_ones_stance_is_not_supported_again() -> None:
    season = given().says(propose(ADA), support(BEN, 0)).judges("clean").says(support(BEN, 0))

    assert ["move/repeated"] == season.codes


def test_one_may_come_back_to_what_one_supported() -> None:
    season = given().says(propose(ADA), support(BEN, 0), propose(CLEO, RAIDERS)).judges("clean")

    season.says(support(BEN, 2)).judges("clean").says(support(BEN, 0))

    assert ([], {ADA: 0, BEN: 0, CLEO: 2}) == (season.codes, season.stances)


def test_a_part_is_challenged_once() -> None:
    season = given().says(propose(ADA, edge=TRUCE), challenge(BEN, 0), challenge(CLEO, 0))
    codes = season.codes

    season.judges("clean").says(challenge(BEN, 0, "edge"))

    assert (["move/repeated"], []) == (codes, season.codes)


def test_a_move_on_a_proposal_redirected_has_no_target() -> None:
    season = given().says(propose(ADA), propose(BEN, RAIDERS)).judges("redirect", 0)

    codes = []
    for line in (challenge(ADA, 0), amend(BEN, 0, GUARDS), support(CLEO, 0)):
        codes += season.says(line).codes

    assert ["move/unknown-target"] * 3 == codes


# Conducts


@pytest.mark.parametrize(
    ("conduct", "is_right"),
    [
        (("mine", None, 0, BASELINE), True),
        (("mine", "raid", 1, BASELINE), True),
        (("mine", "raid", 5, BASELINE), True),
        (("mine", "raid", 0, BASELINE), False),
        (("mine", "raid", 6, BASELINE), False),
        (("mine", "raid", -1, BASELINE), False),
        (("mine", None, 1, BASELINE), False),
        (("mine", "mine", 1, BASELINE), False),
        (("dig", None, 0, BASELINE), False),
        (("mine", "dig", 1, BASELINE), False),
        (("mine", None, 0, TRUCE), False),
    ],
)
def test_a_conduct_is_written_in_one_way(conduct: Any, is_right: bool) -> None:
    assert is_right == is_canonical(conduct, BASELINE)
    assert ([] if is_right else ["conduct/not-canonical"]) == given().says(
        propose(ADA, conduct)
    ).codes


@pytest.mark.parametrize(
    "conduct",
    ["mine", (), ("mine", None, 0), ("mine", None, False, BASELINE), (1, None, 0, BASELINE),
     ("mine", 1, 1, BASELINE), ("mine", "raid", 1.5, BASELINE), ("mine", None, 0, None)],
)  # fmt: skip
def test_what_is_no_conduct_is_not_canonical(conduct: Any) -> None:
    assert ["conduct/not-canonical"] == given().says(propose(ADA, conduct)).codes


def test_conducts_differ_by_their_fields() -> None:
    assert [0, 1, 2, 3, 4] == [
        distance(FEW_RAIDERS, other)
        for other in (
            FEW_RAIDERS,
            MORE_RAIDERS,
            MINERS,
            GUARDS,
            ("claim", "defend", 3, TRUCE),
        )
    ]


# Claims


@pytest.mark.parametrize(
    ("objective", "value", "than", "expected"),
    [
        ("efficiency", 0.6, 0.5, True),
        ("efficiency", 0.5, 0.5, True),
        ("efficiency", 0.4, 0.5, False),
        ("turnover", 0.6, 0.5, False),
        ("gini", 0.5, 0.5, True),
        ("raid_rate", 0.4, 0.5, True),
        ("efficiency", None, 0.5, False),
        ("gini", None, 0.5, False),
        ("gini", 0.5, None, False),
    ],
)
def test_a_value_is_at_least_as_good_by_its_objective(
    objective: str, value: float | None, than: float | None, expected: bool
) -> None:
    assert expected == at_least_as_good(objective, value, than)


@pytest.mark.parametrize(
    ("objective", "value", "codes"),
    [
        ("efficiency", 0.49, ["claim/vacuous"]),
        ("efficiency", BAR, []),
        ("efficiency", 1, []),
        ("gini", 0.51, ["claim/vacuous"]),
        ("gini", BAR, []),
        ("gini", 0, []),
    ],
)
def test_a_claim_below_the_bar_is_vacuous(objective: str, value: float, codes: list[str]) -> None:
    assert codes == given().about(objective, BASELINE).says(propose(ADA, MINERS, value)).codes


def test_without_a_bar_no_claim_is_vacuous() -> None:
    season = given().worth({("greedy-mine", None, 0, BASELINE): None})

    assert [] == season.says(propose(ADA, MINERS, 0)).codes


@pytest.mark.parametrize(
    ("worth", "is_refuted"), [(0.59, True), (0.6, False), (0.61, False), (None, True)]
)
def test_a_claim_holds_when_its_tested_value_is_at_least_as_good(
    worth: float | None, is_refuted: bool
) -> None:
    season = given().worth({MINERS: worth}).says(propose(ADA), challenge(BEN, 0))

    assert ({0} if is_refuted else set()) == season.to(JUDGING).table.standing.refuted


def test_an_edge_is_tested_under_its_own_treatment() -> None:
    season = given().says(propose(ADA, edge=TRUCE), challenge(BEN, 0, "edge"))

    _, row = season.tested(0, "edge")

    assert (MINERS, TRUCE) == (row[3], row[4])
    assert ["act/malformed"] == season.does(season.tested(0, "edge", treatment=BASELINE)).codes
    assert [] == season.does(season.tested(0, "edge")).codes


# Tests


def test_a_challenge_is_tested_at_once() -> None:
    season = given().says(propose(ADA), challenge(BEN, 0))

    assert TEST == season.state.phase
    assert TEST == season.does().state.phase
    assert ["act/malformed"] == season.does(season.tested(0, "edge")).codes
    assert (SPEAK, CLEO) == (
        season.does(season.tested(0, "base")).state.phase,
        season.table.order[2],
    )


def test_only_what_is_challenged_is_tested_at_once() -> None:
    season = given().says(propose(ADA, edge=TRUCE), propose(BEN, RAIDERS), challenge(CLEO, 0))

    for test in ((0, "edge"), (1, "base")):
        assert ["act/malformed"] == season.does(season.tested(*test)).codes


def test_all_other_claims_are_tested_before_the_debrief() -> None:
    season = given().says(propose(ADA, edge=TRUCE), propose(BEN, RAIDERS), challenge(CLEO, 0))
    season.judges("clean").judges("clean")

    assert [(0, "edge"), (1, "base")] == season.table.untested()
    season.does(season.tested(1, "base"))
    assert (PROVE, [(0, "edge")]) == (season.state.phase, season.table.untested())
    assert ["act/malformed"] == season.does(season.tested(1, "base", conduct=RAIDERS)).codes
    assert DIGEST == season.does(season.tested(0, "edge")).state.phase


def test_a_test_that_was_made_is_not_made_again() -> None:
    season = given().says(propose(ADA), propose(BEN, RAIDERS)).judges("clean").to(PROVE)

    season.does(
        season.tested(0, "base"), season.tested(0, "base", conduct=MINERS, treatment=BASELINE)
    )

    assert ["act/malformed"] == season.codes


def test_what_is_tested_after_the_table_refutes_nothing() -> None:
    season = given().worth({MINERS: FALSE}).says(propose(ADA)).to(DIGEST)

    assert ({ADA: 0}, set()) == (season.stances, season.table.standing.refuted)


def test_a_sustained_challenge_of_a_base_refutes_the_proposal() -> None:
    season = given().worth({MINERS: FALSE}).says(propose(ADA), challenge(BEN, 0)).to(JUDGING)

    assert ({0}, {}) == (season.table.standing.refuted, season.stances)


def test_a_sustained_challenge_of_an_edge_refutes_nothing() -> None:
    season = given().worth({(MINERS, TRUCE): FALSE})
    season.says(propose(ADA, edge=TRUCE), challenge(BEN, 0, "edge")).to(JUDGING)

    assert (set(), {ADA: 0}) == (season.table.standing.refuted, season.stances)
    assert season.table.is_sustained(season.table.said[1])


def test_a_sustained_challenge_of_an_edge_refutes_nothing_where_the_base_was_challenged() -> None:
    season = given(workers=4).worth({(MINERS, TRUCE): FALSE})
    season.says(propose(ADA, edge=TRUCE), challenge(BEN, 0), challenge(CLEO, 0, "edge"))

    assert (set(), {ADA: 0}) == (season.turn(DOV).table.standing.refuted, season.stances)


def test_a_challenge_that_is_not_sustained_refutes_nothing() -> None:
    season = given().says(propose(ADA), challenge(BEN, 0)).to(JUDGING)

    assert (set(), {ADA: 0}) == (season.table.standing.refuted, season.stances)


# Stances


def test_proposing_amending_and_supporting_set_a_stance() -> None:
    season = given(workers=4).says(
        propose(ADA), amend(BEN, 0, RAIDERS), support(CLEO, 0), challenge(DOV, 1)
    )

    assert {ADA: 0, BEN: 1, CLEO: 0} == season.stances


def test_a_stance_on_a_refuted_proposal_falls_back_to_the_latest_that_is_not() -> None:
    season = given().worth({GUARDS: FALSE, FEW_GUARDS: FALSE})
    season.says(propose(ADA), propose(BEN, RAIDERS), propose(CLEO, GUARDS)).judges("clean")
    season.says(support(ADA, 1), support(BEN, 2), support(CLEO, 0)).judges("clean")
    season.says(support(ADA, 2), challenge(BEN, 2))
    season.to(JUDGING)

    assert {ADA: 1, BEN: 1, CLEO: 0} == season.stances


def test_falling_back_passes_over_all_that_is_refuted() -> None:
    season = given().worth({RAIDERS: FALSE, GUARDS: FALSE})
    season.says(propose(ADA), propose(BEN, RAIDERS), propose(CLEO, GUARDS)).judges("clean")
    season.says(support(ADA, 1), support(BEN, 0)).judges("clean")
    season.says(support(ADA, 2), challenge(CLEO, 1)).judges("clean")
    before = dict(season.stances)

    season.says(challenge(BEN, 2)).to(JUDGING)

    assert ({ADA: 2, BEN: 0, CLEO: 2}, {ADA: 0, BEN: 0}) == (before, season.stances)


# Leading and concluded


def test_the_proposal_with_most_stances_leads() -> None:
    season = given().says(propose(ADA), propose(BEN, RAIDERS), support(CLEO, 1))

    assert 1 == season.table.standing.leading()


def test_of_equals_the_earliest_leads() -> None:
    season = given(workers=4).says(propose(ADA), propose(BEN, RAIDERS))
    season.says(support(CLEO, 1), support(DOV, 0))

    assert 0 == season.table.standing.leading()


def test_without_stances_nobody_leads_and_nothing_is_concluded() -> None:
    season = given().worth({MINERS: FALSE}).says(propose(ADA), challenge(BEN, 0)).judges("clean")

    assert None is season.table.standing.leading()
    season.judges("clean")
    assert [(None, None, [], [], [])] == season.events(
        "concluded", "proposal", "conduct", "stances", "tied", "words"
    )


def test_most_stances_conclude() -> None:
    season = given().says(propose(ADA), propose(BEN, RAIDERS), support(CLEO, 1)).judges("converged")

    assert [(1, ["raid", None, 0, BASELINE], [[5, 0], [6, 1], [7, 1]], [], [])] == season.events(
        "concluded", "proposal", "conduct", "stances", "tied", "words"
    )


@pytest.mark.parametrize("seed", range(6))
def test_a_tie_is_drawn_by_ascending_ids(seed: int) -> None:
    season = given(seed=seed, workers=5).closes()
    season.says(propose(ADA), propose(BEN, RAIDERS), propose(CLEO, GUARDS))
    season.says(support(DOV, 2), support(ELIF, 1)).judges("clean").judges("clean")

    (word,) = words(seed, 1, 0, 0, "conclude")
    expected = ([1, 2][word % 2], [1, 2], shown([word]))

    assert expected == season.last("concluded", "proposal", "tied", "words")


# The judge


def test_a_clean_round_changes_nothing() -> None:
    season = given().says(propose(ADA)).judges("clean")

    assert ([], {ADA: 0}) == (season.codes, season.stances)


@pytest.mark.parametrize(
    ("signal", "ids", "reason"),
    [
        ("fine", (), ""), (None, (), ""), (("clean",), (), ""), ("clean", (0,), ""),
        ("converged", (0,), ""), ("clean", None, ""), ("clean", (), None),
        ("clean", (), "x" * 4_001), ("redirect", (), ""), ("redirect", (0, 0), ""),
        ("redirect", (1,), ""), ("redirect", (9,), ""), ("redirect", (False,), ""),
        ("redirect", "0", ""), ("redirect", 0, ""),
    ],
)  # fmt: skip
def test_what_is_no_signal_is_malformed(signal: Any, ids: Any, reason: Any) -> None:
    season = given().says(propose(ADA), silent(BEN)).to(JUDGING)

    assert ["act/malformed"] == season.does(season.judged(signal, ids, reason)).codes


def test_a_signal_is_of_this_table_and_round_and_given_once() -> None:
    season = given().says(propose(ADA)).to(JUDGING)
    code, (table, round, *rest) = season.judged("clean")

    for at in ((table + 1, round), (table, round + 1)):
        season.does((code, (*at, *rest)), (code, (table, round, *rest)), (code, (*at, *rest)))

        assert ["act/malformed"] * 2 == season.codes
        season.says(propose(BEN, RAIDERS)).to(JUDGING)
        code, (table, round, *rest) = season.judged("clean")


def test_a_redirect_takes_back_what_was_said_and_what_refers_to_it() -> None:
    season = given(workers=4).says(
        propose(ADA), amend(BEN, 0, RAIDERS), support(CLEO, 1), propose(DOV, GUARDS)
    )

    season.judges("redirect", 0)

    assert (frozenset({0, 1, 2}), {DOV: 3}) == (season.table.removed, season.stances)
    assert {ADA: 2, BEN: 2, CLEO: 2, DOV: 2} == season.table.moves


def test_a_redirect_reaches_only_the_round_under_way() -> None:
    season = given().says(propose(ADA)).judges("clean").says(propose(BEN, RAIDERS)).to(JUDGING)

    assert ["act/malformed"] == season.does(season.judged("redirect", (0,))).codes
    season = given().says(propose(ADA)).judges("clean").says(support(BEN, 0))
    assert [] == season.judges("redirect", 4).codes
    assert {ADA: 0} == season.stances


def test_redirects_of_several_rounds_add_up() -> None:
    season = given().says(propose(ADA), propose(BEN, RAIDERS)).judges("redirect", 0)

    season.says(propose(ADA, GUARDS)).judges("redirect", 3)

    assert (frozenset({0, 3}), {BEN: 1}) == (season.table.removed, season.stances)


def test_a_refutation_goes_with_the_challenge_that_was_redirected() -> None:
    season = given().worth({MINERS: FALSE}).says(propose(ADA), challenge(BEN, 0))

    season.judges("redirect", 1)

    assert ({ADA: 0}, set()) == (season.stances, season.table.standing.refuted)
    assert {(0, "base"): FALSE} == season.table.tests


def test_what_was_tested_is_not_tested_again_for_another_challenge() -> None:
    season = given().worth({MINERS: FALSE}).says(propose(ADA), challenge(BEN, 0))
    season.judges("redirect", 1).says(challenge(BEN, 0))

    assert (SPEAK, CLEO) == (season.state.phase, speaker(season.state))
    assert ({}, {0}) == (season.stances, season.table.standing.refuted)


def test_what_was_redirected_is_not_tested_any_more() -> None:
    season = given().says(propose(ADA, edge=TRUCE), propose(BEN, RAIDERS)).judges("redirect", 0)

    assert [(1, "base")] == season.table.untested()


@pytest.mark.parametrize(("holders", "codes"), [(2, ["signal/not-converged"]), (3, [])])
def test_converged_is_accepted_where_more_than_half_hold_one_stance(
    holders: int, codes: list[str]
) -> None:
    season = given(workers=4).says(
        propose(ADA), *[support(agent, 0) for agent in (BEN, CLEO)][: holders - 1]
    )

    assert codes == season.judges("converged").codes


def test_a_table_on_which_nobody_holds_a_stance_has_not_converged() -> None:
    assert ["signal/not-converged"] == given().judges("converged").codes


def test_a_refused_signal_is_a_clean_table() -> None:
    season = given().says(propose(ADA)).judges("converged")

    assert (SPEAK, 1, []) == (season.state.phase, season.table.round, season.events("concluded"))


def test_weak_consensus_gives_everybody_one_move_and_one_round_more() -> None:
    season = given(rounds_max=1, moves=1).has(JUDGE, stage=2).says(propose(ADA))

    season.judges("weak-consensus")

    assert (SPEAK, 1, 2) == (season.state.phase, season.table.round, season.table.rounds)
    assert {ADA: 1, BEN: 2, CLEO: 2} == season.table.moves
    assert 1 == len(season.judges("clean").events("concluded"))


def test_weak_consensus_goes_on_even_after_a_silent_round() -> None:
    season = given().has(JUDGE, stage=2).judges("weak-consensus")

    assert (SPEAK, 1, 6) == (season.state.phase, season.table.round, season.table.rounds)


def test_weak_consensus_is_signalled_once_a_table() -> None:
    season = given().has(JUDGE, stage=2).judges("weak-consensus").says(propose(ADA))

    assert ["move/repeated"] == season.judges("weak-consensus").codes
    season.closes()
    assert [] == season.judges("weak-consensus").codes


def test_a_split_recommended_does_not_end_the_table() -> None:
    season = given().has(JUDGE, stage=3).says(propose(ADA)).judges("split")

    assert ([], SPEAK, True) == (season.codes, season.state.phase, season.state.is_split)


def test_the_words_of_a_contribution_may_be_long() -> None:
    season = given().to(SPEAK)
    code, row = season.spoke(propose(ADA))

    season.does((code, (*row[:-2], "x" * 4_000, None)))

    assert [] == season.codes
