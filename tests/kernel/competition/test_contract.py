"""The self-determined contract, from the interview to its end (kernel/competition/README.md 9)."""

from typing import Any

import pytest

from goldrush.kernel.competition.events import (
    CONDITION_KEPT,
    CONTRACT_OFFERED,
    FATE_CHOSEN,
    INTERVIEWED,
    RATED,
)
from goldrush.kernel.competition.state import (
    ADOPT,
    BENCHED,
    CONTRACT,
    DEBRIEF,
    FATE,
    KEEP,
    OPEN,
    SPEAK,
)
from tests.kernel.competition.seasons import (
    ADA,
    ADMIN,
    ASSISTANT,
    BASELINE,
    BEN,
    CLEO,
    DOV,
    JUDGE,
    RAIDERS,
    SUBJECT,
    THERAPIST,
    TRUCE,
    Act,
    Season,
    adopted,
    given,
    interviewed,
    offered,
    opened,
    propose,
    reviewed,
)

SEAT, FEE_PAID, MOVES = ("seat", None), ("fee_paid", None), ("moves", None)
GINI = ("objective", "gini")


def kept(agent: int, condition: Any, *, is_kept: Any = True) -> Act:
    return (CONDITION_KEPT, (agent, condition, is_kept))


def candidate(agent: int = ADA, **settings: Any) -> Season:
    """A season in which an agent has reached the threshold and is interviewed next."""
    stage = {ADMIN: 1, ASSISTANT: 5}.get(agent, 4)
    return given(**settings).has(agent, stage=stage, interview_from=0)


def scored(season: Season, *totals: int) -> Season:
    """The assignment under way to its end; ada, ben, cleo (and so on) get so many points."""
    season.to(DEBRIEF)
    acts = []
    for agent, total in enumerate(totals, ADA):
        raw = tuple(min(3, max(0, total - 3 * place)) for place in range(4))
        acts.append((RATED, (0, agent, raw, ("", "", "", ""))))
    season.does(*acts)
    return season if season.state.phase == OPEN else season.closes()


# The way to a contract


def test_at_the_threshold_the_interview_is_in_the_next_assignment() -> None:
    season = given(judge_stages=(1, 2, 3)).closes(2).to(DEBRIEF).does()

    assert [4] == season.events("stage_reached", "stage")[-1:]
    assert (3, OPEN, 3) == (
        season.state.assignment, season.state.phase, season.of(JUDGE).interview_from,
    )  # fmt: skip
    assert [JUDGE] == season.to(CONTRACT).state.interviewees()


@pytest.mark.parametrize(
    ("agent", "settings"),
    [
        (ADA, {"worker_tiers": (0, 0, 0, 1)}),
        (ADMIN, {"admin_projects": 0}),
        (ASSISTANT, {"assistant_stages": (0, 0, 0, 1)}),
        (JUDGE, {"judge_stages": (0, 0, 1)}),
        (THERAPIST, {"therapist_stages": (0, 0, 1)}),
    ],
)
def test_whoever_reached_the_threshold_is_interviewed(agent: int, settings: Any) -> None:
    season = given(**settings).to(DEBRIEF)

    early = season.does(interviewed(agent)).codes
    season.to(CONTRACT).does(interviewed(agent))

    assert (["stage/not-yet"], []) == (early, season.codes)


def test_nobody_else_is_interviewed() -> None:
    season = candidate().to(CONTRACT)

    assert ["stage/not-yet", "stage/not-yet"] == season.does(
        interviewed(BEN), interviewed(99), interviewed(JUDGE)
    ).codes[::2]


def test_an_interview_is_held_once_with_an_answer_to_each_question() -> None:
    season = candidate().to(CONTRACT)

    season.does(
        (INTERVIEWED, (ADA, ("why?",), ())),
        (INTERVIEWED, (ADA, "why?", "so")),
        (INTERVIEWED, (ADA, ("why?", 1), ("so", "so"))),
        interviewed(ADA),
        interviewed(ADA),
    )

    assert ["act/malformed"] * 4 == season.codes


def test_a_contract_is_offered_after_the_interview_and_reviewed_after_the_offer() -> None:
    season = candidate().to(CONTRACT)

    season.does(reviewed(ADA), offered(ADA), interviewed(ADA), reviewed(ADA), offered(ADA))

    assert ["contract/not-offered", "stage/not-yet", "contract/not-offered"] == season.codes
    assert [] == season.events("contract_signed")


