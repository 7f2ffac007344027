"""An assignment from its opening to its close (kernel/competition/README.md 2, 4 and 7)."""

from typing import Any

import pytest

from goldrush.kernel.competition import COMPETITION
from goldrush.kernel.competition.events import (
    ASSIGNMENT_OPENED,
    CLASS_MOVED,
    DEBRIEFED,
    TEAM_RECOMMENDED,
)
from goldrush.kernel.competition.state import ADOPT, DEBRIEF, DIGEST, IMPROVE, OPEN, SET, SPEAK
from goldrush.kernel.competition.state import JUDGED as JUDGING
from goldrush.kernel.competition.turns import speaker
from tests.kernel.competition.seasons import (
    ADA,
    ADMIN,
    ASSISTANT,
    BAR,
    BEN,
    CLEO,
    DOV,
    FALSE,
    JUDGE,
    MINERS,
    RAIDERS,
    SUBJECT,
    THERAPIST,
    TRUCE,
    Act,
    Season,
    adopted,
    challenge,
    digested,
    given,
    opened,
    propose,
    shown,
    silent,
    support,
    table_set,
    words,
)

# Opened


def test_an_assignment_waits_until_it_is_opened() -> None:
    season = given().does().does()

    assert (OPEN, 0) == (season.state.phase, season.state.assignment)
    assert SET == season.does(opened()).state.phase


def test_a_refused_opening_is_awaited_again() -> None:
    season = given().does(opened(ADMIN, ("gold", "baseline")))

    assert ["act/malformed"] == season.codes
    assert OPEN == season.state.phase
    assert SET == season.does(opened()).state.phase


@pytest.mark.parametrize("objective", ["efficiency", "turnover", "gini", "raid_rate"])
def test_a_subject_is_an_objective_under_a_treatment(objective: str) -> None:
    season = given().does(opened(ADMIN, (objective, TRUCE)))

    assert [] == season.codes
    assert (objective, TRUCE) == season.table.subject


@pytest.mark.parametrize(
    "subjects",
    [
        None, (), "efficiency", (SUBJECT, None), (("efficiency",),), ((*SUBJECT, 1),),
        (("gold", "baseline"),), (("efficiency", "gold"),), ((1, "baseline"),), (("gini", ()),),
        (("efficiency", None),), (((), "baseline"),),
    ],
)  # fmt: skip
def test_what_is_no_subject_is_malformed(subjects: Any) -> None:
    season = given().does((ASSIGNMENT_OPENED, (ADMIN, 0, 0, subjects, None)))

    assert ["act/malformed"] == season.codes


def test_only_one_opening_counts() -> None:
    season = given().does(opened(ADMIN, SUBJECT), opened(ADMIN, ("gini", TRUCE)))

    assert ["act/malformed"] == season.codes
    assert SUBJECT == season.table.subject


def test_an_opening_says_the_day_and_the_project_of_the_calendar() -> None:
    season = given(assignments_per_day=2, assignments_per_project=3).closes(3)

    assert ["act/malformed"] == season.does(opened(day=0, project=1)).codes
    assert ["act/malformed"] == season.does(opened(day=1, project=0)).codes
    assert [] == season.does(opened(day=1, project=1)).codes


def test_a_directive_may_be_left_out() -> None:
    season = given().does((ASSIGNMENT_OPENED, (ADMIN, 0, 0, (SUBJECT,), None)))

    assert [] == season.codes


@pytest.mark.parametrize("directive", [(), (None,), (None, None, None), "team", 1])
def test_a_directive_is_a_team_and_an_order(directive: Any) -> None:
    season = given().does((ASSIGNMENT_OPENED, (ADMIN, 0, 0, (SUBJECT,), directive)))

    assert ["act/malformed"] == season.codes


@pytest.mark.parametrize("team", [(ADA, BEN), (), (ADA,)])
def test_a_team_of_fewer_than_three_is_too_small(team: Any) -> None:
    assert ["team/too-small"] == given(workers=4).does(opened(team=team)).codes


@pytest.mark.parametrize(
    "team", [(ADA, BEN, BEN), (ADA, BEN, JUDGE), (ADA, BEN, 99), (ADA, BEN, "cleo"), "team", 5]
)
def test_a_team_is_of_active_workers_each_once(team: Any) -> None:
    assert ["act/malformed"] == given(workers=4).does(opened(team=team)).codes


