"""Counts of the events of each round of a mining run, and its ownership spells."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from goldrush.kernel.worlds.mining.events import (
    CLAIM_DRAWN,
    DEFEND,
    KINDS,
    MINING_SETTLED,
    RAID_RESOLVED,
    RULED,
    RaidOutcome,
    Remedy,
)
from goldrush.kernel.worlds.mining.history import kept_plans
from goldrush.kernel.worlds.mining.measures import Basics, Land, basics, land_of
from goldrush.kernel.worlds.mining.state import (
    HOLDINGS,
    NOBODYS,
    MiningState,
    RoundRecord,
)
from goldrush.replay.worlds.mining.spells import Spell

HELD_LONG: Final = 5  # rounds after which a holder counts as stable
WINDOW: Final = 10  # rounds over which stamina is pooled for the convergence of shares


class Counts(Basics, frozen=True):
    """A closed round as measures see it: its counts. Actions are those left after pruning, plots
    are `owned` at the start of a round, and stamina is in points.

    Attributes, besides those of Basics:
        state: the state after it.
        land: what the grid yields in it.
        windows: the stamina spent by kind in each of the last rounds, up to two windows of WINDOW.
        raided: owned plots that were raided.
        speculative: raid actions on nobody's plots.
        captures: captures that no authority undid.
        defended, defended_raided: defended plots, and those of them that were raided.
        claims, contested: claimed plots, and those of them with two claimants or more.
        by_kind: stamina spent, by kind of action (as KINDS).
        stamina: that of all agents.
        wasted: stamina spent on claims that another won, on raids that captured nothing for good,
            on mining plots that were lost in the round, and on the defence of plots that nobody
            raided.
        held_plots: plots by how they are held (as HOLDINGS) and whether for HELD_LONG rounds or
            more, at round start.
        held_raids: the raid actions on them, likewise.
    """

    state: MiningState
    land: Land
    windows: Sequence[Sequence[int]]
    raided: int
    speculative: int
    captures: int
    defended: int
    defended_raided: int
    claims: int
    contested: int
    by_kind: Sequence[int]
    stamina: int
    wasted: int
    held_plots: Counter[tuple[int, bool]]
    held_raids: Counter[tuple[int, bool]]

    @property
    def spent(self) -> int:
        """The stamina spent by all agents."""
        return sum(self.by_kind)


class Counting:
    """Counts the events of a run, round by round.

    It is made with the state before round 1; `add` takes the state after each round. The counts of
    a round follow from its events (the newest in the state's history) and the ownership at its
    start.

    Attributes:
        speculated: plots without an owner were raided so far.
    """

    def __init__(self, state: MiningState) -> None:
        self.speculated = False
        self._windows: deque[Sequence[int]] = deque(maxlen=2 * WINDOW)
        self._lost: list[Spell] = []
        self._running: dict[int, Spell] = {}  # by plot, as at their start
        self._round = 0  # the last one counted
        self._last: tuple[RoundRecord, Counts] | None = None  # its events and counts
        self._config, self._land = state.config, land_of(state.config)
        self._owner = [*state.owner]
        self._follow(state)

    def spells(self) -> list[Spell]:
        """All spells up to the last round counted, by start and plot; running ones are censored."""
        running = [replace(spell, end=self._round) for spell in self._running.values()]
        return sorted([*self._lost, *running], key=attrgetter("start", "plot"))

    def add(self, state: MiningState) -> Counts:
        """The counts of the round that ended with this state."""
        record = state.history[-1]
        counts = self._repeated(state, record) or self._count(state, record)
        self._round, self._last = state.round, (record, counts)
        self._windows.append(counts.by_kind)
        return counts

    def _repeated(self, state: MiningState, record: RoundRecord) -> Counts | None:
        """The counts of the round before if this one must have the same, as half of all rounds do:
        the same events and settings, and no plot that was held for less long then.
        """
        if self._last is None:
            return None
        before, counts = self._last
        is_repeated = (
            self._config is state.config
            and max(self._since) < state.round - HELD_LONG
            and record.inputs == before.inputs
            and record.derived == before.derived
        )
        return counts if is_repeated else None

    def _count(self, state: MiningState, record: RoundRecord) -> Counts:
        if self._config is not state.config:  # a fork changed it
            self._config, self._land = state.config, land_of(state.config)
        claims, raids, settled = map(record.rows, (CLAIM_DRAWN, RAID_RESOLVED, MINING_SETTLED))
        spent, defended = [0] * len(KINDS), dict[int, int]()
        for _, plan in kept_plans(record):
            for kind, plot, points in plan:
                spent[kind] += points
                if kind == DEFEND:
                    defended[plot] = points
        are_long = [state.round - since >= HELD_LONG for since in self._since]
        raided, captured, on = dict[int, int](), set[int](), Counter[tuple[int, bool]]()
        for plot, _, raiders, _, outcome, _, _ in raids:
            raided[plot] = actions = len(raiders)
            on[self._how[plot], are_long[plot]] += actions
            if outcome == RaidOutcome.CAPTURED:
                captured.add(plot)
        captured -= {row[0] for row in record.rows(RULED) if row[4] == Remedy.RESTORED}
        speculative = on[NOBODYS, False] + on[NOBODYS, True]
        lost_claims = sum([len(row[1]) - 1 for row in claims])
        failed_raids = sum(raided.values()) - len(captured)
        forfeited = sum([row[2] for row in settled if state.owner[row[0]] != row[1]])
        untested = sum([points for plot, points in defended.items() if plot not in raided])
        basic = basics(self._owner, state.owner, raids, settled)
        counts = Counts(
            owned=basic.owned, turned=basic.turned, raids=basic.raids, mined=basic.mined,
            state=state, land=self._land, windows=self._windows,
            raided=sum([self._how[plot] != NOBODYS for plot in raided]),
            speculative=speculative,
            captures=len(captured),
            defended=len(defended), defended_raided=len(defended.keys() & raided.keys()),
            claims=len(claims), contested=sum([len(row[1]) > 1 for row in claims]),
            by_kind=spent, stamina=sum(state.staminas),
            wasted=lost_claims + failed_raids + forfeited + untested,
            held_plots=Counter(zip(self._how, are_long, strict=True)),
            held_raids=on,
        )  # fmt: skip
        self.speculated = self.speculated or speculative > 0
        self._follow(state)
        return counts

    def _follow(self, state: MiningState) -> None:
        """Update the ownership of plots, and the spells of those that have another owner."""
        for plot, (before, after) in enumerate(zip(self._owner, state.owner, strict=True)):
            if before == after or after is None:  # plots are never given up
                continue
            if before is not None:
                spell = replace(self._running[plot], end=state.round - 1, lost_to=after)
                self._lost.append(spell)
            gained = HOLDINGS[state.how[plot]] or ""
            self._running[plot] = Spell(plot, after, state.round, state.round, gained, None)
        self._owner, self._since, self._how = [*state.owner], [*state.since], [*state.how]
