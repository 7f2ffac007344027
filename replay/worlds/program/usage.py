"""The answers that a program got from models, as those to questions of ours are counted.

What a server does not report counts, under a ceiling, by the size of its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import unquote

from goldrush.agents.llm.failures import CUT, NO_ANSWER
from goldrush.agents.llm.question import Amount, Answer, estimated
from goldrush.agents.llm.usage import AskedModel, RecordedAnswer
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.worlds.program.world import Asked
from goldrush.replay.worlds.program.tape import Exchange, Tape
from goldrush.replay.worlds.program.texts import said_in

_IN_PATH: Final = re.compile(r"/(?:models|deployments|engines)/([^/:]+)")


def model_of(asked: Asked, instead: str = "") -> str:
    """The name of the model that a request is for: in its body, else in its path; empty: it names
    none. `instead`: the name that is sent in place of that in the body; empty: none is.
    """
    if isinstance(asked.body, dict) and isinstance(name := asked.body.get("model"), str):
        return instead or name
    found = _IN_PATH.search(asked.path) if asked.method == "POST" else None
    return unquote(found[1]) if found else ""


def recorded_answer(exchange: Exchange) -> RecordedAnswer:
    """The answer of an exchange; its text only where the server reports no tokens. Without the name
    of a model, that of the server stands for it.
    """
    asked, answer, tokens = exchange.asked, exchange.answer, exchange.took
    name = model_of(asked, exchange.model) or asked.upstream
    source: dict[str, object] = {"model": name}
    if tokens is not None:
        source |= {
            "tokens_in": tokens.input, "tokens_out": tokens.output,
            "tokens_cached": tokens.cached or None,
            "tokens_reasoning": tokens.reasoning or None,
        }  # fmt: skip
    error = NO_ANSWER if answer.status >= 400 else CUT if answer.is_cut else None
    text = said_in(answer) if tokens is None else ""
    size = estimated(str(asked.body), None) if tokens is None else 0
    given = Answer.recorded(0, "", text, error, source)
    return RecordedAnswer(given, AskedModel(name, Amount(name, size, 0)), exchange.number, 0)


def charged(exchanges: Iterable[Exchange]) -> Iterator[Amount]:
    """What the answers of models among these exchanges took, for a ceiling."""
    return (answer.charged for answer in _of_models(exchanges) if answer.charged.tokens)


def _of_models(exchanges: Iterable[Exchange]) -> Iterator[RecordedAnswer]:
    """The answers of models among these exchanges, failures included: those that report tokens, and
    to requests that name a model.
    """
    for exchange in exchanges:
        answer = recorded_answer(exchange)
        if answer.amount.tokens or model_of(exchange.asked):
            yield answer


def answers_in(reader: JournalReader) -> Iterator[RecordedAnswer]:
    """See `Tools.answers`."""
    yield from _of_models(Tape.of(reader).exchanges.values())
