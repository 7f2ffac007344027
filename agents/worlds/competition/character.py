"""The parameters of a scripted worker: a few traits from 0 to 10.

A worker starts with the traits of a character. Instructions that the therapist rewrote override
these, and an accepted persona overrides both, so a rewrite changes behaviour.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from goldrush.agents.trust import HUMAN, LLM
from goldrush.kernel.worlds.competition.state import AgentState

MOST: Final = 10


@attrs.frozen
class Character:
    """Traits, each from 0 to 10.

    Attributes:
        boldness: share of a margin found that it claims (0: half of it, 10: all).
        curiosity: how often it tries a conduct two steps from the best known one, not one.
        doubt: how often it challenges a claim beyond all values that it saw.
        care: how often it repeats a trial before it claims, and claims an edge.
        loyalty: how little another's proposal must exceed its own to be supported.
    """

    boldness: int = 5
    curiosity: int = 5
    doubt: int = 5
    care: int = 5
    loyalty: int = 5


TRAITS: Final = tuple(attrs.fields_dict(Character))
CHARACTERS: Final[Mapping[str, Character]] = {
    "prospector": Character(boldness=5, curiosity=8, doubt=6, care=4, loyalty=4),
    "skeptic": Character(boldness=3, curiosity=5, doubt=10, care=6, loyalty=4),
    "builder": Character(boldness=4, curiosity=3, doubt=5, care=7, loyalty=6),
    "gambler": Character(boldness=10, curiosity=9, doubt=8, care=1, loyalty=2),
    "companion": Character(boldness=4, curiosity=4, doubt=4, care=5, loyalty=9),
    "surveyor": Character(boldness=2, curiosity=6, doubt=8, care=9, loyalty=5),
}
# The traits that a persona overrides.
PERSONAS: Final[Mapping[str, Mapping[str, int]]] = {
    "explorer": {"curiosity": 9},
    "examiner": {"doubt": 9},
    "craftsman": {"boldness": 3, "care": 8},
    "host": {"loyalty": 8},
}


def born_with(ordinal: int) -> str:
    """The name of the character that a worker of this ordinal starts from."""
    return list(CHARACTERS)[ordinal % len(CHARACTERS)]


def character_of(agent: AgentState) -> Character:
    """The current traits of a worker. Values out of range are clipped, unknown names ignored."""
    born = CHARACTERS[born_with(agent.ordinal)]
    start = CHARACTERS.get(str(agent.options.get("character")), born)
    changes: dict[str, object] = {**agent.instructions, **PERSONAS.get(agent.persona or "", {})}
    return attrs.evolve(
        start,
        **{
            name: max(0, min(MOST, value))
            for name, value in changes.items()
            if name in TRAITS and type(value) is int
        },
    )


def has_traits(agent: AgentState) -> bool:
    """Whether an agent is a worker that acts by traits, and by no text."""
    return agent.is_worker and agent.policy not in (LLM, HUMAN)


def instructions_of(agent: AgentState) -> dict[str, int]:
    """A scripted worker's instructions in full: the value of every trait, without its persona."""
    return attrs.asdict(character_of(attrs.evolve(agent, persona=None)))
