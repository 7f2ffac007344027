"""Values of numpy as encoded values (kernel/worlds/episode/values.py), and back.

Decoding gives a value of the same type, dtype, shape and bytes; arrays can be written to. Types are
exact: a subclass of an encoded type may hold more than its value, so `encoded` refuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.worlds.episode.events import NAME_MAX
from goldrush.kernel.worlds.episode.values import (
    ARRAY,
    DEPTH_MAX,
    DICT,
    INT,
    LIST,
    SCALAR,
    TUPLE,
    TYPE,
    Encoded,
    item_size,
)

if TYPE_CHECKING:
    import numpy as np

TEXT_MAX: Final = 64  # characters of a text that is kept beside its digest
PARTS_MAX: Final = 100_000  # of what an environment gives an agent in a step
ITEMS_MAX: Final = 4_000_000  # within one value; a list in many places counts in each
BITS_MAX: Final = 13_000  # of an integer: some 3,900 digits

_INTEGERS: Final = 1 << 63  # beyond them an integer is encoded as text
_KEPT: Final = (INT, SCALAR, TYPE)  # forms of numbers and names


def encoded(value: object, what: str = "the value") -> Encoded:
    """The encoding of a value that can be decoded again. `what`: its name for errors.

    Raises BadInput for a value that has none: what it is, and what to give instead.
    """
    return _encoded(value, what, DEPTH_MAX, _Room())


@attrs.define
class _Room:
    """How many more items may be written out: what is shared is short in memory alone."""

    items: int = ITEMS_MAX

    def take(self, count: int, what: str) -> None:
        """Raises BadInput if there is no room for these."""
        self.items -= count
        if self.items < 0:
            raise BadInput(f"{what} has more than {ITEMS_MAX:,} items", "give arrays of numpy")


def _encoded(value: Any, what: str, depth: int, room: _Room) -> Encoded:
    kind: type[object] = type(value)
    if kind is float or kind is bool or value is None or kind is bytes:
        return cast(Encoded, value)
    if kind is int:
        if -_INTEGERS <= value < _INTEGERS:
            return int(value)
        if value.bit_length() <= BITS_MAX:
            return INT, str(value)
        raise BadInput(f"{what} has {value.bit_length():,} bits", f"give at most {BITS_MAX:,}")
    if kind.__module__ == "numpy":
        return _of_numpy(value, what)
    if kind is str:
        try:
            value.encode()
        except UnicodeEncodeError:
            instead = "give text without lone surrogates"
            raise BadInput(f"{what} is {format_value(value)}", instead) from None
        return str(value)
    if depth == 0:
        raise BadInput(f"{what} is nested too deeply", f"give at most {DEPTH_MAX} levels")
    if kind is tuple or kind is list:
        room.take(len(value), what)
        items = tuple([_encoded(item, what, depth - 1, room) for item in value])
        return TUPLE if kind is tuple else LIST, items
    if kind is dict:
        room.take(len(value), what)
        pairs = [
            (
                _encoded(key, what, depth - 1, room),
                _encoded(item, f"{what}[{key}]", depth - 1, room),
            )
            for key, item in value.items()
        ]
        return DICT, tuple(pairs)
    raise _refused(value, what)


def _of_numpy(value: Any, what: str) -> Encoded:
    """The encoding of an array or a scalar, also of such without a type of numpy's own."""
    import numpy as np

    dtype = getattr(value, "dtype", None)
    if dtype is None or not _is_plain(dtype):
        raise _refused(value, what)
    if type(value) is np.ndarray:
        return ARRAY, dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.generic):
        return SCALAR, dtype.str, value.tobytes()[: dtype.itemsize]  # an empty text has one byte
    raise _refused(value, what)


@cache
def _is_plain(dtype: np.dtype[Any]) -> bool:
    """Whether the bytes of a dtype's values are all that they are, and always the same ones. Those
    of objects and of strings of variable length are addresses, those of long floats have holes.
    """
    is_long = dtype.kind in "fc" and dtype.itemsize > (16 if dtype.kind == "c" else 8)
    return dtype.names is None and not is_long and item_size(dtype.str) is not None


def _refused(value: Any, what: str) -> BadInput:
    dtype = getattr(value, "dtype", None)
    shown = " ".join(format_value(value).split())  # arrays have lines
    kind = _type_name(value) + ("" if dtype is None else f" with dtype {dtype}")
    return BadInput(
        f"{what} is {shown}, of type {kind}, which cannot be recorded",
        "give numbers, text, bytes, arrays of numpy, or tuples, lists and dicts of these",
    )


def decoded(value: Encoded) -> object:
    """The value that has this encoding. What was not encoded is decoded as the name of its type."""
    return _DECODERS[str(value[0])](*value[1:]) if type(value) is tuple else value