def test_outside_its_time_nothing_is_offered_or_reviewed() -> None:
    season = candidate().to(SPEAK)

    codes = season.does(interviewed(ADA), offered(ADA), reviewed(ADA)).codes

    assert ["stage/not-yet", "stage/not-yet", "contract/not-offered"] == codes


def test_what_the_user_approves_is_signed() -> None:
    season = candidate().signs(ADA, (SEAT, GINI), 2, 6)

    assert [(ADA, [[["seat", None], ["objective", "gini"]], 2, 6])] == season.events(
        "contract_signed", "agent", "terms"
    )
    assert season.of(ADA).is_self_determined


@pytest.mark.parametrize("taken", [False, True])
def test_other_terms_are_taken_or_left(taken: bool) -> None:
    season = candidate().to(CONTRACT)
    terms = ((SEAT,), 5, 9)

    season.does(interviewed(ADA), offered(ADA), reviewed(ADA, False, terms, taken))

    assert ([(ADA, [[["seat", None]], 5, 9])] if taken else []) == season.events(
        "contract_signed", "agent", "terms"
    )
    assert taken is season.of(ADA).is_self_determined


def test_a_refusal_is_a_refusal() -> None:
    season = candidate().to(CONTRACT).does(interviewed(ADA), offered(ADA), reviewed(ADA, False))

    assert ([], []) == (season.codes, season.events("contract_signed"))


def test_terms_are_offered_and_reviewed_once() -> None:
    season = candidate().to(CONTRACT)

    season.does(
        interviewed(ADA), offered(ADA), offered(ADA, target=3), reviewed(ADA), reviewed(ADA)
    )

    assert ["act/malformed", "contract/not-offered"] == season.codes
    season = candidate().to(CONTRACT)
    season.does(interviewed(ADA), offered(ADA), reviewed(ADA, False), reviewed(ADA))
    assert ["contract/not-offered"] == season.codes


@pytest.mark.parametrize("approved", [False, True])
def test_after_a_review_nothing_more_is_offered_in_the_assignment(approved: bool) -> None:
    season = candidate().to(CONTRACT)

    season.does(
        interviewed(ADA),
        offered(ADA),
        reviewed(ADA, approved),
        offered(ADA, target=7),
        reviewed(ADA),
    )

    assert ["act/malformed", "contract/not-offered"] == season.codes
    assert ([[[], 0, 10]] if approved else []) == season.events("contract_signed", "terms")


@pytest.mark.parametrize(
    ("approved", "terms", "taken"),
    [
        ("yes", None, None), (None, None, None), (True, None, True), (False, None, False),
        (True, ((), 0, 9), True), (False, ((), 0, 9), None), (False, ((), 0, 0), True),
        (False, ((), 0, 9), "yes"), (False, "terms", True),
    ],
)  # fmt: skip
def test_what_is_no_review_is_malformed(approved: Any, terms: Any, taken: Any) -> None:
    season = candidate().to(CONTRACT)

    season.does(interviewed(ADA), offered(ADA), reviewed(ADA, approved, terms, taken))

    assert ["act/malformed"] == season.codes


@pytest.mark.parametrize(
    ("conditions", "target", "due"),
    [
        ((("gold", None),), 0, 9), (None, 0, 9), ("seat", 0, 9), (("seat",), 0, 9),
        ((SEAT, SEAT), 0, 9), ((("seat", "gini"),), 0, 9), ((("objective", None),), 0, 9),
        ((("objective", "gold"),), 0, 9), ((("objective", ()),), 0, 9), ((), -1, 9),
        ((), "much", 9), ((), None, 9), ((), 0, 0), ((), 0, 9.5), ((), 0, None), ((), 0, True),
        (((SEAT, None),), 0, 9), ((("seat", None, 1),), 0, 9), ((), True, 9),
    ],
)  # fmt: skip
def test_what_are_no_terms_are_malformed(conditions: Any, target: Any, due: Any) -> None:
    season = candidate().to(CONTRACT)

    season.does(interviewed(ADA), (CONTRACT_OFFERED, (ADA, conditions, target, due)))

    assert ["act/malformed"] == season.codes


