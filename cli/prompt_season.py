"""How `goldrush prompt` shows what one of a cast is sent: the questions of an assignment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from replay.season.prompt import Prompted, prompted

__all__ = ["UNIT", "as_json", "prompted"]

UNIT = "assignment"


def as_json(found: Sequence[Prompted], round_: int, agent: int) -> dict[str, Any]:
    """The questions for JSON."""
    questions = [question.as_dict() for question in found]
    return {"assignment": round_, "agent": agent, "questions": questions}
