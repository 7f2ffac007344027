"""The measures of a program: what it took, and the numbers that it noted; by exchange, and by the
rounds that it notes itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Final, Self

import attrs
import msgspec

from goldrush.kernel import fold
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import UNIT, JournalReader
from goldrush.kernel.measures import Value
from goldrush.kernel.text import escaped, format_count
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import Vocabulary
from goldrush.kernel.worlds.program.events import NOTED
from goldrush.kernel.worlds.program.state import ProgramState, plain_json
from goldrush.kernel.worlds.program.values import Json
from goldrush.kernel.worlds.program.world import VOCABULARY, program_world
from goldrush.replay.data.measures import Measure, Measured, Measures, Measuring, Span, named
from goldrush.replay.worlds.program.texts import response_of

NOTES_MAX: Final = 200  # names of notes that are measures
STEPS: Final = ("round", "step")  # the names of notes that begin a round


@attrs.frozen
class ProgramConfig:
    """Programs have no settings; their seeds are words of their commands."""

    seed: ClassVar[int] = 0
    agents: ClassVar[int] = 0

    def as_dict(self) -> dict[str, Any]:
        """None."""
        return {}


class MeasuredProgram(Measured[ProgramConfig], frozen=True, kw_only=True):
    """A measured run of a program, by exchange or by round.

    Attributes:
        command: its command.
        exchanges: their number.
        notes: (unit, name, value) of each note, in order.
    """

    command: Sequence[str]
    exchanges: int
    notes: Sequence[tuple[int, str, Json]]

    @property
    def counted(self) -> int:
        return self.exchanges if self.vocabulary == VOCABULARY else self.units

    def facts(self) -> dict[str, object]:
        return {"command": list(self.command), "exchanges": self.exchanges}

    def by_step(self, step: str | None) -> Self:
        names = {name for _, name, _ in self.notes}
        step = step or next(filter(names.__contains__, STEPS), None)
        if step is None:
            return self
        if step not in names:
            listed = ", ".join(sorted(names)) or "none"
            raise BadInput(f"{self.path} has no note {step}", f"its notes: {listed}")
        rounds = [*self._rounds(step)]
        if not rounds:
            return self
        numbers = [number for number, _ in rounds]
        first = numbers[0] if type(numbers[0]) is int else 1
        if numbers != [*range(first, first + len(numbers))]:
            first = 1
        known = {name: measure for name, measure in self.known.items() if name != step}
        return msgspec.structs.replace(
            self, known=known, units=len(rounds), vocabulary=Vocabulary(escaped(step), first=first),
            values={name: [each.get(name) for _, each in rounds] for name in known},
        )  # fmt: skip

    def _rounds(self, step: str) -> Iterator[tuple[Json, dict[str, Value]]]:
        """What each round was noted as, and its measures: of a note, the last in the round. What
        comes before the first note of a round is of the first.
        """
        names = self.values.keys() - {name for _, name, _ in self.notes}
        first, current = 1, None
        noted: dict[str, Value] = {}
        for unit, name, value in [*self.notes, (self.units + 1, step, None)]:
            if name == step and value != current:
                if current is not None:
                    span = Span(first, unit - 1)
                    taken = {each: self.over(each, span, len(span)) for each in names if len(span)}
                    yield current, {**noted, **taken}
                    first = unit
                current = value
            noted[name] = _number(value)


def _took(kind: str) -> Callable[[ProgramState], Value]:
    """The tokens of an exchange; undefined where the server reports none."""

    def value(state: ProgramState) -> Value:
        is_known = state.answered is not None and state.took is not None
        return float(getattr(state.took, kind)) if is_known else None

    return value


def _failed(state: ProgramState) -> Value:
    row = state.answered
    return None if row is None else float(not response_of(state, row).is_success)


KNOWN: Final = named(
    Measure(
        "tokens_in", "tokens of requests", "Tokens of requests, as the server reported them.",
        _took("input"), total=True, column=1,
    ),
    Measure(
        "tokens_out", "tokens of answers", "Tokens of answers, as the server reported them.",
        _took("output"), total=True, column=2,
    ),
    Measure(
        "failed", "failed exchanges",
        "1 for an answer that is asked for again: 401-403, 408, 409, 429, 5xx, cut; else 0.",
        _failed, total=True, column=3,
    ),
)  # fmt: skip


def _number(value: Json) -> Value:
    """A noted number; of a list, the mean of its numbers."""
    items = value if isinstance(value, list) else [value]
    numbers = [float(n) for n in items if isinstance(n, (int, float)) and abs(n) < 1e308]
    return sum(numbers) / len(numbers) if numbers else None


def _noted(name: str) -> Measure:
    """The last number that was noted under a name."""
    title = escaped(name)
    text = f"The last {title} that the program noted; of a list, its mean."
    return Measure(name, title, text, lambda state: _number(state.notes.get(name)), at_end=True)


def read(reader: JournalReader) -> MeasuredProgram:
    """The measures of an open journal that was not read yet; see `Measures.read`."""
    taken, walk = Measuring(KNOWN), Walk(program_world(), reader)
    taken.declare(0, ())
    notes: list[tuple[int, str, Json]] = []
    counted = 0
    for commit, state in walk:
        for name, value in (row for block in commit.blocks for row in block.rows(NOTED)):
            notes.append((commit.unit, name, plain_json(state, value)))
            if name not in taken.known and len(taken.known) < len(KNOWN) + NOTES_MAX:
                taken.include(_noted(name))
        if commit.kind == UNIT and commit.digest is not None:
            taken.add(state)
            counted += fold.counts(commit, VOCABULARY)
    fields = taken.fields(reader, walk, {})
    if taken.units > 1 and walk.state.answered is None:
        # The end, which is no exchange: what is noted there stands with the last one.
        fields["units"] -= 1
        for name, (*values, last, end) in taken.values.items():
            fields["values"][name] = [*values, end if taken.known[name].at_end else last]
    return MeasuredProgram(
        config=ProgramConfig(), known=taken.known, vocabulary=VOCABULARY, notes=notes,
        command=walk.state.setup["command"], exchanges=counted, **fields,
    )  # fmt: skip


def _head(measured: MeasuredProgram) -> str:
    counted = format_count(measured.counted, measured.vocabulary.unit)
    return f"{counted} of {' '.join(measured.command)}"


MEASURES: Final = Measures(KNOWN, read, _head)
