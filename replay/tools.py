"""What tools ask of a world: one typed record, `Tools`.

Only the world itself is required. Where a world leaves a part out, a tool either has a simpler form
that suits any world (events as JSON in place of a story), or reports that the world lacks the part.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import attrs

from goldrush.agents.plugins import PluginKind
from goldrush.kernel.treatments import Treatment
from goldrush.kernel.world import Event, World

if TYPE_CHECKING:
    from goldrush.agents.players import Players, Resources
    from goldrush.kernel.run import OnUnit
    from goldrush.replay.data.columns import Column, Table, Type
    from goldrush.replay.data.measures import Measures
    from goldrush.replay.journal.tie_break import TieBreak
    from goldrush.replay.journal.why import Explanation
    from goldrush.replay.levelled import Keys, Seeded, Settings
    from goldrush.replay.report.chapter import Chapter
    from goldrush.replay.sentences import EventSentences
    from goldrush.replay.studies import Studies
    from goldrush.replay.text import Paint

Names = Mapping[int, str]  # names of the agents of a run, by number


class HasDict(Protocol):
    """A result that can be printed as JSON."""

    def as_dict(self) -> dict[str, Any]:
        """The result as plain values."""
        ...


D = TypeVar("D", bound=HasDict)
D_co = TypeVar("D_co", bound=HasDict, covariant=True)
U = TypeVar("U")  # a unit, rebuilt: replay.journal.rebuild.Rebuilt
F = TypeVar("F")  # a difference of two runs: replay.journal.diff.Diff
F_contra = TypeVar("F_contra", contravariant=True)


def _no_names(path: str | Path) -> Names:
    return {}


@attrs.frozen
class Story:
    """Events as text.

    Attributes:
        sentences: `sentences(names)`, the sentences of the events of one pass over a journal.
        lines: `lines(events, names)`, the text of the events in order, line by line; by default
            the sentences.
        chronicle: `chronicle(events, names)`, the text of the events of many units as (first unit,
            last unit, line), with public unit numbers; by default the sentences.
        names: `names(path)`, the names of a journal's agents. Raises JournalError.
        of: `of(path)`, the story of one journal, where it takes more than names. Raises nothing.
        brief: the names of the events in a brief story.
    """

    sentences: Callable[[Names], EventSentences]
    lines: Callable[[Iterable[Event], Names], Iterator[str]] = attrs.field()
    chronicle: Callable[[Iterable[Event], Names], Iterator[tuple[int, int, str]]] = attrs.field()
    names: Callable[[str | Path], Names] = _no_names
    of: Callable[[str | Path], Story] | None = None
    brief: Collection[str] = ()

    @lines.default
    def _of_sentences(self) -> Callable[[Iterable[Event], Names], Iterator[str]]:
        return lambda events, names: map(self.sentences(names).line, events)

    @chronicle.default
    def _by_event(self) -> Callable[[Iterable[Event], Names], Iterator[tuple[int, int, str]]]:
        def chronicle(events: Iterable[Event], names: Names) -> Iterator[tuple[int, int, str]]:
            sentences = self.sentences(names)
            for event in events:
                yield event.unit, event.unit, sentences.line(event)

        return chronicle


@attrs.frozen
class UnitView(Generic[U]):
    """A unit (a round, an assignment) as it is shown above its events.

    Attributes:
        as_dict: for JSON.
        format: as text, with colours by agent.
        frame: as `format` in few lines, where one unit follows the other; None: as `format`.
        line: the unit on one line; None: the number of events of each type.
    """

    as_dict: Callable[[U], Mapping[str, Any]]
    format: Callable[[U, Paint], str]
    frame: Callable[[U, Paint], str] | None = None
    line: Callable[[U], str] | None = None


@attrs.frozen
class Summaries(Generic[D]):
    """The summary of a whole run in a few numbers.

    Attributes:
        read: `read(path)`, the summary of a journal.
        format: `format(summary)`, the summary as text.
        commands: the commands that are suggested after a run, besides `replay` and `verify`.
    """

    read: Callable[[str | Path], D]
    format: Callable[[D], str]
    commands: Sequence[str] = ()


class Follow(Protocol[F_contra, D_co]):
    """The consequences of the first event that differs; None where it can have none."""

    def __call__(self, difference: F_contra, /, *, by_round: bool) -> D_co | None:
        """Follow a difference; `by_round` keeps the result of each unit."""
        ...


@attrs.frozen
class Consequences(Generic[F, D]):
    """The consequences of a difference between two runs.

    Attributes:
        follow: `follow(diff, by_round=)`, the consequences.
        format: `format(followed, by_round)`, the consequences as text.
    """

    follow: Follow[F, D]
    format: Callable[[D, bool], str]


@attrs.frozen
class TieBreaks:
    """The draws of a world, audited.

    Attributes:
        location: the noun for a location in a unit ("plot", "table"); empty: draws have none.
        kinds: the kinds of draws.
        at: `at(path, unit, location, kind)`, the draws of a unit; None: of all locations or kinds.
        every: `every(path)`, all draws of a journal.
        needs_location: `at` must be given a location.
    """

    location: str
    kinds: Sequence[str]
    at: Callable[[str | Path, int, int | None, str | None], Sequence[TieBreak]]
    every: Callable[[str | Path], Iterator[TieBreak]]
    needs_location: bool = False


@attrs.frozen
class Why:
    """Explanations of results, and the changes that would have led to others.

    Attributes:
        location: the noun for a location in a unit ("plot"); empty: explanations have none.
        at: `at(path, unit, location, agent)`, the explanations of a unit (by its public number);
            None: of all locations or agents. Raises BadInput if there is nothing to explain, and
            JournalError.
        units: `units(path, location, agent)`, the units with something to explain there, ascending.
            Raises as reading a journal.
    """

    location: str
    at: Callable[[str | Path, int, int | None, int | None], Sequence[Explanation]]
    units: Callable[[str | Path, int | None, int | None], Iterator[int]]


class Checkable(HasDict, Protocol):
    """A recorded result that was computed again."""

    @property
    def holds(self) -> bool:
        """Whether both are the same."""
        ...


C = TypeVar("C", bound=Checkable)


@attrs.frozen
class Scores(Generic[C]):
    """The scores of agents, with the steps that lead to them.

    Attributes:
        at: `at(path, unit, agent, location)`, the scores of an agent in a unit.
        format: `format(score)`, a score as text.
    """

    at: Callable[[str | Path, int, int, int | None], Sequence[C]]
    format: Callable[[C], str]


class Prompted(Protocol):
    """A question to a language model, as it was sent or would be sent.

    Attributes:
        messages: the messages of the request.
        digest: their digest.
        recorded: the digest in the journal; None where it has none.
        is_model: the agent is a language model, and not merely one that could be.
    """

    @property
    def messages(self) -> Sequence[Mapping[str, str]]: ...
    @property
    def digest(self) -> str: ...
    @property
    def recorded(self) -> str | None: ...
    @property
    def is_model(self) -> bool: ...


P = TypeVar("P", bound=Prompted)


@attrs.frozen
class Prompts(Generic[P]):
    """The prompts of agents.

    Attributes:
        at: `at(path, unit, agent, resources)`, the prompts of an agent in a unit; `resources` are
            for asking other players again.
        as_dict: `as_dict(sent, unit, agent)`, the prompts for JSON.
    """

    at: Callable[[str | Path, int, int, Resources], Sequence[P]]
    as_dict: Callable[[Sequence[P], int, int], Mapping[str, Any]]


@attrs.frozen
class Spells:
    """Spells: how long something was held.

    Attributes:
        of: the spells of a measured run.
        format: the spells of a measured run as text.
        table: the table of spells.
        at: `at(measured, plots)`, the same run with the spells of these plots alone.
    """

    of: Callable[[Any], Sequence[HasDict]]
    format: Callable[[Any], str]
    table: Table
    at: Callable[[Any, Collection[int]], Any]


@attrs.frozen
class Tables:
    """The parts of tables that are a world's own.

    Attributes:
        setup: columns for the fields of START and forks; empty: one column of JSON.
        types: types of columns for kinds of fields that only this world has, by the kind's name.
        fields: (unit of measurement, meaning) of fields of events, by name.
        own: tables besides the table of events. One with the name of the world's units replaces the
            table of its measures.
    """

    setup: Sequence[Column] = ()
    types: Mapping[str, Type] = attrs.field(factory=dict)
    fields: Mapping[str, tuple[str, str]] = attrs.field(factory=dict)
    own: Sequence[Table] = ()


class Export(Protocol):
    """Writes the state of a run as a folder of files."""

    def __call__(self, path: str | Path, target: str, at: int | None, *, force: bool) -> str:
        """Write the state after a unit into a folder.

        Args:
            at: the unit; None: the last one.
            force: replace what was written there before.

        Returns a line that describes what was written.

        Raises:
            BadInput, WriteFailed: for the folder.
            JournalError: as reading a journal does.
        """
        ...


class Live(Protocol):
    """Writes the state of a run while it is recorded."""

    def __call__(self, path: str | Path, target: str, *, force: bool) -> OnUnit[Any]:
        """The function to call after each unit of the journal at `path`; it writes that unit into
        the folder `target` as `Export` does, and raises the same errors. Raises BadInput.
        """
        ...


@attrs.frozen
class Folder:
    """A run's state as a folder of files: `export` of a journal, `live` while it is recorded."""

    export: Export
    live: Live


