"""The sentences of events in the page of a run.

A line is a list: the number of its template, the values that go into it, and at the end, where
there is more behind it, an object: `fault` (an answer failed), `why` (the explanation of the
result), `answer` (of a language model as it came, with `reasoning` and `facts`), and `behind`, what
the world adds. A template is a list too: the name of its event, the values by which that sentence
was chosen, by field, and the parts: texts, and for each value its form and field. An `agent` is a
number or a list of numbers, a `place` the number of a location, what is `said` a text that an agent
wrote, and `text` all else. No text in a line has an invisible character.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.kernel.text import escaped
from goldrush.kernel.world import RecordedEvent, World
from goldrush.replay.journal.why import Explanation
from goldrush.replay.sentences import EventSentences, value_of
from goldrush.replay.tools import View

Line = list[Any]
Behind = Callable[[RecordedEvent], Mapping[str, object]]
Groups = list[tuple[str, list[Line], str]]  # by title, each with its heading


@attrs.define(slots=False)
class EventLines:
    """The lines of a run's units.

    Attributes:
        explanations: those that the page has, by unit.
        size: the characters of all lines.
    """

    _world: World[Any]
    _sentences: EventSentences
    _view: View
    _explanations: Mapping[int, Sequence[Explanation]]
    _templates: dict[object, int] = attrs.field(init=False, factory=dict)
    size: int = attrs.field(init=False, default=0)

    def __attrs_post_init__(self) -> None:
        self._types = {type.name: type for type in self._world.events}
        groups = self._view.groups.items()
        self._titles = {name: title for title, names in groups for name in names}

    @property
    def templates(self) -> Sequence[object]:
        """The templates, each once."""
        return list(self._templates)

    def of_unit(self, number: int, events: Sequence[RecordedEvent], behind: Behind) -> Groups:
        """The lines of a unit, by step where it has several, and by title. `behind`: as
        `UnitFields.behind`.
        """
        whys = self._explanations.get(number, ())
        groups: Groups = []
        titled: dict[str, list[Line]] = {}
        for event in events:
            if event.name == self._view.step_ends:
                groups += self._in_order(titled, str(event["step"]))
                titled = {}
            elif event.name in self._types and event.name not in self._view.left_out:
                title = self._titles.get(event.name, "")
                line = self._line(event, whys, behind(event))
                self.size += sum(len(str(value)) for value in line)
                titled.setdefault(title, []).append(line)
        return groups + self._in_order(titled, "")

    def _line(
        self, event: RecordedEvent, whys: Sequence[Explanation], behind: Mapping[str, Any]
    ) -> Line:
        """The line of an event, with what is behind it."""
        own = dict(behind)
        parts, values = self._sentences.of(event, own.pop("sentence", None))
        template: list[object] = []
        shown: list[object] = []
        for part in parts:
            if isinstance(part, str):
                template.append(escaped(part))
            else:
                source, form = part
                form, value = self._shown(value_of(source, event, values), form)
                template.append((form, source if isinstance(source, str) else ""))
                shown.append(value)
        cases = tuple(
            (field, event[field])
            for field, texts in self._types[event.name].cases.items()
            if isinstance(event[field], (str, bool)) and event[field] in texts
        )
        key = (event.name, cases, tuple(template))
        index = self._templates.setdefault(key, len(self._templates))
        more = self._more(event, whys, own.pop("answered", None) or event)
        if own.pop("fault", False):
            more["fault"] = True
        if own:
            more["behind"] = own
        return [index, *shown, *([more] if more else [])]

    def _shown(self, value: object, form: str) -> tuple[str, object]:
        """The form and the value of a hole in a page."""
        if form in ("agent", "agents") and _are_agents(value):
            return "agent", value
        if form == "plot" and type(value) is int:
            return "place", value
        if form == "quoted" and isinstance(value, str):
            return "said", escaped(value, keep="\n")
        return "text", escaped(self._sentences.text(value, form))

    def _more(
        self, event: RecordedEvent, whys: Sequence[Explanation], answered: Any
    ) -> dict[str, object]:
        more: dict[str, object] = {}
        if event.fields.get("error"):
            more["fault"] = True
        accounts = [str(each).split("\n") for each in whys if self._is_of(each, event)]
        if accounts:
            above = self._sentences.line(event)
            why = [text for account in accounts for text in account if text != above]
            if why:
                more["why"] = escaped("\n".join(why), keep="\n")
        source = answered.fields.get("source")
        if isinstance(source, Mapping):
            text = source.get("raw", answered.fields.get("text"))
            if text is not None or source.get("error"):
                more["answer"] = _answer(str(text or ""), source)
            if source.get("error"):
                more["fault"] = True
        return more

    def _in_order(self, titled: Mapping[str, list[Line]], step: str) -> Groups:
        titles = [title for title in ("", *self._view.groups) if title in titled]
        return [(title, titled[title], ": ".join(filter(None, (step, title)))) for title in titles]

    def _is_of(self, explanation: Explanation, event: RecordedEvent) -> bool:
        if self._view.explains.get(explanation.kind) != event.name:
            return False
        if explanation.location is not None:
            places = self._types[event.name].fields_naming("plot")
            return explanation.location in [event[field] for field in places]
        return event.fields.get("agent") in explanation.agents


_LONG: Final = ("raw", "reasoning", "prompt")  # of a source, what is shown apart or not at all


def _answer(text: str, source: Mapping[str, Any]) -> Mapping[str, object]:
    """An answer of a model as it came."""
    facts = ", ".join(f"{name} {value}" for name, value in source.items() if name not in _LONG)
    answer = {"text": escaped(text, keep="\n"), "facts": escaped(facts)}
    if source.get("reasoning"):
        answer["reasoning"] = escaped(str(source["reasoning"]), keep="\n")
    return answer


def _are_agents(value: object) -> bool:
    return (
        value is None
        or type(value) is int
        or (isinstance(value, list) and all(type(each) is int for each in value))
    )
