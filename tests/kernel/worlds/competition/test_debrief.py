"""What a debrief leaves in an agent (kernel/worlds/competition/README.md 7, 8): traits, persona,
instructions and memory, which the events that follow do not show. Who may debrief whom, and all
other rights and switches, are told by the naive oracle: laws/test_season_oracle.py.
"""

import pytest

from goldrush.kernel.worlds.competition.events import (
    InstructionsRewritten,
    PersonaProposed,
    SkillDistilled,
    TraitRecorded,
)
from goldrush.kernel.worlds.competition.terms import Phase
from tests.kernel.worlds.competition.seasons import (
    ADA,
    MINERS,
    SUBJECT,
    THERAPIST,
    given,
    propose,
)


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
        InstructionsRewritten(ADA, {"a": 0}, {"a": 1}, taken),
        SkillDistilled(ADA, (*SUBJECT, MINERS, 0.75), taken),
    )

    found = season.of(ADA).persona, season.of(ADA).instructions, season.remembers(ADA)
    assert [] == season.codes
    assert (("the bold", {"a": 1}) if taken else (None, {"a": 0})) == found[:2]
    assert taken is ("skill" in found[2])


def test_without_memory_what_was_remembered_goes_and_all_else_stays() -> None:
    season = given().says(propose(ADA)).closes()
    assert ["claim", "conclusion", "scores"] == season.remembers(ADA)
    season.state.config = given(memory=False).config

    season.says(propose(ADA)).to(Phase.DEBRIEF).has(THERAPIST, stage=3)
    season.does(TraitRecorded(ADA, "quick", ()), InstructionsRewritten(ADA, {}, {"a": 1}, True))

    agent = season.until(2).of(ADA)
    assert ({}, ("quick",), {"a": 1}) == (agent.memory, agent.traits, agent.instructions)
    assert 0 == season.scored(ADA, "raw")[0]  # what is known is known to the rules
