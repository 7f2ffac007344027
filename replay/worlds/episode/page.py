"""What the page of an episode journal has besides that of any world: a table of its episodes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from goldrush.kernel.journal import JournalReader
from goldrush.kernel.worlds.episode.world import episode_world
from goldrush.replay.tools import View
from goldrush.replay.view.chart import short
from goldrush.replay.worlds.episode.episodes import Episode, episodes_of

EPISODES_MAX: Final = 500  # episodes that a page lists


def added(path: str | Path, first: int, last: int) -> dict[str, object]:
    """The episodes of the steps `first` to `last`: of each the first step, the last one, and cells;
    in a vector environment, which environment it is of. Raises JournalError.
    """
    with JournalReader(path) as reader:
        episodes = episodes_of(episode_world(), reader)
    shown = [each for each in episodes if first <= each.last and each.first <= last]
    numbers = ["from step", "steps", "return"]
    of = ["of"] if any(episode.whose for episode in shown) else []
    rows = [
        [
            episode.first, episode.last, str(episode.number), *(episode.whose or "all" for _ in of),
            episode.first, episode.length, short(episode.total), _end(episode), _seed(episode),
        ]
        for episode in shown[:EPISODES_MAX]
    ]  # fmt: skip
    parts = {
        "title": "Episodes", "head": ["episode", *of, *numbers, "end", "seed"],
        "numbers": numbers, "rows": rows, "of": len(shown),
    }  # fmt: skip
    return {"parts": parts}


def _end(episode: Episode) -> str:
    if not episode.is_finished:
        return "broken off"
    ends = ["terminated"] * bool(episode.terminated) + ["truncated"] * bool(episode.truncated)
    return " and ".join(ends) or "over"


def _seed(episode: Episode) -> str:
    drawn = " (drawn)" if episode.is_drawn else ""
    return "none" if episode.seed is None else f"{episode.seed}{drawn}"


# A chart for each measure is there already, and the state says who acts next.
VIEW: Final = View(
    identifiers=("episode", "step of the episode"), ranks="returns", left_out=("turn",),
    verify_option=" --env module:make", added=added,
)  # fmt: skip
