"""`extra_body`: further fields of a model's requests, as its server names them.

In a roster they are one canonical JSON object: names in order, no spaces, each once. They stand in
the journal, so they never hold a key; and they leave alone what goldrush sends itself, so that the
journal has the question that was asked. What else servers take is theirs to name: the journal shows
it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import repeat
from typing import Any, Final

from goldrush.kernel.errors import format_value

SIZE_MAX: Final = 4_096  # bytes
DEPTH_MAX: Final = 8

# The fields of a request, and `stream`, which would bring the answer in pieces. Servers take them
# in tables, too (`options`, `reasoning`), so they are refused at any depth, but for the properties
# of a JSON schema, whose names are the user's.
_SENT: Final = (
    "model", "messages", "seed", "stream", "temperature", "top_p", "reasoning_effort",
    "max_tokens", "max_completion_tokens", "response_format",
)  # fmt: skip
# Of these there are many names: more answers to a question, more tokens of one. Limits count one
# answer of `max_tokens`.
_MORE: Final = re.compile(r"n|best_of|n_predict|num_predict|.*max.*tokens?.*")
_SECRET: Final = re.compile(
    r"(?:^|[^a-z])(?:[a-z]*keys?|o?auth[nz]?|pass|pat|pwd|jwts?)(?:$|[^a-z])"
    "|apikey|accesskey|secret|passw|passcode|passphrase|authent|authoriz|credential|bearer|cookie"
)
# A secret, or a number of them.
_TOKEN: Final = re.compile(r"(?:^|[^a-z])[a-z]*tokens?(?:$|[^a-z])")
_CACHE: Final = "prompt_cache_key"  # names requests that share a cache: no secret
_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def canonical(fields: Mapping[str, object]) -> str:
    """The canonical text of fields. Raises TypeError, ValueError for what JSON cannot hold."""
    return json.dumps(
        fields, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )


def body_of(fields: object) -> str:
    """The canonical text of fields that a request can have. Raises ValueError, with the reason."""
    if not isinstance(fields, dict):
        raise ValueError("it is no table of fields")
    _check(fields)
    try:
        text = canonical(fields)
        size = len(text.encode())
    except (TypeError, ValueError):
        raise ValueError("it has a date, number or character that JSON cannot hold") from None
    if size > SIZE_MAX:
        raise ValueError(f"it has more than {SIZE_MAX:,} bytes")
    return text


def is_canonical(value: object) -> bool:
    """Whether a value is the canonical text of fields that a request can have."""
    try:
        return type(value) is str and body_of(json.loads(value)) == value
    except (ValueError, RecursionError):
        return False


def _check(fields: Mapping[str, object]) -> None:
    """Raises ValueError, with the reason, for fields that no request can have."""
    if not fields:
        raise ValueError("it is empty")
    for depth, name, value, is_property in _parts(fields):
        plain, shown = _plain(name), format_value(name)
        is_inner = isinstance(value, (dict, list))
        if depth > DEPTH_MAX:
            raise ValueError(f"it is nested more than {DEPTH_MAX} deep")
        if plain in _SENT and not is_property:
            raise ValueError(f"{shown} is sent by goldrush, or changes what is asked")
        if _MORE.fullmatch(plain) and value != 1 and not is_inner:
            raise ValueError(f"{shown} asks for more than one answer of `max_tokens`")
        if _is_secret(plain, value):
            raise ValueError(f"{shown} is the name of a secret, and a journal would keep it")


def _is_secret(plain: str, value: object) -> bool:
    """Whether a field holds a secret by its name; under a name of tokens, texts are such."""
    if _TOKEN.search(plain):
        each = [value, *(inner for _, _, inner, _ in _parts(value))]
        return any(isinstance(inner, str) for inner in each)
    return plain != _CACHE and _SECRET.search(plain) is not None


def _plain(name: str) -> str:
    """A name in small letters, with its words apart: `maxTokens` is `max_tokens`."""
    return _WORD.sub("_", name).lower().replace("-", "_")


def _parts(value: Any, depth: int = 1, above: str = "") -> Iterator[tuple[int, str, Any, bool]]:
    """(depth, name, value, whether it is a property of a JSON schema) of all values inside one.
    name: empty in a list; `above`: the name of the value itself.
    """
    items = value if isinstance(value, list) else ()
    for name, each in value.items() if isinstance(value, dict) else zip(repeat(""), items):
        is_inner = isinstance(each, (dict, list))
        is_property = above == "properties" and isinstance(each, dict)
        yield depth + is_inner, name, each, is_property
        if is_inner and depth <= DEPTH_MAX:
            yield from _parts(each, depth + 1, name)
