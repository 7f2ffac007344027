"""Finds out, once and before a run begins, how a server wants to be asked.

Servers differ in two things that a miner's answer depends on: whether they hold an answer to a JSON
schema, and how they call the limit on its length. A short question tells both, and tells of a wrong
address, key or name of a model while nothing is written yet. What is found goes into the roster.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from agents.llm.client import Client
from agents.llm.models import AUTO, LIMITS, SCHEMA, TEXT, Endpoint, Model
from agents.llm.question import Answer, Message, Question
from kernel.errors import BadInput

# What a server answers that does not take a part of the request: bad request, not found (some
# routers), unprocessable, not implemented.
_NOT_TAKEN: Final = (400, 404, 422, 501)
_TOKENS: Final = 64  # of the answer to the short question


def settled(
    client: Client,
    model: Model,
    endpoint: Endpoint,
    messages: Sequence[Message],
    schema: Mapping[str, Any],
) -> Model:
    """The model with `answer` and `limit` decided by asking `messages` under `schema`.

    Where they are decided already nothing is asked. Raises BadInput where no form of the question
    is answered.
    """
    if model.answer != AUTO:
        return model
    found = Answer()
    for answer in (SCHEMA, TEXT):
        for limit in dict.fromkeys((model.limit, *LIMITS)):
            asked = attrs.evolve(model, answer=answer, limit=limit, max_tokens=_TOKENS)
            [(_, found)] = client.answers([Question(asked, endpoint, messages, schema)])
            if found.trouble is None:
                is_held = answer == SCHEMA and _looks_held(found)
                return attrs.evolve(model, answer=SCHEMA if is_held else TEXT, limit=limit)
            if LIMITS[1] not in found.trouble:
                break  # it is not the limit's name that it objects to
        if found.status not in _NOT_TAKEN:
            break
    raise BadInput(
        f"model {model.model} at {endpoint.base_url or 'OpenAI'} does not answer: {found.trouble}",
        "check the server, the name of the model and the key",
    )


def _looks_held(answer: Answer) -> bool:
    """Whether an answer is one under a schema: if it was not cut off, it is one JSON object."""
    text = (answer.text or "").strip()
    if answer.finish == "length" or not text:
        return True  # nothing speaks against it
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
