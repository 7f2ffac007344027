"""What `verify` says of a run that was derived again: under which versions, and what differs."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, cast

from goldrush.kernel.codec import pack
from goldrush.kernel.errors import BadInput
from goldrush.kernel.text import format_count
from goldrush.kernel.world import Block, Row
from goldrush.kernel.worlds.episode.config import about_of
from goldrush.kernel.worlds.episode.events import ARRAY, GAVE
from goldrush.kernel.worlds.episode.values import ARRAY as OF_NUMPY
from goldrush.kernel.worlds.episode.values import SCALAR, Encoded, shown
from goldrush.replay.tools import PLACES
from goldrush.replay.worlds.episode.coding import decoded

if TYPE_CHECKING:
    import numpy as np


ATTRIBUTES: Final = "attributes["  # names of rows begin so that have what attributes hold
LISTED_MAX: Final = 8  # versions that do not differ


def format_versions(subject: object) -> str:
    """The versions here of what a subject's run was recorded under, and those that differ, all of
    them. Empty for no subject.
    """
    try:
        recorded = about_of(subject).versions
    except BadInput:
        return ""
    here = {name: _version_here(name) for name in recorded}
    same = [name for name, version in recorded.items() if version == here[name]]
    others = same[LISTED_MAX:]
    listed = [
        f"{name} {here[name]}" + ("" if name in same else f" (recorded under {version})")
        for name, version in recorded.items()
        if name not in others
    ]
    counted = f" and {format_count(len(others), 'other')} as recorded" if others else ""
    return ", ".join(listed) + counted


def other_versions(recorded: Mapping[str, str]) -> str:
    """The versions that differ here from recorded ones, as the end of a message; empty: none."""
    here = {name: _version_here(name) for name in recorded}
    differ = [f"{n} {v}, here {here[n]}" for n, v in recorded.items() if v != here[n]]
    return f"; it was recorded under {'; '.join(differ)}" if differ else ""


def _version_here(name: str) -> str:
    try:
        return platform.python_version() if name == "python" else metadata.version(name)
    except (metadata.PackageNotFoundError, ValueError):  # ValueError: a forged name
        return "absent"


_DIGESTED: Final = (ATTRIBUTES, "generator[")  # what a model holds: never with its values


def format_difference(
    subject: object, here: Block, recorded: Block, places: tuple[str, str] = PLACES
) -> str:
    """The first difference between what a step gives here and what a journal has, by the name of
    the agent and of the array; empty where the events themselves say it. `places`: where the two
    are, of other pairs.
    """
    names = about_of(subject).agents
    pairs = zip_longest(_rows(here), _rows(recorded))
    first, second = next((pair for pair in pairs if pack(pair[0]) != pack(pair[1])), (None, None))
    if first is None or second is None or first[0] != second[0]:
        return ""
    code, one, other = first[0], first[1], second[1]
    if code == GAVE and one[0] == other[0]:
        fields = ("reward", "terminated", "truncated")
        [(name, *values), *_] = [
            (name, a, b)
            for name, a, b in zip(fields, one[1:], other[1:], strict=True)
            if pack(a) != pack(b)
        ]
        return f"{name}{_of(one[0], names)} {_both(values[0], values[1], places)}"
    if code == ARRAY and one[:2] == other[:2] and one[2] != other[2]:
        what = f"{one[1]}{_of(one[0], names)}"
        if str(one[1]).startswith(_DIGESTED):
            return (
                f"{what} differs; `goldrush repeats` names the path within it, and what causes it"
            )
        if one[3] is None or other[3] is None:
            return f"{what} has other bytes; `goldrush.wrap(..., values=True)` records values, too"
        return f"{what} {_both(one[3], other[3], places)}"
    return ""


def _rows(block: Block) -> Iterator[tuple[int, Row]]:
    return ((code, row) for code, rows in block for row in rows)


def _of(agent: int | None, names: Sequence[str]) -> str:
    return f" of {names[agent]}" if agent is not None and agent < len(names) else ""


def _both(here: Encoded, recorded: Encoded, places: tuple[str, str]) -> str:
    """Two values, and by how much they differ where both are numbers."""
    if isinstance(here, tuple) and isinstance(recorded, tuple):
        one, two = _numbers(here), _numbers(recorded)
        if one is not None and two is not None and one.shape == two.shape:
            return _most(one, two, places)
    a, b = (_text(value, other) for value, other in ((here, recorded), (recorded, here)))
    apart = abs(here - recorded) if type(here) is float and type(recorded) is float else 0.0
    by = f" (by {apart:.6g})" if 0.0 < apart < math.inf else ""
    return f"is {a} {places[0]} and {b} {places[1]}{by}"


def _text(value: Encoded, other: Encoded) -> str:
    """A value as text; a number with its type, beside one that only numpy has, or only Python."""
    is_typed = isinstance(value, tuple) is not isinstance(other, tuple)
    kind = str(value[1]) if isinstance(value, tuple) else type(value).__name__
    is_number = not isinstance(value, tuple) or value[0] == SCALAR
    return f"{shown(value)} ({kind})" if is_typed and is_number else str(shown(value))


def _numbers(value: tuple[Encoded, ...]) -> np.ndarray[Any, np.dtype[Any]] | None:
    """A value of numpy as an array of numbers; None for anything else."""
    if value[0] not in (OF_NUMPY, SCALAR):
        return None
    import numpy as np

    array = np.asarray(decoded(value))
    return array if array.dtype.kind in "biuf" else None


def _most(
    here: np.ndarray[Any, np.dtype[Any]],
    recorded: np.ndarray[Any, np.dtype[Any]],
    places: tuple[str, str],
) -> str:
    """Where two arrays differ most, and by how much."""
    import numpy as np

    if here.dtype != recorded.dtype:
        return f"is {here.dtype} {places[0]} and {recorded.dtype} {places[1]}"
    apart = np.abs(here.astype(np.float64) - recorded.astype(np.float64))
    # By their bytes: zeros have signs.
    bits = [np.frombuffer(each.tobytes(), "u1") for each in (here, recorded)]
    same = np.equal(*bits).reshape(*here.shape, -1).all(-1)
    apart = np.where(same, -1.0, np.where(np.isnan(apart), np.inf, apart))
    at = np.unravel_index(int(np.argmax(apart)), apart.shape) if apart.shape else ()
    by = f" (by {apart[at]:.6g})" if np.isfinite(apart[at]) and apart[at] > 0 else ""
    one, two = f"{here[at].item()!r} {places[0]}", f"{recorded[at].item()!r} {places[1]}"
    values = f"is {one} and {two}{by}"
    if not apart.shape:
        return values
    count, place = int(np.sum(~same)), ", ".join(map(str, map(int, cast("Sequence[int]", at))))
    which = "there alone" if count == 1 else f"most there of {count:,} of {apart.size:,} numbers"
    return f"at [{place}] {values}, {which}"
