"""Proof that a journal is a fork of another one.

A fork names its parent's SHA-256 and begins with its parent's bytes. Neither proves the other: the
first may be any text, the second may be of any journal. The parent's file proves both.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

import attrs

from goldrush.kernel.errors import JournalError, TornTail, format_value
from goldrush.kernel.journal import Commit, JournalReader
from goldrush.replay.find import typed


@attrs.frozen
class Branch:
    """The point where a journal leaves its parent.

    Attributes:
        offset: the offset of its last FORK, in bytes.
        shared: the SHA-256 of all bytes before it.
        parent: the parent's SHA-256 as named by the FORK; None if it names none.
    """

    offset: int
    shared: str
    parent: str | None

    @classmethod
    def of(cls, commit: Commit, reader: JournalReader) -> Self:
        """The branch at a FORK that this reader has just given."""
        parent = (commit.setup or {}).get("parent")
        is_sha256 = type(parent) is str and len(parent) == 64
        return cls(*reader.reached(), parent if is_sha256 else None)


def fault_of(branch: Branch | None, parent: str | Path) -> tuple[str | None, str]:
    """Check that a journal is a fork of another one. `branch`: where the journal leaves its parent;
    None if it is no fork.

    Returns:
        Why it is no fork of it (None: it is one), and a remark.

    Raises BadInput, NotAJournal, UnsupportedJournal, DamagedJournal if the parent does not begin as
    a journal.
    """
    if branch is None:
        return "it is no fork", ""
    shared = grown_from = None
    with JournalReader(parent, hashed=True) as reader:
        for offset, sha256 in _boundaries(reader):
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
        was = f"when that had {grown_from} bytes; it was resumed since"
        return None, f"forked from {parent}, {was}"
    return (
        f"it was forked from a file with SHA-256 {format_value(branch.parent, 70)}, but {parent} "
        f"has {whole}, and had another one at every earlier commit{_way_out(parent)}"
    ), ""


def _way_out(parent: str | Path) -> str:
    """How a parent that lost its end, and so its hash, may get it back, as the end of a message."""
    try:
        with JournalReader(parent) as reader:
            for _ in reader.outline():
                pass
            can_resume = not reader.ended
    except TornTail as torn:
        can_resume = not torn.in_fork
    except JournalError:
        can_resume = False
    if not can_resume:
        return ""
    command = f"`goldrush resume {typed(parent)}`"
    return f"; {parent} is unfinished: if it lost its end, {command} restores it"


def _boundaries(reader: JournalReader) -> Iterator[tuple[int, str]]:
    """Each boundary between two commits: its offset, and the SHA-256 of all bytes before it."""
    with suppress(JournalError):  # damage after the fork does not matter to it
        for _ in reader:
            yield reader.reached()
    yield reader.reached()
