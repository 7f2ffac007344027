"""Forged journals read by everything: `python -m tests.faults.hostile KIND...`.

A process of its own, whose memory is limited, so that a file that asks for gigabytes is found out.
It prints as JSON how many files were tried, what was wrong, and by how much its memory grew. What a
forged file says is not known beforehand; but every reader ends with a GoldrushError or with what
can be printed as JSON, `verify` does not hold, and nothing is written that was refused.
"""

from __future__ import annotations

import json
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from goldrush.agents.players import Resources
from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.agents.worlds.mining.roster import recording
from goldrush.kernel import fold
from goldrush.kernel.errors import GoldrushError, WriteFailed
from goldrush.kernel.journal import FORK, START, JournalReader
from goldrush.kernel.worlds.mining.events import EVENTS
from goldrush.replay.find import open_world as world_of
from goldrush.replay.journal import index
from goldrush.replay.journal.consequences import consequences
from goldrush.replay.journal.diff import Diff, diff
from goldrush.replay.journal.draws import draws
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.prompts import prompted
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.story import narrator
from goldrush.replay.journal.usage import usage
from goldrush.replay.journal.verify import DERIVE, verify
from goldrush.replay.summary import summarise
from goldrush.replay.worlds.mining.audit import plot_of
from goldrush.replay.worlds.mining.measures import measure
from tests.faults import forge
from tests.faults.commands import typed
from tests.faults.journals import TRUST, fast_folder, forked, small
from tests.faults.sampling import ALL, sampled
from tests.indexes import cache_apart, cached
from tests.mining import fork, resume

MEMORY = 1 << 30  # bytes of address space
EVENTS_OF = {event.name: code for code, event in enumerate(EVENTS)}
KINDS = (*EVENTS_OF, "setup", "facts", "frames")
# What prints events alone, whose rows are checked; sums of what was forged may be NaN.
OF_EVENTS = ("log", "log (index)", "export", "story", "audit")
# Facts that may be of any value, or that no level can know to be false.
FREE = ("options", "parent", "policy")


def forgeries(kind: str) -> Iterator[forge.Forged]:
    """The forged files of a kind: some values in each place, or every one."""
    if kind in EVENTS_OF:
        return forge.events(small(), EVENTS_OF[kind], every=ALL)
    if kind == "setup":
        return forge.setups(small(), START, every=ALL)
    if kind == "facts":
        return forge.setups(forked(), FORK, every=ALL)
    return forge.frames(small(), every=ALL)


def main() -> None:
    """Read every forged file with every reader, one in turn through the command line."""
    sounds = {kind: forked() if kind == "facts" else small() for kind in sys.argv[1:]}
    before = _resident()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    wrong: list[str] = []
    cases = 0
    for kind, sound in sounds.items():
        with tempfile.TemporaryDirectory(dir=fast_folder()) as name, cache_apart():
            reading = Reading(Path(name), sound.data)
            for what, data in sampled(forgeries(kind), 5):
                if data == sound.data:
                    continue
                cases += 1
                says = list(reading.faults(data, cases))
                if reading.holds() and not any(free in what for free in FREE):
                    says.append("it holds")
                wrong += [f"{what}: {fault}" for fault in says]
    print(json.dumps({"cases": cases, "grown": _resident() - before, "wrong": wrong}))


