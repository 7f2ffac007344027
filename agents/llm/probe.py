"""A short question to a server before a run begins, to decide the form of requests.

Servers differ in two options: whether they enforce a JSON schema on answers, and the name of the
limit on the length of an answer. A short question decides both, and reveals a wrong address, key
or model name before anything is written. The result goes into the roster.

The text of the question contradicts its schema: an answer of the schema's form proves that the
schema is enforced, an answer as in the text that it is ignored. A model that thinks first may
answer without text; it is asked once more, with more tokens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

import attrs

from goldrush.agents.llm.client import Client
from goldrush.agents.llm.model import AUTO, LIMITS, SCHEMA, TEXT, Model
from goldrush.agents.llm.models import Endpoint
from goldrush.agents.llm.question import Answer, Message, Question
from goldrush.kernel.errors import BadInput
from goldrush.kernel.shape import Schema

# Statuses that another form of the question cannot change: no connection, no or wrong key.
_HOPELESS: Final = (None, 401, 403)
_TOKENS: Final = 200  # of the answer to the short question
_TOKENS_MORE: Final = 2_000  # if a model has spent those on thinking
_TEXT: Final = 'Answer with this JSON object and nothing else: {"ready": true}'
_MESSAGES: Final[Sequence[Message]] = ({"role": "user", "content": _TEXT},)
# The beginning of an object that is cut off: its first key, which may be cut off too.
_BEGUN: Final = re.compile(r'\{\s*(?:"([^"]*)("?).*)?', re.DOTALL)


def settled(client: Client, model: Model, endpoint: Endpoint, schema: Schema) -> Model:
    """The model with `answer` and `limit` decided by a short question. `model`: if its `answer` is
    decided already, only that form is asked; `schema`: of an object without a field `ready`.

    Raises BadInput if no form of the question is answered.
    """
    reply = Answer()
    is_open = model.answer == AUTO
    for answer in (SCHEMA, TEXT) if is_open else (model.answer,):
        for limit in dict.fromkeys((model.limit, *LIMITS)) if is_open else (model.limit,):
            form = attrs.evolve(model, answer=answer, limit=limit)
            reply = _asked(client, form, endpoint, schema, _TOKENS)
            if reply.trouble is None:
                if is_open and answer == SCHEMA:
                    if not (reply.text or "").strip():
                        reply = _asked(client, form, endpoint, schema, _TOKENS_MORE)
                    return form if _is_held(reply, schema) else attrs.evolve(form, answer=TEXT)
                return form
            if LIMITS[1] not in reply.trouble:
                break  # the error is not about the name of the limit
        if reply.status in _HOPELESS:
            break
    raise BadInput(
        f"model {model.model} at {endpoint.base_url or 'OpenAI'} does not answer: {reply.trouble}",
        "check the server, the name of the model and the key, or set `answer` of the model",
    )


def _asked(client: Client, form: Model, endpoint: Endpoint, schema: Schema, tokens: int) -> Answer:
    """The answer to the short question, of at most `tokens` tokens."""
    short = attrs.evolve(form, max_tokens=tokens)
    [(_, answer)] = client.answers([Question(short, endpoint, _MESSAGES, schema)])
    return answer


def _is_held(answer: Answer, schema: Schema) -> bool:
    """Whether an answer, which may be cut off, has exactly the schema's fields."""
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
