"""Records as plain values, for a file that is read without running code from it.

    record    its fields in order          mapping    its pairs

Both are tuples, as are lists; other values are as they are. The types of the fields tell how they
are read back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Any, Final, Union, get_type_hints

import attrs

from goldrush.kernel.hints import hint_parts

_PLAIN: Final[frozenset[object]] = frozenset({NoneType, bool, int, float, str})


def as_plain(value: object) -> object:
    """A record, a collection or a plain value, as plain values."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, (list, tuple)):
        return tuple(value if _PLAIN.issuperset(map(type, value)) else map(as_plain, value))
    if isinstance(value, Mapping):
        return tuple([(as_plain(key), as_plain(item)) for key, item in value.items()])
    if attrs.has(kind):
        return tuple([as_plain(getattr(value, name)) for name in attrs.fields_dict(kind)])
    return value


def reader_of(hint: object) -> Callable[[Any], Any]:
    """What reads values of a type: a class of attrs, a mapping, sequence, tuple, union or plain
    type. Made once for many values, as to look at a type costs more than to read a value.

    It raises TypeError or ValueError for values that are not of the type.
    """
    kind, inner = hint_parts(hint)
    if not isinstance(kind, type) or not (inner or attrs.has(kind)):
        return _plain(_types_of(hint), hint)
    if attrs.has(kind):
        return _record(kind)
    if issubclass(kind, Mapping):
        return _mapping(*map(reader_of, inner))
    if kind is tuple and ... not in inner:
        return _tuple(list(map(reader_of, inner)))
    return _sequence(reader_of(inner[0]), _types_of(inner[0]))


def _types_of(hint: object) -> frozenset[object]:
    """The types of the plain values of a type: an integer is also a float."""
    kind, inner = hint_parts(hint)
    kinds = {*inner} if kind is Union else {kind}
    return _PLAIN & (kinds | {int} if float in kinds else kinds)


def _plain(types: frozenset[object], hint: object) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if type(value) not in types:
            raise TypeError(f"{value!r} is not {hint}")
        return value

    return read


def _record(kind: type) -> Callable[[Any], Any]:
    hints = get_type_hints(kind)
    read = _tuple([reader_of(hints[name]) for name in attrs.fields_dict(kind)])
    return lambda value: kind(**dict(zip(attrs.fields_dict(kind), read(value), strict=True)))


def _mapping(of_key: Callable[[Any], Any], of_item: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: {of_key(key): of_item(item) for key, item in map(_items, _items(value))}


def _tuple(readers: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    return lambda value: tuple(
        [read(item) for read, item in zip(readers, _items(value), strict=True)]
    )


def _sequence(read: Callable[[Any], Any], types: frozenset[object]) -> Callable[[Any], Any]:
    """Of a sequence of plain values the types alone are looked at."""

    def read_all(value: Any) -> Any:
        items = _items(value)
        return items if types.issuperset(map(type, items)) else tuple(map(read, items))

    return read_all


def _items(value: object) -> tuple[Any, ...]:
    if not isinstance(value, tuple):
        raise TypeError(f"{value!r} is no sequence")
    return value
