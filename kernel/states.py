"""Copies of states, made from the types of their fields.

A fold changes a state in place, because a copy for each event would cost more than the event; who
needs the state before copies it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Self, Union, get_type_hints

import attrs

from goldrush.kernel.hints import parts_of

Copier = Callable[[Any], Any]


@attrs.define
class Mutable:
    """A record that changes in place: a state, or a part of one."""

    def copy(self) -> Self:
        """A copy that shares no mutable value: fields declared as dict, list, set or Mutable are
        copied, and so are their items that are declared so.
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
    copiers = [(index, _copier(hints[name])) for index, name in enumerate(names)]
    return names, [(index, copier) for index, copier in copiers if copier]


def _copier(hint: Any) -> Copier | None:
    """The function that copies values of a type; None for values that do not change."""
    kind, parts = parts_of(hint)
    if kind is Union and any(map(_copier, parts)):
        raise TypeError(f"{hint} has a type that is copied: which one a value is of is not known")
    if kind in (dict, list):
        of_items = _copier(parts[-1])
        if of_items is None:
            return kind
        if kind is list:
            return lambda items: [of_items(item) for item in items]
        return lambda items: {key: of_items(item) for key, item in items.items()}
    if kind is set:
        return set
    return kind.copy if isinstance(kind, type) and issubclass(kind, Mutable) else None
