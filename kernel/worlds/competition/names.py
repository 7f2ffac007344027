"""Names of newcomers: short, easy to distinguish, never used twice in a season."""

from __future__ import annotations

from typing import Final

NAMES: Final = (
    "ada", "ben", "cleo", "dov", "elif", "finn", "gus", "hana", "ines", "jun", "kaya", "leo",
    "mira", "nils", "oona", "pia", "quin", "rosa", "sami", "tove", "uma", "vito", "wren", "xan",
    "yara", "zeno",
)  # fmt: skip


def name_of(index: int) -> str:
    """The name at an index from 0. After the last of NAMES they repeat, numbered: `ada-2`."""
    again, at = divmod(index, len(NAMES))
    return NAMES[at] if again == 0 else f"{NAMES[at]}-{again + 1}"
