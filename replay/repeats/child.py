"""One run of a subject, in a process of its own: an order comes on stdin, the trace goes to stdout.

What the subject prints goes to neither: both standard files lead nowhere while it runs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import attrs

from goldrush.kernel.errors import BadInput, format_error
from goldrush.replay.repeats.files import OpenedFiles
from goldrush.replay.repeats.observe import observed
from goldrush.replay.repeats.sightings import home_of
from goldrush.replay.repeats.subject import Runnable, Shown, subject_of
from goldrush.replay.repeats.trace import SECONDS, Leaf, Order, Row, Trace

VALUES_A_STEP: Final = 100_000  # to look at them takes a tenth of a second
# As a program, not as a module: its path is that of the process which starts it, no folder more.
_PROGRAM: Final = (
    "import sys; sys.path[:] = {!r}; from goldrush.replay.repeats.child import main; main()"
)


def run_once(order: Order, hash_seed: int, seconds: float = SECONDS) -> Trace:
    """The trace of a run in a fresh process. `seconds`: the time it may take.

    Raises BadInput for a target that cannot be found, a run that takes longer, and a process that
    ends by itself.
    """
    command = [sys.executable, "-P", "-c", _PROGRAM.format([*map(str, sys.path)])]
    with subprocess.Popen(  # noqa: S603  # this interpreter
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed)}, start_new_session=True,
    ) as child:  # fmt: skip
        try:
            out, _ = child.communicate(order.text().encode(), seconds)
        except subprocess.TimeoutExpired:
            raise BadInput(
                f"a run of {order.target} takes longer than {seconds:g} seconds",
                "take fewer steps (--steps), or allow more time (--timeout)",
            ) from None
        finally:
            with suppress(ProcessLookupError):  # its own children, too
                os.killpg(child.pid, signal.SIGKILL)
    if not out:
        raise BadInput(
            f"a run of {order.target} ended its process with code {child.returncode}",
            "call it in a Python of your own to see why",
        )
    trace = Trace.of(out)
    if trace.refused:
        raise BadInput(*trace.refused)
    return trace


def main() -> None:
    """Carry out the order on stdin."""
    order = Order.of(sys.stdin.read())
    out = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)  # noqa: TID251  # a device
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    files = OpenedFiles()
    trace = _carried_out(order)
    trace = attrs.evolve(trace, files_read=files.read(), files_written=files.written())
    with os.fdopen(out, "w") as file:
        file.write(trace.text())
        file.flush()
        os._exit(0)  # threads of the subject's may still run


def _carried_out(order: Order) -> Trace:
    if order.fixes is None:
        return _made_and_run(order)
    from goldrush.replay.repeats.causes import watching  # here: a plain run imports none of it

    with watching(
        order.fixes, home_of(order.target), order.files, order.epochs, one_epoch=order.one_epoch
    ) as sightings:
        trace = _made_and_run(order, sightings.at_step)
    return attrs.evolve(trace, sightings=sightings.all())


def _made_and_run(order: Order, at_step: Callable[[int], None] = lambda _: None) -> Trace:
    try:
        subject = subject_of(order)
    except BadInput as error:
        return Trace(refused=(error.what, error.instead))
    except BaseException as error:  # whatever it raises, SystemExit included
        what = f"{order.target} cannot be made: {format_error(error)}"
        return Trace(refused=(what, "give it what it needs, or mend it"))
    return _run(subject, order, at_step)


def _run(subject: Runnable, order: Order, at_step: Callable[[int], None]) -> Trace:
    record, error = _Record(order), ""
    try:
        record.follow(subject, at_step)
    except BaseException as raised:
        error = format_error(raised)
    again = None
    if order.again and subject.is_reset and not error:
        second = _Record(order)
        with suppress(Exception):  # it is shorter then
            second.follow(subject)
        again = second.rows
    return Trace(
        kind=subject.kind, is_seeded=subject.is_seeded, steps=record.steps, rows=record.rows,
        states=record.states, again=again, leaves=record.leaves,
        not_seen=sorted(record.not_seen), error=error,
    )  # fmt: skip


class _Record:
    """What the steps of a run show. Of one with more values than VALUES_A_STEP, some steps: as many
    are left out as make up for the values of the one before. The last is looked at.
    """

    def __init__(self, order: Order) -> None:
        self._order = order
        self.steps: list[int] = []
        self.rows: list[Row] = []
        self.states: list[Row] = []
        self.leaves: list[Leaf] = []
        self.not_seen: set[str] = set()

    def follow(self, subject: Runnable, at_step: Callable[[int], None] = lambda _: None) -> None:
        """Run the subject to its end, or to the step whose values are told. `at_step`: called with
        the number of each step that begins, but the first.
        """
        order, due, last = self._order, 0, None
        for number, step in enumerate(subject.run()):
            last = number, step
            is_last = number == order.leaves_at
            is_in_range = order.every_from is not None and number >= order.every_from
            if number >= due or is_in_range or is_last:
                due = number + 1 + self._look(number, step) // VALUES_A_STEP
            if is_last:
                return
            at_step(number + 1)
        if last is not None and last[0] != self.steps[-1]:
            self._look(*last)

    def _look(self, number: int, shown: Shown) -> int:
        is_told = number == self._order.leaves_at
        seen = observed(shown.names, shown.root, self._order.leaves_of if is_told else ())
        self.steps.append(number)
        self.rows.append(seen.digests)
        self.states.append(seen.states)
        self.leaves += seen.leaves
        self.not_seen |= seen.not_seen
        return seen.size
