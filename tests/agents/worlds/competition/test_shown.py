"""What agents are shown of the table and of each other."""

import re

import pytest

from goldrush.agents.llm.wording_files import wording_named
from goldrush.agents.worlds.competition.arenas import bench_of
from goldrush.agents.worlds.competition.character import TRAITS
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.prompt import messages, room, rules
from goldrush.agents.worlds.competition.wordings import WORDING, wordable
from goldrush.kernel.worlds.competition.terms import Phase
from tests.kernel.worlds.competition.seasons import (
    ADA,
    ADMIN,
    BEN,
    CLEO,
    THERAPIST,
    Season,
    amend,
    bits,
    challenge,
    given,
    propose,
    support,
)
from tests.playing import nk

_FACT = re.compile(r"\$\w+|\d+")  # a field, or a number
SETTINGS = {"seed": 3, "assignments": 6}


def seen(season: Season, agent: int) -> SeasonObservation:
    return SeasonObservation(season.state, agent, bench_of(season.state.arena))


def test_after_the_choice_everybody_is_told_the_final_stances() -> None:
    lines = [propose(ADA, bits(1)), propose(BEN, bits(2)), challenge(CLEO, 0)]
    season = given(workers=3, arena=nk()).says(*lines)
    season.says(amend(ADA, 1, bits(3)), support(BEN, 3))
    season.stands({ADA: 3, BEN: None}).to(Phase.DEBRIEF)
    arguments = {"questions": ["?"], "table": 0}
    prompt = messages(seen(season, CLEO), "answer", arguments)[1]["content"]

    assert 'Final stances: 5 "ada": #3, 6 "ben": none.' in prompt
    assert " leads." not in prompt


@pytest.mark.parametrize("who", [ADMIN, THERAPIST, CLEO])
def test_the_admin_and_the_therapist_see_everybody_whole_and_are_told(who: int) -> None:
    season = given(workers=3).has(ADA, persona="bold", traits=("calm",)).to(Phase.SET)
    observed = seen(season, who)
    prompt = messages(observed, "interview", {"agent": ADA})[1]["content"]
    ada = observed.people[ADA]

    assert (who != CLEO) == ((ada.persona, ada.traits) == ("bold", ("calm",)))
    assert (who != CLEO) == ('"bold"' in prompt and '"calm"' in prompt)
    assert (who != CLEO) == all(f" {trait}: " in rules(observed) for trait in TRAITS)


@pytest.mark.parametrize("name", wordable().shipped)
def test_every_wording_has_the_fields_and_numbers_of_the_default(name: str) -> None:
    texts = wording_named(name, wordable()).variants[0].texts

    for id, text in texts.items():
        assert {*_FACT.findall(text)} == {*_FACT.findall(WORDING.texts[id])}, id


def test_who_has_earned_more_is_shown_more() -> None:
    shares = [
        room(seen(given().has(ADA, stage=stage, class_=class_).to(Phase.SET), ADA))
        for stage, class_ in ((0, "haiku"), (1, "haiku"), (0, "sonnet"), (1, "sonnet"))
    ]

    assert [1, 2, 2, 3] == shares
