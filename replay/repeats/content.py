"""What one object shows and holds, without any address.

Nothing of the subject's own code is called. numpy, pandas and torch are recognized, never imported.
"""

from __future__ import annotations

import enum
import functools
import io
import logging
import os
import random
import re
import threading
import types
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice, product
from operator import itemgetter
from typing import Any, Final, NamedTuple, cast

from xxhash import xxh3_64_intdigest


class DictItem(NamedTuple):
    """An entry of a dictionary."""

    key: object
    value: object


class DictItems(list[DictItem]):
    """The entries of a dictionary whose keys have no text of their own: a set of pairs."""


SETS: Final = (set, frozenset, weakref.WeakSet, DictItems)
Child = tuple[str, object]  # the path from its parent, and itself
Parts = tuple[str, list[Child]]  # what an object shows by itself, and what it holds

_HERE: Final = os.path.dirname(__file__)
_LOOKED_AT_MAX: Final = 64  # items of an object that are looked at
_ADDRESS: Final = re.compile(r"(?<= at )0x[0-9a-fA-F]{6,16}\b")


def content(value: object, depth: int) -> str:
    """What an object holds, as a text without addresses, `depth` deep."""
    kind: Any = type(value)
    if kind in PLAIN:
        return f"{kind.__name__}:{plain_text(value)}"
    if depth < 0 and not is_value(kind):
        return name_of(kind)
    if isinstance(value, SETS):
        inner_depth = depth - (kind is not DictItems)  # which are no level of their own
        return f"{kind.__name__}({sorted(content(item, inner_depth) for item in value)})"
    try:
        text, held = parts(value)
    except Exception:  # it cannot be read
        return name_of(kind)
    if is_generator(kind):
        return name_of(kind)
    if depth < 0:
        return text
    inner = [label + content(child, depth - 1) for label, child in held[:_LOOKED_AT_MAX]]
    return f"{text}({', '.join(inner)})"


def digest_of(tokens: Iterable[str]) -> int:
    return xxh3_64_intdigest("\0".join(tokens).encode("utf-8", "surrogatepass"))


# Kinds of values.

PLAIN: Final = frozenset(
    [
        int, float, str, bool, bytes, bytearray, complex, range, slice, type(None), type(...),
        type(NotImplemented),
    ]
)  # fmt: skip
# Of the standard library, whose text is all that they are.
_TEXTUAL: Final = frozenset(
    [
        "datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta",
        "datetime.timezone", "decimal.Decimal", "fractions.Fraction", "itertools.count",
        "itertools.repeat", "pathlib.PosixPath", "pathlib.PurePosixPath", "uuid.UUID",
    ]
)  # fmt: skip
_NAMED: Final = (
    type, types.ModuleType, types.CodeType, types.MethodDescriptorType, types.MethodWrapperType,
    types.WrapperDescriptorType, types.GetSetDescriptorType, property, logging.Filterer, io.IOBase,
    threading.Thread, threading.local, threading.Event, threading.Condition,
    type(threading.Lock()), type(threading.RLock()),
)  # fmt: skip


def parts(value: object, told: int = 0) -> Parts:
    """What an object that is no set shows and holds. Raises what reading it raises.

    Args:
        told: items of an array that are told; 0: their digest is.
    """
    kind: Any = type(value)
    return _array(value, told) if "numpy.ndarray" in bases_of(kind) else _reader(kind)(value)


def plain_text(value: object) -> str:
    """A plain value as text: without addresses, as a text of an object has them."""
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        return f"{value:#x}"
    return without_addresses(text) if type(value) is str else text


def without_addresses(text: str) -> str:
    """A text in which no address of an object stands: `<Agent object at 0x...>`."""
    return _ADDRESS.sub("0x...", text) if " at 0x" in text else text


def name_of(kind: object) -> str:
    """The name of a class or a function."""
    return f"{getattr(kind, '__module__', '')}.{getattr(kind, '__qualname__', '')}"


@functools.cache
def bases_of(kind: type) -> frozenset[str]:
    """The classes that a class is derived from, each with the package that it is of."""
    return frozenset(f"{str(c.__module__).partition('.')[0]}.{c.__name__}" for c in kind.__mro__)


@functools.cache
def is_value(kind: type) -> bool:
    """Whether it means nothing that two values of a class are one object."""
    return (
        kind in PLAIN
        or issubclass(kind, (tuple, frozenset, enum.Enum))
        or is_named(cast(Any, kind))
        or "numpy.generic" in bases_of(cast(Any, kind))
        or name_of(kind) in _TEXTUAL
    )


