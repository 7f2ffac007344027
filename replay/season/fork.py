"""Counterfactuals of a season: up to an assignment as it was, from there on otherwise.

As for mining (see replay/fork.py) the new journal has its parent's bytes, a `forked` event with
what changes, and the rest played anew. What somebody says can be put in by hand: one contribution
in the place of what would have been said in that turn, legal or not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from agents.llm.models import Models
from agents.season.cast import assign, check_playable
from agents.season.plain import plain
from agents.season.play import OnAssignment, Season, season_of, with_models_decided
from agents.trust import own_among
from kernel import run
from kernel.competition import COMPETITION
from kernel.competition.events import EVENTS, SPOKE
from kernel.competition.fork import changed, turn_of
from kernel.competition.state import SeasonState
from kernel.errors import BadInput, shown
from kernel.files import check_place, is_empty
from kernel.forking import changes
from kernel.journal import JournalReader
from kernel.world import Block, Row
from replay.forged import reader_of

_KEYS: Final = ("event", "assignment", *EVENTS[SPOKE].fields)
_SAID: Final = ("move", "target", "conduct", "claim", "part", "words")


@reader_of
def fork(
    parent: str | Path,
    at: int,
    out: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    treatment: str | None = None,
    roster: str | None = None,
    replace: Sequence[Mapping[str, Any]] = (),
    models: Models | None = None,
    trust: Sequence[str] = (),
    sources: Sequence[str] = (),
    force: bool = False,
    fsync: bool = False,
    on_round: OnAssignment | None = None,
) -> SeasonState:
    """Play a season anew from the close of assignment `at` on (-1: from the start), and return the
    last state.

    `settings` are names and new values of SeasonConfig; `roster` says who is played by what from
    there on, `NAME=POLICY,...`; `replace` holds contributions as `export` prints them. Raises
    BadInput, before anything is written, for what a fork cannot change, and as `record` does.
    """
    if treatment is not None or sources:
        raise BadInput(
            f"{parent} is a season: it has neither treatments nor recorded players",
            "leave --treatment and --source out",
        )
    # Before a model is asked anything.
    check_place(str(out), force=force, is_own=is_empty, is_journal=True)
    parts = roster.split(",") if roster else []
    trusted = [*trust, *own_among(part.partition("=")[2] for part in parts)]

    def facts_of(state: SeasonState) -> dict[str, Any]:
        config = changed(state.config, settings or {}, state.assignment)
        return {
            "parent": reader.sha256(),
            "changes": changes(state.config, config),
            "cast": _recast(state, parts, models, trusted) if parts else None,
            "replaced": sorted(
                (_replaced(item, number, state) for number, item in enumerate(replace, 1)),
                key=lambda pair: (pair[0], turn_of(pair[1])),
            ),
        }

    with JournalReader(parent, hashed=True) as reader, ExitStack() as stack:

        def ask_of(
            state: SeasonState, forks: Sequence[Mapping[str, Any]], waiting: Block
        ) -> Season:
            return stack.enter_context(season_of(state, forks, waiting, models, trust=trusted))

        unit = COMPETITION.vocabulary.unit_of(at)
        return run.fork(
            COMPETITION, reader, unit, facts_of, ask_of, out, on_round, force=force, fsync=fsync
        )


def _recast(
    state: SeasonState, parts: Sequence[str], models: Models | None, trust: Collection[str]
) -> list[dict[str, Any]]:
    """Who plays by what from here on: everybody, with what `parts` changes."""
    cast = [
        {name: getattr(agent, name) for name in ("ordinal", "name", "role", "policy", "options")}
        for agent in state.agents.values()
    ]
    assign(cast, parts, models)
    check_playable(cast, trust)
    fields = ("ordinal", "policy", "options")
    cast = [{name: entry[name] for name in fields} for entry in cast]
    return with_models_decided(cast, models)


def _most(state: SeasonState) -> dict[str, int]:
    """The last of what there can be of each part of a turn."""
    return {
        "assignment": state.config.assignments - 1,
        "table": 1,
        "round": 2 * state.config.rounds_max,
        "agent": max(state.agents),
    }


def _replaced(item: Mapping[str, Any], number: int, state: SeasonState) -> tuple[int, Row]:
    """(assignment, row) of a contribution as somebody gave it."""
    where = f"contribution {number}"
    if not isinstance(item, Mapping) or set(item) - set(_KEYS):
        raise BadInput(f"{where} is {shown(item)}", f"give an object of {', '.join(_KEYS)}")
    if item.get("event", "spoke") != "spoke":
        raise BadInput(f"{where} is a {shown(item['event'])} event", "give `spoke` events")
    for name, most in _most(state).items():
        if name not in item:
            raise BadInput(f"{where} has no {name}", f"give one from 0 to {most}")
        if type(item[name]) is not int or not 0 <= item[name] <= most:
            raise BadInput(f"{where} has {name} {shown(item[name])}", f"give 0 to {most}")
    if item["agent"] not in state.active():
        workers = ", ".join(f"{at} ({state.agents[at].name})" for at in state.active())
        raise BadInput(
            f"{where}: agent {item['agent']} is no active worker", f"there are {workers}"
        )
    said = [plain(item.get(name)) for name in _SAID[:-1]]
    place = (item["table"], item["round"], 0, item["agent"])  # its id follows from what comes first
    return item["assignment"], (*place, *said, plain(item.get("words", "")), None)
