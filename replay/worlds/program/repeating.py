"""Whether a recorded program asks the same again from the same answers; if not, which line is why.

It is run on the recorded answers, so nothing is asked and nothing is paid. Where it asks for
something else, it is given the answer that its caller got there, and goes on. So two runs can be
compared with each other, which are alike but for what the doctor puts back.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final

import attrs
import msgspec

from goldrush.agents.worlds.program.requests import Response, key_of
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import format_count
from goldrush.kernel.worlds.program.values import Json, packed
from goldrush.kernel.worlds.program.world import Asked, Exit
from goldrush.replay.arguments import OnStep
from goldrush.replay.journal.forged import reporting_forged
from goldrush.replay.repeats.attached import place_order, seen_in
from goldrush.replay.repeats.content import digest_of
from goldrush.replay.repeats.diagnose import RUNS_MAX, diagnosed
from goldrush.replay.repeats.trace import (
    FORCED,
    Order,
    Trace,
    Way,
    leaf_that_differs,
    split_of,
)
from goldrush.replay.repeats.verdict import Difference, Repeats, lines_of_difference
from goldrush.replay.worlds.program.recording import (
    DEFAULT,
    Options,
    check_command,
    given_again,
    shown_command,
)
from goldrush.replay.worlds.program.running import Code, restoring, run
from goldrush.replay.worlds.program.session import ProgramSession
from goldrush.replay.worlds.program.tape import Tape, cut, leaves_of

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
_WATCHED: Final = "watched program"


@attrs.frozen
class ProgramRepeats(Repeats):
    """Whether a program repeats; see Repeats. A step is an exchange.

    Attributes:
        journal: the path.
        is_other_code: whether its files are not those that were recorded; the runs are then
            compared with each other alone.
        is_watched: whether it runs in a Python that has goldrush: else no clock was moved, and no
            cause is known.
    """

    journal: str = ""
    is_other_code: bool = False
    is_watched: bool = True

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
        if self.causes and all(cause.place.kind in FORCED for cause in self.causes):
            yield "  way out: do not compare it; record with --mask REGEX, which matches it"
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
    with reporting_forged(path), JournalReader(path) as reader:
        tape = Tape.of(reader)
    check_command(tape, words, str(path))
    order, code, numbers = Order(shown_command(words)), Code(words), count(1)

    def made(order: Order, what: str = "runs", most: int = 2 + len(_FORCED)) -> Trace:
        trace = _trace(tape, words, options, order)
        if on_step is not None:
            on_step(what, next(numbers), most)
        return trace

    first, again = made(order), made(order)
    is_other = code.source_beside(tape.source, code.written()).sha256 != tape.source.sha256
    up, down = (
        made(attrs.evolve(order, way=Way(sets=sets), fixes=(), forced=forced))
        for sets, forced in _FORCED
    )
    pairs = [
        ("in the journal", first if is_other else _recorded(tape), "in a run", first),
        ("in a run", first, "in the next one", again),
        ("in a run", up, "in one with other clocks and orders of sets", down),
    ]
    verdict = ProgramRepeats(
        order.target, {}, "program", None, len(tape.valid), 2 + len(_FORCED), 1,
        journal=str(path), is_other_code=is_other, is_watched=up.kind == _WATCHED,
    )  # fmt: skip
    differing = [pair for pair in pairs if split_of(pair[1], pair[3]) is not None]
    if not differing:
        return verdict
    name_a, a, name_b, b = differing[0]
    found = leaf_that_differs(a.leaves, b.leaves)
    assert found is not None  # the rows are digests of the leaves
    where, one, two = found
    _, *shown = cut(one, two)
    difference = Difference(0, (where,), where, shown[0], shown[1], (name_a, name_b))
    verdict = attrs.evolve(verdict, difference=difference)
    if differing == pairs[:1]:
        why = "the runs are alike, and not as recorded: other files, variables, versions, hosts"
        return attrs.evolve(verdict, unexplained=why)
    if not (causes and verdict.is_watched):
        return verdict
    numbers = count(1)
    watched = partial(made, what="runs for causes, at most", most=RUNS_MAX)
    return diagnosed(verdict, watched, order, (Way(), Way()), jobs=1)


class _Rehearsal(ProgramSession):
    """A run that is given another answer where its request is not recorded."""

    def __init__(self, tape: Tape) -> None:
        super().__init__(tape)
        self.asked: list[Asked] = []

    async def serve(self, asked: Asked) -> Response | None:
        answer = await super().serve(asked)
        if answer is None and (other := self.reel.substitute(asked)) is not None:
            self.served.append(other.number)
            await self._in_turn(other.number)
            answer = other.answer
        if answer is not None or not self.is_open_ended:  # else the recording broke off here
            self.asked.append(asked)
        return answer


def _trace(tape: Tape, words: Sequence[str], options: Options, order: Order) -> Trace:
    """A run on the answers of a journal. Raises BadInput for one that takes too long."""
    command = given_again(tape, words, options)
    session = _Rehearsal(tape)
    with restoring(command, tape) as folder:
        if order.fixes is not None:
            place_order(order, folder)
        end = asyncio.run(run(command, session, folder=folder, is_quiet=True))
        sightings = seen_in(folder)
    notes = [*_notes(tape, session.made), *session.new_notes]
    trace = _trace_of(session.asked, notes, end)
    return attrs.evolve(
        trace, kind="" if sightings is None else _WATCHED, sightings=sightings or ()
    )


def _recorded(tape: Tape) -> Trace:
    """What a journal shows."""
    exchanges = sorted((tape.exchanges[n] for n in tape.valid), key=lambda each: each.arrival)
    end = None if tape.is_open_ended else tape.ends[tape.ended or 0]
    return _trace_of([each.asked for each in exchanges], _notes(tape, tape.made), end)


def _notes(tape: Tape, numbers: Iterable[int]) -> list[tuple[str, Json]]:
    notes = [tape.notes[number - 1] for number in numbers]
    return [(note.name, note.value) for note in notes]


def _trace_of(asked: Iterable[Asked], notes: Iterable[tuple[str, Json]], end: Exit | None) -> Trace:
    """Requests, notes, exit code and digests of outputs as leaves. The requests of a caller are
    numbered in order; those of nobody, and notes, in that of what they hold.
    """
    values: list[tuple[str, Mapping[str, Any]]] = []
    for each in sorted(asked, key=lambda each: b"" if each.caller else key_of(each)):
        name = f"{each.method} {each.path}" + (f" of {each.caller}" if each.caller else "")
        values.append((name, msgspec.structs.asdict(each)))
    for name, value in sorted(notes, key=lambda note: packed(note[1])):
        values.append((f"note {name}", {"value": value}))
    if end is not None:
        outputs = {f"output {name}": sha256 for name, sha256, _ in end.outputs}
        values.append(("end", {"exit code": end.code, **outputs}))
    counts, leaves = Counter[str](), dict[str, str]()
    for name, fields in values:
        counts[name] += 1
        name += "" if counts[name] == 1 else f", number {counts[name]}"
        for field, value in fields.items():
            leaves.update(leaves_of(value, f"{name}: {field}"))
    digest = digest_of(f"{path}={text}" for path, text in sorted(leaves.items()))
    return Trace(rows=[{"run": digest}], leaves=leaves)
