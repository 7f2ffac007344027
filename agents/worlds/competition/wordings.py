"""What wordings can change in the prompts of a season: their messages, and no names."""

from __future__ import annotations

from functools import cache
from typing import Final

from goldrush.agents.llm.messages import Messages
from goldrush.agents.llm.wording_files import shipped_in
from goldrush.agents.llm.wordings import Framed, Wordable

WORDING: Final = Messages("goldrush.agents.worlds.competition")  # the default texts
# The fields that hold lists, texts or other messages.
_LONG: Final = (
    "active", "agent", "asks", "bar", "broad", "condition", "conditions", "conducts",
    "contributions", "dimensions", "elimination", "facts", "form", "ids", "instructions", "left",
    "objective", "offer", "order", "part", "persona", "proposals", "question", "questions", "ranks",
    "reasons", "rejects", "relative", "shown", "stances", "subject", "target", "targets", "team",
    "terms", "text", "texts", "traits", "trials", "was_last", "whose", "workers",
)  # fmt: skip

# What is told of an agent, and may be told of another that a question is about.
_TWICE: Final = ("worker", "office", "self_determined", "instructions", "persona", "traits")


@cache
def wordable() -> Wordable:
    """What a wording can change."""
    shipped = shipped_in("goldrush.agents.worlds.competition")
    twice = dict.fromkeys(_TWICE, 2)
    return Wordable(WORDING, long=_LONG, times=twice, shipped=shipped)


UNFRAMED: Final = Framed(wordable().default)  # with the default texts and no options
