"""Why a subject does not repeat: each place that matters, found by removing it and putting it back.

All places that a run comes by are fixed, which must make the subject repeat. Then places are put
back, all others fixed: what breaks the run again is confirmed. Groups are put back at once and
halved while they break it, so that a hundred innocent places cost a few runs. If what is left then
still breaks it, places do so together: the fewest that do are found as QuickXplain does (Junker,
AAAI 2004). A source that nobody watches breaks runs by chance, whatever is put back: so each place
that is found must break the run again, and enough runs without it must agree.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final

import attrs

from goldrush.kernel.errors import BadInput
from goldrush.replay.repeats.compare import split_of
from goldrush.replay.repeats.sightings import home_of, package_of
from goldrush.replay.repeats.trace import CLOCKS, FORCED, KINDS, Order, Place, Sighting, Trace, Way
from goldrush.replay.repeats.verdict import Culprit, Repeats

RUNS_MAX: Final = 150  # of a diagnosis
_SEARCH_MAX: Final = 100  # until places are found, which are then tried again
_CONTROLS: Final = 20  # runs that agree, with what is innocent put back, before any is confirmed
_AGAIN: Final = 3  # how often a place must break the run once more
_ROUNDS_MAX: Final = 4  # of fixing: a fixed run may come by places that no run came by before

Run = Callable[[Order, Way], Trace]
"""Runs a subject as ordered, in a fresh process."""

_Search = Callable[[Sequence[Place]], tuple[list[Place], list[Place]]]
"""Finds the places of a group that break a run; and those that were not tried."""


def diagnosed(verdict: Repeats, run: Run, order: Order, pair: tuple[Way, Way]) -> Repeats:
    """A verdict with the causes why the subject does not repeat.

    Args:
        pair: of the two runs that differed.
    """
    seeds = list(dict.fromkeys([*(way.hash_seed for way in pair), 0, 1, 2]))
    ways = [Way(seeds[0], "up"), Way(seeds[1], "down"), *map(Way, seeds[2:])]
    with ThreadPoolExecutor(1 if verdict.files_written else os.cpu_count()) as pool:
        diagnosis = _Diagnosis(run, order, ways, pool)
        found = diagnosis.found()
    causes = (
        *(diagnosis.cause(place) for place in found.alone),
        *(diagnosis.cause(place, is_joint=True) for place in found.joint),
        *(diagnosis.cause(place, is_confirmed=False) for place in found.suspected),
    )
    return attrs.evolve(
        verdict, causes=causes, innocent=found.innocent, unexplained=found.unexplained,
        runs_for_causes=diagnosis.runs,
    )  # fmt: skip


@attrs.frozen
class _Found:
    """Places that cause a difference, alone or together, or may; and the others."""

    alone: Sequence[Place] = ()
    joint: Sequence[Place] = ()
    suspected: Sequence[Place] = ()
    innocent: Sequence[Place] = ()
    unexplained: str = ""


class _SpentError(Exception):
    """Not enough runs are left."""


class _Diagnosis:
    """The runs of one diagnosis, and what they came by."""

    def __init__(
        self, run: Run, order: Order, ways: Sequence[Way], pool: ThreadPoolExecutor
    ) -> None:
        self._run, self._ways, self._home = run, ways, home_of(order.target)
        # Near to the real time: who waits for a clock may have another one that is not fixed.
        epochs = {name: getattr(time, f"{name}_ns")() for name in CLOCKS}
        self._order, self._pool = attrs.evolve(order, epochs=epochs), pool
        self._seen: dict[Place, Sighting] = {}
        self._tried: dict[tuple[frozenset[Place], bool], bool] = {}
        self._is_forced = False  # what is put back is made to differ, if it can be
        self.runs = self._agreeing = 0

    def cause(self, place: Place, *, is_confirmed: bool = True, is_joint: bool = False) -> Culprit:
        seen = attrs.asdict(self._seen[place], recurse=False)
        return Culprit(**seen, is_confirmed=is_confirmed, is_joint=is_joint)

    def found(self) -> _Found:
        watched = self._traces(())
        if not watched[-1].rows:
            return _Found(unexplained=f"while it is watched, {watched[-1].error}")
        fixed: Sequence[Trace] = ()
        for _ in range(_ROUNDS_MAX):
            places = tuple(self._seen)
            fixed = self._traces(places)
            if (error := fixed[-1].error) and not watched[-1].error:
                return self._suspects(
                    max(fixed[-1].steps, default=-1) + 1, f"with all of these fixed, {error}"
                )
            if len(places) == len(self._seen) or _differ(fixed) is None:
                break
        step = _differ(fixed)
        if step is not None:
            return self._suspects(step, "runs differ even with all of these fixed")
        self._agreeing = len(fixed)
        every = sorted(self._seen, key=_key)
        # A library's places are innocent, as a rule: they are put back at once.
        own = [place for place in every if self._is_own(place)]
        others = [place for place in every if not self._is_own(place)]
        self._order = attrs.evolve(self._order, files=sorted({place.file for place in every}))
        alone, unknown = self._parted(own, others)
        rest = [place for place in (*own, *others) if place not in {*alone, *unknown}]
        forced = self._forced(rest, self._breaking)
        alone += forced
        rest = [place for place in rest if place not in forced]
        if _differ(watched) is None:
            joint, unknown = list[Place](), []
        else:
            joint, more = self._together(rest)
            unknown += more
        if not forced:
            left = [place for place in rest if place not in {*joint, *unknown}]
            forced = self._forced(left, self._together)
            joint += forced
        try:
            step = self._step_without_cause(fixed[0]) if alone or joint else None
        except _SpentError:
            alone, joint, unknown = [], [], [*alone, *joint, *unknown]
        if step is not None:
            return self._suspects(step, "runs differ now and then even with all of these fixed")
        groups = [*([place] for place in alone), *([joint] if joint else [])]
        doubted = set[Place]()
        for group in groups:
            self._is_forced = not {*forced}.isdisjoint(group)
            if not self._breaks_again(group):
                doubted.update(group)
        alone = [place for place in alone if place not in doubted]
        joint = [place for place in joint if place not in doubted]
        unknown += sorted(doubted, key=_key)
        unexplained = ""
        if unknown:
            unexplained = (
                "suspected places break the run only together or now and then, or not enough runs "
                "were made"
            )
        elif not alone and not joint:
            unexplained = "the subject repeats while it is watched"
        causes = {*alone, *joint, *unknown}
        innocent = [place for place in (*own, *others) if place not in causes]
        return _Found(alone, joint, unknown, innocent, unexplained)

    def _forced(self, rest: Sequence[Place], search: _Search) -> list[Place]:
        """Places that break the run where what they take is made to differ, alone or together: two
        readings of a coarse clock are often the same. They are put back all at once at first:
        clocks that are compared with one another then go on together.
        """
        self._is_forced = True
        found, _ = search([place for place in rest if place.kind in FORCED])
        self._is_forced = False
        return found

    def _traces(self, fixes: Sequence[Place]) -> list[Trace]:
        """Runs that are to be compared: under each hash seed, or only the first two if they differ.
        If they do not, and there are clocks beside fixed ones, two runs in which durations between
        these are the real ones.
        """
        order = attrs.evolve(self._order, fixes=tuple(fixes))
        traces = self._compared(order, self._ways)
        clocks = {place for place in self._seen if place.kind == "clock"}
        if self._is_forced:
            return traces
        if fixes and not clocks <= set(fixes) and _differ(traces) is None:
            traces = self._compared(attrs.evolve(order, one_epoch=True), self._ways[:2])
        return traces

    def _compared(self, order: Order, ways: Sequence[Way]) -> list[Trace]:
        traces: list[Trace] = []
        orders = [
            (attrs.evolve(order, forced=number if self._is_forced else 0), way)
            for number, way in enumerate(ways, 1)
        ]
        for some in (orders[:2], orders[2:]):
            for trace in self._pool.map(lambda each: self._trace(*each), some):
                self.runs += 1
                traces.append(trace)
                for seen in trace.sightings:
                    self._seen.setdefault(seen.place, seen)
            if _differ(traces) is not None:
                break
        return traces

    def _trace(self, order: Order, way: Way) -> Trace:
        try:
            return self._run(order, way)
        except BadInput as error:  # it takes too long, or cannot be made
            return Trace(error=str(error))

    def _breaking(self, group: Sequence[Place]) -> tuple[list[Place], list[Place]]:
        """Places of a group that break the run, each alone; and those that were not tried."""
        try:
            if not group or not self._breaks(group):
                return [], []
        except _SpentError:
            return [], list(group)
        return (list(group), []) if len(group) == 1 else self._parted(*_halves(group))

    def _parted(
        self, half: Sequence[Place], other: Sequence[Place]
    ) -> tuple[list[Place], list[Place]]:
        """As _breaking, of two groups."""
        (alone, unknown), (more, more_unknown) = self._breaking(half), self._breaking(other)
        return alone + more, unknown + more_unknown

    def _together(self, rest: Sequence[Place]) -> tuple[list[Place], list[Place]]:
        """Places that break the run only together; and the rest, if others may do so as well."""
        joint: list[Place] = []
        with suppress(_SpentError):
            while rest and self._breaks(rest):
                least = self._least((), rest)
                if not self._breaks(least):
                    return joint, [*rest]  # not each time
                joint += least
                rest = [place for place in rest if place not in least]
            return joint, []
        return joint, [*rest]

    def _least(self, back: Sequence[Place], group: Sequence[Place]) -> list[Place]:
        """The fewest places of a group that break the run with those that are put back anyway."""
        if len(group) == 1:
            return list(group)
        half, other = _halves(group)
        more = self._least_besides([*back, *half], other)
        return self._least_besides([*back, *more], half) + more if more else self._least(back, half)

    def _least_besides(self, back: Sequence[Place], group: Sequence[Place]) -> list[Place]:
        return [] if self._breaks(back) else self._least(back, group)

    def _breaks(self, back: Sequence[Place]) -> bool:
        """Whether a run differs with these places put back, all others fixed."""
        group = frozenset(back)
        key = group, self._is_forced
        if key not in self._tried:
            traces = self._put_back(group, _SEARCH_MAX)
            self._tried[key] = _differ(traces) is not None
            self._agreeing += 0 if self._tried[key] else len(traces)
        return self._tried[key]

    def _put_back(self, group: Collection[Place], most: int) -> Sequence[Trace]:
        if self.runs + len(self._ways) + 2 > most:
            raise _SpentError
        return self._traces([place for place in self._seen if place not in group])

    def _breaks_again(self, back: Sequence[Place]) -> bool:
        """Whether places that broke the run do so each time."""
        with suppress(_SpentError):
            return all(_differ(self._put_back(back, RUNS_MAX)) is not None for _ in range(_AGAIN))
        return False

    def _step_without_cause(self, fixed: Trace) -> int | None:
        """The step in which a run with all places fixed is not as an earlier one, for a source that
        is not watched; None if enough runs agree.
        """
        while self._agreeing < _CONTROLS:
            traces = self._put_back((), RUNS_MAX)
            if (step := _differ([fixed, *traces])) is not None:
                return step
            self._agreeing += len(traces)
        return None

    def _suspects(self, step: int, why: str) -> _Found:
        """What the subject passed by this step, or else what libraries did after it was made."""
        passed = [place for place, seen in self._seen.items() if seen.first_step <= step]
        own = [place for place in passed if self._is_own(place)]
        late = [place for place in passed if self._seen[place].first_step > 0]
        return _Found(suspected=sorted(own or late, key=_key), unexplained=why)

    def _is_own(self, place: Place) -> bool:
        """Whether the subject's own code is at a place, or called it."""
        return not package_of((self._seen[place].within or place).file, self._home)


def _halves(group: Sequence[Place]) -> tuple[Sequence[Place], Sequence[Place]]:
    return group[: len(group) // 2], group[len(group) // 2 :]


def _key(place: Place) -> tuple[int, str, int]:
    return list(KINDS).index(place.kind), place.file, place.line


def _differ(traces: Sequence[Trace]) -> int | None:
    """The first step in which any of these runs is not as the first; None if there is none."""
    splits = [split_of(traces[0], trace) for trace in traces[1:]]
    return min((split.step for split in splits if split is not None), default=None)
