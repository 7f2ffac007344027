"""Events of a journal as text, and agents by the names that it gives them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from goldrush.agents.llm.wordings import names_of_agents
from goldrush.kernel.errors import BadInput, format_value, unknown
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import Event
from goldrush.replay.find import open_world, tools_at
from goldrush.replay.journal.declared import declared_in
from goldrush.replay.journal.forged import reporting_forged
from goldrush.replay.journal.rebuild import world_at
from goldrush.replay.sentences import EventSentences
from goldrush.replay.tools import Names

_NUMBER: Final = re.compile(r"-?[0-9]{1,9}", re.ASCII)


Narrator = Callable[[Iterable[Event]], Iterator[str]]


def narrator(path: str | Path) -> Narrator:
    """The function that tells events of the journal at a path, in order, a line each; it raises
    MalformedEvents for forged events without a text. Raises JournalError.
    """
    sentences = sentences_of(path)

    def lines(events: Iterable[Event]) -> Iterator[str]:
        with reporting_forged(path):
            yield from map(sentences().line, events)

    return lines


def sentences_of(path: str | Path) -> Callable[[], EventSentences]:
    """The function that makes the sentences of one pass over a journal. Raises JournalError."""
    return tools_at(path).sentences(path, world_at(path).events)


def in_brief(path: str | Path, events: Iterable[Event]) -> list[Event]:
    """The events of a brief story of the journal at a path. Raises BadInput if its world has no
    brief story.
    """
    brief = tools_at(path).brief
    if not brief:
        raise BadInput(f"the world of {path} has no brief story", "leave --brief out")
    return [event for event in events if event.name in brief]


def agent_of(path: str | Path, text: str, unit: int | None = None) -> int:
    """The agent of a journal by number or name; where its world gives agents no names, by one that
    a wording gives in a unit. `unit`: its public number; None: in any.

    Raises BadInput for an unknown one, and for a name of several.
    """
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
    agents = _worded(path, unit).get(text, set())
    if len(agents) > 1:
        listed = " and ".join(map(str, sorted(agents)))
        raise BadInput(f"wordings call the agents {listed} {text}", "give the number")
    for agent in agents:
        return agent
    raise BadInput(f"there is no agent {format_value(text)}", "give its number")


def _worded(path: str | Path, unit: int | None) -> dict[str, set[int]]:
    """The agents of a journal by the names that wordings give them in a unit, or in any."""
    with JournalReader(path) as reader:
        rosters = declared_in(open_world(reader), reader).rosters
    if unit is not None:
        rosters = [one for one in rosters if one[0] <= unit][-1:]
    named: dict[str, set[int]] = {}
    for _, players in rosters:
        for player in players:
            options = player.get("options") if isinstance(player, Mapping) else None
            text = options.get("wording_text") if isinstance(options, Mapping) else None
            if not isinstance(text, str):
                continue
            with suppress(BadInput):  # of a forged journal
                for agent, name in enumerate(names_of_agents(text, len(players))):
                    named.setdefault(name, set()).add(agent)
    return named


def names_of(path: str | Path) -> Names:
    """The names of a journal's agents by number; empty if its world has none."""
    return tools_at(path).names(path)
