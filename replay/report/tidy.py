"""The values of a figure as rows, and as CSV: one row for each mark.

Columns: the title of the `panel`; the `series`, such as a roster; `x`, a position or the label of a
row; the value `y` with the ends `low` and `high` of its 95% interval (in figures of one run, of its
agents' range); `n`, the number of runs or agents behind it; the `label` of a point among those of
its row and series: the half of the runs, the seed of a run, the treatment, roster and horizon of an
effect, its description. What is undefined is empty.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Final

from goldrush.kernel.text import escaped
from goldrush.replay.outcome import SHOWN_MAX
from goldrush.replay.report.marks import Area, Curve, Panel, Point
from goldrush.replay.text import format_table

Row = dict[str, str | float | None]

COLUMNS: Final = ("panel", "series", "x", "y", "low", "high", "n", "label")
HEAD: Final = ",".join(COLUMNS) + "\n"


def rows_of(panels: Sequence[Panel]) -> list[Row]:
    """A row for each mark, by COLUMNS; `x`, `y`, `low` and `high` in the units of the panel's axes
    (rounds, or those of the measure).
    """
    return [
        dict(zip(COLUMNS, (panel.full_title or panel.title, *values), strict=True))
        for panel in panels
        for values in _values(panel)
    ]


def _values(panel: Panel) -> Iterator[tuple[str | float | None, ...]]:
    for mark in panel.marks:
        if isinstance(mark, Curve):
            for s in mark.samples:
                yield mark.style.name, s.x, s.y, s.low, s.high, s.n, None
        elif isinstance(mark, Point) and panel.rows:
            row = panel.names[round(mark.y)]
            yield mark.style.name, row, mark.x, mark.low, mark.high, mark.n, mark.group or None
        elif isinstance(mark, Point):
            yield mark.style.name, mark.x, mark.y, None, None, mark.n, mark.text or None
        elif isinstance(mark, Area):
            for index, (below, above) in enumerate(zip(mark.below, mark.above, strict=True)):
                x = (mark.edges[index] + mark.edges[index + 1]) / 2
                yield mark.name, x, above - below, None, None, None, None


def csv_of(panels: Sequence[Panel]) -> str:
    """The rows as CSV with a head; numbers have twelve significant digits."""
    file = StringIO()
    lines = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    lines.writeheader()
    for row in rows_of(panels):
        lines.writerow({name: _format(value, 12) for name, value in row.items()})
    return file.getvalue()


def format_rows(panels: Sequence[Panel]) -> str:
    """The first rows as a table of text, without empty columns."""
    rows = [[escaped(_format(value, 6)) for value in row.values()] for row in rows_of(panels)]
    kept = [index for index in range(len(COLUMNS)) if any(row[index] for row in rows)]
    table = [[row[index] for index in kept] for row in [list(COLUMNS), *rows]]
    numbers = [at for at, index in enumerate(kept) if COLUMNS[index] in ("y", "low", "high", "n")]
    return format_table(table, numbers, SHOWN_MAX, ".data has all")


def _format(value: str | float | None, digits: int) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"
