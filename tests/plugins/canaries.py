"""Worlds that are broken on purpose, by what a process does: found by their entry points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import attrs

from goldrush.agents.players import RunContext
from goldrush.games.fishery import Fishery
from goldrush.kernel.run import Ask
from goldrush.kernel.world import Batch
from goldrush.replay.game.tools import tools_of_game
from goldrush.replay.tools import Tools
from tests.plugins.installed import with_parts


def _with(
    game: type[Fishery],
    fish: Callable[[], int],
) -> Tools:
    """A fishery whose first agent asks for something of its own."""
    tools = tools_of_game(game)

    @contextmanager
    def other(context: RunContext[Any]) -> Iterator[Ask[Any]]:
        with tools.players.start_agents(context) as ask:

            def changed(state: Any) -> list[Batch]:
                [(asked, rows)] = ask(state)  # type: ignore[misc]
                return [(asked, [(0, fish(), None, None), *rows[1:]])]

            yield changed

    return with_parts(tools, players=with_parts(tools.players, start_agents=other))


class Counts(Fishery):
    """What is asked depends on what was asked before."""


class Hashes(Fishery):
    """What is asked depends on the process."""


class Sharks(Fishery):
    """Whose studies name a policy that is not there."""


COUNTS = _with(Counts, count().__next__)
HASHES = _with(Hashes, lambda: hash("fish") % 1_000_003)
SHARKS = with_parts(
    tools_of_game(Sharks),
    studies=attrs.evolve(tools_of_game(Sharks).studies, baselines=("shark",)),
)
