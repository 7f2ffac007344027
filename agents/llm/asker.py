"""Asks models unit after unit of a run, within its limits; what is asked is the caller's.

A run of paid answers stops by itself, before it asks, where the questions of a unit could pass a
ceiling or where nobody has answered for some units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from agents.llm.budget import Amount, Budget
from agents.llm.client import Client
from agents.llm.models import Model, Models
from agents.llm.probe import settled
from agents.llm.question import Answer, Message, Question
from kernel.errors import RunStopped

T = TypeVar("T")

Asking = tuple[Model, Sequence[Message], Mapping[str, Any]]  # who, what, the schema of the answer


class Asker:
    """The models of a run, and what they may still take. To be closed."""

    def __init__(
        self, chosen: Sequence[Model], models: Models, taken: Sequence[Amount] = ()
    ) -> None:
        """`chosen`: those that will be asked; `taken`: what earlier answers took.

        Raises BadInput where a key is missing, where a model is known by another name than the
        server's and its table is not given, and where a ceiling of cost comes without a price.
        """
        self._models = models
        self._endpoints = {model.name: models.endpoint_of(model) for model in chosen}
        for endpoint in self._endpoints.values():
            endpoint.key()
        for model in dict.fromkeys(chosen):
            for line in models.ignored(model):
                models.tell(line)
        self._budget = Budget(models, list(self._endpoints), taken)
        self._client = Client(models.concurrency)
        self._silent = 0  # units in a row in which nobody answered
        self._trouble = ""

    def close(self) -> None:
        """Give up what is still out."""
        self._client.close()

    def settled(
        self, model: Model, messages: Sequence[Message], schema: Mapping[str, Any]
    ) -> Model:
        """The model, after a short question to it; see `probe.settled`."""
        endpoint = self._endpoints[model.name]
        return settled(self._client, model, endpoint, messages, schema)

    def answers(
        self,
        unit: str,
        asked: Sequence[Asking],
        form: Callable[[int, Answer], T],
        *,
        is_rest: bool = False,
        counted: str = "",
    ) -> Iterator[list[T]]:
        """What `form` makes of (place, answer), as answers come: lists of those that came together.

        `unit`: what they are for, in words; `is_rest`: others have been asked for it before;
        `counted`: the word for what patience counts, if that is not the unit. Raises
        RunStopped before anything is asked.
        """
        if self._silent >= self._models.patience:
            units = f"{self._silent} {counted or unit.split()[0]}s"
            says = f"no model has answered for {units}, at last: {self._trouble}"
            raise RunStopped(unit, says, "--patience")
        questions = [
            Question(model, self._endpoints[model.name], messages, schema)
            for model, messages, schema in asked
        ]
        objection = self._budget.objection([question.most() for question in questions])
        if objection is not None:
            raise RunStopped(unit, objection.says, objection.option)
        troubles: Counter[str] = Counter()

        def formed(place: int, answer: Answer) -> T:
            if answer.text is None:
                troubles[answer.trouble or "it has no text"] += 1
            return form(place, answer)

        yield from self._client.together(questions, self._budget, formed)
        for says, count in troubles.items():
            who = "one agent" if count == 1 else f"{count} agents"
            self._models.tell(f"{unit}: no answer for {who}: {says}")
        self._trouble = next(iter(troubles), "")
        silent = troubles.total() == len(questions) and not is_rest
        self._silent = self._silent + 1 if silent else 0
