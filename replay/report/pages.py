"""The pages of all runs of a study, as `goldrush view` writes them, linked from its report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import attrs

from goldrush.agents.workers import map_in_order
from goldrush.kernel.errors import WriteFailed
from goldrush.kernel.files import format_reason, make_folder, make_folders_within
from goldrush.replay.study.records import Cell
from goldrush.replay.study.results import Results

PAGES: Final = "pages"  # their folder, in the folder of the report


@attrs.frozen
class Pages:
    """Written pages.

    Attributes:
        count: their number.
        folder: their folder.
        size: of all together, in bytes.
        hrefs: addresses relative to the report, by cell and seed.

    """

    count: int
    folder: Path
    size: int
    hrefs: Mapping[tuple[Cell, int], str]


def write_pages(
    results: Results[Any, Any],
    report: Path,
    *,
    jobs: int | None = None,
    force: bool = False,
    on_page: Callable[[int, int], None] | None = None,
) -> Pages:
    """Write the page of each run into the folder `pages` next to the report.

    Args:
        results: the results of the study.
        report: the path of the report.
        jobs: the number of processes; None: one per processor.
        force: replace other files that goldrush wrote.
        on_page: called with the number of pages written, and their total.

    Raises:
        BadInput: if a file that is not an earlier page is in the way.
        WriteFailed: if a page or folder cannot be written.

    """
    folder = report.parent / PAGES
    hrefs: dict[tuple[Cell, int], str] = {}
    tasks: list[tuple[Path, Path, bool]] = []
    try:
        make_folder(str(folder))
        for cell, paths in results.journals.items():
            for result, path in zip(results.by_cell[cell], paths, strict=True):
                name = f"{path.removesuffix('.journal')}.html"
                make_folders_within(str(folder), name)
                tasks.append((Path(results.folder, path), folder / name, force))
                hrefs[cell, result.seed] = quote(f"{PAGES}/{name}")
    except OSError as error:
        raise WriteFailed(str(error.filename or folder), format_reason(error)) from None
    size = 0
    for done, written in enumerate(map_in_order(_write, tasks, jobs), 1):
        size += written
        if on_page is not None:
            on_page(done, len(tasks))
    return Pages(len(tasks), folder, size, hrefs)


def _write(task: tuple[Path, Path, bool]) -> int:
    from goldrush.replay.view.page import write_page

    journal, out, force = task
    return write_page(journal, out, force=force).size
