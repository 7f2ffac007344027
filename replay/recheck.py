"""Every draw of a journal, worked out anew and counted."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from goldrush.kernel.errors import GoldrushError
from goldrush.replay.tie_break import TieBreak
from goldrush.replay.toolkit import needed, toolkit_at


@attrs.frozen
class Recheck:
    """What became of the draws of the journal at `path`, as far as it can be read.

    `checked`: how many tie-breaks, by kind; `drawn`: how many of them took a word; `broken`: those
    that do not hold; `error`: what ended the reading, None where it came to the end.
    """

    path: str
    checked: Mapping[str, int]
    drawn: int
    broken: Sequence[TieBreak]
    error: str | None

    @property
    def holds(self) -> bool | None:
        """Whether all hold; None where none is broken, but not all could be read."""
        if self.broken:
            return False
        return True if self.error is None else None

    def as_dict(self) -> dict[str, Any]:
        """It as plain values."""
        return {
            "path": self.path,
            "holds": self.holds,
            "error": self.error,
            "checked": dict(self.checked),
            "drawn": self.drawn,
            "broken": [one.as_dict() for one in self.broken],
        }


def recheck(path: str | Path) -> Recheck:
    """Work out every draw of a journal anew. What reading it raises is the result's `error`, as is
    that its world has no draws to audit.
    """
    checked: Counter[str] = Counter()
    drawn = 0
    broken = []
    error = None
    try:
        by = needed(toolkit_at(path).tie_breaks, path, "draws to audit")
        for audited in by.every(path):
            checked[audited.kind] += 1
            drawn += bool(audited.draw_words)
            if not audited.holds:
                broken.append(audited)
    except GoldrushError as trouble:
        error = str(trouble)
    return Recheck(os.fspath(path), checked, drawn, broken, error)
