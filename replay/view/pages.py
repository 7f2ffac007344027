"""The pages of many runs, written by several processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import attrs

from goldrush.agents.workers import map_in_order
from goldrush.kernel.errors import WriteFailed
from goldrush.kernel.files import format_reason, make_folder, make_folders_within
from goldrush.replay.data.user_measures import can_be_shared
from goldrush.replay.view.page import write_page

if TYPE_CHECKING:
    from goldrush.replay.data.user_functions import UserMeasure

PAGES: Final = "pages"  # their folder, beside the page that links them


@attrs.frozen
class Pages:
    """Written pages: their folder, their size (of all together, in bytes), and their addresses by
    journal, relative to the folder beside which they are.
    """

    count: int
    folder: Path
    size: int
    hrefs: Mapping[str, str]


def name_of(journal: str) -> str:
    """The name of a run's page in the folder of pages; `journal`: its path, relative to theirs."""
    return f"{journal.removesuffix('.journal')}.html"


def write_pages(
    folder: str | Path,
    journals: Sequence[str],
    beside: Path,
    *,
    jobs: int | None = None,
    force: bool = False,
    users: Sequence[UserMeasure] = (),
    on_page: Callable[[int, int], None] | None = None,
) -> Pages:
    """Write the page of each run into the folder `pages` in the folder `beside`.

    Args:
        journals: their paths, relative to `folder`.
        users: measures of the user, shown among those of the world.

    Raises BadInput if a file that is not an earlier page is in the way; WriteFailed.
    """
    pages = beside / PAGES
    tasks: list[tuple[Path, Path, bool, Sequence[UserMeasure]]] = []
    try:
        make_folder(str(pages))
        for journal in journals:
            make_folders_within(str(pages), name_of(journal))
            tasks.append((Path(folder, journal), pages / name_of(journal), force, users))
    except OSError as error:
        raise WriteFailed(str(error.filename or pages), format_reason(error)) from None
    size = 0
    jobs = jobs if can_be_shared(users) else 1
    for done, written in enumerate(map_in_order(_write, tasks, jobs), 1):
        size += written
        if on_page is not None:
            on_page(done, len(tasks))
    hrefs = {journal: quote(f"{PAGES}/{name_of(journal)}") for journal in journals}
    return Pages(len(tasks), pages, size, hrefs)


def _write(task: tuple[Path, Path, bool, Sequence[UserMeasure]]) -> int:
    journal, out, force, users = task
    return write_page(journal, out, force=force, users=users).size
