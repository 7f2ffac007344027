"""Tables of many journals, encoded by worker processes: as CSV or in Arrow's form.

A journal's rows are encoded in batches, the same ones whatever the number of processes, and arrive
in the order of the journals. A long journal is read by this process, batch by batch, so that no
table has to fit into memory.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from goldrush.kernel.errors import BadInput, JournalError
from goldrush.replay.data.arrow import Batches
from goldrush.replay.data.columns import Column, Row, Table
from goldrush.replay.data.run_data import RunData, map_runs, run_at, size_of
from goldrush.replay.data.tables import tables_of
from goldrush.replay.extras import require
from goldrush.replay.toolkit import Toolkit

if TYPE_CHECKING:
    import pyarrow

Form = Literal["csv", "arrow"]

BATCH: Final = 10_000  # rows that are encoded at once
LONG: Final = 1 << 20  # bytes of a journal whose tables are not held in memory

Encoded = tuple[int, Any]  # a number of rows; these rows as text (CSV), or as a record batch


def encoded_tables(
    paths: Sequence[str | Path],
    form: Form,
    names: Sequence[str] | None = None,
    *,
    jobs: int | None = None,
    toolkit: Toolkit | None = None,
) -> Generator[Sequence[Iterable[Encoded]], None, None]:
    """The batches of each table, for each journal. Batches of one journal must be taken before
    those of the next one.

    Args:
        paths: journals of one world.
        form: CSV without a line of names, or Arrow's record batches.
        names: the names of the tables; None: all of the world.
        jobs: number of processes; None: one per processor.
        toolkit: the world's toolkit; None: found by the world's name.

    Raises:
        BadInput: for a table that the world does not have, and for journals of two worlds.
        JournalError: as reading a journal does, and for a value that Arrow cannot hold.

    """
    held = map_runs(partial(_held, form, names), paths, jobs, one_world=True, toolkit=toolkit)
    for path, tables in zip(paths, held, strict=True):
        yield _encoded(form, names, run_at(path, toolkit)) if tables is None else tables


def _held(form: Form, names: Sequence[str] | None, run: RunData) -> list[list[Encoded]] | None:
    """All batches of a run, by table; None for a long journal, and for one that cannot be read to
    its end, whose rows before the fault are read by the caller.
    """
    if size_of(run.path) > LONG:
        return None
    try:
        return [list(batches) for batches in _encoded(form, names, run)]
    except JournalError:
        return None


def _encoded(form: Form, names: Sequence[str] | None, run: RunData) -> list[Iterator[Encoded]]:
    return [_batches(form, table, run) for table in tables_of(run.toolkit, run.world, names)]


def _batches(form: Form, table: Table, run: RunData) -> Iterator[Encoded]:
    encode: Callable[[Sequence[Row]], Any] = (
        Batches(table).of if form == "arrow" else partial(csv_text, table.columns)
    )
    batch: list[Row] = []
    try:
        for row in table.rows(run):
            batch.append(row)
            if len(batch) == BATCH:
                full, batch = batch, []
                yield len(full), encode(full)
    except JournalError:  # the rows before it are given first
        if batch:
            yield len(batch), encode(batch)
        raise
    if batch:
        yield len(batch), encode(batch)


def csv_table(paths: Sequence[str | Path], name: str, jobs: int | None = None) -> Iterator[str]:
    """One table of journals as CSV, in pieces. Arguments and errors: as `encoded_tables`."""
    first = run_at(paths[0])
    [table] = tables_of(first.toolkit, first.world, [name])
    yield csv_head(table.columns)
    for [batches] in encoded_tables(paths, "csv", [name], jobs=jobs):
        yield from (text for _, text in batches)


def csv_head(columns: Sequence[Column]) -> str:
    """The line of the names of columns, with its line end."""
    return ",".join(column.name for column in columns) + "\n"


def csv_text(columns: Sequence[Column], rows: Iterable[Row]) -> str:
    """Rows as lines of CSV with line ends.

    Null is an empty field; a real number reads back as the same number.
    """
    texts = [column.type.text for column in columns]
    return "".join(
        [
            ",".join(["" if v is None else text(v) for v, text in zip(row, texts, strict=True)])
            + "\n"
            for row in rows
        ]
    )


def arrow_table(paths: Sequence[str | Path], name: str, jobs: int | None = None) -> pyarrow.Table:
    """One table of the journals at these paths, which are of one world.

    Args:
        paths: one or more journals.
        name: the table's name; replay/TABLES.md lists tables and columns.
        jobs: number of processes; None: one per processor.

    Raises:
        BadInput: for a table that the world does not have, for journals of two worlds, and if
            pyarrow is not installed.
        JournalError: as reading a journal does, and for an integer beyond 64 bits.

    """
    require("pyarrow", "tables need", "tables")
    import pyarrow

    if not paths:
        raise BadInput("there is no journal", "give one or more")
    first = run_at(paths[0])
    [table] = tables_of(first.toolkit, first.world, [name])
    runs = encoded_tables(paths, "arrow", [name], jobs=jobs)
    found = [batch for [batches] in runs for _, batch in batches]
    return pyarrow.Table.from_batches(found, Batches(table).schema)
