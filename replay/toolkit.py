"""What tools ask of a world: one typed record, `Toolkit`, found by the name in a journal's header.

Only the world itself is required. Of what a world leaves out, a tool either has something simpler
that suits any world (events as JSON in place of a story), or says that this world does not have it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

import attrs

from goldrush.agents.llm.models import LLM
from goldrush.agents.people import HUMAN
from goldrush.agents.plugins import (
    VARIABLE,
    WORLDS,
    Kind,
    Plugin,
    PluginFailed,
    load_plugin,
    plugin,
    plugins,
)
from goldrush.agents.trust import EXTERNAL, RECORDED
from goldrush.kernel.errors import BadInput, JournalError, UnsupportedJournal, format_value, unknown
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import format_count
from goldrush.kernel.treatments import Treatment
from goldrush.kernel.world import Event, World
from goldrush.replay.forged import reader_of

if TYPE_CHECKING:
    from goldrush.agents.players import Players, Resources
    from goldrush.kernel.run import OnUnit
    from goldrush.replay.columns import Column, Type
    from goldrush.replay.diff import Diff
    from goldrush.replay.measures import Measure, Measured
    from goldrush.replay.rebuild import Rebuilt
    from goldrush.replay.run import Run
    from goldrush.replay.studies import Studies
    from goldrush.replay.tables import Table
    from goldrush.replay.text import Paint
    from goldrush.replay.tie_break import TieBreak
    from goldrush.replay.why import Explanation

T = TypeVar("T")

Names = Mapping[int, str]  # what the agents of a run are called, by number


class HasDict(Protocol):
    """What can be printed as JSON."""

    def as_dict(self) -> dict[str, Any]:
        """It as plain values."""
        ...


D = TypeVar("D", bound=HasDict)
D_co = TypeVar("D_co", bound=HasDict, covariant=True)


def _no_names(path: str | Path) -> Names:
    return {}


@attrs.frozen
class Story:
    """Events as text.

    `lines(events, names)`: in order, line by line. `chronicle(events, names)`: over many units, as
    (first unit, last unit, line), by the numbers that people know them by; without it, a line a
    unit. `names(path)`: what the agents of a journal are called; raises what reading a journal
    raises. `of(path)`: the story of one journal, where to tell it takes more than names; raises
    nothing. `brief`: the names of the events of which it is told in brief.
    """

    lines: Callable[[Iterable[Event], Names], Iterator[str]]
    chronicle: Callable[[Iterable[Event], Names], Iterator[tuple[int, int, str]]] = attrs.field()
    names: Callable[[str | Path], Names] = _no_names
    of: Callable[[str | Path], Story] | None = None
    brief: Collection[str] = ()

    @chronicle.default
    def _by_unit(self) -> Callable[[Iterable[Event], Names], Iterator[tuple[int, int, str]]]:
        def chronicle(events: Iterable[Event], names: Names) -> Iterator[tuple[int, int, str]]:
            for unit, group in groupby(events, key=lambda event: event.unit):
                yield unit, unit, "; ".join(self.lines(group, names))

        return chronicle


@attrs.frozen
class UnitView:
    """A unit (a round, an assignment) shown above its events: `as_dict` for JSON, `format` as text,
    with colours by agent.

    `frame`: as `format`, of few lines, where one unit follows the other (without it, `format`);
    `line`: what happened in it, on one line (without it, how many events of each type).
    """

    as_dict: Callable[[Rebuilt], Mapping[str, Any]]
    format: Callable[[Rebuilt, Paint], str]
    frame: Callable[[Rebuilt, Paint], str] | None = None
    line: Callable[[Rebuilt], str] | None = None


@attrs.frozen
class Summaries(Generic[D]):
    """A whole run in a handful of numbers: `read(path)`, `format(summary)`. `commands`: those of
    goldrush that are suggested after a run beside `replay` and `verify`.
    """

    read: Callable[[str | Path], D]
    format: Callable[[D], str]
    commands: Sequence[str] = ()


class Follow(Protocol[D_co]):
    """What came of the first event in which two runs differ; None where nothing can have."""

    def __call__(self, difference: Diff, /, *, by_round: bool) -> D_co | None:
        """`by_round` keeps what each unit came to."""
        ...


@attrs.frozen
class Consequences(Generic[D]):
    """What came of a difference: `follow(diff, by_round=)`, `format(followed, by_round)`."""

    follow: Follow[D]
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
    """Why things came out as they did, and what would have changed them.

    Attributes:
        location: the noun for a location in a unit ("plot"); empty: explanations have none.
        at: `at(path, unit, location, agent)`, the explanations of a unit (by its public number);
            None: of all locations or agents. Raises BadInput if there is nothing to explain, and
            JournalError.

    """

    location: str
    at: Callable[[str | Path, int, int | None, int | None], Sequence[Explanation]]


class Checkable(HasDict, Protocol):
    """What was worked out anew: whether it is as recorded."""

    @property
    def holds(self) -> bool:
        """Whether it is."""
        ...


C = TypeVar("C", bound=Checkable)


@attrs.frozen
class Scores(Generic[C]):
    """Scores laid open: `at(path, unit, agent, location)`, `format(score)`."""

    at: Callable[[str | Path, int, int, int | None], Sequence[C]]
    format: Callable[[C], str]


class Prompted(Protocol):
    """A question as a language model was, or would be, sent it.

    `recorded`: the digest that stands in the journal, None where there is none; `is_model`: the
    agent is a language model, and not one that could be.
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
    """What an agent was sent in a unit: `at(path, unit, agent, means)`, `means` being what asking
    the others again takes; `as_dict(sent, unit, agent)`.
    """

    at: Callable[[str | Path, int, int, Resources], Sequence[P]]
    as_dict: Callable[[Sequence[P], int, int], Mapping[str, Any]]


