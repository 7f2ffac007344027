"""Why a subject does not repeat: each place that matters, found by removing it and putting it back.

All places that a run comes by are fixed, which must make the subject repeat. Then places are put
back, all others fixed: the fewest that break the run are found as QuickXplain does (Junker, AAAI
2004), one as a rule, and fixed again, until what is left does not break it. So a hundred innocent
places cost a few runs. A source that nobody watches breaks runs by chance, whatever is put back: so
what is found must break the run again, and enough runs without it must agree.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import attrs

from goldrush.kernel.errors import BadInput
from goldrush.replay.repeats.sightings import home_of, package_of
from goldrush.replay.repeats.trace import (
    CLOCKS,
    FORCED,
    KINDS,
    Order,
    Place,
    Sighting,
    Trace,
    Way,
    split_of,
)
from goldrush.replay.repeats.verdict import Culprit, Repeats

RUNS_MAX: Final = 200  # of a diagnosis
_SEARCH_MAX: Final = 170  # after which no more places are put back
_CONTROLS: Final = 20  # runs that agree, with what is innocent put back, before any is confirmed
_AGAIN: Final = 3  # how often a place must break the run once more
_ROUNDS_MAX: Final = 4  # of fixing: a fixed run may come by places that no run came by before

Run = Callable[[Order], Trace]
"""Runs a subject as ordered, in a fresh process."""


def diagnosed(
    verdict: Repeats, run: Run, order: Order, pair: tuple[Way, Way], jobs: int | None = None
) -> Repeats:
    """A verdict with the causes why the subject does not repeat.

    Args:
        pair: of the two runs that differed.
        jobs: how many are made at once; None: as many as there are processors.
    """
    seeds = list(dict.fromkeys([*(way.hash_seed for way in pair), 0, 1, 2]))
    ways = [Way(seeds[0], "up"), Way(seeds[1], "down"), *map(Way, seeds[2:])]
    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        diagnosis = _Diagnosis(run, order, ways, pool)
        confirmed, suspected, unexplained = diagnosis.found()
    seen = diagnosis.seen
    causes = [
        Culprit(
            **attrs.asdict(seen[place], recurse=False), is_confirmed=is_confirmed,
            is_joint=is_confirmed and len(group) > 1,
        )
        for is_confirmed, groups in ((True, confirmed), (False, [suspected]))
        for group in groups
        for place in group
    ]  # fmt: skip
    guilty = {cause.place for cause in causes}
    innocent = [place for place in sorted(seen, key=_key) if place not in guilty]
    return attrs.evolve(
        verdict, causes=tuple(causes), innocent=innocent, unexplained=unexplained,
        runs_for_causes=diagnosis.runs,
    )  # fmt: skip


_Found = tuple[Sequence[Sequence[Place]], Sequence[Place], str]


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
        self._tried: dict[frozenset[Place], bool] = {}
        self.seen: dict[Place, Sighting] = {}
        self.runs = self._agreeing = 0

    def found(self) -> _Found:
        """Groups of places that cause a difference, places that may, and what is unexplained."""
        watched = self._traces(())
        if not watched[-1].rows:
            return (), (), f"while it is watched, {watched[-1].error}"
        fixed: Sequence[Trace] = ()
        for _ in range(_ROUNDS_MAX):
            places = tuple(self.seen)
            fixed = self._traces(places)
            if len(places) == len(self.seen) or _differ(fixed) is None:
                break
        if (error := fixed[-1].error) and not watched[-1].error:
            return self._suspects(len(fixed[-1].rows), f"with all of these fixed, {error}")
        if (step := _differ(fixed)) is not None:
            return self._suspects(step, "runs differ even with all of these fixed")
        self._agreeing = len(fixed)
        self._order = attrs.evolve(self._order, files=sorted({p.file for p in self.seen}))
        confirmed, unknown = self._searched()
        if confirmed and (step := self._step_without_cause(fixed[0])) is not None:
            return self._suspects(step, "runs differ now and then even with all of these fixed")
        unexplained = ""
        if unknown:
            unexplained = (
                "suspected places break the run only together or now and then, or not enough runs "
                "were made"
            )
        elif not confirmed:
            unexplained = "the subject repeats while it is watched"
        return confirmed, sorted(unknown, key=_key), unexplained

    def _searched(self) -> tuple[list[Sequence[Place]], list[Place]]:
        """Groups of places that break the run each time, the fewest each, and places of which that
        is not known.
        """
        confirmed = list[Sequence[Place]]()
        rest = sorted(self.seen, key=lambda place: (not self._is_own(place), *_key(place)))
        try:
            while rest and self._breaks(rest):
                group = self._least((), rest)
                if not all(_differ(self._put_back(group)) is not None for _ in range(_AGAIN)):
                    break
                confirmed.append(group)
                rest = [place for place in rest if place not in group]
            return confirmed, rest if rest and self._breaks(rest) else []
        except _SpentError:
            return confirmed, rest

    def _least(self, back: Sequence[Place], group: Sequence[Place]) -> list[Place]:
        """The fewest places of a group that break the run with those that are put back anyway."""
        if len(group) == 1:
            return list(group)
        half, other = group[: len(group) // 2], group[len(group) // 2 :]
        more: list[Place] = []
        if not self._breaks([*back, *half]):
            more = self._least([*back, *half], other)
            if self._breaks([*back, *more]):
                return more
        return self._least([*back, *more], half) + more

    def _breaks(self, back: Collection[Place]) -> bool:
        """Whether a run differs with these places put back, all others fixed."""
        key = frozenset(back)
        if key not in self._tried:
            traces = self._put_back(back)
            self._tried[key] = _differ(traces) is not None
            self._agreeing += 0 if self._tried[key] else len(traces)
        return self._tried[key]

    def _put_back(self, group: Collection[Place]) -> Sequence[Trace]:
        """Runs with these places put back. What they read is made to differ: two readings of a
        coarse clock are often the same.
        """
        if self.runs > _SEARCH_MAX:
            raise _SpentError
        fixes = [place for place in self.seen if place not in group]
        return self._traces(fixes, is_forced=any(place.kind in FORCED for place in group))

    def _step_without_cause(self, fixed: Trace) -> int | None:
        """The step in which a run with all places fixed is not as an earlier one, for a source that
        is not watched; None if enough runs agree.
        """
        while self._agreeing < _CONTROLS:
            traces = self._traces(tuple(self.seen))
            if (step := _differ([fixed, *traces])) is not None:
                return step
            self._agreeing += len(traces)
        return None

    def _traces(self, fixes: Sequence[Place], is_forced: bool = False) -> list[Trace]:
        """Runs that are to be compared: under each hash seed, or only the first two if they differ.
        If they do not, and there are clocks beside fixed ones, two runs in which durations between
        these are the real ones.
        """
        order = attrs.evolve(self._order, fixes=tuple(fixes))
        orders = [
            attrs.evolve(order, way=way, forced=number if is_forced else 0)
            for number, way in enumerate(self._ways, 1)
        ]
        traces = self._compared(orders[:2])
        if _differ(traces) is None:
            traces += self._compared(orders[2:])
        clocks = {place for place in self.seen if place.kind == "clock"}
        if fixes and not clocks <= set(fixes) and _differ(traces) is None:
            together = [attrs.evolve(each, forced=0, one_epoch=True) for each in orders[:2]]
            traces = self._compared(together)
        return traces

    def _compared(self, orders: Sequence[Order]) -> list[Trace]:
        traces = list(self._pool.map(self._trace, orders))
        self.runs += len(traces)
        for trace in traces:
            for sighting in trace.sightings:
                self.seen.setdefault(sighting.place, sighting)
        return traces

    def _trace(self, order: Order) -> Trace:
        try:
            return self._run(order)
        except BadInput as error:  # it takes too long, or cannot be made
            return Trace(error=str(error))

    def _suspects(self, step: int, why: str) -> _Found:
        """What the subject passed by this step, or else what libraries did after it was made."""
        passed = [place for place, seen in self.seen.items() if seen.first_step <= step]
        own = [place for place in passed if self._is_own(place)]
        late = [place for place in passed if self.seen[place].first_step > 0]
        return (), sorted(own or late, key=_key), why

    def _is_own(self, place: Place) -> bool:
        """Whether the subject's own code is at a place, or called it."""
        return not package_of((self.seen[place].within or place).file, self._home)


def _key(place: Place) -> tuple[int, str, int]:
    return list(KINDS).index(place.kind), place.file, place.line


def _differ(traces: Sequence[Trace]) -> int | None:
    """The first step in which any of these runs is not as the first; None if there is none."""
    splits = [split_of(traces[0], trace) for trace in traces[1:]]
    return min((split.step for split in splits if split is not None), default=None)
