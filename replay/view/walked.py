"""What the page of a run needs of its journal, gathered in one walk over it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.kernel import fold
from goldrush.kernel.errors import BadInput, DamagedJournal, JournalError, TornTail
from goldrush.kernel.journal import FORK, START, UNIT, Commit, JournalReader
from goldrush.kernel.walk import DIGESTS, Walk
from goldrush.kernel.world import Event, Step, World
from goldrush.replay.data.measures import Measures
from goldrush.replay.data.sampling import Sampling
from goldrush.replay.journal.declared import Declared, declared_by, fork_changes, labels_of
from goldrush.replay.journal.rebuild import Rebuilt
from goldrush.replay.tools import ClosedUnit, Tools, UnitFields
from goldrush.replay.view.fields import Field, Row
from goldrush.replay.view.front import POINTS_MAX, OutcomeAt, any_of
from goldrush.replay.view.lines import Groups, Lines

UNITS_MAX: Final = 20_000  # units that a page shows
TEXT_MAX: Final = 1 << 24  # characters of their sentences
STATES_MAX: Final = 1 << 24  # characters of JSON of their states
SERIES_MAX: Final = 1 << 15  # numbers in the charts of states
ITEMS_MAX: Final = 10_000  # items of a list in a state
SIDE_MAX: Final = 100  # rows and columns of a grid
DIGITS: Final = 12  # significant digits of a number in a state
EXACT_MAX: Final = (1 << 53) - 1  # larger numbers are text: a page's numbers are doubles


class Walked:
    """A walk over a journal for a page that shows some of its units.

    Attributes:
        declared: settings and players, with the unit from which each is in force.
        forks: of each fork, its first unit, what it changed, and the beginning of its parent's
            SHA-256.
        first, last: the units that are shown, numbered from 1.
        closed: the last closed unit.
        counted: the number of closed units that count; see `Vocabulary.uncounted`.
        setup: what START records.
        end: the offset after the last commit.
        points: the outcome over the units of the run, by the number of the unit; empty where nobody
            earns anything.
        trouble: the error that breaks off the journal, or None.
        lines: of each unit that is shown, see view/lines.py.
        tracks: by title of `View.tracks`, how many events of each unit that is shown are counted.
        states: `(number, fields)` of the units that are shown, or of one in `every`; before
            them that of the unit before the first one, if it is drawn as they are.
        fields: how they are drawn, by name.
        series: the rows of the charts of states, of one unit in `spacing`.
    """

    def __init__(
        self,
        tools: Tools,
        world: World[Any],
        units: tuple[int | None, int | None],
        lines: Lines,
        labels: Sequence[str],
    ) -> None:
        """`labels`: of each agent, as in `RunFront`."""
        number = world.vocabulary.unit_of
        self._tools, self._world, self._lines, self._labels = tools, world, lines, labels
        self._measures: Measures = tools.measures
        view = tools.view
        self._not_charted = {*view.identifiers, *view.drawn}
        if self._measures.of_agents and self._measures.agents_at is not None:
            self._not_charted.add(view.ranks)  # the top of the page has its chart
        self._shown: UnitFields = (view.fields or (lambda _: _Fields(tools)))(world)
        self.first = 1 if units[0] is None else number(units[0])
        self._most = None if units[1] is None else number(units[1])
        self.declared: list[tuple[int, Declared]] = []
        self.forks: list[tuple[int, str, str]] = []
        self.setup: Mapping[str, object] = {}
        self.last = self.closed = self.counted = self.end = self._text = 0
        self.points: Sequence[tuple[int, OutcomeAt]] = ()
        self.trouble: JournalError | None = None
        self.lines: list[Groups] = []
        self.tracks: dict[str, list[int]] = {title: [] for title in view.tracks}
        self.fields: dict[str, Field] = {}
        number_of_first = world.vocabulary.number(self.first)
        self._before: Mapping[str, Any] = {}
        self._states: Sampling[Mapping[str, Any]] = Sampling(STATES_MAX, number_of_first)
        self._series: Sampling[Mapping[str, Row]] = Sampling(SERIES_MAX, number_of_first)
        self._sampling: Sampling[OutcomeAt | None] = Sampling(POINTS_MAX)
        self._events: list[Event] = []
        self._is_full = False
        self._policies: Sequence[str] = ()

    @property
    def is_all(self) -> bool:
        """Whether all closed units are shown."""
        return self.first == 1 and self.last == self.closed

    @property
    def states(self) -> list[tuple[int, Mapping[str, Any]]]:
        found = self._states.items()
        before = self._before
        fits = found and before.keys() == found[0][1].keys()
        if not fits or not all(self.fields[name].fits(value) for name, value in before.items()):
            return found
        return [(self._world.vocabulary.number(self.first - 1), before), *found]

    @property
    def every(self) -> int:
        return self._states.every

    @property
    def series(self) -> list[Mapping[str, Row]]:
        return [row for _, row in self._series.items()]

    @property
    def spacing(self) -> int:
        return self._series.every

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
            if not self.setup:
                raise
            self.trouble = error  # the units before it are shown
        if not self.lines:
            raise self._nothing(reader)
        outcome, number = self._outcome(walk.state), self._world.vocabulary.number
        samples = self._sampling.samples(self.closed, outcome)
        self.points = [(number(unit), point) for unit, point in samples if point is not None]

    def _add(self, commit: Commit, step: Step, state: object) -> None:
        """Note a step of a unit; what a world shows may follow from earlier ones, too."""
        if not self._is_full:
            self._shown.add(step, state)
        if self._is_shown(commit.unit):
            for block in (step.inputs, step.derived):
                self._events += fold.block_events(self._world, commit.unit, block)

    def _take(self, reader: JournalReader, commit: Commit, state: object) -> None:
        """Note a commit, and the state after it."""
        self.end = commit.end
        if commit.kind in (START, FORK):
            self._declare(reader, commit)
        if commit.digest is None or commit.kind not in (START, UNIT):
            return
        number = self._world.vocabulary.number(commit.unit)
        unit = Rebuilt(
            reader.path, reader.header, number, state, self._events, commit.digest,
            self._world.vocabulary,
        )  # fmt: skip
        if commit.kind == START:
            self.setup = commit.setup or {}
        else:
            self.closed = commit.unit
            self.counted += fold.counts(commit, self._world.vocabulary)
            if self._sampling.wants(commit.unit):
                self._sampling.add(commit.unit, self._outcome(state))
        if not self._is_full:
            self._close(commit, unit)
        self._events = []

    def _close(self, commit: Commit, unit: ClosedUnit) -> None:
        """Note the state after a unit or the start, and the lines of the unit, if it is shown."""
        fields = self._shown.close(unit)
        if commit.unit >= self.first - 1 and fields is not None:
            self._note(unit, fields)
        if self._is_shown(commit.unit):
            groups = self._lines.of_unit(unit.round, unit.events, self._shown.behind)
            self._text += sum(len(str(line)) for _, lines in groups for line in lines)
            self.lines.append(groups)
            for title, counted in self._tools.view.tracks.items():
                self.tracks[title].append(sum(map(counted, unit.events)))
            self.last = commit.unit
            beyond = self._most is not None and commit.unit >= self._most
            self._is_full = beyond or len(self.lines) >= UNITS_MAX or self._text > TEXT_MAX

    def _note(self, unit: ClosedUnit, shown: Any) -> None:
        """Add a state, as far as there is room."""
        number = unit.round
        shown = shown if isinstance(shown, Mapping) else {"state": shown}
        values = {str(name): _plain(value) for name, value in shown.items()}
        if self._world.vocabulary.unit_of(number) < self.first:
            self._before = values
            return
        if not (self._states.wants(number) or self._series.wants(number)):
            return
        row: dict[str, Row] = {}
        for name, value in values.items():
            field = self.fields.setdefault(name, Field())
            if not field.is_tree:
                row[name] = field.add(value, self._policies, name in self._tools.view.by_agent)
            if name in self._not_charted:
                row[name] = ()
        if self._states.wants(number):
            cut = {name: self._cut(name, value) for name, value in values.items()}
            self._states.add(number, cut, len(json.dumps(cut)))
        if self._series.wants(number):
            self._series.add(number, row, sum(map(len, row.values())))

    def _cut(self, name: str, value: Any) -> Any:
        """A value of a field whose list has at most ITEMS_MAX items, of a larger grid SIDE_MAX rows
        and columns.
        """
        is_drawn = name in self._tools.view.drawn
        if is_drawn or self.fields[name].is_tree or not isinstance(value, list):
            return value
        are_rows = all(isinstance(row, list) for row in value)
        if are_rows and sum(map(len, value)) > ITEMS_MAX:
            return [row[:SIDE_MAX] for row in value[:SIDE_MAX]]
        return value[:ITEMS_MAX]

    def _declare(self, reader: JournalReader, commit: Commit) -> None:
        before = self.declared[-1][1] if self.declared else None
        event = fold.setup_event(self._world, reader, commit)
        prompts = self._tools.players.prompts
        declared = declared_by(self._world, prompts, before, event)
        self.declared.append((commit.unit + 1, declared))
        self._policies = labels_of(declared.players, declared.prompts)
        if before is not None:
            words = self._world.vocabulary
            changes = fork_changes(words, before.prompts, event, before)
            text = f"Forked after {words.unit} {event.unit}: {changes}."
            self.forks.append((event.unit + 1, text, str(event.fields["parent"])[:16]))

    def _outcome(self, state: object) -> OutcomeAt | None:
        """The outcome so far, by agent and group; None where nobody earns anything."""
        if self._measures.agents_at is None or not self._measures.of_agents:
            return None
        name = next(iter(self._measures.of_agents))
        values = self._measures.agents_at(state).get(name, ())
        return OutcomeAt.of(values, self._labels) if any_of(values) else None

    def _is_shown(self, unit: int) -> bool:
        return unit >= self.first and unit > 0 and not self._is_full

    def _nothing(self, reader: JournalReader) -> BadInput:
        words, closed = self._world.vocabulary, self.closed
        return BadInput(
            f"{reader.path} has no {words.unit} to show there",
            f"its {words.units} are {words.number(1)} to {words.number(closed)}"
            if closed
            else f"no {words.unit} of it is closed",
        )


@attrs.frozen
class _Fields:
    """The fields of states as `Tools.fields` gives them, with scores."""

    tools: Tools

    def add(self, step: Step, state: object) -> None:
        """No step is needed."""

    def behind(self, event: Event) -> Mapping[str, object]:
        return {}

    def close(self, unit: ClosedUnit) -> Any:
        fields = self.tools.fields(unit)
        if fields is None:
            freeze = self.tools.world({}).freeze
            return None if freeze is None else freeze(unit.state)
        scores = self.tools.view.scores(unit.state) if unit.vocabulary.unit_of(unit.round) else ()
        return {**fields, self.tools.view.ranks: scores} if scores else fields


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
