"""Worlds: a world is a record of pure functions over events, with the types of those events.

The kernel knows nothing of gold or roundtables. A `World` gives it the initial state (`initial`),
the events that follow from inputs (`decide`) and the effect of events on the state (`evolve`).
Inputs are events, too; they come from outside, are recorded, and are never derived again.

On the hot path an event is a plain tuple (a row), and successive events of one type are held
together as a batch, `(type code, rows)`: an object for each event would cost more than everything
else. At the edge of the library a row becomes a `RecordedEvent`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

import msgspec

from goldrush.kernel import shape
from goldrush.kernel.codec import encode, fingerprint
from goldrush.kernel.errors import format_value
from goldrush.kernel.text import quoted_path

S = TypeVar("S")

Row = tuple[Any, ...]
Batch = tuple[int, Sequence[Row]]


class InvalidInputs(ValueError):
    """Raised by a world's `decide` for valid rows that no recorder submits together, such as two
    submissions of one agent.
    """


class Block:
    """Events in order, as batches, with their canonical bytes. Treat it as immutable.

    A block holds either inputs or the events derived from them. Readers give blocks with the same
    bytes as one object, so a map in a row must not be changed either.

    Attributes:
        batches: pairs of event code and rows.
        packed: the canonical encoding of the array of batches, each `[code, [row, ...]]`.
        is_checked: whether a DERIVED walk has found these inputs valid and canonically encoded;
            False for blocks that it has not checked.
    """

    __slots__ = ("batches", "is_checked", "packed")

    batches: Sequence[Batch]
    packed: bytes

    def __init__(self, batches: Batches, packed: bytes | None = None) -> None:
        """Make a block; empty batches are dropped, neighbours of one type merged.

        Args:
            batches: the events. Those of another block are taken over with its bytes.
            packed: the bytes from which the batches were read, if they come from a file.
        """
        if isinstance(batches, Block):
            packed, batches = batches.packed, batches.batches
        elif packed is None:
            batches = _tidy(batches)
            packed = encode(batches)
        self.batches = batches
        self.packed = packed
        self.is_checked = False

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
        """One block of all events; neighbours of one type are merged.

        Joining the pieces of a block, cut anywhere, gives that block again, byte for byte.
        """
        if len(blocks) == 1:
            return blocks[0]
        return Block([batch for block in blocks for batch in block.batches])


Batches = Sequence[Batch] | Block


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


class Step(msgspec.Struct, frozen=True):
    """All inputs that were judged together, and the events derived from them."""

    inputs: Block
    derived: Block


OTHER: Final = "*"  # any other value of a field


def if_given(text: str) -> Mapping[str | bool | None, str]:
    """The cases of a field whose text is left out where it is null or empty."""
    return {None: "", "": "", OTHER: text}


class EventType(msgspec.Struct, frozen=True, dict=True):
    """A type of event.

    Attributes:
        fields: the kind of each field, in the order of the row.
        is_input: whether such events are inputs.
        text: its sentence as a template: `{plot}` is a field (see replay/sentences.py); empty if
            the tools choose the sentence, or show events as JSON.
        cases: by field, the text in its place in the template, itself a template, by value: None of
            an empty list, too, OTHER of any value without a text.
    """

    name: str
    fields: Mapping[str, shape.Kind]
    is_input: bool = False
    text: str = ""
    cases: Mapping[str, Mapping[str | bool | None, str]] = {}

    @cached_property
    def holds_all(self) -> Callable[[Sequence[object]], bool]:
        """Whether all rows of a batch read from a file are valid."""
        return shape.compiled(shape.each(shape.row(*self.fields.values())))

    def fields_naming(self, entity: str) -> tuple[str, ...]:
        """The fields that identify an entity ("agent", "plot", "word"), in order; see
        `Kind.entity`.
        """
        return tuple(name for name, kind in self.fields.items() if kind.entity == entity)

    def ids_in(self, entity: str, event: RecordedEvent) -> Iterator[Any]:
        """The identifiers of an entity in an event of this type: all its agents, for example."""
        for field in self.fields_naming(entity):
            yield from self.fields[field].ids(event[field])

    def template(self, event: RecordedEvent, text: str) -> str:
        """The template of an event's sentence (`text`, or another one) with its cases in it."""
        for field, texts in self.cases.items():
            hole = f"{{{field}}}"
            if hole in text:
                value = None if event[field] == [] else event[field]
                is_known = isinstance(value, (str, bool, type(None))) and value in texts
                text = text.replace(hole, texts[value if is_known else OTHER])
        return text

    def fault(self, row: object) -> str | None:
        """What is wrong with a row read from a file; None for a valid one."""
        if not isinstance(row, tuple) or len(row) != len(self.fields):
            count = f"{len(row)}: " if isinstance(row, tuple) else ""
            fields = f"{len(self.fields)} fields"
            return f"{self.name}: {fields} expected, found {count}{format_value(row)}"
        for (name, kind), value in zip(self.fields.items(), row, strict=True):
            if not kind.holds(value):
                return f"{self.name}.{name}: {kind.format_fault(value)}"
        return None


