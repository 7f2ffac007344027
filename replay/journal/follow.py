"""A run followed while it is recorded: its units as they close.

Each look opens the file for reading and continues after the last unit that was seen. No lock is
taken and nothing is written, so the recorder is not disturbed. An incomplete end is being written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from goldrush.kernel.errors import BadInput, TornTail
from goldrush.kernel.journal import END, Commit, JournalReader, Location
from goldrush.kernel.walk import Walk
from goldrush.replay.find import open_world
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.rebuild import Rebuilt, closed_units


@reader_of
def follow(path: str | Path, wait: Callable[[], None]) -> Iterator[Rebuilt]:
    """Each unit of a run as it closes, from the start on, until the run has ended. `wait`: called
    before each further look at the file.

    Raises BadInput if the path names another file by now; JournalError as reading a journal does,
    except for a torn tail.
    """
    run = None
    while run is None or not run.has_ended:
        if run is not None:
            wait()
        with JournalReader(path) as reader:
            run = run or _Run(reader)
            yield from run.look(reader)


class _Run:
    """What has been seen of a run so far."""

    def __init__(self, reader: JournalReader) -> None:
        self.has_ended = False
        self._file = _file(reader)
        self._world = open_world(reader)
        self._after: Location | None = None  # after the last commit that left no unit open
        self._state: Any = None  # at that location

    def look(self, reader: JournalReader) -> Iterator[Rebuilt]:
        if _file(reader) != self._file:
            raise BadInput(f"{reader.path} names another file by now", "watch it again")
        first = 0 if self._after is None else self._after.unit + 1
        with suppress(TornTail):
            for rebuilt in closed_units(self._world, reader, self._walk(reader), first):
                yield msgspec.structs.replace(rebuilt, state=self._state)

    def _walk(self, reader: JournalReader) -> Iterator[tuple[Commit, Any]]:
        """The commits since the last look with the state after each."""
        world = self._world
        state = None if self._state is None else world.copy(self._state)
        commits = reader.commits(self._after)
        for commit, after in Walk(world, reader, commits=commits, state=state):
            if commit.digest is not None:
                self._after, self._state = commit.after, world.copy(after)
            self.has_ended = commit.kind == END
            yield commit, after


def _file(reader: JournalReader) -> tuple[int, int]:
    """The identity of the file, whatever its path."""
    here = reader.stat()
    return here.st_dev, here.st_ino
