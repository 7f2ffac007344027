"""Language models in a season: asks the questions of a step in parallel, and makes `answered` rows.

Every response of a server becomes an answer. If it cannot be read, its `error` says why, and the
neutral act follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from goldrush.agents.llm.asker import Asker
from goldrush.agents.llm.failures import Earlier
from goldrush.agents.llm.models import LLM, Model, Models, check_version
from goldrush.agents.llm.question import Answer
from goldrush.agents.worlds.competition.answers import row_of
from goldrush.agents.worlds.competition.cast import Entry
from goldrush.agents.worlds.competition.prompt import VERSION
from goldrush.agents.worlds.competition.questions.question import BOOLEAN, an_object
from goldrush.agents.worlds.competition.seats import model_at, models_of, options_of
from goldrush.agents.worlds.competition.step import Question
from goldrush.kernel.world import Row


class SeasonModels:
    """The models of a season and their limits. Call `close` at the end."""

    def __init__(
        self, chosen: Sequence[Model], models: Models, earlier: Sequence[Earlier] = ()
    ) -> None:
        """Open connections.

        Args:
            chosen: the models in the cast.
            models: how they are reached, and the limits.
            earlier: recorded answers.

        Raises:
            BadInput: for a model recorded with another version of the prompt, and as `Asker`.

        """
        for model in chosen:
            check_version(model, VERSION)
        self._asker = Asker(chosen, models, earlier)

    def close(self) -> None:
        """Cancel the questions that are not answered yet."""
        self._asker.close()

    def rows(self, unit: str, questions: Mapping[int, Question]) -> Iterator[tuple[int, Row]]:
        """Ask questions concurrently, and yield (key of the question, row) as answers arrive.

        Raises RunStopped as `Asker`, before anything is asked.
        """
        keys, asked = list(questions), list(questions.values())
        models = [model_at(question.agent) for question in asked]

        def row(index: int, answer: Answer) -> tuple[tuple[int, Row], str | None]:
            made = row_of(asked[index], models[index], answer)
            return (keys[index], made), made[3]["error"]

        asking = [(m, q.messages, q.schema) for m, q in zip(models, asked, strict=True)]
        for rows in self._asker.answers(unit, asking, row, counted="question"):
            yield from rows


def resolve_models(cast: Sequence[Entry], models: Models) -> list[Entry]:
    """As cast.with_models_resolved. Raises BadInput also for malformed options of a model."""
    seats = [models_of(entry["options"]) for entry in cast if entry["policy"] == LLM]
    chosen = list(dict.fromkeys(model for seat in seats for model in seat))
    form = an_object(adopted=BOOLEAN)
    asker = Asker(chosen, models)
    try:
        settled = {model: asker.settled(model, form) for model in chosen}
    finally:
        asker.close()
    return [
        {**entry, "options": options_of(*(settled[m] for m in models_of(entry["options"])))}
        if entry["policy"] == LLM
        else entry
        for entry in cast
    ]
