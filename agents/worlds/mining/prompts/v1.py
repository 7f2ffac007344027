"""Version 1 of the prompts of language models that play mining.

A prompt has two messages: the rules, the same for all agents and rounds, and the round, which
begins with the parts that all agents share, because servers charge less for a known prefix. Text of
other agents is quoted, cut and escaped, so it can neither end its quotation nor look like a message
of the simulation. Every part has a limit in bytes of UTF-8, and a token is at least a byte, so
prompts are bounded on any map, with any history.

The prose is in v1.toml. Neither changes: a journal of version 1 is verified with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, groupby
from typing import Final

from goldrush.agents.llm.messages import Messages, plural
from goldrush.agents.llm.parts import quoted, within
from goldrush.agents.llm.question import Message
from goldrush.kernel.settings import choice, integer
from goldrush.kernel.shape import TEXT, Schema, record, several
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


wording: Final = Messages("goldrush.agents.worlds.mining.prompts", "v1.toml")


class Prompts:
    """The prompts of one round; the shared parts are made once."""

    def __init__(self, shown: SharedView) -> None:
        self.shown = shown

    def of(self, agent: int) -> tuple[Message, Message]:
        """The two messages of an agent's prompt, with `role` and `content`."""
        seen = Observation(self.shown, agent)
        return (
            {"role": "system", "content": self._rules},
            {"role": "user", "content": "\n\n".join(filter(None, self._round(seen)))},
        )

    @cached_property
    def _rules(self) -> str:
        return rules(Observation(self.shown, 0))

    @cached_property
    def _events(self) -> tuple[str, ...]:
        """The map and the past events on it, the same for all agents."""
        seen = Observation(self.shown, 0)
        return (_map(seen), _last_round(seen.last), _earlier(seen.earlier))

    def _round(self, seen: Observation) -> Iterable[str]:
        yield from self._events
        own = within(_spans(seen.own), OWN_MAX)
        yield wording(
            "you",
            seen,
            gold=number(seen.gold),
            plots=wording("plots", plots=own) if own else wording("plots_none"),
            note="" if seen.memo is None else wording("note", note=quoted(seen.memo, NOTE_MAX)),
        )
        yield _past(seen.past)
        yield _messages(seen)
        yield wording("question", seen)


def schema(seen: Observation) -> Schema:
    """The JSON schema of an answer: a plan as a list, most important action first."""
    most = max(1, seen.stamina)
    plot, stamina = integer(0, seen.rows * seen.cols - 1), integer(1, most)
    actions = several(record(type=choice(*KINDS), plot=plot, stamina=stamina), most)
    return record(actions=actions, **({"say": TEXT} if seen.communication else {})).schema


def rules(seen: Observation) -> str:
    """The first message: the rules of the configuration and the form of an answer."""
    you = wording(
        "you_alone" if seen.agents == 1 else "you_among", seen, last_agent=seen.agents - 1
    )
    last_plot = seen.rows * seen.cols - 1
    parts = [
        wording("aim", seen, you=you),
        wording("map", seen, last_plot=last_plot, alphas=_alphas(seen)),
        wording("stamina"),
        wording(
            "actions",
            points=wording(plural("mine_points", seen.mining_cap), seen),
            defend=wording("defend_pointwise" if seen.defense == POINTWISE else "defend_whole"),
            raid_claimed="" if seen.truce else wording("raid_claimed"),
        ),
        wording(plural("truce", seen.truce) if seen.truce else "truce_none", after=seen.truce - 1),
        _authority(seen.authority),
        wording("order", rulings="" if seen.authority is None else wording("rulings")),
        wording("limits"),
        wording("messages") if seen.communication else "",
        wording(
            "answer",
            kinds=" or ".join(f'"{kind}"' for kind in KINDS),
            say_form=wording("say_form") if seen.communication else "",
            say=wording("say", most=SAY_MAX) if seen.communication else "",
        ),
    ]
    return "\n\n".join(filter(None, parts))


def _authority(authority: Authority | None) -> str:
    if authority is None:
        return ""
    notices = "notices_some" if authority.detection < 1 else "notices_all"
    remedy = "remedy_adjudicate" if authority.rule == ADJUDICATE else "remedy_punish"
    return wording(
        "authority",
        notices=wording(notices, percent=number(authority.detection * 100)),
        remedy=wording(remedy, fine=number(authority.fine)),
    )


