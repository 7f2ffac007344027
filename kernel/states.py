"""Copies of states, made from the types of their fields.

A fold changes a state in place, because a copy for each event would cost more than the event; who
needs the state before copies it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import NoneType
from typing import Any, Self, Union, get_type_hints

import attrs

from goldrush.kernel.hints import hint_parts

Copier = Callable[[Any], Any]


@attrs.define
class Mutable:
    """A record that changes in place: a state, or a part of one."""

    def copy(self) -> Self:
        """A copy that shares no mutable value: fields declared as dict, list, set or Mutable, or as
        one of them or None, are copied, and so are their items that are declared so.

        Raises TypeError for a field declared as one of several types of which one is copied.
        """
        kind: Any = type(self)
        names, copiers = _plan(kind)
        values = [getattr(self, name) for name in names]
        for index, copier in copiers:
            values[index] = copier(values[index])
        copy: Self = kind(*values)
        return copy


@cache
def _plan(kind: Any) -> tuple[Sequence[str], Sequence[tuple[int, Copier]]]:
    """The names of the fields of a class, and the copiers of those that are copied, by index."""
    names, hints = list(attrs.fields_dict(kind)), get_type_hints(kind)
    copiers = [_copier(hints[name], f"{kind.__qualname__}.{name}") for name in names]
    return names, [(index, copier) for index, copier in enumerate(copiers) if copier]


def _copier(hint: Any, field: str) -> Copier | None:
    """The function that copies values of a type; None for values that do not change."""
    kind, parts = hint_parts(hint)
    if kind is Union:
        first, *others = (_copier(part, field) for part in parts if part is not NoneType)
        if others and (first or any(others)):
            cure = "declare it as one type that is copied, or as that type or None"
            raise TypeError(f"{field} is declared as {hint}; {cure}")
        return None if first is None else lambda value: None if value is None else first(value)
    if kind in (dict, list):
        of_items = _copier(parts[-1], field)
        if of_items is None:
            return kind
        if kind is list:
            return lambda items: [of_items(item) for item in items]
        return lambda items: {key: of_items(item) for key, item in items.items()}
    if kind is set:
        return set
    return kind.copy if isinstance(kind, type) and issubclass(kind, Mutable) else None