def _head(measured: Measured[Any]) -> str:
    facts = measured.facts()
    return (
        f"{format_count(measured.units, measured.vocabulary.unit)} of "
        f"{format_count(facts['agents'], 'agent')}, "
        f"seed {facts['seed']}"
    )


@attrs.frozen
class Spells:
    """How long something was held: the spells of a measured run, as text, and as a table.

    `at(measured, places)`: the same run with the spells at these places (plots) alone.
    """

    of: Callable[[Any], Sequence[HasDict]]
    format: Callable[[Any], str]
    table: Table
    at: Callable[[Any, Collection[int]], Any]


@attrs.frozen
class Measures:
    """Figures of a run.

    `known`: the measures by name, in the order in which they are shown; `read`: measures the run of
    a journal that is open and not read yet, and raises what replay.measures.by_unit says. Where
    there is no room for all: `of_runs`, those shown of many runs, `of_units`, those shown by unit
    (empty: the first that have room). `head(measured)`: a run in a line. `spells`: see the type.
    """

    known: Mapping[str, Measure]
    read: Callable[[JournalReader], Measured[Any]]
    of_runs: Sequence[str] = ()
    of_units: Sequence[str] = ()
    head: Callable[[Any], str] = _head
    spells: Spells | None = None


@attrs.frozen
class Tables:
    """What tables of a world's journals hold that is its own.

    `setup`: the columns for what its first event, and a fork's, hold (none: one column of JSON);
    `types`: of the columns for kinds of fields that only this world has, by the kind's name;
    `fields`: the unit and the meaning of fields of events, by name; `own`: tables beside that of
    the events, of which one that is called as the world's units are replaces that of its measures.
    """

    setup: Sequence[Column] = ()
    types: Mapping[str, Type] = attrs.field(factory=dict)
    fields: Mapping[str, tuple[str, str]] = attrs.field(factory=dict)
    own: Sequence[Table] = ()


class Export(Protocol):
    """Keeps a run's state as a folder of files."""

    def __call__(self, path: str | Path, target: str, at: int | None, *, force: bool) -> str:
        """Write the state after the unit `at` (None: the last one) of the journal at `path` into
        the folder `target`, with `force` over what was kept there before. Returns a line that says
        what was written. Raises BadInput, WriteFailed, and what reading a journal raises.
        """
        ...


