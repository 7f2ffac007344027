"""The request options of the models of a cast."""

from __future__ import annotations

from collections.abc import Sequence

from goldrush.agents.llm.asker import settled_models
from goldrush.agents.llm.models import LLM, Models
from goldrush.agents.worlds.competition.cast import Entry
from goldrush.agents.worlds.competition.questions.question import BOOLEAN, an_object
from goldrush.agents.worlds.competition.seats import models_of, options_of


def resolve_models(cast: Sequence[Entry], models: Models) -> list[Entry]:
    """As cast.with_models_resolved. Raises BadInput also for malformed options of a model."""
    seats = [models_of(entry["options"]) for entry in cast if entry["policy"] == LLM]
    chosen = list(dict.fromkeys(model for seat in seats for model in seat))
    settled = settled_models(chosen, models, an_object(adopted=BOOLEAN))
    return [
        {**entry, "options": options_of(*(settled[m] for m in models_of(entry["options"])))}
        if entry["policy"] == LLM
        else entry
        for entry in cast
    ]
