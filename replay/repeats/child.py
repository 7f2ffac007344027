"""One run of a subject, in a process of its own: stdin is a file with an order, stdout takes the
trace.

What the subject prints goes to neither: both standard files lead nowhere while it runs.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from tempfile import TemporaryFile  # noqa: TID251  # which has no name
from typing import Final

import attrs

from goldrush.kernel.errors import BadInput, format_error
from goldrush.replay.repeats.content import without_addresses
from goldrush.replay.repeats.observe import observed
from goldrush.replay.repeats.subject import Runnable, subject_of
from goldrush.replay.repeats.trace import SECONDS, Order, Trace

# As a program, not as a module: its path is that of the process which starts it, no folder more.
_PROGRAM: Final = (
    "import sys; sys.path[:] = {!r}; from goldrush.replay.repeats.child import main; main()"
)


def run_once(order: Order, seconds: float = SECONDS) -> Trace:
    """The trace of a run in a fresh process. `seconds`: the time it may take.

    Raises BadInput for a target that cannot be found, a run that takes longer, and a process that
    ends by itself.
    """
    command = [sys.executable, "-P", "-c", _PROGRAM.format([*map(str, sys.path)])]
    environment = {**os.environ, "PYTHONHASHSEED": str(order.way.hash_seed)}
    try:
        code, answer = _answered(command, environment, pickle.dumps(order), seconds)
    except subprocess.TimeoutExpired:
        raise BadInput(
            f"a run of {order.target} takes longer than {seconds:g} seconds",
            "take fewer steps (--steps), or allow more time (--timeout)",
        ) from None
    if not answer:
        raise BadInput(
            f"a run of {order.target} ended its process with code {code}",
            "call it in a Python of your own to see why",
        )
    try:
        trace: Trace = pickle.loads(answer)  # noqa: S301  # of a process that ran the user's code
    except Exception:
        raise BadInput(
            f"{order.target} could not be judged: it writes into the file of its trace",
            "let it write to files of its own and to standard output alone",
        ) from None
    if trace.refused:
        raise BadInput(*trace.refused)
    return trace


def _answered(
    command: Sequence[str], environment: Mapping[str, str], given: bytes, seconds: float
) -> tuple[int, bytes]:
    """Run a command in a process of its own, which is killed at the end with all its children.

    Returns its exit code and what it wrote to stdout. Raises TimeoutExpired.
    """
    # Files, not pipes: a process that the command leaves behind would keep these open.
    with TemporaryFile() as stdin, TemporaryFile() as stdout:
        stdin.write(given)
        stdin.seek(0)
        child = subprocess.Popen(  # noqa: S603  # this interpreter
            command, stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL, env=environment,
            start_new_session=True,
        )  # fmt: skip
        try:
            child.wait(seconds)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        stdout.seek(0)
        return child.returncode, stdout.read()


def main() -> None:
    """Carry out the order on stdin."""
    order: Order = pickle.load(sys.stdin.buffer)  # noqa: S301  # of the process that started this
    out = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)  # noqa: TID251  # a device
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    hook = import_module("goldrush.hook.goldrush_hook")  # a folder that is no package
    if not order.network:
        hook.stay_here()
    trace = _carried_out(order)
    trace = attrs.evolve(trace, kept_from=[*hook.refused])
    with os.fdopen(out, "wb") as file:
        pickle.dump(trace, file)
        file.flush()
        os._exit(0)  # threads of the subject's may still run


def _carried_out(order: Order) -> Trace:
    if order.fixes is None and not order.way.sets:
        return _made_and_run(order)
    # Imported here: a plain run imports none of it.
    from goldrush.replay.repeats.causes import ordering, watching

    if order.fixes is None:
        with ordering(order):
            return _made_and_run(order)
    with watching(order) as sightings:
        trace = _made_and_run(order, partial(setattr, sightings, "step"))
    return attrs.evolve(trace, sightings=sightings.all())


def _made_and_run(order: Order, at_step: Callable[[int], None] = lambda _: None) -> Trace:
    try:
        subject = subject_of(order)
    except BadInput as error:
        return Trace(refused=(error.what, error.instead))
    except BaseException as raised:  # whatever it raises, SystemExit included
        what = f"{order.target} cannot be made: {_text_of(raised)}"
        return Trace(refused=(what, "give it what it needs, or mend it"))
    trace = _followed(subject, order, at_step)
    if trace.error or not order.again:
        return trace
    resets = _followed(subject, order).rows == trace.rows if subject.is_reset else None
    forgets = False
    with suppress(BaseException):  # another subject may refuse to be made
        forgets = _followed(subject_of(order), order).rows == trace.rows
    return attrs.evolve(trace, resets=resets, forgets=forgets)


def _followed(
    subject: Runnable, order: Order, at_step: Callable[[int], None] = lambda _: None
) -> Trace:
    """A run to its end, to an error, or to the step whose values are told. `at_step`: called with
    the number of each step that begins, but the first.
    """
    rows, not_seen, left_out = list[Mapping[str, int]](), dict[str, int](), Counter[str]()
    leaves, compared, error = dict[str, str](), 0, ""
    try:
        for number, (names, root) in enumerate(subject.run()):
            is_last = number == order.leaves_at
            leaves_of = order.leaves_of if is_last else ()
            seen = observed(names, root, leaves_of, order.ignored)
            rows.append(seen.digests)
            for what, count in seen.not_seen.items():  # the most of a step; 0 stays
                not_seen[what] = max(count, not_seen.get(what, 0))
            left_out |= seen.left_out
            compared += seen.compared
            if is_last:
                leaves = seen.leaves
                break
            at_step(number + 1)
    except BaseException as raised:
        error = _text_of(raised)
    return Trace(
        kind=subject.kind, is_seeded=subject.is_seeded, way=order.way, rows=rows, leaves=leaves,
        not_seen=not_seen, left_out=left_out, compared=compared, error=error,
    )  # fmt: skip


def _text_of(error: BaseException) -> str:
    return without_addresses(format_error(error))
