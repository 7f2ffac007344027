"""Tables of many journals, encoded: as CSV, in Arrow's form, or as files that are complete or
absent.

A journal's rows are encoded in batches, one journal after the other, so that no table has to fit
into memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from goldrush.kernel.errors import BadInput, JournalError
from goldrush.kernel.files import FRONT, IsOwn, Unfinished
from goldrush.replay.data.arrow import Batches
from goldrush.replay.data.columns import Column, Row, Table
from goldrush.replay.data.run_data import RunData, run_at, runs_of_one_world
from goldrush.replay.data.tables import tables_of
from goldrush.replay.extras import require
from goldrush.replay.folders import FileGroup
from goldrush.replay.journal.forged import reporting_forged
from goldrush.replay.journal.source import warn_of_other_code

if TYPE_CHECKING:
    import pyarrow

    from goldrush.replay.data.user_functions import UserMeasure

BATCH: Final = 10_000  # rows that are encoded at once


def _tables(run: RunData, names: Sequence[str] | None) -> list[Table]:
    return tables_of(run.tools, run.world, names, run.users)


def rows_of(table: Table, run: RunData) -> Iterator[Row]:
    """The rows of a run. Raises JournalError as reading a journal does."""
    with reporting_forged(run.path):
        for row in table.own_rows(run):
            yield (*run.front, *row)


def _batches(table: Table, run: RunData) -> Iterator[list[Row]]:
    """The rows of a run, as many at once as are encoded."""
    batch: list[Row] = []
    try:
        for row in rows_of(table, run):
            batch.append(row)
            if len(batch) == BATCH:
                full, batch = batch, []
                yield full
    except JournalError:  # the rows before it are given first
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def csv_table(
    paths: Sequence[str | Path], name: str, users: Sequence[UserMeasure] = (),
) -> Iterator[str]:  # fmt: skip
    """One table of journals as CSV, in pieces. Arguments and errors: as `write_tables`."""
    warn_of_other_code(paths)
    for number, run in enumerate(runs_of_one_world(paths, users)):
        [table] = _tables(run, [name])
        if number == 0:
            yield csv_head(table.columns)
        for batch in _batches(table, run):
            yield csv_text(table.columns, batch)


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


def arrow_table(
    paths: Sequence[str | Path], name: str, users: Sequence[UserMeasure] = ()
) -> pyarrow.Table:
    """One table of the journals at these paths, which are of one world.

    Args:
        paths: one or more journals.
        name: the table's name; `goldrush columns` lists tables and columns.
        users: measures of the user, in the tables that have measures.

    Raises BadInput for a table that the world does not have, for journals of two worlds, and if
    pyarrow is not installed; JournalError as reading a journal does, and for an integer beyond 64
    bits.
    """
    require("pyarrow", "tables need", "tables")
    import pyarrow

    if not paths:
        raise BadInput("there is no journal", "give one or more")
    warn_of_other_code(paths)
    found: list[pyarrow.RecordBatch] = []
    for run in runs_of_one_world(paths, users):
        [table] = _tables(run, [name])
        encoder = Batches(table)
        found += map(encoder.of, _batches(table, run))
    return pyarrow.Table.from_batches(found, encoder.schema)


CSV, PARQUET = FORMATS = ("csv", "parquet")
GROUP: Final = 120_000  # rows in a row group of Parquet; what DuckDB gives to one thread


def write_tables(
    paths: Sequence[str | Path],
    folder: str | Path,
    form: str,
    *,
    names: Sequence[str] | None = None,
    force: bool = False,
    users: Sequence[UserMeasure] = (),
    on_run: Callable[[int], None] = lambda done: None,
) -> dict[str, int]:
    """Write tables of journals into a folder, one file each: `events.csv` (or `.parquet`) and so
    on.

    All files are complete, or none is there: they have temporary names until all are complete. A
    missing folder is made.

    Args:
        paths: journals of one world.
        form: csv or parquet.
        names: the names of the tables; None: all.
        force: replace files with the columns of these tables.
        users: measures of the user, in the tables that have measures.
        on_run: called with the number of journals that are done.

    Returns the number of rows of each file, by its path.

    Raises BadInput for a folder that cannot hold the files, for a file that is there already, for a
    path that is no journal, and for journals of two worlds; WriteFailed if the system refuses to
    write; JournalError as reading a journal does, and for an integer that Parquet cannot hold.
    """
    if form not in FORMATS:
        raise BadInput(f"there is no format {form!r}", f"take one of {', '.join(FORMATS)}")
    if not paths:
        raise BadInput("there is no journal", "give one or more")
    if form == PARQUET:
        require("pyarrow", "Parquet needs", "tables", ", or take csv")
    first = run_at(paths[0], users)
    with FileGroup(str(folder)) as group, ExitStack() as stack:
        kind = _Parquet if form == PARQUET else _Csv
        files: list[_Csv | _Parquet] = []
        for table in _tables(first, names):
            name = f"{table.name}.{form}"
            is_earlier = kind.recogniser(table, Path(folder, name))
            file = group.file(name, force=force, by_force=is_earlier)
            files.append(stack.enter_context(closing(kind(table, file))))
        rows = dict.fromkeys((file.path for file in files), 0)
        for count, run in enumerate(runs_of_one_world(paths, users), 1):
            for table_file, table in zip(files, _tables(run, names), strict=True):
                for batch in _batches(table, run):
                    table_file.put(batch)
                    rows[table_file.path] += len(batch)
            on_run(count)
        for table_file in files:
            table_file.finish()
        group.publish()
        return rows


class _Csv:
    def __init__(self, table: Table, file: Unfinished) -> None:
        self.path, self._file, self._columns = file.path, file, table.columns
        file.write(csv_head(table.columns).encode())

    @staticmethod
    def recogniser(table: Table, path: Path) -> IsOwn:
        """Recognises a file with the columns of this table by its first bytes."""
        head = csv_head(table.columns).encode()[:FRONT]
        return lambda front: front.startswith(head)

    def put(self, rows: Sequence[Row]) -> None:
        """Write rows."""
        self._file.write(csv_text(self._columns, rows).encode())

    def finish(self) -> None:
        """No-op: CSV has no footer."""

    def close(self) -> None:
        """No-op: nothing is kept back."""


class _Parquet:
    def __init__(self, table: Table, file: Unfinished) -> None:
        import pyarrow
        import pyarrow.parquet

        self.path = file.path
        self._arrow = pyarrow
        self._encoder = Batches(table)
        sink = SimpleNamespace(write=file.write, closed=False)  # what pyarrow needs of a file
        self._writer = pyarrow.parquet.ParquetWriter(sink, self._encoder.schema)
        self._waiting: list[Any] = []
        self._rows = 0

    @staticmethod
    def recogniser(table: Table, path: Path) -> IsOwn:
        """Recognises the file at this path if it has the columns of this table."""
        import pyarrow.parquet

        def is_earlier(front: bytes) -> bool:
            with suppress(OSError, pyarrow.ArrowException):
                names = pyarrow.parquet.read_schema(path).names
                return bool(names == [column.name for column in table.columns])
            return False

        return is_earlier

    def put(self, rows: Sequence[Row]) -> None:
        """Keep rows until there are enough for a row group."""
        self._waiting.append(self._encoder.of(rows))
        self._rows += len(rows)
        if self._rows >= GROUP:
            self._write()

    def _write(self) -> None:
        table = self._arrow.Table.from_batches(self._waiting, self._encoder.schema)
        self._writer.write_table(table, row_group_size=table.num_rows or None)
        self._waiting, self._rows = [], 0

    def finish(self) -> None:
        """Write the rest, and the file's footer."""
        if self._waiting:
            self._write()
        self._writer.close()

    def close(self) -> None:
        """Discard what was not written, or pyarrow would try to write it when it is closed."""
        self._writer.is_open = False
