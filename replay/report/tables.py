"""Tables of a report: their cells, and the same tables as CSV and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from goldrush.replay.report.folder import CSV, TEX, tex
from goldrush.replay.report.numbers import MINUS, NONE, TOGETHER, printable
from goldrush.replay.report.templates import templates
from goldrush.replay.text import csv_of

TABLES: Final = "% written by goldrush; needs \\usepackage{array,booktabs,graphicx}"
_LONG: Final = 40  # characters of a text that LaTeX wraps
_COLUMN_CHARACTERS, _PAGE_CHARACTERS = 50, 120  # of a paper in two columns, in small letters
_NUMBER: Final = re.compile(
    r"(<\u00a0)?−?[\d,]+(\.\d+)?( ± [\d,]+(\.\d+)?)?( \(.*\))?"  # p, a mean ± half its interval
)


@attrs.frozen
class Marked:
    """A cell of a table with a coloured verdict, and its reason."""

    verdict: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.verdict} ({self.why})" if self.why else self.verdict


Content = str | Marked


@attrs.frozen
class ReportTable:
    """A table by name; the first column has the headings of its rows."""

    name: str
    head: Sequence[str]
    rows: Sequence[Sequence[Content]]
    caption: str

    @classmethod
    def of(cls, name: str, caption: str, rows: Sequence[Mapping[str, Content]]) -> ReportTable:
        """A table of rows by heading, the same in each row, without columns of empty texts."""
        headings = rows[0] if rows else ()
        head = [heading for heading in headings if any(row[heading] for row in rows)]
        return cls(name, head, [[row[heading] for heading in head] for row in rows], caption)

    @property
    def numeric(self) -> set[int]:
        """Indices of the columns of numbers, which are aligned to the right."""
        numeric = set()
        for column in range(1, len(self.head)):
            cells = [row[column] for row in self.rows]
            texts = [cell for cell in cells if isinstance(cell, str) and cell != NONE]
            if all(isinstance(c, str) for c in cells) and all(map(_NUMBER.fullmatch, texts)):
                numeric.add(column)
        return numeric

    @property
    def csv(self) -> str:
        """The table as CSV: numbers as on the page, with a minus that programs read."""
        return csv_of(
            [printable(str(cell).replace(MINUS, "-").replace(TOGETHER, " ")) for cell in row]
            for row in (self.head, *self.rows)
        )

    @property
    def files(self) -> dict[str, bytes]:
        """The table by suffix, as CSV and LaTeX."""
        return {CSV: self.csv.encode(), TEX: self.latex.encode()}

    @property
    def latex(self) -> str:
        """The table for LaTeX. A long one spans the columns of a page; its long texts are wrapped,
        and it is made smaller where it would still be wider than the page.
        """
        lines = [[str(cell) for cell in row] for row in (self.head, *self.rows)]
        lengths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        is_wide = sum(lengths) + 2 * len(lengths) > _COLUMN_CHARACTERS
        plain = templates(is_markup=False)
        plain.filters["tex"] = tex
        return plain.get_template("table.jinja").render(
            mark=TABLES, table=self, environment="table*" if is_wide else "table", is_wide=is_wide,
            columns=self._columns(lengths), lines=lines, tex=tex,
        )  # fmt: skip

    def _columns(self, lengths: Sequence[int]) -> str:
        """The columns for LaTeX; those of long texts share what the others leave of a page."""
        numeric = self.numeric
        long = {at for at, length in enumerate(lengths) if length > _LONG and at not in numeric}
        short = sum(length + 2 for at, length in enumerate(lengths) if at not in long)
        share = max(0.2, 0.95 - short / _PAGE_CHARACTERS) / max(1, len(long))
        wrapped = rf">{{\raggedright\arraybackslash}}p{{{share:.2f}\linewidth}}"
        return "".join(
            "r" if at in numeric else wrapped if at in long else "l" for at in range(len(lengths))
        )
