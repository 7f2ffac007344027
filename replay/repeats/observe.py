"""What a graph of objects holds, as digests and as values that another process can compare.

No identity and no address enters, and nothing of the subject's own code is called: attributes are
read from `__dict__` and slots, not through properties. The graph is walked by breadth, so each
object belongs to the name from which it is reached by the shortest path, and a cycle ends at an
object that was visited before. Sets have no order; dictionaries with plain keys have none, others
that of insertion. numpy, pandas and torch are recognized, never imported.
"""

from __future__ import annotations

import enum
import functools
import gc
import io
import logging
import random
import threading
import types
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any, Final

import attrs
from xxhash import xxh3_64_intdigest

from goldrush.replay.repeats.trace import Leaf

VALUES_MAX: Final = 2_000_000  # of one step; those behind are not compared
LEAVES_MAX: Final = 500_000  # values that are told
TEXT_MAX: Final = 200  # characters of a value that is told
_ELEMENT_MAX: Final = 50  # values of an object in a set by which it is put in order

_STATE: Final = "state of "  # begins the text of a generator
Child = tuple[str, object]  # the path from its parent, and itself
Parts = tuple[str, list[Child]]  # what an object shows by itself, and what it holds


@attrs.frozen
class Seen:
    """What a step holds.

    Attributes:
        digests: by name, but for the states of generators of random numbers.
        states: the digests of those, by name; of names that have one.
        leaves: the values of the names that were asked for, the shallowest first.
        not_seen: types that were not looked into.
        size: the number of values.
    """

    digests: dict[str, int]
    states: dict[str, int]
    leaves: list[Leaf]
    not_seen: set[str]
    size: int


def observed(
    names: Mapping[str, object], root: object = None, leaves_of: Collection[str] = ()
) -> Seen:
    """What the objects under these names hold.

    Args:
        root: whose attributes they are: where it is reached, it is not looked into again.
        leaves_of: the names whose values are told.
    """
    was_enabled = gc.isenabled()
    gc.disable()  # it would look through all of this again and again
    try:
        walk = _Walk(names, root, leaves_of, VALUES_MAX)
        if walk.left <= 0:
            walk.not_seen.add(f"what stands behind {VALUES_MAX:,} values of a step")
        digests, states = _digests_of(walk.tokens), _digests_of(walk.states)
        return Seen(digests, states, walk.leaves, walk.not_seen, VALUES_MAX - walk.left)
    finally:
        if was_enabled:
            gc.enable()


class _Walk:
    """A walk over a graph. `left`: how many values it may still read; `is_element`: it is over an
    object in a set, to find its place there.
    """

    def __init__(
        self,
        names: Mapping[str, object],
        root: object,
        leaves_of: Collection[str],
        most: int,
        *,
        is_element: bool = False,
    ) -> None:
        self._root = root
        self._told = frozenset(leaves_of)
        self._is_element = is_element
        # By address: the object, which stays alive so that no other gets it, and where it is: in
        # the digests, and for people.
        self._reached: dict[int, tuple[object, str, str]] = {}
        if root is not None:
            self._reached[id(root)] = (root, "self", "self")
        self.tokens: dict[str, list[str]] = {name: [] for name in sorted(names)}
        self.states: dict[str, list[str]] = {}
        self.leaves: list[Leaf] = []
        self.not_seen: set[str] = set()
        self.left = most
        self._queue: deque[tuple[str, str, object]] = deque()
        # Sets come last: most of their elements are then reached elsewhere, which orders them.
        self._sets: deque[tuple[str, str, Iterable[object]]] = deque()
        for name in self.tokens:
            self._reach(name, name, [("", names[name])])
        while self.left > 0 and (self._queue or self._sets):
            if self._queue:
                self._visit(*self._queue.popleft())
            else:
                self._open_set(*self._sets.popleft())

    def _reach(self, owner: str, path: str, children: Collection[Child]) -> None:
        """Note plain values, and objects that were reached before; others are put in the queue."""
        self.left -= len(children)
        tokens, reached, is_told = self.tokens[owner], self._reached, owner in self._told
        for label, child in children:
            kind: Any = type(child)
            tokens.append(label)
            where = path + label if is_told else ""
            if kind in _PLAIN:
                text = _plain_text(child)
                tokens.append(text)
                if is_told:
                    self._tell(where, text)
                continue
            if not _is_value(kind):
                before = reached.get(id(child))
                if before is not None:
                    tokens.append(before[1])
                    if is_told:
                        self._tell(where, f"the object at {before[2]}")
                    continue
                reached[id(child)] = (child, f"={owner}#{len(tokens)}", where)
            self._queue.append((owner, where, child))

    def _visit(self, owner: str, path: str, value: object) -> None:
        children: Collection[Child] = ()
        if isinstance(value, (set, frozenset, weakref.WeakSet)):
            text = f"{type(value).__name__} of {len(value)}"
            if not self._is_element:  # within an object of a set: it would take too long
                self._sets.append((owner, path, value))
        else:
            text, children = self._parts(value, owner in self._told)
        if text.startswith(_STATE):
            self.states.setdefault(owner, []).append(text)
        else:
            self.tokens[owner].append(text)
        if owner in self._told:
            self._tell(path, text)
        self._reach(owner, path, children)

    def _open_set(self, owner: str, path: str, value: Iterable[object]) -> None:
        items = list(value)
        if all(map(_is_key, items)):
            held: list[Child] = [(f"{{{key}}}", True) for key in sorted(map(_key_text, items))]
        else:
            order = sorted((self._order_of(item), index) for index, item in enumerate(items))
            held = [(f"{{{place}}}", items[index]) for place, (_, index) in enumerate(order)]
        self._reach(owner, path, held)

    def _order_of(self, item: object) -> tuple[str, int]:
        before = self._reached.get(id(item))
        if before is not None:
            return before[1], 0
        walk = _Walk({"": item}, self._root, (), _ELEMENT_MAX, is_element=True)
        return "", _digest_of(walk.tokens[""])

    def _tell(self, path: str, text: str) -> None:
        if len(self.leaves) == LEAVES_MAX:
            return
        if len(text) > TEXT_MAX:
            rest = f"{len(text):,} characters, digest {_digest_of([text]):016x}"
            self.leaves.append(Leaf(path, f"{text[:TEXT_MAX]}... ({rest})"))
        else:
            self.leaves.append(Leaf(path, text, text.startswith(_STATE)))

    def _parts(self, value: Any, is_told: bool) -> Parts:
        kind: Any = type(value)
        try:
            if "numpy.ndarray" in _bases(kind):
                return _array(value, is_told)
            return _reader(kind)(value)
        except Exception:  # of an object that is not as its type says, or cannot be read
            self.not_seen.add(_name(kind))
            return _name(kind), []


