"""Whether a recorded program asks the same again from the same answers; if not, which line is why.

It is run on the recorded answers, so nothing is asked and nothing is paid. Where it asks for
something else, it is given the answer that its caller got there, and goes on. So two runs can be
compared with each other, which are alike but for what the doctor puts back.
"""

from __future__ import annotations

import asyncio
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Final, TypeAlias

import attrs

from goldrush.agents.worlds.program.requests import Masks, Response, Secrets, key_of
from goldrush.kernel.errors import BadInput
from goldrush.kernel.files import TemporaryFolder
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import format_count, quoted
from goldrush.kernel.worlds.program.values import Json, packed
from goldrush.kernel.worlds.program.world import Asked, Exit
from goldrush.replay.arguments import OnStep
from goldrush.replay.repeats.attached import FOLDER, place_order, seen_in
from goldrush.replay.repeats.content import digest_of
from goldrush.replay.repeats.diagnose import RUNS_MAX, diagnosed
from goldrush.replay.repeats.trace import FORCED, Order, Sighting, Trace, Way
from goldrush.replay.repeats.verdict import Difference, Repeats, lines_of_difference
from goldrush.replay.worlds.program.recording import (
    DEFAULT,
    Options,
    check_command,
    given_again,
    shown_command,
    tape_of,
)
from goldrush.replay.worlds.program.running import run, source_of_command
from goldrush.replay.worlds.program.session import ProgramSession
from goldrush.replay.worlds.program.tape import Mismatch, Tape, difference, differing

# Two runs whose clocks are days apart, and whose sets that may vary have opposite orders.
_FORCED: Final = (("up", 1), ("down", 2))
_WAYS_OUT: Final = {
    "clock": "record it: goldrush.outside(time.time)(), and make dates of that",
    "completion": "take results in the order in which the work was given",
    "files": "sort them: sorted(os.listdir(...))",
    "hash": "leave it out, or number the objects",
    "id": "leave it out, or number the objects",
    "numpy-random": "seed it: numpy.random.seed(1)",
    "numpy-unseeded": "seed it: numpy.random.default_rng(1)",
    "process": "leave it out, or record it: goldrush.outside(os.getpid)()",
    "random": "seed it: random.seed(1)",
    "random-unseeded": "seed it: random.Random(1)",
    "set-order": "sort it: sorted(...)",
    "set-pop": "take a list, or the smallest: min(...)",
    "system-random": "record it: goldrush.outside(lambda: str(uuid.uuid4()))()",
}
_IN_NAMES: Final = f"{string.ascii_letters}{string.digits}.:-"
_NAME: Final = re.compile(f"[{_IN_NAMES}]*")
_UUID: Final = re.compile("[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}")
Value: TypeAlias = "Asked | Json"


@attrs.frozen
class ProgramRepeats(Repeats):
    """Whether a program repeats; see Repeats. A step is an exchange.

    Attributes:
        journal: the path.
        is_other_code: whether its files are not those that were recorded; the runs are then
            compared with each other alone.
        is_watched: whether it runs in a Python that has goldrush: else no clock was moved, and no
            cause is known.
        mask: a pattern of what differs; empty: none was found.
    """

    journal: str = ""
    is_other_code: bool = False
    is_watched: bool = True
    mask: str = ""

    def _lines(self) -> Iterator[str]:
        verb = "repeats" if self.repeats else "DOES NOT REPEAT"
        exchanges = format_count(self.steps, "exchange")
        more = f", {self.runs_for_causes} for causes" if self.runs_for_causes else ""
        yield f"{self.target}: {verb} ({exchanges} of {self.journal}; {self.runs} runs{more})"
        if self.is_other_code:
            yield "Its files are not those that were recorded: compared were the runs alone."
        if not self.is_watched:
            yield "It runs in no Python that has goldrush: no clock was moved, no line is known."
        if self.difference is not None:
            yield from lines_of_difference(self.difference)
        for cause in self.causes:
            yield str(cause)
            yield f"  way out: {_WAYS_OUT[cause.place.kind]}"
        if self.mask and all(cause.place.kind in FORCED for cause in self.causes):
            yield f"  way out: do not compare it; record with --mask {quoted(self.mask)}"
        if self.unexplained:
            yield f"not explained: {self.unexplained}"