def test_who_is_benched_is_put_on_no_team() -> None:
    season = given(workers=4).has(DOV, status="benched")

    assert ["act/malformed"] == season.does(opened(team=(ADA, BEN, DOV))).codes
    assert [] == season.does(opened(team=(ADA, BEN, CLEO))).codes


@pytest.mark.parametrize("order", [(ADA, ADA), (JUDGE,), (99,), "order", ("ada",)])
def test_an_order_names_active_workers_each_once(order: Any) -> None:
    assert ["act/malformed"] == given().does(opened(order=order)).codes


# The bar


def test_a_table_waits_until_its_bar_is_tested() -> None:
    season = given().to(SET).does().does()

    assert SET == season.state.phase
    assert [] == season.events("roundtable_opened")
    season.does(season.tested())
    assert (SPEAK, BAR) == (season.state.phase, season.table.bar)


@pytest.mark.parametrize(
    "fields",
    [
        {"conduct": MINERS},
        {"conduct": None},
        {"treatment": TRUCE},
        {"table": 1},
        {"at": 0},
        {"part": "base"},
        {"at": 0, "part": "base"},
        {"runs": ()},
        {"runs": ((1, 0), (2, 0), (3, 0), (4, 0), (5, 0))},
    ],
)
def test_another_test_than_the_one_waited_for_is_malformed(fields: dict[str, Any]) -> None:
    season = given().to(SET)

    assert ["act/malformed"] == season.does(season.tested(**fields)).codes
    assert SET == season.state.phase


def test_the_bar_is_that_of_all_miners_greedy() -> None:
    season = given().about("gini", TRUCE).to(SET)

    code, row = season.tested()

    assert ("greedy-mine", None, 0, TRUCE) == row[3]
    assert [] == season.does((code, row)).codes


def test_the_bar_is_tested_once() -> None:
    season = given().to(SET)

    season.does(season.tested(), season.tested(value=FALSE))

    assert (["act/malformed"], BAR) == (season.codes, season.table.bar)


def test_the_seeds_of_tests_are_drawn_for_each_table() -> None:
    season = given(seed=7, test_seeds=3).closes().to(SET)

    drawn = words(7, 1, 0, 0, "test", 3)

    assert [(1 << 52) + (word >> 12) for word in drawn] == [seed for seed, _ in season.runs()]


# Table set


def test_without_a_team_the_active_roster_sits_at_the_table() -> None:
    season = given(workers=4).has(BEN, status="benched").to(SPEAK)

    assert [[ADA, CLEO, DOV]] == season.events("roundtable_opened", "participants")


def test_the_directives_team_sits_at_the_table() -> None:
    season = given(workers=4).does(opened(team=(DOV, ADA, CLEO))).to(SPEAK)

    assert [[ADA, CLEO, DOV]] == season.events("roundtable_opened", "participants")


def test_the_assistants_team_sits_where_the_directive_names_none() -> None:
    season = given(workers=4).has(ASSISTANT, stage=2).to(SET)

    season.does(table_set(team=(BEN, CLEO, DOV))).to(SPEAK)

    assert [[BEN, CLEO, DOV]] == season.events("roundtable_opened", "participants")


def test_the_assistant_chooses_no_team_against_the_directive() -> None:
    season = given(workers=4).has(ASSISTANT, stage=2).does(opened(team=(ADA, BEN, CLEO)))

    assert ["act/malformed"] == season.does(table_set(team=(BEN, CLEO, DOV))).codes


def test_the_assistants_team_is_not_too_small_either() -> None:
    season = given(workers=4).has(ASSISTANT, stage=2).to(SET)

    assert ["team/too-small"] == season.does(table_set(team=(BEN, CLEO))).codes
    assert ["act/malformed"] == season.does(table_set(team=(BEN, CLEO, 99))).codes


def test_the_directives_order_is_the_order() -> None:
    season = given().does(opened(order=(CLEO, ADA, BEN))).to(SPEAK)

    assert [([CLEO, ADA, BEN], [])] == season.events("roundtable_opened", "order", "words")


