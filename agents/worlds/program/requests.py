"""Requests as they are recorded and compared: canonical, without secrets, masked.

Headers stand by an allow-list: a list of what is secret would let an unknown secret through. Of a
query, what looks like a secret is left out. What a program sends as its credentials is looked for
in bodies, too: servers repeat a wrong key in their errors.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.program.values import Json, packed, parsed
from goldrush.kernel.worlds.program.world import Asked

CALLER: Final = "x-goldrush-caller"
COMPARED: Final = ("accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta")
# Headers that change nothing in an answer, or are made anew for each connection.
_IGNORED: Final = re.compile(
    r"accept-encoding|accept-language|cache-control|connection|content-length|cookie|dnt|expect|host"
    r"|keep-alive|origin|pragma|priority|referer|sec-.*|te|traceparent|tracestate|transfer-encoding"
    r"|upgrade.*|user-agent|x-stainless-.*|x-goldrush-.*|x-request-id|x-client-.*|x-goog-api-client"
)
_SECRET: Final = re.compile(
    r"auth|cookie|credential|key|passw|secret|session|sig\b|signature|token", re.IGNORECASE
)
_NO_SECRET: Final = re.compile(r"max|count|budget|limit|tokenizer", re.IGNORECASE)
# Something like the key of a provider.
KEY: Final = re.compile(
    r"\b(?:sk|gsk|xai|pplx|csk|rk|pk|hf|r8|key|tgp|nvapi|AIza|Bearer)[-_ ]?[A-Za-z0-9_-]{12,}"
)
_SECRET_MIN: Final = 8  # characters; shorter values are found in any text
RETRIED: Final = (408, 409, 429)  # statuses below 500 of answers that were not paid for
HIDDEN: Final = "(secret)"
_ESCAPED: Final = ("utf-8", "surrogateescape")  # how bytes that are no UTF-8 stand in text


class Response(msgspec.Struct, frozen=True):
    """What a server gave: status, headers, the pieces of the body, and whether it broke off."""

    status: int
    headers: Sequence[tuple[str, str]]
    chunks: Sequence[bytes]
    is_cut: bool = False

    @property
    def is_success(self) -> bool:
        """Whether it is served again when a run is resumed: failures were not paid for."""
        return self.status < 500 and self.status not in RETRIED and not self.is_cut


def is_secret(name: str) -> bool:
    """Whether the value of a header, a parameter or a variable of this name is a secret."""
    return bool(_SECRET.search(name)) and not _NO_SECRET.search(name)


class Secrets:
    """The credentials that a program has, as far as they are known, and texts without them."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Begin with those of the environment."""
        self._known: set[bytes] = set()
        self.add((name, value) for name, value in environment.items() if is_secret(name))

    def add(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Take the values of what has such a name; of `Bearer KEY`, the key, too."""
        for name, value in pairs:
            if is_secret(name):
                for part in [value, *re.split(r"[\s;=,]+", value)]:
                    if len(part) >= _SECRET_MIN:
                        self._known |= {part.encode(*_ESCAPED), json.dumps(part)[1:-1].encode()}

    def hidden(self, body: bytes) -> bytes:
        """A body without the known credentials."""
        for secret in sorted(self._known, key=len, reverse=True):
            body = body.replace(secret, HIDDEN.encode())
        return body


class Masks:
    """What is not compared: the matches of patterns stand as names."""

    def __init__(self, patterns: Sequence[str]) -> None:
        """Compile the patterns. The name of a match is that of the pattern's first named group, or
        `mask 1` for the first pattern. Raises BadInput for an invalid pattern.
        """
        self._masks: list[tuple[re.Pattern[str], str]] = []
        for number, pattern in enumerate(patterns, 1):
            try:
                compiled = re.compile(pattern)
            except re.error as error:
                raise BadInput(f"--mask {pattern}: {error}", "give a regular expression") from None
            name = next(iter(compiled.groupindex), f"mask {number}")
            self._masks.append((compiled, f"<{name}>"))

    def masked(self, text: str) -> str:
        """A text with a name in place of each match."""
        for pattern, name in self._masks:
            text = pattern.sub(name.replace("\\", r"\\"), text)
        return text

    def in_value(self, value: Json) -> Json:
        """A value with its keys sorted and its texts masked."""
        return _canonical(value, self.masked if self._masks else str)


def _canonical(value: Any, masked: Callable[[str], str]) -> Json:
    kind = type(value)
    if kind is str:
        return masked(value)
    if kind is dict:
        return {key: _canonical(value[key], masked) for key in sorted(value)}
    return [_canonical(item, masked) for item in value] if kind is list else value


def asked_of(
    caller: str, upstream: str, method: str, path: str,
    query: Iterable[tuple[str, str]], headers: Iterable[tuple[str, str]], body: bytes,
    secrets: Secrets, masks: Masks,
) -> Asked:  # fmt: skip
    """A request as it is recorded. `headers`: with lower-case names."""
    value = parsed(secrets.hidden(body)) if body else b""
    if isinstance(value, bytes):
        value = masks.masked(value.decode(*_ESCAPED)).encode(*_ESCAPED)
    else:
        value = masks.in_value(value)
    shown = [(name, masks.masked(text)) for name, text in query if not is_secret(name)]
    kept = [(name, text) for name, text in headers if name in COMPARED]
    path = masks.masked(path)
    return Asked(
        caller, upstream, method, path, tuple(sorted(shown)), tuple(sorted(kept)), value
    )  # fmt: skip


def not_compared(headers: Iterable[tuple[str, str]]) -> list[str]:
    """The names of headers that may matter and are not compared."""
    known = (name for name, _ in headers if name not in COMPARED and not is_secret(name))
    return sorted({name for name in known if not _IGNORED.fullmatch(name)})


def key_of(asked: Asked) -> bytes:
    """What two requests have in common if they are the same but for who asks: 256 bits."""
    _, *compared = msgspec.structs.astuple(asked)
    return hashlib.sha256(packed(compared)).digest()
