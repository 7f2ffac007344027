"""Seasons whose rows somebody changed, under checksums that hold: every tool says what is wrong in
its own words, or tells the forged story; none falls over.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.errors import GoldrushError
from goldrush.kernel.journal import UNIT, Commit
from goldrush.kernel.world import Block
from goldrush.replay.journal.consequences import consequences
from goldrush.replay.journal.diff import diff
from goldrush.replay.journal.draws import draws
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.story import narrator
from goldrush.replay.journal.verify import verify
from goldrush.replay.summary import summarise
from goldrush.replay.worlds.competition.leaderboard import as_files, season_at
from goldrush.replay.worlds.competition.score import scores
from tests.journals import commits_of, write
from tests.seasons import HEADER, resume, small

TRIES = 25
ODD: list[Any] = [
    None, True, -1, 0, 7, 2**63, 0.5, "", "x" * 300, "\x1b[2J", (), (1, (2,)), {"a": 1},
]  # fmt: skip

TOOLS: dict[str, Callable[[Path, Path], object]] = {
    "verify": lambda path, sound: verify(path),
    "rebuild": lambda path, sound: rebuild(path, 2),
    "log": lambda path, sound: list(narrator(path)(log(path, Query(agents=[5])))),
    "summary": lambda path, sound: summarise(path),
    "audit": lambda path, sound: list(draws(path)),
    "score": lambda path, sound: scores(path, 1, 5),
    "folder": lambda path, sound: as_files(season_at(path)),
    "diff": lambda path, sound: consequences(diff(sound, path)),
    "resume": lambda path, sound: resume(path),
}


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small(tmp_path_factory.mktemp("seasons") / "s.journal", assignments=3)


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
def test_a_forged_season_is_told_not_fallen_over(tool: str, season: Path, tmp_path: Path) -> None:
    random = Random(tool)
    commits = commits_of(season)
    refused = 0
    for _ in range(TRIES):
        path = write(tmp_path / "forged.journal", forged(random, commits), HEADER)
        try:
            TOOLS[tool](path, season)
        except GoldrushError:
            refused += 1

    assert (tool == "verify") == (refused == 0)
