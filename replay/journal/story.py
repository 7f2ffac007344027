"""Events of a journal as text, and agents by the names that it gives them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from goldrush.kernel.errors import BadInput, format_value, unknown
from goldrush.kernel.world import RecordedEvent
from goldrush.replay.find import tools_at
from goldrush.replay.journal.forged import reporting_forged
from goldrush.replay.journal.rebuild import rebuild, world_at
from goldrush.replay.sentences import EventSentences

_NUMBER: Final = r"(?a)-?[0-9]{1,9}"


def narrated(path: str | Path, events: Iterable[RecordedEvent]) -> Iterator[str]:
    """Events of the journal at a path as text, in order, a line each. Raises MalformedEvents for
    forged events without a text, and JournalError.
    """
    with reporting_forged(path):
        yield from map(sentences_of(path).line, events)


def sentences_of(path: str | Path) -> EventSentences:
    """The sentences of the events of a journal. Raises JournalError."""
    return tools_at(path).sentences(path, world_at(path).events)


def agent_of(path: str | Path, text: str) -> int:
    """The agent of a journal by number or name. Raises BadInput for an unknown one."""
    names = names_of(path)
    if re.fullmatch(_NUMBER, text):
        tools = tools_at(path)
        start = rebuild(path, tools.vocabulary.number(0)).state
        known = names or range(len(tools.labels(start)))  # without names, no others can join
        if known and int(text) not in known:
            raise BadInput(f"there is no agent {text}", f"give one from 0 to {len(known) - 1}")
        return int(text)
    for agent, name in names.items():
        if name == text:
            return agent
    if names:
        raise unknown("agent", text, list(names.values()))
    raise BadInput(f"there is no agent {format_value(text)}", "give its number")


def names_of(path: str | Path) -> Mapping[int, str]:
    """The names of a journal's agents by number; empty if its world has none."""
    return sentences_of(path).names
