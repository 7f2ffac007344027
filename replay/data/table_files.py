"""Tables as files, CSV and Parquet: written in batches, and complete or absent."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final

from goldrush.kernel.errors import BadInput
from goldrush.kernel.files import FRONT, FileGroup, IsOwn, Unfinished
from goldrush.replay.data.arrow import Batches
from goldrush.replay.data.columns import Table
from goldrush.replay.data.encoded import csv_head, encoded_tables
from goldrush.replay.data.run_data import run_at
from goldrush.replay.data.tables import tables_of
from goldrush.replay.extras import require
from goldrush.replay.toolkit import Toolkit

CSV, PARQUET = FORMATS = ("csv", "parquet")
GROUP: Final = 120_000  # rows in a row group of Parquet; what DuckDB gives to one thread


def write(
    paths: Sequence[str | Path],
    folder: str | Path,
    form: str,
    *,
    names: Sequence[str] | None = None,
    jobs: int | None = None,
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
        jobs: number of processes; None: one per processor. The files do not depend on it.
        force: replace files with the columns of these tables.
        toolkit: the world's toolkit; None: found by the world's name.
        on_run: called with the number of journals that are done.

    Returns:
        The number of rows of each file, by its path.

    Raises:
        BadInput: for a folder that cannot hold the files, for a file that is there already, for a
            path that is no journal, and for journals of two worlds.
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
    with FileGroup(str(folder)) as group, ExitStack() as stack:
        kind = _Parquet if form == PARQUET else _Csv
        files: list[_Csv | _Parquet] = []
        for table in tables_of(first.toolkit, first.world, names):
            name = f"{table.name}.{form}"
            is_earlier = kind.recogniser(table, Path(folder, name))
            file = group.file(name, force=force, by_force=is_earlier)
            files.append(stack.enter_context(closing(kind(table, file))))
        runs = stack.enter_context(
            closing(encoded_tables(paths, kind.form, names, jobs=jobs, toolkit=toolkit))
        )
        rows = dict.fromkeys((file.path for file in files), 0)
        for count, run in enumerate(runs, 1):
            for table_file, batches in zip(files, run, strict=True):
                for size, batch in batches:
                    table_file.put(batch)
                    rows[table_file.path] += size
            if on_run is not None:
                on_run(count)
        for table_file in files:
            table_file.finish()
        group.publish()
        return rows


def check_pyarrow() -> None:
    """Raises BadInput unless pyarrow can be imported."""
    require("pyarrow", "Parquet needs", "tables", ", or take csv")


class _Csv:
    form: Final = "csv"

    def __init__(self, table: Table, file: Unfinished) -> None:
        self.path = file.path
        self._file = file
        self._head = csv_head(table.columns)

    @staticmethod
    def recogniser(table: Table, path: Path) -> IsOwn:
        """Recognises a file with the columns of this table by its first bytes."""
        head = csv_head(table.columns).encode()[:FRONT]
        return lambda front: front.startswith(head)

    def put(self, lines: str) -> None:
        """Write lines, after those of the head."""
        head, self._head = self._head, ""
        self._file.write((head + lines).encode())

    def finish(self) -> None:
        """Write the head of a table without rows."""
        self.put("")

    def close(self) -> None:
        """No-op: nothing is kept back."""


class _Sink(io.RawIOBase):
    """A file in the form that pyarrow writes to."""

    def __init__(self, file: Unfinished) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._file.write(data)


class _Parquet:
    form: Final = "arrow"

    def __init__(self, table: Table, file: Unfinished) -> None:
        import pyarrow
        import pyarrow.parquet

        self.path = file.path
        self._arrow = pyarrow
        self._schema = Batches(table).schema
        self._writer = pyarrow.parquet.ParquetWriter(_Sink(file), self._schema)
        self._waiting: list[Any] = []

    @staticmethod
    def recogniser(table: Table, path: Path) -> IsOwn:
        """Recognises the file at this path if it has the columns of this table."""
        import pyarrow.parquet

        def is_earlier(front: bytes) -> bool:
            try:
                names = pyarrow.parquet.read_schema(path).names
            except (OSError, pyarrow.ArrowException):
                return False
            return bool(names == [column.name for column in table.columns])

        return is_earlier

    def put(self, batch: Any) -> None:
        """Keep a batch until there are enough for a row group."""
        self._waiting.append(batch)
        if sum(one.num_rows for one in self._waiting) >= GROUP:
            self._write(GROUP)

    def _write(self, least: int) -> None:
        """Write row groups, and keep fewer rows than `least`."""
        table = self._arrow.Table.from_batches(self._waiting, self._schema)
        whole = table.num_rows // least * least
        self._writer.write_table(table.slice(0, whole), row_group_size=GROUP)
        self._waiting = table.slice(whole).to_batches()

    def finish(self) -> None:
        """Write the rest, and the file's footer."""
        self._write(1)
        self._writer.close()

    def close(self) -> None:
        """Discard what was not written, or pyarrow would try to write it when it is closed."""
        self._writer.is_open = False
