"""Tables of a report: their cells, and the same tables as CSV and LaTeX."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from io import StringIO
from itertools import groupby
from pathlib import Path
from typing import Final

import attrs

from goldrush.kernel.files import NewFolder
from goldrush.replay.report.figure import check_folder
from goldrush.replay.report.numbers import MINUS, NONE, TOGETHER, printable

CSV, TEX = SUFFIXES = ("csv", "tex")
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

    def without(self, columns: Sequence[str]) -> ReportTable:
        """The table without the columns of these heads."""
        kept = [index for index, name in enumerate(self.head) if name not in columns]
        rows = [[row[index] for index in kept] for row in self.rows]
        return attrs.evolve(self, head=[self.head[index] for index in kept], rows=rows)

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
    def spans(self) -> list[int]:
        """By row how many rows its heading is for; 0 where the heading above is for it, too."""
        spans: list[int] = []
        for _, rows in groupby(self.rows, key=lambda row: row[0]):
            count = len(list(rows))
            spans += [count, *[0] * (count - 1)]
        return spans

    @property
    def csv(self) -> str:
        """The table as CSV: numbers as on the page, with a minus that programs read."""
        file = StringIO()
        lines = csv.writer(file, lineterminator="\n")
        for row in (self.head, *self.rows):
            texts = (str(cell).replace(MINUS, "-").replace(TOGETHER, " ") for cell in row)
            lines.writerow(map(printable, texts))
        return file.getvalue()

    @property
    def latex(self) -> str:
        """The table for LaTeX with the package booktabs."""
        numeric = self.numeric
        columns = "".join("r" if at in numeric else "l" for at in range(len(self.head)))
        head, *rows = (
            " & ".join(tex(str(cell)) for cell in row) + r" \\" for row in (self.head, *self.rows)
        )
        return "\n".join(
            [
                _MARK, r"\begin{table}", rf"\caption{{{tex(self.caption)}}}",
                rf"\label{{tab:{self.name}}}", rf"\begin{{tabular}}{{{columns}}}", r"\toprule",
                head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}", r"\end{table}", "",
            ]
        )  # fmt: skip


_MARK: Final = "% written by goldrush; needs \\usepackage{booktabs}"
_TEX: Final = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
        "<": "$<$", ">": "$>$", "|": r"\textbar{}", MINUS: "$-$", "±": r"$\pm$", "×": r"$\times$",
        "÷": r"$\div$", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "←": r"$\leftarrow$",
        "→": r"$\rightarrow$", "≤": r"$\le$", "≥": r"$\ge$", "α": r"$\alpha$", "ρ": r"$\rho$",
        "–": "--", "…": r"\dots{}", TOGETHER: "~", "\"": "''",
    }
)  # fmt: skip


def tex(text: str) -> str:
    """Text as LaTeX takes it, with invisible characters escaped."""
    return printable(text).translate(_TEX)


def write_tables(
    tables: Sequence[ReportTable], folder: str | Path, *, force: bool = False
) -> list[str]:
    """Write tables into a folder as CSV and LaTeX, all or none, and return their names. `force`:
    replace a folder of earlier tables.

    Raises BadInput if the folder holds anything else, and, without `force`, if it holds tables;
    WriteFailed.
    """
    with NewFolder(str(folder)) as new:
        for table in tables:
            new.add(f"{table.name}.{CSV}", table.csv.encode())
            new.add(f"{table.name}.{TEX}", table.latex.encode())
        check_tables(folder, force=force)
        new.publish(replace=force)
    return [table.name for table in tables]


def check_tables(folder: str | Path, *, force: bool = False) -> None:
    """Raises BadInput if `write_tables` would, before there are tables."""
    check_folder(
        Path(folder), "table", SUFFIXES, TEX, lambda front: front.startswith(_MARK.encode()),
        replace=force,
    )  # fmt: skip
