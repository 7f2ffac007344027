"""JSON as a journal holds it: what it had before is referred to, not repeated.

Chats repeat their history with every request. So a text of TEXT_MIN characters or more, and the
objects that a list begins with, are stored once in a journal; later they are numbers in
`References`, which grows with each exchange in the order of its values. A run over one growing chat
then takes space in proportion to what is new.

None, truth values, integers of 64 bits, numbers and texts stand for themselves; bytes are a body
that is no JSON. Everything else is a row that begins with its form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any, Final, TypeAlias, cast

import msgspec
from xxhash import xxh3_128_digest

from goldrush.kernel.codec import TooLarge, encode
from goldrush.kernel.shape import Kind

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Body: TypeAlias = "bool | int | float | str | bytes | list[Json] | dict[str, Json] | None"
Stored: TypeAlias = "bool | int | float | str | bytes | tuple[Stored, ...] | None"

# (OBJECT, key, value, key, value, ...); (LIST, item, ...); (TEXT, number of a text);
# (MORE, number of a beginning, item, ...): a list that begins as one before, and goes on;
# (INTEGER, digits): one beyond 64 bits.
OBJECT, LIST, TEXT, MORE, INTEGER = range(5)

TEXT_MIN: Final = 64  # characters of a text that is stored once
BODY_MAX: Final = 64 << 20  # bytes of a body
ITEMS_MAX: Final = 3 << 20  # values and keys of a body; one with more is bytes
ITEM: Final = 64  # bytes that a value takes besides its text
SIZE_MAX: Final = BODY_MAX + ITEMS_MAX * ITEM  # of a value with all that it refers to
DEPTH_MAX: Final = 64  # of values within values, references included
WORK_MAX: Final = 2 * SIZE_MAX  # size times depth: lists in lists are digested at each level
_DIGITS: Final = re.compile("-?[1-9][0-9]{18,3999}")
_NOWHERE: Final = -1  # the beginning of an empty list


def parsed(body: bytes) -> Body:
    """A body as JSON; the body itself if it is no JSON that a journal can hold."""
    try:
        value: Json = msgspec.json.decode(body)
    except (ValueError, RecursionError):  # stricter than the standard library, but much faster
        try:
            value = json.loads(body)
            packed(value)  # no lone surrogates
        except (ValueError, RecursionError):
            return body
    depth, items = _extent(value)
    size = len(body) + (items + 1) * ITEM
    is_held = depth <= DEPTH_MAX // 2 and items <= ITEMS_MAX and size * depth <= WORK_MAX
    return value if is_held else body


def packed(value: object) -> bytes:
    """JSON as bytes that tell its values apart, in type, too. Raises UnicodeEncodeError for a lone
    surrogate.
    """
    try:
        return encode(value)
    except TooLarge:  # an integer
        return json.dumps(value, ensure_ascii=False).encode()


def _extent(value: Json) -> tuple[int, int]:
    """The depth of a value, and the number of values and keys in it."""
    depth, count, level = 0, 0, [value]
    while level:  # level by level, at a fifth of the cost of a call for each
        dicts = [item for item in level if isinstance(item, dict)]
        lists = [item for item in level if isinstance(item, list)]
        level = [part for parts in (*map(dict.values, dicts), *lists) for part in parts]
        depth, count = depth + bool(dicts or lists), count + len(level) + sum(map(len, dicts))
    return max(depth, 1), count


class References:
    """The texts and the beginnings of lists that a journal holds so far, by number."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._number_of: dict[str, int] = {}
        # Of a beginning: what it is without its last item, that item, its size and depth.
        self._lists: list[tuple[int, Stored, int, int]] = []
        self._longer: dict[tuple[int, bytes], int] = {}

    def stored(self, value: Body) -> Stored:
        """A value as the journal holds it next."""
        if isinstance(value, str) and len(value) >= TEXT_MIN and value in self._number_of:
            return (TEXT, self._number_of[value])
        if isinstance(value, dict):
            return (OBJECT, *(part for key in value for part in (key, self.stored(value[key]))))
        if isinstance(value, list):
            number, count = self._beginning(value)
            rest = map(self.stored, value[count:])
            return (MORE, number, *rest) if count else (LIST, *rest)
        if type(value) is int and not -(1 << 63) <= value < 1 << 64:
            return (INTEGER, str(value))
        return value

    def _beginning(self, items: list[Json]) -> tuple[int, int]:
        """The longest beginning of a list that is known, and the number of its items."""
        number = _NOWHERE
        for count, item in enumerate(items):
            longer = number, xxh3_128_digest(packed(item))
            if not isinstance(item, dict) or longer not in self._longer:
                return number, count
            number = self._longer[longer]
        return number, len(items)

    def plain(self, value: Stored) -> Body:
        """The value again. Raises ValueError, LookupError for what no recorder writes."""
        self.measure(value)
        return cast("Body", self._plain(value))

    def _plain(self, value: Stored) -> Any:
        if type(value) is not tuple:
            return value
        form, *parts = cast("tuple[Any, ...]", value)
        if form == OBJECT:
            return dict(zip(parts[::2], map(self._plain, parts[1::2]), strict=True))
        if form == LIST:
            return [*map(self._plain, parts)]
        if form == MORE:
            return [*map(self._plain, [*self._items(parts[0]), *parts[1:]])]
        return self._texts[parts[0]] if form == TEXT else int(parts[0])

    def _items(self, number: int) -> Sequence[Stored]:
        items: list[Stored] = []
        while number != _NOWHERE:
            number, item, _, _ = self._lists[number]
            items.append(item)
        return items[::-1]

    def measure(self, value: Stored) -> tuple[int, int]:
        """The size, roughly in bytes of memory, and the depth of a value with all it refers to.

        Raises ValueError for one beyond SIZE_MAX, DEPTH_MAX or WORK_MAX, IndexError for an unknown
        number.
        """
        size, depth = ITEM, 0
        if isinstance(value, (str, bytes)):
            size += len(value)
        elif isinstance(value, tuple) and value[0] == TEXT:
            size += len(self._texts[cast(int, value[1])])
        elif isinstance(value, tuple) and value[0] != INTEGER:
            parts: Sequence[Stored] = value[1:]
            if value[0] == MORE:
                _, _, size, depth = self._lists[cast(int, parts[0])]
                parts = parts[1:]
            for part in parts:
                of_part, below = (ITEM + len(part), 0) if type(part) is str else self.measure(part)
                size, depth = size + of_part, max(depth, below + 1)
        if size > SIZE_MAX or depth > DEPTH_MAX or size * depth > WORK_MAX:
            raise ValueError("a value that is too large or nested too deeply")
        return size, depth

    def add(self, value: Stored) -> None:
        """Number what is new in a value of the journal. Raises as `measure`."""
        self.measure(value)
        for part in self._new(value):
            if part not in self._number_of:
                self._number_of[part] = len(self._texts)
                self._texts.append(part)

    def _new(self, value: Stored) -> Iterator[str]:
        """The texts of a value that may be new; the beginnings of its lists are numbered."""
        if isinstance(value, str) and len(value) >= TEXT_MIN:
            yield value
        if not isinstance(value, tuple) or value[0] in (TEXT, INTEGER):
            return
        number = cast(int, value[1]) if value[0] == MORE else _NOWHERE
        is_known = value[0] != OBJECT
        for part in value[2:] if value[0] == MORE else value[1:]:
            yield from self._new(part)
            is_known = is_known and isinstance(part, tuple) and part[0] == OBJECT
            if is_known:
                number = self._longer_by(number, part)

    def _longer_by(self, number: int, item: Stored) -> int:
        """The number of a beginning with one more item."""
        key = number, xxh3_128_digest(packed(self._plain(item)))
        if key not in self._longer:
            _, _, before, depth = (0, 0, ITEM, 0) if number == _NOWHERE else self._lists[number]
            size, below = self.measure(item)
            self._longer[key] = len(self._lists)
            self._lists.append((number, item, before + size, max(depth, below + 1)))
        return self._longer[key]


