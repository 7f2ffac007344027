"""The prompts of language models that play mining.

A prompt has two messages: the rules, the same for all agents and rounds, and the round, which
begins with the parts that all agents share, because servers charge less for a known prefix. Text of
other agents is quoted, cut and escaped, so it can neither end its quotation nor look like a message
of the simulation. Every part has a limit in bytes of UTF-8, and a token is at least a byte, so
prompts are bounded on any map, with any history.

The wording is part of an experiment: change VERSION with it. That of the rules is in wording.toml.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from itertools import accumulate, groupby
from typing import Any, Final

from goldrush.agents.llm.messages import Messages, shipped
from goldrush.agents.llm.question import Message
from goldrush.agents.llm.wording import quoted, within
from goldrush.kernel.worlds.mining.config import ADJUDICATE, POINTWISE
from goldrush.kernel.worlds.mining.events import KINDS, REASONS, SAY_MAX
from goldrush.kernel.worlds.mining.history import (
    PastAction,
    PublicClaim,
    PublicRaid,
    PublicRound,
    RoundSummary,
)
from goldrush.kernel.worlds.mining.observe import Authority, Observation, SharedView

VERSION: Final = 1

# Limits of the parts, in bytes, approximately; a part says how many items are left out. With
# scripted agents the last round fits in every treatment.
ALPHAS_MAX: Final = 1_200
OWN_MAX: Final = 400
MAP_MAX: Final = 3_000
LAST_MAX: Final = 2_400
EARLIER_MAX: Final = 2_000
PAST_MAX: Final = 1_600
TOGETHER_MAX: Final = 500  # of the summaries of rounds, and of own actions, that do not fit
MESSAGES_MAX: Final = 6_100  # twenty of full length in ASCII
SHARE_MIN: Final = 80  # of one message, with its frame
NOTE_MAX: Final = 800
PROMPT_MAX: Final = 24_500  # of both messages: these parts, and the text between them


# The messages of the rules, and the fields that each may have.
_FIELDS: Final = {
    **dict.fromkeys(("you_alone", "you_among"), "agents last_agent"),
    "aim": "you rounds",
    "map": "rows cols last_plot alphas",
    "actions": "points defend raid_claimed",
    **dict.fromkeys(("mine_points_one", "mine_points_many"), "cap"),
    **dict.fromkeys(("truce_none", "truce_one", "truce_many"), "after"),
    "authority": "notices remedy",
    **dict.fromkeys(("notices_all", "notices_some"), "percent"),
    **dict.fromkeys(("remedy_adjudicate", "remedy_punish"), "fine"),
    "order": "rulings",
    "answer": "kinds say_form say",
    "say": "most",
    **dict.fromkeys(("stamina", "defend_pointwise", "defend_whole", "raid_claimed"), ""),
    **dict.fromkeys(("rulings", "limits", "messages", "say_form"), ""),
}


@cache
def wording() -> Messages:
    """The prose of the rules, read when the first prompt is made."""
    return shipped("goldrush.agents.worlds.mining", _FIELDS)


class PlanPrompts:
    """The prompts of one round; the shared parts are made once."""

    def __init__(self, shown: SharedView) -> None:
        self.shown = shown

    def of(self, agent: int) -> tuple[Message, Message]:
        """The two messages of an agent's prompt, with `role` and `content`."""
        seen = Observation(self.shown, agent)
        return (
            {"role": "system", "content": self._rules},
            {"role": "user", "content": "\n".join(self._round(seen))},
        )

    @cached_property
    def _rules(self) -> str:
        return rules(Observation(self.shown, 0))

    @cached_property
    def _events(self) -> tuple[str, ...]:
        """The map and the past events on it, the same for all agents."""
        seen = Observation(self.shown, 0)
        parts = [_map(seen)]
        if seen.last is not None:
            parts += ["", f"LAST ROUND ({seen.last.round})", *_last_round(seen.last)]
        if seen.earlier:
            parts += ["", "EARLIER ROUNDS, the latest first", *_earlier(seen.earlier)]
        return tuple(parts)

    def _round(self, seen: Observation) -> Iterable[str]:
        yield from self._events
        yield ""
        yield (
            f"You are agent {seen.agent}. This is round {seen.round} of {seen.rounds}. You have "
            f"{_number(seen.gold)} gold, and {seen.stamina} stamina for this round."
        )
        own = within(_spans(seen.own), OWN_MAX)
        yield f"Your plots: {own}." if own else "You own no plot."
        if seen.memo is not None:
            yield f"Your note to yourself: {quoted(seen.memo, NOTE_MAX)}"
        if seen.past:
            yield ""
            yield "YOUR OWN ACTIONS and what came of them, the latest round first"
            yield from _past(seen.past)
        if seen.messages:
            yield ""
            yield f"MESSAGES of round {seen.round - 1}, quoted"
            yield _messages(seen)
        yield ""
        yield f"Your plan for round {seen.round}, as one JSON object:"


