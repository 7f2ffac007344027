"""Many texts that differ in their numbers alone, kept small: each is a pattern and its numbers."""

from __future__ import annotations

import re
from typing import Final

_NUMBER: Final = re.compile(r"(?<![0-9.])(0|[1-9][0-9]{0,14})(?![0-9.])")


class Patterns:
    """Texts as `[number of the pattern, number, ...]`: the parts of `known[pattern]`, with the
    numbers between them, are the text again.
    """

    def __init__(self) -> None:
        self.known: list[list[str]] = []
        self._places: dict[tuple[str, ...], int] = {}

    def of(self, text: str) -> list[int]:
        """A text as its pattern and numbers."""
        parts = _NUMBER.split(text)
        pattern = tuple(parts[::2])
        place = self._places.get(pattern)
        if place is None:
            place = self._places[pattern] = len(self.known)
            self.known.append(list(pattern))
        return [place, *map(int, parts[1::2])]
