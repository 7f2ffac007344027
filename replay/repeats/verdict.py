"""Whether a subject repeats: the verdict, the first difference, its causes; as text and as JSON."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs

from goldrush.kernel.text import escaped, format_count
from goldrush.replay.repeats.trace import FORCED, KINDS, Place, Sighting, Way

_LISTED: Final = 5  # names in a line
_ALIKE: Final = ("files", "completion")  # kinds of what can be the same in all runs on one machine
# Of programs, which can record what they take from outside.
_WAYS_OUT: Final = {
    "clock": "record it: goldrush.outside(time.time)(), and make dates of that",
    "completion": "take results in the order in which the work was given",
    "files": "sort them: sorted(os.listdir(...))",
    "hash": "leave it out, or number the objects",
    "id": "leave it out, or number the objects",
    "numpy-random": "seed it: numpy.random.seed(1)",
    "numpy-unseeded": "seed it: numpy.random.default_rng(1)",
    "process": "leave it out, or record it: goldrush.outside(os.getpid)()",
    "random": "seed it: random.seed(1)",
    "random-unseeded": "seed it: random.Random(1)",
    "set-order": "sort it: sorted(...)",
    "set-pop": "take a list, or the smallest: min(...)",
    "system-random": "record it: goldrush.outside(lambda: str(uuid.uuid4()))()",
}


@attrs.frozen
class Difference:
    """The first difference of two runs, A and B.

    Attributes:
        step: its number; 0: what was made or reset, before any step.
        names: the attributes, or other names, that differ in this step.
        path: the shallowest value that differs, within one of them.
        a, b: its two values, as text.
        ways: the PYTHONHASHSEED of A and of B, and in which order they had sets; or what they are.
    """

    step: int
    names: Sequence[str]
    path: str
    a: str
    b: str
    ways: tuple[Way | str, Way | str]


@attrs.frozen
class Culprit(Sighting):
    """Why a subject does not repeat.

    Attributes:
        is_confirmed: whether the run repeats without it, and not with it alone.
        is_joint: whether it takes others that are confirmed and joint to break the run.
    """

    is_confirmed: bool
    is_joint: bool

    def __str__(self) -> str:
        how = "confirmed" if self.is_confirmed else "suspected"
        how += " (together)" if self.is_joint else ""
        where = _shown(self.place)
        if self.within is not None:
            where = f"{_shown(self.within)}, by way of {where}"
        step = f", first in step {self.first_step}" if self.first_step >= 0 else ""
        return f"{how}: {where}: {KINDS[self.place.kind]} ({self.what}{step})"


@attrs.frozen
class Repeats:
    """Whether a subject gives the same run again from its seed.

    Attributes:
        target: as it was given.
        settings: its other parameters.
        kind: "model", "environment", "parallel environment", "AEC environment", "world" or
            "function"; or "program".
        seed: its seed; None: it takes none.
        steps: how many were compared; of a program, exchanges.
        runs: how many were compared, each in a process of its own.
        hash_seeds: under how many these were.
        runs_for_causes: how many more were made to find causes.
        difference: the first; None: it repeats.
        causes: why, the confirmed ones first.
        innocent: other places where it takes what can differ, and that made no difference; if
            something is unexplained, it is not known whether they do.
        unexplained: why causes are suspected only, or why there is none; empty: all are confirmed,
            or were not looked for.
        not_seen: how many values of a step, by what they are, were not compared; 0: unknown.
        left_out: how many values of a step were left out, by the path that was ignored.
        kept_from: machines to which no connection was allowed.
        error: with which every run ended, all the same; empty: with none.
        resets: whether the same run comes again in the same process from an environment that is
            reset by the seed; None: it is none, or not tried.
        forgets: whether it does from another subject that is made; None: not tried.
        journal: the path of that of a program; empty: it is none.
        notes: what else bounds the verdict, as text: what was not judged, and why.
    """

    target: str
    settings: Mapping[str, object]
    kind: str
    seed: int | None
    steps: int
    runs: int
    hash_seeds: int = 3
    runs_for_causes: int = 0
    difference: Difference | None = None
    causes: Sequence[Culprit] = ()
    innocent: Sequence[Place] = ()
    unexplained: str = ""
    not_seen: Mapping[str, int] = attrs.field(factory=dict)
    left_out: Mapping[str, int] = attrs.field(factory=dict)
    kept_from: Sequence[str] = ()
    error: str = ""
    resets: bool | None = None
    forgets: bool | None = None
    journal: str = ""
    notes: Sequence[str] = ()

    @property
    def repeats(self) -> bool:
        """Whether it does."""
        return self.difference is None

    @property
    def reset_forgets(self) -> bool | None:
        """Whether nothing of a run changes another in the same process; None: not tried."""
        return None if self.forgets is None else self.forgets and self.resets is not False

    def as_dict(self) -> dict[str, object]:
        """As plain values."""
        given = {"repeats": self.repeats, "reset_forgets": self.reset_forgets}
        return {**given, **attrs.asdict(self)}

    def __str__(self) -> str:
        return "\n".join(map(escaped, self._lines()))

    def _lines(self) -> Iterator[str]:
        yield self._headline()
        if self.not_seen:
            yield f"Not compared: {_counted(self.not_seen)}."
        if left_out := {path: count for path, count in self.left_out.items() if count}:
            yield f"Left out: {_counted(left_out)}."
        if nothing := [path for path in self.left_out if path not in left_out]:
            yield f"Nothing to leave out was found at {_listed(nothing)}."
        yield from self.notes
        if self.difference is not None:
            yield from _lines_of_difference(self.difference)
        yield from self._lines_of_causes()
        if self.error:
            yield f"Each run ends there with the same error: {self.error}"
        yield from self._lines_of_memory()

    def _lines_of_causes(self) -> Iterator[str]:
        for cause in self.causes:
            yield str(cause)
            if self.journal:
                yield f"  way out: {_WAYS_OUT[cause.place.kind]}"
        kinds = {cause.place.kind for cause in self.causes if self.journal}
        if kinds and kinds <= {*FORCED}:
            yield "  way out: do not compare it; record with --mask REGEX, which matches it"
        # Others gave the same in all runs, perhaps.
        if innocent := [place for place in self.innocent if place.kind not in _ALIKE]:
            calls = format_count(len(innocent), "other non-deterministic call")
            effect = "of unknown effect" if self.unexplained else "without effect"
            places = _listed([f"{_shown(place)} ({place.kind})" for place in innocent])
            yield f"{calls} {effect} on the result: {places}"
        if self.unexplained:
            yield (
                f"not explained: {self.unexplained}. Not watched are texts of sets made by %, "
                "what reads PYTHONHASHSEED, extensions in C, threads, other processes and what "
                "files hold."
            )

    def _headline(self) -> str:
        name = " ".join([self.target, *(f"{n}={value}" for n, value in self.settings.items())])
        article = "an" if self.kind[0] in "aeAE" else "a"
        seed = "" if self.seed is None else f", seed {self.seed}"
        size = (
            f"{format_count(self.steps, 'step')} of {article} {self.kind}{seed}; "
            f"{self.runs} runs, {self.hash_seeds} hash seeds"
        )
        if self.journal:
            size = f"{format_count(self.steps, 'exchange')} of {self.journal}; {self.runs} runs"
            size += f", {self.runs_for_causes} for causes" if self.runs_for_causes else ""
        if self.kept_from:
            size += f"; no connection to {_listed(self.kept_from)}, which --network allows"
        if self.difference is not None:
            step = "" if self.journal else f" from step {self.difference.step} on"
            return f"{name}: DOES NOT REPEAT{step} ({size})"
        count = sum(self.not_seen.values()) + sum(self.left_out.values())
        gap = f", {format_count(count, 'value')} not compared" if count else ""
        if 0 in self.not_seen.values():
            gap = ", not all values compared"
        return f"{name}: repeats{gap} ({size})"

    def _lines_of_memory(self) -> Iterator[str]:
        if self.resets is not None:
            verb = "forgets" if self.resets else "DOES NOT FORGET"
            yield f"A reset by the seed {verb} what was before, in the same process."
        if self.resets is not False and self.forgets is False:
            yield (
                f"Another {self.kind} in the same process DOES NOT FORGET what was before: its "
                "class, its module or a default argument remembers it."
            )


def _lines_of_difference(difference: Difference) -> Iterator[str]:
    yield f"first difference: {difference.path}"
    values = (difference.a, difference.b)
    for run, value, way in zip("AB", values, difference.ways, strict=True):
        yield f"  {run}: {value} ({way})"
    if len(difference.names) > 1:
        yield f"  in this step: {_listed(difference.names)}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{', '.join(names[:_LISTED])}{more}"


def _counted(counts: Mapping[str, int]) -> str:
    values = {what: f" ({format_count(n, 'value')})" if n else "" for what, n in counts.items()}
    return _listed([what + count for what, count in values.items()])


def _shown(place: Place) -> str:
    return f"{place.file.removeprefix(os.path.join(os.getcwd(), ''))}:{place.line}"
