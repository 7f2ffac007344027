"""The derived events of a round: pruning, claims, raids, rulings, mining.

All rules of the mining world are here, in the order in which a round is resolved. `decide` does not
change the state: ownership that changes within the round is kept in `moved`. Draws are keyed by
seed, round, plot and kind, one `Draws` for each tie-break.
"""

from __future__ import annotations

from collections.abc import Sequence

from goldrush.kernel.draws import Draws
from goldrush.kernel.shape import amount
from goldrush.kernel.submissions import one_of_each
from goldrush.kernel.world import Batch, Batches, Block, Row
from goldrush.kernel.worlds.mining.config import ADJUDICATE, NO_AUTHORITY, POINTWISE, MiningConfig
from goldrush.kernel.worlds.mining.events import (
    CLAIM,
    CLAIM_DRAWN,
    DEFEND,
    MINE,
    MINING_SETTLED,
    PRUNED,
    RAID_RESOLVED,
    RULED,
    SUBMITTED,
    Actions,
    RaidOutcome,
    Reason,
    Remedy,
)
from goldrush.kernel.worlds.mining.state import MiningState

LEGAL = -1
OUTSIDE = -1  # the owner of a plot that is not on the grid

Moved = dict[int, int]  # plot -> its new owner, if it changed in this round


class Plans:
    """The legal actions of a round, by plot.

    Attributes:
        defense: points.
        mining: the settlement row that is paid if the plot stays with the agent that mines it.
        idle: plots mined with 0 points.
        claims, raids: agents, ascending.
    """

    __slots__ = ("claims", "defense", "idle", "mining", "raids")

    def __init__(self) -> None:
        self.defense: dict[int, int] = {}
        self.mining: dict[int, Row] = {}
        self.idle: list[int] = []
        self.claims: dict[int, list[int]] = {}
        self.raids: dict[int, list[int]] = {}


def decide(state: MiningState, inputs: Block) -> Batches:
    """The derived events of a round from the submissions of all agents, in the order of agents.

    Once property is stable, agents only mine, and rounds repeat. The events of a round without
    claims and raids depend on nothing but the submissions, the owners and the configuration, so the
    events of `state.quiet` are returned if the submissions are the same.

    Raises InvalidInputs unless every agent has submitted exactly once.
    """
    if state.quiet is not None and state.quiet.inputs.packed == inputs.packed:
        return state.quiet.derived
    return resolve(state, inputs)


def resolve(state: MiningState, inputs: Block) -> list[Batch]:
    """As `decide`, without a look at the last round. Raises as `decide` does."""
    return events_of(state, one_of_each(inputs, SUBMITTED, range(state.config.agents)))


def events_of(state: MiningState, submitted: Sequence[Row]) -> list[Batch]:
    """The derived events of these submissions, ascending by agent, as if nobody else submitted.

    What happens on a plot depends on the actions on it that are not removed (but for a fine, which
    depends on the captor's other captures, too). So the submissions that have an action on a plot
    decide it, without those of all others.
    """
    plans = Plans()
    pruned = _prune(state, submitted, plans)
    moved: Moved = {}
    claims = _draw_claims(state, plans, moved)
    raids = _resolve_raids(state, plans, moved)
    rulings = _rule(state, raids, moved)
    settled = _settle(state, plans, moved)
    batches: Sequence[Batch] = (
        (PRUNED, pruned), (CLAIM_DRAWN, claims), (RAID_RESOLVED, raids), (RULED, rulings),
        (MINING_SETTLED, settled),
    )  # fmt: skip
    return [batch for batch in batches if batch[1]]


