"""The tools of episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from goldrush.agents.given import given_maker, maker_of
from goldrush.agents.worlds.episode.players import EpisodePlayers
from goldrush.kernel.errors import BadInput
from goldrush.kernel.world import World
from goldrush.kernel.worlds.episode.config import about_of
from goldrush.kernel.worlds.episode.state import EpisodeState
from goldrush.kernel.worlds.episode.world import episode_world
from goldrush.replay.tools import Basis, Tools, format_option, lazy
from goldrush.replay.worlds.episode.parameters import AskedSettings, settings_of_model
from goldrush.replay.worlds.episode.subjects import LiveSubjects, missing


class EpisodeTools(Tools):
    """What can be done with recorded environments and models."""

    studies = lazy("goldrush.replay.worlds.episode.studies:STUDIES")
    measures = lazy("goldrush.replay.worlds.episode.measures:MEASURING")
    about = lazy("goldrush.replay.worlds.episode.summary:described")
    headline_leads = True
    headline = lazy("goldrush.replay.worlds.episode.summary:headline")
    tables = lazy("goldrush.replay.worlds.episode.tables:TABLES")
    view = lazy("goldrush.replay.worlds.episode.page:VIEW")
    fields = lazy("goldrush.replay.worlds.episode.show:fields_of")
    sentences = lazy("goldrush.replay.worlds.episode.show:sentences_of")

    def __init__(self) -> None:
        """No environment is made."""
        self.subjects = LiveSubjects()
        self.players = EpisodePlayers(self.subjects)

    @property
    def config(self) -> type[AskedSettings]:  # type: ignore[override]  # of what is given
        return settings_of_model(maker_of(""))

    def code_option(self, folder: str | Path = "") -> str:
        return format_option("--env", given_maker().location, folder)

    def world(self, setup: Mapping[str, object]) -> World[EpisodeState]:
        try:
            about = about_of(setup.get("subject"))
        except BadInput:  # it is refused when the run begins
            return episode_world(None, missing(""))
        stage = self.subjects.stage_of(about.name)
        return episode_world(None if stage is None else stage.outcome, missing(about.name))

    def basis(self, path: str) -> Basis:
        from goldrush.replay.worlds.episode.summary import basis_of

        return basis_of(path, self.subjects)

    def labels(self, state: EpisodeState) -> Sequence[str]:
        return state.about.agents


TOOLS: Final = EpisodeTools()
