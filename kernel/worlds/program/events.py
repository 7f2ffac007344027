"""The events of a program: what servers answered, and what it asked, noted and gave at its end."""

from __future__ import annotations

import re
from typing import Final

from goldrush.kernel.shape import (
    BOOLEAN,
    NATURAL,
    TEXT,
    Kind,
    between,
    optional,
    row,
    several,
)
from goldrush.kernel.world import OTHER, EventType
from goldrush.kernel.worlds.program.values import BODY, VALUE, shown

RESTARTED, ANSWERED, EXITED, ASKED, NOTED, ENDED = range(6)

STYLE_MAX: Final = 11  # of the ways to write JSON; see replay/worlds/program/texts.py
_BYTES: Final = Kind("bytes", lambda value: type(value) is bytes, shown)
_PAIRS: Final = several(row(TEXT, TEXT))
# Headers of answers that are kept, and served again.
KEPT: Final = (
    "content-type", "retry-after", "retry-after-ms", "x-should-retry", "x-request-id",
    "request-id", "openai-model", "apim-request-id",
)  # fmt: skip
_PRINTED: Final = re.compile(r"[\t\x20-\x7e]{0,4096}")
_HEADERS: Final = Kind(
    "headers that are kept",
    lambda value: _PAIRS.holds(value) and all(is_kept(*pair) for pair in value),
    _PAIRS.show,
)


def is_kept(name: str, text: str) -> bool:
    """Whether a header of an answer, with a lower-case name, is recorded."""
    return name in KEPT and _PRINTED.fullmatch(text) is not None


EVENTS: Final = (
    EventType(
        "restarted",
        {
            "process": NATURAL.means("the number of the process, from 2 on"),
            "exchanges": several(NATURAL).means("the exchanges that it was served again, in order"),
            "notes": several(NATURAL).means("the notes that it made again, from 1 on"),
        },
        is_input=True,
        text="process {process} has asked again for the exchanges {exchanges}",
        cases={"exchanges": {None: "(none)", OTHER: "{exchanges}"}},
    ),
    EventType(
        "answered",
        {
            "arrival": NATURAL.means("the number of its request in the order of arrival, from 1"),
            "status": between(200, 599).means("the status of HTTP; 502, too: no answer came"),
            "headers": _HEADERS.means("its headers, of those that are kept"),
            "style": optional(between(0, STYLE_MAX)).means(
                "how the server writes JSON; null: the body is in chunks"
            ),
            "body": VALUE.means("the JSON of the body, in the order of its keys"),
            "chunks": several(_BYTES).means("the pieces of a stream, and of what is no JSON"),
            "is_cut": BOOLEAN.means("the answer broke off"),
        },
        is_input=True,
        text="answered with status {status}{is_cut}",
        cases={"is_cut": {True: ", and broken off", OTHER: ""}},
    ),
    EventType("exited", {}, is_input=True, text="the program has ended"),
    EventType(
        "asked",
        {
            "caller": TEXT.means("who asked: the path of its creation, or empty"),
            "upstream": TEXT.means("the server, by name"),
            "method": TEXT.means("the method of HTTP"),
            "path": TEXT.means("the path at the server"),
            "query": _PAIRS.means("the query, without secrets"),
            "headers": _PAIRS.means("the headers that are compared"),
            "body": BODY.means("the body: JSON with its keys sorted, or bytes"),
        },
        text="{caller}{method} {path} at {upstream}",
        cases={"caller": {"": "", OTHER: "{caller} asks: "}},
    ),
    EventType(
        "noted",
        {
            "name": TEXT.means("the name of what the program notes"),
            "value": VALUE.means("its value"),
        },
        text="{name}: {value}",
    ),
    EventType(
        "ended",
        {
            "code": between(-255, 255).means("the exit code; negative: the signal"),
            "outputs": several(row(TEXT, TEXT, NATURAL)).means(
                "stdout and files: name, SHA-256, bytes"
            ),
        },
        text="exit code {code}",
    ),
)
