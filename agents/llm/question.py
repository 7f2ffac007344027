"""The records of a question to a model and of its answer."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.agents.llm.budget import WRAPPING, Amount
from goldrush.agents.llm.failures import CUT, NO_ANSWER, REFUSAL
from goldrush.agents.llm.model import SCHEMA, Model
from goldrush.agents.llm.models import Endpoint
from goldrush.kernel.codec import pack
from goldrush.kernel.shape import Schema

SCHEMA_MAX: Final = 4_096  # greatest size of an answer's schema, in bytes
AROUND_MAX: Final = SCHEMA_MAX + WRAPPING  # tokens of a question in addition to its prompt
TEXT_MAX: Final = 65_536  # characters of an answer that are kept

Message = Mapping[str, str]  # role and content
Source = Mapping[str, object]  # what a journal keeps of an answer: see `Answer.source`


def digest(messages: Sequence[Message]) -> str:
    """The SHA-256 of a prompt, in hex: of its packed (role, content) pairs."""
    from hashlib import sha256

    return sha256(pack([(m["role"], m["content"]) for m in messages])).hexdigest()


def upper_bound(model: Model, messages: Sequence[Message], schema: Schema) -> Amount:
    """The upper bound of the tokens of one try of a question."""
    texts = [message["content"] for message in messages] + [json.dumps(schema)]
    size = sum(len(text.encode()) for text in texts)
    return Amount(model.name, size + WRAPPING, model.max_tokens)


@attrs.frozen
class Question:
    """A question to a model."""

    model: Model
    endpoint: Endpoint
    messages: Sequence[Message]
    schema: Schema

    def request(self) -> dict[str, Any]:
        """The body of the request."""
        body: dict[str, Any] = {"model": self.model.model, "messages": list(self.messages)}
        for name in ("temperature", "seed"):
            if getattr(self.model, name) is not None:
                body[name] = getattr(self.model, name)
        body[self.model.limit] = self.model.max_tokens
        if self.model.answer == SCHEMA:
            form = {"name": "answer", "strict": True, "schema": dict(self.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body

    def upper_bound(self) -> Amount:
        """The upper bound of the tokens of one try."""
        return upper_bound(self.model, self.messages, self.schema)


@attrs.frozen
class Answer:
    """The answer to a question.

    Attributes:
        text: None: there is none.
        finish: the server's reason for stopping (`stop`, `length`, `content_filter`, ...).
        refused: the text is a refusal.
        model: the name of the model that the server reports.
        tokens_in, tokens_out: of the question and of the answer; None: not reported.
        tries: how often the question was sent.
        trouble: the reason why there is no answer; None: there is one.
        status: of HTTP, if the question was not accepted.
    """

    text: str | None = None
    finish: str | None = None
    refused: bool = False
    model: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tries: int = 1
    trouble: str | None = None
    status: int | None = None

    def source(self, model: Model, prompt: str) -> Source:
        """The facts of the answer that a journal keeps, in addition to what is read from it."""
        return {
            "model": self.model or model.model,
            "prompt": prompt,
            "raw": self.text,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "tries": self.tries,
        }


@attrs.frozen
class About:
    """To whom and what a recorded answer belongs, and what the record says of it.

    Attributes:
        agent: its id.
        question: its name; empty in worlds with one question.
        text: as recorded; None: there is none.
        error: as recorded, like all that follows: in a forged row it may be anything.
        source: as `Answer.source`, with more or fewer facts; None: the answer is a policy's.
        model: the name of the model, or HUMAN; None: the row does not have it.
    """

    agent: int
    question: str
    text: str | None
    error: str | None
    source: Source | None
    model: str | None = None

    @property
    def prompt(self) -> object:
        """The digest of the prompt."""
        return (self.source or {}).get("prompt")


def answer_error(answer: Answer) -> str | None:
    """The error of an answer that is known before its text is read, or None."""
    if answer.text is None:
        return NO_ANSWER
    if answer.refused:
        return REFUSAL
    return CUT if answer.finish == "length" else None


def server_facts(source: Source | None) -> Source:
    """The server's facts in a recorded `source`, in the order of `Answer.source`: impossible values
    are replaced, and prompt and text left out (None).
    """
    facts = source or {}
    return {
        "model": facts["model"] if type(facts.get("model")) is str else "",
        "prompt": None,
        "raw": None,
        "tokens_in": counted(facts.get("tokens_in"), 0),
        "tokens_out": counted(facts.get("tokens_out"), 0),
        "tries": counted(facts.get("tries"), 1),
    }


def counted(count: object, low: int, high: float = math.inf) -> int | None:
    """A count of a server or a journal; None if it is none, or not from `low` to `high`."""
    return count if type(count) is int and low <= count <= high else None
