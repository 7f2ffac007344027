"""Events as text, for any world: by the templates of their types where it has no story."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, TypeVar

import attrs

from goldrush.kernel.errors import BadInput, format_value, unknown
from goldrush.kernel.world import Event
from goldrush.replay.find import tools_at
from goldrush.replay.journal.forged import reporting_forged
from goldrush.replay.journal.rebuild import world_at
from goldrush.replay.sentences import EventSentences
from goldrush.replay.tools import Names, Story

T = TypeVar("T")

_NUMBER: Final = re.compile(r"-?[0-9]{1,9}", re.ASCII)


@attrs.frozen
class Narrator:
    """The story of one journal: `lines(events)` and `chronicle(events)` as in Story, with the names
    of its agents. Both raise MalformedEvents for forged events without a text.
    """

    lines: Callable[[Iterable[Event]], Iterator[str]]
    chronicle: Callable[[Iterable[Event]], Iterator[tuple[int, int, str]]]


def narrator(path: str | Path) -> Narrator:
    """The narrator of the journal at a path. Raises JournalError."""
    names = names_of(path)
    story = story_of(path)
    return Narrator(_bound(path, story.lines, names), _bound(path, story.chronicle, names))


def story_of(path: str | Path) -> Story:
    """The story of the journal at a path. Raises JournalError."""
    story = tools_at(path).story
    if story is None:
        world = world_at(path)
        return Story(lambda names: EventSentences(world.events, world.vocabulary))
    return story if story.of is None else story.of(path)


def in_brief(path: str | Path, events: Iterable[Event]) -> list[Event]:
    """The events of a brief story of the journal at a path. Raises BadInput if its world has no
    brief story.
    """
    story = tools_at(path).story
    if story is None or not story.brief:
        raise BadInput(f"the world of {path} has no brief story", "leave --brief out")
    return [event for event in events if event.name in story.brief]


def agent_of(path: str | Path, text: str) -> int:
    """The agent of a journal by name or number. Raises BadInput for an unknown one."""
    names = names_of(path)
    if _NUMBER.fullmatch(text):
        if names and int(text) not in names:
            raise BadInput(f"there is no agent {text}", f"give one from 0 to {len(names) - 1}")
        return int(text)  # without names, its reader checks it
    for agent, name in names.items():
        if name == text:
            return agent
    if names:
        raise unknown("agent", text, list(names.values()))
    raise BadInput(f"there is no agent {format_value(text)}", "give its number")


def names_of(path: str | Path) -> Names:
    """The names of a journal's agents by number; empty if its world has none."""
    story = tools_at(path).story
    return story.names(path) if story else {}


def _bound(
    path: str | Path, tell: Callable[[Iterable[Event], Names], Iterator[T]], names: Names
) -> Callable[[Iterable[Event]], Iterator[T]]:
    def lines(events: Iterable[Event]) -> Iterator[T]:
        with reporting_forged(path):
            yield from tell(events, names)

    return lines
