"""Tables of journals in Arrow's form, which pandas, polars and DuckDB read without a copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from goldrush.kernel.errors import JournalError
from goldrush.replay.data.columns import Row, Table
from goldrush.replay.extras import require

if TYPE_CHECKING:
    import pyarrow


class Batches:
    """Turns rows of a table into Arrow's record batches."""

    def __init__(self, table: Table) -> None:
        import pyarrow

        self._arrow = pyarrow
        self._columns = table.columns
        self.schema = pyarrow.schema([(c.name, c.type.arrow(pyarrow)) for c in table.columns])

    def of(self, rows: Sequence[Row]) -> pyarrow.RecordBatch:
        """Rows as columns. Raises JournalError for a value that Arrow cannot hold."""
        values: Sequence[Row] = list(zip(*rows, strict=True)) or [()] * len(self._columns)
        arrays = []
        for column, of in zip(self._columns, values, strict=True):
            plain = column.type.plain
            if plain is not None:
                of = [None if value is None else plain(value) for value in of]
            try:
                arrays.append(self._arrow.array(of, column.type.arrow(self._arrow)))
            except (OverflowError, self._arrow.ArrowException):  # only of a forged journal
                problem = f"a value of {column.name} is too large for Parquet; csv can hold it"
                raise JournalError(rows[0][0], problem) from None
        return self._arrow.record_batch(arrays, schema=self.schema)


def rows_table(
    rows: Sequence[Mapping[str, object]], texts: Sequence[str], integers: Sequence[str]
) -> pyarrow.Table:
    """Rows, given as dicts with the same keys, in Arrow's form.

    Args:
        rows: one or more.
        texts: the columns that hold text.
        integers: those that hold whole numbers; all others hold floating-point numbers or null.

    Raises BadInput where pyarrow is not installed.
    """
    require("pyarrow", "tables need", "tables")
    import pyarrow

    types = {name: pyarrow.string() for name in texts}
    types |= {name: pyarrow.int64() for name in integers}
    schema = pyarrow.schema([(name, types.get(name, pyarrow.float64())) for name in rows[0]])
    return pyarrow.Table.from_pylist(list(rows), schema=schema)
