"""What the page of a program's run shows: of each exchange what is new in the request, and the
answer; and what each caller has taken so far. Callers are the agents of the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from goldrush.kernel.world import RecordedEvent, Step
from goldrush.kernel.worlds.program.events import NOTED
from goldrush.kernel.worlds.program.state import ProgramState, plain_json
from goldrush.kernel.worlds.program.values import Stored
from goldrush.replay.sentences import Sentence
from goldrush.replay.tools import ClosedUnit, UnitFields, View
from goldrush.replay.worlds.program.changes import Changes, shown
from goldrush.replay.worlds.program.texts import response_of, text_of
from goldrush.replay.worlds.program.tools import TOOLS


class ExchangeFields(UnitFields):
    """The fields of the exchanges of one run: by caller `exchanges`, `failed`, `tokens in` and
    `tokens out`; the tokens of all; the last note of each name.
    """

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self._numbers: dict[str, int] = {}  # of callers, in the order of their first requests
        self._taken: dict[str, list[int]] = {}  # by caller, what it has taken so far
        self._changes = Changes()
        self._sentences: dict[str, list[Sentence]] = {}  # of the last exchange, by event
        self._is_failed = False

    def add(self, step: Step, state: ProgramState) -> None:
        self._sentences, self._is_failed = {}, False
        for name, value in step.derived.rows(NOTED):
            self._tell("noted", "{}: {}", name, shown(plain_json(state, value)))
        if state.asked is not None and state.answered is not None:
            self._exchange(state, *state.asked)

    def close(self, unit: ClosedUnit) -> Mapping[str, object] | None:
        if unit.round < unit.vocabulary.first:
            return None
        return {**{title: values[:] for title, values in self._taken.items()}, **TOOLS.fields(unit)}

    def behind(self, event: RecordedEvent) -> Mapping[str, object]:
        told = self._sentences.get(event.name)
        is_failed = self._is_failed and event.name == "answered"
        return {"fault": is_failed, "sentence": told.pop(0) if told else None}

    def _exchange(
        self, state: ProgramState, name: str, upstream: str, method: str, path: str,
        query: Sequence[tuple[str, str]], headers: object, stored: Stored,
    ) -> None:  # fmt: skip
        number = self._numbers.setdefault(name, len(self._numbers))
        self.names[number] = name or "(no name)"
        body, response = state.seen.plain(stored), response_of(state, state.answered or ())
        answer = text_of(response)
        model = state.model or (isinstance(body, dict) and body.get("model"))
        where = shown(model or " ".join([method, path, *map("=".join, query)]))
        asked = "{:agent} asks {} at {}"
        values: list[object] = [number, where, upstream]
        for label, text in self._changes.of(name, state.unit + 1, body, answer):
            asked += ", {} {:quoted}" if text else ", {}"
            values += [label, text] if text else [label]
        self._tell("asked", asked, *values)
        self._tell(
            "answered", "{:agent} is answered with status {status}{is_cut}, {}: {:quoted}",
            number, f"{state.took.input:,} tokens in, {state.took.output:,} out",
            shown(b"".join(response.chunks)) if answer is None else answer,
        )  # fmt: skip
        self._is_failed = not response.is_success
        took = {
            "exchanges": 1, "failed": self._is_failed,
            "tokens in": state.took.input, "tokens out": state.took.output,
        }  # fmt: skip
        for title, count in took.items():
            by_caller = self._taken.setdefault(title, [])
            by_caller += [0] * (number + 1 - len(by_caller))
            by_caller[number] += count

    def _tell(self, event: str, template: str, *values: object) -> None:
        self._sentences.setdefault(event, []).append(Sentence(template, values))


VIEW: Final = View(
    fields=lambda world: ExchangeFields(),
    ranks="",
    groups={
        "Request": ("asked",), "Answer": ("answered",), "Notes": ("noted",),
        "End": ("exited", "ended"),
    },
)  # fmt: skip