def _alphas(seen: Observation) -> str:
    plots: dict[float, list[int]] = {}
    for plot, alpha in enumerate(seen.alphas):
        plots.setdefault(alpha, []).append(plot)
    if len(plots) == 1:
        return wording("alpha_all", alpha=number(seen.alphas[0]))
    richest = sorted(plots, reverse=True)

    def lines(most: int) -> Iterable[str]:
        for alpha in richest:
            yield wording("alpha", alpha=number(alpha), plots=within(_spans(plots[alpha]), most))

    whole = "; ".join(lines(1 << 30))
    if len(whole) <= ALPHAS_MAX:
        return wording("alphas", alphas=whole)
    # Where nearly every plot has another value, a grid is shorter.
    grid = _grid(list(map(number, seen.alphas)), seen.cols, ALPHAS_MAX)
    if grid is not None:
        return wording("alphas_grid", grid=grid)
    share = ALPHAS_MAX // min(len(richest), 8)
    return wording("alphas_richest", alphas=within(lines(share), ALPHAS_MAX, "; "))


def _map(seen: Observation) -> str:
    """The owners as a grid, or as lists on a map that is too large."""
    owners = ["." if owner is None else str(owner) for owner in seen.owners]
    grid = _grid(owners, seen.cols, MAP_MAX)
    if grid is not None:
        return wording("map_grid", seen, grid=grid)
    owned = (f"{plot} of {owner}" for plot, owner in enumerate(owners) if owner != ".")
    return wording(
        "map_lists",
        seen,
        unowned=within(_spans(seen.unowned), MAP_MAX // 2) or wording("none"),
        owned=within(owned, MAP_MAX // 2) or wording("none"),
    )


def _grid(cells: Sequence[str], cols: int, most: int) -> str | None:
    """A line for each row of the map; None: it would take more than `most` bytes."""
    if sum(map(len, cells)) + len(cells) + 10 * (len(cells) // cols) > most:
        return None
    return "\n".join(
        f"row {at // cols}: {' '.join(cells[at : at + cols])}" for at in range(0, len(cells), cols)
    )


def _last_round(last: PublicRound | None) -> str:
    if last is None:
        return ""
    facts = {"claimed": list(map(_claim, last.claims)), "defended": list(_spans(last.defended))}
    for raid in last.raids:
        facts.setdefault(raid.outcome, []).append(_raid(raid))
    size = sum(len("; ".join(items)) for items in facts.values())
    share = LAST_MAX if size <= LAST_MAX else LAST_MAX // len(facts)
    lines = [
        wording(f"last_{kind}", items=within(items, share, ", " if kind == "defended" else "; "))
        for kind, items in facts.items()
        if items
    ]
    return wording("last_round", last, events="\n".join(lines) or wording("nothing"))


def _claim(claim: PublicClaim) -> str:
    won = f", won by {claim.winner}" if len(claim.claimants) > 1 else ""
    return f"{claim.plot} by {within(map(str, claim.claimants), 200)}{won}"


def _raid(raid: PublicRaid) -> str:
    owner = "nobody" if raid.owner is None else raid.owner
    won = f", won by {raid.winner}" if raid.winner is not None and len(raid.raiders) > 1 else ""
    return f"{raid.plot} of {owner} by {within(map(str, raid.raiders), 200)}{won}"


def _earlier(earlier: Sequence[RoundSummary]) -> str:
    """One line a round, as many as fit, and a summary of the rounds before them."""
    if not earlier:
        return ""
    by_round = [_facts(summary) for summary in reversed(earlier)]
    lines = [
        f"{summary.round}: {'; '.join(_listed(facts)) or wording('nothing')}"
        for summary, facts in zip(reversed(earlier), by_round, strict=True)
    ]
    shown = _fitting(lines, EARLIER_MAX)
    if shown < len(lines):
        rounds = _rounds(earlier[0].round, earlier[-1 - shown].round)
        lines[shown:] = [wording("earlier_together", rounds=rounds), *_counts(by_round[shown:])]
    return wording("earlier_rounds", rounds="\n".join(lines))


def _counts(by_round: Sequence[Mapping[str, list[int]]]) -> Iterable[str]:
    """In how many rounds there were events of each kind on which plots."""
    for kind in dict.fromkeys(kind for facts in by_round for kind in facts):
        counts = Counter(plot for facts in by_round for plot in facts.get(kind, ()))
        by_count: dict[int, list[int]] = {}
        for plot in sorted(counts):
            by_count.setdefault(counts[plot], []).append(plot)
        often = (
            f"in {n}: {within(_spans(by_count[n]), TOGETHER_MAX // 2)}"
            for n in sorted(by_count, reverse=True)
        )
        yield wording(f"earlier_{kind}", plots=within(often, TOGETHER_MAX, "; "))


def _listed(facts: Mapping[str, list[int]]) -> Iterable[str]:
    for kind, plots in facts.items():
        yield wording(f"earlier_{kind}", plots=within(_spans(plots), EARLIER_MAX // 8))


def _facts(summary: RoundSummary) -> Mapping[str, list[int]]:
    """The plots of each kind of event in a round."""
    plots = summary.plots
    facts = {
        "claimed": [p.plot for p in plots if p.claimants],
        "captured": [p.plot for p in plots if p.captured],
        "failed": [p.plot for p in plots if p.raiders and not p.captured],
        "defended": [p.plot for p in plots if p.defended],
    }
    return {kind: where for kind, where in facts.items() if where}


def _past(past: Sequence[PastAction]) -> str:
    """The agent's actions, one line a round, as many as fit, and a summary of those before them."""
    if not past:
        return ""
    rounds = [(round, list(actions)) for round, actions in groupby(past, lambda a: a.round)][::-1]
    lines = [f"{round}: {within(_done(actions), PAST_MAX // 3, '; ')}" for round, actions in rounds]
    shown = _fitting(lines, PAST_MAX)
    if shown < len(lines):
        before = [action for _, actions in rounds[shown:] for action in actions]
        counts = Counter(f"{action.kind or 'other'} {_result(action)}" for action in before)
        times = within((f"{what} x{n}" for what, n in counts.most_common()), TOGETHER_MAX)
        gold = number(sum(action.gold for action in before))
        together = _rounds(rounds[-1][0], rounds[shown][0])
        lines[shown:] = [wording("past_together", rounds=together, gold=gold, actions=times)]
    return wording("past", rounds="\n".join(lines))


def _done(actions: Sequence[PastAction]) -> Iterable[str]:
    """Actions in the plan's order; consecutive equal actions with equal results are one item."""

    def described(action: PastAction) -> tuple[str | None, str, str | None, str]:
        points = f" with {action.amount}" if action.amount != 1 or action.kind == "mine" else ""
        gold = number(action.gold) if action.result == "mined" else None
        return action.kind, points, gold, _result(action)

    for (kind, points, gold, result), group in groupby(actions, described):
        if kind is None:
            yield wording("past_malformed", result=result)
            continue
        plots = [str(action.plot) for action in group]
        if gold is not None:
            result = wording(plural("gold", len(plots)), gold=gold)
        yield f"{kind} {within(plots, PAST_MAX // 8)}{points}: {result}"


def _result(action: PastAction) -> str:
    if action.result in REASONS:
        return wording("removed", reason=action.result)
    return wording(f"result_{action.kind}_{action.result}")


_FRONT: Final = len("agent 99999: ") + len(" (cut)") + 1


def _messages(seen: Observation) -> str:
    """The messages of last round, each cut to the same share. The next agent comes first and the
    agent's own last, so that different agents miss different messages if not all fit.
    """
    if not seen.messages:
        return ""
    ordered = sorted(seen.messages, key=lambda m: (m.agent - seen.agent - 1) % seen.agents)
    share = max(SHARE_MIN, MESSAGES_MAX // len(ordered)) - _FRONT
    lines = (
        f"{'you' if m.agent == seen.agent else f'agent {m.agent}'}: {quoted(m.text, share)}"
        for m in ordered
    )
    heard = within(lines, MESSAGES_MAX, "\n")
    return wording("heard", round=seen.round - 1, messages=heard)


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


def number(value: float) -> str:
    """At most eight significant digits, which hide the rounding errors of sums."""
    is_whole = value == int(value) or value >= 1e8
    return str(round(value)) if is_whole and value < 1e20 else f"{value:.8g}"
