"""Whether a subject repeats: it is run in fresh processes, under several hash seeds and two orders
of sets, and compared.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Final

import attrs

from goldrush.kernel.errors import BadInput, format_value
from goldrush.replay.arguments import OnStep
from goldrush.replay.repeats.child import run_once
from goldrush.replay.repeats.diagnose import RUNS_MAX, Run, diagnosed
from goldrush.replay.repeats.trace import (
    SECONDS,
    STEPS_MAX,
    Order,
    Trace,
    Way,
    leaf_that_differs,
    split_of,
)
from goldrush.replay.repeats.verdict import Difference, Repeats

_IN_ORDER: Final = (Way(1, "up"), Way(2, "down"))  # which any two orders of a set lie between
# Of 5,151 pairs of short texts, no set has the same order under 0, 1, 2 and all of these.
_MORE_SEEDS: Final = (9, 57, 148, 26, 6)
_MORE_SECONDS: Final = 60.0  # after which no further run of these begins
_MORE_ROWS: Final = {"world": 2, "function": 0}  # than steps, if not one: what was made, or reset
_TRIES: Final = 4  # to see the two values: a subject may part elsewhere each time
Target = str | type | Callable[..., object]


def repeats(
    target: Target,
    *,
    seed: int = 1,
    steps: int | None = None,
    settings: Mapping[str, object] | None = None,
    timeout: float = SECONDS,
    causes: bool = True,
    ignore: Sequence[str] = (),
    seed_parameter: str | None = None,
    on_step: OnStep | None = None,
) -> Repeats:
    """Whether a model, an environment, a world or a function gives the same run again from its
    seed: it is run four times, in fresh processes; in two of them its own code iterates over sets
    in opposite orders. In one, another is made and run after the first. If they agree, it is run
    under further hash seeds, until that takes a minute. If not, it is run again: at most 8 times
    for the values that differ, and for the causes as often as `RUNS_MAX` says.

    Args:
        target: `package.module:NAME`, `FILE.py:NAME`, or the class or function itself; or an id of
            Gymnasium, the name of a world, or the file of a game. A model is an object with
            `step()`, made with a parameter `seed` or `rng`; an environment (Gymnasium; PettingZoo,
            parallel or AEC) is made without one and reset by it; a function is called with it.
        seed: of the model, the environment, the world or the function, and of the actions.
        steps: how many; None: 100, and for a world its own number.
        settings: other parameters, by name; values that JSON has.
        timeout: seconds for each run.
        causes: whether to look for causes.
        ignore: paths of values that are not compared, as verdicts print them: `info['episode']`;
            `[*]` stands for any key.
        seed_parameter: the parameter, also of an environment's reset, that takes the seed; None:
            the one with a known name (`seed`, `rng`, `random_state`...); "": none does.
        on_step: called behind each run with what it is made for, how many were, and at most are.

    Raises:
        BadInput: for a target that cannot be found, made or run, or of which nothing is compared.
    """
    if steps is not None and not 0 < steps <= STEPS_MAX:
        raise BadInput(f"steps is {format_value(steps)}", f"give 1 to {STEPS_MAX:,}")
    order = Order(
        located(target), seed, steps, _checked(settings or {}), seed_parameter, tuple(ignore)
    )
    run = _Runs(timeout, on_step)
    not_tried = ""
    try:
        first = run(attrs.evolve(order, again=True))
    except BadInput as error:
        first, not_tried = run(order), error.what
    refusal = BadInput(f"{order.target} cannot be run: {first.error}", "mend it, or name another")
    if not first.rows:
        raise refusal
    made = _made(order, run, first)
    verdict = Repeats(
        order.target, order.settings, first.kind, order.seed if first.is_seeded else None,
        len(first.rows) - _MORE_ROWS.get(first.kind, 1), len(made.traces),
        len({trace.way.hash_seed for trace in made.traces}),
        not_seen=first.not_seen, is_ordered=made.is_ordered,
        left_out={path: first.left_out.get(path, 0) for path in order.ignored},
        files_read=_files(made.traces, "files_read"),
        files_written=_files(made.traces, "files_written"),
    )  # fmt: skip
    if made.differing is not None:
        difference = _difference(order, made.differing, run)
        verdict = attrs.evolve(verdict, difference=difference)
        return diagnosed(verdict, run, order, difference.ways) if causes else verdict
    if first.error and verdict.steps < 1:
        raise refusal
    if not first.compared:
        left = ", ".join([*verdict.not_seen, *order.ignored]) or "it holds and returns nothing"
        raise BadInput(
            f"{order.target} could not be judged: nothing of it was compared ({left})",
            "keep what it does in attributes, or name a function that returns it",
        )
    return attrs.evolve(
        verdict, error=first.error, resets=first.resets, forgets=first.forgets,
        not_tried=not_tried,
    )  # fmt: skip


@attrs.frozen
class _Made:
    """The runs that are compared.

    Attributes:
        traces: of all.
        is_ordered: whether two of them have sets in opposite orders.
        differing: the first two that differ, of those that must be equal; None: none do.
    """

    traces: Sequence[Trace]
    is_ordered: bool
    differing: tuple[Trace, Trace] | None


def _made(order: Order, run: Run, first: Trace) -> _Made:
    """Run a subject once more as it was, and with sets in opposite orders, unless this breaks or
    changes it; if all are equal, under more hash seeds, for sets that libraries and C code iterate
    over: three miss a fourth of the sets of two texts there.
    """
    end = time.monotonic() + _MORE_SECONDS
    # One after the other, if they write files: the next one may read what is half written.
    with ThreadPoolExecutor(1 if first.files_written else os.cpu_count()) as pool:
        again = pool.submit(run, order)
        ordered = [pool.submit(run, attrs.evolve(order, way=way)) for way in _IN_ORDER]
        traces, is_ordered = [first, again.result()], False
        pairs = [(first, traces[1])]
        with suppress(BadInput):
            up, down = (future.result() for future in ordered)
            is_ordered = split_of(first, up) is None or split_of(up, down) is not None
        if is_ordered:
            traces += [up, down]
            pairs += [(first, up), (first, down)]
        differing = _differing(pairs)
        if differing is None:
            orders = [attrs.evolve(order, way=Way(hash_seed)) for hash_seed in _MORE_SEEDS]
            made = pool.map(lambda each: run(each) if time.monotonic() < end else None, orders)
            more = [trace for trace in made if trace is not None]
            traces += more
            differing = _differing([(first, trace) for trace in more])
    return _Made(traces, is_ordered, differing)


def _differing(pairs: Sequence[tuple[Trace, Trace]]) -> tuple[Trace, Trace] | None:
    return next((pair for pair in pairs if split_of(*pair) is not None), None)


class _Runs:
    """Makes runs, and tells so."""

    def __init__(self, seconds: float, on_step: OnStep | None) -> None:
        self._seconds, self._on_step = seconds, on_step
        self._made, self._lock = Counter[str](), Lock()

    def __call__(self, order: Order) -> Trace:
        trace = run_once(order, self._seconds)
        if self._on_step is not None:
            what, most = "runs", 2 + len(_IN_ORDER) + len(_MORE_SEEDS)
            if order.fixes is not None:
                what, most = "runs for causes, at most", RUNS_MAX
            elif order.leaves_at is not None:
                what, most = "runs for values, at most", 2 * _TRIES
            with self._lock:  # runs are made by several threads
                self._made[what] += 1
                self._on_step(what, self._made[what], most)
        return trace


def _files(traces: Sequence[Trace], name: str) -> Sequence[str]:
    """Files that the runs read, or wrote, and that more than one of them opened."""
    opened = Counter(path for trace in traces for path in {*trace.files_read, *trace.files_written})
    paths = {path for trace in traces for path in getattr(trace, name)}
    return sorted(path for path in paths if opened[path] > 1)


def _checked(settings: Mapping[str, object]) -> Mapping[str, object]:
    try:
        json.dumps(settings)
    except (TypeError, ValueError):
        raise BadInput(
            f"the settings are {format_value(settings)}",
            "give values that JSON has, or a function that makes the others",
        ) from None
    if named := {"seed", "rng"}.intersection(settings):
        raise BadInput(f"the settings have {min(named)}", "give the seed by --seed")
    return settings


def located(target: Target) -> str:
    """A target as text: a class or a function by its module or file, and its name there. Raises
    BadInput for one that has no name in a module.
    """
    if isinstance(target, str):
        return target
    name = getattr(target, "__qualname__", "<>")
    module = sys.modules.get(getattr(target, "__module__", ""))
    path = getattr(module, "__file__", None)
    if "<" in name or module is None or path is None:
        raise BadInput(
            f"{format_value(target)} has no name in a file",
            "give a class or a function that is defined at the top of a module",
        )
    return f"{path if _found_at(module.__name__) != Path(path) else module.__name__}:{name}"


def _found_at(module: str) -> Path | None:
    """Where another process finds a module by its name."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):  # __main__
        return None
    return None if spec is None or spec.origin is None else Path(spec.origin)


def _difference(order: Order, pair: tuple[Trace, Trace], run: Run) -> Difference:
    """The first difference of two runs, with its values: they are run again to that step."""
    ways, split = (pair[0].way, pair[1].way), split_of(*pair)
    assert split is not None  # they differ
    if not split.names:
        end_a, end_b = (_end(trace, split.step) for trace in pair)
        return Difference(split.step, (), "the end of the run", end_a, end_b, ways)
    telling = attrs.evolve(order, leaves_at=split.step, leaves_of=split.names)
    for _ in range(_TRIES):
        a, b = (run(attrs.evolve(telling, way=way)).leaves for way in ways)
        if (found := leaf_that_differs(a, b)) is not None:
            return Difference(split.step, split.names, *found, ways)
    unknown = f"differed in the first runs, but not in {2 * _TRIES} more"
    return Difference(split.step, split.names, split.names[0], unknown, unknown, ways)


def _end(trace: Trace, step: int) -> str:
    if len(trace.rows) > step:
        return f"goes on with step {step}"
    return trace.error or f"ends before step {step}"
