"""Parts of prompts with a limit in bytes: quotations of other agents, and lists.

A token is at least a byte, so a prompt of such parts is bounded in tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

T = TypeVar("T")

# Characters that are escaped as in JSON: quotes and backslashes; those of chat templates, code
# fences and plans, also in their wide forms; and all that are invisible or reorder text. Listed,
# because `str.isprintable` differs between Python versions, and every version must make the same
# prompt. Not a # before a digit, as contributions are called at a table (#7).
_SPECIAL: Final = re.compile(
    r"#(?![0-9])|[\"\\\0-\x1f\x7f-\xa0<>\[\]{}|`"
    r"\uff02\uff03\uff1c\uff1e\uff3b-\uff3d\uff40\uff5b-\uff5d\ufe00-\ufe6f"
    r"\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u1680\u17b4\u17b5"
    r"\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ud800-\uf8ff\ufeff"
    r"\uffa0\ufff0-\uffff\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3"
    r"\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
)


def quoted(text: str, most: int) -> str:
    """Text of another agent as one JSON string, on one line.

    Quotes, invisible characters and those of chat templates, code fences and JSON are escaped. A
    string of over `most` bytes is cut and followed by ` (cut)`.
    """
    text = text[: most + 1]
    whole = f'"{_SPECIAL.sub(_escape, text)}"'
    if size(whole) <= most:
        return whole
    parts: list[str] = []
    left = most - 2
    for at, character in enumerate(text):
        special = _SPECIAL.match(text, at)
        part = character if special is None else _escape(special)
        left -= size(part)
        if left < 0:
            break
        parts.append(part)
    return f'"{"".join(parts)}" (cut)'


def _escape(special: re.Match[str]) -> str:
    if special[0] in '"\\':
        return "\\" + special[0]
    data = special[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[at : at + 2].hex()}" for at in range(0, len(data), 2))


def within(items: Iterable[str], most: int, between: str = ", ") -> str:
    """The first items that fit into `most` bytes, joined, and the number of the others."""
    more = "({} more left out)" if between == "\n" else "and {} more"
    return limited(items, most, between, more.format)


def size(text: str) -> int:
    """The bytes of a text in UTF-8."""
    return len(text.encode())


def cut(text: str, most: int) -> str:
    """The first characters of a text that take at most `most` bytes."""
    return text.encode()[:most].decode(errors="ignore")


def limited(
    items: Iterable[T],
    most: int,
    between: str,
    more: Callable[[int], str],
    text: Callable[[T], str] = str,
) -> str:
    """The texts of items, joined, in at most `most` bytes, whatever the texts are. If not all fit:
    the first that do, with `more` for the number of the others; nothing if not even that fits.
    """
    kept: list[str] = []
    end, ends = 0, [0]  # bytes of the first items, with a separator after each
    gap = size(between)
    rest = iter(items)
    for item in rest:
        part = text(item)
        if not part:
            continue
        end += size(part)
        if end > most:
            break
        end += gap
        kept.append(part)
        ends.append(end)
    else:
        return between.join(kept)
    left = 1 + sum(1 for _ in rest)
    while ends[-1] + size(more(left)) > most:
        if not kept:
            return ""
        kept.pop()
        ends.pop()
        left += 1
    return between.join(filter(None, [*kept, more(left)]))
