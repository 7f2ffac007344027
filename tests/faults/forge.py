"""Journals forged under right checksums: whatever value in whatever place.

Checksums are no signature, so whoever writes files can make them hold, and the digests too where
the world still applies the events. So the digests are worked out anew as far as that goes, and the
wrong value meets every reader with nothing in front that would have refused the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

import attrs

from goldrush.kernel.codec import pack
from goldrush.kernel.journal import Commit, Header
from goldrush.kernel.world import Block, World
from tests.journals import refolded
from tests.kernel.tiny_reader import framed

DEPTH = 100_000


@attrs.frozen
class Raw:
    """Bytes to stand where a value would."""

    packed: bytes


# Each is wrong in some place, and most of them in most.
VALUES: dict[str, Any] = {
    "nil": None,
    "true": True,
    "minus one": -1,
    "zero": 0,
    "the largest integer": 2**64 - 1,
    "the smallest integer": -(2**63),
    "a fraction": 0.5,
    "NaN": float("nan"),
    "an infinity": float("inf"),
    "no text": "",
    "text": "x",
    "a long text": "long " * 20_000,
    "text that moves the cursor": "\x1b[2J\x00\u202e",
    "bytes": b"bytes",
    "no list": (),
    "a list of lists": ((), (0,), (0, 1, 2), (0, 0, 2**63)),
    "a long list": (0,) * 70_000,
    "a map": {"a": 1},
    "a map of numbers": {1: 2},
}
RAW: dict[str, Raw] = {
    "text that is not UTF-8": Raw(b"\xa2\xff\xfe"),
    "an extension": Raw(b"\xd4\x05\x00"),
    "a timestamp that is none": Raw(b"\xd7\xff" + b"\xff" * 8),
    "lists in lists": Raw(b"\x91" * DEPTH + b"\x90"),
    "keys in keys": Raw(b"\x81" * DEPTH + b"\x80"),
    "a list of 2^32": Raw(b"\xdd\xff\xff\xff\xff"),
    "a text of 2^32": Raw(b"\xdb\xff\xff\xff\xff"),
    "nothing": Raw(b""),
}
FEW = {
    name: (VALUES | RAW)[name]
    for name in (
        "nil", "true", "minus one", "the largest integer", "NaN", "a long text", "bytes", "no list",
        "a list of lists", "a map of numbers", "text that is not UTF-8", "lists in lists",
    )
}  # fmt: skip

# Of the right kind in many places, and not what follows.
PLAUSIBLE: dict[str, Any] = {
    **{
        name: VALUES[name]
        for name in (
            "nil",
            "zero",
            "true",
            "no text",
            "text",
            "text that moves the cursor",
            "no list",
            "a map",
        )
    },
    "one": 1,
    "two": 2,
    "ninety-nine": 99,
    "false": False,
    "a list of 99": (99,),
    "a list of two": (5, 5),
    "a list of lists": ((0,), (99, 1)),
    "no map": {},
}

Maker = tuple[str, Callable[[], bytes]]


class Journal(Protocol):
    """What is forged: a whole journal, and its world."""

    @property
    def data(self) -> bytes: ...

    @property
    def world(self) -> World[Any]: ...

    @property
    def commits(self) -> Sequence[Commit]: ...


_MARK = "\x01here\x02"


def event_makers(sound: Journal, code: int, values: Mapping[str, Any]) -> Iterator[Maker]:
    """A row of an event type with every field of every wrong value, and of wrong forms, each to be
    made when it is wanted.
    """
    event = sound.world.events[code]
    at, row = _first_row(sound, code)

    def maker(what: str, wrong: Any) -> Maker:
        return what, lambda: _with_row(sound, at, code, row, wrong)

    for place, field in enumerate(event.fields):
        for what, value in values.items():
            wrong = (*row[:place], value, *row[place + 1 :])
            yield maker(f"{event.name}.{field} is {what}", wrong)
    for what, value in FEW.items():
        yield maker(f"{event.name} is {what}", value)
        yield maker(f"{event.name} and {what}", (*row, value))
    yield maker(f"{event.name} without a field", row[:-1])


def setup_makers(sound: Journal, kind: int, *, every: bool) -> Iterator[Maker]:
    """START or FORK with every fact, and every part of a fact, of every wrong value."""

    def maker(what: str, changed: Any) -> Maker:
        return what, lambda: _with_setup(sound, commit.index, changed)

    commit = next(commit for commit in sound.commits if commit.kind == kind)
    facts = dict(commit.setup or {})
    for path in _paths(facts, ()):
        for what, value in (VALUES | RAW if every or not path else FEW).items():
            where = ".".join(map(str, path)) or "all of it"
            changed = _replaced(facts, path, value)
            yield maker(f"{where} is {what}", changed)
    for name in facts:
        less = {key: value for key, value in facts.items() if key != name}
        yield maker(f"without {name}", less)
    yield maker("one more", {**facts, "more": 1})


def _first_row(sound: Journal, code: int) -> tuple[int, Any]:
    for commit in sound.commits:
        for block in commit.blocks:
            for row in block.rows(code):
                return commit.index, row
    raise LookupError(sound.world.events[code].name)


def _with_row(sound: Journal, at: int, code: int, row: Any, wrong: Any) -> bytes:
    """The journal with one row of a commit exchanged."""
    raws, clean = _marked(wrong)
    changed, is_done = [], False
    for block in sound.commits[at].blocks:
        batches = []
        for batch, rows in block.batches:
            put = list(rows)
            if batch == code and row in put and not is_done:
                put[put.index(row)], is_done = clean, True
            batches.append((batch, put))
        changed.append(Block(batches, pack(batches)))
    return _written(sound, at, changed, sound.commits[at].setup, raws)


def _with_setup(sound: Journal, at: int, setup: Any) -> bytes:
    raws, clean = _marked(setup)
    return _written(sound, at, (), clean, raws)


def _written(
    sound: Journal, at: int, blocks: Sequence[Block], setup: Any, raws: Sequence[bytes]
) -> bytes:
    """The journal with another commit in one place."""
    old, commits, world = sound.commits[at], [*sound.commits], sound.world
    commits[at] = Commit(old.kind, old.unit, old.digest, blocks, setup)
    bodies = [commit.body() for commit in (commits if raws else _refolded(world, commits))]
    for raw in raws:
        bodies[at] = bodies[at].replace(pack(_MARK), raw)
    return framed(bodies, Header(world.name, world.rules).packed())


def _marked(value: Any) -> tuple[list[bytes], Any]:
    """A value with marks in place of raw bytes, and those bytes."""
    if isinstance(value, Raw):
        return [value.packed], _MARK
    if isinstance(value, dict):
        found = {key: _marked(item) for key, item in value.items()}
        return [raw for raws, _ in found.values() for raw in raws], {
            key: item for key, (_, item) in found.items()
        }
    if isinstance(value, (tuple, list)) and len(value) < 1000:
        items = [_marked(item) for item in value]
        return [raw for raws, _ in items for raw in raws], tuple(item for _, item in items)
    return [], value


def _refolded(world: World[Any], commits: Sequence[Commit]) -> list[Commit]:
    """The commits with the digests that their events give, as far as they can be applied."""
    done: list[Commit] = []
    with suppress(Exception):  # whatever a wrong value makes of it; from here on as it was
        done.extend(refolded(world, commits))
    return [*done, *commits[len(done) :]]


def _paths(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The places in a value of maps and lists, itself first; of a list the first two items."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _paths(item, (*path, key))
    elif isinstance(value, (tuple, list)) and len(path) < 4:
        for place, item in enumerate(value[:2]):
            yield from _paths(item, (*path, place))


def _replaced(value: Any, path: Sequence[Any], wrong: Any) -> Any:
    if not path:
        return wrong
    inner = _replaced(value[path[0]], path[1:], wrong)
    if isinstance(value, dict):
        return {**value, path[0]: inner}
    return (*value[: path[0]], inner, *value[path[0] + 1 :])
