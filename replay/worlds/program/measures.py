"""The measures of a program: what it took, and the numbers that it noted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

import attrs

from goldrush.kernel import fold
from goldrush.kernel.journal import UNIT, JournalReader
from goldrush.kernel.measures import Value
from goldrush.kernel.text import escaped, format_count
from goldrush.kernel.walk import Walk
from goldrush.kernel.worlds.program.state import ProgramState
from goldrush.kernel.worlds.program.world import VOCABULARY, program_world
from goldrush.replay.data.measures import Measure, Measured, Measures, Measuring, named
from goldrush.replay.worlds.program.texts import response_of

NOTES_MAX: Final = 200  # names of notes that are measures


@attrs.frozen
class ProgramConfig:
    """Programs have no settings; their seeds are words of their commands."""

    seed: ClassVar[int] = 0
    agents: ClassVar[int] = 0

    def as_dict(self) -> dict[str, Any]:
        """None."""
        return {}


class MeasuredProgram(Measured[ProgramConfig], frozen=True, kw_only=True):
    """A measured run of a program, with its command and the number of its exchanges."""

    command: Sequence[str]
    exchanges: int

    @property
    def counted(self) -> int:
        return self.exchanges

    def facts(self) -> dict[str, Any]:
        return {"command": list(self.command)}


def _took(of: Callable[[ProgramState], int]) -> Callable[[ProgramState], Value]:
    """What an exchange took; undefined at the end of a program."""
    return lambda state: None if state.answered is None else float(of(state))


def _failed(state: ProgramState) -> int:
    return state.answered is not None and not response_of(state, state.answered).is_success


KNOWN: Final = named(
    Measure(
        "tokens_in", "tokens of requests", "Tokens of the request, as the server reported them.",
        _took(lambda state: state.took.input), total=True, column=1,
    ),
    Measure(
        "tokens_out", "tokens of answers", "Tokens of the answer, as the server reported them.",
        _took(lambda state: state.took.output), total=True, column=2,
    ),
    Measure(
        "failed", "failed exchanges",
        "1 for an answer that is asked for again: 401-403, 408, 409, 429, 5xx, cut; else 0.",
        _took(_failed), total=True, column=3,
    ),
)  # fmt: skip


def _noted(name: str, title: str) -> Measure:
    """The last number that was noted under a name; of a list, the mean of its numbers."""

    def last(state: ProgramState) -> Value:
        noted = state.notes.get(title)
        items = noted if isinstance(noted, list) else [noted]
        numbers = [float(n) for n in items if isinstance(n, (int, float)) and abs(n) < 1e308]
        return sum(numbers) / len(numbers) if numbers else None

    text = f"The last {escaped(title)} that the program noted; of a list, its mean."
    return Measure(name, escaped(title), text, last, at_end=True)


def read(reader: JournalReader) -> MeasuredProgram:
    """The measures of an open journal that was not read yet; see `Measures.read`."""
    world = program_world()
    taken, walk = Measuring(KNOWN), Walk(world, reader)
    taken.declare(0, ())
    noted: set[str] = set()
    counted = 0
    for commit, state in walk:
        if commit.kind == UNIT and commit.digest is not None:
            for name in state.notes:
                if name not in noted and len(noted) < NOTES_MAX and name not in KNOWN:
                    noted.add(name)
                    taken.include(_noted(name, name))
            taken.add(state)
            counted += fold.counts(commit, VOCABULARY)
    return MeasuredProgram(
        config=ProgramConfig(), known=taken.known, vocabulary=VOCABULARY,
        command=walk.state.setup["command"], exchanges=counted, **taken.fields(reader, walk, {}),
    )  # fmt: skip


def _head(measured: MeasuredProgram) -> str:
    return f"{format_count(measured.counted, 'exchange')} of {' '.join(measured.command)}"


MEASURES: Final = Measures(KNOWN, read, _head)
