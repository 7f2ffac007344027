"""The draws of a journal, each computed again from its key."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.kernel.errors import BadInput, GoldrushError, unknown
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import escaped
from goldrush.kernel.walk import ROWS, Walk
from goldrush.replay.find import open_world, tools_at, tools_of, typed
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.rebuild import walk_through
from goldrush.replay.journal.tie_break import DrawAudits, TieBreak
from goldrush.replay.tools import lacks

LISTED_MAX: Final = 20  # draws that do not hold


@reader_of
def draws(path: str | Path) -> Iterator[TieBreak]:
    """Every draw of a journal, in order.

    Raises BadInput for a world without draws; JournalError at the first commit that cannot be read,
    after the draws before it.
    """
    known = draws_of(path)
    with JournalReader(path) as reader:
        world = open_world(reader, tools_of(reader).world)
        yield from _audited(known, Walk(world, reader, ROWS))


@reader_of
def draws_at(
    path: str | Path, number: int, location: int | None = None, kind: str | None = None
) -> Sequence[TieBreak]:
    """The draws of a unit, by its public number, in order; None: of all locations or kinds. `kind`:
    also the name that the rules of a game give a draw, with all parts of its key or the first.

    Raises BadInput for an unknown unit or kind, and if nothing was decided there; JournalError if
    the journal cannot be read.
    """
    known, tools = draws_of(path), tools_at(path)
    with JournalReader(path) as reader:
        world = open_world(reader, tools.world)
        noun = world.vocabulary.location
        found = list(_audited(known, walk_through(world, reader, number)))
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
    unit = f"{world.vocabulary.unit} {number}"
    listed = ", ".join(dict.fromkeys(f"{each.kind} {each.occasion.where}" for each in found[:5]))
    instead = f"it has {listed}" if listed else f"give another {world.vocabulary.unit}"
    raise BadInput(f"{path} has no {what}{where} in {unit}", instead)


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


@attrs.frozen
class Recheck:
    """The result of the audit of a journal, as far as it can be read.

    Attributes:
        path: the journal.
        checked: the number of draws by kind.
        drawn: the number of those that took a draw word.
        broken: the draws that do not hold.
        error: the error that ended the reading; None at the end of the journal.
    """

    path: str
    checked: Mapping[str, int]
    drawn: int
    broken: Sequence[TieBreak]
    error: str | None

    @property
    def holds(self) -> bool | None:
        """Whether all hold; None where none is broken, but not all could be read."""
        if self.broken:
            return False
        return True if self.error is None else None

    def __str__(self) -> str:
        broken = self.broken
        kinds = [f"{count:,} of kind {kind}" for kind, count in self.checked.items()]
        as_far = ", as far as it can be read" if self.error else ""
        says = f"{len(broken):,} DO NOT HOLD" if broken else f"all hold{as_far}"
        counts = ", ".join(kinds) or "nothing to draw"
        lines = [f"{escaped(self.path)}: {counts}; {self.drawn:,} needed a draw; {says}"]
        lines += [
            f"  {bad.kind} {bad.occasion.where}: recorded {bad.format_outcome(bad.outcome)} "
            f"with {', '.join(bad.draw_words) or 'no words'}, the key gives {bad.format_again()}"
            for bad in broken[:LISTED_MAX]
        ]
        if len(broken) > LISTED_MAX:
            lines.append(f"  and {len(broken) - LISTED_MAX} more; --json has all")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "holds": self.holds,
            "error": self.error,
            "checked": dict(self.checked),
            "drawn": self.drawn,
            "broken": [one.as_dict() for one in self.broken],
        }


def recheck(path: str | Path) -> Recheck:
    """Audit every draw of a journal. Raises nothing: errors of reading, and a world without draws,
    are in the result's `error`.
    """
    checked: Counter[str] = Counter()
    drawn = 0
    broken = []
    error = None
    try:
        for audited in draws(path):
            checked[audited.kind] += 1
            drawn += bool(audited.draw_words)
            if not audited.holds:
                broken.append(audited)
    except GoldrushError as trouble:
        error = str(trouble)
    return Recheck(os.fspath(path), checked, drawn, broken, error)
