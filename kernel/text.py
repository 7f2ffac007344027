"""Text in which every character can be seen, names that may be taken, words for a shell.

`str.isprintable` refuses what controls a terminal or the direction of text (categories C and Z, the
space apart), and takes some characters that show as nothing at all: fillers, variation selectors,
blanks that are letters or symbols by category. In a name each could pass one for another.
"""

from __future__ import annotations

import re
import shlex
from typing import Final

from goldrush.kernel.errors import BadInput

# Unicode's default-ignorable characters that count as printable, and two that are drawn blank.
_BLANK: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U0001d159\U000e0100-\U000e01ef]"
)


def is_visible(text: str) -> bool:
    """Whether every character of a text can be seen; a space can."""
    return text.isprintable() and _BLANK.search(text) is None


def escaped(text: str, keep: str = "") -> str:
    """The text with every character that cannot be seen written as an escape, except those
    in `keep`.
    """
    if is_visible(text):
        return text
    return "".join(
        c if c in keep or is_visible(c) else c.encode("unicode_escape", "backslashreplace").decode()
        for c in text
    )


def quoted(text: str) -> str:
    """A text as one word for a shell, every character of it to be seen, and to be typed."""
    if is_visible(text):
        return shlex.quote(text)
    return f"$'{''.join(map(_quoted_character, text))}'"


def _quoted_character(c: str) -> str:
    if c in "\\'":
        return f"\\{c}"
    if is_visible(c):
        return c
    return "".join(f"\\x{byte:02x}" for byte in c.encode("utf-8", "surrogateescape"))


def quoted_path(path: str) -> str:
    """As `quoted`, of a path as an argument: one that begins with - is no option."""
    return quoted(f"./{path}" if path.startswith("-") else path)


def format_count(count: int, one: str) -> str:
    """So many things, `one` being the word for a single one: `1 round`, `2 rounds`."""
    return f"{count:,} {one}{'' if count == 1 else 's'}"


def check_name(what: str, name: str) -> None:
    """Raises BadInput for a name with a character that cannot be seen; `what` it names."""
    unseen = next((c for c in name if not is_visible(c)), None)
    if unseen is not None:
        raise BadInput(
            f"{what} '{escaped(name[:60])}' has a character that cannot be seen "
            f"(U+{ord(unseen):04X})",
            "write it without",
        )
