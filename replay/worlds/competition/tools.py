"""The tools of the competition: its functions and texts for the generic tools.

A tool is imported when it is used: recording a season needs none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from goldrush.agents.worlds.competition.arenas import KINDS, seeded_setting
from goldrush.agents.worlds.competition.players import SEASON_PLAYERS
from goldrush.agents.worlds.competition.treatments import TREATMENTS
from goldrush.kernel.worlds.competition.config import SeasonConfig
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.replay.data.measures import Measures
from goldrush.replay.tools import (
    Consequences,
    Folder,
    Prompts,
    Scores,
    Story,
    Summaries,
    Tables,
    TieBreaks,
    Tools,
    UnitView,
)
from goldrush.replay.worlds.competition import audit, show, story
from goldrush.replay.worlds.competition.steps import world_of
from goldrush.replay.worlds.competition.view.view import VIEW

if TYPE_CHECKING:
    from goldrush.agents.players import Resources
    from goldrush.kernel.run import OnUnit
    from goldrush.replay.journal.diff import Diff
    from goldrush.replay.report.chapter import Chapter
    from goldrush.replay.studies import Studies
    from goldrush.replay.worlds.competition import consequences
    from goldrush.replay.worlds.competition.prompt import RebuiltQuestion
    from goldrush.replay.worlds.competition.run import SeasonRun
    from goldrush.replay.worlds.competition.score import Score
    from goldrush.replay.worlds.competition.summary import SeasonSummary


def _length(state: SeasonState) -> int:
    return state.config.assignments


def _summary(path: str | Path) -> SeasonSummary:
    from goldrush.replay.worlds.competition.summary import summarise

    return summarise(path)


def _consequences(found: Diff, *, by_round: bool) -> consequences.SeasonConsequences | None:
    from goldrush.replay.worlds.competition.consequences import consequences

    return consequences(found, by_round=by_round)


def _scores(path: str | Path, assignment: int, agent: int, table: int | None) -> Sequence[Score]:
    from goldrush.replay.worlds.competition.score import scores

    return scores(path, assignment, agent, table)


def _format_score(score: Score) -> str:
    from goldrush.replay.worlds.competition.score import format_score

    return format_score(score)


def _prompts(
    path: str | Path, assignment: int, agent: int, resources: Resources
) -> Sequence[RebuiltQuestion]:
    from goldrush.replay.worlds.competition.prompt import prompted

    return prompted(path, assignment, agent, resources)


def _questions(found: Sequence[RebuiltQuestion], assignment: int, agent: int) -> dict[str, object]:
    questions = [question.as_dict() for question in found]
    return {"assignment": assignment, "agent": agent, "questions": questions}


def _folder(path: str | Path, target: str, at: int | None, *, force: bool) -> str:
    from goldrush.replay.worlds.competition import folder

    season = folder.export(path, target, at, force=force)
    return f"{len(season.state.agents)} agents, as after assignment {season.assignment}"


def _live(path: str | Path, target: str, *, force: bool) -> OnUnit[SeasonState]:
    from goldrush.replay.worlds.competition import folder

    return folder.LiveFolder(path, target, force=force)


def _run() -> type[SeasonRun]:
    from goldrush.replay.worlds.competition.run import SeasonRun

    return SeasonRun


def _measures() -> Measures:
    from goldrush.replay.worlds.competition.measures import MEASURES, measured

    return Measures(MEASURES, measured)


def _tables() -> Tables:
    from goldrush.replay.worlds.competition.tables import TABLES

    return TABLES


def _studies() -> Studies:
    from goldrush.replay.worlds.competition.study import STUDIES

    return STUDIES


def _chapter() -> Chapter:
    from goldrush.replay.worlds.competition.sections import CHAPTER

    return CHAPTER


TOOLS = Tools(
    world=world_of,
    config=SeasonConfig,
    players=SEASON_PLAYERS,
    length=_length,
    story=Story(story.sentences, names=story.names_in, of=story.story_of, brief=story.BRIEF),
    unit=UnitView(show.unit_as_dict, show.format_unit, line=show.format_line),
    summary=Summaries(_summary, show.format_summary, commands=["leaderboard"]),
    consequences=Consequences(_consequences, show.format_consequences),
    tie_breaks=TieBreaks("table", audit.AUDITED, audit.audit, audit.audit_all),
    scores=Scores(_scores, _format_score),
    prompts=Prompts(_prompts, _questions),
    measures=_measures,
    tables=_tables,
    studies=_studies,
    chapter=_chapter,
    treatments=TREATMENTS,
    seeded=seeded_setting,
    folder=Folder(_folder, _live),
    view=VIEW,
    run=_run,
    kinds=KINDS,
)
