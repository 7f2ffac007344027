"""The text of an answer, in the known protocols, whole or in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from goldrush.agents.worlds.program.requests import Response
from goldrush.kernel.errors import BadInput
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.program.state import ProgramState, plain_json
from goldrush.kernel.worlds.program.values import Json, parsed

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
    rest: str | None = text
    for line, event in _events(answer):
        if rest is not None and event is not None and _put(event, PIECES, rest):
            line, rest = b"data: " + msgspec.json.encode(event), ""
        chunks.append(line + b"\n")
    if rest:
        raise BadInput(
            "the text of the recorded answer is at no known place", "give a whole body: JSON"
        )
    return replace(answer, chunks=chunks, is_cut=False)


def _events(answer: Response) -> Iterator[tuple[bytes, Json]]:
    """The lines of a stream, each with the JSON that it has; None: it has none."""
    for line in b"".join(answer.chunks).removesuffix(b"\n").split(b"\n"):
        value = parsed(line.removeprefix(b"data:").strip())
        yield line, None if isinstance(value, bytes) else value


def _text_at(value: Json, paths: Sequence[Path]) -> str | None:
    place = _place(value, paths)
    return None if place is None else str(place[0][place[1]])


def _put(value: Json, paths: Sequence[Path], text: str) -> bool:
    """Put a text in place of the one at the first of these paths; whether there was one."""
    place = _place(value, paths)
    if place is not None:
        place[0][place[1]] = text
    return place is not None


def _place(value: Json, paths: Sequence[Path]) -> tuple[Any, str | int] | None:
    """What has the text at the first of these paths, and its key there; None: there is none."""
    for *front, last in paths:
        below: Any = value
        try:
            for key in front:
                below = below[key]
            if isinstance(below[last], str):
                return below, last
        except (LookupError, TypeError):
            continue
    return None
