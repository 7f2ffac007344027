"""Requests as they are recorded and compared: canonical, without secrets, masked.

Headers stand by an allow-list: a list of what is secret would let an unknown secret through. Of a
query, what looks like a secret is left out. What a program sends as its credentials is looked for
in bodies, too: servers repeat a wrong key in their errors.
"""

from __future__ import annotations

import hashlib
import json
import re
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from threading import current_thread, main_thread
from typing import Final, TypeVar
from urllib.parse import quote

import msgspec
from xxhash import xxh3_128_digest

from goldrush.agents.pool import in_child
from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.program.values import Body, Json, packed, parsed
from goldrush.kernel.worlds.program.world import Asked

T = TypeVar("T")
Pairs = Iterable[tuple[str, str]]  # names and values
CALLER: Final = "x-goldrush-caller"
COMPARED: Final = ("accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta")
# Headers that change nothing in an answer, or are made anew for each connection.
_IGNORED: Final = re.compile(
    r"accept-encoding|accept-language|cache-control|connection|content-length|cookie|dnt|expect|host"
    r"|idempotency-key|keep-alive|origin|pragma|priority|referer|sec-.*|te|traceparent|tracestate|transfer-encoding"
    r"|upgrade.*|user-agent|x-stainless-.*|x-goldrush-.*|x-request-id|x-client-.*|x-goog-api-client"
)
_SECRET: Final = re.compile(
    r"auth|cookie|credential|key|passw|secret|session|sig\b|signature|token", re.IGNORECASE
)
_NO_SECRET: Final = re.compile(
    r"(?<![a-z])(max|count|budget|limit)(?![a-z])|maxtokens|tokenizer|author(?!i)|idempotency", re.I
)
# Credentials in a text in lower case, in time that grows with its length alone: behind their name,
# in JSON, a form, a command or a script, and what has the form of a provider's keys.
_CREDENTIAL: Final = re.compile(
    rb"""
    (?: (?:api|access|auth|client|private|secret)[-_]?(?:key|token|secret)
        (?: "\s{0,9}:\s{0,9}" | \s{0,3}=\s{0,3}["']? ) | -(?:key|token|password)= )
        ( [^"'&=\s\\()\[\]{}]{8,999} )
    | bearer[ ] ( [\w.~+/-]{12,999} )
    | (?<![\w-]) (?:sk|gsk|xai|pplx|csk|rk|pk|hf|r8|key|tgp|nvapi|tvly|fw)[-_]
        (?=[a-z_-]{0,40}\d) [\w-]{20,200}
    | aiza [\w-]{30,200}
    """,
    re.VERBOSE,
)
# What every text with such a credential has; and the pieces of a body, none of which cuts one.
_HINT: Final = re.compile(rb'=|(?:key|token|secret)"|bearer |aiza|[-_][\w-]{20}')
_PIECE: Final = re.compile(rb"(?s).{1,256}[^}]*}?")
SECONDS_MAX: Final = 10.0  # of the masks of a request
SECRETS_MAX: Final = 300  # that headers add; each body is searched for all
_SECRET_MIN: Final = 8  # characters of a value with a digit; shorter ones are found in any text
_WORD_MIN: Final = 16  # characters of one without
# Statuses below 500 of answers that were not paid for, and that may be others the next time.
UNPAID: Final = (401, 402, 403, 408, 409, 429)
HIDDEN: Final = b"(secret)"


class Response(msgspec.Struct, frozen=True):
    """What a server gave: status, headers, the pieces of the body, and whether it broke off."""

    status: int
    headers: Sequence[tuple[str, str]]
    chunks: Sequence[bytes]
    is_cut: bool = False

    @property
    def is_success(self) -> bool:
        """Whether it is served again when a run is resumed: failures were not paid for."""
        return self.status < 500 and self.status not in UNPAID and not self.is_cut


def is_secret(name: str) -> bool:
    """Whether the value of a header, a parameter or a variable of this name is a secret."""
    return bool(_SECRET.search(name)) and not _NO_SECRET.search(name)


