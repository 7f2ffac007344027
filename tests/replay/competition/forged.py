"""A season in which nearly everything occurs, and journals of it whose events somebody forged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgpack

from goldrush.agents.competition.players import record
from goldrush.kernel import fold
from goldrush.kernel.codec import pack
from goldrush.kernel.competition import COMPETITION
from goldrush.kernel.journal import START, UNIT, Commit, Header, JournalReader, JournalWriter
from goldrush.kernel.world import Block, Event
from tests.journals import commits_of

RICH: dict[str, Any] = {
    "seed": 0, "assignments": 14, "test_agents": 4, "test_rounds": 4, "test_seeds": 1,
    "assistant_stages": (2, 4, 7, 30), "judge_stages": (1, 2, 30), "therapist_stages": (2, 4, 30),
    "sparks_start": 4,
}  # fmt: skip

Change = Callable[[list[Any]], None]


def rich(folder: Path) -> Path:
    """A season with two tables at once, drawn and given orders, ties, and comings and goings."""
    record(folder / "rich.journal", RICH)
    return folder / "rich.journal"


def events_of(path: Path) -> list[Event]:
    with JournalReader(path) as reader:
        return list(fold.events(COMPETITION, reader))


def forged(path: Path, commits: Sequence[Commit]) -> Path:
    """A season of these commits whose checksums and digests hold, whatever its events are."""
    state: Any = None
    under_way = fold.Steps(COMPETITION.arrange)
    with JournalWriter(path, Header(COMPETITION.name, COMPETITION.rules), force=True) as journal:
        for commit in commits:
            again = Commit(commit.kind, commit.unit, commit.digest, commit.blocks, commit.setup)
            if commit.kind == START:
                state = COMPETITION.initial(commit.setup or {})
            elif commit.kind == UNIT:
                state = fold.apply(COMPETITION, str(path), state, commit, under_way)
            if commit.digest is not None:
                again.digest = COMPETITION.digest(state)
            journal.append(again)
    return path


def changed(
    path: Path,
    code: int,
    assignment: int,
    change: Change,
    *,
    is_meant: Callable[[list[Any]], bool] = lambda row: True,
) -> list[Commit]:
    """The commits of a season with the rows of one type in an assignment changed: each that is
    meant. A row that is emptied is left out, and `change` may put rows in its place as a list.
    """
    commits = commits_of(path)
    for place, commit in enumerate(commits):
        if commit.kind == UNIT and commit.unit == assignment + 1:
            blocks = [_changed(block, code, change, is_meant) for block in commit.blocks]
            commits[place] = Commit(UNIT, commit.unit, commit.digest, blocks)
    return commits


def _changed(
    block: Block, code: int, change: Change, is_meant: Callable[[list[Any]], bool]
) -> Block:
    batches = [(c, [list(row) for row in rows]) for c, rows in block]
    for c, rows in batches:
        for row in rows:
            if c == code and is_meant(row):
                change(row)
    packed = pack([(c, [row for row in rows if row]) for c, rows in batches])
    return Block(msgpack.unpackb(packed, use_list=False))


def with_row(path: Path, assignment: int, code: int, row: Sequence[Any]) -> list[Commit]:
    """The commits with one more derived event at the end of an assignment."""
    commits = commits_of(path)
    [place] = [n for n, c in enumerate(commits) if c.kind == UNIT and c.unit == assignment + 1]
    commit = commits[place]
    last = [*commit.blocks[-1].batches, (code, [tuple(row)])]
    commits[place] = Commit(UNIT, commit.unit, commit.digest, [*commit.blocks[:-1], Block(last)])
    return commits