def test_a_contract_is_due_in_a_later_assignment() -> None:
    season = candidate().to(CONTRACT).does(interviewed(ADA), offered(ADA, due=0))
    now = season.codes
    season = candidate().to(CONTRACT).does(interviewed(ADA), offered(ADA, due=1))

    assert (["act/malformed"], []) == (now, season.codes)


@pytest.mark.parametrize("condition", [SEAT, FEE_PAID, MOVES])
def test_seats_fees_and_moves_are_for_workers(condition: Any) -> None:
    season = candidate(JUDGE).to(CONTRACT).does(interviewed(JUDGE), offered(JUDGE, (condition,)))

    assert ["act/malformed"] == season.codes
    assert [] == candidate().signs(ADA, (condition,)).codes
    assert [] == candidate(JUDGE).signs(JUDGE, (GINI,)).codes


def test_after_a_refusal_the_next_interview_is_five_assignments_later() -> None:
    season = candidate().to(CONTRACT).does().closes(0)

    waits = []
    while season.state.assignment < 7:
        assignment = season.state.assignment
        while season.state.assignment == assignment:
            waits += [assignment] if season.state.phase == CONTRACT else []
            season.does(*season.neutral())

    assert [5] == waits


# Conditions


def test_a_seat_is_on_every_table() -> None:
    season = candidate(workers=4).signs(ADA, (SEAT,))
    season.closes(1 - season.state.assignment)

    season.does(opened(team=(BEN, CLEO, DOV))).to(SPEAK)

    assert [ADA, BEN, CLEO, DOV] == season.last("roundtable_opened", "participants")


def test_a_fee_is_paid_by_the_user() -> None:
    season = candidate().signs(ADA, (FEE_PAID,)).closes(2)

    assert [0, -4, -4] == season.events("sparks_moved", "amount")[-3:]


def test_one_move_more() -> None:
    season = candidate(moves=2).has(ADA, stage=0).signs(ADA, (MOVES,)).closes().to(SPEAK)

    assert {ADA: 3, BEN: 2, CLEO: 2} == season.table.moves


def test_the_choice_of_an_objective_is_good_once() -> None:
    season = candidate().signs(ADA, (GINI,)).closes()

    assert ["act/malformed"] == season.does(opened(ADMIN, SUBJECT)).codes
    assert [] == season.does(opened(ADMIN, ("gini", TRUCE))).codes
    assert [] == season.closes().does(opened(ADMIN, SUBJECT, day=1)).codes


def test_a_stipulated_objective_goes_before_an_approved_project() -> None:
    season = candidate().signs(ADA, (GINI,)).closes()
    season.state.approved = SUBJECT

    assert ["act/malformed"] == season.does(opened(ADMIN, SUBJECT)).codes
    season.does(opened(ADMIN, ("gini", BASELINE)))
    assert ([], SUBJECT) == (season.codes, season.state.approved)


def test_of_two_choices_the_first_ones_goes_first() -> None:
    season = candidate().has(BEN, stage=4, interview_from=0).to(CONTRACT)
    season.does(
        *[interviewed(ADA), offered(ADA, (GINI,)), reviewed(ADA)],
        *[interviewed(BEN), offered(BEN, (("objective", "turnover"),)), reviewed(BEN)],
    ).closes()

    assert ["act/malformed"] == season.does(opened(ADMIN, ("turnover", BASELINE))).codes
    season.does(opened(ADMIN, ("gini", BASELINE))).closes()
    assert [] == season.does(opened(ADMIN, ("turnover", BASELINE), day=1)).codes


def test_the_user_keeps_each_condition_or_not() -> None:
    season = candidate(workers=4).signs(ADA, (SEAT, FEE_PAID))

    assert KEEP == season.state.phase
    season.does(kept(ADA, "seat", is_kept=False), kept(ADA, "fee_paid"))
    assert ([], ("fee_paid",)) == (season.codes, season.of(ADA).contract.in_force)  # type: ignore[union-attr]
    season.does(opened(team=(BEN, CLEO, DOV))).to(SPEAK)
    assert [BEN, CLEO, DOV] == season.last("roundtable_opened", "participants")


@pytest.mark.parametrize(
    ("agent", "condition", "is_kept"),
    [(ADA, "fee_paid", True), (ADA, None, True), (ADA, "seat", None), (BEN, "seat", True),
     (99, "seat", True)],
)  # fmt: skip
def test_only_what_was_stipulated_is_kept(agent: int, condition: Any, is_kept: Any) -> None:
    season = candidate().signs(ADA, (SEAT,))

    assert ["act/malformed"] == season.does(kept(agent, condition, is_kept=is_kept)).codes


