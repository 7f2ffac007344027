"""Asks models unit after unit of a run, within its limits; what is asked is the caller's.

A run of paid answers stops by itself, before it asks, where the questions of a unit could pass a
ceiling, where a model has brought nothing for some units, and where too many of a model's answers
have failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from goldrush.agents.llm.budget import Budget
from goldrush.agents.llm.client import Client
from goldrush.agents.llm.failures import CUT, FIRST, Earlier, Tally, failure_kind, format_kinds
from goldrush.agents.llm.models import Model, Models
from goldrush.agents.llm.probe import settled
from goldrush.agents.llm.question import Answer, Message, Question
from goldrush.kernel.errors import RunStopped

T = TypeVar("T")

Asking = tuple[Model, Sequence[Message], Mapping[str, Any]]  # who, what, the schema of the answer


@attrs.define
class _Row:
    """Units in a row in which no answer of a model could be used: how many, how its answers failed,
    and what went wrong at last where one was missing.
    """

    units: int = 0
    kinds: Counter[str] = attrs.field(factory=Counter)
    trouble: str = ""


class Asker:
    """The models of a run, and what they may still take. To be closed."""

    def __init__(
        self, chosen: Sequence[Model], models: Models, earlier: Sequence[Earlier] = ()
    ) -> None:
        """`chosen`: those that will be asked; `earlier`: the answers that the run has already.

        Raises BadInput where a key is missing, where a model is known by another name than the
        server's and its table is not given, and where a ceiling of cost comes without a price.
        """
        self._models = models
        self._endpoints = {model.name: models.endpoint_of(model) for model in chosen}
        for endpoint in self._endpoints.values():
            endpoint.key()
        for model in dict.fromkeys(chosen):
            for line in models.ignored(model):
                models.warn(line)
        self._budget = Budget(models, list(self._endpoints), [one.amount for one in earlier])
        self._client = Client(models.concurrency)
        self._tally = Tally((one.amount.name, one.error) for one in earlier)
        self._rows: dict[str, _Row] = {}
        self._warned: set[str] = set()  # models whose answers were cut off

    def close(self) -> None:
        """Give up what is still out."""
        self._client.close()

    def settled(self, model: Model, schema: Mapping[str, Any]) -> Model:
        """The model, after a short question to it; see `probe.settled`. Warns of secrets
        that are sent unencrypted.
        """
        endpoint = self._endpoints[model.name]
        for secret in endpoint.secrets_in_clear():
            self._models.warn(
                f"llm:{model.name}: {secret} goes unencrypted to {endpoint.base_url}; use https"
            )
        return settled(self._client, model, endpoint, schema)

    def answers(
        self,
        unit: str,
        asked: Sequence[Asking],
        form: Callable[[int, Answer], tuple[T, str | None]],
        *,
        is_rest: bool = False,
        counted: str = "",
    ) -> Iterator[list[T]]:
        """What `form` makes of (index, answer), as answers come: lists of those that came together.

        `form` gives it with the error that is recorded of the answer. `unit`: what they are for, in
        words; `is_rest`: others have been asked for it before, so that patience does not count it;
        `counted`: the word for a question, if patience counts each of them and not the unit. Raises
        RunStopped before anything is asked.
        """
        for model in dict.fromkeys(model for model, _, _ in asked):
            self._check(model, unit, counted or unit.split()[0])
        questions = [
            Question(model, self._endpoints[model.name], messages, schema)
            for model, messages, schema in asked
        ]
        objection = self._budget.objection([question.upper_bound() for question in questions])
        if objection is not None:
            raise RunStopped(unit, objection.text, objection.option)
        errors: dict[int, str | None] = {}
        troubles: dict[int, str] = {}

        def formed(index: int, answer: Answer) -> T:
            if answer.text is None:
                troubles[index] = answer.trouble or "it has no text"
            if answer.finish == "length":
                self._warn(asked[index][0], answer)
            made, errors[index] = form(index, answer)
            return made

        yield from self._client.together(questions, self._budget, formed)
        for says, count in Counter(troubles.values()).items():
            who = "one agent" if count == 1 else f"{count} agents"
            self._models.warn(f"{unit}: no answer for {who}: {says}")
        for index, error in sorted(errors.items()):
            self._tally.add(asked[index][0].name, error)
        if not is_rest:
            self._count(asked, errors, troubles, is_each=bool(counted))

    def _count(
        self,
        asked: Sequence[Asking],
        errors: Mapping[int, str | None],
        troubles: Mapping[int, str],
        *,
        is_each: bool,
    ) -> None:
        """Count a unit, or each question, for the patience that models are borne with."""
        of: dict[str, list[int]] = {}
        for index, (model, _, _) in enumerate(asked):
            of.setdefault(model.name, []).append(index)
        for name, indexes in of.items():
            if not all(failure_kind(errors[index]) for index in indexes):
                self._rows.pop(name, None)
                continue
            row = self._rows.setdefault(name, _Row())
            row.units += len(indexes) if is_each else 1
            row.kinds.update(str(errors[index]) for index in indexes)
            row.trouble = next((troubles[i] for i in indexes if i in troubles), row.trouble)

    def _check(self, model: Model, unit: str, counted: str) -> None:
        """Raises RunStopped where a model is not to be asked any more."""
        row = self._rows.get(model.name)
        if row is not None and row.units >= self._models.patience:
            units = f"{row.units} {counted}{'' if row.units == 1 else 's'}"
            says = f"llm:{model.name} gave no usable answer for {units}: {format_kinds(row.kinds)}"
            if row.trouble:
                says += f", at last: {row.trouble}"
            raise RunStopped(unit, says + _advice(model, row.kinds), "--patience")
        found, most = self._tally.of(model.name), self._models.fail_over
        if most is not None and found.answers >= FIRST and found.share > most:
            says = f"{found}, over {100 * most:g}%{_advice(model, found.kinds)}"
            raise RunStopped(unit, says, "--fail-over")

    def _warn(self, model: Model, answer: Answer) -> None:
        """Tell, once, that a model's answers are cut off, and what to raise."""
        if model.name in self._warned:
            return
        self._warned.add(model.name)
        if answer.tokens_out is not None and answer.tokens_out < model.max_tokens:
            says = (
                f"after {answer.tokens_out:,} tokens by its server, whose own limit is below "
                f"max_tokens ({model.max_tokens:,}): raise that one"
            )
        else:
            says = f"at {model.max_tokens:,} tokens{_advice(model, {CUT: 1})}"
        self._models.warn(f"llm:{model.name}: an answer was cut off {says}")


def _advice(model: Model, kinds: Mapping[str, int]) -> str:
    """What to set where answers were cut off. A run goes on as it began: a new one has to be."""
    if CUT not in kinds:
        return ""
    return (
        f"; raise max_tokens in the table [{model.name}] of the file of models (--models), for a "
        "new run or a fork"
    )
