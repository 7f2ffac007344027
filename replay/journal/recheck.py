"""Audit of all draws of a journal."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from goldrush.kernel.errors import GoldrushError
from goldrush.replay.journal.draws import draws
from goldrush.replay.journal.tie_break import TieBreak


@attrs.frozen
class Recheck:
    """The result of the audit of a journal, as far as it can be read.

    Attributes:
        path: the journal.
        checked: the number of draws by kind.
        drawn: the number of those that took a draw word.
        broken: the draws that do not hold.
        error: the error that ended the reading; None at the end of the journal.
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
        return {
            "path": self.path,
            "holds": self.holds,
            "error": self.error,
            "checked": dict(self.checked),
            "drawn": self.drawn,
            "broken": [one.as_dict() for one in self.broken],
        }


def recheck(path: str | Path) -> Recheck:
    """Audit every draw of a journal. Raises nothing: errors of reading, and a world without draws,
    are in the result's `error`.
    """
    checked: Counter[str] = Counter()
    drawn = 0
    broken = []
    error = None
    try:
        for audited in draws(path):
            checked[audited.kind] += 1
            drawn += bool(audited.draw_words)
            if not audited.holds:
                broken.append(audited)
    except GoldrushError as trouble:
        error = str(trouble)
    return Recheck(os.fspath(path), checked, drawn, broken, error)
