"""The tools of the competition."""

from __future__ import annotations

from pathlib import Path

from goldrush.agents.worlds.competition.arenas import KINDS, seeded_setting
from goldrush.agents.worlds.competition.cast import RANDOM, SCRIPTED, SILENT
from goldrush.agents.worlds.competition.players import SEASON_PLAYERS
from goldrush.agents.worlds.competition.treatments import TREATMENTS
from goldrush.kernel.worlds.competition.config import SeasonConfig
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.replay.tools import Tools, lazy
from goldrush.replay.worlds.competition.steps import world_of


class SeasonTools(Tools):
    """What the competition does better than any world."""

    world = staticmethod(world_of)
    seeded = staticmethod(seeded_setting)
    config = SeasonConfig
    players = SEASON_PLAYERS
    treatments = TREATMENTS
    kinds = KINDS
    run = lazy("goldrush.replay.worlds.competition.run:SeasonRun")
    names = lazy("goldrush.replay.worlds.competition.story:names_in")
    sentences = lazy("goldrush.replay.worlds.competition.story:sentences_of")
    brief = lazy("goldrush.replay.worlds.competition.story:BRIEF")
    unit_as_dict = lazy("goldrush.replay.worlds.competition.show:unit_as_dict")
    format_unit = lazy("goldrush.replay.worlds.competition.show:format_unit")
    format_line = lazy("goldrush.replay.worlds.competition.show:format_line")
    summary = lazy("goldrush.replay.worlds.competition.summary:summarise")
    format_summary = lazy("goldrush.replay.worlds.competition.show:format_summary")
    next_commands = ("leaderboard",)
    headline_leads = True
    headline = lazy("goldrush.replay.worlds.competition.headline:headline")
    consequences = lazy("goldrush.replay.worlds.competition.consequences:consequences")
    format_consequences = lazy("goldrush.replay.worlds.competition.show:format_consequences")
    location = "table"
    draw_kinds = lazy("goldrush.replay.worlds.competition.audit:AUDITED")
    draws = lazy("goldrush.replay.worlds.competition.audit:audit_all")
    draws_at = lazy("goldrush.replay.worlds.competition.audit:audit")
    scores = lazy("goldrush.replay.worlds.competition.score:scores")
    format_score = lazy("goldrush.replay.worlds.competition.score:format_score")
    prompts = lazy("goldrush.replay.worlds.competition.prompt:prompted")
    reworded = lazy("goldrush.replay.worlds.competition.prompt:reworded")
    measures = lazy("goldrush.replay.worlds.competition.measures:MEASURING")
    tables = lazy("goldrush.replay.worlds.competition.tables:TABLES")
    studies = lazy("goldrush.replay.worlds.competition.study:STUDIES")
    chapter = lazy("goldrush.replay.worlds.competition.sections:CHAPTER")
    view = lazy("goldrush.replay.worlds.competition.view.view:VIEW")
    hue_order = (SCRIPTED, SILENT)
    null = RANDOM
    _export = lazy("goldrush.replay.worlds.competition.folder:export")

    def length(self, state: SeasonState) -> int:
        return state.config.assignments

    def export_folder(self, path: str | Path, target: str, at: int | None) -> str:
        season = self._export(path, target, at)
        return f"{len(season.state.agents)} agents, as after assignment {season.assignment}"


TOOLS = SeasonTools()
