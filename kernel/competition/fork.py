"""What a fork changes in a season.

A fork leaves its parent after an assignment, and may go on with other settings, other policies, or
contributions put in by hand. The agents, the size of the active roster and the arena stay, but for
the program that tests in an arena which takes one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.kernel.competition.config import SeasonConfig, check_setting, config_of
from goldrush.kernel.competition.events import CODES, EVENTS, Spoke
from goldrush.kernel.competition.state import SeasonState
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.forking import check_changes, check_facts, check_fixed
from goldrush.kernel.world import FACTS, Past, Row

_FIXED: Final = ["workers", "arena"]
_FACTS: Final = ["parent", "changes", "cast", "program", "replaced"]
_ENTRY: Final = ["ordinal", "policy", "options"]

# (table, round, agent) of a contribution, within its assignment.
Turn = tuple[int, int, int]


def changed(config: SeasonConfig, settings: Mapping[str, Any], assignment: int) -> SeasonConfig:
    """A configuration with other settings from `assignment` on.

    Raises BadInput for an unknown setting, a value out of range, a setting that a fork cannot
    change, and fewer assignments than were played.
    """
    new = config_of({**config.as_dict(), **settings})
    check_fixed(config, new, _FIXED, "season")
    if new.assignments < assignment:
        raise BadInput(
            f"assignments is {new.assignments}, but {assignment} are played where it is forked",
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
    _check_places(facts["replaced"], config, state)
    state.config = _with_program(config, facts["program"])
    if facts["cast"] is not None:
        if [entry["ordinal"] for entry in facts["cast"]] != list(state.agents):
            raise BadInput("the cast of a fork is not that of the season", "give everybody once")
        for entry in facts["cast"]:
            state.change(entry["ordinal"], policy=entry["policy"], options=entry["options"])
    return state


def _with_program(config: SeasonConfig, options: Mapping[str, Any] | None) -> SeasonConfig:
    """A configuration whose arena names another program, by some of its options."""
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
    """The fields of the `forked` event; of each replaced contribution (assignment, agent)."""
    _check(facts)
    return {**facts, "replaced": [[assignment, row[3]] for assignment, row in facts["replaced"]]}


def _check(facts: Mapping[str, Any]) -> None:
    """Raises BadInput, or what unpacking raises, for malformed facts."""
    check_facts(facts, _FACTS)
    for name, value in facts["changes"].items():
        check_setting(name, value)
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
                fault or f"assignment {format_value(assignment)} is replaced", "give a contribution"
            )


def _check_places(
    replaced: Sequence[tuple[int, Row]], config: SeasonConfig, state: SeasonState
) -> None:
    """Raises BadInput unless replaced turns are still to come, in ascending order, each once."""
    last: tuple[int, Turn] = (state.assignment, (-1, -1, -1))
    for assignment, row in replaced:
        if not last < (assignment, turn_of(row)) or assignment >= config.assignments:
            raise BadInput(
                f"assignment {assignment}, table {row[0]}, round {row[1]} of agent {row[3]} is "
                "replaced",
                f"give each turn once, from assignment {state.assignment} on, of "
                f"{config.assignments} in all",
            )
        last = (assignment, turn_of(row))
