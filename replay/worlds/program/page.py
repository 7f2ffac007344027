"""What the page of a program's run shows: of each exchange what is new in the request, and the
answer; and what each caller has taken so far. Callers are the agents of the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from goldrush.kernel.world import RecordedEvent, Step
from goldrush.kernel.worlds.program.events import NOTED
from goldrush.kernel.worlds.program.state import ProgramState, plain_json
from goldrush.kernel.worlds.program.values import Stored
from goldrush.replay.sentences import Sentence
from goldrush.replay.tools import ClosedUnit, UnitFields, View
from goldrush.replay.worlds.program.changes import Changes, shown
from goldrush.replay.worlds.program.texts import response_of, text_of


@attrs.define
class _Caller:
    """One who asks, and what it has taken so far. `number`: in the order of first requests."""

    number: int
    exchanges: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


class ExchangeFields(UnitFields):
    """The fields of the exchanges of one run: by caller `exchanges`, `failed`, `tokens in` and
    `tokens out`; the tokens of all; the last note of each name.
    """

    def __init__(self) -> None:
        self._callers: dict[str, _Caller] = {}
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
        state: ProgramState = unit.state
        callers = self._callers.values()
        self.agents = len(callers)
        return None if not state.unit else {
            "exchanges": [caller.exchanges for caller in callers],
            "failed": [caller.failed for caller in callers],
            "tokens in": [caller.tokens_in for caller in callers],
            "tokens out": [caller.tokens_out for caller in callers],
            "tokens of requests": state.tokens.input,
            "tokens of answers": state.tokens.output,
            **{f"note {name}": value for name, value in state.notes.items()},
        }  # fmt: skip

    def behind(self, event: RecordedEvent) -> Mapping[str, object]:
        told = self._sentences.get(event.name)
        is_failed = self._is_failed and event.name == "answered"
        return {"fault": is_failed, "sentence": told.pop(0) if told else None}

    def _exchange(
        self, state: ProgramState, name: str, upstream: str, method: str, path: str,
        query: Sequence[tuple[str, str]], headers: object, stored: Stored,
    ) -> None:  # fmt: skip
        caller = self._callers.setdefault(name, _Caller(len(self._callers)))
        body, response = state.seen.plain(stored), response_of(state, state.answered or ())
        answer = text_of(response)
        new = self._changes.of(name, state.unit + 1, body, answer)
        asks = state.model or (isinstance(body, dict) and body.get("model"))
        where = "?".join(filter(None, (path, "&".join(map("=".join, query)))))
        parts = [", {}" if text is None else ", {} {:quoted}" for _, text in new]
        if caller.exchanges and not new:
            parts = [", with the body of its last request"]
        self._tell(
            "asked", "{:agent} asks {} at {}" + "".join(parts), caller.number,
            shown(asks or f"{method} {where}"), upstream,
            *(part for said in new for part in said if part is not None),
        )  # fmt: skip
        self._tell(
            "answered", "{:agent} is answered with status {status}{is_cut}, {}: {:quoted}",
            caller.number, f"{state.took.input:,} tokens in, {state.took.output:,} out",
            shown(b"".join(response.chunks)) if answer is None else answer,
        )  # fmt: skip
        self._is_failed = not response.is_success
        caller.exchanges += 1
        caller.failed += self._is_failed
        caller.tokens_in += state.took.input
        caller.tokens_out += state.took.output

    def _tell(self, event: str, template: str, *values: object) -> None:
        self._sentences.setdefault(event, []).append(Sentence(template, values))


VIEW: Final = View(
    fields=lambda world: ExchangeFields(),
    ranks="",
    groups={
        "Request": ("asked",),
        "Answer": ("answered",),
        "Notes": ("noted",),
        "End": ("exited", "ended"),
    },
)
