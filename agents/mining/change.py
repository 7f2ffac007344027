"""What a fork changes in a mining run: settings, who plays, submissions that are put in by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from goldrush.agents.llm.models import Models
from goldrush.agents.mining.roster import parse_roster, with_models_decided
from goldrush.agents.players import Change, Changed
from goldrush.kernel.errors import BadInput, BadPlan, shown
from goldrush.kernel.forking import changes
from goldrush.kernel.mining.config import MiningConfig
from goldrush.kernel.mining.fork import changed
from goldrush.kernel.mining.state import MiningState
from goldrush.kernel.mining.submit import resubmitted
from goldrush.kernel.mining.treatments import treatment_named
from goldrush.kernel.world import Row

_KEYS: Final = ("event", "round", "agent", "actions", "error", "say", "memo", "source")


def changed_by(state: MiningState, change: Change, models: Models | None) -> Changed:
    """What a fork records of a change. The models of a new roster are asked a short question.

    Raises BadInput for what cannot change in the middle of a run, for wrong settings, rosters and
    submissions, and for a model that does not answer.
    """
    config = _config(state, change.settings, change.treatment)
    facts: dict[str, Any] = {
        "changes": changes(state.config, config),
        "roster": None,
        "replaced": _replaced(change.replace, config),
    }
    if change.roster is None:
        return Changed(facts)
    roster = parse_roster(change.roster, state.config.agents, models)
    roster = with_models_decided(roster, state.config, models)
    facts["roster"] = roster.as_setup()
    return Changed(facts, roster.trust, [recording.path for recording in roster.recordings])


def _config(state: MiningState, settings: Mapping[str, Any], treatment: str | None) -> MiningConfig:
    if treatment is None:
        return changed(state.config, settings, state.round)
    named = treatment_named(treatment)
    config = changed(state.config, {**named.settings, **settings}, state.round)
    if named.derived is None:
        return config
    derived = named.derived(config)
    return changed(state.config, {**named.settings, **derived, **settings}, state.round)


def _replaced(items: Sequence[Mapping[str, Any]], config: MiningConfig) -> list[tuple[int, Row]]:
    """(round, row) of each submission, in the journal's order."""
    found = []
    for number, item in enumerate(items, 1):
        where = f"submission {number}"
        if not isinstance(item, Mapping) or set(item) - set(_KEYS):
            raise BadInput(f"{where} is {shown(item)}", f"give an object of {', '.join(_KEYS)}")
        if item.get("event", "submitted") != "submitted":
            raise BadInput(f"{where} is a {shown(item['event'])} event", "give submitted ones")
        if type(item.get("round")) is not int:
            raise BadInput(f"{where} has round {shown(item.get('round'))}", "give a whole number")
        try:
            found.append((item["round"], resubmitted(item, config)))
        except BadPlan as bad:
            raise BadInput(f"{where}: {bad}", "see `submitted` in an export") from None
    return sorted(found, key=lambda pair: (pair[0], pair[1][0]))
