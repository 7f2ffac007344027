"""The draws of a journal, each computed again from its key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from goldrush.kernel.errors import BadInput, unknown
from goldrush.kernel.walk import ROWS, Walk
from goldrush.replay.find import open_world, tools_at, typed
from goldrush.replay.journal.forged import reading
from goldrush.replay.journal.rebuild import walk_through
from goldrush.replay.journal.tie_break import DrawAudits, TieBreak
from goldrush.replay.tools import lacks


def draws_at(
    path: str | Path,
    number: int | None = None,
    location: int | None = None,
    kind: str | None = None,
) -> Sequence[TieBreak]:
    """The draws of a unit, by its public number, in order; None: of all units, locations or kinds.
    `kind`: also the name that the rules of a game give a draw, with all parts of its key or the
    first.

    Raises BadInput for an unknown unit or kind, and if nothing was decided there; JournalError if
    the journal cannot be read.
    """
    known, tools = draws_of(path), tools_at(path)
    with reading(path) as reader:
        world = open_world(reader, tools.world)
        noun = world.vocabulary.location
        through = None if number is None else walk_through(world, reader, number)
        found = list(_audited(known, through or Walk(world, reader, ROWS)))
    wanted = None if kind is None else ", ".join(part.strip() for part in kind.split(","))
    matching = [
        draw for draw in found
        if wanted in (None, *draw.occasion.kinds)
        and location in (None, draw.location.get(noun))
    ]  # fmt: skip
    if matching:
        return matching
    named = [draw.occasion.name.replace(", ", ",") for draw in found if draw.occasion.name]
    if kind is not None and kind not in known.kinds:
        raise unknown("kind of draw", kind, [*known.kinds, *dict.fromkeys(named)])
    what = "draw" if kind is None else f"draw of kind {kind}"
    where = "" if location is None else f" at {noun} {location}"
    unit = "" if number is None else f" in {world.vocabulary.unit} {number}"
    listed = ", ".join(dict.fromkeys(f"{each.kind} {each.occasion.where}" for each in found[:5]))
    instead = f"it has {listed}" if listed else f"give another {world.vocabulary.unit}"
    raise BadInput(f"{path} has no {what}{where}{unit}", instead)


def draws_of(path: str | Path) -> DrawAudits[Any]:
    """How the draws of a journal's world are computed again. Raises BadInput for a world without
    draws.
    """
    tools = tools_at(path)
    if tools.draws is None:
        again = f"`goldrush verify {typed(path)}` derives every event again"
        raise lacks(tools, path, "draws to audit", again)
    return tools.draws


def _audited(known: DrawAudits[Any], walk: Walk[Any]) -> Iterator[TieBreak]:
    for _, step, state in walk.steps():
        for code, rows in step.derived if step else ():
            if code in known.audits:
                yield from (known.audits[code](state, row) for row in rows)
