"""Audit of the draws of the mining world: claims, raids, and rulings of the authority.

Every draw can be redone alone, because its key identifies it and the event records its draw words.
The rule is section 3 of kernel/worlds/mining/README.md: participants in ascending order, the winner
is `participants[below(n)]`, word i is xxh3-64 of the packed key under seed i.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from goldrush.kernel.errors import BadInput
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.mining.config import POINTWISE, MiningConfig
from goldrush.kernel.worlds.mining.events import (
    CLAIM_DRAWN,
    OUTCOMES,
    RAID_RESOLVED,
    RULED,
    RaidOutcome,
)
from goldrush.kernel.worlds.mining.state import MiningState
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.tie_break import DrawAudits, Occasion, TieBreak

CLAIM, RAID, AUTHORITY = _KINDS = ("claim", "raid", "authority")


def plot_of(path: str | Path, text: str) -> int:
    """The id of a plot in user input. `text`: the plot's id, or its row and column (`3,4`), all
    from 0.

    Raises BadInput if there is no such plot; JournalError if the journal cannot be read.
    """
    config: MiningConfig = rebuild(path, 0).state.config
    match = re.fullmatch(r"\s*(\d{1,9})\s*(?:,\s*(\d{1,9})\s*)?", text, re.ASCII)
    if match is not None and match[2] is None and int(match[1]) < config.plots:
        return int(match[1])
    if match is not None and match[2] is not None:
        row, col = int(match[1]), int(match[2])
        if row < config.rows and col < config.cols:
            return row * config.cols + col
    raise BadInput(
        f"there is no plot {text!r}",
        f"give an id from 0 to {config.plots - 1}, or row,column up to "
        f"{config.rows - 1},{config.cols - 1}",
    )


def _claim(state: MiningState, row: Row) -> TieBreak:
    plot, claimants, winner, words = row
    return TieBreak.drawn(_occasion(state, plot, CLAIM), claimants, words, winner)


def _raid(state: MiningState, row: Row) -> TieBreak:
    plot, owner, raiders, defense, outcome, winner, words = row
    occasion = _occasion(state, plot, RAID)
    others = tuple(raider for raider in raiders if raider != owner)
    if outcome != RaidOutcome.CAPTURED:
        rule = f"the raid is {OUTCOMES[outcome]}: nobody wins, nothing is drawn"
        return TieBreak(occasion, others, words, winner, None, rule)
    if defense and state.config.defense != POINTWISE:
        rule = "a plot that is defended is not captured"
        return TieBreak(occasion, others, words, winner, None, rule)
    if defense:
        says = f"; {defense} are stopped, the next one captures"
        return TieBreak.shuffled(occasion, others, words, winner, nth=defense, meaning=says)
    return TieBreak.drawn(occasion, others, words, winner)


def _ruling(state: MiningState, row: Row) -> TieBreak:
    plot, _, _, detected, _, _, words = row
    occasion = _occasion(state, plot, AUTHORITY)
    return TieBreak.chance(occasion, state.config.detection, words, detected, "detected")


DRAWS: Final = DrawAudits(_KINDS, {CLAIM_DRAWN: _claim, RAID_RESOLVED: _raid, RULED: _ruling})


def _occasion(state: MiningState, plot: int, kind: str) -> Occasion:
    round = state.round + 1  # it is not closed yet
    return Occasion(
        {"round": round, "plot": plot},
        f"on plot {plot} in round {round}",
        (state.config.seed, round, plot, kind),
        decides="detected" if kind == AUTHORITY else "winner",
    )
