"""Who plays a season: from what people type to what is recorded and who is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents import players
from goldrush.agents.competition.again import SeasonAgain
from goldrush.agents.competition.cast import (
    LISTED,
    SCRIPTED,
    Entry,
    cast_of,
    check_playable,
    models_in,
    with_models_decided,
)
from goldrush.agents.competition.change import changed_by
from goldrush.agents.competition.lab import Lab
from goldrush.agents.competition.limits import PROMPT_MAX
from goldrush.agents.competition.season import Season, replaced_in
from goldrush.agents.llm.models import LLM, Models
from goldrush.agents.llm.usage import Answers
from goldrush.agents.players import Asker, Players, Prepared, Seating
from goldrush.agents.trust import check_trust, own_among
from goldrush.kernel.competition import COMPETITION
from goldrush.kernel.competition.config import SeasonConfig, config_of
from goldrush.kernel.competition.events import ANSWERED
from goldrush.kernel.competition.state import GONE, SeasonState
from goldrush.kernel.errors import BadInput
from goldrush.kernel.run import OnUnit
from goldrush.kernel.world import Row


def record(
    path: str | Path,
    settings: Mapping[str, Any] | None = None,
    cast: Sequence[Entry] | None = None,
    *,
    models: Models | None = None,
    lab: Lab | None = None,
    force: bool = False,
    fsync: bool = False,
    on_assignment: OnUnit[SeasonState] | None = None,
) -> SeasonState:
    """Play a season into a journal and return the last state.

    `cast` as `cast.cast_of` gives it; everybody is scripted without, and the policies of somebody's
    own that it names are trusted. `lab`: to look at afterwards how many runs there were. Otherwise
    as agents.players.record.
    """
    who = CAST if lab is None else attrs.evolve(CAST, seated=partial(_seated, lab=lab))
    run = prepared(config_of(settings or {}), cast)
    return players.record(
        COMPETITION, who, path, run, models=models, force=force, fsync=fsync, on_unit=on_assignment
    )


def resume(
    path: str | Path, *, on_assignment: OnUnit[SeasonState] | None = None, **how: Any
) -> SeasonState:
    """Go on with a season that broke off: agents.players.resume."""
    return players.resume(COMPETITION, CAST, path, on_unit=on_assignment, **how)


def fork(
    parent: str | Path,
    at: int,
    out: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    treatment: str | None = None,
    roster: str | None = None,
    replace: Sequence[Mapping[str, Any]] = (),
    on_round: OnUnit[SeasonState] | None = None,
    **how: Any,
) -> SeasonState:
    """Play a season anew from the close of assignment `at` on (-1: from the start):
    agents.players.fork.

    `settings` are names and new values of SeasonConfig; `roster` says who is played by what from
    there on, `NAME=POLICY,...`; `replace` holds contributions as `export` prints them.
    """
    change = players.Change(settings or {}, treatment, roster, replace)
    return players.fork(COMPETITION, CAST, parent, at, out, change, on_unit=on_round, **how)


def prepared(config: SeasonConfig, cast: Sequence[Entry] | None = None) -> Prepared:
    """A season that can begin. Raises BadInput for what is no cast, or cannot play."""
    cast = list(cast or cast_of(config.workers))
    setup = {"config": config.as_dict(), "cast": cast}
    COMPETITION.initial(setup)  # refuses what is no cast
    trust = own_among(entry["policy"] for entry in cast)
    check_playable(cast, trust)
    return Prepared(setup, trust)


def _prepared(
    settings: Mapping[str, Any], roster: str | None, treatment: str | None, models: Models | None
) -> Prepared:
    if treatment is not None:
        raise BadInput("seasons have no treatments", "leave --treatment out")
    config = config_of(settings)
    return prepared(config, cast_of(config.workers, roster.split(",") if roster else (), models))


def _names(roster: str) -> list[str]:
    return list(dict.fromkeys(part.partition("=")[2] for part in roster.split(",")))


def _decided(setup: Mapping[str, Any], models: Models | None) -> Mapping[str, Any]:
    return {**setup, "cast": with_models_decided(setup["cast"], models)}


def _seated(seating: Seating[SeasonState], lab: Lab | None = None) -> Season:
    state, trust = seating.state, seating.trust
    for agent in state.agents.values():
        if agent.policy not in (SCRIPTED, LLM):
            check_trust(agent.policy, trust, agent.name)
    there = [a for a in state.agents.values() if a.status != GONE]
    if seating.probe:
        asked = [{"policy": agent.policy, "options": agent.options} for agent in there]
        with_models_decided(asked, seating.models)
    return Season(
        lab or Lab(state.config),
        replaced_in(seating.forks),
        chosen=models_in((agent.policy, agent.options) for agent in there),
        models=seating.models,
        earlier=seating.earlier,
        waiting=seating.waiting,
        trust=trust,
    )


def _again(
    trust: Sequence[str], sources: Sequence[str]
) -> Callable[[SeasonState, Sequence[Mapping[str, Any]]], Asker]:
    def asker(state: SeasonState, forks: Sequence[Mapping[str, Any]]) -> Asker:
        again = SeasonAgain(state, forks, trust)
        return Asker(again, again.not_asked, again.unknown, again.waiting)

    return asker


def _answer(row: Row) -> tuple[int, Any, Any, Mapping[str, Any] | None]:
    # Whoever joins a season plays as the one whose seat it takes, so the answer names its model.
    source = row[3] or {}
    return row[0], source.get("name"), source.get("error"), source


CAST: Final = Players[SeasonState](
    prepare=_prepared,
    names=_names,
    seated=_seated,
    again=_again,
    decided=_decided,
    change=changed_by,
    answers=Answers(ANSWERED, _answer, "ordinal", PROMPT_MAX),
    policies=LISTED,
    horizon="assignments",
)
