"""`Run`: a journal as a Python object, with everything that the command line can do with one.

Each method calls one of the functions of this room with the journal's path; nothing is computed
before it is needed, and nothing is kept but the path. `goldrush.record` and `goldrush.open` make
one. A world can add methods of its own: its toolkit names a subclass (`Toolkit.run`), so the run of
a mining journal also has `plot` and `agent`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from goldrush.agents import players
from goldrush.agents.external import RosterText, class_name
from goldrush.agents.llm.models import Models, read_models
from goldrush.agents.players import Change, Players, Resources
from goldrush.agents.trust import import_names
from goldrush.kernel.errors import BadInput
from goldrush.kernel.files import TemporaryFolder
from goldrush.kernel.world import Event
from goldrush.replay.diff import Diff, diff
from goldrush.replay.log import Query, log
from goldrush.replay.outline import Outline, outline
from goldrush.replay.rebuild import Rebuilt, rebuild, rebuilt_from
from goldrush.replay.recheck import Recheck, recheck
from goldrush.replay.story import agent_of, narrator
from goldrush.replay.tie_break import TieBreak
from goldrush.replay.toolkit import (
    WORLD_DEFAULT,
    Prompted,
    Toolkit,
    needed,
    players_of,
    toolkit_at,
    toolkit_for,
    world_at,
)
from goldrush.replay.verify import DECIDE, Verdict, verify
from goldrush.replay.why import Explanation

if TYPE_CHECKING:
    import pyarrow

    from goldrush.replay.measures import Measured

FRAME_HEIGHT: Final = 720  # CSS pixels of the page of a run in a notebook

Roster = str | Sequence[object] | None  # as text, or policies one after the other
Policies = Mapping[int, object] | Sequence[object] | None  # by agent
Trust = Sequence[str | type]  # names of the form module:Class, or the classes themselves
OnUnit = Callable[[int, Any], None]


class Run:
    """A run that is recorded in a journal.

    >>> run = Run.record(seed=7, rounds=20, roster=["greedy-mine"] * 4 + ["raid"] * 2)
    >>> run.info().declared.roster
    'greedy-mine*4,raid*2'
    >>> run.at(3).state
    <MiningState after round 3 of 20: 45 of 100 plots owned, 70.0 gold>
    >>> next(run.events("raid_resolved", agent=4))["outcome"]
    'captured'
    >>> run.log("claim_drawn", first=1, last=1)[0]
    '1: plot 2: claimed by agents 2, 4; the draw gives it to 4'
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
        toolkit: what the tools of the journal's world can do.
        trust: names (`module:Class`) of user-defined policies that may be imported: those that the
            run was recorded with in this process.

    """

    def __init__(self, path: str | Path, trust: Trust = ()) -> None:
        """See `open`."""
        self.path = Path(path)
        self.toolkit: Toolkit = toolkit_at(path)
        self.trust = _names(trust)
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
        kind = toolkit_at(path).run()
        if not issubclass(kind, cls):
            raise BadInput(f"{path} is not a {cls.__name__}", f"open it with {kind.__name__}.open")
        return kind(path, trust)

    @classmethod
    def record(
        cls,
        path: str | Path | None = None,
        *,
        world: str = WORLD_DEFAULT,
        roster: Roster = None,
        treatment: str | None = None,
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
            treatment: a named configuration.
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
        toolkit = toolkit_for(world)
        who = players_of(toolkit, world)
        given = _given(who, roster)
        reach = models_of(models)
        run = who.prepare(settings, given.text, treatment, reach)
        with _target(path) as (target, folder):
            players.record(
                toolkit.world(run.setup), who, target, run, models=reach, force=force, fsync=fsync,
                resources=Resources(jobs, program, policies=given.policies), on_unit=on_unit,
            )  # fmt: skip
            found = cls.open(target, run.trust)
            found._folder = folder
            return found

    def __repr__(self) -> str:
        found = self.info()
        end = "" if found.finished else ", unfinished"
        of = found.vocabulary.units
        return f"<{type(self).__name__} {self.path}: {found.units} {of}, {self._who(found)}{end}>"

    def _who(self, found: Outline) -> str:
        seed = "no seed" if found.declared.seed is None else f"seed {found.declared.seed}"
        return f"{found.declared.roster}, {seed}"

    def _repr_html_(self) -> str:
        """The page of the run in a frame: its map with a slider, in a notebook."""
        from goldrush.replay.view.page import page_of

        page = escape(page_of(self.path), quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" title="{escape(self.path.name)}" '
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
        return rebuild(self.path, number)

    def __iter__(self) -> Iterator[Rebuilt]:
        """All closed units in order, folded once; a state is valid until the next one."""
        first = world_at(self.path).vocabulary.number(1)
        if self.info().units:
            yield from rebuilt_from(self.path, first)

    def last(self) -> Rebuilt:
        """The last closed unit. Raises as `at`."""
        return self.at(world_at(self.path).vocabulary.number(self.info().units))

    def events(
        self,
        *names: str,
        first: int | None = None,
        last: int | None = None,
        agent: int | None = None,
        plot: int | None = None,
    ) -> Iterator[Event]:
        """The events of the run, in order.

        Args:
            names: only events of these names.
            first: the first unit; None: from the start on.
            last: the last unit; None: to the end.
            agent: only events that name this agent.
            plot: only events on this plot, in worlds that have plots.

        Raises:
            BadInput: for unknown names, agents and units.
            JournalError: as reading a journal does, when the events before have been given.

        """
        agents = () if agent is None else (agent,)
        return log(self.path, Query(first, last, agents, () if plot is None else (plot,), names))

    def log(self, *names: str, **where: int | None) -> list[str]:
        """The same events as text, as printed by `goldrush log`, each line with its units.

        Arguments and errors as `events`.
        """
        lines = narrator(self.path).chronicle(self.events(*names, **where))
        return [f"{a}: {text}" if a == b else f"{a}-{b}: {text}" for a, b, text in lines]

    # Checking and comparing.

    def verify(
        self,
        level: int = DECIDE,
        *,
        policies: Policies = None,
        trust: Trust = (),
        sources: Sequence[str] = (),
        program: str | None = None,
        jobs: int = 1,
    ) -> Verdict:
        """Check the journal: bytes (1), states (2), derived events (3), players asked again (4).

        Args:
            level: the highest level to check, 1 to 4.
            policies: the objects that `external` agents play, by agent, or the whole roster as a
                list. They must answer as they did: without state, or in the state they were in.
            trust: user-defined policies that may be imported, besides those in `Run.trust`.
            sources: the journals that `recorded` agents play.
            program: the user-defined test program of a season.
            jobs: how many tests of a season are run at once.

        Returns:
            The verdict: `holds` is True, False, or None where something could not be judged;
            `not_asked` names the players who were believed and not asked.

        Raises:
            BadInput, NotAJournal, UnsupportedJournal: where there is nothing to judge.

        """
        resources = Resources(jobs, program, policies=_by_agent(policies))
        return verify(
            self.path,
            level,
            trust=[*self.trust, *_names(trust)],
            sources=sources,
            resources=resources,
        )

    def diff(self, other: Run | str | Path) -> Diff:
        """Where another run differs, and why: the first event that is not the same, its causes.

        Raises BadInput, NotAJournal or UnsupportedJournal for what cannot be compared.
        """
        return diff(self.path, other.path if isinstance(other, Run) else other)

    def audit(
        self, at: int, location: int | None = None, kind: str | None = None
    ) -> Sequence[TieBreak]:
        """The draws of a unit, each computed again from its key.

        Args:
            at: the unit.
            location: the location in it (a plot, a table); mining needs one.
            kind: only draws of this kind.

        Raises:
            BadInput: for a world without draws, and for an unknown unit, location or kind.

        """
        by = needed(self.toolkit.tie_breaks, self.path, "draws to audit")
        if location is None and by.needs_location:
            raise BadInput(
                f"the draws of a unit are audited by {by.location}", f"give a {by.location}"
            )
        return by.at(self.path, at, location, kind)

    def audit_all(self) -> Recheck:
        """Every draw of the run, computed again and counted. Raises nothing: see its `error`."""
        return recheck(self.path)

    def why(
        self, at: int, location: int | None = None, agent: int | None = None
    ) -> Sequence[Explanation]:
        """Explanations of the results of a unit, and the changes that would lead to others.

        Args:
            at: the unit.
            location: only at this location (a plot).
            agent: only results that involve this agent.

        Raises:
            BadInput: for a world without explanations, and where there is nothing to explain.

        """
        by = needed(self.toolkit.why, self.path, "explanations")
        return by.at(self.path, at, location, agent)

    def score(self, at: int, agent: int | str, location: int | None = None) -> Sequence[Any]:
        """The scores of an agent in a unit, each with the steps that lead to it (of a season).

        Args:
            at: the unit.
            agent: by number or name.
            location: only at this location (a table).

        Raises:
            BadInput: for a world without scores, and for an unknown unit or agent.

        """
        scores = needed(self.toolkit.scores, self.path, "scores")
        return scores.at(self.path, at, agent_of(self.path, str(agent)), location)

    def prompts(self, at: int, agent: int | str) -> Sequence[Prompted]:
        """The prompts of an agent in a unit, as they were sent or would be sent to a model.

        Raises BadInput for a world without prompts, and for an unknown unit or agent.
        """
        prompts = needed(self.toolkit.prompts, self.path, "prompts")
        return prompts.at(self.path, at, agent_of(self.path, str(agent)), Resources())

    # Playing on.

    def resume(
        self,
        *,
        policies: Policies = None,
        trust: Trust = (),
        sources: Sequence[str] = (),
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
            trust=[*self.trust, *_names(trust)], sources=sources,
            resources=Resources(jobs, program, policies=_by_agent(policies)), on_unit=on_unit,
        )  # fmt: skip
        return self

    def fork(
        self,
        at: int,
        path: str | Path | None = None,
        *,
        roster: Roster = None,
        treatment: str | None = None,
        replace: Sequence[Mapping[str, Any]] = (),
        policies: Policies = None,
        trust: Trust = (),
        sources: Sequence[str] = (),
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
        given = _given(who, roster) if roster is not None else RosterText(None)
        change = Change(settings, treatment, given.text, replace)
        trusted = [*self.trust, *_names(trust)]
        with _target(path) as (target, folder):
            players.fork(
                world_at(self.path), who, self.path, at, target, change, models=models_of(models),
                trust=trusted, sources=sources, force=force, on_unit=on_unit,
                resources=Resources(
                    jobs, program, policies={**_by_agent(policies), **given.policies}
                ),
            )  # fmt: skip
            own = import_names(who.names(given.text)) if given.text else ()
            found = type(self).open(target, [*trusted, *own])
            found._folder = folder
            return found

    def _players(self) -> Players[Any]:
        return needed(self.toolkit.players, self.path, "players")

    # Measures, tables, pages.

    def measured(self) -> Measured[Any]:
        """The run with its measures by unit, over spans and halves.

        Raises BadInput for a world without measures, and what reading a journal raises.
        """
        from goldrush.replay.run_data import measured_at

        return measured_at(self.path)

    def measures(self) -> dict[str, float | None]:
        """The measures of the whole run by name; None where undefined. Raises as `measured`."""
        found = self.measured()
        return {name: found.of(name) for name in found.known}

    def tables(self) -> list[str]:
        """The names of the tables of this run's world."""
        from goldrush.replay.tables import tables_of

        return [table.name for table in tables_of(self.toolkit, world_at(self.path))]

    def table(self, name: str = "events") -> pyarrow.Table:
        """A table of the run in Arrow's form, `to_pandas()` and `polars.from_arrow` away from both.

        Args:
            name: one of `tables()`; replay/TABLES.md lists the columns.

        Raises:
            BadInput: for another name, and where pyarrow is not installed (goldrush[tables]).
            JournalError: as reading a journal does.

        """
        from goldrush.replay.arrow import arrow_table

        return arrow_table([self.path], name)

    def view(self, path: str | Path, *, against: Run | str | Path | None = None) -> Path:
        """Write the page of the run, one HTML file that needs nothing else, and return its path.

        `against`: another run to show beside it. Raises BadInput for a file that is no earlier
        page, WriteFailed.
        """
        from goldrush.replay.view.page import write_page

        other = against.path if isinstance(against, Run) else against
        return write_page(self.path, path, against=other).path


