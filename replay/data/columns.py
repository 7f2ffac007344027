"""Tables and their columns, and the types of their values, in CSV and in Parquet."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Final

import attrs

from goldrush.kernel.shape import Schema

Row = Sequence[Any]


@attrs.frozen
class Type:
    """The type of the values of a column; null is a value of every type.

    Attributes:
        name: its name.
        text: a value in CSV.
        arrow: its type in Arrow, made by the module `pyarrow`.
        plain: a value as pyarrow takes it; None: as it is.
    """

    name: str
    text: Callable[[Any], str]
    arrow: Callable[[Any], Any]
    plain: Callable[[Any], Any] | None = None


@attrs.frozen
class Column:
    """A column.

    Attributes:
        name: its name.
        type: the type of its values.
        description: their meaning.
        value: reads its value from a record, in a table that is made of records; None: it is the
            attribute of the column's name, without a final `_`.
        unit: their unit of measurement; empty for none.
    """

    name: str
    type: Type
    description: str
    value: Callable[..., object] | None = None
    unit: str = ""

    @property
    def reader(self) -> Callable[..., object]:
        """Reads its value from a record."""
        return self.value or attrgetter(self.name.removesuffix("_"))


def of_part(part: Callable[..., object], *columns: Column) -> list[Column]:
    """The columns of a part of records, null where a record has no such part."""

    def read(value: Callable[..., object], record: object) -> object:
        found = part(record)
        return None if found is None else value(found)

    return [attrs.evolve(each, value=partial(read, each.reader)) for each in columns]


_BARE = re.compile(r"[\w./:-]+", re.ASCII).fullmatch


def _quoted(text: str) -> str:
    """Text as a field of CSV. Empty text is "", to distinguish it from null, an empty field."""
    return text if _BARE(text) else '"' + text.replace('"', '""') + '"'


def _as_json(value: Any) -> str:
    return _quoted(json.dumps(value))


WHOLE: Final = Type("integer", str, lambda pa: pa.int64())
# Of numbers that JSON lacks a row has the name: nan, inf, -inf.
REAL: Final = Type(
    "number",
    lambda value: value if type(value) is str else repr(value),
    lambda pa: pa.float64(),
    lambda value: float(value) if type(value) is str else value,
)
TRUTH: Final = Type("boolean", lambda value: "true" if value else "false", lambda pa: pa.bool_())
TEXT: Final = Type("text", _quoted, lambda pa: pa.string())
JSON: Final = Type("JSON", _as_json, lambda pa: pa.string(), json.dumps)
WHOLES: Final = Type("list of integers", _as_json, lambda pa: pa.list_(pa.int64()))
TEXTS: Final = Type("list of texts", _as_json, lambda pa: pa.list_(pa.string()))

_TYPES: Final = {"integer": WHOLE, "number": REAL, "boolean": TRUTH, "string": TEXT}
_LISTS: Final = {"integer": WHOLES, "string": TEXTS}


def type_of(schema: Schema) -> Type:
    """The type of a field, by its schema: null aside, else JSON."""
    match schema:
        case {"anyOf": [given, *_]}:
            return type_of(given)
        case {"type": "array", "items": {"anyOf": [items, *_]} | items}:
            return _LISTS.get(items.get("type"), JSON)
    return _TYPES.get(schema.get("type", ""), JSON)


def free_name(name: str, taken: Collection[str]) -> str:
    """A column's name, followed by `_` if it is taken."""
    return f"{name}_" if name in taken else name


# The first values of every row of a run.
FRONT: Final = (
    Column("journal", TEXT, "the path of the journal, as it was given"),
    Column("treatment", TEXT, "the treatment in the study whose folder holds it; else null"),
    Column("roster", TEXT, "the roster's name in that study; else as text; null: unknown"),
    Column("seed", WHOLE, "the run's seed; the last one, where a fork changed it"),
)


@attrs.frozen
class Table:
    """A table.

    Attributes:
        name: its name.
        description: what a row is.
        own: its columns after those that all tables have.
        own_rows: the rows of a run (replay.data.run_data.RunData) in these columns, in order.
    """

    name: str
    description: str
    own: Sequence[Column]
    own_rows: Callable[..., Iterator[Row]]

    @property
    def columns(self) -> Sequence[Column]:
        return [*FRONT, *self.own]


def records_table(
    name: str,
    records: Callable[..., Iterable[object]],
    description: str,
    *columns: Column,
) -> Table:
    """The table with a row for each record of a run."""
    values = [column.reader for column in columns]

    def rows(run: object) -> Iterator[Row]:
        for record in records(run):
            yield [value(record) for value in values]

    return Table(name, description, columns, rows)