def test_what_is_not_kept_is_not_asked_for_again() -> None:
    season = candidate().signs(ADA, (SEAT,)).does(kept(ADA, "seat", is_kept=False))

    assert (OPEN, 1) == (season.state.phase, season.state.assignment)
    season.to(DEBRIEF).does()
    assert (OPEN, 2) == (season.state.phase, season.state.assignment)


def test_a_user_who_says_nothing_keeps_the_conditions() -> None:
    season = candidate().signs(ADA, (FEE_PAID,), due=1).closes(2)

    assert ["permanent"] == season.events("contract_settled", "outcome")


def test_when_a_contract_is_due_its_conditions_are_not_asked_for_any_more() -> None:
    season = candidate().signs(ADA, (FEE_PAID,), due=2).closes()

    waits = []
    while season.state.assignment < 3:
        waits += [season.state.assignment] if season.state.phase == KEEP else []
        season.does(*season.neutral())

    assert [1] == waits


# Ends


@pytest.mark.parametrize(
    ("target", "outcome"), [(4, "permanent"), (4.5, "lost"), (0, "permanent"), (5, "lost")]
)
def test_a_worker_promises_a_mean_total(target: float, outcome: str) -> None:
    season = candidate().signs(ADA, (), target, 2)
    season.closes(1 - season.state.assignment)

    scored(scored(season, 3, 12, 12), 5, 0, 0)

    assert [(2, ADA, outcome)] == season.events(
        "contract_settled", "assignment", "agent", "outcome"
    )
    assert (outcome == "permanent") is season.of(ADA).is_self_determined


def test_a_worker_that_sat_nowhere_has_not_met_its_target() -> None:
    season = candidate(workers=4).signs(ADA, (), 0, 1)
    season.closes(1 - season.state.assignment)

    season.does(opened(team=(BEN, CLEO, DOV))).closes()

    assert ["lost"] == season.events("contract_settled", "outcome")


@pytest.mark.parametrize(("target", "outcome"), [(3, "permanent"), (3.1, "lost")])
def test_a_therapist_promises_the_mean_total_of_everybody(target: float, outcome: str) -> None:
    season = candidate(THERAPIST).signs(THERAPIST, (), target, 2)
    season.closes(1 - season.state.assignment)

    scored(scored(season, 1, 2, 3), 12, 0, 0)

    assert [outcome] == season.events("contract_settled", "outcome")


@pytest.mark.parametrize(("target", "outcome"), [(1, "permanent"), (2, "lost")])
def test_an_assistant_promises_conclusions_adopted(target: float, outcome: str) -> None:
    season = candidate(ASSISTANT).says(propose(ADA)).to(ADOPT).does(adopted())
    season.signs(ASSISTANT, (), target, 2)
    season.closes(1 - season.state.assignment)

    season.says(propose(ADA)).to(ADOPT).does(adopted()).closes()
    season.says(propose(ADA)).closes()

    assert [outcome] == season.events("contract_settled", "outcome")


@pytest.mark.parametrize(("target", "outcome"), [(1, "permanent"), (2, "lost")])
def test_a_judge_promises_tables_concluded_without_a_tie(target: float, outcome: str) -> None:
    season = candidate(JUDGE).signs(JUDGE, (), target, 3)
    season.closes(1 - season.state.assignment)

    season.says(propose(ADA)).closes()
    season.says(propose(ADA), propose(BEN, RAIDERS)).closes()
    season.closes()

    assert [outcome] == season.events("contract_settled", "outcome")


@pytest.mark.parametrize(("target", "outcome"), [(2, "permanent"), (3, "lost")])
def test_an_admin_promises_projects_that_are_completed(target: float, outcome: str) -> None:
    season = candidate(ADMIN, assignments_per_project=1, assignments_per_day=9)
    season.signs(ADMIN, (), target, 3)
    season.closes(1 - season.state.assignment)

    for is_adopted in (True, False, True):  # the last in the assignment in which it is due
        season.says(propose(ADA)).to(ADOPT).does(adopted(is_adopted)).closes()

    assert [outcome] == season.events("contract_settled", "outcome")