@functools.cache
def _reader(kind: Any) -> Callable[[Any], Parts]:
    """What reads the parts of the objects of a class."""
    if name_of(kind) in _TEXTUAL:
        return lambda value: (repr(value), [])
    for base, reader in _READERS:
        if base in bases_of(kind) if isinstance(base, str) else issubclass(kind, base):
            return reader
    if "__code__" in dir(kind):  # functions of Cython, whose slots hold addresses
        return _named
    has_attributes = "__dict__" in dir(kind) or any("__slots__" in vars(c) for c in kind.__mro__)
    if has_attributes and _is_reduced_by_c(kind):
        return _extended
    return _object if has_attributes or kind is object else _reduced


@functools.cache
def is_generator(kind: type) -> bool:
    """Whether objects of a class are generators of random numbers: their text is their state."""
    return _reader(cast(Any, kind)) in (_generator, _numpy_generator) and not issubclass(
        kind, random.SystemRandom
    )


@functools.cache
def is_named(kind: type) -> bool:
    """Whether the objects of a class are told by no more than their names."""
    return _reader(cast(Any, kind)) is _named


def _is_reduced_by_c(kind: Any) -> bool:
    """Whether a class of C has its own way to be pickled, and none derived from it changed it."""
    ways = (kind.__reduce__, object.__reduce__), (kind.__reduce_ex__, object.__reduce_ex__)
    own = [way for way, inherited in ways if way is not inherited]
    return bool(own) and not any(isinstance(way, types.FunctionType) for way in own)


def _object(value: object) -> Parts:
    return name_of(type(value)), _attributes(value)


def _attributes(value: object) -> list[Child]:
    held = attributes(value)
    return [(f".{name}", held[name]) for name in sorted(held)]


def attributes(value: object) -> dict[str, object]:
    """The attributes of an object, from its `__dict__` and its slots; no code of its class runs."""
    held = dict[str, object]()
    with suppress(AttributeError):
        held.update(object.__getattribute__(value, "__dict__"))
    kind: Any = type(value)
    for name, slot in _slots(kind):
        with suppress(AttributeError):  # it has no value
            held.setdefault(name, slot.__get__(value))
    return held


