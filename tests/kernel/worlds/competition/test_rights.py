"""What each may do from which tier or stage on (kernel/worlds/competition/README.md 8)."""

from collections.abc import Callable
from typing import Any

import pytest

from goldrush.kernel.worlds.competition.events import (
    ClassMoved,
    InstructionsRewritten,
    PersonaProposed,
    ProjectProposed,
    ProjectReviewed,
    SkillDistilled,
    TeamRecommended,
    TraitRecorded,
)
from goldrush.kernel.worlds.competition.terms import Phase
from tests.kernel.worlds.competition.seasons import (
    ADA,
    ADMIN,
    ASSISTANT,
    BASELINE,
    BEN,
    CLEO,
    FALSE,
    GINI,
    JUDGE,
    MINERS,
    SUBJECT,
    THERAPIST,
    TRIO,
    TRUCE,
    Act,
    Season,
    adopted,
    digested,
    given,
    opened,
    propose,
    table_set,
)

NEVER = 1_000
SKILL = (*SUBJECT, MINERS, 0.75)


NOTHING: Any = {}
REWRITTEN: Any = {"a": 1}


def rewrite(agent: int, taken: Any, before: Any = NOTHING, after: Any = REWRITTEN) -> Act:
    return InstructionsRewritten(agent, before, after, taken)


# Thresholds: the same act is refused in the assignments before one, and done after it. The tier or
# stage in question is reached after two assignments, the one before it at once, others never.


@pytest.mark.parametrize(
    ("setting", "before", "phase", "act"),
    [
        ("worker_tiers", 1, Phase.OPEN, lambda season: ClassMoved(ADA, "sonnet", True)),
        ("worker_tiers", 1, Phase.OPEN, lambda season: ClassMoved(ADA, "sonnet", False)),
        ("worker_tiers", 2, Phase.OPEN, lambda season: season.opened(ADA)),
        ("assistant_stages", 0, Phase.SET, lambda season: table_set(team=TRIO)),
        ("assistant_stages", 1, Phase.SET, lambda season: table_set(order=(CLEO, ADA))),
        ("assistant_stages", 2, Phase.DIGEST, lambda season: digested(rejected=True)),
        ("judge_stages", 0, Phase.JUDGE, lambda season: season.judged("weak-consensus")),
        ("judge_stages", 1, Phase.JUDGE, lambda season: season.judged("split")),
        ("therapist_stages", 0, Phase.DEBRIEF, lambda season: PersonaProposed(ADA, "bold", True)),
        ("therapist_stages", 1, Phase.DEBRIEF, lambda season: SkillDistilled(ADA, SKILL, False)),
        ("therapist_stages", 1, Phase.DEBRIEF, lambda season: rewrite(ADA, False)),
    ],
)
def test_a_right_is_had_from_its_threshold_on(
    setting: str, before: int, phase: str, act: Callable[[Season], Act]
) -> None:
    count = 4 if setting in ("worker_tiers", "assistant_stages") else 3
    thresholds = ([1] * before + [2] + [NEVER] * 4)[:count]
    season = given(**{setting: thresholds}).worth({(MINERS, TRUCE): FALSE}).drawing()

    codes = []
    for _ in range(3):
        if phase in (Phase.DIGEST, Phase.DEBRIEF):
            season.says(propose(BEN, edge=TRUCE))  # a conclusion that may be rejected
        codes.append(season.to(phase).does(act(season)).codes)
        season.closes()

    assert [["stage/not-yet"], ["stage/not-yet"], []] == codes


@pytest.mark.parametrize(
    ("has", "class_", "allowed", "codes", "becomes"),
    [
        ({"stage": 2}, "sonnet", True, [], "sonnet"),
        ({"stage": 2, "class_": "sonnet"}, "haiku", True, [], "haiku"),
        ({"stage": 2}, "sonnet", False, [], "haiku"),
        ({"stage": 2}, "sonnet", None, ["stage/not-yet"], "haiku"),
        ({"is_self_determined": True}, "sonnet", None, [], "sonnet"),
        ({"is_self_determined": True}, "sonnet", True, ["stage/not-yet"], "haiku"),
        ({"stage": 2}, "opus", True, ["act/malformed"], "haiku"),
        ({"stage": 2, "status": "benched"}, "sonnet", True, ["act/malformed"], "haiku"),
    ],
)  # fmt: skip
def test_a_worker_moves_to_another_class_if_allowed_or_self_determined(
    has: dict[str, Any], class_: Any, allowed: Any, codes: list[str], becomes: str
) -> None:
    season = given(workers=4).has(ADA, **has).does(ClassMoved(ADA, class_, allowed))

    assert (codes, becomes) == (season.codes, season.of(ADA).class_)


