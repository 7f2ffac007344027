"""Whether a subject repeats: it is run in fresh processes, under several hash seeds and two orders
of sets, and compared.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import count
from tempfile import TemporaryFile  # noqa: TID251  # which has no name
from threading import Lock
from typing import Final

import attrs

from goldrush.kernel.errors import BadInput, format_value
from goldrush.replay.arguments import OnStep
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
# As a program, not as a module: its path is that of the process which starts it, no folder more.
_PROGRAM: Final = (
    "import sys; sys.path[:] = {!r}; from goldrush.replay.repeats.child import main; main()"
)
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
    network: bool = False,
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
        network: whether it may connect to other machines. Python's sockets refuse it else.
        on_step: called behind each run with what it is made for, how many were, and at most are.

    Raises:
        BadInput: for a target that cannot be found, made or run, or of which nothing is compared.
    """
    if steps is not None and not 0 < steps <= STEPS_MAX:
        raise BadInput(f"steps is {format_value(steps)}", f"give 1 to {STEPS_MAX:,}")
    order = Order(
        located(target), seed, steps, _checked(settings or {}), seed_parameter, tuple(ignore),
        network,
    )  # fmt: skip
    run = partial(run_once, seconds=timeout)
    return _judged(order, causes, partial(counted, run, on_step))


def _judged(order: Order, causes: bool, runs: Callable[[str, int], Run]) -> Repeats:
    """The verdict on what an order names, by runs that are counted by what they are made for."""
    run = runs("runs", 2 + len(_IN_ORDER) + len(_MORE_SEEDS))
    notes = []
    try:
        first = run(attrs.evolve(order, again=True))
    except BadInput as error:
        first = run(order)
        notes = [f"Another {first.kind} in the same process was not judged: {error.what}."]
    refusal = BadInput(f"{order.target} cannot be run: {first.error}", "mend it, or name another")
    if not first.rows:
        raise refusal
    traces = _compared(order, run, first)
    if not any(trace.way.sets for trace in traces):
        notes.append("Not judged under opposite orders of sets: the subject does not run so.")
    if not first.is_seeded:
        notes.append("It takes no seed; if a parameter is one, name it: --seed-parameter NAME.")
    verdict = Repeats(
        order.target, order.settings, first.kind, order.seed if first.is_seeded else None,
        len(first.rows) - _MORE_ROWS.get(first.kind, 1), len(traces),
        len({trace.way.hash_seed for trace in traces}),
        not_seen=first.not_seen, kept_from=first.kept_from, notes=notes,
        left_out={path: first.left_out.get(path, 0) for path in order.ignored},
    )  # fmt: skip
    if (other := _differing(first, traces)) is not None:
        run = runs("runs for values, at most", 2 * _TRIES)
        verdict = attrs.evolve(verdict, difference=_difference(order, (first, other), run))
        run = runs("runs for causes, at most", RUNS_MAX)
        return diagnosed(verdict, run, order, (first.way, other.way)) if causes else verdict
    if first.error and verdict.steps < 1:
        raise refusal
    if not first.compared:
        left = ", ".join([*verdict.not_seen, *order.ignored]) or "it holds and returns nothing"
        raise BadInput(
            f"{order.target} could not be judged: nothing of it was compared ({left})",
            "keep what it does in attributes, or name a function that returns it",
        )
    return attrs.evolve(verdict, error=first.error, resets=first.resets, forgets=first.forgets)


def _compared(order: Order, run: Run, first: Trace) -> Sequence[Trace]:
    """Run a subject once more as it was, and with sets in opposite orders, unless this breaks or
    changes it; if all are equal, under more hash seeds, for sets that libraries and C code iterate
    over: three miss a fourth of the sets of two texts there.

    Returns all runs that must be equal.
    """
    end = time.monotonic() + _MORE_SECONDS
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        again = pool.submit(run, order)
        ordered = [pool.submit(run, attrs.evolve(order, way=way)) for way in _IN_ORDER]
        traces = [first, again.result()]
        with suppress(BadInput):
            up, down = (future.result() for future in ordered)
            if split_of(first, up) is None or split_of(up, down) is not None:
                traces += [up, down]
        if _differing(first, traces) is None:
            orders = [attrs.evolve(order, way=Way(hash_seed)) for hash_seed in _MORE_SEEDS]
            more = pool.map(lambda each: run(each) if time.monotonic() < end else None, orders)
            traces += [trace for trace in more if trace is not None]
    return traces


def _differing(first: Trace, traces: Sequence[Trace]) -> Trace | None:
    """The first run that is not as another; None if all are."""
    return next((trace for trace in traces if split_of(first, trace) is not None), None)


def counted(run: Run, on_step: OnStep | None, what: str, most: int) -> Run:
    """What makes runs, and tells how many of at most `most` were made."""
    numbers, lock = count(1), Lock()

    def run_and_tell(order: Order) -> Trace:
        trace = run(order)
        if on_step is not None:
            with lock:  # runs are made by several threads
                on_step(what, next(numbers), most)
        return trace

    return run_and_tell


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
    path, spec = getattr(module, "__file__", None), getattr(module, "__spec__", None)
    if "<" in name or path is None:
        raise BadInput(
            f"{format_value(target)} has no name in a file",
            "give a class or a function that is defined at the top of a module",
        )
    return f"{path if spec is None else spec.name}:{name}"  # a program has no specification


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
