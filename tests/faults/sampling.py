"""How much of an enumeration is tried: `FAULTS=all python -m pytest tests/faults` tries all of it.

By default one case of so many is tried, the same ones each time. A step has no divisor in common
with the length of what is repeated inside an enumeration (the bits of a byte, the values that are
put in each place), so that all bits and all values are among them.

Of the cases that `sampled` gives, of experiments, which play many seasons each, and of tests that
are marked `turns`, a third is tried, another with each commit: the summary says which (`TURN=1`
tries the second).
"""

import os
import subprocess
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

T = TypeVar("T")
ALL: Final = os.environ.get("FAULTS") == "all"
TURNS: Final = 3


def _commits() -> int:
    """The number of commits; 0 outside of git."""
    counted = subprocess.run(
        ["git", "rev-list", "--count", "HEAD"], cwd=Path(__file__).parent, capture_output=True
    )
    return int(counted.stdout or 0)


TURN: Final = (int(os.environ["TURN"]) if "TURN" in os.environ else _commits()) % TURNS


def in_turn(experiments: Iterable[T]) -> list[T]:
    """Those of this turn, and one at least; all of them where all is tried."""
    every = list(experiments)
    turns = 1 if ALL else min(TURNS, len(every))
    return every[TURN % turns :: turns] if every else []


def step(size: int) -> int:
    """Of so many cases one is tried; 1 where all are."""
    return 1 if ALL else size


def sampled(cases: Iterable[T], size: int) -> Iterator[T]:
    """The first case, and of each `size` that follow one; of these a third in turn."""
    for number, case in enumerate(islice(cases, 0, None, step(size))):
        if ALL or number == 0 or number % TURNS == TURN:
            yield case
