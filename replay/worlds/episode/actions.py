"""Actions given by hand, as JSON: with the types of a recorded action, or of a space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from goldrush.kernel.worlds.episode.values import (
    ARRAY,
    DICT,
    INT,
    LIST,
    SCALAR,
    TUPLE,
    Encoded,
    shown,
)
from goldrush.replay.worlds.episode.coding import decoded


def as_recorded(given: object, recorded: Encoded) -> object:
    """The value with the types of a recorded one. Raises ValueError for another form."""
    if isinstance(recorded, tuple):
        form, *rest = cast("tuple[Any, ...]", recorded)
        if form in (ARRAY, SCALAR):
            return _in_numpy(given, rest[0], rest[1] if form == ARRAY else ())
        if form in (TUPLE, LIST):
            items = _items(given, len(rest[0]))
            made = [as_recorded(item, each) for item, each in zip(items, rest[0], strict=True)]
            return tuple(made) if form == TUPLE else made
        if form == DICT:
            pairs = {str(shown(key)): (key, value) for key, value in rest[0]}
            if not isinstance(given, Mapping) or given.keys() != pairs.keys():
                raise ValueError("other keys")
            return {
                decoded(key): as_recorded(given[name], value)
                for name, (key, value) in pairs.items()
            }
        recorded = 0 if form == INT else ""
    if type(recorded) is float and type(given) is int:
        return float(given)
    if type(given) is not type(recorded):
        raise ValueError("another type")
    return given


def in_space(given: object, space: object) -> object:
    """The value with the types of a space of Gymnasium. Raises ValueError for another form."""
    from gymnasium import spaces

    if isinstance(space, spaces.Discrete):
        return _in_numpy(given, space.dtype, ())
    if isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary):
        return _in_numpy(given, space.dtype, space.shape)
    if isinstance(space, spaces.Dict):
        if not isinstance(given, Mapping) or given.keys() != space.spaces.keys():
            raise ValueError("other keys")
        return {name: in_space(given[name], each) for name, each in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        items = _items(given, len(space.spaces))
        return tuple([in_space(each, of) for each, of in zip(items, space.spaces, strict=True)])
    if isinstance(space, spaces.Text) and isinstance(given, str):
        return given
    raise ValueError("another form")


def _in_numpy(given: object, dtype: object, shape: tuple[int, ...]) -> object:
    """The array, or the scalar, of a type. Raises ValueError unless it has the same numbers."""
    import numpy as np

    array = np.array(given)
    made = array.astype(dtype)  # type: ignore[call-overload]
    is_same = np.array_equal(made.astype(array.dtype), array)
    if array.dtype.kind not in "biuf" or made.shape != shape:
        raise ValueError("another shape")
    if not is_same and made.dtype.kind != "f":
        raise ValueError("other numbers")
    return made if shape else made[()]


def _items(given: object, count: int) -> list[object]:
    if not isinstance(given, list) or len(given) != count:
        raise ValueError("another number of items")
    return given
