"""Measures of a run: figures by unit (a round, an assignment), over spans of units, halves and
runs.

The measures themselves are the world's. This module defines the value over a span, the units of the
halves, and undefined values: an undefined value (nothing in the denominator) is None, never 0, and
a mean is over the units in which the measure is defined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar

import attrs
import msgspec

from goldrush.kernel.errors import BadInput, unknown
from goldrush.kernel.journal import FORK, START, UNIT, JournalReader
from goldrush.kernel.measures import Value, mean
from goldrush.kernel.rosters import Config
from goldrush.kernel.text import escaped, format_count
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import Vocabulary, World
from goldrush.replay.data.compact import Series
from goldrush.replay.data.course import COURSE_MAX, ByAgent, Course, course_of
from goldrush.replay.data.sampling import Sampling
from goldrush.replay.policies import played

if TYPE_CHECKING:
    from goldrush.kernel.game.game import DeclaredMeasure

BURN_IN: Final = 10  # the first 1/10 of a run is not compared


S = TypeVar("S")
C = TypeVar("C", bound=Config, covariant=True)


@attrs.frozen
class Span:
    """Units `first` to `last` of a journal, both included; the first unit is 1."""

    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1


class Measure(msgspec.Struct, frozen=True):
    """A measure. Declared in the measures of its world, it is in every table, study and report.

    Attributes:
        name: its name.
        title: its title, for people.
        definition: its definition, as text.
        of: its value for a unit that has just closed, as the world counts one (`by_unit`: for the
            state); None if only several units have one, such as a half-life.
        over: `over(measured, span, horizon)`, its value over several units, as `Measured.over`;
            None: the mean of those of the units.
        at_end: its value over several units is that of the last one, not the mean.
        total: it is the sum of theirs, undefined if none of them is defined.
        by_half: a half of a run has it.
        limits: its smallest and its largest possible value.
        column: its place, from 1 on, where space is short and few measures are shown; 0: it is not
            among them.
    """

    name: str
    title: str
    definition: str
    of: Callable[[Any], Value] | None = None
    over: Callable[[Any, Span, int], Value] | None = None
    at_end: bool = False
    total: bool = False
    by_half: bool = True
    limits: tuple[float, float] = (-math.inf, math.inf)
    column: int = 0

    @property
    def by_unit(self) -> bool:
        """Whether a single unit has it."""
        return self.of is not None


class AgentMeasure(msgspec.Struct, frozen=True):
    """A measure of each agent, as of the end of a run.

    Attributes:
        name: its name.
        title: its title, for people: what an agent has so much of.
        definition: its definition, as text.
        amount: an amount of it in a sentence, with {} for its number; empty: number and title.
    """

    name: str
    title: str
    definition: str
    amount: str = ""


def declared_measure(
    declared: DeclaredMeasure,
    of: Callable[[Any], Value],
    over: Callable[[Any, Span, int], Value] | None = None,
    column: int = 0,
) -> Measure:
    """A measure that a user wrote, of a game or of a journal, whose value for a unit is `of`."""
    title, definition = escaped(declared.title), escaped(declared.definition, keep="\n")
    return Measure(
        declared.name, title, definition, of, over,
        at_end=declared.at_end, total=declared.total, column=column,
    )  # fmt: skip


T = TypeVar("T", Measure, AgentMeasure)


def named(*measures: T) -> Mapping[str, T]:
    """Measures by name, in this order."""
    return {measure.name: measure for measure in measures}


class Measured(msgspec.Struct, Generic[C], frozen=True, kw_only=True, dict=True):
    """A run and its measures. A world subclasses it for what its measures of spans need.

    Attributes:
        path: the journal.
        config: the settings: the first ones of a run without forks, else the last ones.
        roster: by agent, the label of its policy; of one that a fork gave another,
            `greedy → raid`.
        finished: the run has ended.
        forks: the number of forks that led to the run.
        known: the measures by name.
        still: what has values and never changed in this run, in a world where that is a setting of
            it and no measure; of a study in which it changes, it is one.
        vocabulary: the nouns of the world.
        units: the number of closed units.
        values: by name of a measure that a unit has, its values by unit, from unit 1 on; None where
            undefined.
        by_agent: by name of a measure of agents, its value for each agent of `roster`, as of the
            last closed unit; None where undefined.
        course: the same over the units, by policy.
    """

    path: str
    config: C
    roster: Sequence[str]
    finished: bool
    forks: int
    known: Mapping[str, Measure]
    vocabulary: Vocabulary
    units: int
    values: Mapping[str, Sequence[Value]]
    by_agent: Mapping[str, Sequence[Value]] = {}
    course: Course = msgspec.field(default_factory=Course)
    still: Mapping[str, Measure] = {}

    @cached_property
    def every(self) -> Mapping[str, Measure]:
        """The measures, and what never changed."""
        return {**self.known, **self.still}

    @property
    def counted(self) -> int:
        """The number of closed units that count; see `Vocabulary.uncounted`."""
        return self.units

    def by_step(self, step: str | None) -> Self:
        """The same by units of the run's own, where it has such: what a program notes under this
        name; None: under a usual one. Raises BadInput for a name that it does not have.
        """
        if step is not None:
            raise BadInput(f"{self.path} has no notes", "leave --step out")
        return self

    def units_of(self, windows: Iterable[Span]) -> list[Span]:
        """The units in windows of those that count, numbered from 1, as far as the run came."""
        return [
            Span(window.first, min(window.last, self.units))
            for window in windows
            if window.first <= self.units
        ]

    @property
    def whole(self) -> Span:
        """The span of all closed units."""
        return Span(1, self.units)

    def of(self, name: str, span: Span | None = None) -> Value:
        """A measure over the run, or over a span of its units."""
        units = span or self.whole
        return self.over(name, units, len(units)) if self.units else None

    def over(self, name: str, span: Span, horizon: int) -> Value:
        """A measure over a span: the mean over the units in which it is defined, unless the
        measure says otherwise. `horizon`: the number of units of the span that count, where longer
        spans have larger values.
        """
        measure = self.every[name]
        if measure.over is not None:
            return measure.over(self, span, horizon)
        values = self.values[name][span.first - 1 : span.last]
        if measure.total:
            defined = [value for value in values[:horizon] if value is not None]
            return math.fsum(defined) if defined else None
        return values[-1] if measure.at_end else mean(values)

    def halves(self, *, burn_in: bool = True) -> tuple[Span, Span] | None:
        """The units after the burn-in (the first ⌊U/10⌋ of U units), or all of them, cut in the
        middle; the second half has the odd one. None if a half would be empty.
        """
        start = self.units // BURN_IN if burn_in else 0
        middle = start + (self.units - start) // 2
        if middle == start:
            return None
        return Span(start + 1, middle), Span(middle + 1, self.units)

    def compared(self, name: str, *, burn_in: bool = True) -> tuple[Value, Value]:
        """A measure in both halves of the run, with the horizon of the shorter half."""
        halves = self.halves(burn_in=burn_in)
        if halves is None:
            return None, None
        first, second = (self.over(name, half, len(halves[0])) for half in halves)
        return first, second

    def facts(self) -> dict[str, Any]:
        """The properties that distinguish a run from others, besides its path."""
        return {"seed": self.config.seed, "agents": len(self.roster), **self.subject}

    @property
    def subject(self) -> dict[str, object]:
        """What was run, where that differs by run: only runs of the same have common means."""
        return {}

    def as_dict(self) -> dict[str, Any]:
        """The measures of the run, of its halves and of its agents for JSON."""
        return {
            "path": self.path,
            self.vocabulary.units: self.counted,
            "finished": self.finished,
            **self.facts(),
            "run": {name: self.of(name) for name in self.known},
            "by_agent": {name: list(values) for name, values in self.by_agent.items()},
            "halves": self._halves_as_dict(burn_in=True),
            "halves_without_burn_in": self._halves_as_dict(burn_in=False),
        }

    def _halves_as_dict(self, *, burn_in: bool) -> dict[str, Any] | None:
        halves = self.halves(burn_in=burn_in)
        if halves is None:
            return None
        names = [name for name, measure in self.known.items() if measure.by_half]
        number = self.vocabulary.number
        return {
            half: {
                "first": number(span.first),
                "last": number(span.last),
                **{name: self.over(name, span, len(halves[0])) for name in names},
            }
            for half, span in zip(("first_half", "second_half"), halves, strict=True)
        }


def by_unit(
    world: World[S],
    known: Mapping[str, Measure],
    *,
    config: Callable[[S], C],
    roster: Callable[[S], Sequence[str]],
    by_agent: Callable[[S], Mapping[str, Sequence[Value]]] = lambda state: {},
) -> Callable[[JournalReader], Measured[C]]:
    """The measuring function, as `Measures.read`, of a world whose measures are functions of the
    state at the close of a unit; `roster`: by agent, the label of its policy; `by_agent`: as in
    `Measured`.

    The function raises JournalError as reading a journal does, MalformedEvents for events that do
    not apply, and ValueError as `Measuring.add` does.
    """

    def read(reader: JournalReader) -> Measured[C]:
        walk = Walk(world, reader)
        taken = Measuring(known, lambda: by_agent(walk.state))
        for commit, state in walk:
            if commit.kind in (START, FORK):
                taken.declare(commit.unit, roster(state))
            if commit.kind == UNIT and commit.digest is not None:
                taken.add(state)
        return Measured(config=config(walk.state), **taken.fields(world, reader, walk))

    return read


class Measuring:
    """A run while it is measured, unit by unit.

    Attributes:
        known: the measures so far, by name.
        values: their values so far.
        units: the number of units so far.
    """

    def __init__(
        self, known: Mapping[str, Measure], by_agent: Callable[[], ByAgent] = lambda: {}
    ) -> None:
        """No unit is measured yet. `by_agent`: the measures of agents as of now."""
        self._by_agent = by_agent
        self.known: dict[str, Measure] = {}
        self.values: dict[str, Series] = {}
        self.units = 0
        self._taken: list[tuple[str, Callable[[Any], Value], Series]] = []
        self._sampling = Sampling[ByAgent](COURSE_MAX)
        self._rosters: dict[int, Sequence[str]] = {}
        for measure in known.values():
            self.include(measure)

    def declare(self, unit: int, roster: Sequence[str]) -> None:
        """The labels of the policies from a unit on."""
        self._rosters[unit] = roster

    def include(self, measure: Measure) -> None:
        """One more measure, undefined in the units so far."""
        self.known[measure.name] = measure
        if measure.of is not None:
            self.values[measure.name] = series = Series()
            for _ in range(self.units):
                series.append(None)
            self._taken.append((measure.name, measure.of, series))

    def add(self, unit: object) -> None:
        """Add the values of a unit that has closed, as the world counts one. Raises ValueError for
        one that is infinite or NaN.
        """
        self.units += 1
        for name, of, series in self._taken:
            value = of(unit)
            if value is not None and not math.isfinite(value):
                raise ValueError(f"{name} is {value}, which no run can have")
            series.append(value)
        if self._sampling.wants(self.units):
            self._sampling.add(self.units, self._by_agent())

    def fields(self, world: World[Any], reader: JournalReader, walk: Walk[Any]) -> dict[str, Any]:
        """What `Measured` has of a run to its end, besides its settings."""
        policies, by_agent = played(self._rosters.values()), self._by_agent()
        return {
            "known": self.known, "vocabulary": world.vocabulary,
            "path": reader.path, "roster": policies, "finished": reader.ended,
            "forks": len(walk.forks), "units": self.units, "values": self.values,
            "by_agent": by_agent,
            "course": course_of(self._sampling, self.units, by_agent, policies),
        }  # fmt: skip


def _head(measured: Measured[Any]) -> str:
    facts = measured.facts()
    agents = f" of {format_count(facts['agents'], 'agent')}" if facts["agents"] else ""
    units = format_count(measured.counted, measured.vocabulary.unit)
    return f"{units}{agents}, seed {facts['seed']}"


def _unmeasured(reader: JournalReader) -> Any:
    raise _without_measures(reader.header.world)


def _without_measures(world: str) -> BadInput:
    cure = "give one: @measure in a game, or --measure FILE.py:NAME"
    return BadInput(f"the {world} world has no measures", cure)


class Measures(msgspec.Struct, frozen=True):
    """The measures of a world.

    Attributes:
        known: the measures by name, in the order in which they are shown; by default none.
        read: measures the run of an open journal that was not read yet. Raises as
            replay.data.measures.by_unit.
        head: `head(measured)`, a run on one line.
        of_agents: the measures of agents by name. The first is the outcome: what the agents play
            for.
        agents_at: `agents_at(state)`, as `Measured.by_agent` for the state at the close of a unit;
            None if only whole runs have these measures.
        of_names: `of_names(names)`, the measures of runs that have these, in a world whose runs
            name measures of their own; None: all runs have the known ones.
    """

    known: Mapping[str, Measure] = {}
    read: Callable[[JournalReader], Measured[Any]] = _unmeasured
    head: Callable[[Any], str] = _head
    of_agents: Mapping[str, AgentMeasure] = {}
    agents_at: Callable[..., Mapping[str, Sequence[Value]]] | None = None
    of_names: Callable[[Sequence[str]], Measures] | None = None

    def of_run(self, known: Iterable[str]) -> Measures:
        """Those of a run that has these, with what it names itself."""
        return self if self.of_names is None else self.of_names(list(known))

    @property
    def of_runs(self) -> list[str]:
        """The names of those with a `column`, in their order; empty: the first that fit."""
        chosen = [measure for measure in self.known.values() if measure.column]
        return [measure.name for measure in sorted(chosen, key=lambda measure: measure.column)]

    @property
    def outcomes(self) -> dict[str, AgentMeasure | Measure]:
        """By name those of agents, then those of runs: the first is the outcome of the world."""
        names = [*self.of_agents, *self.known]
        return {name: self.of_agents.get(name) or self.known[name] for name in names}

    def outcome(
        self, world: str, name: str | None, what: str = "measure"
    ) -> AgentMeasure | Measure:
        """One of `outcomes`; None: the first. `what`: what they are called.

        Raises BadInput for another name, and if the world of this name has no measures.
        """
        known = self.outcomes
        if not known:
            raise _without_measures(world)
        if name is None:
            return next(iter(known.values()))
        if name not in known:
            raise unknown(what, name, known)
        return known[name]


NO_MEASURES: Final = Measures()
