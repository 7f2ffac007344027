"""Many texts that differ only in their numbers, kept small: each is a pattern and its numbers."""

from __future__ import annotations

import re
from typing import Final

_NUMBER: Final = re.compile(r"(?<![0-9.])(0|[1-9][0-9]{0,14})(?![0-9.])")


class Patterns:
    """Texts as `[index of the pattern, number, ...]`: the parts of `known[index]`, with the numbers
    between them, are the text.
    """

    def __init__(self) -> None:
        self.known: list[list[str]] = []
        self._indexes: dict[tuple[str, ...], int] = {}

    def of(self, text: str) -> list[int]:
        """A text as its pattern and numbers."""
        parts = _NUMBER.split(text)
        pattern = tuple(parts[::2])
        index = self._indexes.get(pattern)
        if index is None:
            index = self._indexes[pattern] = len(self.known)
            self.known.append(list(pattern))
        return [index, *map(int, parts[1::2])]
