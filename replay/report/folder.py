"""Folders of figures or tables for papers, and text as LaTeX.

Each figure or table has some files of its name, among them one for LaTeX whose first line tells
that goldrush wrote it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Final, Protocol

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.files import check_target, existing, format_reason
from goldrush.replay.folders import NewFolder
from goldrush.replay.report.numbers import MINUS, TOGETHER, printable
from goldrush.replay.workers import map_in_order

CSV, TEX = "csv", "tex"
SUFFIXES: Final = ("pdf", "png", CSV, TEX)
_TEX: Final = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
        "<": "$<$", ">": "$>$", "|": r"\textbar{}", MINUS: "$-$", "±": r"$\pm$", "×": r"$\times$",
        "÷": r"$\div$", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "←": r"$\leftarrow$",
        "→": r"$\rightarrow$", "≤": r"$\le$", "≥": r"$\ge$", "α": r"$\alpha$", "ρ": r"$\rho$",
        "Σ": r"$\Sigma$", "∫": r"$\int$", "⌊": r"$\lfloor$", "⌋": r"$\rfloor$", "₊": "$_+$",
        "₋": "$_-$", "ᵢ": "$_i$", "ⱼ": "$_j$", "ₖ": "$_k$", "ⁿ": "$^n$",
        "–": "--", "…": r"\dots{}", TOGETHER: "~", "\"": "''",
    }
)  # fmt: skip


def tex(text: str) -> str:
    """Text as LaTeX takes it, with invisible characters escaped."""
    return printable(text).translate(_TEX)


class Printed(Protocol):
    """A figure or a table; `files`: its files by suffix."""

    @property
    def name(self) -> str: ...

    @property
    def files(self) -> Mapping[str, bytes]: ...


def write_folder(
    printed: Sequence[Printed], folder: str | Path, mark: str, *, force: bool = False,
    jobs: int | None = None, on_written: Callable[[int, int], None] = lambda done, every: None,
) -> None:  # fmt: skip
    """Write figures or tables into a folder, all or none.

    Args:
        mark: the first line of their files for LaTeX.
        force: replace a folder of earlier ones.
        jobs: number of processes; None: one per processor.
        on_written: called with how many are done, of how many.

    Raises BadInput as `check_folder`, and without what draws them; WriteFailed.
    """
    with NewFolder(str(folder)) as new:
        drawn = map_in_order(attrgetter("files"), printed, jobs)
        for done, (each, by_suffix) in enumerate(zip(printed, drawn, strict=True), 1):
            for suffix, data in by_suffix.items():
                new.add(f"{each.name}.{suffix}", data)
            on_written(done, len(printed))
        check_folder(folder, mark, force=force)
        new.publish(replace=force)


def check_folder(folder: str | Path, mark: str, *, force: bool = False) -> None:
    """Raises BadInput if a folder holds anything but files of earlier figures or tables, or holds
    these and must not be replaced.
    """
    try:
        names = sorted(os.listdir(folder)) if os.path.lexists(folder) else []
    except OSError as error:
        reason = format_reason(error)
        raise BadInput(f"cannot read {folder}: {reason}", "give another path") from None
    for name in names:
        stem, _, suffix = name.rpartition(".")
        beside = Path(folder, f"{stem}.{TEX}")
        if suffix not in SUFFIXES or not beside.is_file() or not Path(folder, name).is_file():
            raise BadInput(
                f"{folder} holds {format_value(name)}, not recognised as an output of goldrush",
                "move it away, or give another path",
            )
        check_target(str(beside), is_own=lambda front: front.startswith(mark.encode()))
    if names and not force:
        raise existing(str(folder))
