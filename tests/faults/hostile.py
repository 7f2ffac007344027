"""Forged journals read by everything: `python -m tests.faults.hostile WHAT`, `runs` or `seasons`.

A process of its own, whose memory is limited, so that a file that asks for gigabytes is found out.
It prints as JSON how many files were tried, what was wrong, and by how much its memory grew. What a
forged file says is not known beforehand; but every reader ends with a GoldrushError or with what
can be printed as JSON, `verify` does not hold, and nothing is written that was refused. Each file
is read by some readers, drawn from its number; with FAULTS=all by all of them.
"""

from __future__ import annotations

import json
import random
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import attrs
import click

from goldrush.agents.players import Resources
from goldrush.agents.worlds.mining.roster import recording
from goldrush.cli.main import cli
from goldrush.kernel import fold
from goldrush.kernel.errors import GoldrushError, WriteFailed
from goldrush.kernel.journal import FORK, START, JournalReader
from goldrush.kernel.text import escaped
from goldrush.kernel.worlds.mining.events import EVENTS
from goldrush.replay.find import open_world
from goldrush.replay.journal import index
from goldrush.replay.journal.consequences import consequences
from goldrush.replay.journal.diff import diff
from goldrush.replay.journal.draws import draws_at
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.story import narrator
from goldrush.replay.journal.verify import DERIVE, verify
from goldrush.replay.worlds.competition.leaderboard import export, season_at
from tests import mining, seasons
from tests.faults import forge, hostile_seasons
from tests.faults.journals import TRUST, fast_folder, forked, small
from tests.faults.sampling import ALL, TURN, sampled
from tests.indexes import cache_apart, cached

MEMORY = 2 << 30  # bytes of address space
READERS, COMMANDS = 6, 3  # that read each forged file
SAMPLE = 16  # of the forged seasons
# Facts that may be of any value, or that no level can know to be false.
FREE = ("options", "parent", "policy")

Read = Callable[[], Any]
Forgery = tuple[forge.Journal, forge.Maker]


def forged_runs() -> Iterator[Forgery]:
    """Every row and setup of a mining run, forged."""
    values = forge.VALUES | forge.RAW if ALL else forge.FEW
    for code in range(len(EVENTS)):
        for maker in forge.event_makers(small(), code, values):
            yield small(), maker
    for sound, kind in ((small(), START), (forked(), FORK)):
        for maker in forge.setup_makers(sound, kind, every=ALL):
            yield sound, maker


def forged_seasons() -> Iterator[Forgery]:
    """Some of the forged seasons."""
    made = list(hostile_seasons.forgeries())
    yield from made if ALL else random.Random(TURN).sample(made, SAMPLE)


_FORK, _RESUME = partial(mining.fork, trust=TRUST), partial(mining.resume, trust=TRUST)


@attrs.frozen(eq=False)
class Reading:
    """A folder with a forged journal and the sound one, and all that is done with the two."""

    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / "forged.journal"

    @property
    def sound(self) -> Path:
        return self.folder / "sound.journal"

    @property
    def out(self) -> Path:
        return self.folder / "out"

    fork: Callable[..., object] = _FORK
    resume: Callable[[Path], object] = _RESUME

    def faults(self, data: bytes, sound: forge.Journal, number: int) -> Iterator[str]:
        """How readers and commands broke the contract."""
        chance = random.Random(number)
        self.path.unlink(missing_ok=True)  # a damaged file keeps no index
        self.path.write_bytes(data)
        self.sound.write_bytes(sound.data)
        at = chance.randint(0, sound.commits[-1].unit)
        readers = [*self.readers(at), *self.own_readers(at)]
        for name, read in readers if ALL else chance.sample(readers, READERS):
            for index.INDEX_FROM in (1 << 20, 200)[: 2 if "index" in name else 1]:
                yield from self._fault(name, read)
        commands = self.commands(str(at))
        for words in commands if ALL else chance.sample(commands, COMMANDS):
            yield from typed(words)
            shutil.rmtree(self.out, ignore_errors=True)
        shutil.rmtree(cached(), ignore_errors=True)

    def holds(self) -> bool:
        """Whether the forged journal verifies, its policies asked."""
        try:
            verdict = verify(self.path, resources=Resources(trust=TRUST))
        except GoldrushError:
            return False
        return verdict.holds is True and (verdict.level_in_part or verdict.level) > DERIVE

    def _fault(self, name: str, read: Read) -> Iterator[str]:
        try:
            # What prints events alone, whose rows are checked; sums of what was forged may be NaN.
            json.dumps(read(), allow_nan=not name.startswith(("log", "events", "story", "audit")))
        except GoldrushError as error:
            if not str(error):
                yield f"{name}: an error that says nothing"
        except Exception as error:
            yield f"{name}: {type(error).__name__}: {str(error)[:100]}"
        shutil.rmtree(self.out, ignore_errors=True)

    def readers(self, at: int) -> Iterator[tuple[str, Read]]:
        """Those of every world."""
        path, trusting = self.path, Resources(trust=TRUST)
        for level in (1, 2, 3, 4):
            yield f"verify {level}", lambda n=level: verify(path, n, resources=trusting).as_dict()
        yield "rebuild (index)", lambda: [event.as_dict() for event in rebuild(path, at).events]
        yield "log", lambda: [event.as_dict() for event in log(path)]
        yield "log (index)", lambda: [event.as_dict() for event in log(path, Query(at, at + 1))]
        yield "events", self._events
        yield "story", lambda: list(narrator(path)(log(path)))
        yield "audit", lambda: [audit.as_dict() for audit in draws_at(path)]
        yield "diff", lambda: self._compared(path, self.sound)
        yield "diff, the other way", lambda: self._compared(self.sound, path)
        yield "fork", lambda: self._forked(at)
        yield "resume", self._resumed

    def own_readers(self, at: int) -> Iterator[tuple[str, Read]]:
        """Those of runs of miners."""
        path = self.path
        only = Query(agents=(1,), plots=(1,), names=("submitted", "ruled"))
        yield "log in part", lambda: [event.as_dict() for event in log(path, only)]
        yield "recording", lambda: len(recording(path).units)

    def commands(self, at: str) -> list[list[str]]:
        path, sound = str(self.path), str(self.sound)
        return [
            ["replay", path, "--round", at, "--json"],
            ["why", path, "--round", "2"],
            ["info", path],
            ["ls", path, "--json"],
            ["audit", path, "--round", "2", "--plot", "1"],
            ["export", path, "--format", "csv", "--table", "spells"],
            ["prompt", path, "--round", "3", "--agent", "1"],
            *_commands(path, sound),
        ]

    def _events(self) -> Any:
        with JournalReader(self.path) as reader:
            return [event.as_dict() for event in fold.events(open_world(reader), reader)]

    def _compared(self, a: Path, b: Path) -> Any:
        found = diff(a, b)
        if found.same:  # then no more than bytes differ, which is for `verify` to tell
            assert _happened(a) == _happened(b), "both are the same"
        try:
            came = consequences(found)
        except GoldrushError:  # the events cannot be applied
            came = None
        return [found.as_dict(), came and came.as_dict()]

    def _resumed(self) -> None:
        """Refused without a trace, or gone on with."""
        copy = self.folder / "copy.journal"
        copy.unlink(missing_ok=True)
        copy.write_bytes(self.path.read_bytes())
        try:
            self.resume(copy)
        except GoldrushError:
            assert copy.read_bytes() == self.path.read_bytes(), "refused, and changed"

    def _forked(self, at: int) -> None:
        """Refused without a file, or forked, as far as the numbers can be recorded."""
        out = self.folder / "out.journal"
        try:
            self.fork(self.path, at, out)
        except WriteFailed:
            pass
        except GoldrushError:
            assert not out.exists(), "refused, and a file left"
        out.unlink(missing_ok=True)


