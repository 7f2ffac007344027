"""All questions of a season, by name, which is the name of the method that answers it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from goldrush.agents.worlds.competition.questions import season, table, therapist
from goldrush.agents.worlds.competition.questions.question import QuestionKind

QUESTIONS: Final[Mapping[str, QuestionKind]] = {
    **table.QUESTIONS,
    **season.QUESTIONS,
    **therapist.QUESTIONS,
}
