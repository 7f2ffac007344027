"""Records as plain values, for a file that is read without running code from it.

    record    its fields in order          mapping    its pairs

Both are tuples, as are lists; other values are as they are. The types of the fields tell how they
are read back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Union, get_type_hints

import attrs
import msgspec

from goldrush.kernel.hints import hint_parts


def as_plain(value: object) -> object:
    """A record, a collection or a plain value, as plain values."""
    kind = type(value)
    names = _names_of(kind)
    if names is not None:
        return tuple(as_plain(getattr(value, name)) for name in names)
    if isinstance(value, Mapping):
        return tuple((as_plain(key), as_plain(item)) for key, item in value.items())
    return tuple(map(as_plain, value)) if isinstance(value, (list, tuple)) else value


def from_plain(hint: object, value: object) -> object:
    """The value of a type: a class of records, a mapping, sequence, tuple, union or plain type.

    Raises TypeError or ValueError if the values are not of it.
    """
    kind, inner = hint_parts(hint)
    if kind is Union:
        kind = next((each for each in inner if _is_plain(each, value)), None)
    elif isinstance(kind, type) and issubclass(kind, (Mapping, Sequence)) and inner:
        return _collection(kind, inner, value)
    elif isinstance(kind, type) and (names := _names_of(kind)) is not None:
        hints = get_type_hints(kind)
        fields = zip(names, _items(value), strict=True)
        return kind(**{name: from_plain(hints[name], field) for name, field in fields})
    if not _is_plain(kind, value):
        raise TypeError(f"{value!r} is not {hint}")
    return value


def _names_of(kind: type) -> Collection[str] | None:
    """The fields of a class of records; None: it is none."""
    if issubclass(kind, msgspec.Struct):
        return kind.__struct_fields__
    return attrs.fields_dict(kind) if attrs.has(kind) else None


def _is_plain(kind: object, value: object) -> bool:
    """Whether a value is of a plain type: an integer is also a float."""
    return type(value) is kind or (kind is float and type(value) is int)


def _collection(kind: type, inner: Sequence[object], value: object) -> object:
    items = _items(value)
    if issubclass(kind, Mapping):
        pairs = [_items(pair) for pair in items]
        of_key, of_item = inner
        return {from_plain(of_key, key): from_plain(of_item, item) for key, item in pairs}
    if kind is tuple and ... not in inner:
        return tuple(from_plain(*pair) for pair in zip(inner, items, strict=True))
    return tuple(from_plain(inner[0], item) for item in items)


def _items(value: object) -> Sequence[object]:
    if not isinstance(value, tuple):
        raise TypeError(f"{value!r} is no sequence")
    return value
