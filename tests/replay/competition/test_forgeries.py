"""Seasons whose rows somebody changed, under checksums that hold: every tool says what is wrong in
its own words, or tells the forged story; none falls over.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from goldrush.agents.competition.players import resume
from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.competition import COMPETITION
from goldrush.kernel.errors import GoldrushError
from goldrush.kernel.journal import UNIT, Commit, Header
from goldrush.kernel.world import Block
from goldrush.replay.competition.audit import audit_all
from goldrush.replay.competition.consequences import consequences
from goldrush.replay.competition.folder import as_files
from goldrush.replay.competition.leaderboard import standing
from goldrush.replay.competition.score import scores
from goldrush.replay.competition.summary import summarise
from goldrush.replay.diff import diff
from goldrush.replay.log import Query, log
from goldrush.replay.rebuild import rebuild
from goldrush.replay.story import narrator
from goldrush.replay.verify import verify
from tests.golden import SHORT, season_path
from tests.journals import commits_of, write

TRIES = 25
ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    7,
    2**63,
    0.5,
    "",
    "x" * 300,
    "\x1b[2J",
    (),
    (1, (2,)),
    {"a": 1},
]

TOOLS: dict[str, Callable[[Path], object]] = {
    "verify": verify,
    "rebuild": lambda path: rebuild(path, 2),
    "log": lambda path: list(narrator(path).chronicle(log(path, Query(agents=[5])))),
    "summary": summarise,
    "audit": lambda path: list(audit_all(path)),
    "score": lambda path: scores(path, 1, "ada"),
    "folder": lambda path: as_files(standing(path)),
    "diff": lambda path: consequences(diff(season_path(SHORT), path)),
    "resume": resume,
}


def forged(random: Random, commits: list[Commit]) -> list[Commit]:
    """The commits with one to three values in their rows changed, moved or left out."""
    found = list(commits)
    for _ in range(random.randint(1, 3)):
        place = random.choice([n for n, c in enumerate(found) if c.kind == UNIT and c.blocks])
        commit = found[place]
        blocks = [[(c, [list(r) for r in rows]) for c, rows in b] for b in commit.blocks]
        batches = random.choice([block for block in blocks if block])
        _, rows = random.choice(batches)
        row = random.choice(rows)
        if random.random() < 0.15:
            rows.remove(row)
        elif random.random() < 0.1:
            rows.append(list(row))
        else:
            row[random.randrange(len(row))] = random.choice(ODD)
        packed = [Block(unpack(pack([(c, r) for c, r in block if r]))) for block in blocks]
        found[place] = Commit(UNIT, commit.unit, commit.digest, packed)
    return found


@pytest.mark.parametrize("tool", TOOLS)
def test_a_forged_season_is_told_not_fallen_over(tool: str, tmp_path: Path) -> None:
    random = Random(tool)
    commits = commits_of(season_path(SHORT))
    header = Header(COMPETITION.name, COMPETITION.rules)
    refused = 0
    for _ in range(TRIES):
        path = write(tmp_path / "forged.journal", forged(random, commits), header)
        try:
            TOOLS[tool](path)
        except GoldrushError:
            refused += 1

    assert (tool == "verify") == (refused == 0)
