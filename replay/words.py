"""Events in words, whatever world they are of.

Each world tells its events in a module of its own; events of a world without one are told as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Final, TypeVar

import attrs

from kernel.world import Event
from replay.by_world import world_in
from replay.forged import telling_forged

T = TypeVar("T")

# Modules with `story` and `chronicle`, by the name of the world; where agents have names, with
# `names_in(path)` too.
TOLD_BY: Final[Mapping[str, str]] = {
    "mining": "replay.story",
    "competition": "replay.season.story",
}


@attrs.frozen
class Words:
    """How the events of a world are told.

    `story(events)`: in order, line by line. `chronicle(events)`: over many units, as (first unit,
    last unit, line), the units by the numbers that people know them by.
    """

    story: Callable[[Iterable[Event]], Iterator[str]]
    chronicle: Callable[[Iterable[Event]], Iterator[tuple[int, int, str]]]


def words_for(path: str | Path) -> Words:
    """The words of a journal's world, with the names of its agents where they have some.

    Raises what reading its header raises.
    """
    world = world_in(path).name
    words = words_of(world)
    module = import_module(TOLD_BY[world]) if world in TOLD_BY else None
    if module is not None and hasattr(module, "names_in"):
        names = module.names_in(path)
        words = Words(partial(module.story, names=names), partial(module.chronicle, names=names))
    return Words(_telling_forged(path, words.story), _telling_forged(path, words.chronicle))


def _telling_forged(
    path: str | Path, tell: Callable[[Iterable[Event]], Iterator[T]]
) -> Callable[[Iterable[Event]], Iterator[T]]:
    def told(events: Iterable[Event]) -> Iterator[T]:
        with telling_forged(path):
            yield from tell(events)

    return told


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
