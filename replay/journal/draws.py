"""Audits for worlds in which one event holds one draw and everything needed to audit it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from goldrush.kernel.journal import JournalReader
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import Row, World
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.tie_break import TieBreak

S = TypeVar("S")


@reader_of
def draws_in(
    path: str | Path, world: World[S], code: int, of: Callable[[S, int, Row], TieBreak]
) -> Iterator[TieBreak]:
    """The draws of a journal, in order, for `Tools.draws`. `code`: the code of the events that hold
    a draw; `of`: `of(state, unit, row)`, the audit of a draw from the state after the commit of its
    event, the public number of its unit, and its row.
    """
    with JournalReader(path) as reader:
        for commit, state in Walk(world, reader):
            for block in commit.blocks[1::2]:
                for row in block.rows(code):
                    yield of(state, world.vocabulary.number(commit.unit), row)
