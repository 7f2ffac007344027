"""What a model is asked, and what came of it, whoever carries it there and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import attrs

from goldrush.agents.llm.budget import WRAPPING, Amount
from goldrush.agents.llm.failures import CUT, NO_ANSWER, REFUSAL
from goldrush.agents.llm.models import SCHEMA, Endpoint, Model
from goldrush.kernel.codec import pack

SCHEMA_MAX: Final = 4_096  # bytes that no schema of an answer is longer than
TEXT_MAX: Final = 65_536  # characters of an answer that are kept

Message = Mapping[str, str]  # role and content


def digest(messages: Sequence[Message]) -> str:
    """The SHA-256 of the packed (role, content) pairs, in hex: names exactly what was said."""
    return sha256(pack([(m["role"], m["content"]) for m in messages])).hexdigest()


@attrs.frozen
class Question:
    """What is asked: `messages` (role and content), and the JSON schema of the answer."""

    model: Model
    endpoint: Endpoint
    messages: Sequence[Message]
    schema: Mapping[str, Any]

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
        """The most tokens that one try can take."""
        texts = [message["content"] for message in self.messages] + [json.dumps(self.schema)]
        size = sum(len(text.encode()) for text in texts)
        return Amount(self.model.name, size + WRAPPING, self.model.max_tokens)


@attrs.frozen
class Answer:
    """What came: a `text`, or a message without one, or nothing, and then `trouble` says why.

    `finish` is the server's reason for stopping (`stop`, `length`, `content_filter`, ...);
    `refused`: the text is a refusal; `model`: what the server calls itself; tokens are None where
    it does not say; `tries`: how often the question was sent; `status`: HTTP's, where it was not
    accepted.
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

    def source(self, model: Model, messages: Sequence[Message]) -> dict[str, Any]:
        """What a journal keeps of it beside what was read from the text."""
        return {
            "model": self.model or model.model,
            "prompt": digest(messages),
            "raw": self.text,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "tries": self.tries,
        }


def answer_error(answer: Answer) -> str | None:
    """What is known to be wrong with an answer before it is read."""
    if answer.text is None:
        return NO_ANSWER
    if answer.refused:
        return REFUSAL
    return CUT if answer.finish == "length" else None


def server_facts(source: Mapping[str, Any] | None) -> dict[str, Any]:
    """The fields of a recorded `source`, in the order of `Answer.source`: what the server said is
    as it stands there, what no answer can have is not.
    """
    facts = source or {}
    return {
        "model": facts["model"] if type(facts.get("model")) is str else "",
        "prompt": None,
        "raw": None,
        "tokens_in": _count(facts.get("tokens_in"), 0),
        "tokens_out": _count(facts.get("tokens_out"), 0),
        "tries": _count(facts.get("tries"), 1),
    }


def _count(value: Any, least: int) -> int | None:
    return value if type(value) is int and value >= least else None
