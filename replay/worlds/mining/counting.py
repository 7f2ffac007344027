"""Counts of the events of each round of a mining run, and its ownership spells."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from goldrush.kernel.worlds.mining.config import MiningConfig
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
from goldrush.kernel.worlds.mining.measures import Basics, basics
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
    """Counts of a round. Actions are those left after pruning, plots are `owned` at the start of a
    round, and stamina is in points.

    Attributes, besides those of Basics:
        raided: owned plots that were raided.
        speculative: raid actions on nobody's plots.
        captures: captures that no authority undid.
        defended, defended_raided: defended plots, and those of them that were raided.
        claims, contested: claimed plots, and those of them with two claimants or more.
        by_kind: stamina spent, by kind of action (as KINDS).
        stamina: that of all agents.
        lost_claims: stamina spent on claims that another won.
        failed_raids: on raids that captured nothing for good.
        forfeited: on mining plots that were lost in the round.
        untested: on the defence of plots that nobody raided.
        held_plots: plots by how they are held (as HOLDINGS) and whether for HELD_LONG rounds or
            more, at round start.
        held_raids: the raid actions on them, likewise.
    """

    raided: int
    speculative: int
    captures: int
    defended: int
    defended_raided: int
    claims: int
    contested: int
    by_kind: Sequence[int]
    stamina: int
    lost_claims: int
    failed_raids: int
    forfeited: int
    untested: int
    held_plots: Sequence[Sequence[int]]
    held_raids: Sequence[Sequence[int]]

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
        windows: the counts of the last rounds, as many as convergence compares.
        speculated: plots without an owner were raided so far.
    """

    def __init__(self, state: MiningState) -> None:
        self.windows: deque[Counts] = deque(maxlen=2 * WINDOW)
        self.speculated = False
        self._lost: list[Spell] = []
        self._running: dict[int, Spell] = {}  # by plot, as at their start
        self._held = [0] * len(HOLDINGS)  # by how: plots held so
        self._changed: deque[Sequence[int]] = deque(maxlen=HELD_LONG)  # hands, by round
        self._round = 0  # the last one counted
        self._record: RoundRecord | None = None  # its events
        self._config = state.config  # and its settings
        self._owner, self._since, self._how = (
            state.owner.copy(), state.since.copy(), state.how.copy()
        )  # fmt: skip

    def spells(self) -> list[Spell]:
        """All spells up to the last round counted, by start and plot; running ones are censored."""
        running = [replace(spell, end=self._round) for spell in self._running.values()]
        return sorted([*self._lost, *running], key=attrgetter("start", "plot"))

    def add(self, state: MiningState) -> Counts:
        """The counts of the round that ended with this state."""
        record = state.history[-1]
        if self._is_repeated(state.config, record):
            counts = self.windows[-1]
            self._changed.append(())
        else:
            counts = self._count(state, record)
        self.speculated = self.speculated or counts.speculative > 0
        self._round, self._record, self._config = state.round, record, state.config
        self.windows.append(counts)
        return counts

    def _is_repeated(self, config: MiningConfig, record: RoundRecord) -> bool:
        """Whether a round must have the counts of the one before, as half of all rounds do: the
        same events and settings, and no plot changed hands that was held for less long then.
        """
        return (
            self._record is not None
            and self._config is config
            and not any(self._changed)
            and record.inputs == self._record.inputs
            and record.derived == self._record.derived
        )

    def _count(self, state: MiningState, record: RoundRecord) -> Counts:
        claims, raids, settled = map(record.rows, (CLAIM_DRAWN, RAID_RESOLVED, MINING_SETTLED))
        spent, defended = [0] * len(KINDS), dict[int, int]()
        for _, plan in kept_plans(record):
            for kind, plot, points in plan:
                spent[kind] += points
                if kind == DEFEND:
                    defended[plot] = points
        raided, captured = dict[int, int](), set[int]()
        on = [[0, 0] for _ in HOLDINGS]  # raid actions, as in Counts
        for plot, _, raiders, _, outcome, _, _ in raids:
            raided[plot] = actions = len(raiders)
            on[self._how[plot]][state.round - self._since[plot] >= HELD_LONG] += actions
            if outcome == RaidOutcome.CAPTURED:
                captured.add(plot)
        captured -= {row[0] for row in record.rows(RULED) if row[4] == Remedy.RESTORED}
        tested = [plot for plot in defended if plot in raided]
        forfeited = sum([row[2] for row in settled if state.owner[row[0]] != row[1]])
        lately = [self._how[plot] for plot in set().union(*list(self._changed)[1 - HELD_LONG :])]
        new = [lately.count(how) for how in range(len(HOLDINGS))]
        basic = basics(self._owner, state.owner, raids, settled)
        counts = Counts(
            owned=basic.owned, turned=basic.turned, raids=basic.raids, mined=basic.mined,
            raided=sum([self._how[plot] != NOBODYS for plot in raided]),
            speculative=sum(on[NOBODYS]),
            captures=len(captured),
            defended=len(defended), defended_raided=len(tested),
            claims=len(claims), contested=sum([len(row[1]) > 1 for row in claims]),
            by_kind=spent, stamina=sum(state.staminas),
            lost_claims=sum([len(row[1]) - 1 for row in claims]),
            failed_raids=sum(raided.values()) - len(captured),
            forfeited=forfeited,
            untested=sum(defended.values()) - sum([defended[plot] for plot in tested]),
            held_plots=[(few, all_ - few) for few, all_ in zip(new, self._held, strict=True)],
            held_raids=on,
        )  # fmt: skip
        self._follow(state, sorted({*captured, *[row[0] for row in claims]}))
        return counts

    def _follow(self, state: MiningState, changed: Sequence[int]) -> None:
        """Update the ownership of plots that may have `changed` hands."""
        self._changed.append(changed)
        owner, hows, held, round = self._owner, self._how, self._held, state.round
        for plot in changed:
            before, after, how = owner[plot], state.owner[plot], state.how[plot]
            assert after is not None  # plots are never given up
            held[hows[plot]] -= 1
            held[how] += 1
            if before != after:
                if before is not None:
                    spell = replace(self._running[plot], end=round - 1, lost_to=after)
                    self._lost.append(spell)
                self._running[plot] = Spell(plot, after, round, round, HOLDINGS[how] or "", None)
            owner[plot], self._since[plot], hows[plot] = after, state.since[plot], how
