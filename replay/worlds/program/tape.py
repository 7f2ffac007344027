"""The exchanges of a journal, to be served again, each to who asked for it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from operator import attrgetter
from typing import Final

import msgspec

from goldrush.agents.worlds.program.requests import Response, key_of
from goldrush.kernel.errors import TornTail
from goldrush.kernel.journal import FORK, JournalReader
from goldrush.kernel.walk import DIGESTS, Walk
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.program.events import (
    ANSWERED,
    ASKED,
    ENDED,
    NOTED,
    RESTARTED,
)
from goldrush.kernel.worlds.program.state import ProgramState, plain_json
from goldrush.kernel.worlds.program.values import Json
from goldrush.kernel.worlds.program.world import Asked, Behaviour, Done, Exit, program_world
from goldrush.replay.worlds.program.texts import response_of

_ASKED: Final = attrgetter("asked")
_AROUND: Final = 24  # characters shown on each side of a difference


class Exchange(msgspec.Struct, frozen=True):
    """A request and its answer, as the journal holds them: bodies take the space of their
    references. `number`: of its unit; `arrival`: of its request; `model`: what was asked in place
    of the program's; empty: its own was; `state`: of the run, by now.
    """

    number: int
    arrival: int
    caller: str
    state: ProgramState
    asks: Row
    answers: Row
    model: str = ""

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

    @property
    def is_success(self) -> bool:
        """Whether it is served again when a run is resumed."""
        _, status, *_, is_cut = self.answers
        return Response(status, (), (), is_cut).is_success


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

    @classmethod
    def of(cls, reader: JournalReader, last: int | None = None) -> Tape:
        """The tape of an open journal that was not read yet, up to a unit; None: to its end.

        Raises JournalError, MalformedEvents for what no recorder writes.
        """
        tape = cls()
        walk = Walk(program_world(), reader, DIGESTS)
        with suppress(TornTail):  # the rest was never recorded
            for commit, state in walk:
                tape.state = state
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
            if process != self._process:
                self._process, self.valid, self.made, self.ended = process, [], [], None
            self.valid += [number for number in exchanges if number in self.exchanges]
            self.made += [number for number in notes if 0 < number <= len(self.notes)]
        elif code == ANSWERED:
            self._answered = row
        elif code == NOTED:
            note = Note(len(self.notes) + 1, unit, row[0], plain_json(state, row[1]))
            self.notes.append(note)
            self.made.append(note.number)
        elif code == ASKED:
            answers = self._answered
            self.exchanges[unit] = Exchange(
                unit, answers[0], row[0], state, row, answers, state.model
            )
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

    def behaviour(self, source: str | None = None) -> Behaviour:
        """What the program did, as it is recorded. `source`: see Behaviour."""
        found = Behaviour(source)
        notes = self.notes_by_unit(self.notes)
        for unit, exchange in self.exchanges.items():
            found.done[unit] = Done(notes.get(unit, ()), partial(_ASKED, exchange))
        for unit, end in self.ends.items():
            found.done[unit] = Done(notes.get(unit, ()), end)
        return found

    @staticmethod
    def notes_by_unit(notes: Iterable[Note]) -> dict[int, list[tuple[str, Json]]]:
        """Names and values of notes, by unit."""
        by_unit: dict[int, list[tuple[str, Json]]] = defaultdict(list)
        for note in notes:
            by_unit[note.unit].append((note.name, note.value))
        return by_unit

    _process: object = 1
    _answered: Row = ()


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
        same = self._waiting.get(key_of(asked), [])
        found = next((each for each in same if each.caller == asked.caller), None)
        if found is None and (self._is_whole or not asked.caller):
            found = next(iter(same), None)
        if found is None:
            return None
        self.raced += len(same) > 1 and not (asked.caller and found.caller == asked.caller)
        same.remove(found)
        del self.left[found.number]
        return found

    def nearest(self, asked: Asked) -> tuple[Exchange, str] | None:
        """The first exchange of a caller that nobody has asked for, or of anybody, with how a
        request differs from it, as text; None: all were asked for.
        """
        left = [*self.left.values()]
        own = [exchange for exchange in left if exchange.caller == asked.caller] or left
        if not own:
            return None
        return own[0], difference(asked, own[0].asked) or "the same request, once more"


def difference(here: Asked, recorded: Asked) -> str | None:
    """The first difference between two requests, as text; None if there is none but the caller."""
    for name in ("upstream", "method", "path", "query", "headers"):
        one, two = getattr(here, name), getattr(recorded, name)
        if one != two:
            return f"{name}: {_cut(str(one), str(two))}"
    one, two = here.body, recorded.body
    if isinstance(one, bytes) or isinstance(two, bytes):
        texts = [each if isinstance(each, bytes) else b"JSON" for each in (one, two)]
        shown = [each.decode("utf-8", "backslashreplace") for each in texts]
        return None if one == two else f"body, {_cut(*shown)}"
    return _differing(one, two, "")


def _differing(here: Json, recorded: Json, path: str) -> str | None:
    if isinstance(here, dict) and isinstance(recorded, dict):
        for key in sorted({*here, *recorded}):
            below = f"{path}.{key}" if path else key
            if key not in here or key not in recorded:
                return f"{below}: {'not here' if key not in here else 'here'}, " + (
                    "but in the journal" if key not in here else "not in the journal"
                )
            if found := _differing(here[key], recorded[key], below):
                return found
        return None
    if isinstance(here, list) and isinstance(recorded, list):
        for index, (one, two) in enumerate(zip(here, recorded, strict=False)):
            if found := _differing(one, two, f"{path}[{index}]"):
                return found
        if len(here) != len(recorded):
            return f"{path}: {len(here)} items here, {len(recorded)} in the journal"
        return None
    if type(here) is type(recorded) and here == recorded:
        return None
    texts = [each if isinstance(each, str) else json.dumps(each) for each in (here, recorded)]
    return f"{path or 'body'}{_cut(*texts)}"


def _cut(here: str, recorded: str) -> str:
    """Two texts, cut around their first difference."""
    pairs = zip(here, recorded, strict=False)
    at = next((n for n, (one, two) in enumerate(pairs) if one != two), None)
    if at is None:
        at = min(len(here), len(recorded))
    start = max(0, at - _AROUND)
    shown = [f"'{text[start : at + _AROUND]}'" for text in (here, recorded)]
    return f", character {at}: {shown[0]} here, {shown[1]} in the journal"