def program_repeats(
    path: str | Path, words: Sequence[str], options: Options = DEFAULT, *,
    causes: bool = True, on_step: OnStep | None = None,
) -> ProgramRepeats:  # fmt: skip
    """Whether a program asks, notes and prints the same from the answers of a journal: four runs,
    which are compared with the journal and with each other; in two of them, clocks are days apart
    and sets of objects have opposite orders. Then as many for causes as `RUNS_MAX` says.

    Raises BadInput for another command, a run that takes too long; JournalError.
    """
    with JournalReader(path) as reader:
        tape = tape_of(reader)
    check_command(tape, words, str(path))
    assert tape.state is not None
    is_other = source_of_command(words).as_dict() != tape.state.setup["source"]
    order = Order(shown_command(words))
    numbers = count(1)

    def play(order: Order, what: str = "runs", most: int = 2 + len(_FORCED)) -> _Played:
        played = _Played.of(tape, words, options, order)
        if on_step is not None:
            on_step(what, next(numbers), most)
        return played

    first, again = play(order), play(order)
    up, down = (
        play(attrs.evolve(order, way=Way(sets=sets), fixes=(), forced=forced))
        for sets, forced in _FORCED
    )
    pairs = [(first, again), (up, down)]
    is_alike = all(one.row == two.row for one, two in pairs)
    if not is_other:
        pairs.insert(0, (_Played.recorded(tape), first))
    verdict = ProgramRepeats(
        order.target, {}, "program", None, len(tape.valid), 2 + len(_FORCED), 1,
        journal=str(path), is_other_code=is_other, is_watched=up.sightings is not None,
    )  # fmt: skip
    difference, mask = next((a.parting(b) for a, b in pairs if a.row != b.row), (None, ""))
    verdict = attrs.evolve(verdict, difference=difference, mask=mask)
    if difference is not None and is_alike:
        why = "the runs are alike, and not as recorded: other files, variables or versions"
        return attrs.evolve(verdict, unexplained=why)
    if difference is None or not causes:
        return verdict
    if not verdict.is_watched:
        return verdict
    numbers = count(1)

    def run(order: Order) -> Trace:
        played = play(order, "runs for causes, at most", RUNS_MAX)
        return Trace("program", rows=[played.row], sightings=played.sightings or ())

    return diagnosed(verdict, run, order, (Way(), Way()), jobs=1)


class _Rehearsal(ProgramSession):
    """A run that is given another answer where its request is not recorded."""

    def __init__(self, tape: Tape, secrets: Secrets, masks: Masks) -> None:
        super().__init__(tape, None, secrets, masks)
        self.asked: list[Asked] = []

    def serve(self, asked: Asked) -> Response | None:
        self.asked.append(asked)
        answer = super().serve(asked)
        if answer is None and (other := self.reel.substitute(asked)) is not None:
            self.served.append(other.number)
            return other.answer
        return answer


