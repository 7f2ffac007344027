"""The self-determined contract, from the interview to its end (kernel/worlds/competition/README.md
9).
"""

from typing import Any

import pytest

from goldrush.kernel.worlds.competition.contract import Contract
from goldrush.kernel.worlds.competition.terms import Phase
from tests.kernel.worlds.competition.seasons import (
    ADA,
    ADMIN,
    BEN,
    CLEO,
    DOV,
    FALSE,
    JUDGE,
    MINERS,
    RAIDERS,
    SUBJECT,
    THERAPIST,
    Line,
    Season,
    given,
    interviewed,
    offered,
    propose,
    reviewed,
    support,
)

SEAT, FEE_PAID, MOVES = ("seat", None), ("fee_paid", None), ("moves", None)
HARD, EASY = (9, 9), (9, 1)  # targets of a worker


def candidate(agent: int = ADA, **settings: Any) -> Season:
    """A season in which an agent has reached the threshold and is interviewed next."""
    stage = {ADMIN: 1}.get(agent, 4)
    return given(**settings).has(agent, stage=stage, interview_from=0)


def contract(season: Season, agent: int = ADA) -> Contract:
    found = season.of(agent).contract
    assert found is not None
    return found


def outcomes(season: Season) -> list[Any]:
    return season.events("contract_settled", "assignment", "agent", "outcome")


def test_the_therapist_interviews_and_the_admin_the_therapist() -> None:
    season = candidate(THERAPIST).has(ADA, stage=4, interview_from=0).to(Phase.DEBRIEF)

    season.does(interviewed(ADA), interviewed(THERAPIST))

    assert [THERAPIST, ADMIN] == [event["who"] for event in season.followed("refused")]


@pytest.mark.parametrize("taken", [False, True])
def test_other_terms_are_taken_or_left(taken: bool) -> None:
    season = candidate().to(Phase.CONTRACT)

    season.does(interviewed(ADA), offered(ADA), reviewed(ADA, False, ((SEAT,), EASY, 9), taken))

    assert ([(ADA, [[["seat", None]], [9, 1], 9])] if taken else []) == season.events(
        "contract_signed", "agent", "terms"
    )
    assert taken is season.of(ADA).is_self_determined


# Conditions


def test_the_fee_is_paid_by_the_user_and_there_is_one_move_more() -> None:
    season = candidate(moves=2).has(ADA, stage=0).signs(ADA, (FEE_PAID, MOVES)).until(1)

    assert {ADA: 3, BEN: 2, CLEO: 2} == season.to(Phase.SPEAK).table.moves
    assert [0, -3, -3] == season.closes().events("sparks_moved", "amount")[-3:]


def test_a_seat_is_had_beside_the_directives_team() -> None:
    season = candidate(workers=5).signs(ADA, (SEAT,)).until(1)

    season.does(season.opened(ADMIN, SUBJECT, team=(BEN, CLEO, DOV))).to(Phase.SPEAK)

    assert (ADA, BEN, CLEO, DOV) == season.table.participants


# Ends


@pytest.mark.parametrize(
    ("target", "totals", "outcome"),
    [
        ((2, 1), [(5, 4, 3), (3, 4, 5)], "permanent"),
        ((1, 1), [(3, 4, 5), (5, 4, 3)], "lost"),
    ],
)
def test_a_worker_is_above_the_lower_median_at_x_of_k_tables(
    target: Any, totals: list[tuple[int, ...]], outcome: str
) -> None:
    season = candidate().scores(9, 0, 0).has(ADA, interview_from=0)  # before it is signed
    season.signs(ADA, (), target, 3).until(2)

    for each in totals:
        season.scores(*each)

    assert [(3, ADA, outcome)] == outcomes(season)
    assert (outcome == "permanent") is season.of(ADA).is_self_determined


