"""What the page of a program's run shows: of each exchange what is new in the request, and the
answer; and what each caller has taken so far. Callers are the agents of the page.

A chat repeats its history in every request, and a page tells it once: of a request it has what is
new since the last one of its caller, and since the chat that it goes on from, whoever sent that.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec
from xxhash import xxh3_128

from goldrush.kernel.text import format_count
from goldrush.kernel.world import RecordedEvent, Step
from goldrush.kernel.worlds.program.events import NOTED
from goldrush.kernel.worlds.program.state import ProgramState, Tokens, plain_json
from goldrush.kernel.worlds.program.values import Body, Stored
from goldrush.replay.sentences import Sentence
from goldrush.replay.tools import ClosedUnit, UnitFields, View
from goldrush.replay.worlds.program.texts import common, response_of, said, shown, text_of

BEGINNING_MIN: Final = 100  # characters with which two texts begin, and which are told once
ANSWERING: Final = ("assistant", "model")  # the roles of answers in a chat

# What a request has: the role of a message, or the name of a field; the text, empty where the name
# says it all.
Said = tuple[str, str]


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
        return {**{title: values[:] for title, values in self._taken.items()}, **fields_of(unit)}

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
        took = state.took or Tokens()
        usage = f"{took.input:,} tokens in, {took.output:,} out" if state.took else "no usage told"
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
            number, usage, shown(b"".join(response.chunks)) if answer is None else answer,
        )  # fmt: skip
        self._is_failed = not response.is_success
        counted = {
            "exchanges": 1, "failed": self._is_failed,
            "tokens in": took.input, "tokens out": took.output,
        }  # fmt: skip
        for title, count in counted.items():
            by_caller = self._taken.setdefault(title, [])
            by_caller += [0] * (number + 1 - len(by_caller))
            by_caller[number] += count

    def _tell(self, event: str, template: str, *values: object) -> None:
        self._sentences.setdefault(event, []).append(Sentence(template, values))


def fields_of(unit: ClosedUnit) -> Mapping[str, object]:
    """The tokens of all exchanges, and the last note of each name."""
    state: ProgramState = unit.state
    notes = json.loads(json.dumps(state.notes), parse_constant=str)  # one may be NaN
    return {
        "tokens of requests": state.tokens.input,
        "tokens of answers": state.tokens.output,
        **{f"note {name}": value for name, value in notes.items()},
    }


class _Request(msgspec.Struct, frozen=True):
    """A request. `exchange`: its number; `texts`: what it has, by field; `answer`: its text."""

    exchange: int = 0
    texts: Mapping[str, Sequence[Said]] = {}
    answer: str | None = None


_NONE: Final = _Request()


class Changes:
    """What is new in the requests of a run, which come in order."""

    def __init__(self) -> None:
        """None has come so far."""
        self._last: dict[str, _Request] = {}  # by caller
        self._chats: dict[bytes, _Request] = {}  # by the digest of all messages

    def of(self, caller: str, exchange: int, body: Body, answer: str | None) -> Sequence[Said]:
        """What is new in the request of an exchange; `answer`: the text of its answer."""
        fields = body if isinstance(body, dict) else {"body": body} if body else {}
        texts = {name: _texts(name, value) for name, value in fields.items() if name != "model"}
        request = _Request(exchange, texts, answer)
        before = self._last.get(caller, _NONE)
        new = [each for name in texts for each in self._in_field(name, request, before)]
        new += [(f"without {name}", "") for name in before.texts if name not in texts]
        self._last[caller] = request
        return new

    def _in_field(self, name: str, request: _Request, before: _Request) -> Iterator[Said]:
        texts, earlier = request.texts[name], before.texts.get(name, ())
        known, chat = self._begun(name, request)
        if texts == earlier:
            return
        if known and texts[:known] != earlier:
            yield f"behind {format_count(known, 'message')} of exchange {chat.exchange}", ""
        left = Counter(() if known else earlier)
        for at, (role, text) in enumerate(texts[known:], known):
            if left[role, text]:
                left[role, text] -= 1
            elif role not in ANSWERING or text not in (before.answer, chat.answer):
                yield _rest(role, text, earlier[at : at + 1])

    def _begun(self, name: str, request: _Request) -> tuple[int, _Request]:
        """The number of messages that were the whole chat of an earlier request, and that one."""
        known, chat, texts = 0, _NONE, request.texts[name]
        if not texts or texts[0][0] == name:  # no messages, which have roles
            return known, chat
        digest = xxh3_128()
        for number, text in enumerate(texts):
            if earlier := self._chats.get(digest.digest()):
                known, chat = number, earlier
            digest.update(repr(text).encode())
        self._chats[digest.digest()] = request
        return known, chat


def _texts(name: str, value: Body) -> Sequence[Said]:
    """What a field has: the items of a list, or its value; a number stands beside its name."""
    if isinstance(value, list):
        return [said(item, name) for item in value]
    is_plain = value is None or isinstance(value, (bool, int, float))
    return [(f"{name} {shown(value)}", "") if is_plain else (name, shown(value))]


def _rest(role: str, text: str, earlier: Sequence[Said]) -> Said:
    """A text without the beginning that it has in common with an earlier one in its place."""
    begins = max((common(text, known) for before, known in earlier if before == role), default=0)
    if begins < BEGINNING_MIN:
        return role, text
    return f"{role}, behind {begins:,} characters as before,", text[begins:]


VIEW: Final = View(
    fields=lambda world: ExchangeFields(),
    ranks="",
    groups={
        "Request": ("asked",), "Answer": ("answered",), "Notes": ("noted",),
        "End": ("exited", "ended"),
    },
)  # fmt: skip
