"""Worlds that are broken on purpose, by what a process does: found by their entry points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

import attrs
from goldrush_commons.players import FISHERS
from goldrush_commons.tools import MEASURES, STUDIES, TOOLS
from goldrush_commons.world import ASKED, COMMONS, Fishery

from goldrush.agents.players import RunContext
from goldrush.agents.seats import policy_label
from goldrush.kernel.run import Ask
from goldrush.kernel.world import Batch
from goldrush.replay.data.measures import Measures, by_unit
from goldrush.replay.tools import Tools
from tests.plugins.installed import with_parts


def _called(name: str) -> Tools:
    """The fishery under another name."""
    world = attrs.evolve(COMMONS, name=name)
    read = by_unit(
        world, MEASURES, config=lambda state: state.config,
        roster=lambda state: [policy_label(entry) for entry in state.roster],
    )  # fmt: skip
    return with_parts(TOOLS, world=lambda setup: world, measures=Measures(MEASURES, read))


def _with(
    name: str, fish: Callable[[], int], source: Callable[[], dict[str, int] | None] = lambda: None
) -> Tools:
    """The fishery under another name, whose first agent asks for something of its own."""

    @contextmanager
    def other(context: RunContext[Fishery]) -> Iterator[Ask[Fishery]]:
        with FISHERS.start_agents(context) as ask:

            def changed(state: Fishery) -> list[Batch]:
                [(_, rows)] = ask(state)  # type: ignore[misc]
                return [(ASKED, [(0, fish(), None, source()), *rows[1:]])]

            yield changed

    return with_parts(_called(name), players=with_parts(FISHERS, start_agents=other))


COUNTS = _with("counts", count().__next__)  # what is asked depends on what was asked before
HASHES = _with("hashes", lambda: hash("fish") % 1_000_003)
NOTES = _with("notes", lambda: 1, lambda: {"tries": 1})  # whose rows have a map
SHARKS = with_parts(_called("sharks"), studies=attrs.evolve(STUDIES, baselines=("shark",)))