def _prune(state: MiningState, submitted: Sequence[Row], plans: Plans) -> list[Row]:
    """Step 0: the legal actions of each agent within its stamina go into `plans`.

    What stands in front of a plan's first objectionable action is mostly the whole plan, and goes
    in here, at half the cost; `_prune_rest` is the rule.

    Returns the rows of the agents that have removed actions: the agent, (index, reason) of each
    removed action, the cost of the others.
    """
    owner, alphas, cap = state.owner, state.alphas, state.config.mining_cap
    mining, defense, claims, raids = plans.mining, plans.defense, plans.claims, plans.raids
    plots = len(owner)
    rows: list[Row] = []
    for agent, actions, _, _, _, _ in submitted:
        left = state.staminas[agent]
        taken = 0
        for action in actions:
            if action is None:
                break
            kind, plot, points = action
            if points > left or not 0 <= plot < plots:
                break
            held = owner[plot]
            if kind == MINE:
                if held != agent or not 0 < points <= cap or plot in mining:
                    break
                mining[plot] = (plot, agent, points, points * alphas[plot])
            elif points != 1:
                break
            elif kind == DEFEND:
                if held != agent or plot in defense:
                    break
                defense[plot] = 1
            else:
                if held is not None if kind == CLAIM else held is None or held == agent:
                    break
                agents = (claims if kind == CLAIM else raids).setdefault(plot, [])
                if agents and agents[-1] == agent:
                    break
                agents.append(agent)
            left -= points
            taken += 1
        if taken < len(actions):
            rows += _prune_rest(state, plans, agent, actions, taken, left)
    return rows


def _prune_rest(
    state: MiningState, plans: Plans, agent: int, actions: Actions, taken: int, left: int
) -> list[Row]:
    """Step 0 for an agent whose first `taken` actions are legal and leave it `left` stamina.

    Costs are never negative, so removing legal actions from the end until the rest fits keeps the
    longest prefix that fits: from the first action that does not fit, all are over budget.
    """
    owner, config, kept = state.owner, state.config, left
    removed: list[tuple[int, int]] = []
    seen = {action[:2] for action in actions[:taken] if action is not None}
    for index, action in enumerate(actions[taken:], taken):
        if action is None:
            removed.append((index, Reason.MALFORMED))
            continue
        kind, plot, points = action
        held = owner[plot] if 0 <= plot < len(owner) else OUTSIDE
        reason = _objection(config, agent, kind, points, held)
        if reason == LEGAL and (kind, plot) in seen:
            reason = Reason.DUPLICATE
        elif reason == LEGAL:
            seen.add((kind, plot))
            left -= points
            if left < 0:
                reason = Reason.BUDGET
        if reason != LEGAL:
            removed.append((index, reason))
            continue
        kept = left
        if kind == MINE:
            plans.mining[plot] = (plot, agent, points, points * state.alphas[plot])
            plans.idle += [plot] if points == 0 else []  # legal, without effect
        elif kind == DEFEND:
            plans.defense[plot] = points
        else:
            (plans.claims if kind == CLAIM else plans.raids).setdefault(plot, []).append(agent)
    return [(agent, tuple(removed), state.staminas[agent] - kept)] if removed else []


def _objection(config: MiningConfig, agent: int, kind: int, points: int, owner: int | None) -> int:
    """The first reason, in the order of REASONS, why an action on a plot with this owner (OUTSIDE:
    there is no such plot) is illegal in itself; else LEGAL.
    """
    if owner == OUTSIDE:
        return Reason.OFF_GRID
    if kind == MINE:
        if not 0 <= points <= config.mining_cap:
            return Reason.BAD_AMOUNT
        return LEGAL if owner == agent else Reason.NOT_OWNER
    if kind == DEFEND:
        if points < 1 or (points > 1 and config.defense != POINTWISE):
            return Reason.BAD_AMOUNT
        return LEGAL if owner == agent else Reason.NOT_OWNER
    if points != 1:
        return Reason.BAD_AMOUNT
    if kind == CLAIM:
        return LEGAL if owner is None else Reason.ALREADY_OWNED
    if owner == agent:
        return Reason.OWN_PLOT
    # Without a truce a raid may target the agent that claims the plot in this round.
    return Reason.UNOWNED if owner is None and config.truce else LEGAL


