"""What a program asked models: chats as messages with their roles, in the known protocols."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from goldrush.agents.llm.question import Message, Question, Whole
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.worlds.program.values import Body, Json
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.tools import RebuiltPrompt
from goldrush.replay.worlds.program.tape import Exchange, Tape
from goldrush.replay.worlds.program.usage import recorded_answer

_SYSTEM: Final = ("system", "instructions", "systemInstruction", "system_instruction")
_CHAT: Final = ("messages", "input", "contents", "prompt")
_TEXT: Final = ("content", "parts", "text")


class AskedExchange(RebuiltPrompt, frozen=True, kw_only=True):
    """What a program asked in an exchange, and what it was answered."""

    exchange: Exchange

    @property
    def who(self) -> str:
        answer = self.answer
        caller = self.exchange.asked.caller
        of = f" of {caller}" if caller else ""
        return f"exchange {self.exchange.number}{of}, to {answer and answer.model}"

    def as_dict(self) -> dict[str, object]:
        asked = self.exchange.asked
        body = asked.body
        return {
            "exchange": self.exchange.number,
            "caller": asked.caller,
            "upstream": asked.upstream,
            "method": asked.method,
            "path": asked.path,
            "request": body.decode("utf-8", "replace") if isinstance(body, bytes) else body,
            "status": self.exchange.answer.status,
        }


@reader_of
def prompted(path: str | Path, exchange: int | None, caller: str | None) -> list[AskedExchange]:
    """The exchange of this number, or all of a caller; None: of any number, of any caller.

    Raises BadInput if there is none, JournalError.
    """
    with JournalReader(path) as reader:
        every = Tape.of(reader).exchanges.values()
    found = [
        _asked(each)
        for each in every
        if exchange in (None, each.number) and caller in (None, each.asked.caller)
    ]
    if not found:
        what = "exchange" if exchange is None else f"exchange {exchange}"
        of = "" if caller is None else f" of a caller {caller}"
        raise BadInput(f"{path} has no {what}{of}", "`goldrush log` of it lists them")
    return found


def _asked(exchange: Exchange) -> AskedExchange:
    question = Question(0, messages=messages_of(exchange.asked.body), whole=Whole(0))
    answer = replace(recorded_answer(exchange).answer, prompt=question.digest)
    return AskedExchange(question, answer, exchange=exchange)


def messages_of(body: Body) -> Sequence[Message]:
    """The chat in a request, as roles and texts; of one without a chat, its whole body."""
    chat = [*_chat(body)] if isinstance(body, dict) else []
    if not chat:
        text = body.decode("utf-8", "replace") if isinstance(body, bytes) else _json(body)
        chat = [("request", text)]
    return [{"role": role, "content": text} for role, text in chat]


def _chat(body: dict[str, Json]) -> Iterator[tuple[str, str]]:
    yield from (("system", _text(body[name])) for name in _SYSTEM if body.get(name))
    chat = next((body[name] for name in _CHAT if body.get(name)), None)
    for message in chat if isinstance(chat, list) else [chat] if chat else []:
        role = message.get("role") if isinstance(message, dict) else None
        yield role if isinstance(role, str) else "user", _text(message)


def _text(value: Json) -> str:
    """The texts in a message, and as JSON what else it has."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(map(_text, value))
    if not isinstance(value, dict):
        return _json(value)
    rest = {k: v for k, v in value.items() if v and k not in (*_TEXT, "role", "type")}
    texts = [_text(value[name]) for name in _TEXT if value.get(name)]
    return "\n".join([*texts, *([_json(rest)] if rest else [])])


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
