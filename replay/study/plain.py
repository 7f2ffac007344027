"""Records as plain values, for a file that is read without running code from it.

    record    its fields in order          mapping    its pairs

Both are tuples, as are lists; other values are as they are. The types of the fields tell how they
are read back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import NoneType
from typing import Any, Final, Union, get_type_hints

import attrs
import msgspec

from goldrush.kernel.hints import hint_parts

_Read = Callable[[Any], Any]

_PLAIN: Final[frozenset[object]] = frozenset({NoneType, bool, int, float, str})


def as_plain(value: object) -> object:
    """A record, a collection or a plain value, as plain values."""
    kind = type(value)
    if kind in _PLAIN:  # first, as nearly all are
        return value
    if isinstance(value, (list, tuple)):
        return tuple(map(as_plain, value))
    if isinstance(value, Mapping):
        return tuple([(as_plain(key), as_plain(item)) for key, item in value.items()])
    names = _names_of(kind)
    return value if names is None else tuple([as_plain(getattr(value, name)) for name in names])


def reader_of(hint: object) -> _Read:
    """What reads values of a type: a class of records, a mapping, sequence, tuple, union or plain
    type. Made once for many values, as to look at a type costs more than to read a value.

    It raises TypeError or ValueError for values that are not of the type.
    """
    kind, inner = hint_parts(hint)
    if isinstance(kind, type) and (names := _names_of(kind)) is not None:
        hints = get_type_hints(kind)
        fields = _tuple([reader_of(hints[name]) for name in names])
        return lambda value: kind(**dict(zip(names, fields(value), strict=True)))
    if isinstance(kind, type) and issubclass(kind, (Mapping, Sequence)) and inner:
        return _collection(kind, inner, [reader_of(each) for each in inner])
    kinds = {*inner} if kind is Union else {kind}
    types = _PLAIN & (kinds | {int} if float in kinds else kinds)  # an integer is also a float

    def plain(value: Any) -> Any:
        if type(value) not in types:
            raise TypeError(f"{value!r} is not {hint}")
        return value

    return plain


def _names_of(kind: type) -> Collection[str] | None:
    """The fields of a class of records; None: it is none."""
    if issubclass(kind, msgspec.Struct):
        return kind.__struct_fields__
    return attrs.fields_dict(kind) if attrs.has(kind) else None


def _collection(kind: type, inner: Sequence[object], readers: Sequence[_Read]) -> _Read:
    if issubclass(kind, Mapping):
        key_of, item_of = readers
        return lambda value: {key_of(a): item_of(b) for a, b in map(_items, _items(value))}
    if kind is tuple and ... not in inner:
        return _tuple(readers)
    return lambda value: tuple(map(readers[0], _items(value)))


def _tuple(readers: Sequence[_Read]) -> _Read:
    return lambda value: tuple(
        [read(item) for read, item in zip(readers, _items(value), strict=True)]
    )


def _items(value: object) -> tuple[Any, ...]:
    if not isinstance(value, tuple):
        raise TypeError(f"{value!r} is no sequence")
    return value
