"""The JSON object in the text of a model's answer.

Never raises, and gives the same object on every supported interpreter: nesting and numbers have
limits of their own, below those of the decoder.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any, Final, NoReturn

TEXT_MAX: Final = 65_536  # characters of the text that are read
DEPTH_MAX: Final = 8  # nesting depth of lists and objects, with the outermost
FAILED_MAX: Final = 50  # braces without an object, after which the search ends
DIGITS_MAX: Final = 20  # of an integer, with its sign


def object_in(text: str, keys: Iterable[str]) -> dict[str, Any] | None:
    """The last JSON object in a text that has one of these keys, or None.

    Integers beyond 64 bits and infinities in it become None, lone surrogates U+FFFD.
    """
    text, keys = text[:TEXT_MAX], list(keys)
    start = text.find("{")
    failed = 0
    found: dict[str, Any] | None = None
    while start >= 0 and failed < FAILED_MAX:
        try:
            value, end = _DECODER.raw_decode(text, start)
            cleaned = _cleaned(value, DEPTH_MAX)
        except (ValueError, RecursionError):
            failed, end = failed + 1, start + 1
        else:
            if any(key in value for key in keys):
                found = cleaned
        start = text.find("{", end)
    return found


def _cleaned(value: Any, depth: int) -> Any:
    """A value without lone surrogates. Raises ValueError if it has more than `depth` levels of
    lists and objects.
    """
    if isinstance(value, (dict, list)) and not depth:
        raise ValueError
    if isinstance(value, dict):
        return {_cleaned(name, 0): _cleaned(item, depth - 1) for name, item in value.items()}
    if isinstance(value, list):
        return [_cleaned(item, depth - 1) for item in value]
    return SURROGATE.sub("\ufffd", value) if isinstance(value, str) else value


def _integer(digits: str) -> int | None:
    # Conversion is quadratic in the digits and refused beyond a limit: not done for a long one.
    value = int(digits) if len(digits) <= DIGITS_MAX else 1 << 64
    return value if -(1 << 63) <= value < 1 << 63 else None


def _real(digits: str) -> float | None:
    value = float(digits)
    return value if math.isfinite(value) else None


def refuse_constant(name: str) -> NoReturn:
    """Raises ValueError for NaN and the infinities, which Python's decoder would take."""
    raise ValueError(f"{name} is not JSON")


SURROGATE: Final = re.compile("[\ud800-\udfff]")
_DECODER: Final = json.JSONDecoder(
    parse_int=_integer, parse_float=_real, parse_constant=refuse_constant, strict=False
)