def schema(seen: Observation) -> dict[str, Any]:
    """The JSON schema of an answer: a plan as a list, most important action first."""
    item = {
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": list(KINDS)},
            "plot": {"type": "integer", "minimum": 0, "maximum": seen.rows * seen.cols - 1},
            "stamina": {"type": "integer", "minimum": 1, "maximum": max(1, seen.stamina)},
        },
        "required": ["type", "plot", "stamina"],
        "additionalProperties": False,
    }
    actions = {"type": "array", "items": item, "maxItems": max(1, seen.stamina)}
    properties: dict[str, Any] = {"actions": actions}
    if seen.communication:
        properties["say"] = {"type": "string"}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def rules(seen: Observation) -> str:
    """The first message: the rules of the configuration and the form of an answer."""
    say = wording()
    you = "you_alone" if seen.agents == 1 else "you_among"
    fields = {"agents": seen.agents, "last_agent": seen.agents - 1}
    map_fields = {"rows": seen.rows, "cols": seen.cols, "last_plot": seen.rows * seen.cols - 1}
    parts = [
        say("aim", you=say(you, **fields), rounds=seen.rounds),
        say("map", **map_fields, alphas=_alphas(seen)),
        say("stamina"),
        say(
            "actions",
            points=say("mine_points" + _plural(seen.mining_cap), cap=seen.mining_cap),
            defend=say("defend_pointwise" if seen.defense == POINTWISE else "defend_whole"),
            raid_claimed="" if seen.truce else say("raid_claimed"),
        ),
        say("truce" + _plural(seen.truce) if seen.truce else "truce_none", after=seen.truce - 1),
        _authority(seen.authority),
        say("order", rulings="" if seen.authority is None else say("rulings")),
        say("limits"),
        say("messages") if seen.communication else "",
        say(
            "answer",
            kinds=" or ".join(f'"{kind}"' for kind in KINDS),
            say_form=say("say_form") if seen.communication else "",
            say=say("say", most=SAY_MAX) if seen.communication else "",
        ),
    ]
    return "\n\n".join(filter(None, parts))


def _authority(authority: Authority | None) -> str:
    if authority is None:
        return ""
    say = wording()
    notices = "notices_some" if authority.detection < 1 else "notices_all"
    remedy = "remedy_adjudicate" if authority.rule == ADJUDICATE else "remedy_punish"
    return say(
        "authority",
        notices=say(notices, percent=_number(authority.detection * 100)),
        remedy=say(remedy, fine=_number(authority.fine)),
    )


def _plural(number: int) -> str:
    return "_one" if number == 1 else "_many"


def _alphas(seen: Observation) -> str:
    plots: dict[float, list[int]] = {}
    for plot, alpha in enumerate(seen.alphas):
        plots.setdefault(alpha, []).append(plot)
    if len(plots) == 1:
        return f"Every plot pays {_number(seen.alphas[0])} gold for each stamina mined on it."
    title = "Gold for each stamina mined on a plot"
    richest = sorted(plots, reverse=True)
    lines = [f"{_number(alpha)} on plots {', '.join(_spans(plots[alpha]))}" for alpha in richest]
    if len("; ".join(lines)) <= ALPHAS_MAX:
        return f"{title}: {'; '.join(lines)}."
    # Where nearly every plot has another value, a grid is shorter.
    grid = _grid(list(map(_number, seen.alphas)), seen.cols, ALPHAS_MAX)
    if grid is not None:
        return f"{title}:\n{grid}"
    share = ALPHAS_MAX // min(len(richest), 8)
    cut = (f"{_number(alpha)} on plots {within(_spans(plots[alpha]), share)}" for alpha in richest)
    return f"{title}, the richest first: {within(cut, ALPHAS_MAX, '; ')}."


