"""Journals whose strings name a module that leaves a mark when it is imported.

Whatever names a policy is such a string: the roster of a run, the cast of a season, a conduct that
somebody proposed. All stand under checksums and digests that hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from goldrush.agents.competition.lab import Lab

from goldrush.agents.competition.cast import cast_of
from goldrush.agents.competition.script import Replaced
from goldrush.agents.competition.season import Season
from goldrush.kernel import run
from goldrush.kernel.competition import COMPETITION
from goldrush.kernel.competition.config import config_of
from goldrush.kernel.competition.events import SPOKE
from goldrush.kernel.journal import START, UNIT, Commit, Header, JournalWriter
from goldrush.kernel.world import Row, World
from tests.journals import commits_of, forged

SENTINEL = "sentinel:run"
SETTINGS = {"assignments": 2, "seed": 2, "test_agents": 4, "test_rounds": 6, "test_seeds": 1}
FORGED_IN = 1  # the assignment in which somebody proposes it


def leave(folder: Path) -> Path:
    """Write the module into a folder; returns the mark that it leaves."""
    mark = folder / "mark"
    (folder / "sentinel.py").write_text(
        f"open({str(mark)!r}, 'w').close()\n"
        "class run:\n"
        "    def plan(self, seen, draws):\n"
        "        return []\n"
    )
    return mark


def played_by_it(path: Path, parent: Path, world: World[Any], who: Sequence[int]) -> Path:
    """A run that has not ended, whose START says that these agents play it."""
    start, *rest = commits_of(parent)
    assert start.kind == START
    players = world.vocabulary.players
    setup = {**(start.setup or {})}
    setup[players] = [
        {**entry, "policy": SENTINEL if number in who else entry["policy"]}
        for number, entry in enumerate(setup[players])
    ]
    return forged(path, world, [Commit(START, 0, 0, setup=setup), *rest[:-1]])


class _Credulous(Lab):
    """Has a value for the conduct that cannot be played."""

    def value(self, conduct: Any, treatment: str, objective: str, seeds: Sequence[int]) -> Any:
        if SENTINEL in conduct:
            return 0.25, tuple((seed, 0) for seed in seeds)
        return super().value(conduct, treatment, objective, seeds)


def season(path: Path) -> Path:
    """A sound season."""
    return _recorded(path, None)


def proposed_in(path: Path, parent: Path) -> Path:
    """That season as rules would have it that allow any conduct: one in FORGED_IN names the module,
    and is tested, amended and remembered from there on.
    """
    row = next(row for row in _said(parent, FORGED_IN) if row[4] == "propose")
    wrong = (*row[:6], (SENTINEL, None, 0, row[6][3]), *row[7:])
    place = (FORGED_IN, row[0], row[1], row[3])
    with patch("goldrush.kernel.competition.acts.is_canonical", lambda conduct, treatment: True):
        return _recorded(path, {place: wrong})


def cuts_of(path: Path, folder: Path) -> Iterator[Path]:
    """Journals that break off after the conduct was proposed: after each step of that assignment,
    and after the inputs of each, which then wait.
    """
    commits = commits_of(path)
    [at] = [commit.index for commit in commits if commit.unit == FORGED_IN + 1 and commit.digest]
    blocks = commits[at].blocks
    first = next(
        place for place, block in enumerate(blocks)
        if any(SENTINEL in (row[6] or ()) for row in block.rows(SPOKE))
    )  # fmt: skip
    for count in range(first + 1, len(blocks)):
        part = Commit(UNIT, FORGED_IN + 1, None, blocks[:count])
        yield forged(folder / f"{count}.journal", COMPETITION, [*commits[:at], part])


def _said(path: Path, assignment: int) -> Iterator[Row]:
    for commit in commits_of(path):
        if commit.unit == assignment + 1:
            for block in commit.blocks[::2]:
                yield from block.rows(SPOKE)


def _recorded(path: Path, replaced: Replaced | None) -> Path:
    config = config_of(SETTINGS)
    setup = {"config": config.as_dict(), "cast": cast_of(config.workers)}
    with JournalWriter(path, Header(COMPETITION.name, COMPETITION.rules)) as journal:
        run.record(COMPETITION, setup, Season(_Credulous(config), replaced), journal)
    return path