class SeasonReading(Reading):
    """The same of a season."""

    def own_readers(self, at: int) -> Iterator[tuple[str, Read]]:
        path = self.path
        yield "last leaderboard", lambda: season_at(path).ranks
        yield "export to a folder", lambda: str(export(path, self.out).assignment)

    def commands(self, at: str) -> list[list[str]]:
        path, sound = str(self.path), str(self.sound)
        return [
            ["replay", path, "--at", at, "--json"],
            ["audit", path, "--at", at, "--place", "0"],
            ["audit", path, "--at", at, "--agent", "6", "--json"],
            ["score", path, "--at", at, "--agent", "6", "--json"],
            ["prompt", path, "--at", at, "--agent", "6", "--json"],
            *_commands(path, sound),
        ]


def _commands(path: str, sound: str) -> Iterator[list[str]]:
    """Those of every world."""
    yield from (
        ["log", path], ["log", path, "--json"], ["audit", path], ["diff", path, sound],
        ["diff", sound, path, "--json"], ["verify", path, "--json"],
        ["export", path], ["export", path, "--format", "csv", "--table", "events"],
        ["measure", path], ["measure", path, "--usage", "--json"],
    )  # fmt: skip


def _happened(path: Path) -> list[Any]:
    """The events of a run; what a fork says of its parent is none that happened."""
    return [event for event in log(path) if event.name != "forked"]


def typed(words: Sequence[str]) -> Iterator[str]:
    """What is wrong with a command: it may refuse, but not in Python's words, nor move the
    cursor.
    """
    out = TextIOWrapper(BytesIO(), "utf-8", write_through=True)
    try:
        with redirect_stdout(out), redirect_stderr(out):
            cli.main(list(words), standalone_mode=False)
    except (GoldrushError, click.ClickException):
        pass
    except Exception as error:
        yield f"{' '.join([words[0], *words[2:]])}: {type(error).__name__}: {str(error)[:100]}"
    out.seek(0)
    if escaped(printed := out.read(), "\n\t") != printed:
        yield f"{words[0]} prints what moves the cursor"


def main() -> None:
    """Read every forged file, and print how many, and what was wrong."""
    is_run = sys.argv[1] == "runs"
    forgeries = list(sampled(forged_runs(), 11) if is_run else forged_seasons())
    before = _resident()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(dir=fast_folder()) as name, cache_apart():
        reading = Reading(Path(name))
        if not is_run:
            reading = SeasonReading(Path(name), seasons.fork, seasons.resume)
        for number, (sound, (what, make)) in enumerate(forgeries):
            if (data := make()) == sound.data:
                continue
            wrong += [f"{what}: {fault}" for fault in reading.faults(data, sound, number)]
            if is_run and reading.holds() and not any(free in what for free in FREE):
                wrong.append(f"{what}: it holds")
    print(json.dumps({"cases": len(forgeries), "grown": _resident() - before, "wrong": wrong}))


def _resident() -> int:
    """The most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
