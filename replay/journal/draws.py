"""Audits for worlds in which one event holds one draw and everything needed to audit it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import Row, World
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.tie_break import TieBreak
from goldrush.replay.tools import TieBreaks

S = TypeVar("S")


def draws_of(
    world: World[S], code: int, kind: str, of: Callable[[S, int, Row], TieBreak]
) -> TieBreaks:
    """The `TieBreaks` of a world whose draws have one kind.

    Args:
        code: the code of the events that hold a draw.
        of: `of(state, unit, row)`, the audit of a draw from the state after the commit of its
            event, the public number of its unit, and its row.
    """
    vocabulary = world.vocabulary

    @reader_of
    def every(path: str | Path) -> Iterator[TieBreak]:
        with JournalReader(path) as reader:
            for commit, state in Walk(world, reader):
                for block in commit.blocks[1::2]:
                    for row in block.rows(code):
                        yield of(state, vocabulary.number(commit.unit), row)

    def at(path: str | Path, unit: int, location: int | None, kind: str | None) -> list[TieBreak]:
        found = [one for one in every(path) if one.location[vocabulary.unit] == unit]
        if not found:
            problem = f"{path} has no draw in {vocabulary.unit} {unit}"
            raise BadInput(problem, f"give a {vocabulary.unit} that was played")
        return found

    return TieBreaks("", [kind], at, every)