def _digests_of(tokens: Mapping[str, Iterable[str]]) -> dict[str, int]:
    return {name: _digest_of(each) for name, each in tokens.items()}


def _digest_of(tokens: Iterable[str]) -> int:
    return xxh3_64_intdigest("\0".join(tokens).encode("utf-8", "surrogatepass"))


# Kinds of values.

_PLAIN: Final = frozenset(
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


def _plain_text(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:  # an integer of thousands of digits
        return hex(value)


def _name(kind: Any) -> str:
    """The name of a class or a function."""
    return f"{getattr(kind, '__module__', '')}.{getattr(kind, '__qualname__', '')}"


@functools.cache
def _bases(kind: Any) -> frozenset[str]:
    """The classes that a class is derived from, each with the package that it is of."""
    return frozenset(f"{str(c.__module__).partition('.')[0]}.{c.__name__}" for c in kind.__mro__)


@functools.cache
def _is_value(kind: Any) -> bool:
    """Whether it means nothing that two values of a class are one object."""
    return (
        kind in _PLAIN
        or issubclass(kind, (tuple, frozenset, enum.Enum, *_NAMED))
        or "numpy.generic" in _bases(kind)
        or _name(kind) in _TEXTUAL
    )


@functools.cache
def _reader(kind: Any) -> Callable[[Any], Parts]:
    """What reads the parts of the objects of a class."""
    bases = _bases(kind)
    for name, reader in _BY_NAME.items():
        if name in bases:
            return reader
    if _name(kind) in _TEXTUAL:
        return lambda value: (repr(value), [])
    for kinds, reader in _BY_CLASS:
        if issubclass(kind, kinds):
            return reader
    has_attributes = "__dict__" in dir(kind) or any("__slots__" in vars(c) for c in kind.__mro__)
    if has_attributes and _is_reduced_by_c(kind):
        return _extended
    return _object if has_attributes or kind is object else _reduced


def _is_reduced_by_c(kind: Any) -> bool:
    """Whether a class of C has its own way to be pickled, and none derived from it changed it."""
    ways = (kind.__reduce__, object.__reduce__), (kind.__reduce_ex__, object.__reduce_ex__)
    own = [way for way, inherited in ways if way is not inherited]
    return bool(own) and not any(isinstance(way, types.FunctionType) for way in own)


def _object(value: object) -> Parts:
    return _name(type(value)), _attributes(value)


def _attributes(value: object) -> list[Child]:
    held = attributes(value)
    return [(f".{name}", held[name]) for name in sorted(held)]


def attributes(value: object) -> dict[str, object]:
    """The attributes of an object, from its `__dict__` and its slots."""
    held = dict[str, object](getattr(value, "__dict__", {}))
    kind: Any = type(value)
    for name, slot in _slots(kind):
        try:
            held.setdefault(name, slot.__get__(value))
        except AttributeError:  # it has no value
            continue
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
    return _name(type(value)), [(f".<{index}>", part) for index, part in enumerate(held)]


def _extended(value: object) -> Parts:
    """An object of C that has attributes besides."""
    text, held = _reduced(value)
    return text, held + _attributes(value)


def _named(value: object) -> Parts:
    name = _name(value) if isinstance(value, type) else getattr(value, "__name__", "")
    return f"{type(value).__name__} {name if type(name) is str else ''}", []


def _function(value: types.FunctionType) -> Parts:
    held = list[Child]()
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
        try:
            held.append((f".{name}", cell.cell_contents))
        except ValueError:  # not assigned yet
            continue
    return f"function {_name(value)}", held


def _method(value: Any) -> Parts:
    function = getattr(value, "__func__", value)
    return f"method {function.__qualname__}", [(".__self__", value.__self__)]


def _subclassed(value: Any) -> Parts:
    """A number or a text of a class of its own."""
    base = next(one for one in type(value).__mro__ if one in _PLAIN)
    return f"{_name(type(value))} {_plain_text(base(value))}", _attributes(value)


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
    if all(_is_key(key) for key, _ in items):
        held = [(f"[{_key_text(key)}]", item) for key, item in items]
        held.sort(key=itemgetter(0))
    else:
        held = list[Child]()
        for index, (key, item) in enumerate(items):
            held += [(f".keys[{index}]", key), (f".values[{index}]", item)]
    own = _attributes(value) if isinstance(value, dict) and kind is not dict else []
    return f"{kind.__name__} of {len(items)}", held + own


def _is_key(key: object) -> bool:
    """Whether a key is told by its text."""
    if type(key) is tuple or type(key) is frozenset:
        return all(map(_is_key, key))
    return type(key) in _PLAIN or isinstance(key, (enum.Enum, type))


def _key_text(key: Any) -> str:
    if type(key) is tuple:
        return f"({', '.join(map(_key_text, key))})"
    if type(key) is frozenset:
        return f"{{{', '.join(sorted(map(_key_text, key)))}}}"
    if isinstance(key, enum.Enum):
        return f"{type(key).__qualname__}.{key.name}"
    return _name(key) if isinstance(key, type) else _plain_text(key)


def _generator(value: random.Random) -> Parts:
    """A generator of random numbers of the standard library."""
    if isinstance(value, random.SystemRandom):
        return "random.SystemRandom", []
    return f"{_STATE}{_name(type(value))} {_digest_of(map(repr, value.getstate())):016x}", []


def _numpy_generator(value: Any) -> Parts:
    bits = getattr(value, "bit_generator", None) or getattr(value, "_bit_generator", value)
    digest = observed({"": bits.state}).digests[""]
    return f"{_STATE}numpy.random.{type(value).__name__} {digest:016x}", []


def _array(value: Any, is_told: bool) -> Parts:
    """An array of numpy. Its items, if they are told, or are objects or records."""
    text = f"{value.dtype} array of shape {value.shape}"
    if value.dtype.hasobject or value.dtype.names:
        return text, [(".items", value.tolist())]
    if is_told:
        size = min(value.size, LEAVES_MAX)
        items = zip(_indexes(value.shape), value.flat, strict=True)
        listed = [(f"[{', '.join(map(str, i))}]", x.item()) for i, x in _first(items, size)]
        return text, listed if value.shape else [("[()]", value.item())]
    return f"{text} {xxh3_64_intdigest(value.tobytes()):016x}", []


def _indexes(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    from itertools import product

    return product(*map(range, shape))


def _first(items: Iterable[Any], size: int) -> Iterable[Any]:
    from itertools import islice

    return islice(items, size)


def _frame(value: Any) -> Parts:
    """A table of pandas."""
    columns = [(f"[{key!r}]", value[key].to_numpy()) for key in value.columns]
    return f"table of {len(value)}", [(".index", value.index.to_numpy()), *columns]


def _series(value: Any) -> Parts:
    index = getattr(value, "index", None)
    held: list[Child] = [(".values", value.to_numpy())]
    return type(value).__name__, held if index is None else [(".index", index.to_numpy()), *held]


_BY_NAME: Final[Mapping[str, Callable[[Any], Parts]]] = {
    "numpy.generic": lambda value: (f"{value.dtype} {value.item()!r}", []),
    "numpy.Generator": _numpy_generator,
    "numpy.BitGenerator": _numpy_generator,
    "numpy.RandomState": _numpy_generator,
    "numpy.dtype": lambda value: (f"dtype {value}", []),
    "pandas.DataFrame": _frame,
    "pandas.Series": _series,
    "pandas.Index": lambda value: ("Index", [(".values", value.to_numpy())]),
    "torch.Tensor": lambda value: ("tensor", [(".values", value.detach().cpu().numpy())]),
}
_BY_CLASS: Final[tuple[tuple[Any, Callable[[Any], Parts]], ...]] = (
    (enum.Enum, lambda value: (f"{type(value).__qualname__}.{value.name}", [])),
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
    (BaseException, lambda value: (_name(type(value)), [(".args", value.args)])),
)  # fmt: skip
