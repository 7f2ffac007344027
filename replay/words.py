"""Events in words, whatever world they are of.

Each world tells its events in a module of its own; events of a world without one are told as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

import attrs

from kernel.world import Event
from replay.by_world import world_in

# Modules with `story` and `chronicle`, by the name of the world.
TOLD_BY: Final[Mapping[str, str]] = {"mining": "replay.story"}


@attrs.frozen
class Words:
    """How the events of a world are told.

    `story(events)`: in order, line by line. `chronicle(events)`: over many units, as (first unit,
    last unit, line), the units by the numbers that people know them by.
    """

    story: Callable[[Iterable[Event]], Iterator[str]]
    chronicle: Callable[[Iterable[Event]], Iterator[tuple[int, int, str]]]


def words_for(path: str | Path) -> Words:
    """The words of a journal's world. Raises what reading its header raises."""
    return words_of(world_in(path).name)


def words_of(world: str) -> Words:
    """The words of a world, by its name."""
    if world not in TOLD_BY:
        return Words(_story, _chronicle)
    module = import_module(TOLD_BY[world])
    return Words(module.story, module.chronicle)


def _story(events: Iterable[Event]) -> Iterator[str]:
    for event in events:
        yield json.dumps(event.as_dict())


def _chronicle(events: Iterable[Event]) -> Iterator[tuple[int, int, str]]:
    for event in events:
        [line] = _story([event])
        yield event.unit, event.unit, line
