"""Tables of journals for other programs: events, units, measures, and tables of each world.

Many journals become one table. Every row begins with the identity of its run: the journal's path as
it was given, treatment, roster and seed. The columns are the same for all journals of a world, so
that separate files can be joined; `goldrush columns` lists them. Rows are made one by one and
written in batches: of thousands of runs only one is held in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs

from goldrush.kernel import fold
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import Vocabulary, World
from goldrush.replay.data.columns import (
    FRONT,
    JSON,
    REAL,
    TEXT,
    WHOLE,
    Column,
    Row,
    Table,
    Type,
    free_name,
    type_of,
)
from goldrush.replay.data.measures import Measure
from goldrush.replay.data.run_data import RunData
from goldrush.replay.data.user_measures import with_users
from goldrush.replay.tools import Tools

if TYPE_CHECKING:
    from goldrush.replay.data.user_functions import UserMeasure

_TAKEN: Final = tuple(column.name for column in FRONT)


def tables_of(
    tools: Tools,
    world: World[Any],
    names: Iterable[str] | None = None,
    users: Sequence[UserMeasure] = (),
) -> list[Table]:
    """The tables of a world's journals: its events, its units and measures (if there are any), and
    its own tables. `names`: the names of the wanted tables; None: all; `users`: measures of the
    user.

    Raises BadInput for a table that the world does not have.
    """
    found = [events_table(world, tools)]
    if known := with_users(tools.measures, users).known:
        found += [units_table(world.vocabulary, known), figures_table(world.vocabulary)]
    by_name = {table.name: table for table in found}
    by_name |= {table.name: table for table in tools.tables}
    for name in names or ():
        if name not in by_name:
            raise BadInput(
                f"journals of the {world.name} world have no table {name!r}",
                f"take one of {', '.join(by_name)}",
            )
    return [by_name[name] for name in names or by_name]


def units_table(vocabulary: Vocabulary, known: Mapping[str, Measure]) -> Table:
    """The measures of every unit of a run."""
    by_unit = {name: measure for name, measure in known.items() if measure.by_unit}
    taken = (*_TAKEN, vocabulary.unit)
    columns = [
        Column(free_name(name, taken), REAL, f"{measure.title}. {measure.definition}")
        for name, measure in by_unit.items()
    ]

    def rows(run: RunData) -> Iterator[Row]:
        values = run.by_unit.values
        for index in range(run.by_unit.units):
            yield (vocabulary.number(index + 1), *(values[name][index] for name in by_unit))

    return Table(
        vocabulary.units,
        f"a closed {vocabulary.unit}; measures are null where they are undefined",
        [unit_column(vocabulary), *columns],
        rows,
    )


def unit_column(vocabulary: Vocabulary) -> Column:
    text = f"the {vocabulary.unit}, from {vocabulary.first} on"
    return Column(free_name(vocabulary.unit, _TAKEN), WHOLE, text)


def figures_table(vocabulary: Vocabulary) -> Table:
    """The measures of a run, its own included, and of its halves."""

    def rows(run: RunData) -> Iterator[Row]:
        measured = run.measured
        for name in measured.known:
            halves = (measured.compared(name, burn_in=burn_in) for burn_in in (True, False))
            yield (name, measured.of(name), *(value for pair in halves for value in pair))

    units = vocabulary.units
    return Table(
        "measures",
        "a measure of a run",
        [
            Column("measure", TEXT, "its name"),
            Column("run", REAL, f"over all {units}, as the measure is defined over several"),
            Column("first_half", REAL, f"of the {units} after the burn-in, the first tenth"),
            Column("second_half", REAL, f"of the same {units}"),
            Column("first_half_without_burn_in", REAL, f"of all {units}"),
            Column("second_half_without_burn_in", REAL, f"of all {units}"),
        ],
        rows,
    )


# The fields of `run_started` and `forked` in a world that declares no columns for them.
_FACTS: Final = Column("facts", JSON, "all other fields of these events, by name")


def events_table(world: World[Any], tools: Tools) -> Table:
    """The events of a world: a row for each event, a column for each field of any event.

    A field with the name of a column that every table of events has is followed by `_`.
    """
    vocabulary = world.vocabulary
    before = f"{vocabulary.number(0)} for events before {vocabulary.first}"
    setup = [
        Column("world", TEXT, "the world's name"),
        Column("rules", WHOLE, "the version of its rules"),
        *(tools.setup or [_FACTS]),
    ]
    position = [
        Column("place", WHOLE, "the event's index in the journal, from 0 on"),
        Column("event", TEXT, "its name"),
        Column(vocabulary.unit, WHOLE, f"its {vocabulary.unit}; {before}"),
    ]
    text = f"the digest of the state after the {vocabulary.unit}, 16 hex digits"
    digest = Column("digest", TEXT, text)
    fields = _fields(world)
    everywhere = {column.name for column in (*FRONT, *position)}
    taken = {*everywhere, *(column.name for column in setup), digest.name}
    own = [
        Column(free_name(name, taken), type, text, unit=unit)
        for name, type in fields.items()
        for unit, text in [_meaning(world, name)]
    ]
    names = [column.name for column in setup]
    renamed = [attrs.evolve(each, name=free_name(each.name, everywhere)) for each in setup]
    return Table(
        "events",
        "an event, in the order of the journal; null where an event has no such field",
        [*position, *renamed, *own, digest],
        lambda run: _rows(run, names, list(fields)),
    )


def _fields(world: World[Any]) -> dict[str, Type]:
    """The fields of a world's events with their types; JSON where events differ in the type."""
    fields: dict[str, Type] = {}
    for event in world.events:
        for name, kind in event.fields.items():
            type = type_of(kind.schema)
            fields[name] = type if fields.get(name, type) is type else JSON
    return fields


def _meaning(world: World[Any], name: str) -> tuple[str, str]:
    """The unit of measurement of a field and its meaning, with the events that have it."""
    kinds = {event.name: event.fields[name] for event in world.events if name in event.fields}
    events = ", ".join(f"`{event}`" for event in kinds)
    unit = next((kind.unit for kind in kinds.values() if kind.unit), "")
    meanings = dict.fromkeys(kind.meaning for kind in kinds.values() if kind.meaning)
    return unit, f"{events}: {'; '.join(meanings)}" if meanings else events


def _rows(run: RunData, setup: Sequence[str], own: Sequence[str]) -> Iterator[Row]:
    """The fields in the columns of the setup, of the world's own events, and of the digest."""
    vocabulary = run.world.vocabulary
    no_setup, nothing = (None,) * len(setup), (None,) * len(own)
    with JournalReader(run.path) as reader:
        for index, event in enumerate(fold.events(run.world, reader)):
            front = index, event.name, event.unit
            fields = event.fields
            if event.name in (vocabulary.started, vocabulary.forked):
                if _FACTS.name in setup:
                    fields = _with_facts(fields)
                yield (*front, *map(fields.get, setup), *nothing, None)
            elif event.name in (vocabulary.closed, vocabulary.ended):
                yield (*front, *no_setup, *nothing, fields.get("digest"))
            else:
                yield (*front, *no_setup, *map(fields.get, own), None)


def _with_facts(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of a setup event, with the world's own joined in one."""
    front = {name: fields[name] for name in ("world", "rules") if name in fields}
    return {**front, "facts": {name: v for name, v in fields.items() if name not in front}}
