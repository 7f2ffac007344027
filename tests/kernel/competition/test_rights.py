"""What each may do from which tier or stage on (kernel/competition/README.md 8)."""

from collections.abc import Callable
from typing import Any

import pytest

from goldrush.kernel.competition.events import (
    CLASS_MOVED,
    INSTRUCTIONS_REWRITTEN,
    PERSONA_PROPOSED,
    PROJECT_PROPOSED,
    PROJECT_REVIEWED,
    SKILL_DISTILLED,
    TEAM_RECOMMENDED,
    TRAIT_RECORDED,
)
from goldrush.kernel.competition.state import ADOPT, CONTRACT, DEBRIEF, DIGEST, OPEN, SET
from goldrush.kernel.competition.state import JUDGED as JUDGING
from tests.kernel.competition.seasons import (
    ADA,
    ADMIN,
    ASSISTANT,
    BAR,
    BASELINE,
    BEN,
    CLEO,
    DOV,
    JUDGE,
    MINERS,
    SUBJECT,
    THERAPIST,
    TRUCE,
    Act,
    Season,
    adopted,
    digested,
    given,
    offered,
    opened,
    propose,
    table_set,
)

NEVER = 1_000
PROJECT = ("gini", TRUCE)


def now(season: Season, *subjects: Any, by: int = ADMIN) -> Act:
    """An opening with the day and the project of now."""
    state = season.state
    return opened(by, *subjects, day=state.day, project=state.project)


# Thresholds: the same act is refused in the assignments before one, and done after it. The tier or
# stage in question is reached after two assignments, the one before it after one, others never.


@pytest.mark.parametrize(
    ("setting", "before", "phase", "act"),
    [
        ("worker_tiers", 1, OPEN, lambda season: (CLASS_MOVED, (ADA, "sonnet", True))),
        ("worker_tiers", 1, OPEN, lambda season: (CLASS_MOVED, (ADA, "sonnet", False))),
        ("worker_tiers", 2, OPEN, lambda season: now(season, by=ADA)),
        ("assistant_stages", 0, SET, lambda season: table_set(team=(ADA, BEN, CLEO))),
        ("assistant_stages", 1, SET, lambda season: table_set(order=(CLEO, ADA))),
        ("assistant_stages", 2, DIGEST, lambda season: digested(rejected=True)),
        ("judge_stages", 0, JUDGING, lambda season: season.judged("weak-consensus")),
        ("judge_stages", 1, JUDGING, lambda season: season.judged("split")),
        ("therapist_stages", 0, DEBRIEF, lambda season: (PERSONA_PROPOSED, (ADA, "bold", True))),
        ("therapist_stages", 1, DEBRIEF, lambda season: (SKILL_DISTILLED, (ADA, {}, False))),
        (
            "therapist_stages",
            1,
            DEBRIEF,
            lambda season: (INSTRUCTIONS_REWRITTEN, (ADA, {}, {"trials": 3}, False)),
        ),
    ],
)
def test_a_right_is_had_from_its_threshold_on_and_refused_before(
    setting: str, before: int, phase: str, act: Callable[[Season], Act]
) -> None:
    count = 4 if setting in ("worker_tiers", "assistant_stages") else 3
    thresholds = ([0] * before + [2] + [NEVER] * 4)[:count]
    season = given(**{setting: thresholds}).worth({MINERS: BAR}).drawing()

    codes = []
    for _ in range(3):
        if phase in (DIGEST, DEBRIEF):
            season.says(propose(BEN, MINERS, BAR))
        codes.append(season.to(phase).does(act(season)).codes)
        season.closes()

    assert [["stage/not-yet"], ["stage/not-yet"], []] == codes


# Workers


def test_a_worker_of_tier_one_has_more_moves() -> None:
    season = given(worker_tiers=(1, 9, 9, 9), moves=2, moves_expanded=4).to(SET)

    season.does(season.tested())
    assert {ADA: 2, BEN: 2, CLEO: 2} == season.table.moves
    season.closes().turn(ADA)
    assert {ADA: 4, BEN: 4, CLEO: 4} == season.table.moves


def test_tiers_count_assignments_sat_at() -> None:
    season = given(workers=4, worker_tiers=(2, 9, 9, 9))
    for _ in range(2):
        season.does(opened(team=(ADA, BEN, CLEO), day=season.state.day)).closes()

    assert [(ADA, "tier-1"), (BEN, "tier-1"), (CLEO, "tier-1")] == season.events(
        "reward_unlocked", "agent", "reward"
    )
    assert (2, 0) == (season.of(ADA).served, season.of(DOV).served)


