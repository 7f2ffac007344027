"""The tools of the competition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goldrush.agents.worlds.competition.players import SEASON_PLAYERS
from goldrush.agents.worlds.competition.treatments import TREATMENTS
from goldrush.kernel.worlds.competition.config import SeasonConfig
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.replay.tools import Description, Tools, lazy
from goldrush.replay.worlds.competition.steps import world_of


class SeasonTools(Tools):
    """What the competition does better than any world."""

    world = staticmethod(world_of)
    config = SeasonConfig
    players = SEASON_PLAYERS
    treatments = TREATMENTS
    sentences = lazy("goldrush.replay.worlds.competition.story:sentences_of")
    headline_leads = True
    headline = lazy("goldrush.replay.worlds.competition.measures:headline")
    draws = lazy("goldrush.replay.worlds.competition.audit:DRAWS")
    explain = lazy("goldrush.replay.worlds.competition.right:explained")
    prompts = lazy("goldrush.replay.worlds.competition.prompt:prompted")
    measures = lazy("goldrush.replay.worlds.competition.measures:MEASURING")
    tables = lazy("goldrush.replay.worlds.competition.tables:TABLES")
    studies = lazy("goldrush.replay.worlds.competition.study:STUDIES")
    chapter = lazy("goldrush.replay.worlds.competition.sections:CHAPTER")
    view = lazy("goldrush.replay.worlds.competition.view.view:VIEW")
    fields = lazy("goldrush.replay.worlds.competition.view.view:fields_of")

    def about(self, setup: Mapping[str, object]) -> Description:
        return Description(
            "In a season workers argue, assignment by assignment, which conduct is best. Every "
            "claim is tested. Points are for claims that hold, that are new, that move the table, "
            "and for rightly challenging others. A point earns a spark, a seat at the table costs "
            "some, and a worker without sparks, or last too often, loses its seat."
        )

    def labels(self, state: SeasonState) -> Sequence[str]:
        return [agent.name for agent in state.agents.values()]


TOOLS = SeasonTools()
