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
from goldrush.agents.replacements import parse_replacements
from goldrush.agents.roster import Roster, RosterPart
from goldrush.agents.seats import with_models_resolved
from goldrush.agents.trust import import_names
from goldrush.agents.worlds.competition.arenas import rules_of, with_program
from goldrush.agents.worlds.competition.cast import check_playable, recast, seated_in
from goldrush.agents.worlds.competition.script import spoken_in
from goldrush.agents.worlds.competition.seats import Seat, short_schema
from goldrush.agents.worlds.competition.treatments import TREATMENTS
from goldrush.kernel.errors import BadInput, BadPlan, format_value
from goldrush.kernel.forking import changes, place_of
from goldrush.kernel.treatments import treatment_named
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.competition import competition
from goldrush.kernel.worlds.competition.acts.act import TEXT_MAX
from goldrush.kernel.worlds.competition.acts.roundtable import CARRIES, is_formed
from goldrush.kernel.worlds.competition.events import CODES, Spoke
from goldrush.kernel.worlds.competition.fork import FORKS, turn_of
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import Status

_LAST: Final = 1 << 32  # an id above all others, to check the form before the id is known


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
    replaced = parse_replacements(
        competition(rules_of(state.arena)), (CODES[Spoke],), change.replace,
        lambda item, _: _resubmitted(state, item),
    )  # fmt: skip
    facts = {
        "changes": changes(state.config, config),
        "cast": _recast(state, parts, trusting, config.seed) if parts else None,
        "program": _program(state, resources),
        "replaced": sorted(replaced, key=lambda item: (item[0], turn_of(place_of(item)[2]))),
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
    state: SeasonState, parts: Sequence[RosterPart], resources: Resources, seed: int
) -> list[dict[str, Any]]:
    """The policies of everybody from the fork on, with the changes of `parts`."""
    models = resources.models
    cast = recast(list(map(Seat.of, state.agents.values())), parts, models, seed)
    check_playable(cast, resources.trust)
    return [
        {"ordinal": seat.agent, "policy": seat.policy, "options": seat.options}
        for seat in with_models_resolved(cast, models, short_schema)
    ]


def _resubmitted(state: SeasonState, item: Mapping[str, Any]) -> Row:
    """The row of a replaced contribution. Raises BadPlan, and KeyError for a missing field."""
    turns: dict[str, Sequence[int]] = {
        "table": range(2),
        "round": range(2 * state.config.rounds_max + 1),
        "agent": state.active(),
    }
    for name, there in turns.items():
        if item[name] not in there:
            raise BadPlan(f"{name} {format_value(item[name])} is none of {[*there]}")
    # Its id is set when it is played.
    row = spoken_in((item["table"], item["round"], 0, item["agent"]), {**item, "source": None})
    if not is_formed(row._replace(id=_LAST)):
        moves = "; ".join(
            f"{move}: {', '.join(names) or 'nothing'}" for move, names in CARRIES.items()
        )
        raise BadPlan(
            f"it does not have a valid form: words of at most {TEXT_MAX:,} characters, and the "
            f"fields of its move ({moves})"
        )
    return tuple(row)
