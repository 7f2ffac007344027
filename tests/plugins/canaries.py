"""Worlds that are broken on purpose, by what a process does: found by their entry points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

import attrs
from goldrush_commons.players import FISHERS
from goldrush_commons.toolkit import STUDIES, TOOLKIT
from goldrush_commons.world import ASKED, Fishery

from goldrush.agents.players import Seating
from goldrush.kernel.run import Ask
from goldrush.kernel.world import Batch
from goldrush.replay.toolkit import Toolkit


def _with(fish: Callable[[], int]) -> Toolkit:
    """The fishery, whose first agent asks for something of its own."""

    @contextmanager
    def other(seating: Seating[Fishery]) -> Iterator[Ask[Fishery]]:
        with FISHERS.seated(seating) as ask:

            def changed(state: Fishery) -> list[Batch]:
                [(_, rows)] = ask(state)  # type: ignore[misc]
                return [(ASKED, [(0, fish(), None, None), *rows[1:]])]

            yield changed

    return attrs.evolve(TOOLKIT, players=attrs.evolve(FISHERS, seated=other))


COUNTS = _with(count().__next__)  # what is asked depends on what was asked before
HASHES = _with(lambda: hash("fish") % 1_000_003)
SHARKS = attrs.evolve(TOOLKIT, studies=lambda: attrs.evolve(STUDIES, baselines=("shark",)))
