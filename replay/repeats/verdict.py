"""Whether a subject repeats: the verdict, the first difference, its causes; as text and as JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from goldrush.kernel.text import escaped, format_count
from goldrush.replay.repeats.trace import KINDS, Place, Sighting, Way

_LISTED: Final = 5  # names in a line
_ALIKE: Final = ("files", "completion")  # kinds of what can be the same in all runs on one machine


@attrs.frozen
class Difference:
    """The first difference of two runs, A and B.

    Attributes:
        step: its number; 0: what was made or reset, before any step.
        names: the attributes, or other names, that differ in this step.
        path: the shallowest value that differs, within one of them.
        a, b: its two values, as text.
        ways: the PYTHONHASHSEED of A and of B, and in which order they had sets.
    """

    step: int
    names: Sequence[str]
    path: str
    a: str
    b: str
    ways: tuple[Way, Way]

    def lines(self, *, is_carried: bool) -> Iterator[str]:
        """As text. `is_carried`: a file carries something from run to run, which explains why later
        runs may not differ; then values that nobody saw are left out.
        """
        yield f"first difference: {self.path}"
        if self.a != self.b or not is_carried:
            for run, value, way in zip("AB", (self.a, self.b), self.ways, strict=True):
                yield f"  {run}: {value} ({way})"
        others = [name for name in self.names if not _is_within(self.path, name)]
        if others:
            yield f"  in the same step: {_listed(others)}"
        if len(set(self.ways)) == 1:
            yield (
                "  Both runs have the same hash seed, so the order of sets of texts is not the "
                "only cause."
            )


_NOT_SEEN: Final = (
    "Extensions in C, threads, other processes and what files hold cannot be watched."
)


def _listed(names: Sequence[str], shown: Callable[[str], str] = str) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{', '.join(map(shown, names[:_LISTED]))}{more}"


def _counted(counts: Mapping[str, int]) -> str:
    each = {
        what: f" ({format_count(count, 'value')})" if count else ""
        for what, count in counts.items()
    }
    return _listed([what + count for what, count in each.items()])


def _is_within(path: str, name: str) -> bool:
    return path.startswith(name) and path[len(name) :][:1] in ("", ".", "[", "{", "(")


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
        hash_seeds: under how many these were.
        runs_for_causes: how many more were made to find causes.
        difference: the first; None: it repeats.
        causes: why, the confirmed ones first.
        innocent: other places where it takes what can differ, and that made no difference; if
            something is unexplained, it is not known whether they do.
        unexplained: why causes are suspected only, or why there is none; empty: all are confirmed,
            or were not looked for.
        not_seen: how many values of a step, by what they are, were not compared; 0: unknown.
        not_ordered: why runs with sets in opposite orders were not compared; empty: they were.
        left_out: how many values of a step were left out, by the path that was ignored.
        files_read: paths of files that a run read, and had not written before.
        files_written: paths of files that a run wrote, and left; those that are also read carry
            something from one run to the next.
        generators: of random numbers, by path, whose state differs although it repeats: nothing
            seeds them, and nothing shows that they were drawn from.
        error: with which every run ended, all the same; empty: with none.
        reset_forgets: whether the same run comes again in the same process: from an environment
            that is reset by the seed, and from another subject that is made; None: not tried.
        ended_with: the code with which that run ended the process; None: it did not.
        resets: whether it does from an environment that is reset; None: it is none, or not tried.
        remembers: attributes of classes, values of modules and functions with defaults that runs
            change, where another subject in the same process gives another run.
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
    not_ordered: str = ""
    left_out: Mapping[str, int] = attrs.field(factory=dict)
    files_read: Sequence[str] = ()
    files_written: Sequence[str] = ()
    generators: Sequence[str] = ()
    error: str = ""
    reset_forgets: bool | None = None
    ended_with: int | None = None
    resets: bool | None = None
    remembers: Sequence[str] = ()

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
        size += f"; {self.runs} runs, {self.hash_seeds} hash seeds"
        name = " ".join([self.target, *(f"{n}={value}" for n, value in self.settings.items())])
        if self.difference is None:
            given = f", given {_listed(self._carried, _short)}" if self._carried else ""
            yield f"{name}: repeats{given}{self._gap()} ({size})"
        else:
            step = self.difference.step
            yield f"{name}: DOES NOT REPEAT from step {step} on ({size})"
        if self.not_seen:
            yield f"Not compared: {_counted(self.not_seen)}."
        if self.not_ordered:
            yield f"Not judged under opposite orders of sets: {self.not_ordered}."
        if left_out := {path: count for path, count in self.left_out.items() if count}:
            yield f"Left out: {_counted(left_out)}."
        if nothing := [path for path in self.left_out if path not in left_out]:
            yield f"Nothing to leave out was found at {_listed(nothing)}."
        if self.seed is None:
            yield (
                "It takes no seed. If one of its parameters is a seed, name it: --seed-parameter "
                "NAME."
            )
        if self.difference is not None:
            yield from self.difference.lines(is_carried=bool(self._carried))
        if self._carried:
            yield (
                f"IT READS WHAT EARLIER RUNS OF IT WROTE: {_listed(self._carried, _short)}. "
                "So its runs do not depend on the seed alone."
            )
        yield from self._lines_of_causes()
        yield from self._lines_of_files()
        if self.generators:
            shown = _listed(self.generators)
            yield f"Generators without a seed, whose draws no compared value depends on: {shown}."
        if self.error:
            yield f"Each run ends there with the same error: {self.error}"
        yield from self._lines_of_memory()

    def _gap(self) -> str:
        """What the verdict does not speak of, in short."""
        if 0 in self.not_seen.values():
            return ", not all values compared"
        count = sum(self.not_seen.values()) + sum(self.left_out.values())
        return f", {format_count(count, 'value')} not compared" if count else ""

    def _lines_of_memory(self) -> Iterator[str]:
        if self.reset_forgets is None:
            if self.repeats and not self.error:
                yield f"Another {self.kind} in the same process was not tried: no time was left."
            return
        if self.ended_with is not None:
            yield (
                f"Another run in the same process ended it with code {self.ended_with}: it DOES "
                "NOT FORGET what was before."
            )
            return
        if self.resets is not None:
            verb = "forgets" if self.resets else "DOES NOT FORGET"
            over = f" (over {format_count(self.steps, 'step')})" if self.resets else ""
            yield f"A reset by the seed {verb} what was before, in the same process{over}."
        if self.resets is not False and not self.reset_forgets:
            where = f": {_listed(self.remembers)}" if self.remembers else ""
            yield (
                f"Another {self.kind} in the same process DOES NOT FORGET what was before{where}."
            )

    def _lines_of_causes(self) -> Iterator[str]:
        yield from map(str, self.causes)
        # Others gave the same in all runs, perhaps.
        innocent = [place for place in self.innocent if place.kind not in _ALIKE]
        if innocent:
            count, first = len(innocent), innocent[0]
            calls = format_count(count, "other non-deterministic call")
            example = f"{_shown(first)} ({KINDS[first.kind]})"
            such = ":" if count == 1 else ", such as"
            if self.unexplained:
                yield f"not known whether they affect the result: {calls}{such} {example}"
            else:
                verb = "does" if count == 1 else "do"
                yield f"{calls} {verb} not affect the result{such} {example}"
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
