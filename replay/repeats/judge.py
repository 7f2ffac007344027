"""Whether a subject repeats: it is run in fresh processes, under three hash seeds, and compared."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import gettempdir  # noqa: TID251  # which makes nothing
from threading import Lock
from typing import Final

import attrs

from goldrush.kernel.errors import BadInput, format_value
from goldrush.replay.arguments import OnStep
from goldrush.replay.repeats.child import run_once
from goldrush.replay.repeats.compare import Split, leaf_that_differs, split_of, split_of_states
from goldrush.replay.repeats.diagnose import RUNS_MAX, Run, diagnosed
from goldrush.replay.repeats.trace import SECONDS, STEPS_MAX, Order, Trace
from goldrush.replay.repeats.verdict import Difference, Repeats

_HASH_SEEDS: Final = (0, 0, 1, 2)
_PAIRS: Final = ((0, 1), (0, 2), (0, 3))  # of the runs: a difference under one hash seed says more
_MORE: Final = {"world": 2, "function": 0}  # rows than steps, if not one: what was made, or reset
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
    on_step: OnStep | None = None,
) -> Repeats:
    """Whether a model, an environment, a world or a function gives the same run again from its
    seed: it is run four times, in fresh processes, under three hash seeds.
    If not, it is run again: at most 8 times for the values that differ, 100 for the causes.

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
        on_step: called behind each run with what it is made for, how many were, and at most are.

    Raises:
        BadInput: for a target that cannot be found, made or run.
    """
    if steps is not None and not 0 < steps <= STEPS_MAX:
        raise BadInput(f"steps is {format_value(steps)}", f"give 1 to {STEPS_MAX:,}")
    order = Order(located(target), seed, steps, _checked(settings or {}))
    run = _Runs(timeout, on_step)
    orders = [attrs.evolve(order, again=True), *[order] * (len(_HASH_SEEDS) - 1)]
    first = run(orders[0], _HASH_SEEDS[0])
    # One after the other, if they write files: the next one may read what is half written.
    with ThreadPoolExecutor(1 if first.files_written else os.cpu_count()) as pool:
        traces = [first, *pool.map(run, orders[1:], _HASH_SEEDS[1:])]
    refusal = BadInput(f"{order.target} cannot be run: {first.error}", "mend it, or name another")
    if not first.steps:
        raise refusal
    verdict = Repeats(
        order.target, order.settings, first.kind, seed if first.is_seeded else None,
        first.steps[-1] + 1 - _MORE.get(first.kind, 1), len(traces), not_seen=first.not_seen,
        files_read=_files(traces, "files_read"), files_written=_files(traces, "files_written"),
    )  # fmt: skip
    for a, b in _PAIRS:
        split = split_of(traces[a], traces[b])
        if split is not None:
            pair = (_HASH_SEEDS[a], _HASH_SEEDS[b])
            difference = _difference(order, split, (traces[a], traces[b]), pair, run)
            verdict = attrs.evolve(verdict, difference=difference)
            return diagnosed(verdict, run, order, pair) if causes else verdict
    if first.error and verdict.steps < 1:
        raise refusal
    forgets = None if first.again is None else first.rows == first.again
    return attrs.evolve(
        verdict, error=first.error, reset_forgets=forgets,
        generators=_generators_that_differ(order, traces, run),
    )  # fmt: skip


class _Runs:
    """Makes runs, and tells so."""

    def __init__(self, seconds: float, on_step: OnStep | None) -> None:
        self._seconds, self._on_step = seconds, on_step
        self._made, self._lock = Counter[str](), Lock()

    def __call__(self, order: Order, hash_seed: int) -> Trace:
        trace = run_once(order, hash_seed, self._seconds)
        if self._on_step is not None:
            what, most = "runs", len(_HASH_SEEDS)
            if order.fixes is not None:
                what, most = "runs for causes, at most", RUNS_MAX
            elif order.leaves_at is not None:
                what, most = "runs for values, at most", 2 * _TRIES
            with self._lock:  # runs are made by several threads
                self._made[what] += 1
                self._on_step(what, self._made[what], most)
        return trace


def _generators_that_differ(order: Order, traces: Sequence[Trace], run: Run) -> Sequence[str]:
    """The paths of generators whose state differs in runs that are equal otherwise."""
    splits = [split_of_states(traces[a], traces[b]) for a, b in _PAIRS]
    split = next(filter(None, splits), None)
    if split is None:
        return ()
    telling = attrs.evolve(order, leaves_at=split.step, leaves_of=split.names)
    told = [
        {leaf for leaf in run(telling, hash_seed).leaves if leaf.is_generator}
        for hash_seed in _HASH_SEEDS[:2]
    ]
    return sorted({leaf.path for leaf in told[0] ^ told[1]})


def _files(traces: Sequence[Trace], name: str) -> Sequence[str]:
    """Files that the runs read, or wrote; but no temporary ones that only one of them opened."""
    opened = Counter(path for trace in traces for path in {*trace.files_read, *trace.files_written})
    temporary = os.path.join(gettempdir(), "")
    paths = {path for trace in traces for path in getattr(trace, name)}
    return sorted(p for p in paths if opened[p] > 1 or not p.startswith(temporary))


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


def _difference(
    order: Order, split: Split, traces: tuple[Trace, Trace], hash_seeds: tuple[int, int], run: Run
) -> Difference:
    """The first difference of two runs, with its values: they are run again to that step."""
    told: Difference | None = None
    for _ in range(_TRIES):
        if not split.names:
            a, b = (_end(trace, split.step) for trace in traces)
            return Difference(split.step, (), "the end of the run", a, b, hash_seeds)
        first = split.same + 1  # that can differ; if others follow, they are looked at before
        names = split.names if first == split.step else ()
        telling = attrs.evolve(order, leaves_at=split.step, leaves_of=names, every_from=first)
        traces = run(telling, hash_seeds[0]), run(telling, hash_seeds[1])
        again = split_of(*traces)
        if again is None:
            continue
        found = leaf_that_differs(traces[0].leaves, traces[1].leaves)
        if found is not None:
            told = Difference(split.step, split.names, *found, hash_seeds)
            if again.step == split.step:
                return attrs.evolve(told, names=again.names)
        split = again
    unknown = f"differed in the first runs, but not in {2 * _TRIES} more"
    return told or Difference(split.step, split.names, split.names[0], unknown, unknown, hash_seeds)


def _end(trace: Trace, step: int) -> str:
    if trace.steps[-1] >= step:
        return f"goes on with step {step}"
    return trace.error or f"ends before step {step}"
