"""What the page of a run needs of its journal, gathered in one walk over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from goldrush.kernel import fold
from goldrush.kernel.codec import fingerprint
from goldrush.kernel.errors import BadInput, DamagedJournal, JournalError, TornTail
from goldrush.kernel.journal import FORK, START, UNIT, Commit, JournalReader
from goldrush.kernel.shape import amount
from goldrush.kernel.walk import DIGESTS, Walk
from goldrush.kernel.world import Vocabulary, World
from goldrush.replay.data.measures import Measures
from goldrush.replay.data.sampling import Sampling
from goldrush.replay.find import prompts_of
from goldrush.replay.journal.declared import Declared, declared_by, fork_changes
from goldrush.replay.tools import View
from goldrush.replay.view.front import POINTS_MAX, OutcomeAt, any_of
from goldrush.replay.view.told import Told

JOURNAL_MAX: Final = 1 << 23  # bytes of a journal that a page carries
UNITS_MAX: Final = 20_000  # units that a page shows


class PageWalk:
    """A walk over a journal for a page that shows some of its units.

    Attributes:
        declared: settings and players, with the unit from which each is in force.
        forks: of each fork, its first unit, what it changed, and the beginning of its parent's
            SHA-256.
        first, last: the units that are shown, numbered from 1.
        closed: the last closed unit.
        counted: the number of closed units that count; see `Vocabulary.uncounted`.
        is_all: all closed units are shown.
        facts: the facts before the first unit.
        setup: what START records.
        prints: as in `Carried`.
        start, since, until: the offsets after START, of the first unit, and after the last one and
            after END where that follows.
        end: the offset after the last commit.
        points: the outcome over the units of the run, by the number of the unit; empty where nobody
            earns anything.
        trouble: the error that breaks off the journal, or None.
    """

    def __init__(
        self,
        world: World[object],
        measures: Measures,
        view: View,
        units: tuple[int | None, int | None],
        told: Told,
        labels: Sequence[str],
    ) -> None:
        """`labels`: of each agent, as in `RunFront`."""
        number = world.vocabulary.unit_of
        self._world, self._measures, self._view, self._told = world, measures, view, told
        self._labels = labels
        self.first = 1 if units[0] is None else number(units[0])
        self._most = None if units[1] is None else number(units[1])
        self.declared: list[tuple[int, Declared]] = []
        self.forks: list[tuple[int, str, str]] = []
        self.facts: Any = None
        self.setup: Mapping[str, object] = {}
        self.start = self.since = self.until = self.last = self.closed = self.counted = 0
        self.points: Sequence[tuple[int, OutcomeAt]] = ()
        self.trouble: JournalError | None = None
        self.end = 0
        self._prints: list[str] = []
        self._sampling: Sampling[OutcomeAt | None] = Sampling(POINTS_MAX)

    @property
    def prints(self) -> str:
        return "".join(self._prints)

    @property
    def is_all(self) -> bool:
        return self.first == 1 and self.last == self.closed

    def read(self, reader: JournalReader) -> None:
        """Read a journal from its start on.

        Raises BadInput if it has no unit to show; JournalError as reading a journal does, but what
        is torn or damaged after START ends the walk and is its `trouble`.
        """
        walk = Walk(self._world, reader, DIGESTS)
        try:
            for commit, state in walk:
                self.take(reader, commit, state)
        except (TornTail, DamagedJournal) as error:
            if not self.start:
                raise
            self.trouble = error  # the units before it are shown
        if not self._prints:
            raise self._nothing(reader)
        if self.is_all:
            self.until = self.end  # with END, and pending inputs
        outcome, number = self._outcome(walk.state), self._world.vocabulary.number
        samples = self._sampling.samples(self.closed, outcome)
        self.points = [(number(unit), point) for unit, point in samples if point is not None]

    def take(self, reader: JournalReader, commit: Commit, state: object) -> None:
        """Note a commit, and the state after it."""
        self.end = commit.end
        if commit.kind in (START, FORK):
            self._declare(reader, commit)
        if commit.kind == START:
            self.setup = commit.setup or {}
            self.start = self.since = self.until = commit.end
        if commit.unit >= self.first:
            self._told.add(commit)
        if commit.digest is None:
            return
        is_unit = commit.kind == UNIT
        if is_unit:
            self.closed = commit.unit
            self.counted += fold.counts(commit, self._world.vocabulary)
            if self._sampling.wants(commit.unit):
                self._sampling.add(commit.unit, self._outcome(state))
        if commit.kind == FORK and commit.unit == self.first - 1:
            return  # it precedes the first unit that is shown, and is carried with it
        if commit.unit < self.first:
            self.facts, self.since = self._facts(state), commit.end
            return
        is_shown = is_unit and not self._is_full(commit)
        self._told.close(is_shown)
        if is_shown:
            has_facts = self._view.facts is not None
            self._prints.append(f"{fingerprint(self._facts(state)):016x}" if has_facts else "")
            self.last, self.until = commit.unit, commit.end

    def _declare(self, reader: JournalReader, commit: Commit) -> None:
        before = self.declared[-1][1] if self.declared else None
        event = fold.setup_event(self._world, reader, commit)
        declared = declared_by(self._world, prompts_of(self._world.name), before, event)
        self.declared.append((commit.unit + 1, declared))
        if before is not None:
            unit = self._words.unit
            changes = fork_changes(self._words, before.prompts, event, before)
            text = f"Forked after {unit} {event.unit}: {changes}."
            self.forks.append((event.unit + 1, text, str(event.fields["parent"])[:16]))

    def _outcome(self, state: object) -> OutcomeAt | None:
        """The outcome so far, by agent and group; None where nobody earns anything."""
        if self._measures.agents_at is None or not self._measures.of_agents:
            return None
        name = next(iter(self._measures.of_agents))
        values = self._measures.agents_at(state).get(name, ())
        return OutcomeAt.of(values, self._labels) if any_of(values) else None

    def _facts(self, state: object) -> Any:
        """The facts as they are in the page: whole numbers as integers, since the page's language
        does not distinguish them.
        """
        return None if self._view.facts is None else _whole(self._view.facts(state))

    def _is_full(self, commit: Commit) -> bool:
        """Whether a unit is beyond the wanted ones, or beyond the limits of a page."""
        prints, size = self._prints, commit.end - self.since
        beyond = self._most is not None and commit.unit > self._most
        return beyond or len(prints) >= UNITS_MAX or (size > JOURNAL_MAX and bool(prints))

    def _nothing(self, reader: JournalReader) -> BadInput:
        words, closed = self._words, self.closed
        return BadInput(
            f"{reader.path} has no {words.unit} to show there",
            f"its {words.units} are {words.number(1)} to {words.number(closed)}"
            if closed
            else f"no {words.unit} of it is closed",
        )

    @property
    def _words(self) -> Vocabulary:
        return self._world.vocabulary


def _whole(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_whole(item) for item in value]
    if type(value) is float and abs(value) < 2**53:
        return amount(value)
    return value