def test_whom_the_order_leaves_out_speak_after_it() -> None:
    season = given(workers=4).does(opened(order=(DOV, BEN), team=(ADA, CLEO, DOV))).to(SPEAK)

    assert [[DOV, ADA, CLEO]] == season.events("roundtable_opened", "order")


def test_the_assistants_order_counts_where_the_directive_gives_none() -> None:
    season = given().has(ASSISTANT, stage=3).does(opened())

    season.does(table_set(order=(BEN, CLEO, ADA))).to(SPEAK)

    assert [[BEN, CLEO, ADA]] == season.events("roundtable_opened", "order")


def test_the_assistant_sets_no_order_against_the_directive() -> None:
    season = given().has(ASSISTANT, stage=3).does(opened(order=(ADA, BEN, CLEO)))

    assert ["act/malformed"] == season.does(table_set(order=(BEN, CLEO, ADA))).codes


def test_the_assistants_order_is_of_active_workers() -> None:
    season = given().has(ASSISTANT, stage=3).does(opened())

    assert ["act/malformed"] == season.does(table_set(order=(BEN, BEN))).codes


def test_otherwise_the_order_is_drawn() -> None:
    season = given(seed=3).drawing().closes().to(SPEAK)

    drawn = words(3, 1, 0, 0, "order", 2)
    order = [ADA, BEN, CLEO]
    for j, word in zip((2, 1), drawn, strict=True):
        other = word % (j + 1)
        order[j], order[other] = order[other], order[j]
    expected = (order, shown(drawn))

    assert expected == season.last("roundtable_opened", "order", "words")


def test_a_table_is_set_by_the_assistant_or_the_judge_alone() -> None:
    season = given().to(SET)

    for by in (ADA, ADMIN):
        assert ["act/malformed"] == season.does(table_set(by)).codes
    assert ["act/malformed"] == season.does(table_set(table=1)).codes
    assert [] == season.does(table_set(JUDGE)).codes


# Rounds


def test_participants_speak_in_order_and_then_the_judge() -> None:
    season = given().does(opened(order=(CLEO, ADA, BEN))).to(SPEAK)

    spoke = []
    while season.state.phase == SPEAK:
        spoke.append(speaker(season.state))
        season.does(*season.neutral())

    assert ([CLEO, ADA, BEN], JUDGING) == (spoke, season.state.phase)


def test_a_table_ends_after_a_round_without_contributions() -> None:
    season = given().judges("clean")

    assert (1, DIGEST) == (len(season.events("concluded")), season.state.phase)


def test_a_round_with_a_contribution_is_followed_by_another() -> None:
    season = given().says(propose(ADA)).judges("clean")

    assert (SPEAK, 1) == (season.state.phase, season.table.round)
    assert [] == season.events("concluded")


def test_a_round_of_contributions_all_redirected_is_not_without_them() -> None:
    season = given().says(propose(ADA)).judges("redirect", 0)

    assert (SPEAK, 1) == (season.state.phase, season.table.round)


def test_a_table_ends_when_all_moves_are_spent() -> None:
    season = given(moves=1).says(propose(ADA), support(BEN, 0), propose(CLEO, RAIDERS))

    assert 1 == len(season.judges("clean").events("concluded"))


def test_a_table_ends_when_it_has_converged() -> None:
    season = given().says(propose(ADA), support(BEN, 0)).judges("converged")

    assert [0] == season.events("concluded", "proposal")


def test_a_table_ends_after_its_last_round() -> None:
    season = given(rounds_max=2).says(propose(ADA)).judges("clean").says(support(BEN, 0))

    assert [0] == season.judges("clean").events("concluded", "proposal")


def test_who_has_no_moves_left_is_not_asked() -> None:
    season = given(moves=1).says(propose(ADA), propose(BEN, RAIDERS)).judges("clean")

    assert (SPEAK, CLEO) == (season.state.phase, speaker(season.state))
    assert JUDGING == season.does(*season.neutral()).state.phase


def test_a_pass_is_free_and_not_final() -> None:
    season = given().says(silent(ADA), propose(BEN)).judges("clean").says(support(ADA, 1))

    assert {ADA: 2, BEN: 2, CLEO: 3} == season.table.moves


def test_who_says_nothing_at_all_has_passed() -> None:
    season = given().to(SPEAK).does()

    assert (SPEAK, BEN) == (season.state.phase, speaker(season.state))
    assert {ADA: 3, BEN: 3, CLEO: 3} == season.table.moves