def holds(value: object, depth: int = DEPTH_MAX // 2) -> bool:
    """Whether a value read from a file has the form of a stored one."""
    if type(value) is not tuple:
        return value is None or type(value) in (bool, int, float, str)
    if not value or depth < 0 or type(value[0]) is not int:
        return False
    form, *parts = value
    if form in (TEXT, MORE) and not (parts and type(parts[0]) is int and parts[0] >= 0):
        return False
    if form == OBJECT:
        keys = parts[::2]
        return len({*keys}) * 2 == len(parts) and all(
            type(key) is str and holds(item, depth - 1)
            for key, item in zip(keys, parts[1::2], strict=True)
        )
    if form in (LIST, MORE):
        return all(holds(item, depth - 1) for item in parts)
    if form == INTEGER:
        return len(parts) == 1 and type(parts[0]) is str and bool(_DIGITS.fullmatch(parts[0]))
    return form == TEXT and len(parts) == 1


def shown(value: Stored) -> Json:
    """A stored value for people and JSON, with what it refers to by number."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if not isinstance(value, tuple):
        return value
    form, *parts = cast("tuple[Any, ...]", value)
    if form == OBJECT:
        return dict(zip(parts[::2], map(shown, parts[1::2]), strict=True))
    if form == LIST:
        return [*map(shown, parts)]
    if form == MORE:
        return [f"(beginning {parts[0]})", *map(shown, parts[1:])]
    return f"(text {parts[0]})" if form == TEXT else int(parts[0])


VALUE: Final = Kind("a JSON value", holds, shown)
BODY: Final = Kind(
    "a JSON value or bytes", lambda value: type(value) is bytes or holds(value), shown
)