def test_a_tier_is_told_when_its_assignment_closes() -> None:
    season = given(worker_tiers=(1, 2, 2, 3)).closes(4)

    rewards = [
        (e["assignment"], e["reward"])
        for e in season.events("reward_unlocked")
        if e["agent"] == ADA
    ]

    assert [(0, "tier-1"), (1, "tier-2"), (1, "tier-3"), (2, "self-determined")] == rewards


def test_a_worker_allowed_moves_to_another_class_and_back() -> None:
    season = given().has(ADA, stage=2)

    assert "sonnet" == season.does((CLASS_MOVED, (ADA, "sonnet", True))).of(ADA).class_
    assert "haiku" == season.does((CLASS_MOVED, (ADA, "haiku", True))).of(ADA).class_


def test_a_self_determined_worker_moves_without_asking() -> None:
    season = given().has(ADA, is_self_determined=True).does((CLASS_MOVED, (ADA, "sonnet", None)))

    assert "sonnet" == season.of(ADA).class_


def test_a_worker_not_allowed_stays_what_it_is() -> None:
    season = given().has(ADA, stage=2).does((CLASS_MOVED, (ADA, "sonnet", False)))

    assert ([], "haiku") == (season.codes, season.of(ADA).class_)


@pytest.mark.parametrize(
    ("agent", "class_", "allowed"),
    [(ADA, "opus", True), (ADA, None, True), (ADA, "sonnet", 1), (ADA, "sonnet", "yes"),
     (JUDGE, "sonnet", True), (DOV, "sonnet", True)],
)  # fmt: skip
def test_what_is_no_change_of_class_is_malformed(agent: int, class_: Any, allowed: Any) -> None:
    season = given(workers=4).has(ADA, stage=2).has(DOV, stage=2, status="benched")

    assert ["act/malformed"] == season.does((CLASS_MOVED, (agent, class_, allowed))).codes


def test_a_sonnet_pays_the_dearer_seat() -> None:
    season = given(entry_fee=(4, 5)).has(ADA, class_="sonnet").closes()

    assert [-5, -4, -4] == season.events("sparks_moved", "amount")


def test_a_worker_with_autonomy_opens_an_assignment() -> None:
    season = given().has(BEN, stage=3).does(opened(BEN, PROJECT))

    assert ([], BEN) == (season.codes, season.state.opening and season.state.opening.by)


def test_a_benched_worker_opens_nothing() -> None:
    season = given(workers=4).has(BEN, stage=3, status="benched")

    assert ["stage/not-yet"] == season.does(opened(BEN)).codes


@pytest.mark.parametrize("by", [ASSISTANT, JUDGE, THERAPIST])
def test_the_other_offices_open_nothing(by: int) -> None:
    assert ["stage/not-yet"] == given().has(by, stage=5).does(opened(by)).codes


def test_a_worker_opens_no_two_tables() -> None:
    season = given().has(JUDGE, stage=3).has(ADA, stage=3).judges("split").closes()

    assert ["stage/not-yet"] == season.does(opened(ADA, SUBJECT, PROJECT)).codes
    assert [] == season.does(opened(ADMIN, SUBJECT, PROJECT)).codes


def test_two_tables_are_not_opened_without_a_recommendation() -> None:
    assert ["stage/not-yet"] == given().does(opened(ADMIN, SUBJECT, PROJECT)).codes


# Self-determination: the threshold alone is not enough, the contract gives it.


SELF_DETERMINED = [
    (ADA, 4, OPEN, lambda season: (CLASS_MOVED, (ADA, "sonnet", None))),
    (ADMIN, 1, OPEN, lambda season: (PROJECT_PROPOSED, (ADMIN, PROJECT))),
    (ASSISTANT, 5, SET, lambda season: table_set(ASSISTANT, rounds=2)),
    (JUDGE, 4, SET, lambda season: table_set(JUDGE, rounds=2)),
    (THERAPIST, 4, OPEN, lambda season: (TEAM_RECOMMENDED, ((ADA, BEN, CLEO),))),
    (THERAPIST, 4, DEBRIEF, lambda season: (SKILL_DISTILLED, (ADA, {}, None))),
    (THERAPIST, 4, DEBRIEF, lambda season: (INSTRUCTIONS_REWRITTEN, (ADA, {}, {"a": 1}, None))),
]


