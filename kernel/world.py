"""What a world is: a record of pure functions over events, and the form of those events.

The kernel knows nothing of gold or of roundtables. It is given a `World`: how the state begins
(`initial`), which events follow from what was submitted (`decide`), how events change the
state (`evolve`). Inputs are events too; what distinguishes them is that they come from outside,
are recorded, and are never asked for again.

On the hot path an event is a plain tuple (a row) and events of one type that follow each other are
kept together as a batch, `(type code, rows)`: making an object for each would cost more than
all the rest. At the edge of the library a row is shown as an `Event`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

import attrs

from goldrush.kernel.codec import fingerprint, pack
from goldrush.kernel.errors import format_value

S = TypeVar("S")

Row = tuple[Any, ...]
Batch = tuple[int, Sequence[Row]]


class Block:
    """Events in order, as batches, with their canonical bytes.

    `packed` is an array of batches, each `[code, [row, ...]]`: packed once, whoever needs it. A
    block is either inputs or what was derived from them. Treat it as immutable.
    """

    __slots__ = ("batches", "packed")

    def __init__(self, batches: Sequence[Batch], packed: bytes | None = None) -> None:
        """A block of these batches; empty ones are left out, neighbours of one type made one.

        `packed`, where given, is what was read for them from a file.
        """
        if packed is None:
            batches = _tidy(batches)
            packed = pack(batches)
        self.batches = batches
        self.packed = packed

    def __iter__(self) -> Iterator[Batch]:
        return iter(self.batches)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Block) and self.packed == other.packed

    __hash__ = None  # type: ignore[assignment]  # compared, and nowhere looked up

    def rows(self, code: int) -> list[Row]:
        """All rows of one event type, in order."""
        return [row for batch, rows in self.batches if batch == code for row in rows]

    @staticmethod
    def joined(blocks: Sequence[Block]) -> Block:
        """One block of all their events: neighbours of one type become one batch.

        Joining the pieces of a block gives that block again, byte for byte, wherever it was cut.
        """
        if len(blocks) == 1:
            return blocks[0]
        return Block([batch for block in blocks for batch in block.batches])


def _tidy(batches: Sequence[Batch]) -> Sequence[Batch]:
    last = -1
    for code, rows in batches:
        if code == last or not rows:
            break
        last = code
    else:
        return batches
    merged: list[tuple[int, list[Row]]] = []
    for code, rows in batches:
        if merged and merged[-1][0] == code:
            merged[-1][1].extend(rows)
        elif rows:
            merged.append((code, list(rows)))
    return merged


@attrs.frozen
class Step:
    """All inputs that were judged together, and what was derived from them."""

    inputs: Block
    derived: Block


# What `Kind.show` makes of a value, for readers in another language: None (lists of tuples, and
# nothing else); ("optional", form); ("list", form); ("row", [form, ...]), a list of as many values;
# ("name", [name, ...]), a position among names; ("word",), 64 bits as 16 hex digits; ("event",),
# [index, code, row] as {"index", "event", ...fields}.
Form = tuple[Any, ...] | None


@attrs.frozen
class Kind:
    """How a field is held in a row and shown to people.

    Attributes:
        name: a description for error messages.
        holds: whether a value read from a file is of this kind.
        show: converts a value to its logical form, the one that `export` prints.
        entity: what such a value identifies ("agent", "plot", "word"), or None; by it tools find
            agents and plots in the events of any world.
        ids: the identifiers in a value's logical form.
        form: a description of `show` as a value (see Form).

    """

    name: str
    holds: Callable[[Any], bool]
    show: Callable[[Any], Any] = lambda value: value
    entity: str | None = None
    ids: Callable[[Any], Iterable[Any]] = lambda shown: (shown,)
    form: Form = None


def optional(kind: Kind) -> Kind:
    """The kind, or null; null names nothing."""
    return Kind(
        f"{kind.name} or null",
        lambda value: value is None or kind.holds(value),
        lambda value: None if value is None else kind.show(value),
        kind.entity,
        lambda shown: () if shown is None else kind.ids(shown),
        kind.form and ("optional", kind.form),
    )


def several(kind: Kind) -> Kind:
    """A list of the kind; it names what its items name."""
    return Kind(
        f"list of {kind.name}",
        lambda value: type(value) is tuple and all(map(kind.holds, value)),
        lambda value: [kind.show(item) for item in value],
        kind.entity,
        lambda shown: [named for item in shown for named in kind.ids(item)],
        kind.form and ("list", kind.form),
    )


def row(*kinds: Kind) -> Kind:
    """A list that has a value of each of these kinds, in order."""
    return Kind(
        f"[{', '.join(kind.name for kind in kinds)}]",
        lambda value: (
            type(value) is tuple
            and len(value) == len(kinds)
            and all(kind.holds(item) for kind, item in zip(kinds, value, strict=True))
        ),
        lambda value: [kind.show(item) for kind, item in zip(kinds, value, strict=True)],
        form=("row", [kind.form for kind in kinds]),
    )


def one_of(names: Sequence[str]) -> Kind:
    """One of a few names, held as its position."""
    return Kind(
        " | ".join(names),
        lambda value: type(value) is int and 0 <= value < len(names),
        lambda value: names[value],
        form=("name", names),
    )


INTEGER = Kind("integer", lambda value: type(value) is int)
NATURAL = Kind("integer >= 0", lambda value: type(value) is int and value >= 0)
BOOLEAN = Kind("boolean", lambda value: type(value) is bool)
TEXT = Kind("text", lambda value: type(value) is str)
AGENT = attrs.evolve(NATURAL, entity="agent")  # who plays, by number
AGENTS = several(AGENT)
PLOT = attrs.evolve(NATURAL, entity="plot")  # a place, by number


def text(most: int) -> Kind:
    """Text of at most so many characters."""
    return Kind(f"text of at most {most}", lambda value: type(value) is str and len(value) <= most)


WORD = Kind(
    "64-bit word",
    lambda value: type(value) is int and 0 <= value < 1 << 64,
    lambda value: f"{value:016x}",
    entity="word",
    form=("word",),
)


def _is_plain(value: Any) -> bool:
    if type(value) is float:
        return value - value == 0.0  # neither an infinity nor NaN, which JSON does not have
    if type(value) is int:
        return -(1 << 63) <= value < 1 << 64
    if type(value) is str:
        return not any("\ud800" <= character <= "\udfff" for character in value)
    return value is None or type(value) is bool


FACTS = Kind(
    "map of names to plain values",
    lambda value: (
        type(value) is dict
        and all(type(name) is str and _is_plain(name) for name in value)
        and all(map(_is_plain, value.values()))
    ),
)
# The fields that a submission has behind its own where language models can play: why there is
# nothing in it or only a part (a short code), and what a model's answer came with.
ERROR_MAX = 40  # characters of such a code
FROM_MODELS: Mapping[str, Kind] = {
    "error": optional(text(ERROR_MAX)),
    "source": optional(FACTS),
}
# A real number that is whole is held as an integer: one byte in place of nine.
AMOUNT = Kind(
    "real number",
    lambda value: (
        type(value) is int
        or (type(value) is float and value - value == 0.0 and not value.is_integer())
    ),
    float,
)


def amount(value: float) -> float:
    """A real number as rows hold it (see AMOUNT)."""
    return int(value) if type(value) is float and value.is_integer() else value


@attrs.frozen
class EventType:
    """One type of event: its name, its fields in the order of the row, whether it is an input.

    `drawn`: the fields that hold what a draw decides. They follow from the words drawn (fields of
    kind WORD), the other fields do not.
    """

    name: str
    fields: Mapping[str, Kind]
    is_input: bool = False
    drawn: frozenset[str] = frozenset()
    _holds: tuple[Callable[[Any], bool], ...] = attrs.field(init=False, repr=False, eq=False)

    @_holds.default
    def _of_fields(self) -> tuple[Callable[[Any], bool], ...]:
        return tuple(kind.holds for kind in self.fields.values())

    def fields_naming(self, entity: str) -> tuple[str, ...]:
        """The fields that name something ("agent", "plot", "word"), in order; see `Kind.entity`."""
        return tuple(name for name, kind in self.fields.items() if kind.entity == entity)

    def ids_in(self, entity: str, event: Event) -> Iterator[Any]:
        """What an event of this type names: all agents, whatever their part, or all plots."""
        for field in self.fields_naming(entity):
            yield from self.fields[field].ids(event[field])

    def fault(self, row: object) -> str | None:
        """What is wrong with a row read from a file, or None."""
        if type(row) is not tuple or len(row) != len(self._holds):
            return f"{self.name}: {len(self.fields)} fields expected, found {format_value(row)}"
        for place, holds in enumerate(self._holds):
            if not holds(row[place]):
                name, kind = list(self.fields.items())[place]
                return f"{self.name}.{name}: {kind.name} expected, found {format_value(row[place])}"
        return None


@attrs.frozen
class Event:
    """One immutable event in its logical form.

    `unit` is the round (or assignment) it belongs to, by the number that people know it by (see
    Vocabulary; the start has the number before the first), `fields` its values in declared order,
    the round first where the event has one.
    """

    name: str
    unit: int
    fields: Mapping[str, Any]

    def __getitem__(self, field: str) -> Any:
        return self.fields[field]

    def as_dict(self) -> dict[str, Any]:
        """`{"event": name, ...fields}`, ready for JSON."""
        return {"event": self.name, **self.fields}


@attrs.frozen
class Vocabulary:
    """What a world calls the things that every run has.

    `first` is the number of the first unit as people count. In a journal units are numbered from 1
    (0 is the start); whatever is shown to people or taken from them is in their numbers, where the
    start is `first - 1`. `players` is the key in a START's setup, and in a FORK's facts, of the
    list that says who plays.
    """

    unit: str = "round"
    started: str = "run_started"
    closed: str = attrs.field()
    ended: str = "run_ended"
    forked: str = "forked"
    first: int = 1
    players: str = "roster"

    @closed.default
    def _of_unit(self) -> str:
        return f"{self.unit}_closed"

    @property
    def units(self) -> str:
        """The word for several units."""
        return f"{self.unit}s"

    def number(self, unit: int) -> int:
        """The number that people know a journal's unit by."""
        return unit + self.first - 1

    def unit_of(self, number: int) -> int:
        """The journal's unit that people know by this number."""
        return number - self.first + 1

    def format_unit(self, unit: int) -> str:
        """A journal's unit as people call it, `round 3`."""
        return f"{self.unit} {self.number(unit)}"


