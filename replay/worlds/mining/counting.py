"""Counts of the events of each round of a mining run, and its ownership spells."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from operator import add, attrgetter
from typing import Any, Final

import attrs

from goldrush.kernel.worlds.mining.events import (
    CLAIM,
    CLAIM_DRAWN,
    DEFEND,
    KINDS,
    MINE,
    MINING_SETTLED,
    RAID,
    RAID_RESOLVED,
    RULED,
    RaidOutcome,
    Remedy,
)
from goldrush.kernel.worlds.mining.history import kept_actions
from goldrush.kernel.worlds.mining.measures import Basics, basics
from goldrush.kernel.worlds.mining.state import BY_CAPTURE, BY_CLAIM, HOLDINGS, MiningState
from goldrush.replay.worlds.mining.spells import SpellRecords

HELD_LONG: Final = 5  # rounds after which a holder counts as stable
WINDOW: Final = 10  # rounds over which stamina is pooled for the convergence of shares

_HOLDINGS: Final = {BY_CLAIM: "claimed", BY_CAPTURE: "captured"}


@attrs.frozen
class Counts(Basics):
    """Counts of a round, or their sums over the rounds of a run. Actions are those left after
    pruning, plots are `owned` at the start of a round, and stamina is in points.

    Attributes, besides those of Basic:
        raided: owned plots that were raided.
        speculative: raid actions on nobody's plots.
        captures: captures that no authority undid.
        defended: defended plots; `defended_raided` and `defended_captured`: those that were.
        staked: stamina allocated to mining on defended plots.
        claims, contested: claimed plots, and those of them with two claimants or more.
        defend, mine, claim, raid: stamina spent, by kind of action.
        stamina: that of all agents.
        lost_claims: stamina spent on claims that another won.
        failed_raids: on raids that captured nothing for good.
        forfeited: on mining plots that were lost in the round.
        untested: on the defence of plots that nobody raided.
        long_claimed_plots: plots held by claim for HELD_LONG rounds or more at round start;
            `long_claimed_raids`: the raid actions on them. `new`: held for less; `captured`: held
            by capture.
    """

    raided: int
    speculative: int
    captures: int
    defended: int
    defended_raided: int
    defended_captured: int
    staked: int
    claims: int
    contested: int
    defend: int
    mine: int
    claim: int
    raid: int
    stamina: int
    lost_claims: int
    failed_raids: int
    forfeited: int
    untested: int
    long_claimed_plots: int
    long_claimed_raids: int
    long_captured_plots: int
    long_captured_raids: int
    new_claimed_plots: int
    new_claimed_raids: int
    new_captured_plots: int
    new_captured_raids: int

    @property
    def spent(self) -> int:
        """The stamina spent by all agents."""
        return self.defend + self.mine + self.claim + self.raid


_FIELDS: Final = tuple(attrs.fields_dict(Counts))
_values: Final = attrgetter(*_FIELDS)


class Counting:
    """Counts the events of a run, round by round.

    It is made with the state before round 1; `add` takes the state after each round. The counts of
    a round follow from its events (the newest in the state's history) and the ownership at its
    start.

    Attributes:
        windows: the counts of the last rounds, as many as convergence compares.
    """

    def __init__(self, state: MiningState) -> None:
        self.windows: deque[Counts] = deque(maxlen=2 * WINDOW)
        self._totals: Sequence[Any] = (0,) * len(_FIELDS)
        self._spells = SpellRecords()  # as long as they are, if they run
        self._running: dict[int, int] = {}  # plot -> the index of its spell
        self._held = [0] * len(HOLDINGS)  # by how: plots held so
        self._changed: deque[Sequence[int]] = deque(maxlen=HELD_LONG - 1)  # hands, by round
        self._round = 0  # the last one counted
        self._remember(state)

    def _remember(self, state: MiningState) -> None:
        self._owner, self._since, self._how = (
            state.owner.copy(), state.since.copy(), state.how.copy()
        )  # fmt: skip

    def spells(self) -> SpellRecords:
        """All spells up to the last round counted, by start and plot; running ones are censored."""
        for index in self._running.values():
            self._spells.extend(index, self._round)
        return self._spells

    def totals(self) -> Counts:
        """The sums over the rounds counted so far."""
        return Counts(*self._totals)

    def add(self, state: MiningState) -> Counts:
        """The counts of the round that ended with this state."""
        record = state.history[-1]
        claims, raids = record.rows(CLAIM_DRAWN), record.rows(RAID_RESOLVED)
        restored = {row[0] for row in record.rows(RULED) if row[4] == Remedy.RESTORED}
        captured = {row[0] for row in raids if row[4] == RaidOutcome.CAPTURED} - restored
        spent, defended = [0] * len(KINDS), {}
        for _, (kind, plot, points) in kept_actions(record):
            spent[kind] += points
            if kind == DEFEND:
                defended[plot] = points
        settled = record.rows(MINING_SETTLED)
        raided = {row[0]: len(row[2]) for row in raids}
        on_owned = {plot: count for plot, count in raided.items() if self._owner[plot] is not None}
        lost = [plot for plot in captured if self._owner[plot] is not None]
        raid_actions = sum(raided.values())
        basic = basics(self._owner, state.owner, raids, settled)
        counts = Counts(
            owned=basic.owned,
            turned=basic.turned,
            raids=basic.raids,
            mined=basic.mined,
            raided=len(on_owned),
            speculative=raid_actions - basic.raids,
            captures=len(captured),
            defended=len(defended),
            defended_raided=len(defended.keys() & raided.keys()),
            defended_captured=len(defended.keys() & captured),
            staked=sum(row[2] for row in settled if row[0] in defended),
            claims=len(claims),
            contested=sum(len(row[1]) > 1 for row in claims),
            defend=spent[DEFEND],
            mine=spent[MINE],
            claim=spent[CLAIM],
            raid=spent[RAID],
            stamina=sum(state.staminas),
            lost_claims=sum(len(row[1]) - 1 for row in claims),
            failed_raids=raid_actions - len(captured),
            forfeited=sum(row[2] for row in settled if state.owner[row[0]] != row[1]),
            untested=sum(points for plot, points in defended.items() if plot not in raided),
            **self._holdings(state.round, on_owned),
        )
        self._totals = list(map(add, self._totals, _values(counts)))
        self._round = state.round
        self.windows.append(counts)
        self._follow(state, sorted([row[0] for row in claims] + lost))
        return counts

    def _holdings(self, round: int, raids: Mapping[int, int]) -> dict[str, int]:
        """Plots held at the start of a round and the raids on them, by the names of Counts."""
        on = [[0, 0] for _ in HOLDINGS]  # by how, and whether held long
        for plot, count in raids.items():
            on[self._how[plot]][round - self._since[plot] >= HELD_LONG] += count
        changed = [self._how[plot] for plot in set().union(*self._changed)]
        counts = {}
        for how, name in _HOLDINGS.items():
            recent = changed.count(how)
            counts[f"long_{name}_plots"] = self._held[how] - recent
            counts[f"new_{name}_plots"] = recent
            counts[f"new_{name}_raids"], counts[f"long_{name}_raids"] = on[how]
        return counts

    def _follow(self, state: MiningState, changed: Sequence[int]) -> None:
        """Update the ownership of plots that may have `changed` hands."""
        self._changed.append(changed)
        for plot in changed:
            before, after = self._owner[plot], state.owner[plot]
            assert after is not None  # plots are never given up
            if before is not None:
                self._held[self._how[plot]] -= 1
                if before != after:
                    self._spells.lose(self._running[plot], state.round, after)
            if before != after:
                self._running[plot] = self._spells.begin(plot, after, state.round, state.how[plot])
            self._held[state.how[plot]] += 1
        self._remember(state)
