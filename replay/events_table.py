"""The events of any world as a table: one row an event, a column for every field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from goldrush.kernel import fold
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import World
from goldrush.replay.columns import JSON, TEXT, TYPES, WHOLE, Column, Type, free_name, type_of
from goldrush.replay.run_data import RunData
from goldrush.replay.tables import FRONT, Row, Table
from goldrush.replay.toolkit import Tables, Toolkit

# What `run_started` and `forked` hold, of a world that does not say.
_FACTS: Final = Column("facts", JSON, "", "everything else that these events hold, by name")


def events_table(world: World[Any], toolkit: Toolkit) -> Table:
    """The events of a world: one row an event, a column for every field that any of them has.

    A field whose name is that of a column which every table of events has, has `_` behind it.
    """
    vocabulary = world.vocabulary
    tables = toolkit.tables() if toolkit.tables else Tables()
    before = f"{vocabulary.number(0)} for what is before {vocabulary.first}"
    setup = [
        Column("world", TEXT, "", "the world's name"),
        Column("rules", WHOLE, "", "the version of its rules"),
        *(tables.setup or [_FACTS]),
    ]
    place = [
        Column("place", WHOLE, "", "the event's place in the journal, from 0 on"),
        Column("event", TEXT, "", "its name"),
        Column(vocabulary.unit, WHOLE, "", f"the {vocabulary.unit} it belongs to; {before}"),
    ]
    says = f"that of the state after the {vocabulary.unit}, 16 hex digits"
    digest = Column("digest", TEXT, "", says)
    fields = _fields(world, {**TYPES, **tables.types})
    everywhere = {column.name for column in (*FRONT, *place)}
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
        [*place, *renamed, *own, digest],
        lambda run: _rows(run, names, list(fields)),
    )


def _fields(world: World[Any], types: Mapping[str, Type]) -> dict[str, Type]:
    """The fields of a world's events, with their types; JSON where two events differ in it."""
    fields: dict[str, Type] = {}
    for event in world.events:
        for name, kind in event.fields.items():
            type = type_of(kind, types)
            fields[name] = type if fields.get(name, type) is type else JSON
    return fields


def _meaning(world: World[Any], tables: Tables, name: str) -> tuple[str, str]:
    """The unit of a field and what it is, with the events that have it."""
    unit, says = tables.fields.get(name, ("", ""))
    of = ", ".join(f"`{event.name}`" for event in world.events if name in event.fields)
    return unit, f"{of}: {says}" if says else of


def _rows(run: RunData, setup: Sequence[str], own: Sequence[str]) -> Iterator[Row]:
    """The fields in the columns of the setup, of the world's own events, and of the digest."""
    vocabulary = run.world.vocabulary
    no_setup, nothing = (None,) * len(setup), (None,) * len(own)
    with JournalReader(run.path) as reader:
        for place, event in enumerate(fold.events(run.world, reader)):
            front = place, event.name, event.unit
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
    """The fields of a setup event, those of its world in one."""
    front = {name: fields[name] for name in ("world", "rules") if name in fields}
    return {**front, "facts": {name: v for name, v in fields.items() if name not in front}}