class Live(Protocol):
    """Keeps the state of a run that is being recorded."""

    def __call__(self, path: str | Path, target: str, *, force: bool) -> OnUnit[Any]:
        """What is to be called after each unit of the journal at `path`, and makes of the folder
        `target` what Export makes of that unit. Raises BadInput, and what it gives does as Export.
        """
        ...


@attrs.frozen
class Folder:
    """A run's state as a folder of files: `export` of a journal, `live` while it is recorded."""

    export: Export
    live: Live


@attrs.frozen
class View:
    """How `goldrush view` shows a run; replay/view/README.md says what a script must bring.

    - `script`, `style`: files of JavaScript and CSS, which go into the page as they stand;
      `modules`: what the script imports beside the frame, each before those that import from it.
    - `places`: what can be selected beside the unit ("plot", "agent").
    - `facts(state)`: what the script folds itself from the events: nested lists of numbers, text,
      booleans and None.
    - `computed(path, first, last)`: what takes the world's rules to work out, of these units as
      people count, as plain values for JSON. Raises what reading a journal raises.
    """

    script: Path
    style: Path | None = None
    modules: Sequence[Path] = ()
    selectors: Sequence[str] = ()
    facts: Callable[[Any], Any] | None = None
    computed: Callable[[str | Path, int, int], Any] | None = None


def _generic_run() -> type[Run]:
    from goldrush.replay.run import Run

    return Run


@attrs.frozen
class Toolkit:
    """A world and everything that tools can ask of it.

    - `world(setup)`: the world of a run whose START records `setup`; of one that is empty where
      START cannot be read. Raises nothing.
    - `config`: the class of its settings, made with kernel.settings.
    - `players`: who plays it, and is asked again by `verify`; `length(state)`: of how many units a
      run is; `agents(state)`: how many there are, where nobody comes or goes.
    - `story`, `unit`, `summary`, `consequences`, `tie_breaks`, `why`, `scores`, `prompts`: see the
      types.
    - `location_of(path, text)`: the number of a location (a plot) from text. Raises BadInput.
    - `measures()`, `tables()`, `studies()`: see the types; made by functions, as what it takes to
      measure need not be imported to replay.
    - `treatments`: variations of the settings by name, kernel.treatments.BASELINE first.
    - `folder`, `view`: see the types.
    - `run()`: the class of its runs in Python, `replay.run.Run` or one derived from it.
    - `kinds`: what other distributions can add to it beside policies.
    """

    world: Callable[[Mapping[str, Any]], World[Any]]
    config: type[attrs.AttrsInstance] | None = None
    players: Players[Any] | None = None
    length: Callable[[Any], int] | None = None
    agents: Callable[[Any], int] | None = None
    story: Story | None = None
    unit: UnitView | None = None
    summary: Summaries[Any] | None = None
    consequences: Consequences[Any] | None = None
    tie_breaks: TieBreaks | None = None
    why: Why | None = None
    scores: Scores[Any] | None = None
    prompts: Prompts[Any] | None = None
    location_of: Callable[[str | Path, str], int] | None = None
    measures: Callable[[], Measures] | None = None
    tables: Callable[[], Tables] | None = None
    treatments: Mapping[str, Treatment[Any]] = attrs.field(factory=dict)
    studies: Callable[[], Studies] | None = None
    folder: Folder | None = None
    view: View | None = None
    run: Callable[[], type[Run]] = _generic_run
    kinds: Sequence[Kind] = ()


# Resolved before anything installed: a checkout without installation has no entry points, and to
# read those of all distributions takes longer than to read a short journal.
BUILT_IN: Final = tuple(
    EntryPoint(name, f"goldrush.replay.{name}.toolkit:TOOLKIT", WORLDS)
    for name in ("mining", "competition")
)
NAMES: Final = tuple(point.name for point in BUILT_IN)
WORLD_DEFAULT: Final = NAMES[0]  # what is played where nobody names a world


def toolkit_named(name: str) -> Toolkit | None:
    """The toolkit of a world; None for a world that is not known here.

    Raises PluginFailed for one that is installed and cannot be used.
    """
    return _found(name, os.environ.get(VARIABLE), tuple(sys.path))


