"""Is a journal the fork of another one that it says it is?

A fork states its parent's SHA-256 and begins with its parent's bytes. Neither proves the other: the
first may be any text, the second anybody's. Together with the parent itself both can be proven.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

import attrs

from goldrush.kernel.errors import JournalError, format_value
from goldrush.kernel.journal import Commit, JournalReader


@attrs.frozen
class Branch:
    """Where a journal leaves its parent: the byte where its last FORK begins, the SHA-256 of all
    before it, and what the FORK says is its parent's SHA-256 (None: nothing that could be one).
    """

    offset: int
    shared: str
    parent: str | None

    @classmethod
    def of(cls, commit: Commit, reader: JournalReader) -> Self:
        """The branch at a FORK that this reader has given last."""
        parent = (commit.setup or {}).get("parent")
        is_sha256 = type(parent) is str and len(parent) == 64
        return cls(*reader.reached(), parent if is_sha256 else None)


def fault_of(branch: Branch | None, parent: str | Path) -> tuple[str | None, str]:
    """Why a journal that leaves its parent there is no fork of the journal at `parent` (None: it is
    one), and what else is to be said of it.

    Raises BadInput, NotAJournal, UnsupportedJournal or DamagedJournal for a parent that does not
    begin as a journal.
    """
    if branch is None:
        return "it is no fork", ""
    shared = grown_from = None
    with JournalReader(parent, hashed=True) as reader:
        for offset, sha256 in _places(reader):
            if offset == branch.offset:
                shared = sha256
            if offset >= branch.offset and sha256 == branch.parent:
                grown_from = offset
        whole = reader.sha256()
    if shared != branch.shared:
        return f"its bytes up to its fork, at byte {branch.offset}, are not those of {parent}", ""
    if branch.parent == whole:
        return None, f"forked from {parent}"
    if grown_from is not None:
        was = f"when that had {grown_from} bytes; it was gone on with since"
        return None, f"forked from {parent}, {was}"
    return (
        f"it was forked from a file with SHA-256 {format_value(branch.parent, 70)}, but {parent} "
        f"has {whole}, and no whole commits that it begins with have that one"
    ), ""


def _places(reader: JournalReader) -> Iterator[tuple[int, str]]:
    """Each place between two commits: its byte, and the SHA-256 of all before it."""
    with suppress(JournalError):  # what is broken behind the fork does not matter to it
        for _ in reader:
            yield reader.reached()
    yield reader.reached()
