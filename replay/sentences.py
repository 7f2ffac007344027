"""Sentences of events: a template, and the values that go into it.

In a template `{plot}` is a field of the event, `{terms.0}` an item of one, and `{}` the next value
of the sentence; behind a colon stands the form in which it is shown, as in `{words:quoted}`. Here a
template becomes a line of text, in the page of a run elements with links.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from string import Formatter
from typing import Any, Final

import msgspec

from goldrush.agents.llm.versions import PromptVersion
from goldrush.kernel.text import escaped
from goldrush.kernel.world import EventType, RecordedEvent, Vocabulary
from goldrush.replay.journal.declared import format_fork
from goldrush.replay.text import EXACT_DIGITS, format_number

# Text, or a hole: a field (or an item of one) or the index of a value, and the form to show it in.
Part = str | tuple[str | int, str]
Forms = Mapping[str, Callable[[Any], str]]  # how a value is shown as text, by form
ENTITIES: Final = ("agent", "plot")  # fields that identify one have it as their form


class Sentence(msgspec.Struct, frozen=True):
    """The sentence of an event.

    Attributes:
        template: the template, of the event's type where it is empty; a text that agents wrote is a
            value instead, as it may have braces.
        values: what the holes without a name stand for, in order.
    """

    template: str = ""
    values: Sequence[object] = ()


def quoted(value: object) -> str:
    """A value as JSON in ASCII: a text that agents wrote cannot pass for the sentence's own."""
    return json.dumps(value)


def agents_text(agents: object, names: Mapping[int, str] = {}) -> str:
    """Agents by number: `agent 3`, `agents 3, 5`, `nobody` for None; where they have names by
    these.
    """
    listed = agents if isinstance(agents, (list, tuple)) else [agents]
    if agents is None or not listed:
        return "nobody"
    if names:
        known = (names.get(agent) if type(agent) is int else None for agent in listed)
        named = zip(known, listed, strict=True)
        return escaped(", ".join(name or f"agent {quoted(agent)}" for name, agent in named))
    return f"agent{'s' if len(listed) > 1 else ''} {', '.join(map(str, listed))}"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else quoted(value)


def _amount(value: Any) -> str:
    listed = value if isinstance(value, list) else [value]
    return ", ".join(format_number(each, EXACT_DIGITS) for each in listed)


FORMS: Final[Forms] = {
    "agent": agents_text,
    "amount": _amount,
    "plain": _plain,
    "plot": _plain,
    "quoted": quoted,
}


def value_of(source: str | int, event: RecordedEvent, values: Sequence[object]) -> object:
    """What stands in a hole of an event's sentence."""
    if isinstance(source, int):
        return values[source]
    field, *items = source.split(".")
    value = event[field]
    for item in items:
        value = value[int(item) if isinstance(value, list) else item]
    return value


class EventSentences:
    """The sentences of a world's events: by the templates of their types.

    Attributes:
        names: the names of a journal's agents by number; empty: they have numbers only.
    """

    def __init__(
        self,
        types: Iterable[EventType],
        vocabulary: Vocabulary,
        forms: Forms | None = None,
        names: Mapping[int, str] | None = None,
        prompt: PromptVersion | None = None,
    ) -> None:
        """Sentences of a journal.

        Args:
            forms: the world's own forms, and others in place of FORMS.
            names, prompt: of agents, and of the world, for forks.
        """
        self._types = {type.name: type for type in types}
        self.names = names or {}
        self._vocabulary, self._prompt = vocabulary, prompt
        unit, run = vocabulary.unit, vocabulary.run
        self._templates = {  # of the events of every run, but forks
            vocabulary.started: f"a {run} of the {{world}} world starts (rules {{rules}})",
            vocabulary.closed: f"{unit} {{{unit}}} closes with digest {{digest}}",
            vocabulary.ended: f"the {run} ends with {unit} {{{unit}}}",
        }
        agents = partial(agents_text, names=self.names)
        self._forms: Forms = {**FORMS, "agent": agents, "agents": agents, **(forms or {})}
        self._parsed: dict[tuple[str, str], tuple[Part, ...]] = {}

    def of(
        self, event: RecordedEvent, sentence: Sentence | None = None
    ) -> tuple[tuple[Part, ...], Sequence[object]]:
        """The parts and the values of an event's sentence, or of `sentence` in its place: its JSON
        where it has none.
        """
        type, words = self._types.get(event.name), self._vocabulary
        sentence = sentence or Sentence(self._templates.get(event.name, ""))
        template, values = sentence.template, sentence.values
        if event.name == words.forked:
            template, values = "{}", (format_fork(words, self._prompt, event, self.names),)
        if type is not None:
            template = type.template(event, template or type.text)
        if not template:
            template, values = "{:quoted}", (event.as_dict(),)
        key = event.name, template
        parts = self._parsed.get(key)
        if parts is None:
            parts = self._parsed[key] = tuple(self._parts(*key))
        return parts, values

    def line(self, event: RecordedEvent) -> str:
        """An event's sentence as text."""
        parts, values = self.of(event)
        return "".join(
            part if isinstance(part, str) else self.text(value_of(part[0], event, values), part[1])
            for part in parts
        )

    def text(self, value: object, form: str) -> str:
        """A value in a form."""
        return self._forms[form](value)

    def _parts(self, event: str, template: str) -> Iterable[Part]:
        type, numbers = self._types.get(event), count()
        for text, field, form, _ in Formatter().parse(template):
            if text:
                yield text
            if field:
                entity = type.fields[field].entity if type and field in type.fields else None
                yield field, form or (entity if entity in ENTITIES else None) or "plain"
            elif field is not None:
                yield next(numbers), form or "plain"
