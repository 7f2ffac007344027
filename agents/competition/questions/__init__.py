"""Every question of a season, by the name of the method under which scripted agents answer it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from goldrush.agents.competition.questions import season, table, therapist
from goldrush.agents.competition.questions.question import Question

QUESTIONS: Final[Mapping[str, Question]] = {
    **table.QUESTIONS,
    **season.QUESTIONS,
    **therapist.QUESTIONS,
}
