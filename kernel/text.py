"""Text for people and shells: visible characters, escapes, quoting, valid names.

`str.isprintable` refuses characters that control a terminal or the direction of text (categories C
and Z except the space), but accepts some that show as nothing: fillers, variation selectors, blanks
that are letters or symbols by category. Two names could differ in such a character and look alike,
so these are refused too.
"""

from __future__ import annotations

import re
import shlex
from typing import Final

from goldrush.kernel.errors import BadInput

# Unicode's default-ignorable characters that count as printable, and two that render blank.
_BLANK: Final = (
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U0001d159\U000e0100-\U000e01ef]"
)


def is_visible(text: str) -> bool:
    """Whether every character of a text can be seen. A space counts as visible."""
    return text.isprintable() and re.search(_BLANK, text) is None


def escaped(text: str, keep: str = "") -> str:
    """The text with every invisible character as an escape sequence, except those in `keep`."""
    if is_visible(text):
        return text
    return "".join(
        c if c in keep or is_visible(c) else c.encode("unicode_escape", "backslashreplace").decode()
        for c in text
    )


def quoted(text: str) -> str:
    """A text as one shell word of visible characters that can be typed."""
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
    """A path as one shell word; `./` is put before a leading `-`, which would start an option."""
    return quoted(f"./{path}" if path.startswith("-") else path)


def format_count(count: int, noun: str) -> str:
    """A number with its noun, which is given in the singular: `1 round`, `2 rounds`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def check_name(what: str, name: str) -> None:
    """Refuse a name that has an invisible character. `what`: the kind of thing that is named, for
    the message.

    Raises BadInput, naming the first such character.
    """
    unseen = next((c for c in name if not is_visible(c)), None)
    if unseen is not None:
        raise BadInput(
            f"{what} '{escaped(name[:60])}' has a character that cannot be seen "
            f"(U+{ord(unseen):04X})",
            "leave that character out",
        )
