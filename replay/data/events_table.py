"""The events of any world as a table: a row for each event, a column for each field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from goldrush.kernel import fold
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import World
from goldrush.replay.data.columns import JSON, TEXT, TYPES, WHOLE, Column, Type, free_name, type_of
from goldrush.replay.data.run_data import RunData
from goldrush.replay.data.tables import FRONT, Row, Table
from goldrush.replay.toolkit import Tables, Toolkit

# The fields of `run_started` and `forked` in a world that declares no columns for them.
_FACTS: Final = Column("facts", JSON, "", "all other fields of these events, by name")


def events_table(world: World[Any], toolkit: Toolkit) -> Table:
    """The events of a world: a row for each event, a column for each field of any event.

    A field with the name of a column that every table of events has is followed by `_`.
    """
    vocabulary = world.vocabulary
    tables = toolkit.tables() if toolkit.tables else Tables()
    before = f"{vocabulary.number(0)} for events before {vocabulary.first}"
    setup = [
        Column("world", TEXT, "", "the world's name"),
        Column("rules", WHOLE, "", "the version of its rules"),
        *(tables.setup or [_FACTS]),
    ]
    position = [
        Column("place", WHOLE, "", "the event's index in the journal, from 0 on"),
        Column("event", TEXT, "", "its name"),
        Column(vocabulary.unit, WHOLE, "", f"its {vocabulary.unit}; {before}"),
    ]
    text = f"the digest of the state after the {vocabulary.unit}, 16 hex digits"
    digest = Column("digest", TEXT, "", text)
    fields = _fields(world, {**TYPES, **tables.types})
    everywhere = {column.name for column in (*FRONT, *position)}
    taken = {*everywhere, *(column.name for column in setup), digest.name}
    own = [
        Column(free_name(name, taken), type, *_meaning(world, tables, name))
        for name, type in fields.items()
    ]
    names = [column.name for column in setup]
    renamed = [Column(free_name(c.name, everywhere), c.type, c.unit, c.description) for c in setup]
    return Table(
        "events",
        "an event, in the order of the journal; null where an event has no such field",
        [*position, *renamed, *own, digest],
        lambda run: _rows(run, names, list(fields)),
    )


def _fields(world: World[Any], types: Mapping[str, Type]) -> dict[str, Type]:
    """The fields of a world's events with their types; JSON where events differ in the type."""
    fields: dict[str, Type] = {}
    for event in world.events:
        for name, kind in event.fields.items():
            type = type_of(kind, types)
            fields[name] = type if fields.get(name, type) is type else JSON
    return fields


def _meaning(world: World[Any], tables: Tables, name: str) -> tuple[str, str]:
    """The unit of measurement of a field and its meaning, with the events that have it."""
    unit, meaning = tables.fields.get(name, ("", ""))
    of = ", ".join(f"`{event.name}`" for event in world.events if name in event.fields)
    return unit, f"{of}: {meaning}" if meaning else of


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