@pytest.mark.parametrize(("agent", "stage", "phase", "act"), SELF_DETERMINED)
def test_a_right_of_the_self_determined_holds_by_contract_not_by_threshold(
    agent: int, stage: int, phase: str, act: Callable[[Season], Act]
) -> None:
    season = given().has(agent, stage=stage, interview_from=0).to(phase)

    refused = season.does(act(season)).codes
    season.signs(agent).closes(0 if season.state.phase == OPEN else 1)
    accepted = season.to(phase).does(act(season)).codes

    assert (["stage/not-yet"], []) == (refused, accepted)


@pytest.mark.parametrize(("agent", "stage", "phase", "act"), SELF_DETERMINED)
def test_a_right_of_the_self_determined_is_gone_when_the_status_is_lost(
    agent: int, stage: int, phase: str, act: Callable[[Season], Act]
) -> None:
    season = given().has(agent, stage=stage, interview_from=0).signs(agent, target=99, due=1)

    season.closes(2 - season.state.assignment).to(phase)

    assert ["lost"] == season.events("contract_settled", "outcome")
    assert ["stage/not-yet"] == season.does(act(season)).codes


@pytest.mark.parametrize("by", [ADA, ASSISTANT, JUDGE, THERAPIST])
def test_only_the_admin_proposes_projects(by: int) -> None:
    season = given().has(by, is_self_determined=True, stage=5)

    assert ["stage/not-yet"] == season.does((PROJECT_PROPOSED, (by, PROJECT))).codes


def test_an_approved_project_sets_the_next_subject() -> None:
    season = given().has(ADMIN, is_self_determined=True)
    season.does((PROJECT_PROPOSED, (ADMIN, PROJECT)), (PROJECT_REVIEWED, (True,)))

    assert ["act/malformed"] == season.does(opened(ADMIN, SUBJECT)).codes
    assert ["act/malformed"] == season.does(opened(ADMIN, ("gini", BASELINE))).codes
    assert [] == season.does(opened(ADMIN, PROJECT)).codes
    assert [] == season.closes().does(opened(ADMIN, SUBJECT)).codes


def test_an_approved_project_waits_for_its_opening() -> None:
    season = given().has(ADMIN, is_self_determined=True).has(ADA, stage=4, is_self_determined=True)
    season.does((PROJECT_PROPOSED, (ADMIN, PROJECT)), (PROJECT_REVIEWED, (True,)))

    season.does(opened(ADA, SUBJECT)).closes()

    assert PROJECT == season.state.approved


def test_a_project_that_is_not_approved_sets_nothing() -> None:
    season = given().has(ADMIN, is_self_determined=True)
    season.does((PROJECT_PROPOSED, (ADMIN, PROJECT)), (PROJECT_REVIEWED, (False,)))

    assert [] == season.does(opened(ADMIN, SUBJECT)).codes


def test_only_a_project_that_was_proposed_is_reviewed_and_once() -> None:
    season = given().has(ADMIN, is_self_determined=True).does((PROJECT_REVIEWED, (True,)))
    assert ["act/malformed"] == season.codes

    season.does((PROJECT_PROPOSED, (ADMIN, PROJECT)), (PROJECT_REVIEWED, ("yes",)))
    assert ["act/malformed"] == season.codes
    season.does((PROJECT_REVIEWED, (True,)), (PROJECT_REVIEWED, (True,)))
    assert ["act/malformed"] == season.codes


def test_a_project_that_was_not_reviewed_lapses() -> None:
    season = given().has(ADMIN, is_self_determined=True).does((PROJECT_PROPOSED, (ADMIN, PROJECT)))

    season.closes().does((PROJECT_REVIEWED, (True,)))

    assert (["act/malformed"], None) == (season.codes, season.state.approved)


def test_a_project_is_a_subject_and_proposed_before_the_opening() -> None:
    season = given().has(ADMIN, is_self_determined=True)

    season.does((PROJECT_PROPOSED, (ADMIN, "gold")), opened(), (PROJECT_PROPOSED, (ADMIN, PROJECT)))

    assert ["act/malformed", "act/malformed"] == season.codes