@attrs.frozen
class _Played:
    """What a run showed.

    Attributes:
        title: what it is, as text.
        values: requests, notes, exit code and digests of outputs, by name. Those of one caller are
            numbered in order, those of nobody, as notes, in that of what they hold.
        sightings: what its processes passed; None: none was watched.
    """

    title: str
    values: Mapping[str, Value]
    sightings: Sequence[Sighting] | None = None

    @classmethod
    def recorded(cls, tape: Tape) -> _Played:
        """The one of a journal."""
        exchanges = sorted((tape.exchanges[n] for n in tape.valid), key=lambda each: each.arrival)
        end = None if tape.is_open_ended else tape.ends[tape.ended or 0]
        asked = [each.asked for each in exchanges]
        return cls("in the journal", _by_name(asked, _notes(tape, tape.made), end))

    @classmethod
    def of(cls, tape: Tape, words: Sequence[str], options: Options, order: Order) -> _Played:
        """One on the answers of a journal. Raises BadInput for one that takes too long."""
        command, urls, masks, secrets = given_again(tape, words, options)
        session, is_cut = _Rehearsal(tape, secrets, masks), tape.is_open_ended
        with TemporaryFolder() as folder:
            watched = {} if order.fixes is None else {FOLDER: folder.path}
            place_order(order, folder.path)
            end = asyncio.run(run(command, session, urls, is_open_ended=is_cut, watched=watched))
            sightings = seen_in(folder.path)
        if end is None and not is_cut:
            raise BadInput(
                f"a run of {order.target} takes longer than {options.seconds:g} seconds",
                "allow more time (--timeout)",
            )
        title = "in a run with other clocks and orders of sets" if order.forced > 1 else "in a run"
        notes = [*_notes(tape, session.made), *session.new_notes]
        return cls(title, _by_name(session.asked, notes, end), sightings)

    @property
    def row(self) -> Mapping[str, int]:
        """Digests of the values."""
        texts = {
            name: (key_of(value) if isinstance(value, Asked) else packed(value)).hex()
            for name, value in self.values.items()
        }
        return {name: digest_of([text]) for name, text in texts.items()}

    def parting(self, other: _Played) -> tuple[Difference, str]:
        """The first difference from another one, and a mask for it."""
        name, found = next(self._mismatches(other))
        titles = self.title, other.title
        where = f"{name}: {found.where}" if found.where else name
        told = Difference(0, (name,), where, found.here, found.recorded, titles)
        return told, mask_of(*found.texts)

    def _mismatches(self, other: _Played) -> Iterator[tuple[str, Mismatch]]:
        for name in {**self.values, **other.values}:
            if name not in self.values or name not in other.values:
                shown = ["there" if name in one.values else "missing" for one in (self, other)]
                yield name, Mismatch("", *shown)
                continue
            here, there = self.values[name], other.values[name]
            if isinstance(here, Asked) and isinstance(there, Asked):
                found = difference(here, there)
                name = f"{name}, {here.method} {here.path}"
            else:
                found = differing(here, there, "")  # type: ignore[arg-type]  # two values
            if found is not None:
                yield name, found


def _notes(tape: Tape, numbers: Iterable[int]) -> list[tuple[str, Json]]:
    return [
        (note.name, note.value) for note in map(tape.notes.__getitem__, (n - 1 for n in numbers))
    ]


def _by_name(
    asked: Iterable[Asked], notes: Iterable[tuple[str, Json]], end: Exit | None
) -> Mapping[str, Value]:
    found: dict[str, Value] = {}
    counts = Counter[str]()
    pairs: list[tuple[str, Value]] = [
        (f"request of {each.caller}" if each.caller else "request", each)
        for each in sorted(asked, key=lambda each: b"" if each.caller else key_of(each))
    ]
    noted = sorted(notes, key=lambda note: packed(note[1]))
    pairs += [(f"note {name}", value) for name, value in noted]
    for kind, value in pairs:
        counts[kind] += 1
        found[f"{kind}, number {counts[kind]}"] = value
    if end is not None:
        found["exit code"] = end.code
        found |= {f"output {name}": sha256 for name, sha256, _ in end.outputs}
    return found


def mask_of(one: str, two: str, at: int) -> str:
    """A pattern that matches what differs in both texts: a number, a date, a UUID; of digits alone,
    with what stands before. `at`: the first difference. Empty: none is known.
    """
    start = len(one[:at].rstrip(_IN_NAMES))
    tokens = [_NAME.match(text, start)[0].rstrip(".:-") for text in (one, two)]  # type: ignore[index]  # it may be empty
    if all(map(_UUID.fullmatch, tokens)):
        return _UUID.pattern
    patterns = {re.sub(r"\d+", r"\\d+", token.replace(".", r"\.")) for token in tokens}
    (pattern, *others) = patterns
    if others or "d+" not in pattern:
        return ""
    return re.escape(one[max(0, start - 12) : start]) * (pattern == r"\d+") + pattern
