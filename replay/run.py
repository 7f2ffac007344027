"""`Run`: a journal as a Python object, with everything that the command line can do with one.

Each method calls one of the functions of this room with the journal's path; nothing is computed
before it is needed, and nothing is kept but the path. `goldrush.record` and `goldrush.open` make
one. A world can add methods of its own: its tools name a subclass (`Tools.run`), so the run of
a mining journal also has `plot` and `agent`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import attrs

from goldrush.agents import players
from goldrush.agents.external import RosterText
from goldrush.agents.llm.models import Models
from goldrush.agents.players import ForkChange, Players, Resources
from goldrush.agents.trust import import_names
from goldrush.kernel.errors import BadInput, GoldrushError, TornTail
from goldrush.kernel.files import TemporaryFolder
from goldrush.kernel.world import Event
from goldrush.replay.arguments import (
    OnUnit,
    Policies,
    Roster,
    Sources,
    Trust,
    integer,
    models_of,
    names_of,
    paths_of,
    resources_of,
    roster_of,
    settings_of,
    target_of,
    with_objects,
)
from goldrush.replay.find import (
    WORLD_DEFAULT,
    players_at,
    players_of,
    tools_at,
    tools_for,
)
from goldrush.replay.journal.diff import Diff, diff
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.outline import Outline, outline
from goldrush.replay.journal.rebuild import Rebuilt, last_unit, rebuild, rebuilt_from, world_at
from goldrush.replay.journal.recheck import Recheck, recheck
from goldrush.replay.journal.story import agent_of, narrator
from goldrush.replay.journal.tie_break import TieBreak
from goldrush.replay.journal.verify import DECIDE, Verdict, verify
from goldrush.replay.journal.why import Explanation
from goldrush.replay.tools import Prompted, Tools

if TYPE_CHECKING:
    import pyarrow

    from goldrush.replay.data.measures import Measured

FRAME_HEIGHT: Final = 720  # CSS pixels of the page of a run in a notebook


class Run:
    """A run that is recorded in a journal.

    >>> run = Run.record(seed=7, rounds=20, roster=["greedy-mine"] * 4 + ["raid"] * 2)
    >>> run.info().declared.roster
    'greedy-mine*4,raid*2'
    >>> run.at(3).state
    <MiningState after round 3 of 20: 48 of 100 plots owned, 73.0 gold>
    >>> next(run.events("raid_resolved", agent=4))["outcome"]
    'captured'
    >>> run.plot(12).log("claim_drawn")
    ['1: plot 12: claimed by agents 1, 2; the draw gives it to 1']
    >>> run.verify().holds
    True
    >>> fork = run.fork(at=10, roster="greedy-mine*6")
    >>> run.diff(fork).first.round
    11
    >>> round(run.measures()["turnover"], 3) > round(fork.measures()["turnover"], 3)
    True
    >>> run.table("rounds").num_rows
    20

    Attributes:
        path: the journal.
        tools: what the tools of the journal's world can do.
        trust: names (`module:Class`) of user-defined policies that may be imported: those that the
            run was recorded with in this process.
    """

    def __init__(self, path: str | Path, trust: Trust = ()) -> None:
        """See `open`."""
        self.path = Path(path)
        self.tools: Tools = tools_at(path)
        self.trust = names_of(trust)
        self._folder: TemporaryFolder | None = None  # of a temporary journal

    @classmethod
    def open(cls, path: str | Path, trust: Trust = ()) -> Self:
        """The run of a journal.

        Args:
            path: the journal; one that is unfinished or damaged can be opened, too.
            trust: user-defined policies, as classes or as `module:Class`, that may be imported:
                `verify` asks them again, and they play in `resume` and `fork`.

        Raises:
            BadInput: where there is no such file, or it is a run of another world than the class
                is for.
            NotAJournal, UnsupportedJournal: where it is no journal that this version reads.
        """
        if os.path.isdir(path):
            raise BadInput(f"{path} is a folder", "give a journal, or use goldrush.Study.open")
        kind = _class_of(tools_at(path))
        if not issubclass(kind, cls):
            raise BadInput(f"{path} is not a {cls.__name__}", f"open it with {kind.__name__}.open")
        return kind(path, trust)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path.absolute(), self.trust)

    @classmethod
    def record(
        cls,
        path: str | Path | None = None,
        *,
        world: str = WORLD_DEFAULT,
        roster: Roster = None,
        treatment: str | Mapping[str, Any] | None = None,
        models: Models | str | Path | None = None,
        program: str | None = None,
        jobs: int = 1,
        force: bool = False,
        fsync: bool = False,
        on_unit: OnUnit | None = None,
        **settings: Any,
    ) -> Self:
        """Play a run to its end and record it.

        Args:
            path: the new journal; None: a temporary file, removed when the run object is.
            world: the world that is played.
            roster: who plays: text as on the command line (`"greedy-mine*8,raid*2"`), or a list
                with an item for each agent: names, classes, objects. A class that can be imported,
                with plain settings, is recorded as `module:Class[setting=value]`; any other object
                as `external`, of which the journal keeps what it submits. None: the default of the
                world.
            treatment: the name of a treatment, `FILE.toml:NAME`, or settings as a dict.
            models: how language models are reached: a file of models, or `Models`.
            program: the user-defined test program, in worlds with one.
            jobs: the number of tests made at once, in worlds whose agents make tests.
            force: replace a journal that is there.
            fsync: wait for the disk at every commit.
            on_unit: called after every unit with its number in the journal and the state.
            settings: of the world, by name (`seed`, `rounds`, `agents`, ...).

        Returns:
            The run; `trust` has the names of its user-defined policies.

        Raises:
            BadInput: before anything is written, for settings and rosters that cannot be.
            PolicyFailed, RunStopped, WriteFailed: in the middle; the journal holds what was closed.
        """
        tools = tools_for(world)
        if not issubclass(_class_of(tools), cls):
            raise BadInput(f"a run of the {world} world is not a {cls.__name__}", "use Run.record")
        who = players_of(tools, world)
        name, chosen = settings_of(treatment, settings, tools.config)
        given = roster_of(who, roster)
        reach = models_of(models)
        run = who.prepare(chosen, given.text, name, reach)
        resources = resources_of(jobs, program, given.policies)
        with target_of(path) as (target, folder):
            players.record(
                tools.world(run.setup), who, target, run, models=reach, force=force, fsync=fsync,
                resources=resources, on_unit=on_unit,
            )  # fmt: skip
            found = cls.open(target, run.roster.trust)
            found._folder = folder
            return found

    def __repr__(self) -> str:
        found = self.info()
        if found.trouble is not None and not found.units:
            return f"<{type(self).__name__} {self.path}: {found.trouble}>"
        seed = "no seed" if found.declared.seed is None else f"seed {found.declared.seed}"
        units = f"{found.units} {found.vocabulary.units}"
        end = "" if found.finished else ", unfinished"
        return f"<{type(self).__name__} {self.path}: {units}, {found.declared.roster}, {seed}{end}>"

    def _repr_html_(self) -> str:
        """The page of the run in a frame: its map with a slider, in a notebook."""
        from goldrush.replay.view.page import page_of

        try:
            page = escape(page_of(self.path), quote=True)
        except GoldrushError as error:
            return f"<p>{escape(repr(self))}: {escape(str(error))}</p>"
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-forms" '
            f'title="{escape(self.path.name)}" '
            f'style="width:100%;height:{FRAME_HEIGHT}px;border:0"></iframe>'
        )

    # Settings and progress.

    def info(self, *, hashed: bool = False) -> Outline:
        """Settings, players and progress; with `hashed` the SHA-256 of the file.

        Raises nothing for a damaged file: see `Outline.trouble`.
        """
        return outline(self.path, hashed=hashed)

    # Units and events.

    def at(self, number: int) -> Rebuilt:
        """A unit (a round, an assignment), rebuilt: `state` after it and the `events` in it.

        Args:
            number: as people count: mining rounds from 1 on (0 is the start), assignments of a
                season from 0 on (-1 is the start).

        Raises:
            BadInput: for a unit that the journal does not have.
            JournalError: as reading it does.
        """
        return rebuild(self.path, integer(number, "the unit"))

    def __iter__(self) -> Iterator[Rebuilt]:
        """All closed units in order, folded once.

        Raises what reading a journal raises, when the units before have been given.
        """
        world, info = world_at(self.path), self.info()
        if info.units:
            for unit in rebuilt_from(self.path, world.vocabulary.number(1)):
                yield attrs.evolve(unit, state=world.copy(unit.state))
        elif info.trouble is not None and not isinstance(info.trouble, TornTail):
            raise info.trouble

    def last(self) -> Rebuilt:
        """The last closed unit. Raises as `at`."""
        return self.at(last_unit(self.path)[0])

    def events(
        self,
        *names: str,
        first: int | None = None,
        last: int | None = None,
        agent: int | None = None,
        plot: int | tuple[int, int] | None = None,
    ) -> Iterator[Event]:
        """The events of the run, in order.

        Args:
            names: only events of these names.
            first: the first unit; None: from the start on.
            last: the last unit; None: to the end.
            agent: only events that name this agent.
            plot: only events on this plot, by id or (row, column), in worlds that have plots.

        Raises:
            BadInput: for unknown names, agents, plots and units.
            JournalError: as reading a journal does, when the events before have been given.
        """
        query = Query(
            None if first is None else integer(first, "first"),
            None if last is None else integer(last, "last"),
            () if agent is None else (integer(agent, "agent"),),
            () if plot is None else (self._plot(plot),),
            names,
        )
        return self._events(query)

    def _events(self, query: Query) -> Iterator[Event]:
        yield from log(self.path, query)  # a generator of the run, which keeps its journal alive

    def _plot(self, plot: int | tuple[int, int]) -> int:
        """The id of a plot. Raises BadInput for one that is not there."""
        parts = plot if isinstance(plot, tuple) else (plot,)
        text = ",".join(str(integer(part, "the plot")) for part in parts)
        return self.tools.plot_of(self.path, text, "leave the plots out")

    def _location(self, location: int | tuple[int, int] | None) -> int | None:
        if isinstance(location, tuple):
            return self._plot(location)
        return None if location is None else integer(location, "the location")

    def log(
        self,
        *names: str,
        first: int | None = None,
        last: int | None = None,
        agent: int | None = None,
        plot: int | tuple[int, int] | None = None,
    ) -> list[str]:
        """The same events as text, as printed by `goldrush log`, each line with its units.

        Args:
            names: as of `events`.
            first: as of `events`.
            last: as of `events`.
            agent: as of `events`.
            plot: as of `events`.

        Raises:
            BadInput, JournalError: as `events`.
        """
        events = self.events(*names, first=first, last=last, agent=agent, plot=plot)
        lines = narrator(self.path).chronicle(events)
        return [f"{a}: {text}" if a == b else f"{a}-{b}: {text}" for a, b, text in lines]

    # Checking and comparing.

    def verify(
        self,
        level: int = DECIDE,
        *,
        policies: Policies = None,
        trust: Trust = (),
        sources: Sources = (),
        program: str | None = None,
        jobs: int = 1,
    ) -> Verdict:
        """Check the journal: bytes (1), states (2), derived events (3), players asked again (4).

        Args:
            level: the highest level to check, 1 to 4.
            policies: the objects that `external` agents play, by agent, or the whole roster as it
                was given to `record`. They are asked in order, and must answer as they did: without
                state, or in the state in which they were.
            trust: user-defined policies that may be imported, besides those in `Run.trust`.
            sources: the journals that `recorded` agents play.
            program: the user-defined test program of a season.
            jobs: how many tests of a season are run at once.

        Returns:
            The verdict: `holds` is True, False, or None where something could not be judged;
            `not_asked` names the players who were believed and not asked, `unjudged` the decisions
            that could not be compared.

        Raises:
            BadInput, NotAJournal, UnsupportedJournal: where there is nothing to judge.
        """
        resources = self._resources(jobs, program, policies)
        return verify(
            self.path,
            level,
            trust=[*self.trust, *names_of(trust)],
            sources=paths_of(sources),
            resources=resources,
        )

    def diff(self, other: Run | str | Path) -> Diff:
        """Where another run differs, and why: the first event that is not the same, its causes.

        Raises BadInput, NotAJournal or UnsupportedJournal for what cannot be compared.
        """
        return diff(self.path, other.path if isinstance(other, Run) else other)

    def audit(
        self, at: int, location: int | tuple[int, int] | None = None, kind: str | None = None
    ) -> Sequence[TieBreak]:
        """The draws of a unit, each computed again from its key.

        Args:
            at: the unit.
            location: the location in it (a plot, a table); mining needs one.
            kind: only draws of this kind.

        Raises:
            BadInput: for a world without draws, and for an unknown unit, location or kind.
        """
        noun = self.tools.location
        if location is None and self.tools.draws_need_location:
            raise BadInput(f"the draws of a unit are audited by {noun}", f"give a {noun}")
        unit = integer(at, "the unit")
        return self.tools.draws_at(self.path, unit, self._location(location), kind)

    def audit_all(self) -> Recheck:
        """Every draw of the run, computed again and counted. Raises nothing: see its `error`."""
        return recheck(self.path)

    def why(
        self, at: int, location: int | tuple[int, int] | None = None, agent: int | None = None
    ) -> Sequence[Explanation]:
        """Explanations of the results of a unit, and the changes that would lead to others.

        Args:
            at: the unit.
            location: only at this location (a plot).
            agent: only results that involve this agent.

        Raises:
            BadInput: for a world without explanations, and where there is nothing to explain.
        """
        unit = integer(at, "the unit")
        return self.tools.explanations(self.path, unit, self._location(location), agent)

    def prompts(self, at: int, agent: int | str) -> Sequence[Prompted]:
        """The prompts of an agent in a unit, as they were sent or would be sent to a model.

        Raises BadInput for a world without prompts, and for an unknown unit or agent.
        """
        unit, number = integer(at, "the unit"), agent_of(self.path, str(agent))
        return self.tools.prompts(self.path, unit, number, Resources())

    # Playing on.

    def resume(
        self,
        *,
        policies: Policies = None,
        trust: Trust = (),
        sources: Sources = (),
        models: Models | str | Path | None = None,
        program: str | None = None,
        jobs: int = 1,
        on_unit: OnUnit | None = None,
    ) -> Self:
        """Go on with a run that broke off, to its end.

        Args:
            policies: the objects that `external` agents play, by agent or as a whole roster.
            trust: user-defined policies that may be imported, besides those in `Run.trust`.
            sources: the journals that `recorded` agents play.
            models: how language models are reached: a file of models, or `Models`.
            program: the user-defined test program of a season.
            jobs: how many tests of a season are made at once.
            on_unit: as for `record`.

        Raises:
            BadInput: for a run that has ended, and for players who cannot play on.
            PolicyFailed, RunStopped, WriteFailed: as `record`.
        """
        players.resume(
            world_at(self.path), self._players(), self.path, models=models_of(models),
            trust=[*self.trust, *names_of(trust)], sources=paths_of(sources),
            resources=self._resources(jobs, program, policies), on_unit=on_unit,
        )  # fmt: skip
        return self

    def fork(
        self,
        at: int,
        path: str | Path | None = None,
        *,
        roster: Roster = None,
        treatment: str | Mapping[str, Any] | None = None,
        replace: Sequence[Mapping[str, Any]] = (),
        policies: Policies = None,
        trust: Trust = (),
        sources: Sources = (),
        models: Models | str | Path | None = None,
        program: str | None = None,
        jobs: int = 1,
        force: bool = False,
        on_unit: OnUnit | None = None,
        **settings: Any,
    ) -> Self:
        """Play the run anew from a unit on, under other circumstances, into a journal of its own.

        Args:
            at: the last unit that is kept.
            path: the new journal; None: a temporary file.
            roster: who plays from there on, as for `record`; None: who played before.
            treatment: its settings from there on.
            replace: submissions put in by hand, in the form of their events; `Explanation.change`
                has such.
            policies: the objects of external agents who play on, by agent.
            trust: user-defined policies that may be imported, besides those in `Run.trust`.
            sources: the journals that `recorded` agents play on from.
            models: how language models are reached.
            program: the program that tests from there on.
            jobs: how many tests are made at once.
            force: replace a journal that is there.
            on_unit: as for `record`.
            settings: other settings from there on, by name.

        Raises:
            BadInput: before anything is written.
            PolicyFailed, RunStopped, WriteFailed: as `record`.
        """
        who = self._players()
        name, chosen = settings_of(treatment, settings, self.tools.config)
        given = roster_of(who, roster) if roster is not None else RosterText(None)
        change = ForkChange(chosen, name, given.text, replace)
        resources = self._resources(jobs, program, policies if roster is None else None)
        resources = attrs.evolve(resources, policies={**resources.policies, **given.policies})
        trusted = [*self.trust, *names_of(trust)]
        with target_of(path) as (target, folder):
            players.fork(
                world_at(self.path), who, self.path, integer(at, "at"), target, change,
                models=models_of(models),
                trust=trusted, sources=paths_of(sources), force=force, on_unit=on_unit,
                resources=resources,
            )  # fmt: skip
            own = import_names(who.names(given.text)) if given.text else ()
            found = type(self).open(target, [*trusted, *own])
            found._folder = folder
            return found

    def _resources(self, jobs: int, program: str | None, policies: Policies) -> Resources:
        resources = resources_of(jobs, program, {})
        if policies is None:
            return resources
        return with_objects(resources, self._players(), self.info().declared.players, policies)

    def _players(self) -> Players[Any]:
        return players_at(self.path)

    # Measures, tables, pages.

    def measured(self) -> Measured[Any]:
        """The run with its measures by unit, over spans and halves.

        Raises BadInput for a world without measures, and what reading a journal raises.
        """
        from goldrush.replay.data.run_data import measured_at

        return measured_at(self.path)

    def measures(self) -> dict[str, float | None]:
        """The measures of the whole run by name; None where undefined. Raises as `measured`."""
        found = self.measured()
        return {name: found.of(name) for name in found.known}

    def tables(self) -> list[str]:
        """The names of the tables of this run's world."""
        from goldrush.replay.data.tables import tables_of

        return [table.name for table in tables_of(self.tools, world_at(self.path))]

    def table(self, name: str = "events") -> pyarrow.Table:
        """A table of the run in Arrow's form, `to_pandas()` and `polars.from_arrow` away from both.

        Args:
            name: one of `tables()`; replay/TABLES.md lists the columns.

        Raises:
            BadInput: for another name, and where pyarrow is not installed (goldrush[tables]).
            JournalError: as reading a journal does.
        """
        from goldrush.replay.data.encoded import arrow_table

        return arrow_table([self.path], name)

    def view(
        self,
        path: str | Path,
        *,
        against: Run | str | Path | None = None,
        force: bool = False,
    ) -> Path:
        """Write the page of the run, one self-contained HTML file.

        Args:
            path: the file.
            against: another run to show beside it.
            force: replace another file that goldrush wrote.

        Returns:
            The path of the page.

        Raises:
            BadInput: for another file at the path, and for runs of two worlds.
            WriteFailed: if the system refuses.
        """
        from goldrush.replay.view.page import write_page

        other = against.path if isinstance(against, Run) else against
        return write_page(self.path, Path(path), against=other, force=force).path


open = Run.open
record = Run.record


def _class_of(tools: Tools) -> type[Run]:
    """The class of a world's runs in Python."""
    kind = tools.run or Run
    assert issubclass(kind, Run)
    return kind
