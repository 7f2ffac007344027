"""`Run`: a journal as a Python object, with everything that the command line can do with one.

Each method calls one of the functions of this room with the journal's path; nothing is computed
before it is needed, and nothing is kept but the path. `goldrush.record` and `goldrush.open` make
one.

Commands stand on it, so that a method imports what it needs: to import all that plays and measures
a run takes longer than to list the events of a short one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec

from goldrush.agents.given import maker_of, making
from goldrush.agents.players import Resources
from goldrush.agents.targets import is_location
from goldrush.kernel.errors import BadInput, GoldrushError, TornTail
from goldrush.kernel.files import TemporaryFolder
from goldrush.kernel.records import Record
from goldrush.kernel.world import RecordedEvent
from goldrush.replay.arguments import (
    OnUnit,
    Policies,
    Replacements,
    Roster,
    Sources,
    Trust,
    check_program,
    integer,
    listed,
    path_of,
    resources_of,
    roster_of,
    settings_of,
    submissions_of,
    target_of,
    with_objects,
)
from goldrush.replay.find import (
    OF_MAKERS,
    WORLD_DEFAULT,
    is_built_in,
    players_of,
    tools_at,
    tools_for,
    world_named,
)
from goldrush.replay.tools import RebuiltPrompt, Tools, lacks

if TYPE_CHECKING:
    import pyarrow

    from goldrush.agents import people
    from goldrush.agents.llm.models import Models
    from goldrush.agents.players import PreparedRun
    from goldrush.agents.targets import Maker
    from goldrush.kernel.game.game import Game
    from goldrush.replay.data.measures import Measured
    from goldrush.replay.data.user_functions import Functions
    from goldrush.replay.estimate import Estimate
    from goldrush.replay.journal.diff import Diff
    from goldrush.replay.journal.log import Query
    from goldrush.replay.journal.outline import Outline
    from goldrush.replay.journal.rebuild import Rebuilt
    from goldrush.replay.journal.tie_break import TieBreak
    from goldrush.replay.journal.verify import Verdict
    from goldrush.replay.journal.why import Explanation
    from goldrush.replay.outcome import RunOutcome
    from goldrush.replay.report.figure import Figure

# By id or text ("3,4"), or in rows and columns.
Location = int | str | tuple[int, int]
Plots = Location | Iterable[Location] | None
Agents = int | str | Iterable[int | str] | None

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
    >>> run.log("claim_drawn", plot=12)
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
        resources: what playing on and asking again need on this machine: as given to `open`, or
            those that the run was recorded with in this process.
    """

    def __init__(self, path: str | Path, resources: Resources = Resources()) -> None:
        """See `open`."""
        self.path = Path(path_of(path))
        self.tools: Tools = tools_at(path)
        self.resources = resources
        self._folder: TemporaryFolder | None = None  # of a temporary journal
        self._make: Maker | None = None  # made its environment or model; None: what was given

    @classmethod
    def open(
        cls,
        path: str | Path,
        trust: Trust = (),
        *,
        world: str | type[Game] | Maker | None = None,
        sources: Sources = (),
        models: Models | str | Path | None = None,
        program: str | None = None,
        jobs: int = 1,
        ask: people.Ask | None = None,
    ) -> Self:
        """The run of a journal, with what `verify`, `resume` and `fork` need of this machine.

        Args:
            path: the journal; one that is unfinished or damaged can be opened, too.
            world: the game that it is a run of, as for `record`, or what makes the environment or
                the model that it was recorded on (`gymnasium.make`, `"module:make"`): a journal
                runs no code by naming it.
            trust: user-defined policies (`module:Class`) that may be imported:
                `verify` asks them again, and they play in `resume` and `fork`.
            sources: the journals that `recorded` agents play.

        `models`, `program`, `jobs` and `ask` are as for `record`.

        Raises:
            BadInput: where there is no such file.
            NotAJournal, UnsupportedJournal: where it is no journal that this version reads.
        """
        if os.path.isdir(path_of(path)):
            raise BadInput(f"{path} is a folder", "give a journal, or use goldrush.Study.open")
        make = None
        if world is not None and world_named(world) == OF_MAKERS:
            make = maker_of("")
        resources = resources_of(
            trust=trust, sources=sources, models=models, program=program, jobs=jobs, ask=ask
        )
        run = cls(path, resources)
        run._make = make
        return run

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Without models and people: what reaches them stays in this process.
        kept = msgspec.structs.replace(self.resources, models=None, people=None)
        return type(self), (self.path.absolute(), kept)

    @classmethod
    def record(
        cls,
        path: str | Path | type[Game] | None = None,
        out: str | Path | None = None,
        *,
        world: str | type[Game] | Maker = WORLD_DEFAULT,
        roster: Roster = None,
        treatment: str | Mapping[str, Any] | None = None,
        models: Models | str | Path | None = None,
        program: str | None = None,
        jobs: int = 1,
        check: bool = False,
        force: bool = False,
        fsync: bool = False,
        ask: people.Ask | None = None,
        on_unit: OnUnit | None = None,
        **settings: Any,
    ) -> Run:
        """Play a run to its end and record it.

        Args:
            path: the new journal; None: a temporary file, removed when the run object is. Or the
                class or the file of a game that is played; `out` is then the journal.
            world: the world that is played: a name, a game's class, its file (`fishery.py`) or its
                module (`package.module:Fishery`); or what makes an environment or a model, as such
                or by file, module or its id in Gymnasium (`CartPole-v1`).
            roster: who plays: text as on the command line (`"greedy-mine*8,raid*2"`), or a list
                with an item for each agent: names, classes, objects. A class that can be imported,
                with plain settings, is recorded as `module:Class[setting=value]`; any other object
                as `external`, of which the journal keeps what it submits. None: the default of the
                world.
            treatment: the name of a treatment, `FILE.toml:NAME`, or settings as a dict.
            models: how language models are reached: a file of models, or `Models`.
            program: the user-defined test program, in worlds with one.
            jobs: the number of tests made at once, in worlds whose agents make tests.
            check: look for mistakes in the rules and policies of a game in every unit, not only in
                the first.
            force: replace a journal that is there.
            fsync: wait for the disk at every commit.
            ask: asks a person who plays; None: nobody can be asked.
            on_unit: called after every unit with its number in the journal and the state.
            settings: of the world, by name (`seed`, `rounds`, `agents`, ...).

        Returns:
            The run, which trusts its user-defined policies, and plays on with the same models,
            program, jobs and people.

        Raises:
            BadInput: before anything is written, for settings and rosters that cannot be.
            PolicyFailed, RunStopped, WriteFailed: in the middle; the journal holds what was closed.
        """
        if isinstance(path, type) or (isinstance(path, str) and is_location(path)):
            world, path = path, out
        elif out is not None:
            raise BadInput(
                f"{path} is no game, and a journal is given once", "give a game first, or as world="
            )
        resources = resources_of(models=models, program=program, jobs=jobs, ask=ask)
        planned = cls.plan(
            resources, world=world, roster=roster, treatment=treatment, check=check, **settings
        )
        return planned.record(path, force=force, fsync=fsync, on_unit=on_unit)

    @classmethod
    def plan(
        cls,
        resources: Resources = Resources(),
        *,
        world: str | type[Game] | Maker = WORLD_DEFAULT,
        roster: Roster = None,
        treatment: str | Mapping[str, Any] | None = None,
        check: bool = False,
        given: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> PlannedRun:
        """A run that is ready to be played, or whose cost is to be estimated before; nothing is
        written. Arguments, and BadInput, as of `Run.record`. `given`: settings in one mapping, so
        that a name that an argument has is a setting, too.
        """
        world = world_named(world)
        tools = tools_for(world)
        who = players_of(tools)
        name, chosen = settings_of(treatment, {**(given or {}), **settings}, tools.config)
        seated = roster_of(who, roster)
        check_program(resources, who)
        resources = msgspec.structs.replace(resources, policies=seated.policies)
        prepared = who.prepare(chosen, seated.text, name, resources)
        make = maker_of("") if world == OF_MAKERS else None
        return PlannedRun(tools, prepared, resources, check, make)

    @classmethod
    def _kept(
        cls, path: str | Path, resources: Resources, trust: Sequence[str],
        folder: TemporaryFolder | None, make: Maker | None,
    ) -> Self:  # fmt: skip
        """The run that was recorded with these resources, without its objects, which may remember
        it. `trust`: of its roster; `folder`: a temporary one, which lives as long as the run.
        """
        trusted = dict.fromkeys([*resources.trust, *trust])
        run = cls(
            path, msgspec.structs.replace(resources, policies={}, roster=None, trust=[*trusted])
        )
        run._folder, run._make = folder, make
        return run

    def __repr__(self) -> str:
        found = self.info()
        if found.trouble is not None and not found.closed:
            return f"<{type(self).__name__} {self.path}: {found.trouble}>"
        seed = "no seed" if found.declared.seed is None else f"seed {found.declared.seed}"
        units = f"{found.units} {found.vocabulary.units}"
        end = "" if found.finished else ", unfinished"
        return f"<{type(self).__name__} {self.path}: {units}, {found.declared.roster}, {seed}{end}>"

    def _repr_html_(self) -> str:
        """The page of the run in a frame: its map with a slider, in a notebook."""
        from html import escape

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
        from goldrush.replay.journal.outline import outline_of
        from goldrush.replay.study.listing import StudyFolders

        return outline_of(self.path, StudyFolders(), hashed=hashed)

    @property
    def seed(self) -> int | None:
        """Its seed; None in a run without. Raises nothing for a damaged file."""
        return self.info().declared.seed

    @property
    def units(self) -> int:
        """The number of closed units (rounds, assignments), of episodes without resets. `len(run)`
        is that of all closed units.
        """
        return self.info().units

    def __len__(self) -> int:
        return self.info().closed

    def __bool__(self) -> bool:
        return True  # also without a closed unit

    # Units and events.

    def at(self, number: int) -> Rebuilt:
        """A unit (a round, an assignment), rebuilt: `state` after it and the `events` in it.
        `number`: as people count: mining rounds from 1 on (0 is the start), assignments of a season
        from 0 on (-1 is the start).

        Raises:
            BadInput: for a unit that the journal does not have.
            JournalError: as reading it does.
        """
        from goldrush.replay.journal.rebuild import rebuild

        return rebuild(self.path, integer(number, "the unit"))

    def __iter__(self) -> Iterator[Rebuilt]:
        """All closed units in order, folded once.

        Raises what reading a journal raises, when the units before have been given.
        """
        from goldrush.replay.journal.rebuild import rebuilt_from, world_at

        world, info = world_at(self.path), self.info()
        if info.closed:
            for unit in rebuilt_from(self.path, world.vocabulary.number(1)):
                yield msgspec.structs.replace(unit, state=world.copy(unit.state))
        elif info.trouble is not None and not isinstance(info.trouble, TornTail):
            raise info.trouble

    def last(self) -> Rebuilt:
        """The last closed unit. Raises as `at`."""
        return self.at(self.tools.vocabulary.number(self.info().closed))

    def events(
        self,
        *names: str,
        first: int | None = None,
        last: int | None = None,
        agent: Agents = None,
        plot: Plots = None,
    ) -> Iterator[RecordedEvent]:
        """The events of the run, in order.

        Args:
            names: only events of these names.
            first: the first unit; None: from the start on.
            last: the last unit; None: to the end.
            agent: only events that name this agent, by number or name, or one of several.
            plot: only events on this plot, by id, (row, column) or text, or on one of several, in
                worlds that have plots. An empty list of agents or plots matches no event.

        Raises:
            BadInput: for unknown names, agents, plots and units.
            JournalError: as reading a journal does, when the events before have been given.
        """
        from goldrush.replay.journal.log import Query

        if plot is not None and self.tools.vocabulary.location != "plot":
            raise lacks(self.tools, self.path, "plots")
        query = Query(
            None if first is None else integer(first, "first"),
            None if last is None else integer(last, "last"),
            agents=None if agent is None else [self._agent(each) for each in listed(agent)],
            plots=None
            if plot is None
            else [self._location(each) for each in listed(plot, (str, tuple))],
            names=names,
        )
        return self._events(query)

    def _events(self, query: Query) -> Iterator[RecordedEvent]:
        from goldrush.replay.journal.log import log

        yield from log(self.path, query)  # a generator of the run, which keeps its journal alive

    def _agent(self, agent: object) -> int:
        """The number of an agent, by that or by its name. Raises BadInput for an unknown one."""
        from goldrush.replay.journal.story import agent_of

        text = agent if isinstance(agent, str) else str(integer(agent, "agent"))
        return agent_of(self.path, text)

    def _location(self, location: object) -> int:
        """The number of a location (a plot, a table), by id, (row, column) or text. Raises BadInput
        for one that is not there.
        """
        if isinstance(location, str):
            return self.tools.location_of(self.path, location)
        parts = location if isinstance(location, tuple) else (location,)
        text = ",".join(str(integer(part, "the place")) for part in parts)
        return self.tools.location_of(self.path, text)

    def log(
        self,
        *names: str,
        first: int | None = None,
        last: int | None = None,
        agent: Agents = None,
        plot: Plots = None,
    ) -> list[str]:
        """The same events as text, as printed by `goldrush log`, each line with its units.

        Arguments and errors: as of `Run.events`.
        """
        from goldrush.replay.journal.story import narrator

        events = self.events(*names, first=first, last=last, agent=agent, plot=plot)
        events, narrated = tee(events)
        lines = zip(events, narrator(self.path)(narrated), strict=True)
        return [f"{event.unit}: {line}" for event, line in lines]

    # Checking and comparing.

    def verify(self, level: int = 4, *, policies: Policies = None) -> Verdict:
        """Check the journal: bytes (1), states (2), derived events (3), players asked again (4).
        What asking again needs besides objects (`trust`, `sources`, `program`) is given to `open`.

        Args:
            level: the highest level to check, 1 to 4.
            policies: the objects that `external` agents play, by agent. They are asked in order,
                and must answer as they did: without state, or in the state in which they were.

        Returns:
            The verdict: `holds` is True, False, or None where something could not be judged;
            `not_asked` names the players who were believed and not asked, `unjudged` the decisions
            that could not be compared.

        Raises:
            BadInput, NotAJournal, UnsupportedJournal: where there is nothing to judge.
        """
        from goldrush.replay.journal.verify import verify

        with making(self._make):
            return verify(self.path, level, resources=self._resources(policies))

    def diff(self, other: Run | str | Path) -> Diff:
        """Where another run differs, and why: the first event that is not the same, its causes.

        Raises BadInput, NotAJournal or UnsupportedJournal for what cannot be compared.
        """
        from goldrush.replay.journal.diff import diff

        return diff(self.path, other.path if isinstance(other, Run) else path_of(other))

    def audit(
        self,
        at: int | None = None,
        location: Location | None = None,
        kind: str | None = None,
    ) -> Sequence[TieBreak]:
        """The draws of the unit `at`, or of all, each computed again from its key; only those at a
        `location` (a plot, a table) and of a `kind`, if given, which can be the name that the rules
        of a game give to a draw (`shock`; or with all parts of its key: `bite,3`).

        Raises BadInput for a world without draws, and for an unknown unit, location or kind.
        """
        from goldrush.replay.journal.draws import draws_at, draws_of

        draws_of(self.path)  # before a location is looked at
        unit = None if at is None else integer(at, "the unit")
        where = None if location is None else self._location(location)
        return draws_at(self.path, unit, where, kind)

    def why(
        self,
        at: int | None = None,
        location: Location | None = None,
        agent: int | str | None = None,
    ) -> Sequence[Explanation]:
        """Explanations of results, and the changes that would lead to others: of the unit `at`, or
        of all; only at a `location` (a plot), and only of results that involve an `agent`, if
        given.

        Raises BadInput for a world without explanations, and for an unknown unit.
        """
        unit = None if at is None else integer(at, "the unit")
        where = None if location is None else self._location(location)
        who = None if agent is None else self._agent(agent)
        if unit is not None:
            self.at(unit)  # refuses one that is not there
        return [
            each
            for each in self.tools.explain(self.path, unit, unit)
            if where in (None, each.location) and (who is None or who in each.agents)
        ]

    def prompts(
        self, at: int | None = None, agent: int | str | None = None
    ) -> Sequence[RebuiltPrompt]:
        """The prompts of an `agent` in the unit `at`, as they were or would be sent to a model; of
        a program, what it asked in that exchange, or for a caller of that name.

        Raises BadInput for a world without prompts, and for an unknown unit or agent.
        """
        caller = None if agent is None else str(agent)
        asked = self.tools.exchanges(self.path, at, caller)
        if asked is not None:
            return asked
        if at is None or caller is None:
            raise BadInput("an agent is asked in each unit", "give both: --at N --agent AGENT")
        unit, number = integer(at, "the unit"), self._agent(caller)
        return self.tools.prompts(self.path, unit, number, self._resources())

    # Playing on.

    def resume(
        self,
        *,
        policies: Policies = None,
        fsync: bool = False,
        on_unit: OnUnit | None = None,
    ) -> Self:
        """Go on with a run that broke off, to its end, with what was given to `open`.

        Args:
            policies: as for `verify`; `fsync` and `on_unit` are as for `record`.

        Raises:
            BadInput: for a run that has ended, and for players who cannot play on.
            PolicyFailed, RunStopped, WriteFailed: as `record`.
        """
        from goldrush.agents import players
        from goldrush.replay.journal.rebuild import world_at

        with making(self._make):
            players.resume(
                world_at(self.path), players_of(self.tools, self.path), self.path, fsync=fsync,
                on_unit=on_unit, resources=self._resources(policies),
            )  # fmt: skip
        return self

    def fork(
        self,
        at: int,
        path: str | Path | None = None,
        *,
        roster: Roster = None,
        treatment: str | Mapping[str, Any] | None = None,
        replace: Replacements = (),
        policies: Policies = None,
        force: bool = False,
        fsync: bool = False,
        on_unit: OnUnit | None = None,
        given: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> Self:
        """Play the run anew from a unit on, under other circumstances, into a journal of its own,
        with what was given to `open`.

        Args:
            at: the last unit that is kept.
            path: the new journal; None: a temporary file.
            roster: who plays from there on, as for `record`; None: who played before.
            treatment: its settings from there on.
            replace: submissions put in by hand, in the form of their events (`Explanation.change`
                has such), or a file of them, as `goldrush export` prints them.
            policies: the objects of external agents who play on, by agent.
            settings: other settings from there on, by name.

        `force`, `fsync` and `on_unit` are as for `record`, `given` is as for `plan`.

        Raises:
            BadInput: before anything is written.
            PolicyFailed, RunStopped, WriteFailed: as `record`.
        """
        from goldrush.agents import players
        from goldrush.agents.trust import import_names
        from goldrush.replay.journal.rebuild import world_at

        who = players_of(self.tools, self.path)
        name, chosen = settings_of(treatment, {**(given or {}), **settings}, self.tools.config)
        seated = roster_of(who, roster)
        change = players.ForkChange(chosen, name, seated.text, submissions_of(replace))
        resources = self._resources(policies if roster is None else None)
        resources = msgspec.structs.replace(
            resources, policies={**resources.policies, **seated.policies}
        )
        with target_of(path) as (target, folder), making(self._make):
            players.fork(
                world_at(self.path), who, self.path, integer(at, "at"), target, change,
                resources=resources, force=force, fsync=fsync, on_unit=on_unit,
            )  # fmt: skip
            own = import_names(who.policy_set.names_in(seated.text)) if seated.text else ()
            return type(self)._kept(target, resources, own, folder, self._make)

    def _resources(self, policies: Policies = None) -> Resources:
        """What playing on needs, with the objects that external agents play. Raises BadInput."""
        check_program(self.resources, players_of(self.tools, self.path))
        if policies is None:
            return self.resources
        return with_objects(self.resources, self.info().declared.players, policies)

    # Measures, tables, pages.

    def measured(self, measures: Functions = ()) -> Measured[Any]:
        """The run with its measures by unit, over spans and halves. `measures`: see `measures`.

        Raises BadInput for a world without measures, and what reading a journal raises.
        """
        from goldrush.replay.data.run_data import measured_at
        from goldrush.replay.data.user_functions import user_measures

        return measured_at(self.path, user_measures(measures))

    def measures(self, measures: Functions = ()) -> dict[str, float | None]:
        """The measures of the whole run by name; None where undefined. Raises as `measured`.

        `measures`: measures of your own, one or several: functions, or their locations
        (`raids.py:seized`). The parameters of a function name what it is given of each unit,
        `state` and `events`; it returns a number, None, or a list with one for each agent.
        """
        measured = self.measured(measures)
        return {name: measured.of(name) for name in measured.known}

    def outcome(self, measure: str | None = None, *, measures: Functions = ()) -> RunOutcome:
        """Who ended with how much, by policy and by agent, and a headline.

        Args:
            measure: of agents or of the run, by name; None: what the agents of the world play for.
            measures: measures of your own, as for `measures`, one of which it can name.

        Raises BadInput for an unknown measure; else as `measured`.
        """
        from goldrush.replay.outcome import outcome_of

        return outcome_of(self.tools, self.measured(measures), measure)

    def figures(self) -> dict[str, str]:
        """What can be drawn of the run: captions by name. Each is a measure of agents, or one that
        a unit has; of a model what it reports. Raises as `measured`.
        """
        from goldrush.replay.report.figures import caption_of, drawable

        known = drawable(self.tools, self.measured().known).outcomes
        return {name: caption_of(self.tools, measure) for name, measure in known.items()}

    def figure(self, name: str | None = None) -> Figure:
        """A measure over the units of the run, which shows itself in a notebook and can be saved
        for a paper (`figure.save("gold.pdf")`). Measures of agents have a line for each policy.

        Args:
            name: one of `figures()`; None: what the agents of the world play for.

        Raises BadInput for another name, and for a run without a closed unit; else as `measured`.
        """
        from goldrush.replay.report.figures import figure_of

        return figure_of(self.tools, self.path, name)

    def tables(self) -> list[str]:
        """The names of the tables of this run's world."""
        from goldrush.replay.data.tables import tables_of
        from goldrush.replay.journal.rebuild import world_at

        return [table.name for table in tables_of(self.tools, world_at(self.path))]

    def table(self, name: str = "events", measures: Functions = ()) -> pyarrow.Table:
        """A table of the run in Arrow's form, `to_pandas()` and `polars.from_arrow` away from both.
        `name`: one of `tables()`; `goldrush columns` lists the columns. `measures`: see `measures`.

        Raises:
            BadInput: for another name, and where pyarrow is not installed (goldrush-sim[tables]).
            JournalError: as reading a journal does.
        """
        from goldrush.replay.data.encoded import arrow_table
        from goldrush.replay.data.user_functions import user_measures

        return arrow_table([self.path], name, users=user_measures(measures))

    def view(
        self,
        path: str | Path,
        *,
        against: Run | str | Path | None = None,
        force: bool = False,
        measures: Functions = (),
    ) -> Path:
        """Write the page of the run, one self-contained HTML file.

        Args:
            path: the file.
            against: another run to show beside it.
            force: replace another file that goldrush wrote.
            measures: measures of your own, shown among those of the world; see `measures`.

        Returns:
            The path of the page.

        Raises:
            BadInput: for another file at the path, and for runs of two worlds.
            WriteFailed: if the system refuses.
        """
        from goldrush.replay.data.user_functions import user_measures
        from goldrush.replay.view.page import write_page

        other = against.path if isinstance(against, Run) else against and path_of(against)
        users = user_measures(measures)
        return write_page(
            self.path, Path(path_of(path)), against=other, force=force, users=users
        ).path


class PlannedRun(Record, frozen=True):
    """A run that is ready to be played, from `Run.plan`. `check`: as for `Run.record`; `make`:
    makes the environment or the model that is played on.
    """

    tools: Tools
    prepared: PreparedRun
    resources: Resources
    check: bool = False
    make: Maker | None = None

    def estimate(self) -> Sequence[Estimate]:
        """What each language model would take at most. Raises BadInput if a world cannot tell."""
        from goldrush.replay.estimate import estimate

        return estimate(self.tools.players, self.prepared, self.resources)

    def record(
        self,
        path: str | Path | None = None,
        *,
        force: bool = False,
        fsync: bool = False,
        on_unit: OnUnit | None = None,
        again: bool = True,
    ) -> Run:
        """Play the run to its end and record it. Arguments and errors: as of `Run.record`.

        `again`: derive it once more in another process (replay/journal/elsewhere.py), if its world
        is not one of goldrush's own.
        """
        from goldrush.agents import players

        tools, run = self.tools, self.prepared
        world = tools.world(run.setup)
        if self.check and world.watching is nullcontext:
            raise BadInput(
                f"the rules of the {world.name} world are not watched", "leave --check out"
            )
        remarks: list[str] = []
        watching = world.watching() if self.check else nullcontext()
        with watching, target_of(path) as (target, folder), making(self.make):
            checking: AbstractContextManager[None] = nullcontext()
            if again and not is_built_in(world.name):
                from goldrush.replay.journal.elsewhere import checking_elsewhere

                checking = checking_elsewhere(
                    world.name, str(target), run.roster, self.resources, whole=self.check
                )

            def each_unit(unit: int, state: Any) -> None:
                if unit == 1:
                    tools.checks(state)
                if on_unit is not None:
                    on_unit(unit, state)

            with checking:
                players.record(
                    world, tools.players, target, run, resources=self.resources,
                    force=force, fsync=fsync, on_unit=each_unit,
                    on_start=lambda state: remarks.extend(tools.checks(state)),
                )  # fmt: skip
            if remarks:
                from goldrush.agents.llm.models import Models

                models = self.resources.models or Models()
                for remark in remarks:
                    models.warn(remark)
            return Run._kept(target, self.resources, run.roster.trust, folder, self.make)


open = Run.open
record = Run.record
