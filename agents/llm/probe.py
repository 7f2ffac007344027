"""Finds out, once and before a run begins, how a server wants to be asked.

Servers differ in two things that a miner's answer depends on: whether they hold an answer to a JSON
schema, and how they call the limit on its length. A short question tells both, and tells of a wrong
address, key or name of a model while nothing is written yet. What is found goes into the roster.

The question asks in words for what its schema forbids: an answer of the schema's form was held to
it, and a server that accepts a schema and ignores it is found out by doing as the words say. An
answer without text shows neither: a model that thinks first is asked once more, with more tokens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.agents.llm.client import Client
from goldrush.agents.llm.models import AUTO, LIMITS, SCHEMA, TEXT, Endpoint, Model
from goldrush.agents.llm.question import Answer, Message, Question
from goldrush.kernel.errors import BadInput

# With another form of the question it would be the same: no connection, no key, no right.
_HOPELESS: Final = (None, 401, 403)
_TOKENS: Final = 200  # of the answer to the short question
_TOKENS_MORE: Final = 2_000  # where a model has spent those on thinking
_WORDS: Final = 'Answer with this JSON object and nothing else: {"ready": true}'
_MESSAGES: Final[Sequence[Message]] = ({"role": "user", "content": _WORDS},)
# How an object begins that is cut off: its first name, which may be cut, too.
_BEGUN: Final = re.compile(r'\{\s*(?:"([^"]*)("?).*)?', re.DOTALL)


def settled(
    client: Client,
    model: Model,
    endpoint: Endpoint,
    schema: Mapping[str, Any],
) -> Model:
    """The model with `answer` and `limit` decided by a short question under `schema`, that of an
    object without a field `ready`.

    Where `answer` is decided already, only that form is asked. Raises BadInput where no form of the
    question is answered.
    """
    found = Answer()
    is_open = model.answer == AUTO
    for answer in (SCHEMA, TEXT) if is_open else (model.answer,):
        for limit in dict.fromkeys((model.limit, *LIMITS)) if is_open else (model.limit,):
            form = attrs.evolve(model, answer=answer, limit=limit)
            found = _asked(client, form, endpoint, schema, _TOKENS)
            if found.trouble is None:
                if is_open and answer == SCHEMA:
                    if _is_empty(found):
                        found = _asked(client, form, endpoint, schema, _TOKENS_MORE)
                    return form if _is_held(found, schema) else attrs.evolve(form, answer=TEXT)
                return form
            if LIMITS[1] not in found.trouble:
                break  # it is not the limit's name that it objects to
        if found.status in _HOPELESS:
            break
    raise BadInput(
        f"model {model.model} at {endpoint.base_url or 'OpenAI'} does not answer: {found.trouble}",
        "check the server, the name of the model and the key, or how it is asked (`answer`)",
    )


def _asked(
    client: Client, form: Model, endpoint: Endpoint, schema: Mapping[str, Any], tokens: int
) -> Answer:
    """The answer to the short question, of at most `tokens` tokens."""
    short = attrs.evolve(form, max_tokens=tokens)
    [(_, answer)] = client.answers([Question(short, endpoint, _MESSAGES, schema)])
    return answer


def _is_empty(answer: Answer) -> bool:
    return not (answer.text or "").strip()


def _is_held(answer: Answer, schema: Mapping[str, Any]) -> bool:
    """Whether an answer has the schema's fields and no other, as far as it goes."""
    text = (answer.text or "").strip()
    fields = schema["properties"]
    if answer.finish == "length":
        begun = _BEGUN.fullmatch(text)
        if begun is None:
            return False
        name, is_whole = begun[1] or "", begun[2]
        return name in fields if is_whole else any(field.startswith(name) for field in fields)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.keys() == fields.keys()
