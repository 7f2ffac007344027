"""Values of other libraries (actions, observations, parameters) as plain values that msgpack holds.

None, truth values, integers of 64 bits, numbers, texts and bytes stand for themselves. Everything
else is a row that begins with a form's name (FORMS); arrays have the type of their items as numpy
writes it (`<f4`) and their bytes in the order of rows. So equal bytes mean equal values, also in
type, and a value has one encoding. What a library's value becomes is decided outside of the kernel.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, TypeGuard, cast

from xxhash import xxh3_64_intdigest

from goldrush.kernel.codec import pack
from goldrush.kernel.shape import Kind

Encoded: TypeAlias = "bool | int | float | str | bytes | tuple[Encoded, ...] | None"
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

DEPTH_MAX: Final = 16  # of values within values
SHOWN_MAX: Final = 64  # items of an array that are shown
DIMENSIONS_MAX: Final = 32  # of an array
BYTES_MAX: Final = 1 << 40  # of an array, if none of its lengths were 0

INT, ARRAY, SCALAR, TUPLE, LIST, DICT, TYPE = (
    "int", "array", "scalar", "tuple", "list", "dict", "type",
)  # fmt: skip

_PLAIN: Final = frozenset([type(None), bool, int, float, str, bytes])
_ITEM: Final = re.compile(
    r"[|][biu]1|<(?:[iu][248]|f[248]|c(?:8|16))|[|][SV](?:0|[1-9]\d{0,5})|<U(?:0|[1-9]\d{0,5})"
    r"|<[Mm]8(?:\[(?:[1-9]\d{0,8})?(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?"
)
_WHOLE: Final = re.compile("-?[1-9][0-9]{18,3999}")  # Python reads 4,300 digits at most
_CODES: Final = {
    "b1": "?", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q",
    "u8": "Q", "f2": "e", "f4": "f", "f8": "d",
}  # fmt: skip


def digest_of(value: object) -> int:
    """64 bits of an encoded value: xxh3-64 of its canonical packing."""
    return xxh3_64_intdigest(pack(value))


def item_size(dtype: object) -> int | None:
    """The bytes of an item of this type; None for no type that arrays can have."""
    if type(dtype) is not str or not _ITEM.fullmatch(dtype):
        return None
    size = int(dtype[2:].partition("[")[0])
    return 4 * size if dtype[1] == "U" else size


def _is_array(dtype: object, shape: object, data: object) -> bool:
    size = item_size(dtype)
    if size is None or type(data) is not bytes:
        return False
    if type(shape) is not tuple or len(shape) > DIMENSIONS_MAX:
        return False
    if not all(type(length) is int and 0 <= length <= BYTES_MAX for length in shape):
        return False
    if max(size, 1) * math.prod(length or 1 for length in shape) > BYTES_MAX:
        return False
    return len(data) == size * math.prod(shape) and (str(dtype)[1] != "U" or _is_text(data))


def _is_text(data: bytes) -> bool:
    """Whether these are code points of 4 bytes each."""
    try:
        data.decode("utf-32-le", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _is_items(items: object, depth: int) -> bool:
    return type(items) is tuple and all(holds(item, depth - 1) for item in items)


def _is_pairs(pairs: object, depth: int) -> bool:
    return type(pairs) is tuple and all(
        type(pair) is tuple and len(pair) == 2 and _is_items(pair, depth) for pair in pairs
    )


# By form, the check of what follows its name.
FORMS: Final[Mapping[str, Callable[..., bool]]] = {
    INT: lambda text, depth: type(text) is str and _WHOLE.fullmatch(text) is not None,
    ARRAY: lambda dtype, shape, data, depth: _is_array(dtype, shape, data),
    SCALAR: lambda dtype, data, depth: _is_array(dtype, (), data),
    TUPLE: _is_items,
    LIST: _is_items,
    DICT: _is_pairs,
    TYPE: lambda name, depth: type(name) is str,
}
_FOLLOWING: Final = {ARRAY: 3, SCALAR: 2}  # by form, the values behind its name, if not one


def holds(value: object, depth: int = DEPTH_MAX) -> TypeGuard[Encoded]:
    """Whether a value read from a file is an encoded one."""
    if type(value) in _PLAIN:
        return True
    if type(value) is not tuple or not value or depth < 0:
        return False
    form, *rest = value
    if type(form) is not str or form not in FORMS or len(rest) != _FOLLOWING.get(form, 1):
        return False
    return FORMS[form](*rest, depth=depth)


def shown(value: Encoded, most: float = SHOWN_MAX) -> Json:
    """An encoded value as people and JSON have it: numbers, texts, lists, objects; an array of many
    items, or of others than numbers, by type and shape (`uint8[84, 84, 3]`). Numbers that JSON
    lacks (infinities, NaN), bytes and what was not encoded are texts. `most`: the number of items
    from which on an array is shown by type and shape.
    """
    if type(value) is float:
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if not isinstance(value, tuple):
        return value
    form, *rest = cast("tuple[Any, ...]", value)
    if form == ARRAY:
        dtype, shape, data = rest
        return _array(dtype, shape, data, most)
    if form == SCALAR:
        return _array(rest[0], (), rest[1], most)
    if form in (TUPLE, LIST):
        return [shown(item, most) for item in rest[0]]
    if form == DICT:
        return {str(shown(key)): shown(item, most) for key, item in rest[0]}
    return int(rest[0]) if form == INT else f"<{rest[0]}>"


def number_in(value: Encoded) -> float | None:
    """The finite number that an encoded value is; None for any other."""
    found = shown(value) if type(value) in (int, float, bool, tuple) else None
    return float(found) if isinstance(found, (int, float)) and abs(found) < 1e308 else None


def _array(dtype: str, shape: tuple[int, ...], data: bytes, most: float) -> Json:
    code = _CODES.get(dtype[1:])
    if code is None or math.prod(shape) > most:
        name = f"{_NAMES[dtype[1]]}{8 * int(dtype[2:])}" if dtype[1] in _NAMES else dtype
        return f"{name}[{', '.join(map(str, shape))}]" if shape else f"<{name}>"
    items = [shown(item) for item in struct.unpack(f"<{math.prod(shape)}{code}", data)]
    for length in reversed(shape[1:]):
        items = [items[at : at + length] for at in range(0, len(items), length or 1)]
    return items if shape else items[0]


_NAMES: Final = {"i": "int", "u": "uint", "f": "float", "c": "complex"}

VALUE: Final = Kind("an encoded value", holds, shown)
