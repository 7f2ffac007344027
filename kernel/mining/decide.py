"""What follows from a round's submissions: cleaning, claims, raids, rulings, mining.

All judgement of the mining world stands here, in the order in which a round is resolved. `decide`
changes nothing: ownership that moves within the round is kept in `moved` until the events
are applied. Draws are keyed by seed, round, plot and kind, one `Draws` a tie-break.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernel.draws import Draws
from kernel.mining.config import ADJUDICATE, NO_AUTHORITY, POINTWISE
from kernel.mining.events import (
    ALREADY_OWNED,
    BAD_AMOUNT,
    BLOCKED,
    BUDGET,
    CAPTURED,
    CLAIM,
    CLAIM_DRAWN,
    DEFEND,
    DUPLICATE,
    FINED,
    MALFORMED,
    MINE,
    MINING_SETTLED,
    NOT_OWNER,
    OFF_GRID,
    OWN_PLOT,
    PRUNED,
    RAID,
    RAID_RESOLVED,
    RESTORED,
    RULED,
    SUBMITTED,
    TRUCE,
    UNOWNED,
    VOID,
    Action,
)
from kernel.mining.state import MiningState
from kernel.world import Batch, Block, Row, amount

Moved = dict[int, int]  # plot -> its owner now, where that changed this round


class Plans:
    """What is left of the round's plans, by plot.

    `defense`: points. `mining`: (agent, stamina), where stamina >= 1. `claims`, `raids`: agents,
    ascending.
    """

    __slots__ = ("claims", "defense", "mining", "raids")

    def __init__(self) -> None:
        self.defense: dict[int, int] = {}
        self.mining: dict[int, tuple[int, int]] = {}
        self.claims: dict[int, list[int]] = {}
        self.raids: dict[int, list[int]] = {}


def decide(state: MiningState, inputs: Block) -> list[Batch]:
    """The derived events of a round from everybody's submissions, in agent order."""
    plans, pruned = _prune(state, inputs.rows(SUBMITTED))
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


def _prune(state: MiningState, submitted: Sequence[Row]) -> tuple[Plans, list[Row]]:
    """Step 0: remove what is not legal, then from the tail what the stamina does not cover."""
    plans = Plans()
    defense, mining, claims, raids = plans.defense, plans.mining, plans.claims, plans.raids
    rows: list[Row] = []
    staminas = state.staminas
    for agent, actions, _, _, _, _ in submitted:
        kept, places, removed, cost = _clean(state, agent, actions)
        if cost > staminas[agent]:
            while cost > staminas[agent]:
                cost -= kept.pop()[2]
                removed.append((places.pop(), BUDGET))
            removed.sort()
        if removed:
            rows.append((agent, removed, cost))
        for kind, plot, points in kept:
            if kind == MINE:
                if points:
                    mining[plot] = (agent, points)
            elif kind == DEFEND:
                defense[plot] = points
            elif kind == CLAIM:
                claims.setdefault(plot, []).append(agent)
            else:
                raids.setdefault(plot, []).append(agent)
    return plans, rows


def _clean(
    state: MiningState, agent: int, actions: Sequence[Action]
) -> tuple[list[tuple[int, int, int]], list[int], list[tuple[int, int]], int]:
    """One plan's legal actions, their places in it, (place, reason) of the others, the cost."""
    owner, config = state.owner, state.config
    plots, cap = len(owner), config.mining_cap
    most_defense = None if config.defense == POINTWISE else 1
    kept: list[tuple[int, int, int]] = []
    places: list[int] = []
    removed: list[tuple[int, int]] = []
    seen: set[int] = set()
    cost = 0
    for place, action in enumerate(actions):
        if action is None:
            removed.append((place, MALFORMED))
            continue
        kind, plot, points = action
        reason = -1
        if not 0 <= plot < plots:
            reason = OFF_GRID
        elif kind == MINE:
            if not 0 <= points <= cap:
                reason = BAD_AMOUNT
            elif owner[plot] != agent:
                reason = NOT_OWNER
        elif kind == DEFEND:
            if points < 1 or (most_defense and points > most_defense):
                reason = BAD_AMOUNT
            elif owner[plot] != agent:
                reason = NOT_OWNER
        elif points != 1:
            reason = BAD_AMOUNT
        elif kind == CLAIM:
            if owner[plot] is not None:
                reason = ALREADY_OWNED
        elif owner[plot] == agent:
            reason = OWN_PLOT
        elif owner[plot] is None and config.truce:
            reason = UNOWNED
        if reason < 0:
            if (key := plot << 2 | kind) in seen:
                reason = DUPLICATE
            else:
                seen.add(key)
                kept.append(action)
                places.append(place)
                cost += points
                continue
        removed.append((place, reason))
    return kept, places, removed, cost