@pytest.mark.parametrize("approved", [False, True])
def test_terms_are_offered_and_reviewed_once(approved: bool) -> None:
    season = candidate().to(Phase.CONTRACT)

    season.does(
        *[interviewed(ADA), offered(ADA), offered(ADA, target=HARD), reviewed(ADA, approved)],
        *[reviewed(ADA), offered(ADA, target=HARD), reviewed(ADA)],
    )

    assert ["act/malformed", "contract/not-offered", "act/malformed", "contract/not-offered"] == (
        season.codes
    )
    assert ([[[], [1, 1], 10]] if approved else []) == season.events("contract_signed", "terms")


@pytest.mark.parametrize(
    ("approved", "terms", "taken"),
    [
        ("yes", None, None), (True, None, True), (False, None, False),
        (True, ((), EASY, 9), True), (False, ((), EASY, 0), True), (False, ((), EASY, 9), "yes"),
    ],
)  # fmt: skip
def test_what_is_no_review_is_malformed(approved: Any, terms: Any, taken: Any) -> None:
    season = candidate().to(Phase.CONTRACT)

    season.does(interviewed(ADA), offered(ADA), reviewed(ADA, approved, terms, taken))

    assert ["act/malformed"] == season.codes


@pytest.mark.parametrize(
    ("agent", "terms", "is_right"),
    [
        (ADA, {"conditions": (("gold", None),)}, False), (ADA, {"conditions": None}, False),
        (ADA, {"conditions": (SEAT, SEAT)}, False),
        (ADA, {"conditions": (("seat", "gini"),)}, False),
        (ADA, {"conditions": (("objective", None),)}, False),
        (ADA, {"conditions": (("objective", "gold"),)}, False),
        (JUDGE, {"conditions": (SEAT,)}, False), (JUDGE, {"conditions": (FEE_PAID,)}, False),
        (ADA, {"target": (9, 9)}, True), (ADA, {"target": (9, 10)}, False),
        (ADA, {"target": (9, 0)}, False), (ADA, {"target": (9, True)}, False),
        (ADA, {"target": 4}, False), (JUDGE, {"target": 1.5}, True),
        (JUDGE, {"target": -1}, False), (JUDGE, {"target": (9, 4)}, False),
        (ADA, {"due": 0}, False), (ADA, {"due": 1}, True), (ADA, {"due": 1_000_000}, True),
        (ADA, {"due": 1_000_001}, False),
    ],
)  # fmt: skip
def test_an_offer_has_known_conditions_a_target_of_its_role_and_is_due_later(
    agent: int, terms: dict[str, Any], is_right: bool
) -> None:
    season = candidate(agent).to(Phase.CONTRACT).does(interviewed(agent), offered(agent, **terms))

    assert ([] if is_right else ["act/malformed"]) == season.codes


def test_a_therapist_with_nobody_to_rate_has_not_met_its_target() -> None:
    assert not Contract("therapist", (), 0, 9, ()).is_met


LED = [propose(ADA), propose(BEN, RAIDERS), support(CLEO, 0)]


@pytest.mark.parametrize(
    ("lines", "signal", "worth", "targets", "is_right"),
    [
        (LED, "converged", {RAIDERS: 0.9}, {}, True),
        (LED, "clean", {}, {}, False),
        (LED, "converged", {}, {CLEO: 1}, False),
        (LED, "converged", {MINERS: FALSE}, {}, False),
    ],
)
def test_a_judge_promises_conclusions_that_led_when_it_signalled_converged(
    lines: list[Line], signal: str, worth: Any, targets: Any, is_right: bool
) -> None:
    season = candidate(JUDGE).signs(JUDGE, (), 1, 1).until(1).worth(worth)

    season.says(*lines).judges(signal)
    if targets:
        season.stands(targets)

    assert is_right is contract(season.to(Phase.DIGEST), JUDGE).is_met
    assert [(1, JUDGE, "permanent" if is_right else "lost")] == outcomes(season.closes())
