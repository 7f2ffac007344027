"""The scripted worker has a character; its instructions are parameters that a rewrite changes."""

from typing import Any

import attrs
import pytest

from goldrush.agents.worlds.competition.character import (
    CHARACTERS,
    PERSONAS,
    TRAITS,
    born_with,
    character_of,
    instructions_of,
)
from goldrush.kernel.worlds.competition.state import AgentState
from goldrush.kernel.worlds.competition.terms import Role

WORKER = 5  # the first of them


def an_agent(**known: Any) -> AgentState:
    return AgentState(WORKER, "ada", Role.WORKER, "scripted", **{"options": {}, **known})


def test_workers_start_from_different_characters() -> None:
    born = [born_with(ordinal) for ordinal in range(5, 5 + len(CHARACTERS))]

    assert set(CHARACTERS) == set(born)
    assert len(set(CHARACTERS.values())) == len(CHARACTERS)


def test_instructions_go_before_character_and_persona_before_instructions() -> None:
    agent = an_agent(options={"character": "skeptic"})
    rewritten = attrs.evolve(agent, instructions={"doubt": 2, "boldness": 99, "tone": "kind"})
    in_role = attrs.evolve(rewritten, persona="examiner")

    assert CHARACTERS["skeptic"] == character_of(agent)
    assert attrs.evolve(CHARACTERS["skeptic"], doubt=2, boldness=10) == character_of(rewritten)
    assert PERSONAS["examiner"]["doubt"] == character_of(in_role).doubt
    assert 2 == instructions_of(in_role)["doubt"]


@pytest.mark.parametrize("instructions", [{"doubt": "much"}, {"doubt": True}, {"": 1}, {}])
def test_instructions_that_say_nothing_change_nothing(instructions: dict[str, Any]) -> None:
    assert CHARACTERS[born_with(WORKER)] == character_of(an_agent(instructions=instructions))


def test_every_persona_changes_traits_that_there_are() -> None:
    assert all(set(changes) <= set(TRAITS) for changes in PERSONAS.values())