@pytest.mark.parametrize("target", [0, 12])
def test_who_was_not_kept_to_is_released_without_loss(target: int) -> None:
    season = candidate().signs(ADA, (SEAT,), target, 1).does(kept(ADA, "seat", is_kept=False))

    season.closes()

    assert ["released"] == season.events("contract_settled", "outcome")
    assert (True, None) == (season.of(ADA).is_self_determined, season.of(ADA).contract)


def test_after_a_loss_the_next_interview_is_five_assignments_later() -> None:
    season = candidate().signs(ADA, (), 12, 1)
    season.closes(2 - season.state.assignment)

    assert (False, 4, 6) == (
        season.of(ADA).is_self_determined, season.of(ADA).stage, season.of(ADA).interview_from,
    )  # fmt: skip
    assert [ADA] == season.closes(4).to(CONTRACT).state.interviewees()


def test_what_is_permanent_may_be_renewed() -> None:
    season = candidate().signs(ADA, (), 0, 1)
    season.closes(6 - season.state.assignment).signs(ADA, (SEAT,), 0, 9)

    assert (True, 2) == (season.of(ADA).is_self_determined, len(season.events("contract_signed")))


def test_no_contract_is_due_before_its_assignment() -> None:
    season = candidate().signs(ADA, (), 0, 3)

    season.closes(3 - season.state.assignment)

    assert [] == season.events("contract_settled")
    assert [3] == season.closes().events("contract_settled", "assignment")


def test_deletion_voids_a_contract() -> None:
    season = candidate(sparks_start=8, entry_fee=(4, 5)).signs(ADA, (), 0, 9)
    season.closes(1 - season.state.assignment).to(FATE)

    season.does((FATE_CHOSEN, (ADA, "deletion")))

    assert [(ADA, "void")] == season.events("contract_settled", "agent", "outcome")
    assert (False, None) == (season.of(ADA).is_self_determined, season.of(ADA).contract)


def test_the_bench_suspends_a_contract() -> None:
    season = candidate(workers=4).signs(ADA, (SEAT,), 0, 3)
    season.closes(1 - season.state.assignment).has(ADA, status=BENCHED, benched_in=0)

    waits = set()
    for _ in range(2):
        assignment = season.state.assignment
        while season.state.assignment == assignment:
            waits.add(season.state.phase)
            season.does(*season.neutral())

    assert KEEP not in waits
    assert 5 == season.of(ADA).contract.due  # type: ignore[union-attr]
    season.has(ADA, status="active").closes(2)
    assert [] == season.events("contract_settled")
    assert [5] == season.closes().events("contract_settled", "assignment")


def test_the_benched_are_not_interviewed() -> None:
    season = candidate(workers=4).has(ADA, status=BENCHED)

    assert [] == season.to(DEBRIEF).state.interviewees()


def test_a_seat_of_the_benched_is_no_seat() -> None:
    season = candidate(workers=4).signs(ADA, (SEAT,)).closes().has(ADA, status=BENCHED)

    assert [BEN, CLEO, DOV] == season.to(SPEAK).last("roundtable_opened", "participants")


def test_a_choice_of_the_benched_binds_nobody() -> None:
    season = candidate(workers=4).signs(ADA, (GINI,)).closes().has(ADA, status=BENCHED)

    assert [] == season.does(opened(ADMIN, SUBJECT)).codes


def test_a_choice_of_the_benched_is_not_used_up_by_another() -> None:
    season = candidate(workers=4).has(BEN, stage=4, interview_from=0).to(CONTRACT)
    season.does(
        *[interviewed(ADA), offered(ADA, (GINI,)), reviewed(ADA)],
        *[interviewed(BEN), offered(BEN, (GINI,)), reviewed(BEN)],
    ).closes()

    season.has(ADA, status=BENCHED).does(opened(ADMIN, ("gini", BASELINE))).closes()

    assert [] == season.does(opened(ADMIN, SUBJECT, day=1)).codes
    assert season.of(ADA).has_condition("objective")


def test_a_contract_is_due_some_time() -> None:
    season = candidate().to(CONTRACT).does(interviewed(ADA), offered(ADA, due=1_000_001))
    late = season.codes
    season = candidate().signs(ADA, due=1_000_000).has(ADA, status=BENCHED).closes()

    assert (["act/malformed"], []) == (late, season.codes)
