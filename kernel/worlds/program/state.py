"""The state of a program's run: what is known of it without running it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from operator import add
from typing import Any, Final

import attrs
import msgspec
from xxhash import xxh3_64_intdigest

from goldrush.kernel.codec import fingerprint
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.shape import TEXT, Kind, several
from goldrush.kernel.world import Block, Past, Row
from goldrush.kernel.worlds.program.events import ANSWERED, ASKED, ENDED, NOTED, RESTARTED
from goldrush.kernel.worlds.program.values import Json, References, Stored


def _texts_by_name(value: object) -> bool:
    return type(value) is dict and all(
        type(name) is str and type(text) is str for name, text in value.items()
    )


_SEED: Final = re.compile("random|[0-9]{0,10}")
_HASHSEED: Final = Kind(
    "random or a number", lambda value: TEXT.holds(value) and _SEED.fullmatch(value) is not None
)
_BY_NAME: Final = Kind("texts by name", _texts_by_name)
_SOURCE: Final = Kind(
    "sha256 and text",
    lambda value: (
        type(value) is dict
        and list(value) == ["sha256", "text"]
        and type(value["sha256"]) is str
        and type(value["text"]) in (str, type(None))
    ),
)
# What START records: the words of the command; the URLs of servers by name, without credentials,
# and the names of servers by variable, as far as they were given; the masks; the files that are
# compared at the end; the seed of Python's hashes; the files of the command, as one source.
SETUP: Final[Mapping[str, Kind]] = {
    "command": several(TEXT),
    "upstreams": _BY_NAME,
    "variables": _BY_NAME,
    "masks": several(TEXT),
    "outputs": several(TEXT),
    "hashseed": _HASHSEED,
    "source": _SOURCE,
}
# Numbers of tokens, by the names of the known servers: of requests, of answers, and of these those
# that came from a cache, and those of reasoning. A server adds those that stand together.
_COUNTS: Final[Sequence[Sequence[Sequence[str]]]] = (
    (("prompt_tokens",), ("promptTokenCount",), ("prompt_eval_count",),
     ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")),
    (("completion_tokens",), ("output_tokens",), ("eval_count",),
     ("candidatesTokenCount", "thoughtsTokenCount")),
    (("cached_tokens",), ("cache_read_input_tokens",), ("cachedContentTokenCount",)),
    (("reasoning_tokens",), ("thoughtsTokenCount",)),
)  # fmt: skip
_LEVELS: Final = 4  # of objects: an event has a message, with a usage, with details


class Tokens(msgspec.Struct, frozen=True):
    """Numbers of tokens: of requests, of answers, and of these those that came from a cache, and
    those of reasoning.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(*map(add, msgspec.structs.astuple(self), msgspec.structs.astuple(other)))


@attrs.define(eq=False)
class ProgramState:
    """The state between two units. It changes in place.

    Attributes:
        setup: what START records.
        declared: 64 bits of it, and of the forks.
        source: the SHA-256 of the files of the command.
        model: the model that is asked in place of the program's, since a fork; empty: its own.
        unit: the number of closed units.
        chain: 64 bits of all events so far.
        seen: what the journal refers to by number.
        process: the number of the process that asks, from 1.
        exchanges: the number of exchanges.
        arrived: the greatest number of a request that is answered.
        took, tokens: those of the last answer (None: it reports none), and their sum.
        notes: the last note of each name.
        exit_code: of the process; None: it has not ended.
        asked, answered: the rows of the last exchange; None before the first, and at an end.
    """

    setup: Mapping[str, Any]
    declared: int
    source: str = ""
    model: str = ""
    unit: int = 0
    chain: int = 0
    seen: References = attrs.field(factory=References, repr=False)
    process: int = 1
    exchanges: int = 0
    arrived: int = 0
    took: Tokens | None = None
    tokens: Tokens = attrs.field(factory=Tokens)
    notes: dict[str, Json] = attrs.field(factory=dict)
    exit_code: int | None = None
    asked: Row | None = None
    answered: Row | None = None


def initial(setup: Mapping[str, object]) -> ProgramState:
    """The state before the first exchange. Raises BadInput for an invalid setup."""
    if list(setup) != list(SETUP):
        raise BadInput(f"the setup has {', '.join(map(str, setup))}", f"it has {', '.join(SETUP)}")
    for name, kind in SETUP.items():
        if not kind.holds(setup[name]):
            raise BadInput(f"{name} is {format_value(setup[name])}", f"it must be {kind.name}")
    state = ProgramState(setup, fingerprint(setup))
    state.source = state.setup["source"]["sha256"]
    return state