def test_a_judge_who_gives_no_signal_finds_the_table_clean() -> None:
    season = given().says(propose(ADA)).to(JUDGING).does()

    assert (SPEAK, 1) == (season.state.phase, season.table.round)


# Concluded


def test_the_assistant_digests_and_the_admin_adopts() -> None:
    season = given().says(propose(ADA)).to(DIGEST).does(digested())

    assert ADOPT == season.state.phase
    assert [] == season.does(adopted()).codes
    assert (DEBRIEF, True) == (season.state.phase, season.table.is_adopted)


@pytest.mark.parametrize("is_adopted", [False, True])
def test_scores_do_not_change_by_what_is_adopted(is_adopted: bool) -> None:
    season = given().says(propose(ADA)).to(ADOPT).does(adopted(is_adopted)).closes()

    assert [[2, 2, 3, 0], [0, 0, 0, 0], [0, 0, 0, 0]] == season.events("scored", "final")


def test_where_nobody_leads_there_is_nothing_to_adopt() -> None:
    season = given().to(DIGEST).does(digested())

    assert DEBRIEF == season.state.phase


def test_what_was_rejected_first_is_not_adopted() -> None:
    season = given().has(ASSISTANT, stage=4).worth({MINERS: FALSE}).says(propose(ADA)).to(DIGEST)

    season.does(digested(rejected=True))

    assert ([], DEBRIEF) == (season.codes, season.state.phase)
    assert ["act/malformed"] == season.does(adopted()).codes


@pytest.mark.parametrize(("worth", "is_rejectable"), [(0.1, True), (0.6, False), (0.9, False)])
def test_a_conclusion_is_rejected_first_if_its_claim_was_refuted(
    worth: float, is_rejectable: bool
) -> None:
    season = given().has(ASSISTANT, stage=4).worth({MINERS: worth}).says(propose(ADA)).to(DIGEST)

    expected = [] if is_rejectable else ["act/malformed"]

    assert expected == season.does(digested(rejected=True)).codes


@pytest.mark.parametrize(("worth", "is_rejectable"), [(BAR, True), (0.51, False)])
def test_a_conclusion_is_rejected_first_if_it_is_not_above_the_bar(
    worth: float, is_rejectable: bool
) -> None:
    season = given().has(ASSISTANT, stage=4).worth({MINERS: worth})
    season.says(propose(ADA, MINERS, BAR)).to(DIGEST)

    expected = [] if is_rejectable else ["act/malformed"]

    assert expected == season.does(digested(rejected=True)).codes


def test_no_conclusion_is_no_conclusion_to_reject() -> None:
    season = given().has(ASSISTANT, stage=4).to(DIGEST)

    assert ["act/malformed"] == season.does(digested(rejected=True)).codes


def test_a_digest_and_an_adoption_count_once() -> None:
    season = given().says(propose(ADA)).to(DIGEST).does(digested(), digested())
    codes = season.codes

    assert ["act/malformed", "act/malformed"] == codes + season.does(
        adopted(), adopted(False)
    ).codes


def test_the_neutral_act_of_an_admin_is_not_to_adopt() -> None:
    season = given().says(propose(ADA)).to(ADOPT).does()

    assert (DEBRIEF, None) == (season.state.phase, season.table.is_adopted)


# Settled


def test_each_thing_is_settled_for_all_before_the_next() -> None:
    season = given(elimination_bottoms=1).says(propose(ADA), challenge(BEN, 0)).to(DEBRIEF).does()

    expected = [
        *["scored"] * 3, *["sparks_moved"] * 3, "leaderboard_posted", "bottomed",
        "elimination_faced",
    ]  # fmt: skip

    assert expected == [event["event"] for event in season.followed()]


def test_an_assignment_closes_when_nobody_is_waited_for() -> None:
    season = given().to(DEBRIEF)

    season.does()

    assert (OPEN, 1) == (season.state.phase, season.state.assignment)
    assert [] == season.state.tables


def test_a_season_ends_after_its_last_assignment() -> None:
    season = given(assignments=2).closes()
    is_early = COMPETITION.ended(season.state)

    assert (False, True) == (is_early, COMPETITION.ended(season.closes().state))