@cache
def _found(name: str, allowed: str | None, path: tuple[str, ...]) -> Toolkit | None:
    """The toolkit of a world; looked for once, unless what is installed changes."""
    found: Toolkit | None = load_plugin(WORLDS, name, is_toolkit, BUILT_IN)
    if found is None:
        return None
    world = found.world({}).name
    if world != name:
        raise PluginFailed(name, f"it brings a world that is called {format_value(world)}")
    return found


def is_built_in(world: str) -> bool:
    """Whether a world of this name is one of goldrush itself."""
    return world in NAMES


def distribution_of(world: str) -> str | None:
    """The distribution that brings a world, with its version; None for a world of goldrush itself
    and for one that is not known here.
    """
    found = None if is_built_in(world) else plugin(WORLDS, world, NAMES)
    return None if found is None else f"{found.distribution} {found.version}"


def worlds() -> list[str]:
    """The names of all worlds that are known here."""
    return [*NAMES, *(one.name for one in installed())]


def installed() -> list[Plugin]:
    """The worlds that other distributions bring, by name; none is imported."""
    return plugins(WORLDS, NAMES)


def built_in_policies() -> list[str]:
    """The policies of the worlds of goldrush itself, as WORLD/NAME, and what else a roster names
    that no plugin can be called.
    """
    names: list[str] = []
    for world in NAMES:
        own = players_of(toolkit_for(world), world).policies
        names += [f"{world}/{name}" for name in (*own, LLM, HUMAN, RECORDED, EXTERNAL)]
    return names


def built_in_kinds() -> list[Kind]:
    """What other distributions can add to the worlds of goldrush itself, beside policies."""
    return [kind for world in NAMES for kind in toolkit_for(world).kinds]


def is_toolkit(found: object) -> bool:
    """Whether an entry point gave what it must."""
    return isinstance(found, Toolkit)


def toolkit_for(name: str) -> Toolkit:
    """The toolkit of a world by its name, as people type it. Raises BadInput for an unknown one."""
    found = toolkit_named(name)
    if found is None:
        raise unknown("world", name, worlds())
    return found


def players_of(toolkit: Toolkit, world: str) -> Players[Any]:
    """Who plays a world. Raises BadInput for a world that nobody can play."""
    if toolkit.players is None:
        raise BadInput(f"the {world} world has no players", "record it by its own program")
    return toolkit.players


def toolkit_of(reader: JournalReader) -> Toolkit:
    """The toolkit of a journal's world. Raises UnsupportedJournal for one not known here."""
    found = toolkit_named(reader.header.world)
    if found is None:
        known = ", ".join(worlds())
        world = format_value(reader.header.world)
        raise UnsupportedJournal(
            reader.path, f"world {world}; this goldrush plays {known}; install what has it"
        )
    return found


def toolkit_at(path: str | Path) -> Toolkit:
    """The toolkit for the journal at a path. Raises what reading a journal's header raises."""
    with JournalReader(path) as reader:
        return toolkit_of(reader)


def open_world(reader: JournalReader, toolkit: Toolkit | None = None) -> World[Any]:
    """The world that a journal was played in, by its header and what its START records. `toolkit`:
    the world's, if it is not one that is found by its name.

    Raises UnsupportedJournal for a world that is not known here.
    """
    toolkit = toolkit or toolkit_of(reader)
    try:
        with reader.again() as again:
            start = next(iter(again), None)
    except JournalError:  # whoever reads on meets what is wrong with it
        start = None
    return toolkit.world((start.setup if start else None) or {})


@reader_of
def world_at(path: str | Path) -> World[Any]:
    """The world of the journal at a path. Raises what reading it raises."""
    with JournalReader(path) as reader:
        return open_world(reader)


def needed(part: T | None, path: str | Path, what: str) -> T:
    """A part of the toolkit for the journal at a path, for a command that is nothing without it.

    Raises BadInput where the world has none: `what` says what it is that there is not.
    """
    if part is None:
        with JournalReader(path) as reader:
            world = reader.header.world
        raise BadInput(
            f"{path} is a run of the {world} world, which has no {what}",
            "give a run of another world",
        )
    return part
