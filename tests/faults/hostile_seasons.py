"""Forged seasons read by everything: `python -m tests.faults.hostile_seasons`.

As tests/faults/hostile.py for mining runs. There are many types of events and many readers, so each
forged file is read by some of them, drawn from its number.
"""

from __future__ import annotations

import json
import random
import resource
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs

from goldrush.kernel import fold
from goldrush.kernel.errors import GoldrushError, WriteFailed
from goldrush.kernel.journal import FORK, START, Commit, JournalReader
from goldrush.kernel.world import World
from goldrush.kernel.worlds.competition.events import EVENTS
from goldrush.replay.find import open_world
from goldrush.replay.journal.consequences import consequences
from goldrush.replay.journal.diff import diff
from goldrush.replay.journal.draws import draws, draws_at
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.story import narrator
from goldrush.replay.journal.usage import usage
from goldrush.replay.journal.verify import verify
from goldrush.replay.summary import summarise
from goldrush.replay.worlds.competition.leaderboard import export, season_at
from goldrush.replay.worlds.competition.prompt import prompted
from goldrush.replay.worlds.competition.score import scores
from tests.faults import forge
from tests.faults.commands import typed
from tests.faults.journals import fast_folder
from tests.faults.sampling import ALL
from tests.seasons import fork, kept, resume

MEMORY = 2 << 30  # bytes of address space
READERS, COMMANDS = 6, 3  # that read each forged file
SAMPLE = 40  # of the forged files


@attrs.frozen(eq=False)
class Season:
    """A season, to be forged; `world`: that it is of."""

    data: bytes
    commits: list[Commit]
    world: World[Any]


def season(name: str) -> Season:
    """A season of tests.seasons."""
    path = kept(name)
    with JournalReader(path) as reader:
        return Season(path.read_bytes(), list(reader), open_world(reader))


def forgeries() -> Iterator[tuple[Season, forge.Maker]]:
    """Every row and setup of a season, forged."""
    rich, forked, asked = season("rich"), season("forked"), season("asked")
    for code, event in enumerate(EVENTS):
        sound = next((s for s in (rich, asked, forked) if _has(s, code)), None)
        if sound is None:
            raise LookupError(f"no season has {event.name}")
        for maker in forge.event_makers(sound, code, forge.FEW | forge.PLAUSIBLE):
            yield sound, maker
    for sound, kind in ((rich, START), (asked, START), (forked, FORK)):
        for maker in forge.setup_makers(sound, kind, every=False):
            yield sound, maker


def _has(sound: Season, code: int) -> bool:
    return any(block.rows(code) for commit in sound.commits for block in commit.blocks)