# Gives the steps of every closed unit from the one named on, in order, with the unit's number: for
# states that hold a record of the past, which stands in the journal and need not be kept twice.
Past = Callable[[int], Iterable[tuple[int, Sequence[Step]]]]


def _same(state: S) -> S:
    return state


def _as_it_came(inputs: Block) -> Block:
    return inputs


def _always(state: object) -> bool:
    return True


def _no_fault(state: object, pending: Block) -> str | None:
    return None


@attrs.frozen
class World(Generic[S]):
    """A world on the kernel.

    - `events`: the types; an event's code is its place here.
    - `initial(setup)`: the state that a run starts from; `setup` is a map of plain values. Raises
      BadInput for a setup that it cannot take.
    - `decide(state, inputs)`: the batches derived from a block of inputs. Pure; draws are keyed.
    - `evolve(state, block)`: the state after these events. It applies facts and judges nothing.
      It may change the state it is given and return that: `fold` hands it a copy.
    - `arrange(inputs)`: inputs that came in several commits, in the order in which they are judged;
      without it, in that in which they came. Whatever the rows are, it does not raise.
    - `pending_fault(state, inputs)`: what makes it impossible that inputs, arranged, are the first
      of a step, or None. Asked before anybody is asked for the rest of them, where a run broke off
      there; without it, any may be.
    - `ended(state)`: whether nothing more is to be played.
    - `unit_done(state)`: whether the unit (round, assignment) has all its events and closes;
      without it, every step is a unit.
    - `close(state)`: the state with the unit closed. May reuse its argument, like `evolve`.
    - `digest(state)`: 64 bits that cover every field of a state whose unit is closed.
    - `copy(state)`: a state that shares nothing changeable; not needed where states are immutable.
    - `fork(state, facts, past)`: the state with what a fork changes, `facts` being a map of plain
      values. May reuse its argument. Raises BadInput for facts that it cannot take. `show_fork`:
      the facts in their logical form, for the `forked` event; it raises BadInput for any other
      value, of any type. Tools know of them `changes` (settings), the vocabulary's `players`, and
      `replaced`, pairs of a unit's number (as people count) and who submits something else there.
      Without `fork`, runs of this world cannot be forked.
    - `freeze(state)`: a closed state as plain values (what `codec.pack` takes), but for what `past`
      can give again; `thaw(frozen, past)`: the state again. With these two any unit of a long
      journal is reached without folding from the start, the sooner the less far back `past` is
      asked to look.
    - `missing`: why `decide` cannot be asked here, where that is so (a part of the rules stands in
      a package that is not installed): runs can be read and folded, but not judged or gone on with.
    """

    name: str
    rules: int
    events: Sequence[EventType]
    initial: Callable[[Mapping[str, Any]], S]
    decide: Callable[[S, Block], Sequence[Batch]]
    evolve: Callable[[S, Block], S]
    ended: Callable[[S], bool]
    arrange: Callable[[Block], Block] = _as_it_came
    pending_fault: Callable[[S, Block], str | None] = _no_fault
    unit_done: Callable[[S], bool] = _always
    close: Callable[[S], S] = _same
    digest: Callable[[S], int] = fingerprint
    copy: Callable[[S], S] = _same
    fork: Callable[[S, Mapping[str, Any], Past], S] | None = None
    show_fork: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    freeze: Callable[[S], Any] | None = None
    thaw: Callable[[Any, Past], S] | None = None
    vocabulary: Vocabulary = Vocabulary()
    missing: str | None = None
