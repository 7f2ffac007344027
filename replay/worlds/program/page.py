"""What the page of a program's run shows of each exchange: who asks what that is new, the answer,
and what each caller has taken so far.

A chat repeats its history in every request. A page has a message once: it shows what a request has
besides the caller's last one, and besides the chats that it goes on from.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
from xxhash import xxh3_128

from goldrush.kernel.world import RecordedEvent, Step
from goldrush.kernel.worlds.program.events import NOTED
from goldrush.kernel.worlds.program.state import ProgramState, plain_json
from goldrush.kernel.worlds.program.values import Body, Json
from goldrush.replay.sentences import Sentence
from goldrush.replay.text import cut_middle
from goldrush.replay.tools import ClosedUnit, UnitFields, View
from goldrush.replay.worlds.program.texts import response_of, text_of

OTHER_MAX: Final = 2_000  # characters of what is no text of a chat: of JSON, of other bodies
BEGINNING_MIN: Final = 100  # characters with which two texts begin, and which are shown once

Said = tuple[str, str]  # the role of a message, or the name of a field; its text


@attrs.define
class Caller:
    """One who asks. `number`: in the order of the first requests; `texts`: of its last request, by
    field; `answer`: the text of its last answer.
    """

    number: int
    texts: Mapping[str, Sequence[Said]] = attrs.field(factory=dict)
    answer: str | None = None
    exchanges: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


class ExchangeFields(UnitFields):
    """The fields of the exchanges of one run: by caller, as agents, the numbers of exchanges and
    tokens; the sums of tokens; the last notes.
    """

    def __init__(self) -> None:
        self._callers: dict[str, Caller] = {}
        self._chats: dict[bytes, str | None] = {}  # the answers to whole chats, by their digest
        self._sentences: dict[str, list[Sentence]] = {}  # of the last exchange, by event
        self._is_failed = False

    @property
    def agents(self) -> int:
        return len(self._callers)

    def add(self, step: Step, state: ProgramState) -> None:
        notes = [(name, plain_json(state, value)) for name, value in step.derived.rows(NOTED)]
        self._sentences = {"noted": [Sentence("{}: {}", (name, _shown(of))) for name, of in notes]}
        self._is_failed = False
        if state.asked is not None and state.answered is not None:
            self._exchange(state, *state.asked)

    def close(self, unit: ClosedUnit) -> Mapping[str, object] | None:
        state: ProgramState = unit.state
        callers = self._callers.values()
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
        more: dict[str, object] = {}
        if sentences := self._sentences.get(event.name):
            more["sentence"] = sentences.pop(0)
        if event.name == "answered" and self._is_failed:
            more["fault"] = True
        return more

    def _exchange(
        self, state: ProgramState, name: str, upstream: str, method: str, path: str, *rest: Any
    ) -> None:
        caller = self._callers.setdefault(name, Caller(len(self._callers)))
        body = state.seen.plain(rest[-1])
        response = response_of(state, state.answered or ())
        answer = text_of(response)
        new = [*self._new(caller, body, answer)]
        model = state.model or (isinstance(body, dict) and body.get("model")) or f"{method} {path}"
        asked = "{:agent} asks {} at {}" + ", {} {:quoted}" * len(new) + ": the same again" * (not new)
        values = [caller.number, _shown(model), upstream, *(text for said in new for text in said)]
        tokens = state.took
        numbers = f"{tokens.input:,} and {tokens.output:,} tokens"
        raw = b"".join(response.chunks).decode("utf-8", "backslashreplace")
        text = cut_middle(raw, OTHER_MAX, " ... ") if answer is None else answer
        answered = "{:agent} is answered with status {status}{is_cut}, {}: {:quoted}"
        self._sentences["asked"] = [Sentence(asked, values)]
        self._sentences["answered"] = [Sentence(answered, (caller.number, numbers, text))]
        self._is_failed = not response.is_success
        caller.answer = answer
        caller.exchanges += 1
        caller.failed += self._is_failed
        caller.tokens_in += tokens.input
        caller.tokens_out += tokens.output

    def _new(self, caller: Caller, body: Body, answer: str | None) -> Iterator[Said]:
        """What a request has that is new; `answer`: the one that it gets."""
        fields = body if isinstance(body, dict) else {"body": body}
        before, caller.texts = caller.texts, {
            name: [_said(item, name) for item in value] if isinstance(value, list)
            else [(name, _shown(value))]
            for name, value in fields.items() if name != "model"
        }  # fmt: skip
        for name, texts in caller.texts.items():
            known, answers = self._known(name, texts, answer)
            answers |= {caller.answer}
            earlier = before.get(name, ())
            left = Counter() if known else Counter(earlier)
            if texts == earlier:
                continue
            for at, (role, text) in enumerate(texts[known:], known):
                if left[role, text]:
                    left[role, text] -= 1
                elif not (role in ("assistant", "model") and text in answers):
                    yield _rest(role, text, earlier[at : at + 1])
        yield from ((f"without {name}", "") for name in before if name not in caller.texts)

    def _known(
        self, name: str, texts: Sequence[Said], answer: str | None
    ) -> tuple[int, set[str | None]]:
        """With how many messages a request goes on from a chat that somebody sent before, and the
        answer to that.
        """
        known, answers = 0, set[str | None]()
        digest = xxh3_128(name.encode())
        for number, said in enumerate(texts):
            if (key := digest.digest()) in self._chats:
                known, answers = number, {self._chats[key]}
            digest.update(repr(said).encode())
        if len(texts) > 1:
            self._chats[digest.digest()] = answer
        return known, answers


def _said(item: Json, name: str) -> Said:
    """A message of a chat, with its role; JSON if it has more than text."""
    role = name
    if isinstance(item, dict):
        role = str(item.get("role", name))
        content = item.get("content", item.get("parts"))
        parts = content if isinstance(content, list) else [content]
        texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
        if item.keys() <= {"role", "content", "parts", "type"} and texts:
            if all(isinstance(text, str) for text in texts):
                return role, "\n".join(map(str, texts))
    return role, _shown(item)


def _shown(value: Body) -> str:
    """A text as it is; anything else as JSON, cut."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        text = value.decode("utf-8", "backslashreplace")
    else:
        text = json.dumps(value, ensure_ascii=False)
    return cut_middle(text, OTHER_MAX, " ... ")


def _rest(role: str, text: str, earlier: Sequence[Said]) -> Said:
    """A text without the beginning that it has in common with an earlier one in its place."""
    begins = 0
    if earlier and earlier[0][0] == role:
        begins = len(os.path.commonprefix([text, earlier[0][1]]))
    if begins < BEGINNING_MIN:
        return role, text
    return f"{role}, behind {begins:,} characters as before", text[begins:]


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
