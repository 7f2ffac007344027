"""The world of a season's journal, and the state before one of its assignments.

Tables are dropped from the state when their assignment closes. Tools that need one (audits, scores,
measures) look at the states within the assignment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from goldrush.agents.worlds.competition.arenas import UnknownArena, rules_of
from goldrush.kernel.errors import BadInput, UnsupportedJournal
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import World
from goldrush.kernel.worlds.competition import NAME, competition
from goldrush.kernel.worlds.competition.arena import Conduct, Rules, arena_of
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.replay.find import open_world


def world_of(setup: Mapping[str, Any]) -> World[SeasonState]:
    """The world of a season with this setup, by the arena that it records.

    If the arena is not installed, seasons can be read and folded, but not decided (World.missing).
    Never raises: an invalid record of an arena is refused by the world's `initial`.
    """
    try:
        record = setup["config"]["arena"]
    except (LookupError, TypeError):
        return competition(None, missing="it records no arena")
    try:
        return competition(rules_of(arena_of(record)))
    except UnknownArena as error:
        return competition(None, missing=str(error))
    except BadInput as error:
        refused = error

    def initial(setup: Mapping[str, Any]) -> SeasonState:
        raise refused

    return msgspec.structs.replace(competition(None), initial=initial)


def season_world(reader: JournalReader, *, judging: bool = False) -> World[SeasonState]:
    """The world of a season's journal. Raises BadInput for that of another world;
    UnsupportedJournal with `judging` if its arena is not installed.
    """
    name = reader.header.world
    if name != NAME:
        raise BadInput(f"{reader.path} is a run of the {name} world", "give a season")
    world = open_world(reader, world_of)
    if judging and world.missing is not None:
        raise UnsupportedJournal(reader.path, world.missing)
    return world


def conduct_text(conduct: Conduct, rules: Rules | None) -> str:
    """A conduct as text; as JSON if the arena is not installed."""
    said = json.dumps(conduct) if rules is None else rules.describe(conduct)
    return said if rules is None or _PLAIN.fullmatch(said) else json.dumps(said)


_PLAIN: Final = re.compile(r"[A-Za-z0-9 ,./%+()-]*", re.ASCII)  # text that needs no quotes
