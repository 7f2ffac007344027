"""Seasons to be forged: every row and setup of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from goldrush.kernel.journal import FORK, START, Commit, JournalReader
from goldrush.kernel.world import World
from goldrush.kernel.worlds.competition.events import EVENTS
from goldrush.replay.find import open_world
from tests.faults import forge
from tests.seasons import kept


@attrs.frozen(eq=False)
class Season:
    """A season, to be forged; `world`: that it is of."""

    data: bytes
    commits: list[Commit]
    world: World[Any]


def season(name: str) -> Season:
    """A season of tests.seasons."""
    path = kept(name)
    with JournalReader(path) as reader:
        return Season(path.read_bytes(), list(reader), open_world(reader))


def forgeries() -> Iterator[tuple[Season, forge.Maker]]:
    """Every row and setup of a season, forged."""
    rich, forked, asked = season("rich"), season("forked"), season("asked")
    for code, event in enumerate(EVENTS):
        sound = next((s for s in (rich, asked, forked) if _has(s, code)), None)
        if sound is None:
            raise LookupError(f"no season has {event.name}")
        for maker in forge.event_makers(sound, code, forge.FEW | forge.PLAUSIBLE):
            yield sound, maker
    for sound, kind in ((rich, START), (asked, START), (forked, FORK)):
        for maker in forge.setup_makers(sound, kind, every=False):
            yield sound, maker


def _has(sound: Season, code: int) -> bool:
    return any(block.rows(code) for commit in sound.commits for block in commit.blocks)
