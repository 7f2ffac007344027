"""Journals whose strings name a module that leaves a mark when it is imported.

Whatever names a policy is such a string: the roster of a run, the cast of a season, a conduct that
somebody proposed. All stand under checksums and digests that hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from goldrush.agents.players import RunContext
from goldrush.agents.worlds.competition.arenas import opened_tests
from goldrush.agents.worlds.competition.bench import Request, Result, Tests
from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.agents.worlds.competition.play import session_of
from goldrush.agents.worlds.competition.players import configured, prepared
from goldrush.kernel import run
from goldrush.kernel.journal import START, Commit, JournalWriter
from goldrush.kernel.world import Row, World
from goldrush.kernel.worlds.competition.events import CODES, Spoke
from goldrush.replay.find import tools_for
from tests.journals import commits_of, forged
from tests.seasons import HEADER

SENTINEL = "sentinel:run"
SETTINGS = {"assignments": 2, "seed": 2, "arena": "mining[agents=4;rounds=6;seeds=1]"}
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


class _Credulous:
    """Tests that have a value for the conduct that cannot be played."""

    def __init__(self, tests: Tests) -> None:
        self.bench = tests.bench
        self._tests = tests

    def values(self, requests: Sequence[Request]) -> list[Result]:
        return [
            (9e9, tuple((seed, 0) for seed in one.seeds))
            if SENTINEL in one.conduct
            else self._tests.values([one])[0]
            for one in requests
        ]

    def close(self) -> None:
        self._tests.close()


def season(path: Path) -> Path:
    """A sound season."""
    return _recorded(path, [])


def proposed_in(path: Path, parent: Path) -> Path:
    """That season as rules would have it that allow any conduct: one in FORGED_IN names the module,
    and is tested, amended and remembered from there on.
    """
    said = next(said for said in _said(parent, FORGED_IN) if said.move == "propose")
    wrong = said._replace(conduct=(SENTINEL, None, 0, said.conduct[3]))
    with patch(
        "goldrush.kernel.worlds.competition.acts.roundtable.is_conduct", lambda state, value: True
    ):
        return _recorded(path, [(FORGED_IN, tuple(wrong))])


def _said(path: Path, assignment: int) -> Iterator[Spoke]:
    for commit in commits_of(path):
        if commit.unit == assignment + 1:
            for block in commit.blocks[::2]:
                yield from map(Spoke._make, block.rows(CODES[Spoke]))


def _recorded(path: Path, replaced: Sequence[tuple[int, Row]]) -> Path:
    setup = prepared(configured(SETTINGS), cast_of(6, ["random"])).setup
    world = tools_for("competition").world(setup)
    tests: Any = _Credulous(opened_tests(world.initial(setup).arena))
    with JournalWriter(path, HEADER) as journal:
        state = world.initial(setup)
        context = RunContext(state, [{"replaced": replaced}])
        run.last_of(run.steps(world, setup, journal, state=state, ask=session_of(context, tests)))
    return path