@functools.cache
def _slots(kind: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(
        (name, member)
        for one in kind.__mro__
        for name, member in vars(one).items()
        if type(member) is types.MemberDescriptorType and name not in ("__weakref__", "__dict__")
    )


def _reduced(value: object) -> Parts:
    """An object of C, as it would be pickled. Raises TypeError for one that cannot be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of iterators, whose pickling ends with Python 3.14
        reduced = value.__reduce_ex__(2)
    parts = [reduced] if isinstance(reduced, str) else reduced
    held = [list(part) if isinstance(part, Iterator) else part for part in parts]
    return name_of(type(value)), [(f".<{index}>", part) for index, part in enumerate(held)]


def _extended(value: object) -> Parts:
    """An object of C that has attributes besides."""
    text, held = _reduced(value)
    return text, held + _attributes(value)


def _named(value: object) -> Parts:
    name = name_of(value) if isinstance(value, type) else getattr(value, "__name__", "")
    return f"{type(value).__name__} {name if type(name) is str else ''}", []


def _function(value: types.FunctionType) -> Parts:
    held = list[Child]()
    if value.__code__.co_filename.startswith(_HERE):  # a patch that stands for a watched function
        return f"function {name_of(value)}", held
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
        try:
            held.append((f".{name}", cell.cell_contents))
        except ValueError:  # not assigned yet
            continue
    held += [(".__defaults__", value.__defaults__), (".__kwdefaults__", value.__kwdefaults__)]
    return f"function {name_of(value)}", held


def _buffer(value: Any) -> Parts:
    """A file in memory."""
    base: Any = io.StringIO if isinstance(value, io.StringIO) else io.BytesIO
    if base.closed.__get__(value):
        return f"closed {name_of(type(value))}", _attributes(value)
    held = [(".getvalue()", base.getvalue(value)), (".tell()", base.tell(value))]
    return name_of(type(value)), held + _attributes(value)


def _method(value: Any) -> Parts:
    function = getattr(value, "__func__", value)
    return f"method {function.__qualname__}", [(".__self__", value.__self__)]


def _subclassed(value: Any) -> Parts:
    """A number or a text of a class of its own."""
    base = next(one for one in type(value).__mro__ if one in PLAIN)
    return f"{name_of(type(value))} {plain_text(base(value))}", _attributes(value)


def _sequence(value: Any) -> Parts:
    kind = type(value)
    base = next(one for one in (tuple, list, deque) if isinstance(value, one))
    items = list(base.__iter__(value))
    fields = getattr(kind, "_fields", ())
    if len(fields) == len(items):
        held = [(f".{field}", item) for field, item in zip(fields, items, strict=True)]
    else:
        held = [(f"[{index}]", item) for index, item in enumerate(items)]
    own = [] if kind is base else _attributes(value)
    return f"{kind.__name__} of {len(items)}", held + own


def _mapping(value: Any) -> Parts:
    kind = type(value)
    items = list(dict.items(value) if isinstance(value, dict) else value.items())
    if all(is_key(key) for key, _ in items):
        held = [(f"[{key_text(key)}]", item) for key, item in items]
        held.sort(key=itemgetter(0))
    else:
        held = [(".items()", DictItems(DictItem(key, item) for key, item in items))]
    own = _attributes(value) if isinstance(value, dict) and kind is not dict else []
    return f"{kind.__name__} of {len(items)}", held + own


def is_key(key: object) -> bool:
    """Whether a key is told by its text."""
    if type(key) is tuple or type(key) is frozenset:
        return all(map(is_key, key))
    return type(key) in PLAIN or isinstance(key, (enum.Enum, type))


def key_text(key: object) -> str:
    if type(key) is tuple:
        return f"({', '.join(map(key_text, key))})"
    if type(key) is frozenset:
        return f"{{{', '.join(sorted(map(key_text, key)))}}}"
    if isinstance(key, enum.Enum):
        return f"{type(key).__qualname__}.{key.name}"
    return name_of(key) if isinstance(key, type) else plain_text(key)


def _generator(value: random.Random) -> Parts:
    """A generator of random numbers of the standard library."""
    if isinstance(value, random.SystemRandom):
        return "random.SystemRandom", []
    return f"state of {name_of(type(value))} {digest_of(map(repr, value.getstate())):016x}", []


def _numpy_generator(value: Any) -> Parts:
    bits = getattr(value, "bit_generator", None) or getattr(value, "_bit_generator", value)
    digest = digest_of([content(bits.state, 3)])
    return f"state of numpy.random.{type(value).__name__} {digest:016x}", []


def _array(value: Any, told: int) -> Parts:
    """An array of numpy. Its items, if they are told, or are objects or records."""
    text = f"{value.dtype} array of shape {value.shape}"
    kind: Any = type(value)
    if "numpy.MaskedArray" in bases_of(kind):
        return f"masked {text}", [(".mask", value.mask), (".filled()", value.filled())]
    own = [] if kind.__module__ == "numpy" else _attributes(value)
    if value.dtype.hasobject or value.dtype.names:
        return text, [(".items", value.tolist()), *own]
    if told:
        items = zip(product(*map(range, value.shape)), value.flat, strict=True)
        listed = [(f"[{', '.join(map(str, i))}]", x.item()) for i, x in islice(items, told)]
        return text, [*(listed if value.shape else [("[()]", value.item())]), *own]
    if value.dtype.char in "gG":  # whose bytes have holes
        return f"{text} {digest_of(map(repr, value.ravel().tolist())):016x}", own
    return f"{text} {xxh3_64_intdigest(value.tobytes()):016x}", own


def _scalar(value: Any) -> Parts:
    if value.dtype.names or value.dtype.hasobject:
        return f"{value.dtype}", [(".item()", value.item())]
    return f"{value.dtype} {value.item()!r}", []


def _frame(value: Any) -> Parts:
    """A table of pandas."""
    columns = [(f"[{key!r}]", value[key].to_numpy()) for key in value.columns]
    return f"table of {len(value)}", [(".index", value.index.to_numpy()), *columns]


def _series(value: Any) -> Parts:
    index = getattr(value, "index", None)
    held: list[Child] = [(".values", value.to_numpy())]
    return type(value).__name__, held if index is None else [(".index", index.to_numpy()), *held]


# By a class that is imported, or by the package and the name of one that need not be.
_READERS: Final[tuple[tuple[Any, Callable[[Any], Parts]], ...]] = (
    ("numpy.generic", _scalar),
    ("numpy.Generator", _numpy_generator),
    ("numpy.BitGenerator", _numpy_generator),
    ("numpy.RandomState", _numpy_generator),
    ("numpy.dtype", lambda value: (f"dtype {value}", [])),
    ("pandas.DataFrame", _frame),
    ("pandas.Series", _series),
    ("pandas.Index", lambda value: ("Index", [(".values", value.to_numpy())])),
    ("torch.Tensor", lambda value: ("tensor", [(".values", value.detach().cpu().numpy())])),
    (enum.Enum, lambda value: (f"{type(value).__qualname__}.{value.name}", [])),
    ((io.StringIO, io.BytesIO), _buffer),
    (_NAMED, _named),
    (types.FunctionType, _function),
    ((types.MethodType, types.BuiltinMethodType), _method),
    (random.Random, _generator),
    ((int, float, str, bytes, bytearray, complex), _subclassed),
    ((tuple, list, deque), _sequence),
    (
        (dict, types.MappingProxyType, weakref.WeakKeyDictionary, weakref.WeakValueDictionary),
        _mapping,
    ),
    (weakref.ref, lambda value: ("weak reference", [("()", value())])),
    (
        functools.partial,
        lambda value: ("partial", [(".func", value.func), (".args", value.args),
                                   (".keywords", value.keywords)]),
    ),
    (
        BaseException,
        lambda value: (name_of(type(value)), [(".args", value.args), *_attributes(value)]),
    ),
)  # fmt: skip
