"""The world of a season's journal, and the state before one of its assignments.

Tables are dropped from the state when their assignment closes. Tools that need one (audits, scores,
measures) look at the states within the assignment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.worlds.competition.arenas import UnknownArena, rules_of
from goldrush.kernel import fold
from goldrush.kernel.errors import BadInput, UnsupportedJournal
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import Step, World
from goldrush.kernel.worlds.competition import competition
from goldrush.kernel.worlds.competition.arena import Conduct, Rules, arena_of
from goldrush.kernel.worlds.competition.events import CODES, Scored, named
from goldrush.kernel.worlds.competition.evolve import acts_in, apply, refused_in
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.replay.find import open_world
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.rebuild import walk_through

_SCORED: Final = CODES[Scored]


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

    return attrs.evolve(competition(None), initial=initial)


def season_world(reader: JournalReader, *, judging: bool = False) -> World[SeasonState]:
    """The world of a season's journal. Raises UnsupportedJournal with `judging` if its arena is not
    installed.
    """
    world = open_world(reader, world_of)
    if judging and world.missing is not None and reader.header.world == world.name:
        raise UnsupportedJournal(reader.path, world.missing)
    return world


def conduct_text(conduct: Conduct, rules: Rules | None) -> str:
    """A conduct as text; as JSON if the arena is not installed."""
    said = json.dumps(conduct) if rules is None else rules.describe(conduct)
    return said if rules is None or _PLAIN.fullmatch(said) else json.dumps(said)


_PLAIN: Final = re.compile(r"[A-Za-z0-9 ,./%+()-]*", re.ASCII)  # text that needs no quotes


@reader_of
def state_before_scores(path: str | Path, assignment: int) -> tuple[SeasonState, Sequence[Scored]]:
    """The state of a closed assignment, from 0, when its debrief is judged, with the ratings; and
    the scores.

    Raises:
        UnsupportedJournal: if the arena is not installed.
        BadInput: if there is no such closed assignment.
        JournalError: if the journal cannot be read.
        MalformedEvents: if the assignment has no scores.
    """
    with JournalReader(path) as reader:
        world = season_world(reader, judging=True)
        walk = walk_through(world, reader, assignment)
        before = walk.state.copy()
        for _, step, after in walk.steps():
            rows = step.derived.rows(_SCORED) if step else ()
            if step and rows:
                return _with_acts(before, step), [named(_SCORED, row) for row in rows]
            before = after.copy()
        raise fold.malformed(world, reader.path, walk.commit, ValueError("nobody is scored"))


def _with_acts(state: SeasonState, step: Step) -> SeasonState:
    """The state after the acts of a step that were not refused."""
    refused = refused_in(step.derived)
    for index, (code, row) in enumerate(acts_in(step.inputs.batches)):
        if index not in refused:
            apply(state, code, row)
    return state
