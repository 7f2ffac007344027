"""The exchanges of a journal, to be served again, each to who asked for it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from operator import attrgetter
from typing import Final

import msgspec

from goldrush.agents.game.source import Source
from goldrush.agents.worlds.program.requests import Response, key_of
from goldrush.kernel.errors import BadInput, TornTail, format_value
from goldrush.kernel.journal import FORK, JournalReader
from goldrush.kernel.walk import DIGESTS, Walk
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.program.events import (
    ASKED,
    ENDED,
    NOTED,
    RESTARTED,
)
from goldrush.kernel.worlds.program.state import ProgramState, Tokens, plain_json
from goldrush.kernel.worlds.program.values import Json
from goldrush.kernel.worlds.program.world import (
    NAME,
    Asked,
    Behaviour,
    Done,
    Exit,
    program_world,
)
from goldrush.replay.repeats.trace import leaf_that_differs
from goldrush.replay.worlds.program.texts import common, response_of

_ASKED: Final = attrgetter("asked")
_AROUND: Final = 24  # characters shown on each side of a difference
_HEAD: Final = ("upstream", "method", "path", "query", "headers")  # of a request, what is compared


class Exchange(msgspec.Struct, frozen=True):
    """A request and its answer, as the journal holds them: bodies take the space of their
    references. `number`: of its unit; `arrival`: of its request; `model`: what was asked in place
    of the program's; empty: its own was; `took`: as in `state`, which is that of the run, by now.
    """

    number: int
    arrival: int
    caller: str
    state: ProgramState
    asks: Row
    answers: Row
    model: str = ""
    took: Tokens | None = None

    @classmethod
    def last_of(cls, state: ProgramState) -> Exchange:
        """The one that a run has closed last."""
        asks, answers = state.asked or (), state.answered or ()
        return cls(state.unit, answers[0], asks[0], state, asks, answers, state.model, state.took)

    @property
    def asked(self) -> Asked:
        """The request, with its whole body."""
        caller, upstream, method, path, query, headers, body = self.asks
        plain = self.state.seen.plain(body)
        return Asked(caller, upstream, method, path, query, headers, plain)

    @property
    def answer(self) -> Response:
        """The answer, with its whole body."""
        return response_of(self.state, self.answers)


class Note(msgspec.Struct, frozen=True):
    """Something that a program noted. `number`: among all notes, from 1; `unit`: its unit."""

    number: int
    unit: int
    name: str
    value: Json


class Tape:
    """What a journal has of a program, up to its end or up to a unit.

    Attributes:
        exchanges: all exchanges, by number.
        notes: all notes, in order.
        valid: the numbers of the exchanges of the last process, in order.
        made: the numbers of the notes of the last process, in order.
        ends: how processes ended, by unit.
        ended: the unit in which the last process ended; None: the journal does not say.
        state: after the last unit; None before START.
        process: the number of the last process.
        source: the files of the command, by START or the last fork.
    """

    def __init__(self) -> None:
        """Nothing is recorded."""
        self.exchanges: dict[int, Exchange] = {}
        self.notes: list[Note] = []
        self.valid: list[int] = []
        self.made: list[int] = []
        self.ends: dict[int, Exit] = {}
        self.ended: int | None = None
        self.state: ProgramState | None = None
        self.process = 1
        self.source = Source(None, None)

    @classmethod
    def of(cls, reader: JournalReader, last: int | None = None) -> Tape:
        """The tape of an open journal that was not read yet, up to a unit; None: to its end.

        Raises BadInput for a run of another world, JournalError, MalformedEvents for what no
        recorder writes.
        """
        if reader.header.world != NAME:
            what = f"{reader.path} is a run of the {format_value(reader.header.world)} world"
            raise BadInput(what, "leave out what follows --")
        tape = cls()
        walk = Walk(program_world(), reader, DIGESTS)
        with suppress(TornTail):  # the rest was never recorded
            for commit, state in walk:
                tape.state = state
                if commit.setup is not None:
                    tape.source = Source(**commit.setup["source"])
                if commit.kind == FORK:
                    tape.ended = None
                for block in commit.blocks:
                    for code, rows in block:
                        for row in rows:
                            tape._add(state, code, row)
                if commit.unit == last and commit.digest is not None:
                    break
        return tape

    def _add(self, state: ProgramState, code: int, row: Row) -> None:
        unit = state.unit  # which has closed
        if code == RESTARTED:
            process, exchanges, notes = row
            if process != self.process:
                self.process, self.valid, self.made, self.ended = process, [], [], None
            self.valid += [number for number in exchanges if number in self.exchanges]
            self.made += [number for number in notes if 0 < number <= len(self.notes)]
        elif code == NOTED:
            note = Note(len(self.notes) + 1, unit, row[0], plain_json(state, row[1]))
            self.notes.append(note)
            self.made.append(note.number)
        elif code == ASKED:
            self.exchanges[unit] = Exchange.last_of(state)
            self.valid.append(unit)
        elif code == ENDED:
            self.ends[unit] = Exit(*row)
            self.ended = unit

    @property
    def is_open_ended(self) -> bool:
        """Whether the recording broke off, or a signal ended its program."""
        return self.ended is None or self.ends[self.ended].code < 0

    @property
    def command(self) -> tuple[str, ...]:
        """The words of the recorded command; none before START."""
        return () if self.state is None else self.state.setup["command"]

    def behaviour(self, source: str | None = None, left_out: Container[int] = ()) -> Behaviour:
        """What the program did, as it is recorded. `source`: see Behaviour; `left_out`: numbers of
        notes that it did not make.
        """
        found, notes = Behaviour(source), self.notes_by_unit(left_out)
        for unit, exchange in self.exchanges.items():
            found.done[unit] = Done(notes.get(unit, ()), partial(_ASKED, exchange))
        for unit, end in self.ends.items():
            found.done[unit] = Done(notes.get(unit, ()), end)
        return found

    def notes_by_unit(self, left_out: Container[int]) -> dict[int, list[tuple[str, Json]]]:
        """Names and values of notes, by unit, without those of these numbers."""
        by_unit: dict[int, list[tuple[str, Json]]] = defaultdict(list)
        for note in self.notes:
            if note.number not in left_out:
                by_unit[note.unit].append((note.name, note.value))
        return by_unit


class Reel:
    """Exchanges that are served, each once: a request gets what was recorded for it and for who
    asks; else, unless others may come to ask for theirs, what was recorded for it first, in the
    order in which the requests arrived.

    Attributes:
        left: the exchanges that nobody has asked for, by number.
        raced: the number of requests that got what may have been another's.
    """

    def __init__(self, exchanges: Iterable[Exchange], *, is_whole: bool) -> None:
        """All are to be served. `is_whole`: a program has all that it asked for among them; else
        failures are left out, and who is named gets nothing of others.
        """
        self.left = {exchange.number: exchange for exchange in exchanges}
        self.raced = 0
        self._is_whole = is_whole
        self._waiting: dict[bytes, list[Exchange]] = defaultdict(list)
        for exchange in sorted(self.left.values(), key=lambda each: each.arrival):
            self._waiting[key_of(exchange.asked)].append(exchange)

    def take(self, asked: Asked) -> Exchange | None:
        """The exchange for a request, which is not served again; None: there is none."""
        same = self._waiting.get(key_of(asked), []) if self.left else []
        found = next((each for each in same if each.caller == asked.caller), None)
        if found is None and (self._is_whole or not asked.caller):
            found = next(iter(same), None)
        if found is None:
            return None
        self.raced += len(same) > 1 and not (asked.caller and found.caller == asked.caller)
        same.remove(found)
        del self.left[found.number]
        return found

    def nearest(self, asked: Asked) -> Exchange | None:
        """The exchange that nobody has asked for that is nearest to a request: the first with the
        same path of the same server, rather of the caller; None: all were asked for.
        """
        of = asked.upstream, asked.path
        return min(
            self.left.values(), default=None,
            key=lambda one: (
                (one.asks[1], one.asks[3]) != of, one.caller != asked.caller,
            ),
        )  # fmt: skip

    def substitute(self, asked: Asked) -> Exchange | None:
        """The exchange nearest to a request, if it is of the same path of the same server, which is
        not served again; None: there is none.
        """
        found = self.nearest(asked)
        if found is None or (found.asks[1], found.asks[3]) != (asked.upstream, asked.path):
            return None
        self._waiting[key_of(found.asked)].remove(found)
        return self.left.pop(found.number)


def difference(
    here: Asked, recorded: Asked, names: Sequence[str] = ("here", "in the journal")
) -> str | None:
    """The first difference between two requests, as text; None if there is none but the caller.
    `names`: of the two in it.
    """
    heads = [{name: getattr(asked, name) for name in _HEAD} for asked in (here, recorded)]
    return _differing(names, *heads) or _differing(names, here.body, recorded.body)


def _differing(names: Sequence[str], here: object, recorded: object) -> str | None:
    found = leaf_that_differs(dict(leaves_of(recorded, "")), dict(leaves_of(here, "")))
    if found is None:
        return None
    path, theirs, ours = found
    at, one, two = cut(ours, theirs)
    return f"{path or 'body'}, character {at}: '{one}' {names[0]}, '{two}' {names[1]}"


def leaves_of(value: object, path: str) -> Iterator[tuple[str, str]]:
    """What is in a value and holds nothing itself, by its path: as JSON; bytes as a text."""
    if isinstance(value, dict) and value:
        for key in sorted(value):
            yield from leaves_of(value[key], f"{path}.{key}" if path else key)
    elif isinstance(value, (list, tuple)) and value:
        for index, item in enumerate(value):
            yield from leaves_of(item, f"{path}[{index}]")
    elif isinstance(value, bytes):
        yield path, value.decode("utf-8", "backslashreplace")
    else:
        yield path, json.dumps(value, ensure_ascii=False)


def cut(one: str, two: str) -> tuple[int, str, str]:
    """The number of the first character that differs, and two texts, cut around it."""
    at = common(one, two)
    start = max(0, at - _AROUND)
    return at, one[start : at + _AROUND], two[start : at + _AROUND]
