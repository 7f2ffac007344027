"""What a program asked models: chats as messages with their roles, in the known protocols."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from goldrush.agents.llm.question import Message, Question, Whole
from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.program.values import Body, Json
from goldrush.replay.journal.forged import reading
from goldrush.replay.tools import RebuiltPrompt
from goldrush.replay.worlds.program.tape import Exchange, Tape
from goldrush.replay.worlds.program.texts import said, said_in
from goldrush.replay.worlds.program.usage import recorded_answer

# Where chats stand in requests.
_SYSTEM: Final = ("system", "instructions", "systemInstruction", "system_instruction")
_CHAT: Final = (*_SYSTEM, "messages", "input", "contents", "prompt")


def prompted(path: str | Path, exchange: int | None, caller: str | None) -> list[RebuiltPrompt]:
    """The exchange of this number, or all of a caller; None: of any number, of any caller.

    Raises BadInput if there is none, JournalError.
    """
    with reading(path) as reader:
        every = Tape.of(reader).exchanges.values()
        found = [each for each in every if exchange in (None, each.number)]
        found = [each for each in found if caller in (None, each.asked.caller)]
        if not found:
            raise BadInput(f"{path} has no such exchange", "`goldrush log` of it lists them")
        return [*map(_prompt, found)]


def _prompt(exchange: Exchange) -> RebuiltPrompt:
    asked, body = exchange.asked, exchange.asked.body
    question = Question(0, "chat", messages=messages_of(body), whole=Whole(0))
    answer = recorded_answer(exchange).answer
    text = said_in(exchange.answer)
    return RebuiltPrompt(
        question, replace(answer, text=text, prompt=question.digest),
        who=f"exchange {exchange.number} of {asked.caller or 'the program'}, to {answer.model}",
        facts={
            "exchange": exchange.number, "caller": asked.caller, "upstream": asked.upstream,
            "path": asked.path, "request": None if isinstance(body, bytes) else body,
            "status": exchange.answer.status,
        },
    )  # fmt: skip


def messages_of(body: Body) -> Sequence[Message]:
    """The chat in a request, as roles and texts; of one without a chat, its whole body."""
    chat = [*_chat(body)] if isinstance(body, dict) else []
    if not chat:
        whole = body.decode("utf-8", "replace") if isinstance(body, bytes) else json.dumps(body)
        chat = [("request", whole)]
    return [{"role": role, "content": text} for role, text in chat]


def _chat(body: dict[str, Json]) -> Iterator[tuple[str, str]]:
    for name in filter(body.get, _CHAT):
        value = body[name]
        for message in value if isinstance(value, list) else [value]:
            yield said(message, "system" if name in _SYSTEM else "user")
