"""The tools of the mining world: its part of the tools that work for any world.

A tool is imported when it is used: recording a run needs none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from goldrush.agents.worlds.mining.players import GAME
from goldrush.kernel.errors import BadInput
from goldrush.kernel.world import Event
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import MiningConfig
from goldrush.replay.data.measures import Measures
from goldrush.replay.games import tools_of_game
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.tools import (
    Consequences,
    Names,
    Spells,
    Story,
    Summaries,
    Tables,
    TieBreaks,
    UnitView,
    Why,
)
from goldrush.replay.worlds.mining import audit, show, story
from goldrush.replay.worlds.mining.view.view import VIEW

if TYPE_CHECKING:
    from goldrush.replay.journal.diff import Diff
    from goldrush.replay.journal.why import Explanation
    from goldrush.replay.report.chapter import Chapter
    from goldrush.replay.studies import Studies
    from goldrush.replay.worlds.mining import consequences
    from goldrush.replay.worlds.mining.run import MiningRun
    from goldrush.replay.worlds.mining.summary import RunSummary


def _lines(events: Iterable[Event], names: Names) -> Iterator[str]:
    return story.story(events)


def _chronicle(events: Iterable[Event], names: Names) -> Iterator[tuple[int, int, str]]:
    return story.chronicle(events)


def _draws(path: str | Path, round: int, plot: int | None, kind: str | None) -> list[audit.Audit]:
    assert plot is not None  # needs_location
    return audit.audit(path, round, plot, kind)


def _summary(path: str | Path) -> RunSummary:
    from goldrush.replay.worlds.mining.summary import summarise

    return summarise(path)


def _consequences(found: Diff, *, by_round: bool) -> consequences.MiningConsequences | None:
    from goldrush.replay.worlds.mining.consequences import consequences

    return consequences(found, by_round=by_round)


def _why(
    path: str | Path, round: int, plot: int | None, agent: int | None
) -> Sequence[Explanation]:
    from goldrush.replay.worlds.mining.why import explained_at

    return explained_at(path, round, plot, agent)


def _why_rounds(path: str | Path, plot: int | None, agent: int | None) -> Iterator[int]:
    from goldrush.replay.worlds.mining.why import explained_rounds

    return explained_rounds(path, plot, agent)


def _run() -> type[MiningRun]:
    from goldrush.replay.worlds.mining.run import MiningRun

    return MiningRun


def _measures() -> Measures:
    from goldrush.replay.worlds.mining.measures import MEASURES, measured_by

    return Measures(MEASURES, measured_by, show.format_measured)


def _spells() -> Spells:
    from goldrush.replay.worlds.mining.measures import on_plots
    from goldrush.replay.worlds.mining.tables import SPELLS

    return Spells(lambda run: run.spells, show.format_spells, SPELLS, on_plots)


def _tables() -> Tables:
    from goldrush.replay.worlds.mining.tables import TABLES

    return TABLES


def _studies() -> Studies:
    from goldrush.replay.worlds.mining.study import STUDIES

    return STUDIES


def _chapter() -> Chapter:
    from goldrush.replay.worlds.mining.sections import CHAPTER

    return CHAPTER


@reader_of
def plot_of(path: str | Path, text: str) -> int:
    """The id of a plot in user input.

    Args:
        text: the plot's id, or its row and column (`3,4`), all from 0.

    Raises:
        BadInput: if there is no such plot.
        JournalError: if the journal cannot be read.
    """
    config: MiningConfig = rebuild(path, 0, world=MINING).state.config
    match = re.fullmatch(r"\s*(\d{1,9})\s*(?:,\s*(\d{1,9})\s*)?", text, re.ASCII)
    if match is not None and match[2] is None and int(match[1]) < config.plots:
        return int(match[1])
    if match is not None and match[2] is not None:
        row, col = int(match[1]), int(match[2])
        if row < config.rows and col < config.cols:
            return row * config.cols + col
    raise BadInput(
        f"there is no plot {text!r}",
        f"give an id from 0 to {config.plots - 1}, or row,column up to "
        f"{config.rows - 1},{config.cols - 1}",
    )


TOOLS = attrs.evolve(
    tools_of_game(GAME, MiningConfig),
    story=Story(lambda names: story.SENTENCES, _lines, _chronicle, brief=story.BRIEF),
    unit=UnitView(show.unit_as_dict, show.format_unit, show.format_frame, show.format_line),
    summary=Summaries(_summary, show.format_summary),
    consequences=Consequences(_consequences, show.format_consequences),
    tie_breaks=TieBreaks("plot", audit.AUDITED, _draws, audit.audit_all, needs_location=True),
    why=Why("plot", _why, _why_rounds),
    location_of=plot_of,
    measures=_measures,
    spells=_spells,
    tables=_tables,
    studies=_studies,
    chapter=_chapter,
    view=VIEW,
    run=_run,
)
