"""`extra_body`: further fields of a model's requests, as its server names them.

In a roster they are one canonical JSON object: names in order, no spaces, each once. They stand in
the journal, so they never hold a key; and they leave alone what goldrush sends itself, and what
changes how often or with what a question is answered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import repeat
from typing import Any, Final

from goldrush.kernel.errors import format_value

SIZE_MAX: Final = 4_096  # bytes
DEPTH_MAX: Final = 8

# Fields that goldrush sends, or that change what is asked, how often, or the form of the answer.
_TAKEN: Final = frozenset(
    (
        "audio", "bad_words", "best_of", "best_of_n", "chat_template", "continue_final_message",
        "documents", "echo", "extra_body", "format", "function_call", "functions", "grammar",
        "input", "instructions", "json_schema", "messages", "modalities", "model", "models", "n",
        "n_predict", "num_ctx", "num_return_sequences", "parallel_tool_calls", "plugins",
        "prediction", "prompt", "reasoning_effort", "response_format", "seed", "stop", "stream",
        "stream_options", "structured_outputs", "suffix", "system_prompt", "temperature",
        "tool_choice", "tools", "top_p", "transforms", "truncate_prompt_tokens",
        "use_beam_search", "web_search_options",
    )
)  # fmt: skip
# Tables in which servers take the same fields once more.
_SAME: Final = ("generation_config", "options", "parameters", "sampling_params")
# Limits of tokens, and forms of answers.
_TAKEN_LIKE: Final = re.compile(r"(?:max|min|num)_.*(?:tokens|length|len|predict)|guided_.*")
_SECRET: Final = re.compile(
    r"(?:^|[^a-z])(?:[a-z]*keys?|[a-z]*token|auth)(?:$|[^a-z])"
    "|secret|passw|passphrase|authoriz|credential|bearer|cookie"
)
_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def canonical(fields: Mapping[str, object]) -> str:
    """The canonical text of fields. Raises TypeError, ValueError for what JSON cannot hold."""
    return json.dumps(
        fields, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )


def fields_of(text: str | None) -> dict[str, object]:
    """The fields of a canonical text; None has none."""
    fields: dict[str, object] = {} if text is None else json.loads(text)
    return fields


def is_canonical(value: object) -> bool:
    """Whether a value is the canonical text of fields that a request can have."""
    try:
        if type(value) is not str or len(value.encode()) > SIZE_MAX:
            return False
        fields = json.loads(value)
        return isinstance(fields, dict) and canonical(fields) == value and fault_of(fields) is None
    except (ValueError, RecursionError):
        return False


def fault_of(fields: Mapping[str, object]) -> str | None:
    """Why no request can have these fields; None: it can."""
    if not fields:
        return "it is empty"
    for taken in _taken(fields):
        return f"{format_value(taken)} is sent by goldrush, or changes what is asked or answered"
    for depth, inner, value in _parts(fields):
        if depth > DEPTH_MAX:
            return f"it is nested more than {DEPTH_MAX} deep"
        if inner is not None and _SECRET.search(_WORD.sub("_", inner).lower()):
            return f"{format_value(inner)} is the name of a secret, and a journal would keep it"
        if type(value) is str and re.search("[\ud800-\udfff]", value):
            return "it has a lone surrogate"
    return None


def _taken(fields: Mapping[str, object]) -> Iterator[str]:
    for name, value in fields.items():
        if name.lower() in _TAKEN or _TAKEN_LIKE.fullmatch(name.lower()):
            yield name
        if isinstance(value, dict) and name.lower() in _SAME:
            yield from _taken(value)


def holds_any(text: str | None, secrets: Collection[str]) -> bool:
    """Whether one of these secrets stands in the fields, as a name or in a value."""
    texts = [
        part
        for _, name, value in _parts(fields_of(text))
        for part in (name, str(value) if not isinstance(value, (dict, list)) else None)
        if part is not None
    ]
    return any(secret in part for secret in secrets for part in texts)


def _parts(value: Any, depth: int = 1) -> Iterator[tuple[int, str | None, Any]]:
    """(depth, name, value) of all values inside one; name is None in a list."""
    for name, each in value.items() if isinstance(value, dict) else zip(repeat(None), value):
        is_inner = isinstance(each, (dict, list))
        yield depth + is_inner, name, each
        if is_inner and depth <= DEPTH_MAX:
            yield from _parts(each, depth + 1)
