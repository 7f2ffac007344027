"""What the page of an episode journal has besides that of any world: its episodes, what its check
rests on, and pictures where the environment is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from goldrush.kernel.journal import JournalReader
from goldrush.kernel.worlds.episode.config import About
from goldrush.replay.tools import View
from goldrush.replay.view.chart import short
from goldrush.replay.worlds.episode.episodes import Episode, finite
from goldrush.replay.worlds.episode.frames import pictures
from goldrush.replay.worlds.episode.measures import MeasuredEpisodes, read
from goldrush.replay.worlds.episode.summary import NotRecorded, few, not_recorded

EPISODES_MAX: Final = 500  # episodes that a page lists
RETURNS_MAX: Final = 4  # agents whose returns stand beside an episode


def added(path: str | Path, first: int, last: int) -> dict[str, object]:
    """What the page of the steps `first` to `last` shows. Raises JournalError."""
    with JournalReader(path) as reader:
        run = read(reader)
    shown = [each for each in run.episodes if first <= each.last and each.first <= last]
    return {
        "parts": _episodes(run, shown),
        "pictures": pictures(path, run.about, first, last),
        "remarks": remarks_of(run.about, not_recorded(path)),
    }


def _episodes(run: MeasuredEpisodes, shown: Sequence[Episode]) -> Mapping[str, object]:
    """The episodes as a table: of each the first step, the last one, and cells."""
    names = run.about.agents
    is_vector = any(episode.agent is not None for episode in shown)
    few_agents = range(len(names) if 1 < len(names) <= RETURNS_MAX and not is_vector else 0)
    head = ["episode", "from step", "steps", "return", *(names[agent] for agent in few_agents)]
    numbers = head[1:]
    rows = [
        [
            episode.first, episode.last, str(episode.number),
            *([episode.whose or "all"] if is_vector else []),
            episode.first, episode.length, short(episode.total),
            *(short(finite(episode.returns[agent])) for agent in few_agents),
            _end(episode), _seed(episode),
        ]
        for episode in shown[:EPISODES_MAX]
    ]  # fmt: skip
    head = [head[0], *(["of"] if is_vector else []), *head[1:], "end", "seed"]
    return {
        "title": "Episodes", "head": head, "numbers": numbers, "rows": rows, "of": len(shown),
    }  # fmt: skip


def _end(episode: Episode) -> str:
    if not episode.is_finished:
        return "broken off"
    ends = ["terminated"] * bool(episode.terminated) + ["truncated"] * bool(episode.truncated)
    return " and ".join(ends) or "over"


def _seed(episode: Episode) -> str:
    if episode.seed is None:
        return "none"
    return f"{episode.seed}{' (drawn)' if episode.is_drawn else ''}"


def remarks_of(about: About, missing: NotRecorded) -> Sequence[tuple[str, str]]:
    """What a reader must know who takes a run as repeated, by name."""
    versions = ", ".join(f"{name} {version}" for name, version in about.versions.items())
    types = [f"{name} (a {kind})" for name, kind in missing.types.items()]
    remarks = [
        (
            "repeats",
            f"What {about.name} gives follows from its own code, not from rules of goldrush: "
            "goldrush verify runs it again, and a verdict holds for the versions there.",
        ),
        ("recorded under", versions or "versions that are not recorded"),
        ("seeds drawn", _steps(missing.drawn, "reset without a seed, so the recorder drew one")),
        ("no seed", _steps(missing.unseeded, "reset without any seed")),
        (
            "values",
            "recorded with their digests"
            if about.values
            else "of numbers and short texts alone; all other arrays have a digest of 64 bits",
        ),
        ("left out", f"as the recorder was told: {few(about.ignored)}" if about.ignored else ""),
        ("not encoded", f"by the name of its type alone: {few(types)}" if types else ""),
    ]
    return [(name, text) for name, text in remarks if text]


def _steps(steps: Sequence[int], what: str) -> str:
    return f"step{'s' if len(steps) > 1 else ''} {few(steps)}: {what}" if steps else ""


# A chart for each measure is there already.
VIEW: Final = View(
    identifiers=("episode", "step of the episode"), verify_option=" --env module:make", added=added
)