class Reading:
    """A folder with a forged season and the sound one, and all that is done with the two."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "forged.journal"
        self.sound = folder / "sound.journal"
        self.copy = folder / "copy.journal"
        self.out = folder / "out"

    def faults(self, data: bytes, sound: Season, chance: random.Random) -> Iterator[str]:
        """How readers and commands broke the contract."""
        forge.write(self.path, data)
        forge.write(self.sound, sound.data)
        last = sound.commits[-1].unit - 1
        where = chance.randint(0, last)
        for name, read in chance.sample(list(self._readers(where)), READERS):
            yield from self._fault(name, read)
        for words in chance.sample(list(self._commands(where)), COMMANDS):
            yield from typed(words)
            shutil.rmtree(self.out, ignore_errors=True)

    def _fault(self, name: str, read: Callable[[], Any]) -> Iterator[str]:
        try:
            json.dumps(read())
        except GoldrushError as error:
            if not str(error):
                yield f"{name}: an error that says nothing"
        except Exception as error:
            yield f"{name}: {type(error).__name__}: {str(error)[:100]}"
        with suppress(FileNotFoundError):
            self.out.unlink() if self.out.is_file() else shutil.rmtree(self.out)

    def _readers(self, at: int) -> Iterator[tuple[str, Callable[[], Any]]]:
        path, sound, out = self.path, self.sound, self.out
        for level in (1, 2, 3, 4):
            yield f"verify {level}", lambda n=level: verify(path, n).as_dict()
        yield "rebuild", lambda: [event.as_dict() for event in rebuild(path, at).events]
        yield "log", lambda: [event.as_dict() for event in log(path)]
        yield "log in part", lambda: [e.as_dict() for e in log(path, Query(at, at + 1))]
        yield "story", lambda: list(narrator(path)(log(path)))
        yield "audit", lambda: [one.as_dict() for one in draws_at(path, at)]
        yield "audit of all", lambda: [one.as_dict() for one in draws(path)]
        yield "scores", lambda: [one.as_dict() for one in scores(path, at, 6)]
        yield "leaderboard", lambda: season_at(path, at).ranks
        yield "last leaderboard", lambda: season_at(path).ranks
        yield "prompt", lambda: [one.as_dict() for one in prompted(path, at, 5)]
        yield "summary", lambda: summarise(path).as_dict()
        yield "usage", lambda: usage(path).as_dict()
        yield "diff", lambda: self._compared(path, sound)
        yield "diff, the other way", lambda: self._compared(sound, path)
        yield "export to a folder", lambda: str(export(path, out).assignment)
        yield "events", self._events
        yield "fork", lambda: self._forked(at)
        yield "resume", self._resumed

    def _events(self) -> Any:
        with JournalReader(self.path) as reader:
            return [event.as_dict() for event in fold.events(open_world(reader), reader)]

    def _compared(self, a: Path, b: Path) -> Any:
        found = diff(a, b)
        came = consequences(found)
        return [found.as_dict(), came and came.as_dict()]

    def _forked(self, at: int) -> None:
        with suppress(WriteFailed):
            fork(self.path, at, self.out)

    def _resumed(self) -> None:
        forge.write(self.copy, self.path.read_bytes())
        try:
            resume(self.copy)
        except GoldrushError:
            assert self.copy.read_bytes() == self.path.read_bytes(), "refused, and changed"

    def _commands(self, at: int) -> Iterator[list[str]]:
        path, sound, n = str(self.path), str(self.sound), str(at)
        yield from (
            ["replay", path, "--at", n],
            ["replay", path, "--at", n, "--json"],
            ["replay", path, "--at", n],
            ["log", path],
            ["log", path, "--json"],
            ["audit", path, "--all"],
            ["audit", path, "--all", "--json"],
            ["audit", path, "--at", n],
            ["audit", path, "--at", n, "--place", "0"],
            ["audit", path, "--at", n, "--agent", "6"],
            ["audit", path, "--at", n, "--agent", "6", "--json"],
            ["diff", path, sound],
            ["diff", sound, path, "--json"],
            ["diff", path, sound, "--by-round"],
            ["verify", path],
            ["verify", path, "--json"],
            ["export", path],
            ["leaderboard", path, "--to", str(self.out)],
            ["export", path, "--format", "csv", "--table", "events"],
            ["leaderboard", path],
            ["leaderboard", path, "--at", n, "--json"],
            ["prompt", path, "--at", n, "--agent", "5"],
            ["prompt", path, "--at", n, "--agent", "6", "--json"],
            ["measure", path],
            ["measure", path, "--usage"],
            ["measure", path, "--usage", "--json"],
        )


def main() -> None:
    """Read forged seasons, and print as JSON how many, and what was wrong."""
    made = list(forgeries())
    if not ALL:
        made = random.Random(0).sample(made, SAMPLE)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(dir=fast_folder()) as name:
        reading = Reading(Path(name))
        for number, (sound, (what, forged)) in enumerate(made):
            chance = random.Random(number)
            says = reading.faults(forged(), sound, chance)
            wrong += [f"{what}: {fault}" for fault in says]
    print(json.dumps({"cases": len(made), "wrong": wrong}))


if __name__ == "__main__":
    main()
