"""The toolkit of the mining world: its part of the tools that work for any world."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from goldrush.agents.mining.players import GAME
from goldrush.kernel.mining.config import MiningConfig
from goldrush.kernel.world import Event
from goldrush.replay.games import toolkit_of_game
from goldrush.replay.mining import audit, plots, show, story, summary, why
from goldrush.replay.mining.consequences import consequences
from goldrush.replay.mining.view.view import VIEW
from goldrush.replay.toolkit import (
    Consequences,
    Measures,
    Names,
    Spells,
    Story,
    Summaries,
    Tables,
    TieBreaks,
    UnitView,
    Why,
)

if TYPE_CHECKING:
    from goldrush.replay.mining.run import MiningRun
    from goldrush.replay.studies import Studies

# The measures that fit into a terminal's table of many runs or of many rounds.
_OF_ROUNDS: Final = (
    "turnover", "raid_rate", "targeting", "efficiency", "idle", "respect", "gini", "hhi",
)  # fmt: skip
_OF_RUNS: Final = ("turnover", "survival", *_OF_ROUNDS[1:])


def _lines(events: Iterable[Event], names: Names) -> Iterator[str]:
    return story.story(events)


def _chronicle(events: Iterable[Event], names: Names) -> Iterator[tuple[int, int, str]]:
    return story.chronicle(events)


def _draws(path: str | Path, round: int, plot: int | None, kind: str | None) -> list[audit.Audit]:
    assert plot is not None  # needs_location
    return audit.audit(path, round, plot, kind)


def _run() -> type[MiningRun]:
    from goldrush.replay.mining.run import MiningRun

    return MiningRun


def _measures() -> Measures:
    from goldrush.replay.mining import measured
    from goldrush.replay.mining.measures import MEASURES
    from goldrush.replay.mining.tables import SPELLS

    return Measures(
        MEASURES, measured.measured_by, _OF_RUNS, _OF_ROUNDS, show.format_measured,
        Spells(lambda run: run.spells, show.format_spells, SPELLS, measured.on_plots),
    )  # fmt: skip


def _tables() -> Tables:
    from goldrush.replay.mining.tables import TABLES

    return TABLES


def _studies() -> Studies:
    from goldrush.replay.mining.study import STUDIES

    return STUDIES


TOOLKIT = attrs.evolve(
    toolkit_of_game(GAME, MiningConfig),
    story=Story(_lines, _chronicle, brief=story.BRIEF),
    unit=UnitView(show.unit_as_dict, show.format_unit, show.format_frame, show.format_line),
    summary=Summaries(summary.summarise, show.format_summary),
    consequences=Consequences(consequences, show.format_consequences),
    tie_breaks=TieBreaks("plot", audit.AUDITED, _draws, audit.audit_all, needs_location=True),
    why=Why("plot", why.explained_at, why.explained_rounds),
    location_of=plots.plot_of,
    measures=_measures,
    tables=_tables,
    studies=_studies,
    view=VIEW,
    run=_run,
)
