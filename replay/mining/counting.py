"""Counts of the events of each round of a mining run, and its ownership spells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from goldrush.kernel.mining.config import POINTWISE
from goldrush.kernel.mining.events import (
    CAPTURED,
    CLAIM,
    CLAIM_DRAWN,
    DEFEND,
    MINE,
    MINING_SETTLED,
    PRUNED,
    RAID,
    RAID_RESOLVED,
    RESTORED,
    RULED,
    SUBMITTED,
    TRUCE,
)
from goldrush.kernel.mining.measures import HELD_LONG, Counts, Group, basics
from goldrush.kernel.mining.state import BY_CAPTURE, BY_CLAIM, HOLDINGS, MiningState
from goldrush.kernel.world import Row
from goldrush.replay.mining.spells import Spell

_HOLDINGS: Final = (BY_CLAIM, BY_CAPTURE)


@attrs.frozen
class Tie:
    """A draw among agents tied for a plot.

    Attributes:
        kind: `claim` or `raid`, as in the key of the draw.
        round: its round.
        plot: the plot.
        participants: the number of tied agents.
        rank: of the winner among them by id, from 0.

    """

    kind: str
    round: int
    plot: int
    participants: int
    rank: int


class Counting:
    """Counts the events of a run, round by round.

    It is made with the state before round 1; `add` takes the state after each round. The counts of
    a round follow from its events (the newest in the state's history) and the ownership at its
    start.

    Attributes:
        counts: by round.
        ties: the draws, in order.

    """

    def __init__(self, state: MiningState) -> None:
        self.counts: list[Counts] = []
        self.ties: list[Tie] = []
        self._ended: list[Spell] = []
        self._begun: dict[int, int] = {}  # plot -> the first round end of the spell under way
        self._gained: dict[int, int] = {}  # plot -> how that spell came about
        self._held: Counter[tuple[int, int]] = Counter()  # (how, since) -> plots held so
        self._remember(state)

    def _remember(self, state: MiningState) -> None:
        self._owner, self._since, self._how = (
            state.owner.copy(), state.since.copy(), state.how.copy()
        )  # fmt: skip

    def spells(self) -> list[Spell]:
        """All spells up to the last round counted, by start and plot; running ones are censored."""
        last = len(self.counts)
        running = [
            Spell(plot, owner, begun, last, HOLDINGS[self._gained[plot]] or "", None)
            for plot, begun in self._begun.items()
            if (owner := self._owner[plot]) is not None
        ]
        return sorted(self._ended + running, key=lambda spell: (spell.start, spell.plot))

    def add(self, state: MiningState) -> None:
        """Count the round that ended with this state."""
        record = state.history[-1]
        claims, raids = record.rows(CLAIM_DRAWN), record.rows(RAID_RESOLVED)
        restored = {row[0] for row in record.rows(RULED) if row[4] == RESTORED}
        captured = {row[0] for row in raids if row[4] == CAPTURED} - restored
        plans = _Plans(record.rows(SUBMITTED), record.rows(PRUNED))
        settled = record.rows(MINING_SETTLED)
        raided = {row[0]: len(row[2]) for row in raids}
        on_owned = {plot: count for plot, count in raided.items() if self._owner[plot] is not None}
        lost = [plot for plot in captured if self._owner[plot] is not None]
        long, new = self._groups(state.round, on_owned)
        raid_actions = sum(raided.values())
        basic = basics(self._owner, state.owner, raids, settled)
        self.counts.append(
            Counts(
                round=state.round,
                owned=basic.owned,
                turned=basic.turned,
                owned_after=basic.owned + len(claims),
                raided=len(on_owned),
                raids=basic.raids,
                speculative=raid_actions - basic.raids,
                captures=len(captured),
                undone=len(restored),
                defended=len(plans.defended),
                defended_raided=len(plans.defended.keys() & raided.keys()),
                defended_captured=len(plans.defended.keys() & captured),
                defended_undone=len(plans.defended.keys() & restored),
                overrun=_overrun(state, raids, plans.defended),
                undefended_captured=len(set(lost) - plans.defended.keys()),
                staked=sum(row[2] for row in settled if row[0] in plans.defended),
                claims=len(claims),
                contested=sum(len(row[1]) > 1 for row in claims),
                defend=plans.spent[DEFEND],
                mine=plans.spent[MINE],
                claim=plans.spent[CLAIM],
                raid=plans.spent[RAID],
                stamina=sum(state.staminas),
                lost_claims=sum(len(row[1]) - 1 for row in claims),
                failed_raids=raid_actions - len(captured),
                forfeited=sum(row[2] for row in settled if state.owner[row[0]] != row[1]),
                untested=sum(
                    points for plot, points in plans.defended.items() if plot not in raided
                ),
                mined=basic.mined,
                long_claimed=long[0],
                long_captured=long[1],
                new_claimed=new[0],
                new_captured=new[1],
            )
        )
        self._add_ties(state.round, claims, raids)
        self._follow(state, [row[0] for row in claims] + lost)

    def _groups(self, round: int, raids: Mapping[int, int]) -> tuple[list[Group], list[Group]]:
        """Plots held long, and others, at the start of a round, by kind of holding; with raids."""
        on = Counter[tuple[int, bool]]()
        for plot, count in raids.items():
            on[self._how[plot], round - self._since[plot] >= HELD_LONG] += count
        long, new = [], []
        for how in _HOLDINGS:
            recent = sum(self._held[how, round - age] for age in range(1, HELD_LONG))
            every = sum(held for (by, _), held in self._held.items() if by == how)
            long.append(Group(every - recent, on[how, True]))
            new.append(Group(recent, on[how, False]))
        return long, new

    def _add_ties(self, round: int, claims: Sequence[Row], raids: Sequence[Row]) -> None:
        for plot, claimants, winner, words in claims:
            if words:
                rank = claimants.index(winner)
                self.ties.append(Tie("claim", round, plot, len(claimants), rank))
        for plot, owner, raiders, _, outcome, winner, words in raids:
            if words and outcome == CAPTURED:
                tied = [raider for raider in raiders if raider != owner]
                self.ties.append(Tie("raid", round, plot, len(tied), tied.index(winner)))

    def _follow(self, state: MiningState, changed: Sequence[int]) -> None:
        """Update the ownership of plots that may have `changed` hands."""
        for plot in changed:
            before, after = self._owner[plot], state.owner[plot]
            if before is not None:
                self._leave(plot, (self._how[plot], self._since[plot]))
                if before != after:
                    begun, gained = self._begun[plot], HOLDINGS[self._gained[plot]] or ""
                    self._ended.append(Spell(plot, before, begun, state.round - 1, gained, after))
            if before != after:
                self._begun[plot], self._gained[plot] = state.round, state.how[plot]
            self._held[state.how[plot], state.since[plot]] += 1
        self._remember(state)

    def _leave(self, plot: int, held: tuple[int, int]) -> None:
        self._held[held] -= 1
        if not self._held[held]:
            del self._held[held]


def _overrun(state: MiningState, raids: Sequence[Row], defended: Mapping[int, int]) -> int:
    """Defended plots that must fall: more raiders than points, where a point stops one."""
    if state.config.defense != POINTWISE:
        return 0
    return sum(
        len([raider for raider in raiders if raider != owner]) > defended[plot]
        for plot, owner, raiders, _, outcome, _, _ in raids
        if plot in defended and outcome != TRUCE
    )


class _Plans:
    """What is left of a round's plans after pruning: stamina `spent` by kind, and the points on
    each plot `defended`.
    """

    def __init__(self, submitted: Sequence[Row], pruned: Sequence[Row]) -> None:
        self.spent = [0, 0, 0, 0]
        self.defended: dict[int, int] = {}
        removed = {row[0]: {index for index, _ in row[1]} for row in pruned}
        for row in submitted:
            gone = removed.get(row[0], ())
            for index, action in enumerate(row[1]):
                if action is not None and index not in gone:
                    kind, plot, points = action
                    self.spent[kind] += points
                    if kind == DEFEND:
                        self.defended[plot] = points
