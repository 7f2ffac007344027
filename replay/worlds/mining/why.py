"""Explanations of the results of a mining round: captures, raids without a capture, contested
claims, and removed actions.

Each explanation lists the agents' actions and, for a raid, how the owner spent its stamina. Then it
gives a small change of one agent's plan that would have changed the result: unspent stamina is used
first, then that of the agent's least important actions. A change is given only if the plots of both
plans, decided again by the world's rules, have the other result with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.seats import is_outside
from goldrush.kernel.errors import BadPlan
from goldrush.kernel.journal import UNIT, JournalReader
from goldrush.kernel.text import format_count
from goldrush.kernel.world import Batches, Row
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import POINTWISE
from goldrush.kernel.worlds.mining.decide import events_of
from goldrush.kernel.worlds.mining.events import (
    CLAIM,
    CLAIM_DRAWN,
    DEFEND,
    MINE,
    OUTCOMES,
    PRUNED,
    RAID,
    RAID_RESOLVED,
    RULED,
    SUBMITTED,
    Action,
    RaidOutcome,
    Reason,
    Remedy,
    show_action,
)
from goldrush.kernel.worlds.mining.history import kept_actions
from goldrush.kernel.worlds.mining.state import HOLDINGS, MiningState, RoundRecord
from goldrush.kernel.worlds.mining.submit import resubmitted
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.index import states_near
from goldrush.replay.journal.why import Explanation, PlanChange
from goldrush.replay.sentences import agents_text
from goldrush.replay.text import EXACT_DIGITS, format_number
from goldrush.replay.worlds.mining.story import action_text

CAPTURE, BLOCKED_RAID, RAID_IN_TRUCE, VOID_RAID, CONTESTED_CLAIM, PRUNED_ACTION = KINDS = (
    "capture", "blocked raid", "raid in truce", "void raid", "contested claim", "pruned action",
)  # fmt: skip
LISTED_MAX: Final = 12  # listed actions of a plan
_GIVEN_BACK: Final = "; the authority would have given it back"


@reader_of
def explained(
    path: str | Path, first: int | None = None, last: int | None = None
) -> Iterator[Explanation]:
    """The explanations of the rounds `first` to `last` (None: from the start, to the end), in
    order. Raises JournalError where the journal cannot be read, after the explanations of the
    rounds before the damage.
    """
    for before, record in _rounds(path, first or 1, last):
        yield from explanations(Round(before, record))


def _rounds(
    path: str | Path, first: int, last: int | None
) -> Iterator[tuple[MiningState, RoundRecord]]:
    """The closed rounds from `first` to `last`, inclusive, each with the state before it."""
    with JournalReader(path) as reader:
        before: MiningState | None = None
        for commit, state in states_near(MINING, reader, first):
            if commit.digest is None:
                continue
            if commit.kind == UNIT and commit.unit >= first and before is not None:
                yield before, state.history[-1]
            if last is not None and commit.unit >= last:
                return
            before = MINING.copy(state) if commit.unit + 1 >= first else None


def explanations(round: Round) -> Iterator[Explanation]:
    """The explanations of one round: removed actions by agent, then contested claims, then raids,
    both by plot.
    """
    for agent, removed, _ in round.outcome.removals.values():
        for index, reason in removed:
            yield _removed(round, agent, index, reason)
    for row in round.outcome.claims.values():
        if len(row[1]) > 1:
            yield _contested(round, row)
    for row in round.outcome.raids.values():
        yield _RAIDS[row[4]](round, row)


def _captured(round: Round, row: Row) -> Explanation:
    plot, owner, raiders, defense, _, winner, _ = row
    others = [raider for raider in raiders if raider != owner]
    stopped = f"{defense} stopped, " if defense else ""
    account = [
        f"agent {winner} captures plot {plot} from agent {owner}, {_held(round, plot)}",
        f"{agents_text(others)} raid it; {stopped}the draw gives it to agent {winner}"
        if len(others) > 1
        else "nobody else raids it",
        _defended(round, owner, defense),
        *_ruling(round, plot),
    ]
    needed = len(others) if round.config.defense == POINTWISE else 1
    points = "one point" if needed == 1 else f"{needed} points"
    swap = round.swapped(owner, (DEFEND, plot, needed))
    change = None
    if plot in round.outcome.claims:
        account.append("no plan could defend it in the very round in which it was claimed")
    elif swap is None:
        account.append(
            f"no plan of agent {owner} would have held it: that takes {points} of defence, and it "
            f"has {round.before.staminas[owner]} stamina a round"
        )
    else:
        says = f"{points} of defence would have held: {_instead(owner, swap)}"
        change = _if_raid(round, plot, owner, swap.plan, RaidOutcome.BLOCKED, says)
    return _of_raid(round, CAPTURE, row, account, change)


def _blocked(round: Round, row: Row) -> Explanation:
    plot, owner, raiders, defense, _, _, _ = row
    missing = defense - len(raiders) + 1
    by_points = round.config.defense == POINTWISE
    rule = (
        f"each point stops one raider; it takes {missing} more to capture it"
        if by_points
        else "one point of defence holds against any number of raiders"
    )
    account = [
        f"{_raid(raiders)} plot {plot} of agent {owner}, {_held(round, plot)}",
        _defended(round, owner, defense),
        rule,
    ]
    more = _one_more(round, plot, owner, raiders) if by_points and missing == 1 else None
    if more is not None:
        agent, plan = more[0], more[1].plan
        says = f"one more raider would have captured it: {_instead(*more)}"
    else:
        agent, less = owner, len(raiders) - 1 if by_points else 0
        plan = [
            (kind, at, less if (kind, at) == (DEFEND, plot) else points)
            for kind, at, points in round.plan(owner)
            if less or (kind, at) != (DEFEND, plot)
        ]
        so = f"defend {plot} with {less}" if less else f"without defend {plot}"
        of = f"{less} of its {format_count(defense, 'point')}" if less else "no defence"
        says = f"with {of} it would have been captured: agent {owner}, {so}"
    change = _if_raid(round, plot, agent, plan, RaidOutcome.CAPTURED, says)
    return _of_raid(round, BLOCKED_RAID, row, account, change)


def _one_more(
    round: Round, plot: int, owner: int, raiders: Sequence[int]
) -> tuple[int, Swap] | None:
    """The further agent that can raid a plot by giving up the fewest actions, the lowest number
    among equal ones, and its new plan; None if no agent can.
    """
    found: tuple[int, Swap] | None = None
    for agent in range(round.config.agents):
        if agent != owner and agent not in raiders:
            swap = round.swapped(agent, (RAID, plot, 1))
            if swap is not None and (found is None or len(swap.given) < len(found[1].given)):
                found = agent, swap
    return found


def _in_truce(round: Round, row: Row) -> Explanation:
    plot, owner, raiders, _, _, _, _ = row
    since, truce = round.before.since[plot], round.config.truce
    until = since + truce
    late = "" if until <= round.config.rounds else ", which is after the end of the run"
    account = [
        f"{_raid(raiders)} plot {plot} of agent {owner}, {_held(round, plot)}",
        f"a claimed plot is in truce for {format_count(truce, 'round')}, that of the claim "
        f"included: this one can be captured from round {until} on{late}",
        "no plan would have captured it in this round",
    ]
    return _of_raid(round, RAID_IN_TRUCE, row, account, None)


def _void(round: Round, row: Row) -> Explanation:
    plot, owner, raiders, _, _, _, _ = row
    if owner is not None:
        account = [
            f"agent {owner} raids plot {plot}, which its own claim has just won",
            "nobody else raids it: there is nobody to take it from",
        ]
        return _of_raid(round, VOID_RAID, row, account, None)
    account = [
        f"{_raid(raiders)} plot {plot}, which nobody owns and nobody claims",
        "a raid on it can only succeed in a round in which somebody claims it, or later",
    ]
    first = raiders[0]
    swap = Swap(((CLAIM, plot, 1), *round.without(first, RAID, plot)), [(RAID, plot, 1)])
    change = None
    if round.again(first, swap.plan).owner(plot, None) == first:
        says = f"a claim would have won it: {_instead(first, swap)}"
        change = round.change(first, swap.plan, says)
    else:
        account.append("had any of them claimed it, the others would have captured it")
    return _of_raid(round, VOID_RAID, row, account, change)


_RAIDS: Final = {
    RaidOutcome.CAPTURED: _captured,
    RaidOutcome.BLOCKED: _blocked,
    RaidOutcome.TRUCE: _in_truce,
    RaidOutcome.VOID: _void,
}


def _contested(round: Round, row: Row) -> Explanation:
    plot, claimants, winner, _ = row
    account = [
        f"{agents_text(claimants)} claim plot {plot}, which nobody owned; the draw gives it to "
        f"agent {winner}"
    ]
    plan = round.without(winner, CLAIM, plot)
    again = round.again(winner, plan)
    drawn = "" if len(claimants) == 2 else "the draw among the others would have given it to "
    says = (
        f"had agent {winner} not claimed it, {drawn}agent {again.claims[plot][2]}"
        f"{'' if drawn else ' would have won it'}"
    )
    change = round.change(winner, plan, says)
    return Explanation(
        CONTESTED_CLAIM, round.number, plot, tuple(claimants), tuple(account), change=change
    )


def _removed(round: Round, agent: int, index: int, reason: int) -> Explanation:
    action: Action = round.submitted[agent][1][index]
    stamina = round.before.staminas[agent]
    account = [
        f"item {index} of agent {agent}'s plan, {action_text(show_action(action))}, is removed: "
        f"{_objection(round, agent, index, reason)}",
        f"what is left spends {round.spent(agent)} of {stamina} stamina",
    ]
    wanted = None if action is None else _legal(round, agent, action, reason)
    swap = None if wanted is None else round.swapped(agent, wanted)
    change = None
    if swap is not None:
        if agent in round.again(agent, swap.plan).removals:
            raise ValueError(f"agent {agent}'s plan of round {round.number} is not legal so")
        says = f"it would have been legal so: {_instead(agent, swap)}"
        change = round.change(agent, swap.plan, says)
    else:
        account.append("no action of this kind would have been legal")
    plot = None if action is None or not 0 <= action[1] < round.config.plots else action[1]
    return Explanation(
        PRUNED_ACTION, round.number, plot, (agent,), tuple(account), _plan(round, agent),
        change=change,
    )  # fmt: skip


def _objection(round: Round, agent: int, index: int, reason: int) -> str:
    """Why an action was removed."""
    config = round.config
    action: Action = round.submitted[agent][1][index]
    if reason == Reason.MALFORMED or action is None:
        return "it is no action"
    kind, plot, _ = action
    if reason == Reason.OFF_GRID:
        return f"the plots are 0 to {config.plots - 1}"
    if reason == Reason.BAD_AMOUNT:
        if kind == MINE:
            return f"a plot is mined with 0 to {config.mining_cap} stamina"
        return f"it takes {'1 point or more' if _has_points(round, kind) else '1 point'}"
    if reason == Reason.DUPLICATE:
        return "the plan has that already"
    if reason == Reason.BUDGET:
        over = [at for at, why in round.outcome.removals[agent][1] if why == Reason.BUDGET]
        if index != over[0]:
            return "all actions after the first one over the budget are"
        spent = round.spent(agent)
        return f"{spent} of {round.before.staminas[agent]} stamina are spent before it"
    owner = round.before.owner[plot]
    return {
        Reason.NOT_OWNER: f"plot {plot} is {'nobody' if owner is None else f'agent {owner}'}'s",
        Reason.ALREADY_OWNED: f"agent {owner} owns plot {plot}",
        Reason.OWN_PLOT: "the plot is its own",
    }.get(reason, f"nobody owns plot {plot}")


def _legal(round: Round, agent: int, action: Act, reason: int) -> Act | None:
    """A legal action close to a removed one, on the same plot; None if there is none."""
    kind, plot, points = action
    if reason == Reason.DUPLICATE or not 0 <= plot < round.config.plots:
        return None
    owner, stamina = round.before.owner[plot], round.before.staminas[agent]
    if owner == agent:
        kind = kind if kind in (MINE, DEFEND) else DEFEND
    elif owner is not None:
        kind = RAID
    elif kind != RAID or reason != Reason.BUDGET:
        kind = CLAIM
    most = 1
    if kind == MINE:
        most = min(round.config.mining_cap, stamina)
    elif _has_points(round, kind):
        most = stamina
    left = stamina - round.spent(agent)
    if reason == Reason.BUDGET and left > 0:
        most = min(most, left)
    if any((kind, plot) == kept[:2] for kept in round.plan(agent)):
        return None
    return kind, plot, max(1, min(points, most))


def _has_points(round: Round, kind: int) -> bool:
    """Whether only the agent's stamina limits the points of an action of this kind."""
    return kind == DEFEND and round.config.defense == POINTWISE


