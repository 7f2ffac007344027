"""Explanations of the results of a mining round: captures, raids without a capture, contested
claims, and removed actions.

Each has the sentences of its events, and what the owner of a raided plot had planned. A change of
one agent's plan that would have led to another result is given only if the plots of both plans,
decided again by the world's rules, have that result with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from goldrush.agents.llm.failures import failure_kind
from goldrush.agents.seats import is_outside
from goldrush.agents.worlds.mining.roster import PROMPT
from goldrush.kernel.fold import block_events
from goldrush.kernel.journal import UNIT
from goldrush.kernel.world import Block, RecordedEvent
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import POINTWISE
from goldrush.kernel.worlds.mining.decide import events_of
from goldrush.kernel.worlds.mining.events import CLAIM, DEFEND, RAID, SUBMITTED, show_action
from goldrush.kernel.worlds.mining.history import kept_plans
from goldrush.kernel.worlds.mining.state import HOLDINGS, MiningState, RoundRecord
from goldrush.replay.journal.forged import reading
from goldrush.replay.journal.index import states_near
from goldrush.replay.journal.why import Explanation, PlanChange
from goldrush.replay.worlds.mining.story import SENTENCES, action_text

LISTED_MAX: Final = 12  # listed actions of a plan
_REASONS: Final = {
    "malformed": "it is no action",
    "off-grid": "there is no such plot",
    "bad-amount": "an action of this kind cannot have that amount",
    "not-owner": "the agent does not own the plot",
    "already-owned": "somebody owns the plot",
    "own-plot": "the agent owns the plot",
    "unowned": "nobody owns the plot",
    "duplicate": "the plan has that already",
    "budget": "the actions before it leave too little stamina",
}

Act = tuple[int, int, int]  # kind, plot, points
Results = Mapping[tuple[str, int], RecordedEvent]  # by name, and by plot or (of removals) agent


def explained(
    path: str | Path, first: int | None = None, last: int | None = None
) -> Iterator[Explanation]:
    """The explanations of the rounds `first` to `last` (None: from the start, to the end), in
    order. Raises JournalError where the journal cannot be read, after the explanations of the
    rounds before the damage.
    """
    begin = first or 1
    with reading(path) as reader:
        before: MiningState | None = None
        for commit, state in states_near(MINING, reader, begin):
            if commit.digest is None:
                continue
            if commit.kind == UNIT and commit.unit >= begin and before is not None:
                yield from explanations(Round(before, state.history[-1]))
            if last is not None and commit.unit >= last:
                return
            before = MINING.copy(state) if commit.unit + 1 >= begin else None


def explanations(round: Round) -> Iterator[Explanation]:
    """The explanations of one round: removed actions by agent, then contested claims, then raids,
    both by plot.
    """
    for (name, _), event in round.results.items():
        if name == "pruned":
            yield from _removed(round, event)
        elif name == "claim_drawn" and len(event["claimants"]) > 1:
            yield _contested(round, event)
        elif name == "raid_resolved":
            yield _RAIDS[event["outcome"]](round, event)


def _removed(round: Round, event: RecordedEvent) -> Iterator[Explanation]:
    agent = event["agent"]
    for index, reason in event["removed"]:
        action = round.submitted[agent]["actions"][index]
        plot = None if action is None or not 0 <= action[1] < round.config.plots else action[1]
        account = f"{action_text(action)} of agent {agent} is removed: {_REASONS[reason]}"
        yield Explanation("pruned action", round.number, plot, (agent,), [account])


def _contested(round: Round, claim: RecordedEvent) -> Explanation:
    plot, winner = claim["plot"], claim["winner"]
    plan = round.without(winner, CLAIM, plot)
    again = round.again(winner, plan)
    other = again["claim_drawn", plot]["winner"]
    change = round.change(winner, plan, again, f"agent {other} would have won plot {plot}")
    account = [SENTENCES.line(claim)]
    return Explanation("contested claim", round.number, plot, claim["claimants"], account, change)


def _captured(round: Round, raid: RecordedEvent) -> Explanation:
    plot, owner = raid["plot"], raid["owner"]
    raiders = len({*raid["raiders"]} - {owner})
    needed = raiders if round.config.defense == POINTWISE else 1
    plan = [(DEFEND, plot, needed), *round.without(owner, DEFEND, plot)]
    again, change = round.again(owner, plan), None
    if again["raid_resolved", plot]["outcome"] == "blocked":
        change = round.change(owner, plan, again, f"plot {plot} would have been held")
    instead = [] if change else [f"no plan of agent {owner} would have held it"]
    return _of_raid(round, "capture", raid, [*round.plan_text(owner), *instead], change)


def _blocked(round: Round, raid: RecordedEvent) -> Explanation:
    plot, owner = raid["plot"], raid["owner"]
    less = len(raid["raiders"]) - 1 if round.config.defense == POINTWISE else 0
    plan = [
        (kind, at, less if (kind, at) == (DEFEND, plot) else points)
        for kind, at, points in round.plans[owner]
        if less or (kind, at) != (DEFEND, plot)
    ]
    again, change = round.again(owner, plan), None
    if again["raid_resolved", plot]["outcome"] == "captured":
        ruling = again.get(("ruled", plot))
        is_restored = ruling is not None and ruling["remedy"] == "restored"
        back = ", and given back by the authority" if is_restored else ""
        change = round.change(owner, plan, again, f"plot {plot} would have been captured{back}")
    return _of_raid(round, "blocked raid", raid, round.plan_text(owner), change)


def _in_truce(round: Round, raid: RecordedEvent) -> Explanation:
    until = round.before.since[raid["plot"]] + round.config.truce
    instead = [f"no plan would have captured it: it is in truce before round {until}"]
    return _of_raid(round, "raid in truce", raid, instead, None)


def _void(round: Round, raid: RecordedEvent) -> Explanation:
    plot, first = raid["plot"], raid["raiders"][0]
    plan = [(CLAIM, plot, 1), *round.without(first, RAID, plot)]
    change = None
    if raid["owner"] is None:
        again = round.again(first, plan)
        raided = again.get(("raid_resolved", plot))
        if raided is None or raided["outcome"] != "captured":
            change = round.change(first, plan, again, f"agent {first} would have won plot {plot}")
    return _of_raid(round, "void raid", raid, [], change)


_RAIDS: Final = {
    "captured": _captured, "blocked": _blocked, "truce": _in_truce, "void": _void,
}  # fmt: skip


def _of_raid(
    round: Round, kind: str, raid: RecordedEvent, account: Sequence[str], change: PlanChange | None
) -> Explanation:
    plot, owner = raid["plot"], raid["owner"]
    before, ruling = round.before, round.results.get(("ruled", plot))
    since = (
        [f"agent {owner} owns it since round {before.since[plot]} by {HOLDINGS[before.how[plot]]}"]
        if owner is not None and before.owner[plot] == owner
        else []
    )
    sentences = [SENTENCES.line(event) for event in (raid, ruling) if event is not None]
    agents = sorted({*raid["raiders"]} | ({owner} - {None}))
    return Explanation(kind, round.number, plot, agents, [*sentences, *since, *account], change)


def _listed(plan: Sequence[Act]) -> str:
    """Actions as text, at most LISTED_MAX of them; `nothing` if there are none."""
    more = len(plan) - LISTED_MAX
    listed = [action_text(show_action(action)) for action in plan[:LISTED_MAX]]
    return ", ".join([*listed, f"{more} more"] if more > 0 else listed) or "nothing"


class Round:
    """A recorded round: the state `before` it, its `results`, and the `plans` of all agents after
    pruning.
    """

    def __init__(self, before: MiningState, record: RoundRecord) -> None:
        self.before, self.config, self.number = before, before.config, record.round
        self.results = _results(record.round, record.derived)
        self._record = record
        self.plans: list[list[Act]] = [[] for _ in before.roster]
        self._on_plot: dict[int, list[tuple[int, Act]]] = {}
        for agent, plan in kept_plans(record):
            self.plans[agent] += plan
            for action in plan:
                self._on_plot.setdefault(action[1], []).append((agent, action))

    @cached_property
    def submitted(self) -> Sequence[RecordedEvent]:
        """What each agent submitted."""
        inputs = Block([(SUBMITTED, self._record.rows(SUBMITTED))])
        return list(block_events(MINING, self.number, inputs))

    def plan_text(self, agent: int) -> list[str]:
        """An agent's plan in a sentence; or why a model gave none."""
        error = failure_kind(self.submitted[agent]["error"])
        listed = f"no usable answer ({error})" if error else _listed(self.plans[agent])
        return [f"agent {agent}'s plan: {listed}"]

    def without(self, agent: int, kind: int, plot: int) -> Sequence[Act]:
        """An agent's plan without an action."""
        return [action for action in self.plans[agent] if action[:2] != (kind, plot)]

    def again(self, agent: int, plan: Sequence[Act]) -> Results:
        """The results with another plan of one agent, on the plots of the two plans alone: those of
        a large round are too many to be decided again for each explanation.
        """
        plans: dict[int, list[Act]] = {agent: [*plan]}
        for plot in sorted({action[1] for action in (*plan, *self.plans[agent])}):
            for other, action in self._on_plot.get(plot, ()):
                if other != agent:
                    plans.setdefault(other, []).append(action)
        rows = [(other, tuple(actions), *(None,) * 4) for other, actions in sorted(plans.items())]
        return _results(self.number, Block(events_of(self.before, rows)))

    def change(self, agent: int, plan: Sequence[Act], again: Results, result: str) -> PlanChange:
        """The fork in which an agent has another plan, without what is removed from it `again`, and
        with the `result` that it has.
        """
        pruned = again.get(("pruned", agent))
        removed = {index for index, _ in pruned["removed"]} if pruned is not None else set()
        kept = [action for index, action in enumerate(plan) if index not in removed]
        changed = {**self._recorded(agent), "actions": [*map(show_action, kept)]}
        changed.pop("error", None)
        asked = [entry for entry in self.before.roster if is_outside(entry["policy"])]
        outside = [self._recorded(entry["agent"]) for entry in asked if entry["agent"] != agent]
        is_playable = all(PROMPT.is_of(entry["options"]) for entry in asked)
        text = f"{result}, had agent {agent} submitted {_listed(kept)}"
        return PlanChange(text, agent, self.number, [changed, *outside], is_playable)

    def _recorded(self, agent: int) -> dict[str, Any]:
        """An agent's submission, in the form of an input of a fork."""
        fields = self.submitted[agent].fields
        return {n: value for n, value in fields.items() if value is not None and n != "source"}


def _results(round: int, derived: Block) -> Results:
    events = block_events(MINING, round, derived)
    return {(e.name, e.fields.get("plot", e.fields.get("agent"))): e for e in events}