def _draw_claims(state: MiningState, plans: Plans, moved: Moved) -> list[Row]:
    """Step 1: the claimants of each plot draw for it."""
    rows: list[Row] = []
    for plot in sorted(plans.claims):
        claimants = plans.claims[plot]
        winner, words = _winner(state, plot, "claim", claimants)
        moved[plot] = winner
        rows.append((plot, claimants, winner, words))
    return rows


def _resolve_raids(state: MiningState, plans: Plans, moved: Moved) -> list[Row]:
    """Step 2: raids on each plot, against its owner after the claims."""
    rows: list[Row] = []
    for plot in sorted(plans.raids):
        raiders = plans.raids[plot]
        owner = moved.get(plot, state.owner[plot])
        defense = plans.defense.get(plot, 0)
        others = [raider for raider in raiders if raider != owner]
        winner: int | None = None
        words: tuple[int, ...] = ()
        if owner is None or not others:
            outcome = VOID
        elif _in_truce(state, plot, moved):
            outcome = TRUCE
        elif defense and (state.config.defense != POINTWISE or len(others) <= defense):
            outcome = BLOCKED
        else:
            outcome = CAPTURED
            if defense:
                # Each point stops one raider; who comes through first takes the plot.
                draws = Draws(state.config.seed, state.round + 1, plot, "raid")
                winner = draws.shuffled(others)[defense]
                words = draws.words()
            else:
                winner, words = _winner(state, plot, "raid", others)
            moved[plot] = winner
        rows.append((plot, owner, raiders, defense, outcome, winner, words))
    return rows


def _in_truce(state: MiningState, plot: int, moved: Moved) -> bool:
    if plot in moved:  # claimed this round, which is the first that a truce covers
        return state.config.truce >= 1
    return state.in_truce(plot, state.round + 1)


def _rule(state: MiningState, raids: Sequence[Row], moved: Moved) -> list[Row]:
    """The authority, where there is one, finds out about captures and undoes or fines them."""
    config = state.config
    if config.authority == NO_AUTHORITY:
        return []
    rows: list[Row] = []
    fined: dict[int, float] = {}
    for plot, victim, _, _, outcome, captor, _ in raids:
        if outcome != CAPTURED:
            continue
        draws = Draws(config.seed, state.round + 1, plot, "authority")
        detected = draws.chance(config.detection)
        remedy: int | None = None
        fine = 0.0
        if detected and config.authority == ADJUDICATE:
            remedy = RESTORED
            moved[plot] = victim
        elif detected:
            remedy = FINED
            has = fined.get(captor, state.gold[captor])
            fine = min(config.fine, has)
            fined[captor] = has - fine
        rows.append((plot, captor, victim, detected, remedy, amount(fine), draws.words()))
    return rows


def _settle(state: MiningState, plans: Plans, moved: Moved) -> list[Row]:
    """Step 3: who declared to mine a plot is paid for it if it is still theirs."""
    mining, alphas = plans.mining, state.alphas
    rows: list[Row] = []
    for plot in sorted(mining):
        agent, stamina = mining[plot]
        gold: float = stamina * alphas[plot]
        if plot in moved and moved[plot] != agent:
            gold = 0
        elif type(gold) is float:
            gold = amount(gold)
        rows.append((plot, agent, stamina, gold))
    return rows


def _winner(
    state: MiningState, plot: int, kind: str, participants: Sequence[int]
) -> tuple[int, tuple[int, ...]]:
    """One of the participants (ascending), and the words taken; a single one needs no draw."""
    if len(participants) == 1:
        return participants[0], ()
    draws = Draws(state.config.seed, state.round + 1, plot, kind)
    return participants[draws.below(len(participants))], draws.words()