def _raid(raiders: Sequence[int]) -> str:
    return f"{agents_text(raiders)} raid{'s' if len(raiders) == 1 else ''}"


def _held(round: Round, plot: int) -> str:
    """How and since which round the owner of a raided plot holds it."""
    if plot in round.outcome.claims:
        return "which has claimed it in this round"
    before = round.before
    return f"its owner since round {before.since[plot]} by {HOLDINGS[before.how[plot]]}"


def _defended(round: Round, owner: int, defense: int) -> str:
    """How the owner of a raided plot spent its stamina."""
    does = f"defends it with {format_count(defense, 'point')}" if defense else "does not defend it"
    spent, stamina = round.spent(owner) - defense, round.before.staminas[owner]
    return f"agent {owner} {does}; it spends {spent} of {stamina} stamina elsewhere"


def _ruling(round: Round, plot: int) -> Iterator[str]:
    """The authority's ruling on a capture, if there is one."""
    if plot in round.outcome.rulings:
        _, captor, victim, detected, remedy, fine, _ = round.outcome.rulings[plot]
        yield "the authority " + (
            "does not detect it" if not detected
            else f"gives it back to agent {victim}" if remedy == Remedy.RESTORED
            else f"fines agent {captor} {format_number(fine, EXACT_DIGITS)} gold"
        )  # fmt: skip


