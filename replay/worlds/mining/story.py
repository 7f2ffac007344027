"""The events of the mining world as text: what the templates of its types leave open, and mining
of many plots or rounds as one line.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from goldrush.agents.worlds.mining.roster import PROMPTS
from goldrush.kernel.text import format_count
from goldrush.kernel.world import Event
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.sentences import EventSentences, Sentence

BRIEF: Final = ("pruned", "claim_drawn", "raid_resolved", "ruled", "forked")


def story(events: Iterable[Event]) -> Iterator[str]:
    """The events as lines of text, in order; successive mining of one agent becomes one line."""
    for name, group in groupby(events, key=lambda event: event.name):
        if name == "mining_settled":
            yield from _mining(list(group))
        else:
            for event in group:
                yield tell(event)


def chronicle(events: Iterable[Event]) -> Iterator[tuple[int, int, str]]:
    """The events of many rounds as text: (first round, last round, line).

    Successive rounds with no event but one agent's mining of the same plot become one line.
    """
    mining: list[Event] = []
    for round, group in groupby(events, key=lambda event: event.unit):
        of_round = list(group)
        event = of_round[0]
        is_mining = len(of_round) == 1 and event.name == "mining_settled"
        if mining and not (is_mining and _goes_on(mining[-1], event)):
            yield mining[0].unit, mining[-1].unit, _mined(mining)
            mining = []
        if is_mining:
            mining.append(event)
        else:
            yield from ((round, round, line) for line in story(of_round))
    if mining:
        yield mining[0].unit, mining[-1].unit, _mined(mining)


def _goes_on(before: Event, event: Event) -> bool:
    """Whether the same agent mines the same plot in the next round."""
    same = all(before[field] == event[field] for field in ("agent", "plot"))
    return same and event.unit == before.unit + 1


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


def _mining(events: list[Event]) -> Iterator[str]:
    by_agent: dict[int, list[Event]] = {}
    for event in events:
        by_agent.setdefault(event["agent"], []).append(event)
    for agent in sorted(by_agent):
        yield _mined(by_agent[agent])


def _mined(events: list[Event]) -> str:
    """The text of mining events of one agent."""
    plots = ", ".join(dict.fromkeys(str(event["plot"]) for event in events))
    stamina = sum(event["stamina"] for event in events)
    gold = math.fsum(event["gold"] for event in events)
    return f"agent {events[0]['agent']} mines {plots} with {stamina} stamina: {gold:,.10g} gold"


SENTENCES: Final = EventSentences(
    MINING.events,
    MINING.vocabulary,
    {"run_started": _started},
    {"actions": _actions, "removed": _removed},
    prompts=PROMPTS,
)
