"""One run of a subject, in a process of its own: stdin is a file with an order, stdout takes the
trace.

What the subject prints goes to neither: both standard files lead nowhere while it runs.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module

import attrs

from goldrush.kernel.errors import BadInput, format_error
from goldrush.replay.repeats.content import without_addresses
from goldrush.replay.repeats.observe import observed
from goldrush.replay.repeats.sightings import Sightings, home_of
from goldrush.replay.repeats.subject import Runnable, subject_of
from goldrush.replay.repeats.trace import Order, Trace


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
    sightings = Sightings(order.fixes or (), home_of(order.target))
    if order.fixes is None and not order.way.sets:
        return _made_and_run(order, sightings)
    # Imported here: a plain run imports none of it.
    from goldrush.replay.repeats.causes import watching

    with watching(order, sightings):
        trace = _made_and_run(order, sightings)
    return attrs.evolve(trace, sightings=sightings.all())


def _made_and_run(order: Order, sightings: Sightings) -> Trace:
    try:
        subject = subject_of(order)
    except BadInput as error:
        return Trace(refused=(error.what, error.instead))
    except BaseException as raised:  # whatever it raises, SystemExit included
        what = f"{order.target} cannot be made: {_text_of(raised)}"
        return Trace(refused=(what, "give it what it needs, or mend it"))
    trace = _followed(subject, order, sightings)
    if trace.error or not order.again:
        return trace
    resets = None
    if subject.is_reset:
        resets = _followed(subject, order, sightings).rows == trace.rows
    forgets = False
    with suppress(BaseException):  # another subject may refuse to be made
        forgets = _followed(subject_of(order), order, sightings).rows == trace.rows
    return attrs.evolve(trace, resets=resets, forgets=forgets)


def _followed(subject: Runnable, order: Order, sightings: Sightings) -> Trace:
    """A run to its end, to an error, or to the step whose values are told. `sightings`: get the
    number of each step that begins.
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
            sightings.step = number + 1
    except BaseException as raised:
        error = _text_of(raised)
    return Trace(
        kind=subject.kind, is_seeded=subject.is_seeded, way=order.way, rows=rows, leaves=leaves,
        not_seen=not_seen, left_out=left_out, compared=compared, error=error,
    )  # fmt: skip


def _text_of(error: BaseException) -> str:
    return without_addresses(format_error(error))