def _if_raid(
    round: Round, plot: int, agent: int, plan: Sequence[Act], outcome: int, says: str
) -> PlanChange:
    """The change of one plan that gives the raid on a plot another outcome. Raises ValueError if it
    does not: then the round's events do not follow from its inputs.
    """
    again = round.again(agent, plan)
    if again.raids[plot][4] != outcome:
        raise ValueError(f"plot {plot} in round {round.number} is not {OUTCOMES[outcome]} so")
    restored = again.rulings.get(plot, (None,) * 5)[4] == Remedy.RESTORED
    return round.change(agent, plan, says + (_GIVEN_BACK if restored else ""))


def _of_raid(
    round: Round, kind: str, row: Row, account: Sequence[str], change: PlanChange | None
) -> Explanation:
    plot, owner, raiders = row[:3]
    agents = {*raiders} | ({owner} - {None})
    plan = _plan(round, owner) if kind in (CAPTURE, BLOCKED_RAID) else None
    return Explanation(
        kind, round.number, plot, tuple(sorted(agents)), tuple(account), plan, change
    )


def _plan(round: Round, agent: int) -> tuple[int, str]:
    """An agent, and its plan after pruning as text."""
    return agent, _listed(round.plan(agent))


def _listed(plan: Sequence[Act]) -> str:
    """Actions as text, at most `LISTED_MAX` of them; `nothing` if there are none."""
    more = len(plan) - LISTED_MAX
    listed = [action_text(show_action(action)) for action in plan[:LISTED_MAX]]
    return ", ".join([*listed, f"{more} more"] if more > 0 else listed) or "nothing"


