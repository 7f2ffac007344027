"""Asks the model of a recorded decision again, or about it; nothing of it enters the journal.

The prompt is the recorded one, and behind it, where something is asked about the decision, stand
what was answered and what is asked about it. Limits, tries and seeds are those of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any, Final, TypeVar

import attrs
import msgspec
from msgspec.structs import replace

from goldrush.agents.llm.json_object import object_in
from goldrush.agents.llm.model import Model, check, options_by_prefix, prefixed_options
from goldrush.agents.llm.models import Models
from goldrush.agents.llm.options import FIELD, FIRST, FRAMING, NONE, SAMPLING, TEXT
from goldrush.agents.llm.question import Answer, Question, drawn_seed
from goldrush.agents.llm.usage import RecordedAnswer
from goldrush.agents.llm.versions import PromptVersion, decided
from goldrush.agents.llm.wording_rosters import WORDED, recorded_once
from goldrush.agents.roster import Entry
from goldrush.agents.session import Play
from goldrush.kernel import shape
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.shape import Schema

E = TypeVar("E", bound=Entry)
K = TypeVar("K")

Changes = Mapping[str, Any]  # fields of Model that a model is asked with in place of its own

_OWN: Final = [name for name in (*FIRST, *SAMPLING) if name != "prompt"]  # of a model, not a prompt


class QuestionAbout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked about a decision.

    Attributes:
        id: its name in tables.
        fields: of an answer that is a JSON object, each with the values that it can have; without
            any, text. Empty: the whole answer is text.
        codes: regular expressions, each by the code of the answers in which it is found; a capital
            is as its small letter.
    """

    id: str
    text: str
    fields: dict[str, list[str]] = {}
    codes: dict[str, str] = {}

    def schema(self) -> Schema:
        """The JSON schema of an answer with fields."""
        kinds = {name: shape.one_of(of) if of else shape.TEXT for name, of in self.fields.items()}
        return shape.record(**kinds).schema

    def read(self, text: str | None) -> dict[str, str] | None:
        """The fields in an answer; None without an object that has all of them."""
        found = object_in(text or "", self.fields) or {}
        for name, of in self.fields.items():
            if type(found.get(name)) is not str or (of and found[name] not in of):
                return None
        return {name: found[name] for name in self.fields} or None


def changes_of(
    models: Models, version: PromptVersion, name: str | None = None, wording: str | None = None,
    temperature: float | None = None,
) -> Changes:  # fmt: skip
    """The changes that these make: another model, which keeps how its agent is framed; another
    wording; another temperature. Raises BadInput.
    """
    base = Model("any", "any") if name is None else models.named(name)
    new = decided(attrs.evolve(base, wording=wording), version)
    options = [*(_OWN if name is not None else ()), *(WORDED if wording is not None else ())]
    changes = {option: getattr(new, option) for option in options}
    return changes if temperature is None else {**changes, "temperature": float(temperature)}


def entries_changed(
    entries: Sequence[E], agent: int, changes: Changes, prefix: str = ""
) -> Sequence[E]:
    """A roster whose agent, a model, is asked with these changes. `prefix`: of the options of its
    model, if it has several (`model.options_by_prefix`). Raises BadInput.
    """
    for name, value in changes.items():
        if name not in (*Model.always, *Model.later):
            raise BadInput(f"a model has no {format_value(name)}", "leave it out")
        check(Model, name, value)
    framing = {name: value for name, value in changes.items() if name in FRAMING}

    def with_changes(entry: E) -> E:
        models = {
            of: attrs.evolve(Model.asked(own), **(changes if of == prefix else framing))
            for of, own in options_by_prefix(entry.options).items()
        }
        return replace(entry, options=prefixed_options(models))

    each = [with_changes(entry) if entry.agent == agent else entry for entry in entries]
    return recorded_once(each, entries)


def resolved(chosen: Sequence[Model], models: Models) -> Mapping[Model, Model]:
    """Models that answer a short question, with what their servers decide. Raises BadInput."""
    from goldrush.agents.llm.asker import Asker  # imports the client: that takes long

    with closing(Asker(chosen, models)) as asker:
        return asker.resolve(chosen, shape.record(answer=shape.TEXT).schema)


def put(
    question: Question, play: Play, number: int, sample: int,
    about: Sequence[QuestionAbout] = (), said: Sequence[str] = (),
) -> Question:  # fmt: skip
    """A recorded question as it is put afterwards.

    Args:
        play: its step.
        number: of questions to the agent in its unit before, for the seed.
        about: what is asked about the decision, in order; empty: the decision is asked for again.
        said: the answers before: what was decided, and to the first of `about`.
    """
    model, whole = attrs.evolve(question.asked_model, sample=sample), question.whole
    messages, make_schema = [*question.messages], question.make_schema
    for answer, item in zip(said, about, strict=False):
        messages.append({"role": "assistant", "content": answer})
        messages.append({"role": "user", "content": item.text})
        make_schema = item.schema if item.fields else dict
    if about and make_schema is dict:
        model = attrs.evolve(model, answer=TEXT)
    if about and whole is not None and whole.reasoning == FIELD:
        whole = replace(whole, reasoning=NONE)
    seed = drawn_seed(model, play.seed, play.number, question.agent, number)
    return replace(
        question, model=model, messages=messages, make_schema=make_schema, whole=whole, seed=seed
    )


def ask(
    units: Iterable[tuple[str, Sequence[tuple[K, Question]]]], chosen: Sequence[Model],
    models: Models, earlier: Sequence[RecordedAnswer], version: PromptVersion,
    keep: Callable[[Sequence[tuple[K, Question]], int, Answer], tuple[None, str | None]],
) -> None:  # fmt: skip
    """Put questions, each with its key, to `chosen` models; those of one label at once.

    Args:
        units: by label. Those of one can follow from the answers of those before.
        earlier: answers that were paid for, for ceilings.
        keep: is given the questions of a label, the index of one and its answer as it arrives, and
            gives what `Asker.answers` takes: None, and the failure, or None.

    Raises RunStopped where a run would stop; BadInput as `Asker`.
    """
    from goldrush.agents.llm.asker import Asker

    with closing(Asker(chosen, models, earlier, version)) as asker:
        for label, asked in units:
            sent = [replace(each, server=asker.endpoint(each.asked_model)) for _, each in asked]
            for _ in asker.answers(label, sent, partial(keep, asked)):
                continue  # each is kept as it arrives
