"""Whether a subject repeats: the verdict, the first difference, its causes; as text and as JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from goldrush.kernel.text import escaped, format_count
from goldrush.replay.repeats.trace import KINDS, Place

_LISTED: Final = 5  # names in a line


@attrs.frozen
class Difference:
    """The first difference of two runs, A and B.

    Attributes:
        step: its number; 0: what was made or reset, before any step.
        names: the attributes, or other names, that differ in this step.
        path: the shallowest value that differs, within one of them.
        a, b: its two values, as text.
        hash_seeds: the PYTHONHASHSEED of A and of B.
    """

    step: int
    names: Sequence[str]
    path: str
    a: str
    b: str
    hash_seeds: tuple[int, int]

    def lines(self) -> Iterator[str]:
        """As text."""
        yield f"first difference: {self.path}"
        for run, value, seed in zip("AB", (self.a, self.b), self.hash_seeds, strict=True):
            yield f"  {run}: {value} (hash seed {seed})"
        others = [name for name in self.names if not _is_within(self.path, name)]
        if others:
            yield f"  in the same step: {_listed(others)}"
        if len(set(self.hash_seeds)) == 1:
            yield "  Both runs have one hash seed: it is not only the order of a set of texts."


_NOT_SEEN: Final = (
    "Extensions in C, threads, other processes and what files hold cannot be watched."
)


def _listed(names: Sequence[str], shown: Callable[[str], str] = str) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{', '.join(map(shown, names[:_LISTED]))}{more}"


def _is_within(path: str, name: str) -> bool:
    return path.startswith(name) and path[len(name) :][:1] in ("", ".", "[", "{", "(")


@attrs.frozen
class Culprit:
    """Why a subject does not repeat.

    Attributes:
        place: what is used, in which file and line.
        what: the function called, or what was read.
        within: the line of the subject's code that led there, if that is another one.
        is_confirmed: whether the run repeats without it, and not with it alone.
        is_joint: whether it takes others that are confirmed and joint to break the run.
        count: how often the place was passed.
        first_step: the first step; 0: while the subject was made.
    """

    place: Place
    what: str
    within: Place | None
    is_confirmed: bool
    is_joint: bool
    count: int
    first_step: int

    def __str__(self) -> str:
        how = "confirmed" if self.is_confirmed else "suspected"
        how += " (together)" if self.is_joint else ""
        where = _shown(self.place)
        if self.within is not None:
            where = f"{_shown(self.within)}, by way of {where}"
        when = f"{format_count(self.count, 'time')}, first in step {self.first_step}"
        return f"{how}: {where}: {KINDS[self.place.kind]} ({self.what}; {when})"


def _shown(place: Place) -> str:
    return f"{_short(place.file)}:{place.line}"


def _short(path: str) -> str:
    return path.removeprefix(os.path.join(os.getcwd(), ""))


@attrs.frozen
class Repeats:
    """Whether a subject gives the same run again from its seed.

    Attributes:
        target: as it was given.
        settings: its other parameters.
        kind: "model", "environment", "parallel environment", "AEC environment", "world" or
            "function".
        seed: its seed; None: it takes none.
        steps: how many were compared.
        runs: how many were compared, each in a process of its own.
        runs_for_causes: how many more were made to find causes.
        difference: the first; None: it repeats.
        causes: why, the confirmed ones first.
        innocent: other places where it takes what can differ, and that make no difference.
        unexplained: why causes are suspected only, or why there is none; empty: all are confirmed,
            or were not looked for.
        not_seen: types of values that were not looked into, and what else was not compared.
        files_read: paths of files that a run read, and had not written before.
        files_written: paths of files that a run wrote, and left; those that are also read carry
            something from one run to the next.
        generators: of random numbers, by path, whose state differs although it repeats: nothing
            seeds them, and nothing shows that they were drawn from.
        error: with which every run ended, all the same; empty: with none.
        reset_forgets: whether an environment that is reset by the seed in the same process gives
            the same run; None: not an environment, or it does not repeat.
    """

    target: str
    settings: Mapping[str, object]
    kind: str
    seed: int | None
    steps: int
    runs: int
    runs_for_causes: int = 0
    difference: Difference | None = None
    causes: Sequence[Culprit] = ()
    innocent: Sequence[Place] = ()
    unexplained: str = ""
    not_seen: Sequence[str] = ()
    files_read: Sequence[str] = ()
    files_written: Sequence[str] = ()
    generators: Sequence[str] = ()
    error: str = ""
    reset_forgets: bool | None = None

    @property
    def _carried(self) -> Sequence[str]:
        return [path for path in self.files_read if path in self.files_written]

    @property
    def repeats(self) -> bool:
        """Whether it does."""
        return self.difference is None

    def as_dict(self) -> dict[str, object]:
        """As plain values."""
        return {"repeats": self.repeats, **attrs.asdict(self)}

    def __str__(self) -> str:
        return "\n".join(map(escaped, self._lines()))

    def _lines(self) -> Iterator[str]:
        seed = "" if self.seed is None else f", seed {self.seed}"
        size = f"{format_count(self.steps, 'step')} of a{_n(self.kind)} {self.kind}{seed}"
        size += f"; {self.runs} runs, 3 hash seeds"
        name = " ".join([self.target, *(f"{n}={value}" for n, value in self.settings.items())])
        if self.difference is None:
            given = f", given {_listed(self._carried, _short)}" if self._carried else ""
            yield f"{name}: repeats{given} ({size})"
        else:
            step = self.difference.step
            yield f"{name}: DOES NOT REPEAT from step {step} on ({size})"
            yield from self.difference.lines()
        if self._carried:
            yield (
                f"IT READS WHAT EARLIER RUNS OF IT WROTE: {_listed(self._carried, _short)}. "
                "So its runs do not depend on the seed alone."
            )
        yield from self._lines_of_causes()
        if self.seed is None:
            yield "It takes no seed (no parameter named seed or rng, no scenario of Mesa's)."
        yield from self._lines_of_files()
        if self.generators:
            shown = _listed(self.generators)
            yield f"Generators without a seed, from which nothing that shows was drawn: {shown}."
        if self.error:
            yield f"Each run ends there with the same error: {self.error}"
        if self.reset_forgets is not None:
            verb = "forgets" if self.reset_forgets else "DOES NOT FORGET"
            yield f"A reset by the seed {verb} what was before, in the same process."
        if self.not_seen:
            yield f"Not compared: {', '.join(self.not_seen)}."

    def _lines_of_causes(self) -> Iterator[str]:
        yield from map(str, self.causes)
        if self.innocent:
            others, first = format_count(len(self.innocent), "other place"), self.innocent[0]
            example = f"{_shown(first)} ({KINDS[first.kind]})"
            yield f"innocent: {others} where a run takes what can differ, such as {example}"
        if self.unexplained:
            yield f"not explained: {self.unexplained}. {_NOT_SEEN}"

    def _lines_of_files(self) -> Iterator[str]:
        read = [path for path in self.files_read if path not in self._carried]
        written = [path for path in self.files_written if path not in self._carried]
        if read:
            yield (
                f"Files read: {_listed(read, _short)}. If an earlier run left one of them, "
                "remove it and judge again."
            )
        if written:
            yield f"Files written: {_listed(written, _short)}."


def _n(noun: str) -> str:
    return "n" if noun[0] in "aeAE" else ""