class RecordedEvent(msgspec.Struct, frozen=True):
    """An immutable event in its logical form.

    Attributes:
        name: the name of its type.
        unit: the number of its round (or assignment) as shown to people; see Vocabulary.
        fields: its values in declared order, the unit's number first if the event has one.
    """

    name: str
    unit: int
    fields: Mapping[str, Any]

    def __getitem__(self, field: str) -> Any:
        return self.fields[field]

    def as_dict(self) -> dict[str, Any]:
        """`{"event": name, ...fields}`, ready for JSON."""
        return {"event": self.name, **self.fields}


class Vocabulary(msgspec.Struct, frozen=True):
    """A world's nouns for the things that every run has, and its numbering of units.

    A journal numbers units from 1, with 0 for the start. The numbers shown to people and accepted
    from them begin with `first`; the start is `first - 1`.

    Attributes:
        unit: the noun for a unit.
        started, ended, forked: the names of events of every run.
        first: the number of the first unit as shown to people.
        location: the noun for a location in a unit ("plot", "table"); empty: it has none.
        players: the key of the roster in a START's setup and in a FORK's facts.
        uncounted: codes of inputs; a unit with one of them does not count where people are told how
            many units there are: a reset is no step.
    """

    unit: str = "round"
    started: str = "run_started"
    ended: str = "run_ended"
    forked: str = "forked"
    first: int = 1
    location: str = ""
    players: str = "roster"
    uncounted: Sequence[int] = ()

    @property
    def closed(self) -> str:
        """The name of the event that closes a unit."""
        return f"{self.unit}_closed"

    @property
    def run(self) -> str:
        """The noun for a run, by the name of its last event."""
        return self.ended.removesuffix("_ended")

    @property
    def units(self) -> str:
        """The plural of the noun."""
        return f"{self.unit}s"

    def number(self, unit: int) -> int:
        """The number shown to people for a journal's unit."""
        return unit + self.first - 1

    def unit_of(self, number: int) -> int:
        """The journal's unit for a number shown to people."""
        return number - self.first + 1

    def counts(self, inputs: Iterable[Block]) -> bool:
        """Whether a closed unit with these inputs counts; see `uncounted`."""
        return not self.uncounted or not any(
            code in self.uncounted for block in inputs for code, _ in block.batches
        )

    def format_unit(self, unit: int) -> str:
        """A journal's unit as text, such as `round 3`."""
        return f"{self.unit} {self.number(unit)}"

    def format_choice(self, last: int) -> str:
        """What to give instead of a unit that a journal lacks. `last`: its last closed unit."""
        start = self.number(0)
        if not last:
            return f"no {self.unit} is closed: give {start}, the start"
        return f"give one from {start} to {self.number(last)}"


NO_SOURCE: Final = "unknown"  # in place of a SHA-256: of rules that were typed in, say


def where_code_is(path: str, sha256: str) -> str:
    """How to get the code that recorded a journal, as text. `sha256`: see World.other_source."""
    if sha256 == NO_SOURCE:
        return "nobody kept that code"
    return f"`goldrush source {quoted_path(path)} > old.py` writes that code"


# `past(first)` gives the steps of every closed unit from `first` on, in order, each with the unit's
# number. With it a frozen state need not hold a record of the past that the journal has already.
Past = Callable[[int], Iterable[tuple[int, Sequence[Step]]]]


def unchanged(value: S) -> S:
    """The value itself: what a world does where nothing is to be done."""
    return value