class Secrets:
    """The credentials that a program has, as far as they are known, and texts without them."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Begin with those of the environment."""
        self._known: set[bytes] = set()
        self._searched: dict[bytes, Sequence[bytes]] = {}  # by digest: chats repeat their history
        self.add(environment.items())

    def add(self, pairs: Pairs, body: bytes = b"") -> None:
        """Take the values of what has such a name, in pairs and in a body of a request, and what
        looks like a key there; of `Bearer KEY`, the key, too.
        """
        found = [value for name, value in pairs if is_secret(name)]
        for piece in _PIECE.findall(body):
            digest = xxh3_128_digest(piece)
            if digest not in self._searched:
                lower = piece.lower()
                matches = _CREDENTIAL.finditer(lower) if _HINT.search(lower) else ()
                self._searched[digest] = [piece[slice(*m.span(m.lastindex or 0))] for m in matches]
            found += (text.decode("utf-8", "replace") for text in self._searched[digest])
        for value in found:
            for part in (value, *re.split(r"[\s;=,]+", value)):
                least = _SECRET_MIN if any(map(str.isdecimal, part)) else _WORD_MIN
                if len(part) >= least:
                    forms = {part, json.dumps(part)[1:-1], quote(part, safe="")}
                    self._known.update(form.encode("utf-8", "surrogateescape") for form in forms)

    def with_those_of(self, headers: Pairs, query: Pairs, text: bytes) -> Secrets:
        """These and those of a request, for it and its answer alone: what is hidden of others does
        not depend on their order. What is secret of its headers stays, up to SECRETS_MAX: a program
        has the same key in all requests, but not the same session.
        """
        if len(self._known) < SECRETS_MAX:
            self.add(pair for pair in headers if not re.search("cookie|session", pair[0]))
        own = Secrets({})
        own._known, own._searched = {*self._known}, self._searched
        own.add([*headers, *query], text)
        return own

    def hidden(self, body: bytes) -> bytes:
        """A body without the known credentials."""
        for secret in sorted(self._known, key=len, reverse=True):
            body = body.replace(secret, HIDDEN)
        return body

    def split(self, body: bytes) -> tuple[bytes, bytes]:
        """A piece of a body without the known credentials, and its end that may begin one."""
        body = self.hidden(body)
        at = len(body)
        for secret in self._known:
            start = body.find(secret[:1], max(0, len(body) - len(secret) + 1))
            while 0 <= start < at:
                if secret.startswith(body[start:]):
                    at = start
                start = body.find(secret[:1], start + 1)
        return body[:at], body[at:]

    def hidden_in(self, text: str) -> str:
        """A text without the known credentials, and without what is not UTF-8."""
        return self.hidden(text.encode("utf-8", "replace")).decode()

    def in_command(self, words: Sequence[str]) -> tuple[str, ...]:
        """The words of a command without the known credentials and those that it has itself."""
        pairs = [f"{option}={word}" for option, word in pairwise(words) if option[:1] == "-"]
        self.add((), "&".join([*words, *pairs]).encode("utf-8", "replace"))
        return tuple(map(self.hidden_in, words))


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
            text = pattern.sub(name, text)
        return text

    def in_time(self, work: Callable[[], T]) -> T:
        """What a function gives that masks, within SECONDS_MAX. Raises BadInput beyond: of some
        patterns the time grows with each character to its double.

        Only a main thread can end a match, and while it lasts no other thread runs. So a thread has
        it done in a process of its own.
        """
        if not self._masks:
            return work()
        if current_thread() is not main_thread():
            return in_child(_timed, work)
        return _timed(work)

    def in_value(self, value: Json) -> Json:
        """A value with its keys sorted and its texts masked."""
        if isinstance(value, dict):
            return {key: self.in_value(value[key]) for key in sorted(value)}
        if isinstance(value, str):
            return self.masked(value) if self._masks else value
        return [*map(self.in_value, value)] if isinstance(value, list) else value


def _timed(work: Callable[[], T]) -> T:
    if current_thread() is not main_thread():  # of macOS, where `in_child` makes no process
        return work()

    def end(number: int, frame: object) -> None:
        raise BadInput("a mask takes too long", "give a pattern without repeats in repeats")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, SECONDS_MAX)
    try:
        return work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def asked_of(
    caller: str, upstream: str, method: str, path: str,
    query: Pairs, headers: Pairs, body: bytes,
    secrets: Secrets, masks: Masks,
) -> Asked:  # fmt: skip
    """A request as it is recorded. `headers`: with lower-case names; `secrets`: with its own."""
    value = parsed(secrets.hidden(body)) if body else b""
    hidden = secrets.hidden_in

    def masked() -> tuple[Body, list[tuple[str, str]], str]:
        kept = ((hidden(name), hidden(text)) for name, text in query if not is_secret(name))
        shown = [(name, masks.masked(text)) for name, text in kept]
        if not isinstance(value, bytes):
            return masks.in_value(value), shown, masks.masked(hidden(path))
        text = masks.masked(value.decode("utf-8", "surrogateescape"))
        return text.encode("utf-8", "surrogateescape"), shown, masks.masked(hidden(path))

    value, shown, path = masks.in_time(masked)
    kept = [(name, hidden(text)) for name, text in headers if name in COMPARED]
    return Asked(caller, upstream, method, path, tuple(sorted(shown)), tuple(sorted(kept)), value)


def not_compared(headers: Pairs) -> list[str]:
    """The names of headers that may matter and are not compared."""
    known = (name for name, _ in headers if name not in COMPARED and not is_secret(name))
    return sorted({name for name in known if not _IGNORED.fullmatch(name)})


def key_of(asked: Asked) -> bytes:
    """What two requests have in common if they are the same but for who asks: 256 bits."""
    _, *compared = msgspec.structs.astuple(asked)
    return hashlib.sha256(packed(compared)).digest()
