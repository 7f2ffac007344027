"""How much of an enumeration is tried: `FAULTS=all python -m pytest tests/faults` tries all of it.

By default one case of so many is tried, always the same ones. A step has no divisor in common with
the length of what is repeated inside an enumeration (the bits of a byte, the values that are put in
each place), so every byte, every place and every value has its turn.
"""

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

T = TypeVar("T")
ALL: Final = os.environ.get("FAULTS") == "all"


def step(size: int) -> int:
    """Of so many cases one is tried; 1 where all are."""
    return 1 if ALL else size


def sampled(cases: Iterable[T], size: int) -> Iterator[T]:
    """The first case, and of each `size` that follow one."""
    return islice(cases, 0, None, step(size))
