"""The changes of a fork of a season: settings, policies, and contributions of single turns.

A replaced contribution takes the place of the one in its turn. It must have a valid form, but may
be refused there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from goldrush.agents.llm.models import Models
from goldrush.agents.players import ForkChange, ResolvedChange, Resources
from goldrush.agents.roster import Roster, RosterPart
from goldrush.agents.seats import with_models_resolved
from goldrush.agents.trust import import_names
from goldrush.agents.worlds.competition.arenas import with_program
from goldrush.agents.worlds.competition.cast import check_playable, recast, seated_in
from goldrush.agents.worlds.competition.plain import plain
from goldrush.agents.worlds.competition.seats import Seat, short_schema
from goldrush.agents.worlds.competition.treatments import TREATMENTS
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.forking import changes
from goldrush.kernel.treatments import treatment_named
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.competition.acts.act import TEXT_MAX
from goldrush.kernel.worlds.competition.acts.roundtable import CARRIES, is_formed
from goldrush.kernel.worlds.competition.events import CODES, EVENTS, Spoke
from goldrush.kernel.worlds.competition.fork import FORKS, turn_of
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import Status

_KEYS: Final = ("event", "assignment", *EVENTS[CODES[Spoke]].fields)
_LAST: Final = 1 << 32  # an id above all others, to check the form before the id is known
_CARRIED: Final = ("move", "target", "conduct", "claim", "part", "because")


def changed_by(state: SeasonState, change: ForkChange, resources: Resources) -> ResolvedChange:
    """A change checked against a state. New models are asked a short question. Raises BadInput for
    an invalid change, and for a model that does not answer.
    """
    parts = seated_in(change.roster) if change.roster else []
    there = [agent.name for agent in state.agents.values() if agent.status != Status.GONE]
    gone = {agent.name for agent in state.agents.values()} - set(there)
    for part in parts:
        if part.seat in gone:
            raise BadInput(f"{part.seat} is gone at this fork", f"there are {', '.join(there)}")
    treated = treatment_named(TREATMENTS, change.treatment).settings
    settings = {**treated, **change.settings}
    config = FORKS.changed(state.config, settings, state.assignment)
    trust = import_names(part.name for part in parts)
    trusting = msgspec.structs.replace(resources, trust=[*resources.trust, *trust])
    facts = {
        "changes": changes(state.config, config),
        "cast": _recast(state, parts, trusting) if parts else None,
        "program": _program(state, resources),
        "replaced": sorted(
            (_replaced_turn(item, number, state) for number, item in enumerate(change.replace, 1)),
            key=lambda pair: (pair[0], turn_of(pair[1])),
        ),
    }
    return ResolvedChange(facts, Roster((), trust=trust))


def _program(state: SeasonState, resources: Resources) -> Mapping[str, Any] | None:
    """The options of the arena that another program changes; None if it is the same program."""
    program = resources.program
    if program is None:
        return None
    before, after = state.arena.options, with_program(state.arena, program).options
    changes = {name: value for name, value in after.items() if value != before[name]}
    if changes:
        warn = (resources.models or Models()).warn
        warn(f"{program} is not the program that tested so far; the fork names it")
    return changes or None


def _recast(
    state: SeasonState, parts: Sequence[RosterPart], resources: Resources
) -> list[dict[str, Any]]:
    """The policies of everybody from the fork on, with the changes of `parts`."""
    models = resources.models
    cast = recast(list(map(Seat.of, state.agents.values())), parts, models)
    check_playable(cast, resources.trust)
    return [
        {"ordinal": seat.agent, "policy": seat.policy, "options": seat.options}
        for seat in with_models_resolved(cast, models, short_schema)
    ]


def _most(state: SeasonState) -> dict[str, int]:
    """The greatest valid value of each field that names a turn."""
    return {
        "assignment": state.config.assignments - 1,
        "table": 1,
        "round": 2 * state.config.rounds_max,
        "agent": max(state.agents),
    }


def _replaced_turn(item: Mapping[str, Any], number: int, state: SeasonState) -> tuple[int, Row]:
    """(assignment, row) of a replaced contribution. `number`: its position in the list, from 1."""
    where = f"contribution {number}"
    if not isinstance(item, Mapping) or set(item) - set(_KEYS):
        raise BadInput(f"{where} is {format_value(item)}", f"give an object of {', '.join(_KEYS)}")
    if item.get("event", "spoke") != "spoke":
        raise BadInput(f"{where} is a {format_value(item['event'])} event", "give `spoke` events")
    for name, most in _most(state).items():
        if name not in item:
            raise BadInput(f"{where} has no {name}", f"give one from 0 to {most}")
        if type(item[name]) is not int or not 0 <= item[name] <= most:
            raise BadInput(f"{where} has {name} {format_value(item[name])}", f"give 0 to {most}")
    if item["agent"] not in state.active():
        workers = ", ".join(f"{at} ({state.agents[at].name})" for at in state.active())
        raise BadInput(
            f"{where}: agent {item['agent']} is not an active worker", f"there are {workers}"
        )
    carried = {name: plain(item.get(name)) for name in _CARRIED}
    row = Spoke(
        item["table"], item["round"], 0, item["agent"],  # the id is set when it is played
        words=plain(item.get("words", "")), source=None, **carried,
    )  # fmt: skip
    if not is_formed(row._replace(id=_LAST)):
        moves = "; ".join(
            f"{move}: {', '.join(names) or 'nothing'}" for move, names in CARRIES.items()
        )
        raise BadInput(
            f"{where} does not have a valid form",
            f"give words of at most {TEXT_MAX:,} characters, and the fields of its move ({moves})",
        )
    return item["assignment"], tuple(row)