def _array(dtype: str, shape: tuple[int, ...], data: bytes) -> Any:
    import numpy as np

    return np.ndarray(shape, dtype, bytearray(data))


_DECODERS: Final[Mapping[str, Callable[..., object]]] = {
    INT: int,
    ARRAY: _array,
    SCALAR: lambda dtype, data: _array(dtype, (), data)[()],
    TUPLE: lambda items: tuple([decoded(item) for item in items]),
    LIST: lambda items: [decoded(item) for item in items],
    DICT: lambda pairs: {decoded(key): decoded(item) for key, item in pairs},
    TYPE: str,
}


def leaves(value: object, name: str) -> list[tuple[str, Encoded]]:
    """What an environment gave, in parts: the name and the encoding of each.

    Mappings and tuples are taken apart (`info[score]`, `observation[a][b]`), and so are lists and
    arrays of objects that hold what cannot be encoded. Arrays of other libraries are encoded as
    those of numpy that they convert to, numbers in another order of bytes as little-endian ones,
    subclasses of numbers and of text as their values. Whatever else has no encoding is named by its
    type.

    Arrays of fields are taken apart (`observation[x]`). Raises BadInput for what contains itself,
    and for more than PARTS_MAX parts or ITEMS_MAX items.
    """
    found: list[tuple[str, Encoded]] = []
    _collect(value, name, found, [], _Room())
    if all(part.isascii() and len(part) <= NAME_MAX for part, _ in found):
        return found
    return [(_shortened(part), leaf) for part, leaf in found]


def _collect(
    value: Any, name: str, found: list[tuple[str, Encoded]], around: list[object], room: _Room
) -> None:
    """Add the parts of a value. `around`: the values that it is within."""
    parts: Iterable[tuple[object, object]]
    depth = DEPTH_MAX - len(around)
    if depth and isinstance(value, Mapping):
        parts = value.items()
    elif depth and isinstance(value, tuple):
        parts = enumerate(value)
    else:
        before = room.items
        try:
            found.append((name, _encoded(_simplified(value), name, depth, room)))
            return
        except BadInput:
            if room.items < 0:
                raise
            room.items = before
            parts = _items(value) if depth else ()
        if not parts:
            found.append((name, (TYPE, _type_name(value))))
    if any(value is other for other in around):
        raise BadInput(f"{name} contains itself", "give values that end")
    around.append(value)
    for key, item in parts:
        if len(found) >= PARTS_MAX:
            raise BadInput(f"{name} has more than {PARTS_MAX:,} parts", "give arrays of numpy")
        _collect(item, f"{name}[{_key(key)}]", found, around, room)
    around.pop()


def _key(key: object) -> str:
    """A key in a name. The text of an object can have its address: its type stands for it."""
    if type(key) is tuple:
        return f"({', '.join(map(_key, key))})"
    is_plain = isinstance(key, str | int | float | bytes | None)
    return str(key) if is_plain or type(key).__module__ == "numpy" else _type_name(key)


def _shortened(name: str) -> str:
    """A name that a journal takes: lone surrogates escaped, its end cut off."""
    return name.encode("utf-8", "backslashreplace").decode()[:NAME_MAX]


def _simplified(value: Any) -> object:
    """A value of an exact type in place of one of another library's, or of a subclass."""
    kind = type(value)
    if kind.__module__ in ("builtins", "numpy"):
        is_big = hasattr(value, "dtype") and value.dtype.str[0] == ">"
        return value.astype(value.dtype.newbyteorder("<")) if is_big else value
    is_masked = kind.__module__.startswith("numpy.ma")  # the mask would be lost
    if hasattr(value, "__array__") and not is_masked:
        import numpy as np

        try:
            return np.asarray(value)
        except Exception:  # on another device, for example
            return value
    for plain in (int, float, str):
        if isinstance(value, plain):
            return str.__str__(value) if plain is str else plain(value)
    return value


def _items(value: Any) -> list[tuple[object, object]]:
    if isinstance(value, list):
        return list(enumerate(value))
    if names := getattr(getattr(value, "dtype", None), "names", None):
        return [(name, value[name]) for name in names]
    if getattr(getattr(value, "dtype", None), "kind", "") == "O" and hasattr(value, "flat"):
        import numpy as np

        return [(",".join(map(str, index)), item) for index, item in np.ndenumerate(value)]
    return []


def _type_name(value: object) -> str:
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def is_kept(value: Encoded) -> bool:
    """Whether an encoded value is recorded beside its digest in any case: numbers, truth values,
    None and short text.
    """
    if isinstance(value, tuple):
        return value[0] in _KEPT and len(cast("str | bytes", value[-1])) <= TEXT_MAX
    return not isinstance(value, bytes) and (not isinstance(value, str) or len(value) <= TEXT_MAX)