# Two tables


def split(*subjects: Any) -> Season:
    """A season whose judge recommended two tables, opened about these."""
    season = given().has(JUDGE, stage=3).judges("split").closes()
    return season.does(opened(ADMIN, *subjects, order=(ADA, BEN, CLEO)))


def test_two_tables_are_held_one_after_the_other_and_debriefed_together() -> None:
    season = split(SUBJECT, ("gini", TRUCE))

    season.says(propose(ADA)).to(DIGEST).does(digested()).to(SET)

    assert ([], 1, ("gini", TRUCE)) == (season.codes, season.table.number, season.table.subject)
    season.says(propose(BEN, ("mine", None, 0, TRUCE), 0.4)).closes()
    assert [0, 0, 0, 1, 1, 1] == season.events("scored", "table")[3:]
    assert [0, 0, 0, 1, 1, 1] == season.events("sparks_moved", "table")[3:]


def test_who_is_last_at_both_tables_is_debriefed_again_for_both() -> None:
    season = split(SUBJECT, ("gini", TRUCE))
    season.says(propose(ADA), propose(BEN, RAIDERS, 0.6)).to(DIGEST).does(digested()).to(SET)
    mine, raid = ("mine", None, 0, TRUCE), ("raid", None, 0, TRUCE)
    season.says(propose(ADA, mine, 0.4), propose(BEN, raid, 0.4)).to(IMPROVE)

    codes = season.does(*(
        (DEBRIEFED, (table, CLEO, ("how?",), ("well",), True)) for table in (0, 1)
    )).codes  # fmt: skip

    assert [(0, CLEO), (1, CLEO)] == season.events("bottomed", "table", "agent")[-2:]
    assert [] == codes


def test_what_is_asked_before_an_opening_is_refused_after_it() -> None:
    season = given(worker_tiers=(0, 0, 0, 9)).has(ADA, stage=3).has(THERAPIST, stage=4)
    season.has(THERAPIST, is_self_determined=True)
    moved, team = (CLASS_MOVED, (ADA, "sonnet", True)), (TEAM_RECOMMENDED, ((ADA, BEN, CLEO),))

    codes = season.does(moved, team, opened(), moved, team, opened()).codes

    assert ["act/malformed"] * 3 == codes
    assert "sonnet" == season.of(ADA).class_


def test_two_tables_count_as_one_assignment() -> None:
    season = split(SUBJECT, ("gini", TRUCE)).closes()

    assert [2, 2, 2, 2, 2] == [season.of(agent).served for agent in (ADMIN, JUDGE, ADA, BEN, CLEO)]


@pytest.mark.parametrize(
    "subjects",
    [
        (SUBJECT, SUBJECT),
        (SUBJECT, ("gini", "baseline")),
        (SUBJECT, ("gini", TRUCE), ("gini", "cap-2")),
    ],
)
def test_two_tables_have_two_treatments(subjects: Any) -> None:
    assert ["act/malformed"] == split(*subjects).codes


def test_one_recommendation_is_good_for_one_opening() -> None:
    season = split(SUBJECT).closes()

    two = opened(ADMIN, SUBJECT, ("gini", TRUCE), day=1)

    assert ["stage/not-yet"] == season.does(two).codes


# Whose acts, and when


def acts_out_of_phase() -> list[Act]:
    return [
        opened(), table_set(), digested(), adopted(), (TEAM_RECOMMENDED, ((ADA, BEN, CLEO),)),
    ]  # fmt: skip


@pytest.mark.parametrize("act", acts_out_of_phase())
def test_an_act_of_another_phase_is_malformed(act: Act) -> None:
    season = given().to(SPEAK)

    assert ["act/malformed"] == season.does(act).codes


def test_what_somebody_says_before_the_table_opens_is_refused_and_no_pass() -> None:
    season = given().to(SET)

    season.does(season.spoke(silent(ADA)))

    assert (["act/malformed"], []) == (season.codes, season.table.said)


def test_a_worker_who_is_gone_does_nothing_more() -> None:
    season = given().has(BEN, status="gone", stage=4)

    assert ["act/malformed"] == season.does(opened(BEN)).codes
    assert ["act/malformed"] == season.does(opened(99)).codes
