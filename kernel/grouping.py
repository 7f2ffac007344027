"""Items in groups."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def grouped(items: Iterable[V], key: Callable[[V], K]) -> dict[K, list[V]]:
    """Items by key: groups in the order of their first items, each in the order given."""
    groups: dict[K, list[V]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
