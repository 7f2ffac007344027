"""Counts of the events of each round of a mining run, and its ownership spells."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Annotated, Final

import attrs

from goldrush.kernel.world import Row
from goldrush.kernel.worlds.mining.config import POINTWISE
from goldrush.kernel.worlds.mining.events import (
    CLAIM,
    CLAIM_DRAWN,
    DEFEND,
    MINE,
    MINING_SETTLED,
    PRUNED,
    RAID,
    RAID_RESOLVED,
    RULED,
    SUBMITTED,
    Action,
    RaidOutcome,
    Remedy,
)
from goldrush.kernel.worlds.mining.measures import basics
from goldrush.kernel.worlds.mining.state import BY_CAPTURE, BY_CLAIM, HOLDINGS, MiningState
from goldrush.replay.data.compact import Records
from goldrush.replay.worlds.mining.spells import SpellRecords

HELD_LONG: Final = 5  # rounds after which a holder counts as stable
WINDOW: Final = 10  # rounds over which stamina is pooled for the convergence of shares

_HOLDINGS: Final = (BY_CLAIM, BY_CAPTURE)
_TIES: Final = ("claim", "raid")


@attrs.frozen
class PlotGroup:
    """Plots owned at the start of a round, and the raid actions on them."""

    plots: int
    raids: int


@attrs.frozen
class Counts:
    """Counts of a round, each with its unit and meaning. Actions are those left after pruning.

    A plot is `overrun` if it is in no truce and has more raiders, its owner apart, than points;
    under the absolute defence one point stops all, and none is.
    """

    round: int
    owned: Annotated[int, "plots", "plots owned at round start"]
    turned: Annotated[int, "plots", "those of them with another owner at round end"]
    owned_after: Annotated[int, "plots", "plots owned at round end"]
    raided: Annotated[int, "plots", "plots owned at round start that were raided"]
    raids: Annotated[int, "actions", "raids on them, after pruning"]
    speculative: Annotated[int, "actions", "raids on nobody's plots, after pruning"]
    captures: Annotated[int, "plots", "captures that stand"]
    undone: Annotated[int, "plots", "captures that an authority undid"]
    defended: Annotated[int, "plots", "defended plots"]
    defended_raided: Annotated[int, "plots", "defended plots that were raided"]
    defended_captured: Annotated[int, "plots", "defended plots that were captured"]
    defended_undone: Annotated[int, "plots", "defended plots whose capture an authority undid"]
    overrun: Annotated[
        int, "plots", "defended plots with more raiders than points, under pointwise defence"
    ]
    undefended_captured: Annotated[
        int, "plots", "other plots owned at round start that were captured"
    ]
    staked: Annotated[int, "points", "stamina allocated to mining on defended plots"]
    claims: Annotated[int, "plots", "claimed plots"]
    contested: Annotated[int, "plots", "those of them with two claimants or more"]
    defend: Annotated[int, "points", "stamina spent on defence"]
    mine: Annotated[int, "points", "stamina spent on mining"]
    claim: Annotated[int, "points", "stamina spent on claims"]
    raid: Annotated[int, "points", "stamina spent on raids"]
    stamina: Annotated[int, "points", "the stamina of all"]
    lost_claims: Annotated[int, "points", "stamina spent on claims that another won"]
    failed_raids: Annotated[int, "points", "stamina spent on raids that captured nothing for good"]
    forfeited: Annotated[int, "points", "stamina spent on mining plots that were lost in the round"]
    untested: Annotated[int, "points", "stamina spent on the defence of plots that nobody raided"]
    mined: Annotated[float, "gold", "gold mined, before fines"]
    long_claimed: Annotated[PlotGroup, "held by claim for 5 rounds or more at round start"]
    long_captured: Annotated[PlotGroup, "held by capture for 5 rounds or more at round start"]
    new_claimed: Annotated[PlotGroup, "held by claim for less than 5 rounds at round start"]
    new_captured: Annotated[PlotGroup, "held by capture for less than 5 rounds at round start"]

    @property
    def spent(self) -> int:
        """The stamina spent by all agents."""
        return self.defend + self.mine + self.claim + self.raid


@attrs.frozen
class Tie:
    """A draw among agents tied for a plot; `kind`: `claim` or `raid`, as in its key; `rank`: of the
    winner among the participants by id, from 0.
    """

    kind: str
    round: int
    plot: int
    participants: int
    rank: int


@attrs.frozen
class Totals:
    """Sums over the rounds of a run, by the names of `Counts`.

    `owned` sums the plots owned at the start of each round. `long_plots` and `long_raids` are plots
    held for 5 rounds or more and raid actions on them, `new_plots` and `new_raids` the others.
    """

    owned: int
    raided: int
    raids: int
    speculative: int
    defended: int
    defended_raided: int
    defended_captured: int
    defended_undone: int
    overrun: int
    undefended_captured: int
    staked: int
    defend: int
    long_plots: int
    long_raids: int
    new_plots: int
    new_raids: int

    @classmethod
    def of(cls, sums: Mapping[str, int]) -> Totals:
        """The totals among these sums; a missing one is 0."""
        return cls(**{name: sums.get(name, 0) for name in attrs.fields_dict(cls)})


class Counting:
    """Counts the events of a run, round by round.

    It is made with the state before round 1; `add` takes the state after each round. The counts of
    a round follow from its events (the newest in the state's history) and the ownership at its
    start.

    Attributes:
        windows: the counts of the last rounds, as many as convergence compares.
        ties: the draws, in order.
    """

    def __init__(self, state: MiningState) -> None:
        self.windows: deque[Counts] = deque(maxlen=2 * WINDOW)
        self.ties: Records[Tie] = Records(5, _tie)
        self._totals: Counter[str] = Counter()
        self._spells = SpellRecords()  # as long as they are, if they run
        self._running: dict[int, int] = {}  # plot -> the index of its spell
        self._held = [0] * len(HOLDINGS)  # by how: plots held so
        self._changed: deque[Sequence[int]] = deque(maxlen=HELD_LONG - 1)  # hands, by round
        self._remember(state)

    def _remember(self, state: MiningState) -> None:
        self._owner, self._since, self._how = (
            state.owner.copy(), state.since.copy(), state.how.copy()
        )  # fmt: skip

    def spells(self) -> SpellRecords:
        """All spells up to the last round counted, by start and plot; running ones are censored."""
        for index in self._running.values():
            self._spells.extend(index, self.windows[-1].round)
        return self._spells

    def totals(self) -> Totals:
        return Totals.of(self._totals)

    def add(self, state: MiningState) -> Counts:
        """The counts of the round that ended with this state."""
        record = state.history[-1]
        claims, raids = record.rows(CLAIM_DRAWN), record.rows(RAID_RESOLVED)
        restored = {row[0] for row in record.rows(RULED) if row[4] == Remedy.RESTORED}
        captured = {row[0] for row in raids if row[4] == RaidOutcome.CAPTURED} - restored
        plans = _Plans(record.rows(SUBMITTED), record.rows(PRUNED))
        settled = record.rows(MINING_SETTLED)
        raided = {row[0]: len(row[2]) for row in raids}
        on_owned = {plot: count for plot, count in raided.items() if self._owner[plot] is not None}
        lost = [plot for plot in captured if self._owner[plot] is not None]
        long, new = self._groups(state.round, on_owned)
        raid_actions = sum(raided.values())
        basic = basics(self._owner, state.owner, raids, settled)
        counts = Counts(
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
            untested=sum(points for plot, points in plans.defended.items() if plot not in raided),
            mined=basic.mined,
            long_claimed=long[0],
            long_captured=long[1],
            new_claimed=new[0],
            new_captured=new[1],
        )
        self._add_totals(counts)
        self.windows.append(counts)
        self._add_ties(state.round, claims, raids)
        self._follow(state, sorted([row[0] for row in claims] + lost))
        return counts

    def _add_totals(self, counts: Counts) -> None:
        sums = self._totals
        for name in _SUMMED:
            sums[name] += getattr(counts, name)
        for age, groups in (
            ("long", (counts.long_claimed, counts.long_captured)),
            ("new", (counts.new_claimed, counts.new_captured)),
        ):
            for group in groups:
                sums[f"{age}_plots"] += group.plots
                sums[f"{age}_raids"] += group.raids

    def _groups(
        self, round: int, raids: Mapping[int, int]
    ) -> tuple[list[PlotGroup], list[PlotGroup]]:
        """Plots held long, and others, at the start of a round, by kind of holding; with raids."""
        on = [[0, 0] for _ in HOLDINGS]  # by how, and whether held long
        for plot, count in raids.items():
            on[self._how[plot]][round - self._since[plot] >= HELD_LONG] += count
        changed = [self._how[plot] for plot in set().union(*self._changed)]
        long, new = [], []
        for how in _HOLDINGS:
            recent = changed.count(how)
            long.append(PlotGroup(self._held[how] - recent, on[how][True]))
            new.append(PlotGroup(recent, on[how][False]))
        return long, new

    def _add_ties(self, round: int, claims: Sequence[Row], raids: Sequence[Row]) -> None:
        for plot, claimants, winner, words in claims:
            if words:
                rank = claimants.index(winner)
                self.ties.append(0, round, plot, len(claimants), rank)
        for plot, owner, raiders, _, outcome, winner, words in raids:
            if words and outcome == RaidOutcome.CAPTURED:
                tied = [raider for raider in raiders if raider != owner]
                self.ties.append(1, round, plot, len(tied), tied.index(winner))

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


_SUMMED: Final = [name for name in attrs.fields_dict(Totals) if name in attrs.fields_dict(Counts)]


def _tie(kind: int, round: int, plot: int, participants: int, rank: int) -> Tie:
    return Tie(_TIES[kind], round, plot, participants, rank)


def _overrun(state: MiningState, raids: Sequence[Row], defended: Mapping[int, int]) -> int:
    """Defended plots that must fall: more raiders than points, where a point stops one."""
    if state.config.defense != POINTWISE:
        return 0
    return sum(
        len([raider for raider in raiders if raider != owner]) > defended[plot]
        for plot, owner, raiders, _, outcome, _, _ in raids
        if plot in defended and outcome != RaidOutcome.TRUCE
    )


class _Plans:
    """What is left of a round's plans after pruning: stamina `spent` by kind, and the points on
    each plot `defended`.
    """

    def __init__(self, submitted: Sequence[Row], pruned: Sequence[Row]) -> None:
        self.spent = [0, 0, 0, 0]
        self.defended: dict[int, int] = {}
        removed = {row[0]: {index for index, _ in row[1]} for row in pruned}
        spent, defended = self.spent, self.defended
        for row in submitted:
            actions: Sequence[Action] = row[1]
            if gone := removed.get(row[0]):
                actions = [action for index, action in enumerate(actions) if index not in gone]
            for action in actions:
                if action is not None:  # malformed, and not removed: the journal is forged
                    kind, plot, points = action
                    spent[kind] += points
                    if kind == DEFEND:
                        defended[plot] = points
