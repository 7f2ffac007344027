"""The tools of episodes."""

from __future__ import annotations

from collections.abc import Mapping
from os.path import relpath
from pathlib import Path
from typing import Final

from goldrush.agents.given import location_of_maker, maker_of
from goldrush.agents.worlds.episode.players import EpisodePlayers
from goldrush.kernel.errors import BadInput
from goldrush.kernel.text import quoted
from goldrush.kernel.world import Block, World
from goldrush.kernel.worlds.episode.config import about_of
from goldrush.kernel.worlds.episode.state import EpisodeState
from goldrush.kernel.worlds.episode.world import episode_world
from goldrush.replay.tools import Tools, lazy
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
    summary = lazy("goldrush.replay.worlds.episode.summary:summarise")
    format_summary = lazy("goldrush.replay.worlds.episode.summary:format_summary")
    headline = lazy("goldrush.replay.worlds.episode.summary:headline")
    headline_leads = True
    verify_option = " --env module:make"
    tables = lazy("goldrush.replay.worlds.episode.tables:TABLES")
    consequences = lazy("goldrush.replay.worlds.episode.consequences:consequences")
    format_consequences = lazy("goldrush.replay.worlds.episode.consequences:format_consequences")
    view = lazy("goldrush.replay.worlds.episode.page:VIEW")
    names = lazy("goldrush.replay.worlds.episode.show:names_in")
    sentences = lazy("goldrush.replay.worlds.episode.show:sentences_of")
    unit_as_dict = lazy("goldrush.replay.worlds.episode.show:unit_as_dict")
    format_unit = lazy("goldrush.replay.worlds.episode.show:format_unit")
    format_line = lazy("goldrush.replay.worlds.episode.show:format_line")

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

    def format_difference(self, setup: Mapping[str, object], here: Block, recorded: Block) -> str:
        name = about_of(setup.get("subject")).name
        other = self.subjects.other_than(name)
        of = f"recorded of {name}; {other} is given here" if other else ""
        return "; ".join(filter(None, (of, format_difference(setup["subject"], here, recorded))))

    def length(self, state: EpisodeState) -> int | None:
        return state.config.steps or None

    def agents(self, state: EpisodeState) -> int:
        return len(state.roster)

    def world_option(self, folder: str | Path = "") -> str:
        location = location_of_maker()
        file, colon, name = location.partition(":")
        if folder and file.endswith(".py"):
            location = f"{relpath(file, folder)}{colon}{name}"
        return f" --env {quoted(location)}" if location else ""


TOOLS: Final = EpisodeTools()
