"""The tools of episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from goldrush.agents.given import maker_of
from goldrush.agents.worlds.episode.players import EpisodePlayers
from goldrush.kernel.errors import BadInput
from goldrush.kernel.world import Block, World
from goldrush.kernel.worlds.episode.config import about_of
from goldrush.kernel.worlds.episode.state import EpisodeState
from goldrush.kernel.worlds.episode.world import episode_world
from goldrush.replay.tools import PLACES, Tools, lazy
from goldrush.replay.worlds.episode.parameters import AskedSettings, settings_of_model
from goldrush.replay.worlds.episode.repetition import format_difference, format_versions
from goldrush.replay.worlds.episode.subjects import LiveSubjects, missing


class EpisodeTools(Tools):
    """What can be done with recorded environments and models."""

    studies = lazy("goldrush.replay.worlds.episode.studies:STUDIES")
    chapter = lazy("goldrush.replay.worlds.episode.studies:CHAPTER")
    measures = lazy("goldrush.replay.worlds.episode.measures:MEASURING")
    about = lazy("goldrush.replay.worlds.episode.summary:facts_of")
    _not_compared = lazy("goldrush.replay.worlds.episode.summary:not_compared")
    headline = lazy("goldrush.replay.worlds.episode.summary:headline")
    headline_leads = True
    tables = lazy("goldrush.replay.worlds.episode.tables:TABLES")
    view = lazy("goldrush.replay.worlds.episode.page:VIEW")
    names = lazy("goldrush.replay.worlds.episode.show:names_in")
    fields = lazy("goldrush.replay.worlds.episode.show:fields_of")
    sentences = lazy("goldrush.replay.worlds.episode.show:sentences_of")

    def __init__(self) -> None:
        """No environment is made."""
        self.subjects = LiveSubjects()
        self.players = EpisodePlayers(self.subjects)

    @property
    def config(self) -> type[AskedSettings]:  # type: ignore[override]  # of what is given
        return settings_of_model(maker_of(""))

    def world(self, setup: Mapping[str, object]) -> World[EpisodeState]:
        try:
            about = about_of(setup.get("subject"))
        except BadInput:  # it is refused when the run begins
            return episode_world(None, missing(""))
        if about.is_older:
            return episode_world(
                None, f"{about.name} was recorded in an older form; record it anew"
            )
        return episode_world(self.subjects.stage_of(about.name), missing(about.name))

    def not_compared(self, path: str) -> tuple[str, bool]:
        text, is_any = self._not_compared(path, self.subjects.not_found)
        return str(text), bool(is_any)

    def rests_on(self, setup: Mapping[str, object]) -> str:
        return format_versions(setup.get("subject"))

    def format_difference(
        self, setup: Mapping[str, object], here: Block, recorded: Block,
        places: tuple[str, str] = PLACES,
    ) -> str:  # fmt: skip
        text = format_difference(setup["subject"], here, recorded, places)
        other = self.subjects.other_than(about_of(setup.get("subject")).name)
        if not other or places != PLACES:
            return text
        of = f"recorded of {about_of(setup.get('subject')).name}; {other} is given here"
        return f"{of}; {text}" if text else of

    def labels(self, state: EpisodeState) -> Sequence[str]:
        return state.about.agents


TOOLS: Final = EpisodeTools()
