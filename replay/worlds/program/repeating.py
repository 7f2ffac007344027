"""Whether a recorded program asks the same again from the same answers; if not, which line is why.

It is run on the recorded answers, so nothing is asked and nothing is paid. Where it asks for
something else, it is given the answer that its caller got there, and goes on. So two runs can be
compared with each other, which are alike but for what the doctor puts back.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs
import msgspec

from goldrush.agents.worlds.program.requests import Response, key_of
from goldrush.kernel.files import TemporaryFolder
from goldrush.kernel.worlds.program.values import Json, packed
from goldrush.kernel.worlds.program.world import Asked, Exit
from goldrush.replay.arguments import OnStep
from goldrush.replay.journal.forged import reading
from goldrush.replay.repeats.attached import FOLDER, place_order, seen_in
from goldrush.replay.repeats.content import digest_of
from goldrush.replay.repeats.diagnose import RUNS_MAX, Run, diagnosed
from goldrush.replay.repeats.judge import counted
from goldrush.replay.repeats.trace import (
    Order,
    Trace,
    Way,
    leaf_that_differs,
    split_of,
)
from goldrush.replay.repeats.verdict import Difference, Repeats
from goldrush.replay.worlds.program.recording import (
    DEFAULT,
    Options,
    check_command,
    given_again,
    shown_command,
)
from goldrush.replay.worlds.program.running import Code, run, set_aside
from goldrush.replay.worlds.program.session import ProgramSession
from goldrush.replay.worlds.program.tape import Tape, cut, leaves_of

# Two runs whose clocks are days apart, and whose sets that may vary have opposite orders.
_FORCED: Final = (("up", 1), ("down", 2))
_WATCHED: Final = "watched program"
_OTHER_CODE: Final = "Its files are not those that were recorded: compared were the runs alone."
_UNWATCHED: Final = "It runs in no Python that has goldrush: no clock was moved, no line is known."
_UNLIKE: Final = "The runs are alike, and not as recorded: other files, variables, versions, hosts."


def program_repeats(
    path: str | Path, words: Sequence[str], options: Options = DEFAULT, *,
    causes: bool = True, on_step: OnStep | None = None,
) -> Repeats:  # fmt: skip
    """Whether a program asks, notes and prints the same from the answers of a journal: four runs,
    which are compared with the journal and with each other; in two of them, clocks are days apart
    and sets of objects have opposite orders. Then as many for causes as `RUNS_MAX` says.

    Raises BadInput for another command, a run that takes too long; JournalError.
    """
    with reading(path) as reader:
        tape = Tape.of(reader)
    check_command(tape, words, str(path))
    order, code = Order(shown_command(words)), Code(words)
    run: Run = partial(_trace, tape, words, options)
    made = counted(run, on_step, "runs", 2 + len(_FORCED))
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
    is_watched = up.kind == _WATCHED
    verdict = Repeats(
        order.target, {}, "program", None, len(tape.valid), 2 + len(_FORCED), 1, journal=str(path),
        notes=[_OTHER_CODE] * is_other + [_UNWATCHED] * (not is_watched),
    )  # fmt: skip
    differing = [pair for pair in pairs if split_of(pair[1], pair[3]) is not None]
    if not differing:
        return verdict
    name_a, a, name_b, b = differing[0]
    found = leaf_that_differs(a.leaves, b.leaves)
    assert found is not None  # the rows are digests of the leaves
    where, *values = found
    _, one, two = cut(*values)
    difference = Difference(0, (where,), where, one, two, (name_a, name_b))
    verdict = attrs.evolve(verdict, difference=difference)
    if differing == pairs[:1]:
        return attrs.evolve(verdict, notes=[*verdict.notes, _UNLIKE])
    if not (causes and is_watched):
        return verdict
    run = counted(run, on_step, "runs for causes, at most", RUNS_MAX)
    return diagnosed(verdict, run, order, (Way(), Way()), jobs=1)


class _Rehearsal(ProgramSession):
    """A run that is given another answer where its request is not recorded."""

    def __init__(self, tape: Tape) -> None:
        super().__init__(tape)
        self.asked: list[Asked] = []

    async def serve(self, asked: Asked) -> Response | None:
        answer = await super().serve(asked)
        if answer is None and (other := self.reel.substitute(asked)) is not None:
            self.served.append(other.number)
            await self._in_turn(other)
            answer = other.answer
        if answer is not None or not self.is_open_ended:  # else the recording broke off here
            self.asked.append(asked)
        return answer


def _trace(tape: Tape, words: Sequence[str], options: Options, order: Order) -> Trace:
    """A run on the answers of a journal. Raises BadInput for one that takes too long."""
    command = given_again(tape, words, options)
    session = _Rehearsal(tape)
    with TemporaryFolder() as folder, set_aside(command.outputs):
        place_order(order, folder.path)
        watched = {} if order.fixes is None else {FOLDER: folder.path}
        end = asyncio.run(run(command, session, watched=watched))
        sightings = seen_in(folder.path)
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
