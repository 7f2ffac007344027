"""The tools of the mining world."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from goldrush.agents.worlds.mining.players import GAME
from goldrush.agents.worlds.mining.roster import NULL
from goldrush.kernel.world import Event, EventType
from goldrush.kernel.worlds.mining.config import MiningConfig
from goldrush.replay.sentences import EventSentences
from goldrush.replay.stage_game import StageTools
from goldrush.replay.tools import lazy


class MiningTools(StageTools):
    """What mining does better than any world."""

    run = lazy("goldrush.replay.worlds.mining.run:MiningRun")
    brief = lazy("goldrush.replay.worlds.mining.story:BRIEF")
    unit_as_dict = lazy("goldrush.replay.worlds.mining.show:unit_as_dict")
    format_unit = lazy("goldrush.replay.worlds.mining.show:format_unit")
    format_frame = lazy("goldrush.replay.worlds.mining.show:format_frame")
    format_line = lazy("goldrush.replay.worlds.mining.show:format_line")
    summary = lazy("goldrush.replay.worlds.mining.summary:summarise")
    format_summary = lazy("goldrush.replay.worlds.mining.show:format_summary")
    consequences = lazy("goldrush.replay.worlds.mining.consequences:consequences")
    counts_of_agents = lazy("goldrush.replay.worlds.mining.consequences:counts_of_agents")
    format_consequences = lazy("goldrush.replay.worlds.mining.show:format_consequences")
    location = "plot"
    location_of = lazy("goldrush.replay.worlds.mining.audit:plot_of")
    draw_kinds = lazy("goldrush.replay.worlds.mining.audit:AUDITED")
    draws = lazy("goldrush.replay.worlds.mining.audit:audit_all")
    draws_at = lazy("goldrush.replay.worlds.mining.audit:audit")
    explanations = lazy("goldrush.replay.worlds.mining.why:explained_at")
    explained_units = lazy("goldrush.replay.worlds.mining.why:explained_rounds")
    measures = lazy("goldrush.replay.worlds.mining.measures:MEASURING")
    spells = lazy("goldrush.replay.worlds.mining.tables:SPELLS_OF_RUNS")
    tables = lazy("goldrush.replay.worlds.mining.tables:TABLES")
    studies = lazy("goldrush.replay.worlds.mining.study:STUDIES")
    chapter = lazy("goldrush.replay.worlds.mining.sections:CHAPTER")
    view = lazy("goldrush.replay.worlds.mining.view.view:VIEW")
    # A hue that suits its name: a raider is red.
    hue_order = (
        "greedy-mine", "tit-for-tat-raid", "defend-then-mine", "claim", "mine", "defend", "raid",
    )  # fmt: skip
    null = NULL
    if_failed = "empty plans were played instead"
    headline = lazy("goldrush.replay.worlds.mining.measures:headline")
    _sentences = lazy("goldrush.replay.worlds.mining.story:SENTENCES")
    _story = lazy("goldrush.replay.worlds.mining.story:story")
    _chronicle = lazy("goldrush.replay.worlds.mining.story:chronicle")

    def sentences(
        self, path: str | Path, types: Iterable[EventType]
    ) -> Callable[[], EventSentences]:
        return lambda: self._sentences

    def lines(self, events: Iterable[Event], sentences: EventSentences) -> Iterator[str]:
        return iter(self._story(events))

    def chronicle(
        self, events: Iterable[Event], sentences: EventSentences
    ) -> Iterator[tuple[int, int, str]]:
        return iter(self._chronicle(events))


TOOLS = MiningTools(GAME, MiningConfig)