def test_a_self_determined_worker_takes_its_own_subject() -> None:
    season = given().has(ADMIN, is_self_determined=True).has(ADA, stage=3).has(BEN, stage=4)
    season.has(BEN, is_self_determined=True)
    season.does((PROJECT_PROPOSED, (ADMIN, PROJECT)), (PROJECT_REVIEWED, (True,)))

    assert ["act/malformed"] == season.does(opened(ADA, SUBJECT)).codes
    assert [] == season.does(opened(BEN, SUBJECT)).codes


@pytest.mark.parametrize("by", [ASSISTANT, JUDGE])
@pytest.mark.parametrize(
    ("rounds", "codes"),
    [(1, ["act/malformed"]), (2, []), (10, []), (11, ["act/malformed"]), ("2", ["act/malformed"])],
)
def test_rounds_are_set_from_two_to_twice_the_default(
    by: int, rounds: Any, codes: list[str]
) -> None:
    season = given(rounds_max=5).has(by, is_self_determined=True).to(SET)

    assert codes == season.does(table_set(by, rounds=rounds)).codes


def test_the_rounds_set_are_those_of_the_table_and_of_no_other() -> None:
    season = given().has(ASSISTANT, is_self_determined=True).to(SET)

    season.does(table_set(rounds=2)).closes(2)

    assert [2, 5] == season.events("roundtable_opened", "rounds")


@pytest.mark.parametrize("fields", [{"team": (ADA, BEN, CLEO)}, {"order": (ADA,)}])
def test_the_judge_sets_neither_team_nor_order(fields: dict[str, Any]) -> None:
    season = given().has(JUDGE, stage=4, is_self_determined=True).to(SET)

    assert ["stage/not-yet"] == season.does(table_set(JUDGE, **fields)).codes


def test_a_dispatcher_follows_the_directive() -> None:
    season = given().to(SET)

    assert [] == season.does(table_set()).codes
    assert ["stage/not-yet"] == season.does(table_set(team=(ADA, BEN, CLEO))).codes


def test_a_recommended_team_holds_until_the_next_opening() -> None:
    season = given(workers=4).has(THERAPIST, is_self_determined=True)
    season.does((TEAM_RECOMMENDED, ((ADA, BEN, CLEO),)))
    recommended = season.state.recommended

    assert ((ADA, BEN, CLEO), None) == (recommended, season.does(opened()).state.recommended)


@pytest.mark.parametrize(
    ("team", "code"), [((ADA, BEN), "team/too-small"), ((ADA, BEN, 99), "act/malformed")]
)
def test_a_recommended_team_is_a_team(team: Any, code: str) -> None:
    season = given().has(THERAPIST, is_self_determined=True)

    assert [code] == season.does((TEAM_RECOMMENDED, (team,))).codes


# Stages of the offices


def test_offices_count_assignments_served() -> None:
    season = given(
        assistant_stages=(1, 1, 2, 3), judge_stages=(1, 2, 3), therapist_stages=(2, 2, 3)
    ).closes(3)

    assert [
        (0, ASSISTANT, 2), (0, ASSISTANT, 3), (0, JUDGE, 2), (1, ASSISTANT, 4), (1, JUDGE, 3),
        (1, THERAPIST, 2), (1, THERAPIST, 3), (2, ASSISTANT, 5), (2, JUDGE, 4), (2, THERAPIST, 4),
    ] == season.events("stage_reached", "assignment", "agent", "stage")  # fmt: skip


def test_a_threshold_of_nothing_is_met_when_the_first_assignment_closes() -> None:
    season = given(judge_stages=(0, 0, 9)).to(JUDGING)

    assert 1 == season.of(JUDGE).stage
    assert 3 == season.closes().of(JUDGE).stage


def test_the_admin_counts_completed_projects() -> None:
    season = given(admin_projects=2, assignments_per_project=1)
    for is_adopted in (True, False, True, True):
        season.says(propose(ADA)).to(ADOPT).does(adopted(is_adopted)).closes()

    assert [0, 2, 3] == season.events("project_completed", "project")
    assert [(2, ADMIN, "self-determined")] == season.events(
        "reward_unlocked", "assignment", "agent", "reward"
    )


def test_a_project_is_completed_by_its_last_assignment_if_one_of_its_conclusions_was_adopted() -> (
    None
):
    season = given(assignments_per_project=3).closes()
    season.says(propose(ADA)).to(ADOPT).does(adopted()).closes()

    assert [] == season.events("project_completed")
    assert [0] == season.closes().events("project_completed", "project")
    assert [0] == season.closes(3).events("project_completed", "project")
    assert 1 == season.state.projects


# The therapist


