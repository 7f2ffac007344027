"""The events of the mining world as text: what the templates of its types leave open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from goldrush.agents.worlds.mining.roster import PROMPTS
from goldrush.kernel.text import format_count
from goldrush.kernel.world import Event
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.sentences import EventSentences, Sentence


def tell(event: Event) -> str:
    """One event as text; an event without a sentence as JSON."""
    return SENTENCES.line(event)


def action_text(action: Sequence[object] | None) -> str:
    """An action `[kind, plot, stamina points]` as text; None is an item that is no action."""
    if action is None:
        return "(no action)"
    kind, plot, points = action
    return f"{kind} {plot}" if points == 1 and kind != "mine" else f"{kind} {plot} with {points}"


def _started(event: Event) -> Sentence:
    config = event["config"]
    return Sentence(
        "a run of the {world} world starts (rules {rules}): {} on {} x {} plots, {}, seed {}",
        (
            format_count(config["agents"], "agent"),
            config["rows"],
            config["cols"],
            format_count(config["rounds"], "round"),
            config["seed"],
        ),
    )


def _actions(actions: Sequence[Any]) -> str:
    return ", ".join(map(action_text, actions)) or "nothing"


def _removed(removed: Sequence[tuple[int, str]]) -> str:
    return ", ".join(f"item {index} ({reason})" for index, reason in removed)


_MINED: Final = Sentence("{agent} mines {plot} with {stamina} stamina: {gold:amount} gold")
SENTENCES: Final = EventSentences(
    MINING.events,
    MINING.vocabulary,
    {"run_started": _started, "mining_settled": lambda event: _MINED},
    {"actions": _actions, "removed": _removed},
    prompts=PROMPTS,
)
