"""The changes that a fork can make to a season.

A fork continues its parent after an assignment with other settings, other policies, or
contributions given by hand. The agents, the size of the active roster and the arena stay; of the
arena's options a fork can change those that name the program of the tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.forking import check_changes, check_facts, check_fixed
from goldrush.kernel.settings import check_setting
from goldrush.kernel.shape import FACTS
from goldrush.kernel.world import Past, Row
from goldrush.kernel.worlds.competition.config import SeasonConfig, config_of
from goldrush.kernel.worlds.competition.events import CODES, EVENTS, Spoke
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import Shown

_FIXED: Final = ["workers", "arena"]
_FACTS: Final = ["parent", "changes", "cast", "program", "replaced"]
_ENTRY: Final = ["ordinal", "policy", "options"]

# (table, round, agent) of a contribution, within its assignment.
Turn = tuple[int, int, int]


def changed(config: SeasonConfig, settings: Mapping[str, Any], assignment: int) -> SeasonConfig:
    """The configuration of a fork. `settings`: the settings that change, by name.

    Raises BadInput for an unknown setting, an invalid value, a setting that a fork cannot change,
    or fewer assignments than were played.
    """
    new = config_of({**config.as_dict(), **settings})
    check_fixed(config, new, _FIXED, "season")
    if new.assignments < assignment:
        raise BadInput(
            f"assignments is {new.assignments}, but the fork is after {assignment}",
            f"give {assignment} or more",
        )
    return new


def turn_of(row: Row) -> Turn:
    """The turn of the contribution in a row of `spoke`."""
    return row[0], row[1], row[3]


def fork(state: SeasonState, facts: Mapping[str, Any], past: Past) -> SeasonState:
    """The state after a fork. Raises BadInput for facts that do not fit the season."""
    _check(facts)
    config = changed(state.config, facts["changes"], state.assignment)
    check_changes(state.config, config, facts["changes"])
    _check_turns(facts["replaced"], config, state)
    state.config = _with_program(config, facts["program"])
    if config.shown != Shown.NOISE:
        state.reasons = ()  # no digest covers them from here on
    if facts["cast"] is not None:
        if [entry["ordinal"] for entry in facts["cast"]] != list(state.agents):
            raise BadInput("the cast of a fork is not that of the season", "give each agent once")
        for entry in facts["cast"]:
            state.change(entry["ordinal"], policy=entry["policy"], options=entry["options"])
    return state


def _with_program(config: SeasonConfig, options: Mapping[str, Any] | None) -> SeasonConfig:
    """A configuration whose arena has another program, given by some of its options."""
    if options is None:
        return config
    arena = config.arena
    before = {name: arena.options.get(name) for name in options}
    is_other = all(type(text) is str and text != options[name] for name, text in before.items())
    if not options or not is_other:
        raise BadInput(f"the program is {format_value(options)}", "give options that it changes")
    arena = attrs.evolve(arena, options={**arena.options, **options})
    return attrs.evolve(config, arena=arena)


def show_fork(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of the `forked` event, with `replaced` as pairs of assignment and agent."""
    _check(facts)
    return {**facts, "replaced": [[assignment, row[3]] for assignment, row in facts["replaced"]]}


def _check(facts: Mapping[str, Any]) -> None:
    """Raise BadInput for malformed facts; or TypeError, ValueError or LookupError."""
    check_facts(facts, _FACTS)
    for name, value in facts["changes"].items():
        check_setting(SeasonConfig, name, value)
    for entry in facts["cast"] or ():
        if (
            list(entry) != _ENTRY
            or type(entry["ordinal"]) is not int
            or type(entry["policy"]) is not str
            or not FACTS.holds(entry["options"])
        ):
            raise BadInput(f"an entry of the cast is {format_value(entry)}", f"give {_ENTRY}")
    program = facts["program"]
    if program is not None and not all(type(text) is str for text in program.values()):
        raise BadInput(
            f"the program is {format_value(program)}", "give text by the names of options"
        )
    for assignment, row in facts["replaced"]:
        fault = EVENTS[CODES[Spoke]].fault(row)
        if fault is not None or type(assignment) is not int:
            raise BadInput(
                fault or f"there is no assignment {format_value(assignment)} to replace",
                "give a contribution",
            )


def _check_turns(
    replaced: Sequence[tuple[int, Row]], config: SeasonConfig, state: SeasonState
) -> None:
    """Raise BadInput unless the replaced turns are still to come, ascending, each once."""
    last: tuple[int, Turn] = (state.assignment, (-1, -1, -1))
    for assignment, row in replaced:
        if not last < (assignment, turn_of(row)) or assignment >= config.assignments:
            raise BadInput(
                f"the contribution of agent {row[3]} in assignment {assignment}, table {row[0]}, "
                f"round {row[1]} cannot be replaced",
                f"give turns of assignments {state.assignment} to {config.assignments - 1} in "
                "order, each once",
            )
        last = (assignment, turn_of(row))
