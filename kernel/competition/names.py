"""Names for those who join: short, told apart at a glance, never given twice in a season."""

from __future__ import annotations

from typing import Final

NAMES: Final = (
    "ada", "ben", "cleo", "dov", "elif", "finn", "gus", "hana", "ines", "jun", "kaya", "leo",
    "mira", "nils", "oona", "pia", "quin", "rosa", "sami", "tove", "uma", "vito", "wren", "xan",
    "yara", "zeno",
)  # fmt: skip


def name_of(place: int, attempt: int = 0) -> str:
    """The name at a place of an endless list: after the last one they begin anew, numbered.

    `attempt`: how many of the names from there on were found to be taken.
    """
    again, at = divmod(place + attempt, len(NAMES))
    return NAMES[at] if again == 0 else f"{NAMES[at]}-{again + 1}"