def evolve(state: ProgramState, block: Block) -> ProgramState:
    """The state after these events."""
    state.chain = xxh3_64_intdigest(block.packed, state.chain)
    for code, rows in block:
        for row in rows:
            _apply(state, code, row)
    return state


def _apply(state: ProgramState, code: int, row: Row) -> None:
    if code == RESTARTED:
        state.process, state.exit_code = row[0], None
    elif code == ANSWERED:
        arrival, _, _, _, body, chunks, _ = row
        state.arrived = max(state.arrived, arrival)
        state.seen.add(body)
        state.exchanges += 1
        state.took = tokens_of(plain_json(state, body), chunks)
        state.tokens += state.took or Tokens()
        state.answered, state.asked = row, None
    elif code == ASKED:
        state.seen.add(row[-1])
        state.asked = row
    elif code == NOTED:
        name, value = row
        state.seen.add(value)
        state.notes[name] = plain_json(state, value)
    elif code == ENDED:
        state.exit_code = row[0]
        state.asked = state.answered = None


def plain_json(state: ProgramState, value: Stored) -> Json:
    """A stored value that is no body of bytes."""
    plain = state.seen.plain(value)
    assert not isinstance(plain, bytes)
    return plain


def close(state: ProgramState) -> ProgramState:
    """The state with the unit closed."""
    state.unit += 1
    return state


def ended(state: ProgramState) -> bool:
    """Whether the run is over: a program that failed can be resumed."""
    return state.exit_code == 0


def digest(state: ProgramState) -> int:
    """64 bits that cover the state, which follows from what START declares and all events."""
    return fingerprint((state.declared, state.chain, state.unit))


def fork(state: ProgramState, facts: Mapping[str, object], past: Past) -> ProgramState:
    """The state with a fork's changes. Raises BadInput for invalid facts."""
    shown = show_fork(facts)
    state.model = shown["changes"].get("model", state.model)
    state.source = shown["source"]["sha256"]
    state.declared = fingerprint([state.declared, facts])
    state.exit_code = None
    return state


def show_fork(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """The facts of a fork: its parent's SHA-256, changes, whether the answer of the next exchange
    is another, and the files of the command. Raises BadInput for any others.
    """
    names = ["parent", "changes", "answer", "source"]
    if list(facts) != names:
        raise BadInput(f"a fork has {', '.join(map(str, facts))}", f"it has {', '.join(names)}")
    parent, changes, answer, source = facts.values()
    if type(parent) is not str or len(parent) != 64 or set(parent) - set("0123456789abcdef"):
        raise BadInput(f"the parent is {format_value(parent)}", "it must be a SHA-256 in hex")
    if not _texts_by_name(changes) or set(changes) - {"model"}:
        raise BadInput(f"the changes are {format_value(changes)}", "a fork can change the model")
    if answer is not None and answer is not True:
        raise BadInput(f"the answer is {format_value(answer)}", "it is true or null")
    if not _SOURCE.holds(source):
        raise BadInput(f"the source is {format_value(source)}", f"it must be {_SOURCE.name}")
    return facts


def tokens_of(body: Json, chunks: Sequence[bytes] = ()) -> Tokens | None:
    """The tokens that an answer reports: its body, or the events of a stream, of which each number
    is the largest so far; None: it reports none.
    """
    most: dict[str, int] = {}
    for report in _reports([body, *_streamed(chunks)]):
        for name, count in report.items():
            if type(count) is int and 0 <= count < 1 << 53:
                most[name] = max(count, most.get(name, 0))
    sums = [[sum(most.get(name, 0) for name in names) for names in kind] for kind in _COUNTS]
    is_reported = any(name in most for kind in _COUNTS[:2] for names in kind for name in names)
    return Tokens(*map(max, sums)) if is_reported else None


def _streamed(chunks: Sequence[bytes]) -> Iterator[Json]:
    """The JSON values of pieces: of all, of their lines of data, or of their lines."""
    whole = b"".join(chunks)
    for text in (whole, *whole.splitlines()):
        if b"oken" in text or b"eval_count" in text:
            with suppress(ValueError, RecursionError):
                yield json.loads(text.removeprefix(b"data:"))


def _reports(values: Sequence[Json]) -> Iterator[dict[str, Json]]:
    """The objects with numbers of tokens among these values and within them."""
    for _ in range(_LEVELS):
        found = [value for value in values if isinstance(value, dict)]
        yield from found
        values = [value for report in found for value in report.values()]
