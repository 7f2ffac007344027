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
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir  # noqa: TID251  # which makes nothing
from threading import Lock
from typing import Any, Final

import attrs

from goldrush.kernel.errors import BadInput, format_value
from goldrush.replay.arguments import OnStep
from goldrush.replay.repeats.child import run_once
from goldrush.replay.repeats.compare import Split, leaf_that_differs, split_of, split_of_states
from goldrush.replay.repeats.diagnose import RUNS_MAX, Run, diagnosed
from goldrush.replay.repeats.trace import SECONDS, STEPS_MAX, Order, Trace, Way
from goldrush.replay.repeats.verdict import Difference, Repeats

_PLAIN: Final = (Way(0), Way(0), Way(1), Way(2))
_IN_ORDER: Final = (Way(1, "up"), Way(2, "down"))  # which any two orders of a set lie between
# Of 5,151 pairs of short texts, no set has the same order under 0, 1, 2 and all of these.
_MORE_SEEDS: Final = (9, 57, 148, 26, 6)
_MORE_SECONDS: Final = 60.0  # after which no further run of these begins
_PAIRS: Final = ((0, 1), (0, 2), (0, 3), (2, 3))  # a difference under one hash seed says more
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
    ignore: Sequence[str] = (),
    seed_parameter: str | None = None,
    on_step: OnStep | None = None,
) -> Repeats:
    """Whether a model, an environment, a world or a function gives the same run again from its
    seed: it is run four times, in fresh processes, under three hash seeds; in two of them its own
    code iterates over sets in opposite orders. In one, another is made and run after the first.
    If they agree, it is run five times more, under other hash seeds, unless it is a world's or that
    takes a minute. If not, it is run again: at most 8 times for the values that differ, 150 for
    the causes.

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
    made = _with_more(order, run, _four(order, run))
    first, ways, traces = made.traces[0], made.ways, made.traces
    refusal = BadInput(f"{order.target} cannot be run: {first.error}", "mend it, or name another")
    if not first.steps:
        raise refusal
    verdict = _of_equal_runs(order, made)
    for a, b in (*_PAIRS, *((0, number) for number in range(len(_PLAIN), len(traces)))):
        split = split_of(traces[a], traces[b])
        if split is not None:
            pair = (ways[a], ways[b])
            difference = _difference(order, split, (traces[a], traces[b]), pair, run)
            verdict = attrs.evolve(verdict, difference=difference)
            return diagnosed(verdict, run, order, pair) if causes else verdict
    if first.error and verdict.steps < 1:
        raise refusal
    if not first.compared:
        left = ", ".join([*verdict.not_seen, *order.ignored]) or "it holds and returns nothing"
        raise BadInput(
            f"{order.target} could not be judged: nothing of it was compared ({left})",
            "keep what it does in attributes, or name a function that returns it",
        )
    return attrs.evolve(
        verdict, not_ordered=made.not_ordered, error=first.error,
        generators=_generators_that_differ(order, traces, run), **_memory(first),
    )  # fmt: skip


@attrs.frozen
class _Made:
    """The ways of runs and their traces; and why none has sets in opposite orders, if so."""

    ways: Sequence[Way]
    traces: Sequence[Trace]
    not_ordered: str = ""


def _of_equal_runs(order: Order, made: _Made) -> Repeats:
    """The verdict on runs, as long as no difference of them is known."""
    first = made.traces[0]
    return Repeats(
        order.target, order.settings, first.kind, order.seed if first.is_seeded else None,
        first.steps[-1] + 1 - _MORE.get(first.kind, 1), len(made.traces),
        len({way.hash_seed for way in made.ways}),
        not_seen=first.not_seen,
        left_out={path: first.left_out.get(path, 0) for path in order.ignored},
        files_read=_files(made.traces, "files_read"),
        files_written=_files(made.traces, "files_written"),
    )  # fmt: skip


def _four(order: Order, run: _Runs) -> _Made:
    """The first run makes the subject again. Two are run as they are; two have sets in opposite
    orders, unless this changes or breaks the run: then these are run as they are, too.
    """
    first = run(attrs.evolve(order, again=True), _PLAIN[0])
    # One after the other, if they write files: the next one may read what is half written.
    with ThreadPoolExecutor(1 if first.files_written else os.cpu_count()) as pool:

        def made(ways: Sequence[Way]) -> Sequence[Future[Trace]]:
            return [pool.submit(run, order, way) for way in ways]

        again, ordered = made(_PLAIN[1:2]), made(_IN_ORDER if first.steps else ())
        traces = [first, *(future.result() for future in again)]
        why = "the subject does not run in this way"
        with suppress(BadInput, ValueError):
            up, down = (future.result() for future in ordered)
            is_as_plain = split_of(first, up) is None
            if is_as_plain or (split_of(up, down) is not None and up.error == first.error):
                return _Made((*_PLAIN[:2], *_IN_ORDER), [*traces, up, down])
            if up.error == first.error:
                why = "under both, the run is the same, but another than without them"
        return _Made(_PLAIN, [*traces, *(future.result() for future in made(_PLAIN[2:]))], why)


def _with_more(order: Order, run: Run, four: _Made) -> _Made:
    """As _four, with runs under more hash seeds if all are equal and as many as time allows: in
    libraries and C code, whose sets have their own order, three hash seeds miss a fourth of the
    sets of two texts. What worlds record is their own code's.
    """
    first = four.traces[0]
    is_equal = all(split_of(first, trace) is None for trace in four.traces)
    if first.kind == "world" or not first.steps or not is_equal:
        return four
    more, end = [Way(hash_seed) for hash_seed in _MORE_SEEDS], time.monotonic() + _MORE_SECONDS
    with ThreadPoolExecutor(1 if first.files_written else os.cpu_count()) as pool:
        made = pool.map(lambda way: run(order, way) if time.monotonic() < end else None, more)
        further = [trace for trace in made if trace is not None]
    ways = (*four.ways, *more[: len(further)])
    return attrs.evolve(four, ways=ways, traces=[*four.traces, *further])


def _memory(first: Trace) -> dict[str, Any]:
    """What further runs in the process of the first one say of its memory."""
    if first.ended_with is not None:
        return {"reset_forgets": False, "ended_with": first.ended_with}
    if first.another is None:
        return {}
    made = [first.rows, first.states]
    forgets = None if first.again is None else first.again == made
    is_alike = first.another == made
    remembers = () if is_alike else first.remembers
    return {
        "reset_forgets": forgets is not False and is_alike,
        "resets": forgets,
        "remembers": remembers,
    }


class _Runs:
    """Makes runs, and tells so."""

    def __init__(self, seconds: float, on_step: OnStep | None) -> None:
        self._seconds, self._on_step = seconds, on_step
        self._made, self._lock = Counter[str](), Lock()

    def __call__(self, order: Order, way: Way) -> Trace:
        trace = run_once(attrs.evolve(order, sets=way.sets), way.hash_seed, self._seconds)
        if self._on_step is not None:
            what, most = "runs", len(_PLAIN)
            if order.fixes is not None:
                what, most = "runs for causes, at most", RUNS_MAX
            elif order.leaves_at is not None:
                what, most = "runs for values, at most", 2 * _TRIES
            elif self._made["runs"] >= most:
                most += len(_MORE_SEEDS)
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
    told = [{leaf for leaf in run(telling, way).leaves if leaf.is_generator} for way in _PLAIN[:2]]
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
    order: Order, split: Split, traces: tuple[Trace, Trace], ways: tuple[Way, Way], run: Run
) -> Difference:
    """The first difference of two runs, with its values: they are run again to that step."""
    told: Difference | None = None
    for _ in range(_TRIES):
        if not split.names:
            a, b = (_end(trace, split.step) for trace in traces)
            return Difference(split.step, (), "the end of the run", a, b, ways)
        first = split.same + 1  # that can differ; if others follow, they are looked at before
        names = split.names if first == split.step else ()
        telling = attrs.evolve(order, leaves_at=split.step, leaves_of=names, every_from=first)
        traces = run(telling, ways[0]), run(telling, ways[1])
        again = split_of(*traces)
        if again is None:
            continue
        found = leaf_that_differs(traces[0].leaves, traces[1].leaves)
        if found is not None:
            told = Difference(split.step, split.names, *found, ways)
            if again.step == split.step:
                return attrs.evolve(told, names=again.names)
        split = again
    unknown = f"differed in the first runs, but not in {2 * _TRIES} more"
    return told or Difference(split.step, split.names, split.names[0], unknown, unknown, ways)


def _end(trace: Trace, step: int) -> str:
    if trace.steps[-1] >= step:
        return f"goes on with step {step}"
    return trace.error or f"ends before step {step}"
