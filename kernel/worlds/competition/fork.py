"""The changes that a fork can make to a season.

A fork continues its parent after an assignment with other settings, other policies, or
contributions given by hand. The agents, the size of the active roster and the arena stay; of the
arena's options a fork can change those that name the program of the tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.forking import Forks
from goldrush.kernel.rosters import POLICY
from goldrush.kernel.shape import FACTS, NATURAL
from goldrush.kernel.world import Past, Row
from goldrush.kernel.worlds.competition.config import SeasonConfig, check_known, config_of
from goldrush.kernel.worlds.competition.events import CODES, EVENTS, Spoke
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import VOCABULARY


def turn_of(row: Row) -> tuple[int, int, int]:
    """(table, round, agent) of the contribution in a row of `spoke`."""
    return row[0], row[1], row[3]


FORKS: Final = Forks(
    SeasonConfig,
    config_of,
    [EVENTS[CODES[Spoke]]],
    "assignments",
    VOCABULARY,
    fixed=("workers", "arena"),
    entry={"ordinal": NATURAL, "policy": POLICY, "options": FACTS},
    more=("program",),
    place=lambda row: dict(zip(("table", "round", "agent"), turn_of(row), strict=True)),
)


def fork(state: SeasonState, facts: Mapping[str, Any], past: Past) -> SeasonState:
    """The state after a fork. Raises BadInput for facts that do not fit the season;
    UnsupportedSetup as config_of.
    """
    check_known(facts["changes"])
    config, cast = FORKS.forked(state.config, facts, state.assignment, len(state.agents))
    state.config = _with_program(config, facts["program"])
    for entry in cast or ():
        state.change(entry["ordinal"], policy=entry["policy"], options=entry["options"])
    return state


def show_fork(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """The facts of a fork for its event. Raises UnsupportedSetup as config_of."""
    check_known(facts["changes"])
    return FORKS.show(facts)


def _with_program(config: SeasonConfig, options: Mapping[str, Any] | None) -> SeasonConfig:
    """A configuration whose arena has another program, given by some of its options."""
    if options is None:
        return config
    arena, given = config.arena, options if type(options) is dict else {}
    pairs = [(arena.options.get(name), value) for name, value in given.items()]
    if not pairs or not all(type(old) is type(new) is str and old != new for old, new in pairs):
        raise BadInput(
            f"the program is {format_value(options)}", "give text of the options that it changes"
        )
    arena = attrs.evolve(arena, options={**arena.options, **given})
    return attrs.evolve(config, arena=arena)
