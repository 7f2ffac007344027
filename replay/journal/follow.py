"""A run followed while it is recorded: its units as they close, and the progress of the open one.

Each look opens the file for reading and continues after the last unit that was seen. No lock is
taken and nothing is written, so the recorder is not disturbed. An incomplete end is being written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from goldrush.agents.seats import is_outside
from goldrush.kernel import fold
from goldrush.kernel.errors import BadInput, TornTail
from goldrush.kernel.journal import END, FORK, Commit, JournalReader, Location
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import Row, World
from goldrush.replay.find import open_world, tools_of
from goldrush.replay.journal.declared import Declared, declared_by
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.outline import units_of
from goldrush.replay.journal.rebuild import Rebuilt, closed_units
from goldrush.replay.tools import Tools


@attrs.frozen
class Progress:
    """The progress of a run.

    Attributes:
        rebuilt: the last closed unit (the start, as long as none is closed).
        is_new: this unit has closed since the progress before; else something else has changed.
        of: the number of units of the run; None if unknown.
        inputs: the number of committed inputs of the open unit.
        missing: the agents (models, people) whose answers are missing, where all are asked at once;
            None in other worlds.
        tokens_in, tokens_out: the tokens of all answers, as servers counted them.
        ended: the run has ended.
    """

    rebuilt: Rebuilt
    is_new: bool
    of: int | None
    inputs: int
    missing: tuple[int, ...] | None
    tokens_in: int
    tokens_out: int
    ended: bool

    def as_dict(self) -> dict[str, Any]:
        """The progress for JSON, without the state; events as counts by type."""
        return {
            "journal": self.rebuilt.path,
            "world": self.rebuilt.header.world,
            self.rebuilt.vocabulary.unit: self.rebuilt.round,
            "of": self.of,
            "digest": f"{self.rebuilt.digest:016x}",
            "events": dict(Counter(event.name for event in self.rebuilt.events)),
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
        }


@reader_of
def follow(path: str | Path, wait: Callable[[], None]) -> Iterator[Progress]:
    """The progress of a run: each unit as it closes, from the start on, until the run has ended;
    and at the end of the file, if anything is new, the progress of the open unit. `wait`: called
    before each further look at the file.

    Raises BadInput if the path names another file by now; JournalError as reading a journal does,
    except for a torn tail.
    """
    run = None
    while run is None or not run.ended:
        if run is not None:
            wait()
        with JournalReader(path) as reader:
            run = run or _Run(reader)
            yield from run.look(reader)


class _Run:
    """What has been seen of a run so far. Fields that begin with `open_` are of the open unit, and
    read again at every look.
    """

    def __init__(self, reader: JournalReader) -> None:
        self.ended = False
        self._file = _file(reader)
        self._tools: Tools = tools_of(reader)
        self._world: World[Any] = open_world(reader)
        self._declared: Declared | None = None
        self._after: Location | None = None  # after the last commit that left no unit open
        self._state: Any = None  # at that location
        self._last: Rebuilt | None = None
        self._tokens = (0, 0)
        self._open_tokens = (0, 0)
        self._open_inputs: list[Row] = []
        self._open_answered: set[int] = set()

    def look(self, reader: JournalReader) -> Iterator[Progress]:
        if _file(reader) != self._file:
            raise BadInput(f"{reader.path} names another file by now", "watch it again")
        before = self._progress(is_new=False)
        self._forget_open()
        first = 0 if self._after is None else self._after.unit + 1
        try:
            for rebuilt in closed_units(self._world, reader, self._walk(reader), first):
                self._last = attrs.evolve(rebuilt, state=self._state)
                before = self._progress(is_new=True)
                if before is not None:
                    yield before
        except TornTail:
            pass
        now = self._progress(is_new=False)
        if now is not None and now != before:
            yield now

    def _walk(self, reader: JournalReader) -> Iterator[tuple[Commit, Any]]:
        """The commits since the last look with the state after each."""
        world = self._world
        state = None if self._state is None else world.copy(self._state)
        commits = reader.commits(self._after)
        for commit, after in Walk(world, reader, commits=commits, state=state):
            if commit.setup is not None:
                event = fold.setup_event(world, reader, commit)
                self._declared = declared_by(
                    world, self._tools.players.prompts, self._declared, event
                )
            self._count(commit)
            if commit.digest is not None:
                self._after, self._state = commit.after, world.copy(after)
                self._tokens = self._all_tokens()
                self._forget_open()
            if commit.kind == FORK and self._last is not None:
                self._last = attrs.evolve(self._last, state=self._state)
            self.ended = commit.kind == END
            yield commit, after

    def _count(self, commit: Commit) -> None:
        """Count a commit's inputs, and the tokens of the answers among them."""
        answers = self._tools.players.answers
        for block in commit.blocks[::2]:
            for code, rows in block:
                self._open_inputs += rows
                if answers is None or code not in answers.codes:
                    continue
                for row in rows:
                    about = answers.about(row)
                    self._open_answered.add(about.agent)
                    source = about.source
                    spent = (_number(source, "tokens_in"), _number(source, "tokens_out"))
                    self._open_tokens = _sum(self._open_tokens, spent)

    def _forget_open(self) -> None:
        self._open_tokens, self._open_inputs, self._open_answered = (0, 0), [], set()

    def _all_tokens(self) -> tuple[int, int]:
        return _sum(self._tokens, self._open_tokens)

    def _progress(self, *, is_new: bool) -> Progress | None:
        if self._last is None or self._declared is None:
            return None
        return Progress(
            self._last, is_new, units_of(self._tools, self._declared), len(self._open_inputs),
            self._missing(self._declared), *self._all_tokens(), self.ended,
        )  # fmt: skip

    def _missing(self, declared: Declared) -> tuple[int, ...] | None:
        if not self._tools.labels(self._state):
            return None
        asked = [
            number
            for number, entry in enumerate(declared.players)
            if is_outside(entry["policy"]) and not self.ended
        ]
        return tuple(number for number in asked if number not in self._open_answered)


def _file(reader: JournalReader) -> tuple[int, int]:
    """The identity of the file, whatever its path."""
    here = reader.stat()
    return here.st_dev, here.st_ino


def _number(source: Mapping[str, Any] | None, name: str) -> int:
    value = (source or {}).get(name)
    return value if type(value) is int and value > 0 else 0


def _sum(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return a[0] + b[0], a[1] + b[1]
