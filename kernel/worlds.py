"""The worlds that this version plays, by the name in a journal's header.

The only module of the generic kernel that knows any world.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kernel.competition import COMPETITION
from kernel.errors import UnsupportedJournal, shown
from kernel.journal import JournalReader
from kernel.mining import MINING
from kernel.world import World

WORLDS: Final[Mapping[str, World[Any]]] = {world.name: world for world in (MINING, COMPETITION)}


def world_of(reader: JournalReader) -> World[Any]:
    """The world that a journal was played in. Raises UnsupportedJournal for one not known here."""
    try:
        return WORLDS[reader.header.world]
    except KeyError:
        raise UnsupportedJournal(
            reader.path,
            f"world {shown(reader.header.world)}; this goldrush plays {', '.join(WORLDS)}",
        ) from None