@contextmanager
def _target(path: str | Path | None) -> Iterator[tuple[Path, TemporaryFolder | None]]:
    """Where a run is recorded: at a path, or in a temporary folder.

    If a run in a temporary folder breaks off, the journal stays and the error names it.
    """
    if path is not None:
        yield Path(path), None
        return
    folder = TemporaryFolder()
    journal = Path(folder.path, "run.journal")
    try:
        yield journal, folder
    except BaseException as error:
        if journal.exists():
            folder.keep()
            error.add_note(f"what was recorded is in {journal}")
        raise


def _given(who: Players[Any], roster: Roster) -> RosterText:
    """A roster as text, with the objects of its external agents."""
    if roster is None or isinstance(roster, str):
        return RosterText(roster)
    if who.roster_text is None:
        raise BadInput("rosters of this world are text", "write the roster as on the command line")
    return who.roster_text(roster)


def models_of(models: Models | str | Path | None) -> Models | None:
    """How language models are reached, by `Models` or a file of them. Raises BadInput."""
    if models is None or isinstance(models, Models):
        return models
    return Models(by_name=read_models(models))


def _names(trust: Trust) -> tuple[str, ...]:
    """Names of user-defined policies. Raises BadInput for a class that cannot be imported."""
    return tuple(one if isinstance(one, str) else class_name(one) for one in trust)


def _by_agent(policies: Policies) -> dict[int, Any]:
    """Objects by agent; of a whole roster those that are neither names nor None."""
    pairs = policies.items() if isinstance(policies, Mapping) else enumerate(policies or ())
    return {agent: one for agent, one in pairs if one is not None and not isinstance(one, str)}


open = Run.open
record = Run.record
