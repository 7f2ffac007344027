"""What the page of a run needs of its journal, gathered in one walk over it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.kernel import fold
from goldrush.kernel.errors import BadInput, DamagedJournal, JournalError, TornTail
from goldrush.kernel.journal import START, UNIT, Commit, JournalReader
from goldrush.kernel.measures import Value
from goldrush.kernel.walk import DIGESTS, Walk
from goldrush.kernel.world import RecordedEvent, Step, World
from goldrush.replay.data.measures import Measures
from goldrush.replay.data.sampling import Sampling
from goldrush.replay.tools import ClosedUnit, Tools, UnitFields
from goldrush.replay.view.chart import Lines, points_of
from goldrush.replay.view.fields import State
from goldrush.replay.view.lines import EventLines, Groups

UNITS_MAX: Final = 20_000  # units that a page shows
TEXT_MAX: Final = 1 << 24  # characters of their sentences
STATES_MAX: Final = 1 << 24  # characters of JSON of their states
POINTS_MAX: Final = 240  # points of a line of the chart of the outcome
DIGITS: Final = 12  # significant digits of a number in a state
EXACT_MAX: Final = (1 << 53) - 1  # larger numbers are text: a page's numbers are doubles

Row = Sequence[Value]


class Walked:
    """A walk over a journal for a page that shows some of its units.

    Attributes:
        shown: the fields of the world.
        first, last: the units that are shown, numbered from 1.
        closed: the last closed unit.
        end: the offset after the last commit.
        points: of some units of the run, the public number and the outcome so far by line; empty
            where nobody earns anything.
        trouble: the error that breaks off the journal, or None.
        lines: of each unit that is shown, see view/lines.py.
        before: the state before the first unit that is shown; empty: there is none.
        states: the fields of the units that are shown, or of one in `states.every`, by number, with
            the number of agents.
    """

    def __init__(
        self,
        tools: Tools,
        world: World[Any],
        units: tuple[int | None, int | None],
        event_lines: EventLines,
        front: Lines,
    ) -> None:
        """`front`: the lines of the chart of the outcome."""
        number = world.vocabulary.unit_of
        self._tools, self._world, self._event_lines, self._front = tools, world, event_lines, front
        self.shown: UnitFields = (tools.view.fields or (lambda _: _Fields(tools)))(world)
        self.first = 1 if units[0] is None else number(units[0])
        self._most = UNITS_MAX + self.first - 1 if units[1] is None else number(units[1])
        self.last = self.closed = self.end = 0
        self.points: Sequence[tuple[int, Row]] = ()
        self.trouble: JournalError | None = None
        self.lines: list[Groups] = []
        self.before: State = {}
        self.states = Sampling[tuple[State, int]](STATES_MAX, world.vocabulary.number(self.first))
        self._points = Sampling[Row](POINTS_MAX)
        self._events: list[RecordedEvent] = []
        self._is_full = False

    def read(self, reader: JournalReader) -> None:
        """Read a journal from its start on.

        Raises BadInput if it has no unit to show; JournalError as reading a journal does, but what
        is torn or damaged after START ends the walk and is its `trouble`.
        """
        walk = Walk(self._world, reader, DIGESTS)
        try:
            for commit, step, state in walk.steps():
                if step is None:
                    self._take(reader, commit, state)
                else:
                    self._add(commit, step, state)
        except (TornTail, DamagedJournal) as error:
            if not self.end:
                raise
            self.trouble = error  # the units before it are shown
        words, number = self._world.vocabulary, self._world.vocabulary.number
        if not self.lines:
            raise BadInput(
                f"{reader.path} has no {words.unit} to show there",
                f"its {words.units} are {number(1)} to {number(self.closed)}"
                if self.closed
                else f"no {words.unit} of it is closed",
            )
        samples = self._points.samples(self.closed, self._outcome(walk.state))
        self.points = [(number(unit), row) for unit, row in samples if row]

    def _add(self, commit: Commit, step: Step, state: object) -> None:
        """Note a step of a unit; what a world shows may follow from earlier ones, too."""
        if not self._is_full:
            self.shown.add(step, state)
        if self._is_shown(commit.unit):
            for block in (step.inputs, step.derived):
                self._events += fold.block_events(self._world, commit.unit, block)

    def _take(self, reader: JournalReader, commit: Commit, state: object) -> None:
        """Note a commit, and the state after it."""
        self.end = commit.end
        if commit.digest is None or commit.kind not in (START, UNIT):
            return
        vocabulary = self._world.vocabulary
        if commit.kind == UNIT:
            self.closed = commit.unit
            if self._points.wants(commit.unit):
                self._points.add(commit.unit, self._outcome(state))
        if not self._is_full:
            number = vocabulary.number(commit.unit)
            unit = ClosedUnit(number, state, self._events, commit.digest, vocabulary)
            self._close(commit, unit)
        self._events = []

    def _close(self, commit: Commit, unit: ClosedUnit) -> None:
        """Note the state after a unit or the start, and the lines of the unit, if it is shown."""
        fields = self.shown.close(unit)
        if fields is not None and commit.unit >= self.first - 1:
            state = fields if isinstance(fields, Mapping) else {"state": fields}
            self._note(commit.unit, unit, state)
        if self._is_shown(commit.unit):
            groups = self._event_lines.of_unit(unit.round, unit.events, self.shown.behind)
            self.lines.append(groups)
            self.last = commit.unit
            is_last = commit.unit >= self._most or len(self.lines) >= UNITS_MAX
            self._is_full = is_last or self._event_lines.size > TEXT_MAX

    def _note(self, number: int, unit: ClosedUnit, state: State) -> None:
        """Add a state, as far as there is room."""
        if number < self.first or self.states.wants(unit.round):
            values = _plain(state)
            if number < self.first:
                self.before = values
            else:
                agents = len(self.shown.names or self._tools.labels(unit.state))
                self.states.add(unit.round, (values, agents), len(json.dumps(values)))

    def _outcome(self, state: object) -> Row:
        """The outcome so far by line; empty where nobody earns anything."""
        measures: Measures = self._tools.measures
        if measures.agents_at is None or not measures.of_agents:
            return ()
        values = measures.agents_at(state).get(next(iter(measures.of_agents)), ())
        return points_of(self._front, values) if any_of(values) else ()

    def _is_shown(self, unit: int) -> bool:
        return unit >= self.first and unit > 0 and not self._is_full


@attrs.frozen
class _Fields(UnitFields):
    """The fields of states as `Tools.fields` gives them, with scores."""

    tools: Tools

    def close(self, unit: ClosedUnit) -> Any:
        fields = self.tools.fields(unit)
        if fields is None:
            freeze = self.tools.world({}).freeze
            return None if freeze is None else freeze(unit.state)
        scores, ranks = self.tools.measures.agents_at, self.tools.view.ranks
        if scores is None or unit.round < unit.vocabulary.first:
            return fields
        earned = scores(unit.state).get(ranks, ())
        return {**fields, ranks: earned} if any_of(earned) else fields


def any_of(values: Sequence[Value]) -> bool:
    """Whether there is a value."""
    return any(value is not None for value in values)


def _plain(value: Any) -> Any:
    """A value for JSON: its numbers as a page shows them."""
    kind = type(value)
    if kind is int:
        return str(value) if abs(value) > EXACT_MAX else value
    if kind is float:
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    return value
