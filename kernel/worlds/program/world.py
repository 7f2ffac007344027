"""The world `program`: programs of somebody else, in any language, by what they ask and are given.

A unit is one exchange, in the order in which they were committed. What a program asks follows from
the answers by code that goldrush does not have. So `decide` looks up what a program that was run on
these answers did: whoever derives such a run again shows that it repeats here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from typing import Final

import msgspec

from goldrush.kernel.errors import BadInput
from goldrush.kernel.world import Batch, Block, InvalidInputs, Vocabulary, World
from goldrush.kernel.worlds.program.events import (
    ANSWERED,
    ASKED,
    ENDED,
    EVENTS,
    EXITED,
    NOTED,
    RESTARTED,
)
from goldrush.kernel.worlds.program.state import (
    ProgramState,
    close,
    digest,
    ended,
    evolve,
    fork,
    initial,
    show_fork,
)
from goldrush.kernel.worlds.program.values import Body, Json

NAME: Final = "program"
RULES: Final = 1
VOCABULARY: Final = Vocabulary("exchange", uncounted=(EXITED,))


class Asked(msgspec.Struct, frozen=True):
    """A request of a program, as it is compared; see the event `asked`."""

    caller: str
    upstream: str
    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]
    body: Body


class Exit(msgspec.Struct, frozen=True):
    """The end of a program; see the event `ended`."""

    code: int
    outputs: tuple[tuple[str, str, int], ...] = ()


class Done(msgspec.Struct, frozen=True):
    """What a program did in a unit: its notes, then what it asked (or the function that tells) or
    how it ended.
    """

    notes: Sequence[tuple[str, Json]] = ()
    last: Asked | Callable[[], Asked] | Exit | None = None


class Behaviour:
    """What a program did on the recorded answers.

    Attributes:
        done: by unit.
        reasons: by unit in which it did something else, how that differs, as text.
        source: the SHA-256 of the files of its command.
        way_out: what to do where it did something else, as text.
    """

    def __init__(self, source: str | None = None) -> None:
        """It has done nothing so far."""
        self.done: dict[int, Done] = {}
        self.reasons: dict[int, str] = {}
        self.source = source
        self.way_out = "mask what may differ (--mask), or note it"
        self._is_watched = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Within it, `of` raises BadInput with the reason where there is one."""
        self._is_watched = True
        try:
            yield
        finally:
            self._is_watched = False

    def of(self, unit: int) -> Done:
        """What it did in a unit."""
        if self._is_watched and unit in self.reasons:
            raise BadInput(self.reasons[unit], self.way_out)
        return self.done.get(unit, Done())


def program_world(behaviour: Behaviour | None = None, missing: str = "") -> World[ProgramState]:
    """The world of programs. `behaviour`: of the program of a run; None where it is not run;
    `missing`: the reason why.
    """
    behaviour = behaviour or Behaviour()
    return World(
        NAME, RULES, EVENTS, initial, partial(_decide, behaviour), evolve, ended,
        pending_fault=lambda state, inputs: "inputs are recorded with what was asked",
        close=close,
        digest=digest,
        copy=deepcopy,
        fork=fork,
        show_fork=show_fork,
        vocabulary=VOCABULARY,
        missing=missing or None,
        source=behaviour.source,
        watching=behaviour.watching,
    )  # fmt: skip


def _decide(behaviour: Behaviour, state: ProgramState, inputs: Block) -> list[Batch]:
    codes = [code for code, _ in inputs]
    restarts = inputs.rows(RESTARTED)
    kinds = codes[1:] if restarts else codes
    if kinds not in ([ANSWERED], [EXITED]) or len(inputs.batches[-1][1]) > 1 or len(restarts) > 1:
        raise InvalidInputs("a unit has one answer, or the end of the program")
    if restarts and restarts[0][0] not in (state.process, state.process + 1):
        raise InvalidInputs(f"process {restarts[0][0]} follows process {state.process}")
    done = behaviour.of(state.unit + 1)
    stored = state.seen.stored
    derived: list[Batch] = [(NOTED, [(name, stored(value)) for name, value in done.notes])]
    last = done.last() if callable(done.last) else done.last
    if isinstance(last, Asked):
        *known, body = msgspec.structs.astuple(last)
        derived.append((ASKED, [(*known, stored(body))]))
    elif last is not None:
        derived.append((ENDED, [(last.code, last.outputs)]))
    return derived