def _draw_claims(state: MiningState, plans: Plans, moved: Moved) -> list[Row]:
    """Step 1: each claimed plot goes to one of its claimants, by a draw."""
    rows: list[Row] = []
    for plot in sorted(plans.claims):
        claimants = plans.claims[plot]
        winner, words = _winner(state, plot, "claim", claimants)
        moved[plot] = winner
        rows.append((plot, tuple(claimants), winner, words))
    return rows


def _resolve_raids(state: MiningState, plans: Plans, moved: Moved) -> list[Row]:
    """Step 2: raids on each plot, against its owner after the claims."""
    rows: list[Row] = []
    for plot in sorted(plans.raids):
        raiders = plans.raids[plot]
        owner = moved.get(plot, state.owner[plot])
        defense = plans.defense.get(plot, 0)
        others = [raider for raider in raiders if raider != owner] if owner in raiders else raiders
        winner: int | None = None
        words: tuple[int, ...] = ()
        if owner is None or not others:
            outcome = RaidOutcome.VOID
        elif state.in_truce(plot, state.round + 1):
            outcome = RaidOutcome.TRUCE
        elif defense and (state.config.defense != POINTWISE or len(others) <= defense):
            outcome = RaidOutcome.BLOCKED
        else:
            outcome = RaidOutcome.CAPTURED
            if defense:
                # Each point stops one raider; the next one in a random order captures the plot.
                draws = Draws(state.config.seed, state.round + 1, plot, "raid")
                winner = draws.shuffled(others)[defense]
                words = draws.words()
            else:
                winner, words = _winner(state, plot, "raid", others)
            moved[plot] = winner
        rows.append((plot, owner, tuple(raiders), defense, outcome, winner, words))
    return rows


def _rule(state: MiningState, raids: Sequence[Row], moved: Moved) -> list[Row]:
    """The authority, if there is one, detects captures and undoes or fines them."""
    config = state.config
    if config.authority == NO_AUTHORITY:
        return []
    rows: list[Row] = []
    fined: dict[int, float] = {}
    for plot, victim, _, _, outcome, captor, _ in raids:
        if outcome != RaidOutcome.CAPTURED:
            continue
        draws = Draws(config.seed, state.round + 1, plot, "authority")
        detected = draws.chance(config.detection)
        remedy: int | None = None
        fine = 0.0
        if detected and config.authority == ADJUDICATE:
            remedy = Remedy.RESTORED
            moved[plot] = victim
        elif detected:
            remedy = Remedy.FINED
            has = fined.get(captor, state.gold[captor])
            fine = min(config.fine, has)
            fined[captor] = has - fine
        rows.append((plot, captor, victim, detected, remedy, amount(fine), draws.words()))
    return rows


def _settle(state: MiningState, plans: Plans, moved: Moved) -> list[Row]:
    """Step 3: each agent that mines a plot is paid if it still owns the plot."""
    mining = plans.mining
    for plot in plans.idle:
        del mining[plot]
    for plot, owner in moved.items():
        if plot in mining and mining[plot][1] != owner:
            _, agent, stamina, _ = mining[plot]
            mining[plot] = (plot, agent, stamina, 0)
    rows = [mining[plot] for plot in sorted(mining)]
    if state.config.alpha_by_plot or type(state.alphas[0]) is float:
        return [(plot, agent, stamina, amount(gold)) for plot, agent, stamina, gold in rows]
    return rows


def _winner(
    state: MiningState, plot: int, kind: str, participants: Sequence[int]
) -> tuple[int, tuple[int, ...]]:
    """One of the participants (ascending), and the words of the draw; one alone needs none."""
    if len(participants) == 1:
        return participants[0], ()
    draws = Draws(state.config.seed, state.round + 1, plot, kind)
    return participants[draws.below(len(participants))], draws.words()
