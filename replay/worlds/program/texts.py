"""The texts of requests and answers, in the known protocols, whole or in pieces."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from goldrush.agents.worlds.program.requests import Response
from goldrush.kernel.errors import BadInput
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.program.state import ProgramState, plain_json
from goldrush.kernel.worlds.program.values import Body, Json, parsed
from goldrush.replay.text import cut_middle

Path = Sequence[str | int]

# Where the text of an answer stands, and that of a piece of a stream.
WHOLE: Final[Sequence[Path]] = (
    ("choices", 0, "message", "content"), ("choices", 0, "text"), ("content", 0, "text"),
    ("output", 0, "content", 0, "text"), ("candidates", 0, "content", "parts", 0, "text"),
    ("message", "content"), ("response",),
)  # fmt: skip
PIECES: Final[Sequence[Path]] = (
    ("choices", 0, "delta", "content"), ("choices", 0, "text"), ("delta", "text"), ("delta",),
    ("candidates", 0, "content", "parts", 0, "text"), ("message", "content"), ("response",),
)  # fmt: skip
# Where the texts of a message stand, and what is none of it: caches move this along a chat.
TEXTS: Final = ("content", "parts", "text")
NO_TEXT: Final = ("role", "type", "cache_control")
OTHER_MAX: Final = 2_000  # characters of JSON, and of bodies that are none
# How servers write JSON: separators, indent, whether ASCII alone, and what follows.
STYLES: Final = [
    *product([(",", ":"), (", ", ": ")], [None], [True, False], ["", "\n"]),
    *product([(",", ": ")], [2], [True, False], ["", "\n"]),
]


def written(value: Json, style: int) -> bytes:
    """JSON in one of STYLES, its keys in their order."""
    separators, indent, is_ascii, end = STYLES[style]
    text = json.dumps(value, separators=separators, indent=indent, ensure_ascii=is_ascii)
    return f"{text}{end}".encode()


def read(body: bytes) -> tuple[Json, int] | None:
    """A body as JSON with its style; None if none of them gives these bytes."""
    value = parsed(body)
    if isinstance(value, bytes):
        return None
    for style, (_, indent, _, end) in enumerate(STYLES):
        is_like = body.endswith(b"\n") == bool(end) and (b"\n " in body[:100]) == bool(indent)
        if is_like and written(value, style) == body:
            return value, style
    return None


def response_of(state: ProgramState, row: Row) -> Response:
    """The answer in a row of `answered`; `state`: after it."""
    _, status, headers, style, body, chunks, is_cut = row
    if style is not None:
        chunks = [written(plain_json(state, body), style)]
    return Response(status, headers, chunks, is_cut)


def said_in(answer: Response) -> str:
    """The text of an answer; of one of no known form, its body."""
    return text_of(answer) or b"".join(answer.chunks).decode("utf-8", "backslashreplace")


def text_of(answer: Response) -> str | None:
    """The text of an answer; None for one of no known form."""
    value = parsed(b"".join(answer.chunks))
    if not isinstance(value, bytes):
        return _text_at(value, WHOLE)
    pieces = [_text_at(event, PIECES) for _, event in _events(answer) if event is not None]
    texts = [piece for piece in pieces if piece is not None]
    return "".join(texts) if texts else None


def with_text(answer: Response, text: str) -> Response:
    """An answer with another text, in the form of the recorded one; or `text` itself, if that is a
    JSON object. Raises BadInput for an answer of no known form.
    """
    body = parsed(b"".join(answer.chunks))
    if isinstance(body, dict) and _put(body, WHOLE, text):
        return replace(answer, chunks=[msgspec.json.encode(body)], is_cut=False)
    if isinstance(parsed(text.encode()), dict):
        return Response(200, [("content-type", "application/json")], [text.encode()])
    chunks = []
    rest, old = text, text_of(answer)
    for line, event in _events(answer):
        if event is not None and _put(event, PIECES, rest):
            line, rest = b"data: " + msgspec.json.encode(event), ""
        elif old and event is not None and (again := _in_place(event, old, text)) != event:
            line = b"data: " + msgspec.json.encode(again)
        chunks.append(line + b"\n")
    if rest:
        raise BadInput(
            f"the recorded answer, of status {answer.status}, has no text at a known place",
            "give a whole body: JSON",
        )
    return replace(answer, chunks=chunks, is_cut=False)


def _in_place(value: Json, old: str, text: str) -> Json:
    """A value with a text in place of each that is `old`: streams of responses repeat at their end
    what they have said. Raises BadInput for a part of it, which has no place in the new text.
    """
    if isinstance(value, list):
        return [_in_place(item, old, text) for item in value]
    if not isinstance(value, dict):
        return value
    part = value.get("text")
    if isinstance(part, str) and part and part != old and part in old:
        what = "the recorded answer has its text in several parts"
        raise BadInput(what, "give a whole body: JSON")
    return {
        key: text if (key, item) == ("text", old) else _in_place(item, old, text)
        for key, item in value.items()
    }


def said(item: Json, name: str) -> tuple[str, str]:
    """A message of a chat: its role, or this name if it has none; its texts, and as JSON what else
    it has.
    """
    role = item.get("role") if isinstance(item, dict) else None
    return str(role or name), _words(item)


def _words(value: Json) -> str:
    if isinstance(value, list):
        return "\n".join(map(_words, value))
    if not isinstance(value, dict):
        return shown(value)
    texts = [_words(value[name]) for name in TEXTS if value.get(name)]
    rest: Json = {k: v for k, v in value.items() if v and k not in (*TEXTS, *NO_TEXT)}
    return "\n".join([*texts, *([shown(rest)] if rest else [])])


def shown(value: Body) -> str:
    """A text as it is; anything else as JSON, cut."""
    if isinstance(value, str):
        return value
    raw = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
    return cut_middle(raw.decode("utf-8", "backslashreplace"), OTHER_MAX, " ... ")


def common(one: str, two: str) -> int:
    """With how many characters two texts begin alike."""
    return len(os.path.commonprefix([one, two]))  # noqa: RUF071  # of texts, no paths


def _events(answer: Response) -> Iterator[tuple[bytes, Json]]:
    """The lines of a stream, each with the JSON that it has; None: it has none."""
    for line in b"".join(answer.chunks).removesuffix(b"\n").split(b"\n"):
        value = parsed(line.removeprefix(b"data:").strip())
        yield line, None if isinstance(value, bytes) else value


def _text_at(value: Json, paths: Sequence[Path]) -> str | None:
    found = _holder(value, paths)
    return None if found is None else str(found[0][found[1]])


def _put(value: Json, paths: Sequence[Path], text: str) -> bool:
    """Put a text in place of the one at the first of these paths; whether there was one."""
    found = _holder(value, paths)
    if found is not None:
        found[0][found[1]] = text
    return found is not None


def _holder(value: Json, paths: Sequence[Path]) -> tuple[Any, str | int] | None:
    """What holds the text at the first of these paths where one is, with the key of it."""
    for *front, last in paths:
        with suppress(LookupError, TypeError):
            below: Any = value
            for key in front:
                below = below[key]
            if isinstance(below[last], str):
                return below, last
    return None
