"""An order of a set's elements by what they hold, not by hash or address."""

from __future__ import annotations

import enum
import types
from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Final, TypeVar

T = TypeVar("T")

_STABLE: Final = (int, float, complex)
_SCALARS: Final = (bool, int, float, complex, str, bytes, type(None))
_NAMED: Final = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)
_DEPTHS: Final = (1, 3)  # of attributes looked at; the second where the first leaves a tie
_LOOKED_AT_MAX: Final = 64  # items of a collection that are looked at


def varies(elements: Collection[object]) -> bool:
    """Whether a set of these can be iterated in another order in another process."""
    return len(elements) > 1 and not all(map(is_stable, elements))


def is_stable(value: object) -> bool:
    """Whether its hash is the same in every process; False for objects: nobody can know."""
    if isinstance(value, (tuple, frozenset)):
        return all(map(is_stable, value))
    return isinstance(value, _STABLE) and type(value).__module__ in ("builtins", "numpy")


def sorted_by_content(elements: Iterable[T]) -> list[T]:
    """Elements in an order that is the same in every process, but for equal content."""
    rest = [(content(element, _DEPTHS[0]), element) for element in elements]
    count = Counter(key for key, _ in rest)
    keyed = [
        (key, content(element, _DEPTHS[1]) if count[key] > 1 else "", element)
        for key, element in rest
    ]
    return [element for *_, element in sorted(keyed, key=lambda item: item[:2])]


def content(value: object, depth: int) -> str:
    """What an object holds, as a text without addresses, attributes `depth` deep."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__qualname__}.{value.name}"
    if type(value) is int:
        return f"int:{value:x}"  # `repr` refuses thousands of digits
    if isinstance(value, _SCALARS):
        return f"{type(value).__name__}:{value!r}"
    if isinstance(value, _NAMED):
        return f"{value.__module__ if hasattr(value, '__module__') else ''}.{value.__name__}"
    name = type(value).__qualname__
    if depth < 0:
        return name
    if isinstance(value, dict):
        pairs = list(value.items())[:_LOOKED_AT_MAX]
        held = [f"{content(key, depth - 1)}={content(item, depth - 1)}" for key, item in pairs]
        return f"{name}({sorted(held)})"
    if isinstance(value, (set, frozenset)):
        return f"{name}({sorted(content(item, depth - 1) for item in value)})"
    if isinstance(value, (tuple, list)):
        return f"{name}({[content(item, depth - 1) for item in value[:_LOOKED_AT_MAX]]})"
    return f"{name}({[f'{key}={content(held, depth - 1)}' for key, held in attributes(value)]})"


def attributes(value: object) -> list[tuple[str, object]]:
    """Attributes of an object in order of name, without running any code of its class."""
    held: dict[str, object] = {}
    with suppress(AttributeError):
        held.update(object.__getattribute__(value, "__dict__"))
    for kind in type(value).__mro__:
        for name, slot in vars(kind).items():
            if isinstance(slot, types.MemberDescriptorType):
                with suppress(AttributeError):
                    held[name] = slot.__get__(value)
    return sorted(held.items(), key=lambda item: str(item[0]))
