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

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from goldrush.kernel.text import escaped
from goldrush.kernel.world import RecordedEvent, World
from goldrush.replay.journal.why import Explanation
from goldrush.replay.sentences import EventSentences, value_of
from goldrush.replay.tools import View

WHY_MAX: Final = 1 << 16  # characters of explanations
FOLDED_MAX: Final = 1 << 18  # characters of the sentences of one folded title

Line = list[Any]
Behind = Callable[[RecordedEvent], Mapping[str, object]]
Groups = list[tuple[str, list[Line], str]]  # by title, each with its heading


class EventLines:
    """The lines of a run's units.

    Attributes:
        templates: the templates, each once.
        size: the characters of all lines.
        last_explained: the last unit of those from the first on whose explanations are here.
        left_out: the folded titles whose lines a page has no room for.
    """

    def __init__(
        self,
        world: World[Any],
        sentences: EventSentences,
        view: View,
        explanations: tuple[Iterator[Explanation], Sequence[Explanation]] | None,
    ) -> None:
        """`explanations`: of all units but the last one, and of that; None: there are none."""
        vocabulary = world.vocabulary
        self._sentences, self._view = sentences, view
        self._places = {type.name: type.fields_naming("plot") for type in world.events}
        self._cases = {type.name: type.cases for type in world.events}
        self._titles = {name: title for title, names in view.groups.items() for name in names}
        every = (vocabulary.started, vocabulary.closed, vocabulary.ended, vocabulary.forked)
        self._unseen = {*every, *view.left_out}
        self._explanations, self._at_end = explanations or (iter(()), ())
        self._next = next(self._explanations, None)
        self._known: dict[Any, int] = {}
        self._sizes = dict.fromkeys(view.folded, 0)
        self.size = self._whys = 0
        self.last_explained: int | None = None

    @property
    def templates(self) -> Sequence[object]:
        return [
            [
                name,
                cases,
                [
                    escaped(part)
                    if isinstance(part, str)
                    else (forms.pop(0), part[0] if isinstance(part[0], str) else "")
                    for part in parts
                ],
            ]
            for name, cases, parts, forms in ((*key[:3], [*key[3]]) for key in self._known)
        ]

    @property
    def left_out(self) -> list[str]:
        return [title for title, size in self._sizes.items() if size > FOLDED_MAX]

    def of_unit(self, number: int, events: Sequence[RecordedEvent], behind: Behind) -> Groups:
        """The lines of a unit, by step where it has several, and by title. `behind`: as
        `UnitFields.behind`.
        """
        whys = self._whys_of(number)
        groups: Groups = []
        titled: dict[str, list[Line]] = {}
        for event in events:
            if event.name == self._view.step_ends:
                groups += self._in_order(titled, str(event["step"]))
                titled = {}
            elif event.name not in self._unseen:
                title = self._titles.get(event.name, "")
                line = self._line(event, whys, behind(event))
                size = sum(len(str(value)) for value in line)
                self.size += size
                if title in self._sizes:
                    self._sizes[title] += size
                titled.setdefault(title, []).append(line)
        return groups + self._in_order(titled, "")

    def with_room(self, units: Sequence[Groups]) -> list[Groups]:
        """Units without the lines of titles that a page has no room for; those of language models
        stay.
        """
        without = self.left_out

        def kept(title: str, lines: list[Line]) -> list[Line]:
            return [line for line in lines if title not in without or "answer" in _more(line)]

        return [
            [(title, kept(title, lines), heading) for title, lines, heading in groups]
            for groups in units
        ]

    def _line(
        self, event: RecordedEvent, whys: Sequence[Explanation], behind: Mapping[str, object]
    ) -> Line:
        """The line of an event, with what is behind it."""
        parts, values = self._sentences.of(event)
        shown = [
            self._shown(value_of(source, event, values), form)
            for source, form in (part for part in parts if not isinstance(part, str))
        ]
        cases = tuple(
            (field, event[field])
            for field, texts in self._cases.get(event.name, {}).items()
            if isinstance(event[field], (str, bool)) and event[field] in texts
        )
        key = (event.name, cases, parts, tuple(form for form, _ in shown))
        index = self._known.setdefault(key, len(self._known))
        own = dict(behind)
        more = self._more(event, whys, own.pop("answered", None) or event)
        if own:
            more["behind"] = own
        return [index, *(value for _, value in shown), *([more] if more else [])]

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
            return explanation.location in [event[field] for field in self._places[event.name]]
        return event.fields.get("agent") in explanation.agents

    def _whys_of(self, number: int) -> list[Explanation]:
        """The explanations of a unit; none of those that a page has no room for."""
        if self._at_end and number == self._at_end[0].unit:
            return list(self._at_end)
        found: list[Explanation] = []
        if self._whys > WHY_MAX:
            return found
        while self._next is not None and self._next.unit <= number:
            if self._next.unit == number:
                found.append(self._next)
            self._next = next(self._explanations, None)
        self._whys += sum(len(str(one)) for one in found)
        self.last_explained = number
        return found


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


def _more(line: Line) -> Mapping[str, object]:
    return line[-1] if isinstance(line[-1], dict) else {}
