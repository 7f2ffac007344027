"""The events of the mining world as text: what the templates of its types leave open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from goldrush.agents.worlds.mining.roster import PROMPT
from goldrush.kernel.world import EventType
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.sentences import EventSentences


def action_text(action: Sequence[object] | None) -> str:
    """An action `[kind, plot, stamina points]` as text; None is an item that is no action."""
    if action is None:
        return "(no action)"
    kind, plot, points = action
    return f"{kind} {plot}" if points == 1 and kind != "mine" else f"{kind} {plot} with {points}"


def _actions(actions: Sequence[Any]) -> str:
    return ", ".join(map(action_text, actions)) or "nothing"


def _removed(removed: Sequence[tuple[int, str]]) -> str:
    return ", ".join(f"item {index} ({reason})" for index, reason in removed)


SENTENCES: Final = EventSentences(
    MINING.events,
    MINING.vocabulary,
    {"actions": _actions, "removed": _removed},
    prompt=PROMPT,
)


def sentences_of(path: str | Path, types: Iterable[EventType]) -> EventSentences:
    """See Tools.sentences: those of any mining run."""
    return SENTENCES