def _instead(agent: int, swap: Swap) -> str:
    """A swapped plan as text."""
    wanted, *_ = swap.plan
    text = action_text(show_action(wanted))
    if not swap.given:
        return f"agent {agent}, {text}, with stamina that it did not spend"
    return f"agent {agent}, {text} in place of {_listed(swap.given)}"


Act = tuple[int, int, int]  # kind, plot, points

# What a plan gives up first for something new: gold, then what may come to nothing anyway, and at
# last a defence, with which another plot might go.
_GIVEN_UP: Final = {MINE: 0, CLAIM: 1, RAID: 1, DEFEND: 2}


class Outcome:
    """The derived events of a round: claims, raids and rulings by plot, removals by agent."""

    def __init__(self, batches: Batches) -> None:
        rows = dict(batches)
        self.claims, self.raids, self.rulings, self.removals = (
            {row[0]: row for row in rows.get(code, ())}
            for code in (CLAIM_DRAWN, RAID_RESOLVED, RULED, PRUNED)
        )

    def owner(self, plot: int, before: int | None) -> int | None:
        """The owner of a plot after the round; `before` is its owner before the round."""
        if plot in self.rulings and self.rulings[plot][4] == Remedy.RESTORED:
            return int(self.rulings[plot][2])
        if plot in self.raids and self.raids[plot][5] is not None:
            return int(self.raids[plot][5])
        return self.claims[plot][2] if plot in self.claims else before