class World(msgspec.Struct, Generic[S], frozen=True):
    """A world on the kernel. All its functions are pure unless stated otherwise.

    Attributes:
        name: the name that journals have.
        rules: the version of the rules.
        older: this world under older rules, by which their journals are read, verified, resumed and
            forked.
        events: the event types; an event's code is its index here.
        initial: `initial(setup)` gives the state before the first unit; `setup` is a map of plain
            values. Raises BadInput for an invalid setup.
        decide: `decide(state, inputs)` gives the events derived from a block of inputs, as batches,
            or as a block that it has already. Draws are keyed. Must raise InvalidInputs for inputs
            that no recorder submits, such as rows of unknown, missing or repeated agents (see
            kernel.submissions): forged journals have them, and any other exception counts as a bug
            of the world.
        evolve: `evolve(state, block)` gives the state after these events. It judges nothing. It may
            change the state in place, but never the block. Who keeps a state copies it first.
        ended: `ended(state)` tells whether the run is over.
        arrange: `arrange(inputs)` puts the inputs of several commits in the order in which they are
            judged; by default that of their arrival. Must not raise, whatever the rows.
        pending_fault: `pending_fault(state, inputs)` gives the reason why these arranged inputs
            cannot begin a step, or None; by default always None. `resume` calls it before it asks
            for the missing inputs.
        unit_done: `unit_done(state)` tells whether the unit (round, assignment) has all its events
            and closes; by default every step is a unit.
        close: `close(state)` gives the state with the unit closed. May change its argument in
            place.
        digest: `digest(state)` gives 64 bits that cover every field of a state with a closed unit.
        copy: `copy(state)` gives a state that shares no mutable value; not needed for immutable
            states.
        fork: `fork(state, facts, past)` gives the state with a fork's changes; `facts` is a map of
            plain values. May change its argument in place. Raises BadInput for invalid facts. Tools
            know three of the facts: `changes` (settings), the vocabulary's `players`, and
            `replaced` (pairs of a unit's number, as shown to people, and the agent with another
            submission there). None: runs cannot be forked.
        show_setup: `show_setup(setup)` gives the setup of a valid START in its logical form, for
            the `started` event.
        show_fork: `show_fork(facts)` gives the facts in their logical form, for the `forked` event.
            Raises BadInput for a value of any other form or type.
        freeze: `freeze(state)` gives a state with a closed unit as plain values (see codec.pack),
            without the parts that `past` can give again.
        thaw: `thaw(frozen, past)` gives the state again. With `freeze` and `thaw` any unit of a
            long journal is reached without folding from the start, the faster the fewer units
            `past` is asked for.
        vocabulary: the world's nouns.
        missing: the reason why `decide` is not available, such as a package with a part of the
            rules that is not installed; runs can then be read and folded but neither judged nor
            continued.
        source: the SHA-256, in hex, of the source of these rules, where runs record that of theirs:
            their states have it as `source`; None: they record none.
        checks_rows: each row is checked before it is recorded, and a recording that would write an
            invalid one fails; so does one whose state is changed by anything but `evolve` and
            `close`. False where tests show that all rows are valid and all else leaves states.
        watching: within it, what only reads a state raises BadInput or PolicyFailed where it
            changes one, so that the message names it.
    """

    name: str
    rules: int
    events: Sequence[EventType]
    initial: Callable[[Mapping[str, Any]], S]
    decide: Callable[[S, Block], Batches]
    evolve: Callable[[S, Block], S]
    ended: Callable[[S], bool]
    arrange: Callable[[Block], Block] = unchanged
    pending_fault: Callable[[S, Block], str | None] = lambda state, inputs: None
    unit_done: Callable[[S], bool] = lambda state: True
    close: Callable[[S], S] = unchanged
    digest: Callable[[S], int] = fingerprint
    copy: Callable[[S], S] = unchanged
    fork: Callable[[S, Mapping[str, Any], Past], S] | None = None
    show_setup: Callable[[Mapping[str, object]], Mapping[str, object]] = dict
    show_fork: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    freeze: Callable[[S], Any] | None = None
    thaw: Callable[[Any, Past], S] | None = None
    vocabulary: Vocabulary = Vocabulary()
    missing: str | None = None
    source: str | None = None
    checks_rows: bool = True
    watching: Callable[[], AbstractContextManager[object]] = nullcontext
    older: Sequence[World[S]] = ()

    @property
    def readable_rules(self) -> list[int]:
        """The versions of the rules whose journals this world reads, ascending."""
        return sorted([self.rules, *(world.rules for world in self.older)])

    def other_source(self, recorded: S | Mapping[str, object]) -> str | None:
        """The SHA-256 of the source that a run records, if it is another than that of these rules;
        NO_SOURCE if it records that nobody knows it. `recorded`: a state, or the facts of START or
        a FORK, which may be forged.
        """
        if self.source is None:
            return None
        if isinstance(recorded, Mapping):
            source = recorded.get("source")
            sha256 = source.get("sha256") if isinstance(source, dict) else self.source
        else:
            sha256 = getattr(recorded, "source", self.source)
        if sha256 == self.source:
            return None
        return sha256 if isinstance(sha256, str) else NO_SOURCE

    def under(self, rules: int) -> World[S]:
        """The world under the rules of a journal's header; itself for rules that it lacks."""
        return next((world for world in self.older if world.rules == rules), self)


def advance(
    world: World[S], state: S, inputs: Block, judge: Callable[[S, Block], Block] | None = None
) -> tuple[S, Block, bool]:
    """Judge the inputs of a step and apply them with the events that follow from them; then close
    the unit if it is done.

    Args:
        state: the state before the step, which may be changed in place.
        inputs: all inputs of the step, in the order in which they are judged.
        judge: gives the derived block for the state and the inputs; None: `world.decide`.

    Returns the state after the step, the derived block, and whether the unit has closed.
    """
    derived = Block(world.decide(state, inputs)) if judge is None else judge(state, inputs)
    state = world.evolve(world.evolve(state, inputs), derived)
    if world.unit_done(state):
        return world.close(state), derived, True
    return state, derived, False
