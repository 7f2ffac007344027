"""Texts that differ in their numbers alone, packed for the page of a run."""

from __future__ import annotations

import re
from typing import Final

_NUMBER: Final = re.compile(r"(?<![\w.])([0-9]+(?:\.[0-9]+)?)(?!\w)", re.ASCII)
_WHOLE: Final = re.compile(r"0|[1-9][0-9]{0,14}", re.ASCII)  # as JavaScript writes it, too


class Patterns:
    """Texts as `[index of the pattern, number, ...]`: the parts of `known[index]`, with the numbers
    between them, are the text. A number that JavaScript would write otherwise is text.
    """

    def __init__(self) -> None:
        self.known: list[list[str]] = []
        self._indexes: dict[tuple[str, ...], int] = {}

    def of(self, text: str) -> list[int | str]:
        """A text as its pattern and numbers."""
        parts = _NUMBER.split(text)
        pattern = tuple(parts[::2])
        index = self._indexes.setdefault(pattern, len(self.known))
        if index == len(self.known):
            self.known.append(list(pattern))
        numbers = [int(part) if _WHOLE.fullmatch(part) else part for part in parts[1::2]]
        return [index, *numbers]
