"""One run of a subject, in a process of its own: an order comes on stdin, the trace goes to stdout.

What the subject prints goes to neither: both standard files lead nowhere while it runs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Final

import attrs

from goldrush.kernel.errors import BadInput, format_error
from goldrush.replay.repeats.observe import observed
from goldrush.replay.repeats.sightings import home_of
from goldrush.replay.repeats.subject import Subject, subject_of
from goldrush.replay.repeats.trace import SECONDS, Leaf, Order, Row, Trace

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
    trace = _carried_out(order)
    with os.fdopen(out, "w") as file:
        file.write(trace.text())
        file.flush()
        os._exit(0)  # threads of the subject's may still run


def _carried_out(order: Order) -> Trace:
    if order.fixes is None:
        return _made_and_run(order)
    from goldrush.replay.repeats.causes import watching  # here: a plain run imports none of it

    with watching(order.fixes, home_of(order.target)) as sightings:
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


def _run(subject: Subject, order: Order, at_step: Callable[[int], None]) -> Trace:
    rows, states, leaves, not_seen = list[Row](), list[Row](), list[Leaf](), set[str]()
    error = ""
    try:
        for number, step in enumerate(subject.run()):
            told = order.leaves_of if number == order.leaves_at else ()
            seen = observed(step.names, step.root, told)
            rows.append(seen.digests)
            states.append(seen.states)
            leaves += seen.leaves
            not_seen |= seen.not_seen
            if told:
                break
            at_step(number + 1)
    except BaseException as raised:
        error = format_error(raised)
    is_run_again = order.again and subject.is_reset and not error
    again = [*_rows_of(subject, len(rows))] if is_run_again else None
    return Trace(
        kind=subject.kind, is_seeded=subject.is_seeded, rows=rows, states=states, again=again,
        leaves=leaves, not_seen=sorted(not_seen), error=error,
    )  # fmt: skip


def _rows_of(subject: Subject, most: int) -> Iterator[Row]:
    """The rows of a subject that is run again, up to an error."""
    steps = islice(subject.run(), most)
    with suppress(Exception):
        for step in steps:
            yield observed(step.names, step.root).digests
