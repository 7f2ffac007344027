"""Tables as files, CSV and Parquet: written in batches, and complete or absent."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from goldrush.kernel.errors import BadInput
from goldrush.kernel.files import Group, Unfinished
from goldrush.replay.arrow import BATCH, Batches
from goldrush.replay.columns import Column
from goldrush.replay.extras import require
from goldrush.replay.run_data import RunData, of_one_world, run_at, runs_at
from goldrush.replay.tables import Row, Table, tables_of
from goldrush.replay.toolkit import Toolkit

CSV, PARQUET = FORMATS = ("csv", "parquet")
GROUP: Final = 120_000  # rows in a row group of Parquet; what DuckDB gives to one thread


def csv_lines(table: Table, runs: Iterable[RunData]) -> Iterator[str]:
    """A table as lines of CSV, with line ends, after a line of column names.

    Null is an empty field; a real number reads back as the same number. Raises BadInput for a run
    of another world than the first, and JournalError as reading a journal does, after the rows
    before.
    """
    of_all = (row for run in of_one_world(runs) for row in table.rows(run))
    yield from csv_of(table.columns, of_all)


def csv_of(columns: Sequence[Column], rows: Iterable[Row]) -> Iterator[str]:
    """Rows as lines of CSV, as `csv_lines`."""
    yield _line(column.name for column in columns)
    texts = [column.type.text for column in columns]
    for row in rows:
        yield _csv_row(row, texts)


def _csv_row(row: Row, texts: Sequence[Callable[[Any], str]]) -> str:
    return _line("" if v is None else text(v) for v, text in zip(row, texts, strict=True))


def _line(fields: Iterable[str]) -> str:
    return ",".join(fields) + "\n"


def write(
    paths: Sequence[str | Path],
    folder: str | Path,
    form: str,
    *,
    names: Sequence[str] | None = None,
    force: bool = False,
    toolkit: Toolkit | None = None,
    on_run: Callable[[int], None] | None = None,
) -> dict[str, int]:
    """Write tables of journals into a folder, one file each: `events.csv` (or `.parquet`) and so
    on.

    All files are complete, or none is there: they have temporary names until all are complete. A
    missing folder is made.

    Args:
        paths: journals of one world.
        folder: the folder.
        form: csv or parquet.
        names: the names of the tables; None: all.
        force: replace files that are there.
        toolkit: the world's toolkit; None: found by the world's name.
        on_run: called with the number of journals that are done.

    Returns:
        The number of rows of each file, by its path.

    Raises:
        BadInput: for a folder that cannot hold the files, for a file that is there already without
            `force`, for a path that is no journal, and for journals of two worlds.
        WriteFailed: if the system refuses to write.
        JournalError: as reading a journal does, and for an integer that Parquet cannot hold.

    """
    if form not in FORMATS:
        raise BadInput(f"there is no format {form!r}", f"take one of {', '.join(FORMATS)}")
    if not paths:
        raise BadInput("there is no journal", "give one or more")
    if form == PARQUET:
        check_pyarrow()
    first = run_at(paths[0], toolkit)
    with Group(str(folder)) as group, ExitStack() as stack:
        files = []
        for table in tables_of(first.toolkit, first.world, names):
            file = _File(group.file(f"{table.name}.{form}", force=force), table)
            files.append(stack.enter_context(file))
        for count, run in enumerate(of_one_world(runs_at(paths, toolkit)), 1):
            for file in files:
                file.add(run)
            if on_run is not None:
                on_run(count)
        for file in files:
            file.finish()
        group.publish()
        return {file.path: file.rows for file in files}


def check_pyarrow() -> None:
    """Raises BadInput unless pyarrow can be imported."""
    require("pyarrow", "Parquet needs", "tables", ", or take csv")


class _File:
    """A table that is being written to a file."""

    def __init__(self, file: Unfinished, table: Table) -> None:
        self.path = file.path
        self.rows = 0
        self._table = table
        kind = _Parquet if self.path.endswith(PARQUET) else _Csv
        self._format: _Csv | _Parquet = kind(table, file)
        self._waiting: list[Row] = []

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        self._format.abandon()

    def add(self, run: RunData) -> None:
        """Add all rows of a run."""
        for row in self._table.rows(run):
            self._waiting.append(row)
            if len(self._waiting) == BATCH:
                self._put()

    def _put(self) -> None:
        self._format.put(self._format.batch(self._waiting))
        self.rows += len(self._waiting)
        self._waiting.clear()

    def finish(self) -> None:
        """Write the rest."""
        self._put()
        self._format.finish()


class _Csv:
    def __init__(self, table: Table, file: Unfinished) -> None:
        self._file = file
        self._texts = [column.type.text for column in table.columns]
        self._head = _line(column.name for column in table.columns)

    def batch(self, rows: Sequence[Row]) -> bytes:
        """Rows as lines; the first batch begins with the names of the columns."""
        head, self._head = self._head, ""
        return (head + "".join(_csv_row(row, self._texts) for row in rows)).encode()

    def put(self, lines: bytes) -> None:
        """Write lines."""
        self._file.write(lines)

    def finish(self) -> None:
        """No-op: CSV has no footer."""

    def abandon(self) -> None:
        """No-op: lines that were not put are discarded."""


class _Sink(io.RawIOBase):
    """A file in the form that pyarrow writes to."""

    def __init__(self, file: Unfinished) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._file.write(data)


class _Parquet:
    def __init__(self, table: Table, file: Unfinished) -> None:
        import pyarrow
        import pyarrow.parquet

        self._arrow = pyarrow
        self._batches = Batches(table)
        self._writer = pyarrow.parquet.ParquetWriter(_Sink(file), self._batches.schema)
        self._waiting: list[Any] = []

    def batch(self, rows: Sequence[Row]) -> Any:
        """Rows as columns. Raises JournalError for a value that Parquet cannot hold."""
        return self._batches.of(rows)

    def put(self, batch: Any) -> None:
        """Keep a batch until there are enough for a row group."""
        self._waiting.append(batch)
        if sum(one.num_rows for one in self._waiting) >= GROUP:
            self._write()

    def _write(self) -> None:
        batches, self._waiting = self._waiting, []
        table = self._arrow.Table.from_batches(batches, self._batches.schema)
        self._writer.write_table(table, row_group_size=GROUP)

    def finish(self) -> None:
        """Write the rest, and the file's footer."""
        self._write()
        self._writer.close()

    def abandon(self) -> None:
        """Discard the rest, or pyarrow would try to write it when it is closed."""
        self._writer.is_open = False
