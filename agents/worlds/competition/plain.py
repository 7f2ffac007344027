"""Converts the answers of policies to values that acts can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldrush.kernel.shape import amount
from goldrush.kernel.worlds.competition.events import PLAIN, PLAIN_DEPTH, PLAIN_MAX


def plain(value: Any) -> Any:
    """The value with lists as tuples and whole reals as integers. None in place of values that
    cannot be recorded: maps, numbers beyond 64 bits, values over a limit. The kernel judges the
    result.
    """
    recorded = _plain(value, PLAIN_DEPTH)
    return recorded if PLAIN.holds(recorded) else None


def in_order(value: object, *names: str) -> object:
    """The values of an object by these names, as a list; any other value unchanged."""
    return [value.get(name) for name in names] if isinstance(value, Mapping) else value


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, (list, tuple)) and depth:
        return tuple(_plain(item, depth - 1) for item in value[: PLAIN_MAX + 1])
    if type(value) is float:
        value = amount(value)  # an integer if it is whole, of any size
    if type(value) is int and not -(1 << 63) <= value < 1 << 64:
        return None
    if type(value) is str:
        return value.encode("utf-8", "replace").decode()
    return value if value is None or type(value) in (bool, int, float) else None