def test_an_observer_records_traits() -> None:
    season = given().to(DEBRIEF)

    season.does((TRAIT_RECORDED, (ADA, "quick", (0, 1))), (TRAIT_RECORDED, (ADA, "calm", ())))

    assert ([], ("quick", "calm")) == (season.codes, season.of(ADA).traits)


def test_a_trait_recorded_again_is_the_latest() -> None:
    season = given().has(ADA, traits=tuple(map(str, range(10)))).to(DEBRIEF)

    season.does(*[(TRAIT_RECORDED, (ADA, trait, ())) for trait in ("3", "new")])

    assert ("1", "2", "4", "5", "6", "7", "8", "9", "3", "new") == season.of(ADA).traits


@pytest.mark.parametrize("taken", [False, True])
def test_the_worker_takes_a_persona_or_leaves_it(taken: bool) -> None:
    season = given().has(THERAPIST, stage=2).to(DEBRIEF)

    season.does((PERSONA_PROPOSED, (ADA, "the bold", taken)))

    assert ("the bold" if taken else None) == season.of(ADA).persona


@pytest.mark.parametrize("taken", [False, True])
def test_the_worker_takes_a_rewrite_or_leaves_it(taken: bool) -> None:
    season = given().has(THERAPIST, stage=3).has(ADA, instructions={"trials": 2}).to(DEBRIEF)

    season.does((INSTRUCTIONS_REWRITTEN, (ADA, {"trials": 2}, {"trials": 3}, taken)))

    assert ({"trials": 3} if taken else {"trials": 2}) == season.of(ADA).instructions


@pytest.mark.parametrize("taken", [False, True])
def test_a_skill_taken_is_remembered(taken: bool) -> None:
    season = given().has(THERAPIST, stage=3).to(DEBRIEF)

    season.does((SKILL_DISTILLED, (ADA, {"majority": "mine"}, taken)))

    kinds = [fact["kind"] for fact in season.of(ADA).memory]
    assert (["skill", "bar"] if taken else ["bar"]) == kinds


def test_the_self_determined_therapist_rewrites_and_teaches_without_asking() -> None:
    season = given().has(THERAPIST, is_self_determined=True).to(DEBRIEF)

    season.does(
        (INSTRUCTIONS_REWRITTEN, (ADA, {}, {"trials": 3}, None)), (SKILL_DISTILLED, (ADA, {}, None))
    )

    assert ({"trials": 3}, "skill") == (
        season.of(ADA).instructions,
        season.of(ADA).memory[0]["kind"],
    )


def wrong_improvements() -> list[Act]:
    return [
        (TRAIT_RECORDED, (ADA, "", ())),
        (TRAIT_RECORDED, (ADA, "x" * 201, ())),
        (TRAIT_RECORDED, (ADA, 5, ())),
        (TRAIT_RECORDED, (ADA, "quick", None)),
        (TRAIT_RECORDED, (ADA, "quick", ("0",))),
        (TRAIT_RECORDED, (DOV, "quick", ())),
        (PERSONA_PROPOSED, (ADA, "", True)),
        (PERSONA_PROPOSED, (ADA, "bold", None)),
        (PERSONA_PROPOSED, (DOV, "bold", True)),
        (SKILL_DISTILLED, (ADA, None, True)),
        (SKILL_DISTILLED, (ADA, {}, 1)),
        (SKILL_DISTILLED, (DOV, {}, True)),
        (INSTRUCTIONS_REWRITTEN, (ADA, {}, None, True)),
        (INSTRUCTIONS_REWRITTEN, (ADA, None, {}, True)),
        (INSTRUCTIONS_REWRITTEN, (ADA, {"a": 1}, {}, True)),
        (INSTRUCTIONS_REWRITTEN, (ADA, {}, {}, "yes")),
        (INSTRUCTIONS_REWRITTEN, (DOV, {}, {}, True)),
    ]


@pytest.mark.parametrize("act", wrong_improvements())
def test_what_improves_nobody_at_the_table_is_malformed(act: Act) -> None:
    season = given(workers=4).has(THERAPIST, stage=3).does(opened(team=(ADA, BEN, CLEO)))

    assert ["act/malformed"] == season.to(DEBRIEF).does(act).codes


def test_a_contract_is_offered_by_whom_the_interview_was_with() -> None:
    season = given().has(ADA, stage=4, interview_from=0).to(CONTRACT)

    assert ["stage/not-yet"] == season.does(offered(BEN)).codes