@attrs.frozen
class View:
    """How `goldrush view` shows a run; replay/view/README.md has the interface of a script.

    Attributes:
        script: a file of JavaScript, copied into the page.
        style: a file of CSS, copied into the page.
        modules: files that the script imports besides the frame's, each before its importers.
        selectors: the names of what a person can select besides the unit ("plot", "agent").
        told: the names of the events whose sentences the script shows; None: of all whose types
            carry one.
        facts: `facts(state)`, what the script folds from the events: nested lists of numbers, text,
            booleans and None.
        computed: `computed(path, first, last)`, results that take the world's rules, of the units
            `first` to `last` (public numbers), as plain values for JSON. Raises JournalError.
    """

    script: Path
    style: Path | None = None
    modules: Sequence[Path] = ()
    selectors: Sequence[str] = ()
    told: Collection[str] | None = None
    facts: Callable[[Any], Any] | None = None
    computed: Callable[[str | Path, int, int], Any] | None = None


def _seed_alone(settings: Settings) -> Sequence[Keys]:
    return ()


@attrs.frozen
class Tools:
    """A world and everything that tools can ask of it.

    Attributes:
        world: `world(setup)`, the world of a run whose START records `setup`; an empty `setup` if
            START cannot be read. Raises nothing.
        config: the class of its settings, made with kernel.settings.
        players: the players of the world, whom `verify` asks again.
        length: `length(state)`, the number of units of a run.
        agents: `agents(state)`, the number of agents, in worlds where it is constant.
        story, unit, summary, consequences, tie_breaks, why, scores, prompts: see the types.
        location_of: `location_of(path, text)`, the number of a location (a plot) from text. Raises
            BadInput.
        measures, spells, tables, studies, chapter: functions that make these records, so that
            replaying a run need not import what measuring and reporting take.
        treatments: variations of the settings by name, kernel.treatments.BASELINE first.
        seeded: `seeded(settings)`, the settings other than `seed` whose default is the seed, each
            as the keys that lead to it; see replay.levelled. Raises nothing.
        folder, view: see the types.
        run: the class of its runs in Python, a subclass of replay.run.Run; None: that class.
        kinds: what other distributions can add to it besides policies.
    """

    world: Callable[[Mapping[str, Any]], World[Any]]
    config: type[attrs.AttrsInstance] | None = None
    players: Players[Any] | None = None
    length: Callable[[Any], int] | None = None
    agents: Callable[[Any], int] | None = None
    story: Story | None = None
    unit: UnitView[Any] | None = None
    summary: Summaries[Any] | None = None
    consequences: Consequences[Any, Any] | None = None
    tie_breaks: TieBreaks | None = None
    why: Why | None = None
    scores: Scores[Any] | None = None
    prompts: Prompts[Any] | None = None
    location_of: Callable[[str | Path, str], int] | None = None
    measures: Callable[[], Measures] | None = None
    spells: Callable[[], Spells] | None = None
    tables: Callable[[], Tables] | None = None
    treatments: Mapping[str, Treatment[Any]] = attrs.field(factory=dict)
    seeded: Seeded = _seed_alone
    studies: Callable[[], Studies] | None = None
    chapter: Callable[[], Chapter] | None = None
    folder: Folder | None = None
    view: View | None = None
    run: Callable[[], type[object]] | None = None
    kinds: Sequence[PluginKind] = ()
