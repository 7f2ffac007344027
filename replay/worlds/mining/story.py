"""The events of the mining world as sentences, one line each.

Text from agents is quoted and escaped: it is data, and a model may have written it.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from goldrush.agents.seats import policy_label
from goldrush.kernel.text import format_count
from goldrush.kernel.world import Event

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
    """One event as text; an event without a sentence here as JSON."""
    words = _WORDS.get(event.name)
    return words(event) if words else json.dumps(event.as_dict())


def agents_text(ids: Iterable[int]) -> str:
    """Agents by number: `agent 3`, `agents 3, 5`."""
    listed = list(ids)
    return f"agent{'s' if len(listed) > 1 else ''} {', '.join(map(str, listed))}"


def _gold(amount: float) -> str:
    return f"{amount:,.10g} gold"


def _started(event: Event) -> str:
    config = event["config"]
    return (
        f"a run of the {event['world']} world starts (rules {event['rules']}): "
        f"{format_count(config['agents'], 'agent')} on {config['rows']} x {config['cols']} plots, "
        f"{format_count(config['rounds'], 'round')}, seed {config['seed']}"
    )


def action_text(action: Sequence[object] | None) -> str:
    """An action `[kind, plot, stamina points]` as text; None is an item that is no action."""
    if action is None:
        return "(no action)"
    kind, plot, points = action
    return f"{kind} {plot}" if points == 1 and kind != "mine" else f"{kind} {plot} with {points}"


def _submitted(event: Event) -> str:
    actions = ", ".join(map(action_text, event["actions"])) or "nothing"
    parts = [f"agent {event['agent']} submits {actions}"]
    if event["error"]:
        parts.append(f"error {event['error']}")
    if event["say"]:
        parts.append(f"says {json.dumps(event['say'])}")
    if event["memo"]:
        parts.append(f"notes {json.dumps(event['memo'])}")
    return "; ".join(parts)


def _pruned(event: Event) -> str:
    removed = ", ".join(f"item {place} ({reason})" for place, reason in event["removed"])
    return f"agent {event['agent']}: removed {removed}; {event['cost']} stamina spent"


def _claim(event: Event) -> str:
    claimants, plot = event["claimants"], event["plot"]
    if len(claimants) == 1:
        return f"plot {plot}: claimed by {agents_text(claimants)}"
    who = agents_text(claimants)
    return f"plot {plot}: claimed by {who}; the draw gives it to {event['winner']}"


def _raid(event: Event) -> str:
    owner = "nobody" if event["owner"] is None else f"agent {event['owner']}"
    ends = {
        "void": "there is nothing to take",
        "truce": "it is in truce",
        "blocked": f"its defence ({event['defense']}) holds",
        "captured": f"agent {event['winner']} captures it",
    }[event["outcome"]]
    return f"plot {event['plot']} of {owner}: raided by {agents_text(event['raiders'])}; {ends}"


def _ruled(event: Event) -> str:
    says = {
        None: "is not detected",
        "restored": f"is undone, agent {event['victim']} has it back",
        "fined": f"costs it a fine of {_gold(event['fine'])}",
    }[event["remedy"]]
    return f"plot {event['plot']}: the capture by agent {event['captor']} {says}"


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
    gold = _gold(math.fsum(event["gold"] for event in events))
    return f"agent {events[0]['agent']} mines {plots} with {stamina} stamina: {gold}"


def _forked(event: Event) -> str:
    parts = [f"{name} becomes {json.dumps(value)}" for name, value in event["changes"].items()]
    if event["roster"] is not None:
        policies = Counter(policy_label(entry) for entry in event["roster"])
        parts.append(
            "played by " + ", ".join(f"{count} {name}" for name, count in policies.items())
        )
    parts += [
        f"agent {agent}'s plan of round {round} is put in by hand"
        for round, agent in event["replaced"]
    ]
    return f"the run is forked off {event['parent'][:16]}: " + ("; ".join(parts) or "no change")


_WORDS: Final[dict[str, Callable[[Event], str]]] = {
    "run_started": _started,
    "submitted": _submitted,
    "pruned": _pruned,
    "claim_drawn": _claim,
    "raid_resolved": _raid,
    "ruled": _ruled,
    "forked": _forked,
    "round_closed": lambda event: f"round {event['round']} closes with digest {event['digest']}",
    "run_ended": lambda event: f"the run ends with round {event['round']}",
}
