"""A short question to a server before a run begins, to decide the form of requests.

Servers differ: whether they enforce a JSON schema on answers, how they name the limit on the length
of an answer, whether they take a seed, and whether their template opens the reasoning of a model.
A short question decides each, and reveals a wrong address, key or model name before anything is
written. The result goes into the roster.

The text of the question contradicts its schema: an answer of the schema's form proves that the
schema is enforced, an answer as in the text that it is ignored. A model that thinks first may
answer without text; it is asked once more, with more tokens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from functools import partial
from typing import Final

import attrs

from goldrush.agents.llm.client import Client
from goldrush.agents.llm.model import (
    AUTO,
    FIELD,
    FRAMING,
    LIMITS,
    OPEN,
    OPTION,
    RUN,
    SCHEMA,
    TEXT,
    Model,
)
from goldrush.agents.llm.models import Endpoint
from goldrush.agents.llm.question import (
    LENGTH,
    Answer,
    Message,
    Question,
    Whole,
    opens_reasoning,
    reasoned,
)
from goldrush.agents.llm.versions import TOKENS
from goldrush.kernel.errors import BadInput
from goldrush.kernel.shape import Schema

# Statuses that another form of the question cannot change: no connection, no or wrong key.
_HOPELESS: Final = (None, 401, 403)
# What is decided here.
DECIDED: Final = ("max_tokens", "answer", "limit", "seed_from", "reasoning")
_MALFORMED: Final = (400, 422)  # the server does not take a field of the request
_TOKENS: Final = 200  # of the answer to the short question
_TOKENS_MORE: Final = 2_000  # if a model has spent those on thinking
_TEXT: Final = 'Answer with this JSON object and nothing else: {"ready": true}'
_MESSAGES: Final[Sequence[Message]] = ({"role": "user", "content": _TEXT},)
# The beginning of an object that is cut off: its first key, which may be cut off too.
_BEGUN: Final = re.compile(r'\{\s*(?:"([^"]*)("?).*)?', re.DOTALL)


def form_of(model: Model, *, has_options: bool) -> Model:
    """The model with what shapes its requests alone: all models with the same form are asked once.

    `has_options`: those of its version of the prompt; other versions have no reasoning to be found.
    """
    reasoning = model.reasoning if has_options else None
    bare = Model(model.name, model.model)
    same = {name: getattr(bare, name) for name in ("prompt", *FRAMING, "sample")}
    return attrs.evolve(model, **same, reasoning=reasoning)


def open_options(form: Model, written: Model | None, typed: Collection[str]) -> frozenset[str]:
    """The options of a new roster's model that its server decides. `written`: as in the file of
    models; None: it has no table there. `typed`: names of those that the roster's text gives.
    """
    given = written or Model(form.name, form.model)
    names = {n for n in ("seed_from", "reasoning", "max_tokens") if not getattr(given, n)}
    return frozenset(names - {*typed} - ({"reasoning"} if form.reasoning is None else set()))


def settled(
    client: Client,
    model: Model,
    endpoint: Endpoint,
    schema: Schema,
    still_open: Collection[str] = (),
) -> Model:
    """The model with the options that a short question decides: `answer` and `limit` if `answer` is
    open, and of `still_open`:

    - `seed_from`: `option` if the server refuses seeds
    - `reasoning`: `open` if the server's template opens it, with `max_tokens` for it

    `model`: in its form, see `form_of`; `schema`: of an object without a field `ready`. Raises
    BadInput if no form of the question is answered.
    """
    schema = reasoned(schema) if model.reasoning == FIELD else schema
    ask = partial(_answered, client, endpoint=endpoint, schema=schema, still_open=still_open)
    form, reply = ask(model)
    if reply.trouble is not None and model.seed_from == RUN and reply.status in _MALFORMED:
        without, other = ask(attrs.evolve(model, seed_from=OPTION))
        if other.trouble is None:
            if "seed_from" not in still_open:
                raise BadInput(
                    f"model {model.model} at {_place(endpoint)} takes no seed: {reply.trouble}",
                    f"write seed_from = '{OPTION}' where it has that, for a new run or a fork",
                )
            form, reply = without, other
    if reply.trouble is not None:
        raise BadInput(
            f"model {model.model} at {_place(endpoint)} does not answer: {reply.trouble}",
            "check the server, the name of the model and the key, or set `answer` of the model",
        )
    if "reasoning" in still_open and opens_reasoning(reply.text or ""):
        most = TOKENS[2] if "max_tokens" in still_open else form.max_tokens
        form = attrs.evolve(form, reasoning=OPEN, max_tokens=most)
    return form


def told(before: Model, after: Model) -> list[str]:
    """A line for each decision that changes what a run can say of its model."""
    lines = []
    if before.seed_from != after.seed_from:
        lines.append("its server takes no seeds, so requests have none (seed_from = 'option')")
    if before.reasoning != after.reasoning:
        lines.append(
            "its server's template opens the reasoning of answers (reasoning = 'open'), which have "
            f"up to {after.max_tokens:,} tokens"
        )
    return lines


def _place(endpoint: Endpoint) -> str:
    return endpoint.base_url or "OpenAI"


def _answered(
    client: Client,
    model: Model,
    *,
    endpoint: Endpoint,
    schema: Schema,
    still_open: Collection[str],
) -> tuple[Model, Answer]:
    """The form in which the short question is answered, and the answer; or the last that was tried,
    with its trouble.
    """
    reply, form = Answer(), model
    is_open = model.answer == AUTO
    for answer in (SCHEMA, TEXT) if is_open else (model.answer,):
        for limit in dict.fromkeys((model.limit, *LIMITS)) if is_open else (model.limit,):
            form = attrs.evolve(model, answer=answer, limit=limit)
            reply = _asked(client, form, endpoint, schema, _TOKENS)
            if reply.trouble is None:
                held = is_open and answer == SCHEMA
                thinks = held and not (reply.text or "").strip()
                if thinks or ("reasoning" in still_open and _may_think(reply)):
                    reply = _asked(client, form, endpoint, schema, _TOKENS_MORE)
                if held and not _is_held(reply, schema):
                    form = attrs.evolve(form, answer=TEXT)
                return form, attrs.evolve(reply, trouble=None)
            if LIMITS[1] not in reply.trouble:
                break  # the error is not about the name of the limit
        if reply.status in _HOPELESS:
            break
    return form, reply


def _may_think(answer: Answer) -> bool:
    """Whether an answer may have been cut off before the end of reasoning that its text begins
    with.
    """
    text = answer.text or ""
    return (
        answer.finish == LENGTH and not opens_reasoning(text) and not text.lstrip().startswith("{")
    )


def _asked(client: Client, form: Model, endpoint: Endpoint, schema: Schema, tokens: int) -> Answer:
    """The answer to the short question, of at most `tokens` tokens."""
    short = attrs.evolve(form, max_tokens=tokens)
    [(_, answer)] = client.answers([Question(short, endpoint, _MESSAGES, schema, seed=0)])
    return answer


def _is_held(answer: Answer, schema: Schema) -> bool:
    """Whether an answer, which may be cut off, has exactly the schema's fields."""
    text = Whole.of(None, 1).parted(answer.text or "", None)[0].strip()
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
