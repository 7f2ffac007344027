"""Submissions that a fork replaces: as a user gives them, and as forks record them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from goldrush.agents.players import Facts, S
from goldrush.kernel.errors import BadInput, BadPlan, format_value
from goldrush.kernel.forking import Replacement, place_of
from goldrush.kernel.world import Row, World

# The replaced submissions of a run: (unit, step) -> agent -> row.
ReplacedByStep = Mapping[tuple[int, int], Mapping[int, Row]]
# Makes the row of a submission of an event, by its code, from what a user gives. Raises BadPlan,
# and KeyError for a missing field.
Resubmit = Callable[[Mapping[str, Any], int], Row]


def replaced_in(forks: Sequence[Facts]) -> ReplacedByStep:
    """The replaced submissions of all forks; a later fork overrides an earlier one."""
    replaced: dict[tuple[int, int], dict[int, Row]] = {}
    for facts in forks:
        for unit, step, row in map(place_of, facts["replaced"]):
            replaced.setdefault((unit, step), {})[row[0]] = row
    return replaced


def parse_replacements(
    world: World[S],
    codes: Sequence[int | None],
    items: Sequence[Mapping[str, object]],
    resubmit: Resubmit,
) -> list[Replacement]:
    """The submissions that a user gives in place of recorded ones, as a fork's facts hold them.
    Raises BadInput.

    Args:
        codes: by step of a unit, the code of the event of a submission; None: nobody submits.
    """
    unit, has_steps = world.vocabulary.unit, len(codes) > 1
    events = {world.events[code].name: code for code in codes if code is not None}
    replaced: list[tuple[int, int, Row]] = []
    for number, item in enumerate(items, 1):
        where = f"submission {number}"
        given = item if isinstance(item, Mapping) else {}
        name = given.get("event", next(iter(events)) if len(events) == 1 else None)
        if type(name) is not str or name not in events:
            listed = " or ".join(events)
            raise BadInput(f"{where} is a {format_value(name)} event", f"give {listed} ones")
        code, see = events[name], f"see `{name}` in an export"
        event = world.events[code]
        keys = ("event", unit, *(["step"] if has_steps else []), *event.fields)
        if not given or set(given) - set(keys):
            raise BadInput(
                f"{where} is {format_value(item)}", f"give an object of {', '.join(keys)}"
            )
        if type(at := item.get(unit)) is not int:
            raise BadInput(f"{where} has {unit} {format_value(at)}", "give a whole number")
        try:
            row = resubmit(item, code)
        except BadPlan as bad:
            raise BadInput(f"{where}: {bad}", see) from None
        except KeyError as error:
            raise BadInput(f"{where} has no {error.args[0]}", see) from None
        if fault := event.fault(row):
            raise BadInput(f"{where}: {fault}", see)
        step = _step_of(codes, item, code, where) if has_steps else 0
        replaced.append((at, step, row))
    replaced.sort(key=lambda placed: (*placed[:2], placed[2][0]))
    return [*replaced] if has_steps else [(number, row) for number, _, row in replaced]


def _step_of(codes: Sequence[int | None], item: Mapping[str, object], code: int, where: str) -> int:
    """The number of the step of a submission that is given. Raises BadInput."""
    steps = [step for step, submitted in enumerate(codes) if submitted == code]
    given = item.get("step", steps[0] if len(steps) == 1 else None)
    if type(given) is not int or given not in steps:
        listed = " or ".join(map(str, steps))
        raise BadInput(f"{where} has step {format_value(given)}", f"give {listed}")
    return given
