"""Notes of agents to themselves: what an answer says is kept from one question to the next."""

from __future__ import annotations

from typing import Final

NOTE_MAX: Final = 2_000  # characters, after cleaning
# Tabs and line ends become spaces; other control characters (C0, delete, C1) go; lone surrogates
# are not valid text.
_CLEANED: Final[dict[int, str | None]] = {
    **dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)]),
    **dict.fromkeys(map(ord, "\t\n\v\f\r\x85\u2028\u2029"), " "),
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}


def note_after(before: str | None, note: object) -> str | None:
    """The note that an agent keeps. `note`: that of its answer; only a text replaces the one
    `before`, and an empty text leaves none.
    """
    if not isinstance(note, str):
        return before
    return note.translate(_CLEANED)[:NOTE_MAX] or None
