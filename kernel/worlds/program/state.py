"""The state of a program's run: what is known of it without running it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import attrs
import msgspec
from xxhash import xxh3_64_intdigest

from goldrush.kernel.codec import fingerprint
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.shape import TEXT, Kind, several
from goldrush.kernel.world import Block, Past, Row
from goldrush.kernel.worlds.program.events import ANSWERED, ASKED, ENDED, NOTED, RESTARTED
from goldrush.kernel.worlds.program.values import OBJECT, Json, References, Stored


def _texts_by_name(value: object) -> bool:
    return type(value) is dict and all(
        type(name) is str and type(text) is str for name, text in value.items()
    )


_HASHSEED: Final = Kind(
    "random or a number", lambda value: TEXT.holds(value) and _SEED.fullmatch(value) is not None
)
_SEED: Final = re.compile("random|[0-9]{0,10}")
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
# Numbers of tokens, by the names that the known servers give them.
INPUT: Final = ("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_eval_count")
OUTPUT: Final = ("completion_tokens", "output_tokens", "candidatesTokenCount", "eval_count")
_USAGE: Final = ("usage", "usageMetadata")
_WITHIN: Final = ("message", "response")  # of an event of a stream


class Tokens(msgspec.Struct, frozen=True):
    """Numbers of tokens: of requests, and of answers."""

    input: int = 0
    output: int = 0


NO_TOKENS: Final = Tokens()


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
        statuses, models: the numbers of exchanges by status and by model.
        took, tokens: those of the last answer, and the sum of those of all answers.
        notes: the last note of each name.
        exit_code: of the process; None: it has not ended.
        asked, answered: the rows of the last exchange; None before the first, and at an end.
    """

    setup: Mapping[str, Any]
    declared: int
    source: str
    model: str = ""
    unit: int = 0
    chain: int = 0
    seen: References = attrs.field(factory=References, repr=False)
    process: int = 1
    exchanges: int = 0
    arrived: int = 0
    statuses: dict[int, int] = attrs.field(factory=dict)
    models: dict[str, int] = attrs.field(factory=dict)
    took: Tokens = NO_TOKENS
    tokens: Tokens = NO_TOKENS
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
    return ProgramState(setup, fingerprint(setup), _sha256_in(setup))


def _sha256_in(facts: Mapping[str, Any]) -> str:
    sha256: str = facts["source"]["sha256"]
    return sha256


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
        arrival, status, _, _, body, chunks, _ = row
        state.arrived = max(state.arrived, arrival)
        state.seen.add(body)
        state.exchanges += 1
        state.statuses[status] = state.statuses.get(status, 0) + 1
        state.took = took = tokens_of(plain_json(state, body), chunks)
        before = state.tokens
        state.tokens = Tokens(before.input + took.input, before.output + took.output)
        state.answered, state.asked = row, None
    elif code == ASKED:
        state.seen.add(row[-1])
        model = str(state.seen.plain(member(row[-1], "model")) or "")
        state.models[model] = state.models.get(model, 0) + 1
        state.asked = row
    elif code == NOTED:
        name, value = row
        state.seen.add(value)
        state.notes[name] = plain_json(state, value)
    elif code == ENDED:
        state.exit_code = row[0]
        state.asked = state.answered = None


def member(value: Stored, name: str) -> Stored:
    """The member of a stored object; None if it has none of this name."""
    if isinstance(value, tuple) and value[0] == OBJECT:
        return dict(zip(value[1::2], value[2::2], strict=True)).get(name)
    return None


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
    changes = show_fork(facts)["changes"]
    state.model, state.source = changes.get("model", state.model), _sha256_in(facts)
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


def tokens_of(body: Json, chunks: Sequence[bytes] = ()) -> Tokens:
    """The tokens that an answer reports: its body, or the events of a stream, of which each number
    is the largest so far. What reports none has 0.
    """
    reports = [*_reports([body, *_streamed(chunks)])]
    return Tokens(_largest(reports, INPUT), _largest(reports, OUTPUT))


def _streamed(chunks: Sequence[bytes]) -> Iterator[Json]:
    """The JSON values of a stream: of its lines of data, or of its lines."""
    for line in b"".join(chunks).splitlines():
        if any(name.encode() in line for name in (*_USAGE, *INPUT, *OUTPUT)):
            with suppress(ValueError, RecursionError):
                yield json.loads(line.removeprefix(b"data:"))


def _reports(values: Iterable[Json]) -> Iterator[dict[str, Json]]:
    for value in values:
        if isinstance(value, dict):
            yield value
            for name in _USAGE:
                if isinstance(inner := value.get(name), dict):
                    yield inner
            yield from _reports(value.get(name) for name in _WITHIN)


def _largest(reports: Iterable[dict[str, Json]], names: Sequence[str]) -> int:
    counts = (report.get(name) for report in reports for name in names)
    return max((n for n in counts if isinstance(n, int) and 0 <= n < 1 << 53), default=0)