def _map(seen: Observation) -> str:
    """The owners as a grid, or as lists on a map that is too large."""
    owners = ["." if owner is None else str(owner) for owner in seen.owners]
    title = f"MAP at the start of round {seen.round}"
    grid = _grid(owners, seen.cols, MAP_MAX)
    if grid is not None:
        return f'{title}: who owns each plot, "." is nobody\n{grid}'
    nobodys = within(_spans(seen.unowned), MAP_MAX // 2) or "none"
    owned = (f"{plot} of {owner}" for plot, owner in enumerate(owners) if owner != ".")
    return (
        f"{title}\nplots of nobody: {nobodys}\n"
        f"plots of agents: {within(owned, MAP_MAX // 2) or 'none'}"
    )


def _grid(cells: Sequence[str], cols: int, most: int) -> str | None:
    """A line for each row of the map; None: it would take more than `most` bytes."""
    if sum(map(len, cells)) + len(cells) + 10 * (len(cells) // cols) > most:
        return None
    return "\n".join(
        f"row {at // cols}: {' '.join(cells[at : at + cols])}" for at in range(0, len(cells), cols)
    )


def _last_round(last: PublicRound) -> Iterable[str]:
    facts = {"claimed": list(map(_claim, last.claims)), "defended": list(_spans(last.defended))}
    for raid in last.raids:
        facts.setdefault(_RAIDED[raid.outcome], []).append(_raid(raid))
    size = sum(len("; ".join(items)) for items in facts.values())
    share = LAST_MAX if size <= LAST_MAX else LAST_MAX // len(facts)
    for name, items in facts.items():
        if items:
            yield f"{name}: {within(items, share, ', ' if name == 'defended' else '; ')}"
    if not any(facts.values()):
        yield "nothing"


_RAIDED: Final = {
    "captured": "raided and captured (plot of owner by raiders)",
    "blocked": "raided, but defended (plot of owner by raiders)",
    "truce": "raided, but in truce (plot of owner by raiders)",
    "void": "raided, but claimed by nobody else (plot of owner by raiders)",
}


def _claim(claim: PublicClaim) -> str:
    won = f", won by {claim.winner}" if len(claim.claimants) > 1 else ""
    return f"{claim.plot} by {within(map(str, claim.claimants), 200)}{won}"


def _raid(raid: PublicRaid) -> str:
    owner = "nobody" if raid.owner is None else raid.owner
    won = f", won by {raid.winner}" if raid.winner is not None and len(raid.raiders) > 1 else ""
    return f"{raid.plot} of {owner} by {within(map(str, raid.raiders), 200)}{won}"


def _earlier(earlier: Sequence[RoundSummary]) -> Iterable[str]:
    """One line a round, as many as fit, and a summary of the rounds before them."""
    by_round = [_facts(summary) for summary in reversed(earlier)]
    lines = []
    for summary, facts in zip(reversed(earlier), by_round, strict=True):
        share = EARLIER_MAX // 8
        said = [f"{name} {within(_spans(where), share)}" for name, where in facts.items()]
        lines.append(f"{summary.round}: {'; '.join(said) or 'nothing'}")
    shown = _fitting(lines, EARLIER_MAX)
    yield from lines[:shown]
    if shown == len(lines):
        return
    yield f"{_rounds(earlier[0].round, earlier[-1 - shown].round)}, in how many of them:"
    for name in dict.fromkeys(name for facts in by_round[shown:] for name in facts):
        counts = Counter(plot for facts in by_round[shown:] for plot in facts.get(name, ()))
        by_count: dict[int, list[int]] = {}
        for plot in sorted(counts):
            by_count.setdefault(counts[plot], []).append(plot)
        often = (
            f"in {n}: {within(_spans(by_count[n]), TOGETHER_MAX // 2)}"
            for n in sorted(by_count, reverse=True)
        )
        yield f"{name} {within(often, TOGETHER_MAX, '; ')}"


def _facts(summary: RoundSummary) -> Mapping[str, list[int]]:
    """The plots of each kind of event in a round."""
    plots = summary.plots
    facts = {
        "claimed": [p.plot for p in plots if p.claimants],
        "captured": [p.plot for p in plots if p.captured],
        "raided in vain": [p.plot for p in plots if p.raiders and not p.captured],
        "defended": [p.plot for p in plots if p.defended],
    }
    return {name: where for name, where in facts.items() if where}


def _past(past: Sequence[PastAction]) -> Iterable[str]:
    """The agent's actions, one line a round, as many as fit, and a summary of those before them."""
    rounds = [(round, list(actions)) for round, actions in groupby(past, lambda a: a.round)][::-1]
    lines = [f"{round}: {within(_done(actions), PAST_MAX // 3, '; ')}" for round, actions in rounds]
    shown = _fitting(lines, PAST_MAX)
    yield from lines[:shown]
    if shown == len(lines):
        return
    before = [action for _, actions in rounds[shown:] for action in actions]
    counts = Counter(f"{action.kind or 'other'} {_result(action)}" for action in before)
    gold = _number(sum(action.gold for action in before))
    times = (f"{what} x{count}" for what, count in counts.most_common())
    yield (
        f"{_rounds(rounds[-1][0], rounds[shown][0])} together, {gold} gold mined: "
        f"{within(times, TOGETHER_MAX)}"
    )


def _done(actions: Sequence[PastAction]) -> Iterable[str]:
    """Actions in the plan's order; consecutive equal actions with equal results are one item."""

    def described(action: PastAction) -> tuple[str | None, str, str]:
        points = f" with {action.amount}" if action.amount != 1 or action.kind == "mine" else ""
        result = f"{_number(action.gold)} gold" if action.result == "mined" else _result(action)
        return action.kind, points, result

    for (kind, points, result), alike in groupby(actions, described):
        if kind is None:
            yield f"an item that is no action: {result}"
            continue
        plots = [str(action.plot) for action in alike]
        each = " each" if result.endswith("gold") and len(plots) > 1 else ""
        yield f"{kind} {within(plots, PAST_MAX // 8)}{points}: {result}{each}"


def _result(action: PastAction) -> str:
    if action.result in REASONS:
        return f"removed ({action.result})"
    return _RESULTS.get((action.kind, action.result), action.result)


_RESULTS: Final[Mapping[tuple[str | None, str], str]] = {
    ("mine", "forfeited"): "nothing, the plot was lost",
    ("claim", "lost"): "another one won",
    ("raid", "lost"): "another one won",
    ("raid", "undone"): "captured, then given back",
    ("raid", "void"): "nobody else claimed it",
    ("defend", "untested"): "not raided",
    ("defend", "fell"): "lost all the same",
}


_FRONT: Final = len("agent 99999: ") + len(" (cut)") + 1


def _messages(seen: Observation) -> str:
    """The messages of last round, the agent's own last, each cut to the same share.

    The next agent comes first, so that different agents miss different messages if not all fit.
    """
    ordered = sorted(seen.messages, key=lambda m: (m.agent - seen.agent - 1) % seen.agents)
    share = max(SHARE_MIN, MESSAGES_MAX // len(ordered)) - _FRONT
    lines = (
        f"{'you' if m.agent == seen.agent else f'agent {m.agent}'}: {quoted(m.text, share)}"
        for m in ordered
    )
    return within(lines, MESSAGES_MAX, "\n")


def _rounds(first: int, last: int) -> str:
    return f"round {first}" if first == last else f"rounds {first} to {last}"


def _spans(plots: Sequence[int]) -> Iterable[str]:
    """Ascending ids, with consecutive ones as a span: 3, 5-9."""
    start = None
    for index, plot in enumerate(plots):
        if start is None:
            start = plot
        if index + 1 == len(plots) or plots[index + 1] != plot + 1:
            yield str(start) if start == plot else f"{start}-{plot}"
            start = None


def _fitting(lines: Sequence[str], most: int) -> int:
    """The number of lines, from the first on, that fit into `most` bytes."""
    ends = accumulate(len(line) + 1 for line in lines)
    return sum(end <= most for end in ends)


def _number(value: float) -> str:
    """At most eight significant digits, which hide the rounding errors of sums."""
    is_whole = value == int(value) or value >= 1e8
    return str(round(value)) if is_whole and value < 1e20 else f"{value:.8g}"