@attrs.frozen
class Swap:
    """A plan with one action replaced, and the actions given up for it."""

    plan: Sequence[Act]
    given: Sequence[Act]


class Round:
    """A recorded round: the state `before` it, its submissions, and the `outcome`."""

    def __init__(self, before: MiningState, record: RoundRecord) -> None:
        self.before = before
        self.config = before.config
        self.number = record.round
        self.outcome = Outcome(record.derived.batches)
        self.submitted: Sequence[Row] = record.rows(SUBMITTED)
        self._outside = [e["agent"] for e in before.roster if is_outside(e["policy"])]
        self._plans: list[list[Act]] = [[] for _ in self.submitted]
        self._on_plot: dict[int, list[tuple[int, Act]]] = {}
        for agent, action in kept_actions(record):
            self._plans[agent].append(action)
            self._on_plot.setdefault(action[1], []).append((agent, action))

    def plan(self, agent: int) -> Sequence[Act]:
        """An agent's plan after pruning."""
        return self._plans[agent]

    def spent(self, agent: int) -> int:
        """The stamina of that plan."""
        return sum(points for _, _, points in self._plans[agent])

    def swapped(self, agent: int, wanted: Act) -> Swap | None:
        """An agent's plan with another action first, in place of its own one of that kind on that
        plot and of as few other points as its stamina requires; None if that does not suffice.
        """
        kind, plot, points = wanted
        rest = [action for action in self._plans[agent] if action[:2] != (kind, plot)]
        over = points + sum(action[2] for action in rest) - self.before.staminas[agent]
        given: list[Act] = []
        for index in sorted(range(len(rest)), key=lambda i: (_GIVEN_UP[rest[i][0]], -i)):
            kind, plot, has = rest[index]
            if over > 0 and has:
                taken = min(over, has)
                rest[index] = (kind, plot, has - taken)
                given.append((kind, plot, taken))
                over -= taken
        if over > 0:
            return None
        emptied = {action[:2] for action in given}
        plan = [action for action in rest if action[2] or action[:2] not in emptied]
        return Swap((wanted, *plan), given)

    def without(self, agent: int, kind: int, plot: int) -> Sequence[Act]:
        """An agent's plan without an action."""
        return [action for action in self._plans[agent] if action[:2] != (kind, plot)]

    def again(self, agent: int, plan: Sequence[Act]) -> Outcome:
        """The outcome with another plan of one agent, on the plots of the two plans alone: those of
        a large round are too many to be decided again for each explanation.

        Raises ValueError if the rest of its submission is not one that a recorder writes.
        """
        try:
            row = resubmitted(self._submission(agent, plan), self.config)
        except BadPlan as error:
            raise ValueError(str(error)) from None
        others: dict[int, list[Act]] = {}
        for plot in sorted({action[1] for action in (*plan, *self._plans[agent])}):
            for other, action in self._on_plot.get(plot, ()):
                if other != agent:
                    others.setdefault(other, []).append(action)
        rows = [(other, tuple(actions), *(None,) * 4) for other, actions in others.items()]
        return Outcome(events_of(self.before, sorted([*rows, row])))

    def change(self, agent: int, plan: Sequence[Act], says: str) -> PlanChange:
        """The fork in which an agent has another plan."""
        replaced = [self._submission(agent, plan)]
        replaced += [self._recorded(other) for other in self._outside if other != agent]
        return PlanChange(says, agent, self.number, replaced)

    def _recorded(self, agent: int) -> dict[str, Any]:
        """An agent's submission, in the form of an input of a fork."""
        _, actions, error, say, memo, _ = self.submitted[agent]
        said = {"error": error, "say": say, "memo": memo}
        return {
            "round": self.number,
            "agent": agent,
            "actions": [show_action(action) for action in actions],
            **{name: text for name, text in said.items() if text is not None},
        }

    def _submission(self, agent: int, plan: Sequence[Act]) -> dict[str, Any]:
        """An agent's submission with another plan."""
        again = {**self._recorded(agent), "actions": [show_action(action) for action in plan]}
        again.pop("error", None)
        return again