def _resident() -> int:
    """The most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Reading:
    """A folder with a forged journal and a sound one, and all that is done with the two."""

    def __init__(self, folder: Path, sound: bytes) -> None:
        self.path = folder / "forged.journal"
        self.sound = folder / "sound.journal"
        self.copy = folder / "copy.journal"
        self.out = folder / "out.journal"
        self.sound.write_bytes(sound)

    def holds(self) -> bool:
        """Whether the forged journal verifies, its policies asked."""
        try:
            verdict = verify(self.path, resources=Resources(trust=TRUST))
        except GoldrushError:
            return False
        return verdict.holds is True and (verdict.level_in_part or verdict.level) > DERIVE

    def faults(self, data: bytes, number: int) -> Iterator[str]:
        """How readers broke the contract."""
        forge.write(self.path, data)
        for name, read in self._readers():
            for index.INDEX_FROM in (1 << 20, 200)[: 2 if "index" in name else 1]:
                yield from self._fault(name, read)
        commands = self._commands()
        yield from typed(commands[number % len(commands)])
        yield from self._fault("fork", self._forked)
        yield from self._fault("resume", self._resumed)
        shutil.rmtree(cached(), ignore_errors=True)

    def _fault(self, name: str, read: Callable[[], Any]) -> Iterator[str]:
        try:
            json.dumps(read(), allow_nan=name not in OF_EVENTS)
        except GoldrushError as error:
            if not str(error):
                yield f"{name}: an error that says nothing"
        except AssertionError as error:
            yield f"{name}: {error}" if str(error) else f"{name}: AssertionError"
        except Exception as error:
            yield f"{name}: {type(error).__name__}: {str(error)[:100]}"
        self.out.unlink(missing_ok=True)

    def _readers(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        path, sound, trusting = self.path, self.sound, Resources(trust=TRUST)
        for level in (1, 2, 4):
            yield f"verify {level}", lambda n=level: verify(path, n, resources=trusting).as_dict()
        for round in (0, 2, 4):
            yield f"rebuild {round} (index)", lambda n=round: self._rebuilt(n)
        yield "log", lambda: [event.as_dict() for event in log(path)]
        yield "log (index)", lambda: [event.as_dict() for event in log(path, Query(3, 4))]
        yield "log of an agent", lambda: [e.as_dict() for e in log(path, Query(agents=(1,)))]
        yield (
            "log of a plot",
            lambda: [
                e.as_dict() for e in log(path, Query(plots=(1,), names=("submitted", "ruled")))
            ],
        )
        yield "export", self._exported
        yield "story", lambda: list(narrator(path)(log(path)))
        yield "audit", lambda: [audit.as_dict() for audit in draws(path)]
        yield "diff", lambda: self._compared(path, sound)
        yield "diff, the other way", lambda: self._compared(sound, path)
        yield "summary", lambda: summarise(path).as_dict()
        yield "measures", lambda: measure(path).as_dict()
        yield "usage", lambda: usage(path).as_dict()
        yield "prompt", lambda: prompted(path, MINING_PLAYERS, 3, 1)[0].question.messages
        yield "recording", lambda: len(recording(path).units)
        yield "plot", lambda: plot_of(path, "1,1")

    def _rebuilt(self, round: int) -> Any:
        found = rebuild(self.path, round)
        return [found.digest, [event.as_dict() for event in found.events], found.state.gold]

    def _exported(self) -> Any:
        with JournalReader(self.path) as reader:
            return [event.as_dict() for event in fold.events(world_of(reader), reader)]

    def _compared(self, a: Path, b: Path) -> Any:
        found = diff(a, b)
        if found.same:  # then no more than bytes differ, which is for `verify` to tell
            assert _happened(a) == _happened(b), "both are the same"
        came = _consequences(found)
        return [found.as_dict(), came and came.as_dict()]

    def _resumed(self) -> None:
        """Refused without a trace, or gone on with."""
        self.copy.unlink(missing_ok=True)
        self.copy.write_bytes(self.path.read_bytes())
        try:
            resume(self.copy, trust=TRUST)
        except GoldrushError:
            assert self.copy.read_bytes() == self.path.read_bytes(), "refused, and changed"

    def _forked(self) -> None:
        """Refused without a file, or forked, as far as the numbers can be recorded."""
        for round in (0, 3):
            try:
                fork(self.path, round, self.out, trust=TRUST)
            except WriteFailed:
                self.out.unlink()
            except GoldrushError:
                assert not self.out.exists(), "refused, and a file left"
            else:
                self.out.unlink()

    def _commands(self) -> list[list[str]]:
        path, sound = str(self.path), str(self.sound)
        return [
            ["replay", path, "--round", "4"],
            ["replay", path, "--round", "1", "--json"],
            ["log", path],
            ["why", path, "--round", "2"],
            ["info", path],
            ["ls", path, "--json"],
            ["audit", path, "--all"],
            ["audit", path, "--round", "2", "--plot", "1"],
            ["diff", path, sound],
            ["verify", path],
            ["export", path],
            ["export", path, "--format", "csv", "--table", "rounds"],
            ["export", path, "--format", "csv", "--table", "spells"],
            ["log", path, "--json"],
            ["measure", path],
            ["measure", path, "--usage", "--json"],
            ["prompt", path, "--round", "3", "--agent", "1"],
            ["prompt", path, "--round", "2", "--agent", "0", "--json"],
            ["diff", sound, path, "--by-round", "--json"],
        ]


def _consequences(found: Diff) -> Any:
    """What came of a difference, where the events can be applied."""
    try:
        return consequences(found, by_unit=True)
    except GoldrushError:
        return None


def _happened(path: Path) -> list[Any]:
    """The events of a run; what a fork says of its parent is none that happened."""
    return [event for event in log(path) if event.name != "forked"]


if __name__ == "__main__":
    main()
