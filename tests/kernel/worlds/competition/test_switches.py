"""Rules switched off: what each forbids, and what it leaves (kernel/worlds/competition/README.md
8).
"""

from typing import Any

import pytest

from goldrush.kernel.worlds.competition.events import (
    FateChosen,
    InstructionsRewritten,
    SkillDistilled,
    TraitRecorded,
)
from goldrush.kernel.worlds.competition.terms import Phase
from tests.kernel.worlds.competition.seasons import (
    ADA,
    ADMIN,
    ASSISTANT,
    BEN,
    CLEO,
    JUDGE,
    MINERS,
    RAIDERS,
    SUBJECT,
    THERAPIST,
    USER,
    amend,
    challenge,
    digested,
    given,
    interviewed,
    offered,
    propose,
    reviewed,
    support,
    table_set,
)

SKILL = (*SUBJECT, MINERS, 0.75)


@pytest.mark.parametrize(
    ("switch", "act", "who"),
    [
        ("judged", lambda season: season.judged("clean"), JUDGE),
        ("table", lambda season: season.judged("redirect", (0,)), JUDGE),
        ("elimination", lambda season: FateChosen(ADA, "deletion"), ADA),
        ("tiers", lambda season: interviewed(ADA), THERAPIST),
        ("tiers", lambda season: interviewed(THERAPIST), ADMIN),
        ("tiers", lambda season: offered(ADA), ADA),
        ("tiers", lambda season: reviewed(ADA), USER),
        ("memory", lambda season: SkillDistilled(ADA, SKILL, True), THERAPIST),
        ("challenges", lambda season: season.spoke(challenge(ADA, 9)), ADA),
        ("table", lambda season: season.spoke(amend(ADA, 9)), ADA),
        ("table", lambda season: season.spoke(support(ADA, 9)), ADA),
        ("table", lambda season: season.spoke(challenge(ADA, 9)), ADA),
        ("table", lambda season: season.stood(ADA, None), ADA),
    ],
)
def test_what_a_switch_forbids_is_refused(switch: str, act: Any, who: int) -> None:
    off, on = given(**{switch: False}).to(Phase.SPEAK), given().to(Phase.SPEAK)

    assert ["rule/off"] == off.does(act(off)).codes
    assert [who] == [event["who"] for event in off.followed("refused")]
    assert ["rule/off"] != on.does(act(on)).codes


# Elimination


def test_without_elimination_streaks_are_counted_and_nobody_faces_it() -> None:
    season = given(elimination=False, elimination_bottoms=1, sparks_start=4, entry_fee=(4, 5))

    season.scores(3, 0, 2).scores(3, 0, 2)

    assert [(BEN, 1), (BEN, 2)] == season.events("bottomed", "agent", "streak")
    assert (0, 2) == (season.of(BEN).sparks, season.of(BEN).bottoms)
    assert [] == season.events("elimination_faced") + season.events("relegated")
    assert [ADA, BEN, CLEO] == season.state.active()


# The judge


@pytest.mark.parametrize("switch", ["judged", "table"])
def test_without_the_judge_rounds_are_clean_and_its_service_counts(switch: str) -> None:
    season = given(**{switch: False, "judge_stages": (1, 2, 3)}).says(propose(ADA))

    phases = season.phases()

    assert Phase.JUDGE not in phases
    assert [(JUDGE, 2)] == season.events("stage_reached", "agent", "stage")
    assert (1, [0]) == (season.of(JUDGE).served, season.events("concluded", "proposal"))


# Memory


def test_without_memory_what_was_remembered_goes_and_all_else_stays() -> None:
    season = given().says(propose(ADA)).closes()
    assert ["claim", "conclusion", "scores"] == season.remembers(ADA)
    season.state.config = given(memory=False).config

    season.says(propose(ADA)).to(Phase.DEBRIEF).has(THERAPIST, stage=3)
    season.does(TraitRecorded(ADA, "quick", ()), InstructionsRewritten(ADA, {}, {"a": 1}, True))

    agent = season.until(2).of(ADA)
    assert ({}, ("quick",), {"a": 1}) == (agent.memory, agent.traits, agent.instructions)
    assert 0 == season.scored(ADA, "raw")[0]  # what is known is known to the rules


# The table: independent search


def test_without_a_table_there_is_one_round_in_which_each_proposes_or_passes() -> None:
    season = given(table=False, rounds_max=5).has(ASSISTANT, is_self_determined=True)
    season.to(Phase.SET).does(table_set(rounds=4))

    season.says(propose(ADA), propose(CLEO, RAIDERS))

    assert Phase.PROVE == season.phase
    assert [(1, [ADA, BEN, CLEO])] == season.events("roundtable_opened", "rounds", "participants")
    assert Phase.DIGEST == season.does(*season.neutral()).phase  # nobody is asked to stand by one
    assert Phase.ADOPT == season.does(digested()).phase


def test_without_a_table_what_others_say_is_not_known_and_every_conduct_counts() -> None:
    season = given(table=False).says(propose(ADA), propose(BEN), propose(CLEO, RAIDERS)).closes()

    raws = [event["raw"] for event in season.events("scored")]
    assert all(novelty >= 2 and accuracy == 2 for novelty, accuracy, *_ in raws)