@pytest.mark.parametrize(
    ("by", "has", "codes"),
    [
        (BEN, {"stage": 3}, []), (BEN, {"stage": 3, "status": "benched"}, ["stage/not-yet"]),
        (ASSISTANT, {"stage": 5}, ["stage/not-yet"]),
    ],
)  # fmt: skip
def test_the_admin_or_a_worker_with_autonomy_opens(by: int, has: Any, codes: list[str]) -> None:
    season = given(workers=4).has(by, **has).does(opened(by, GINI))

    assert codes == season.codes
    assert codes or BEN == season.state.opening.by  # type: ignore[union-attr]


# Self-determination: the threshold alone is not enough, the contract gives it.


SELF_DETERMINED: list[Any] = [
    (ADA, 4, Phase.OPEN, lambda season: ClassMoved(ADA, "sonnet", None)),
    (ADMIN, 1, Phase.OPEN, lambda season: ProjectProposed(ADMIN, GINI)),
    (ASSISTANT, 5, Phase.SET, lambda season: table_set(ASSISTANT, rounds=2)),
    (JUDGE, 4, Phase.SET, lambda season: table_set(JUDGE, rounds=2)),
    (THERAPIST, 4, Phase.OPEN, lambda season: TeamRecommended(TRIO)),
    (THERAPIST, 4, Phase.DEBRIEF, lambda season: SkillDistilled(ADA, SKILL, None)),
    (THERAPIST, 4, Phase.DEBRIEF, lambda season: rewrite(ADA, None)),
]


@pytest.mark.parametrize(("agent", "stage", "phase", "act"), SELF_DETERMINED)
def test_a_right_holds_by_contract_not_by_threshold(
    agent: int, stage: int, phase: str, act: Callable[[Season], Act]
) -> None:
    season = given().has(agent, stage=stage, interview_from=0).to(phase)

    refused = season.does(act(season)).codes
    season.signs(agent).until(1)
    accepted = season.to(phase).does(act(season)).codes

    assert (["stage/not-yet"], []) == (refused, accepted)


def test_an_approved_project_sets_the_next_subject() -> None:
    season = given().has(ADMIN, is_self_determined=True)
    season.does(ProjectProposed(ADMIN, GINI), ProjectReviewed(True))

    for other in (SUBJECT, ("gini", BASELINE), ("efficiency", TRUCE)):
        assert ["act/malformed"] == season.does(opened(ADMIN, other)).codes
    assert [] == season.does(opened(ADMIN, GINI)).codes
    assert [] == season.closes().does(opened(ADMIN, SUBJECT)).codes


# Stages of the offices


def adopting(season: Season, is_adopted: bool) -> Season:
    return season.says(propose(ADA)).to(Phase.ADOPT).does(adopted(is_adopted)).closes()


def test_the_admin_counts_completed_projects() -> None:
    season = given(admin_projects=2, assignments_per_project=1)
    for is_adopted in (True, False, True, True):
        adopting(season, is_adopted)

    assert [0, 2, 3] == season.events("project_completed", "project")
    assert [(2, ADMIN, "self-determined")] == season.events(
        "reward_unlocked", "assignment", "agent", "reward"
    )


# The therapist


def test_a_trait_recorded_again_is_the_latest_of_ten() -> None:
    season = given().has(ADA, traits=tuple(map(str, range(10)))).to(Phase.DEBRIEF)

    season.does(TraitRecorded(ADA, "3", (0, 1)), TraitRecorded(ADA, "new", ()))

    assert [] == season.codes
    assert ("1", "2", "4", "5", "6", "7", "8", "9", "3", "new") == season.of(ADA).traits


@pytest.mark.parametrize("taken", [False, True])
def test_the_worker_takes_what_is_recommended_or_leaves_it(taken: bool) -> None:
    season = given().has(THERAPIST, stage=3).has(ADA, instructions={"a": 0}).to(Phase.DEBRIEF)

    season.does(
        PersonaProposed(ADA, "the bold", taken),
        rewrite(ADA, taken, {"a": 0}),
        SkillDistilled(ADA, SKILL, taken),
    )

    found = season.of(ADA).persona, season.of(ADA).instructions, season.remembers(ADA)
    assert [] == season.codes
    assert (("the bold", {"a": 1}) if taken else (None, {"a": 0})) == found[:2]
    assert taken is ("skill" in found[2])
