"""The state of the mining world, and the effect of events on it.

State is a fold over events and has everything that a later round can depend on: the owner of each
plot, since when and how; gold; the stamina spent by agent and kind; memos; and the record of the
last rounds that agents are shown. `evolve` applies events; it draws nothing and refuses nothing.

The digest covers every field, at a cost that depends on the number of events: values that rarely
change (plots, memos, the record) are covered by a sum of fingerprints modulo 2^64 that is updated
with each change; only gold and stamina, which change for all agents every round, are packed anew.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from xxhash import xxh3_64_intdigest

from goldrush.kernel.codec import encode, fingerprint
from goldrush.kernel.rosters import setup_of
from goldrush.kernel.shape import amount
from goldrush.kernel.world import Block, Past, Row
from goldrush.kernel.worlds.mining.config import MiningConfig, config_of
from goldrush.kernel.worlds.mining.events import (
    EVENTS,
    KINDS,
    RaidOutcome,
    Remedy,
)

T = TypeVar("T")

WORD_MASK = (1 << 64) - 1


# How an owner got a plot.
NOBODYS, BY_CLAIM, BY_CAPTURE = range(3)
HOLDINGS = (None, "claim", "capture")


class RoundRecord:
    """The events of a closed round, inputs and derived, from which agents are shown the past."""

    __slots__ = ("_views", "derived", "fingerprint", "inputs", "round")

    def __init__(self, round: int, inputs: Block, derived: Block) -> None:
        self.round = round
        self.inputs = inputs
        self.derived = derived
        self.fingerprint = xxh3_64_intdigest(
            derived.packed, xxh3_64_intdigest(inputs.packed, round)
        )
        self._views: dict[Callable[[RoundRecord], Any], Any] = {}

    def view(self, make: Callable[[RoundRecord], T]) -> T:
        """What this function makes of the record; made once, however many rounds show it.

        It must not hold the record, which would then live on until the garbage is collected.
        """
        if make not in self._views:
            self._views[make] = make(self)
        made: T = self._views[make]
        return made

    def rows(self, code: int) -> Sequence[Row]:
        block = self.inputs if EVENTS[code].is_input else self.derived
        # Rows of a type stand in one batch here, which is not copied.
        return next((rows for batch, rows in block if batch == code), ())


class MiningState:
    """The state after round `round`. Plots and agents are indices from 0.

    Fields with a leading underscore belong to the round under way and are empty once it is closed.

    Attributes:
        config, roster: the setup in force.
        rules: the version of the rules, from the journal's header.
        round: the last closed round; 0 at the start.
        owner: by plot; None: unowned.
        since: by plot: the round in which the owner got it.
        how: by plot: BY_CLAIM, BY_CAPTURE or NOBODYS.
        plot_prints: by plot: the fingerprint of its owner, since and how as the last digest had
            them; 0 if unowned.
        plots_of: the inverse of `owner`: the plots of each agent, ascending.
        gold, memo: by agent.
        spent: `spent[agent][kind]`: stamina since the start.
        history: the last `visibility` rounds.
        quiet: the last round if it had no claims and no raids and no fork followed it, so that the
            owners and the configuration are those it began with; else None. From it follows that
            the same inputs give the same events again.
        staminas, alphas: by agent and by plot.
        owners: `owner`, as a value that does not change.
        owned, unowned: the plots with and without an owner, ascending.
        plots_sum, memo_sum, history_sum, setup_print: parts of the digest.
    """

    __slots__ = (
        "_captured", "_derived", "_inputs", "_is_quiet", "_owned", "_owners", "_plots_sum",
        "_submitted", "_unowned", "_unprinted", "alphas", "config", "gold", "history",
        "history_sum", "how", "memo", "memo_sum", "owner", "plot_prints", "plots_of", "quiet",
        "roster", "round", "rules", "setup_print", "since", "spent", "staminas",
    )  # fmt: skip

    def __init__(
        self, config: MiningConfig, roster: tuple[Mapping[str, Any], ...], rules: int
    ) -> None:
        self.rules = rules
        self.set_up(config, roster)
        self.round = 0
        self.owner: list[int | None] = [None] * config.plots
        self.since = [0] * config.plots
        self.how = [NOBODYS] * config.plots
        self.plot_prints = [0] * config.plots
        self.plots_of: list[list[int]] = [[] for _ in range(config.agents)]
        self.gold = [0.0] * config.agents
        self.spent = [[0] * len(KINDS) for _ in range(config.agents)]
        self.memo: list[str | None] = [None] * config.agents
        self.history: list[RoundRecord] = []
        self._plots_sum = self.memo_sum = self.history_sum = 0
        self._unprinted = set[int]()
        self._submitted: list[Row] = []
        self._captured: dict[int, tuple[int, int, int]] = {}
        self._inputs: list[Block] = []
        self._derived: list[Block] = []
        self._is_quiet = True
        self._owners: tuple[int | None, ...] | None = None
        self._owned: tuple[int, ...] | None = None
        self._unowned: tuple[int, ...] | None = None

    def __repr__(self) -> str:
        owned = sum(map(len, self.plots_of))
        return (
            f"<MiningState after round {self.round} of {self.config.rounds}: {owned} of "
            f"{self.config.plots} plots owned, {math.fsum(self.gold):,.1f} gold>"
        )

    def set_up(self, config: MiningConfig, roster: tuple[Mapping[str, Any], ...]) -> None:
        """Set the configuration and the roster, and the values derived from them."""
        self.quiet: RoundRecord | None = None
        self.config = config
        self.roster = roster
        self.staminas = config.staminas
        self.alphas = (
            (amount(config.alpha),) * config.plots
            if config.alpha_by_plot is None
            else tuple(map(amount, config.alpha_by_plot))
        )
        self.setup_print = fingerprint((config.as_dict(), roster))

    def in_truce(self, plot: int, round: int) -> bool:
        """Whether a plot is protected: it was claimed less than `truce` rounds before `round`."""
        return self.how[plot] == BY_CLAIM and round < self.since[plot] + self.config.truce

    def hold(self, plot: int, owner: int, since: int, how: int) -> None:
        """Give a plot to an owner. `since`: the round in which the agent got it; `how`: BY_CLAIM or
        BY_CAPTURE.
        """
        before = self.owner[plot]
        self._owners = None
        if before is None:
            self._owned = self._unowned = None
        else:
            held = self.plots_of[before]
            del held[bisect_left(held, plot)]
        insort(self.plots_of[owner], plot)
        self.owner[plot], self.since[plot], self.how[plot] = owner, since, how
        self._unprinted.add(plot)

    @property
    def plots_sum(self) -> int:
        """The sum of the prints of plots, taken when it is asked for: most readers ask for none."""
        for plot in self._unprinted:
            fields = plot, self.owner[plot], self.since[plot], self.how[plot]
            after_print = xxh3_64_intdigest(encode(fields))
            self._plots_sum += after_print - self.plot_prints[plot]
            self.plot_prints[plot] = after_print
        self._unprinted.clear()
        self._plots_sum &= WORD_MASK
        return self._plots_sum

    @property
    def owners(self) -> tuple[int | None, ...]:
        if self._owners is None:
            self._owners = tuple(self.owner)
        return self._owners

    @property
    def owned(self) -> tuple[int, ...]:
        if self._owned is None:
            self._owned = tuple([p for p, owner in enumerate(self.owner) if owner is not None])
        return self._owned

    @property
    def unowned(self) -> tuple[int, ...]:
        if self._unowned is None:
            self._unowned = tuple([p for p, owner in enumerate(self.owner) if owner is None])
        return self._unowned

    def remember(self, agent: int, memo: str | None) -> None:
        for text, sign in ((self.memo[agent], -1), (memo, 1)):
            if text is not None:
                self.memo_sum = self.memo_sum + sign * fingerprint((agent, text)) & WORD_MASK
        self.memo[agent] = memo

    def recall(self, past: Past) -> None:
        """Cut the record to `visibility` rounds, or read it from the journal if it is too short."""
        window = self.config.visibility
        first = max(1, self.round - window + 1) if type(window) is int else 1
        if self.history and self.history[0].round <= first:
            self.history = self.history[first - self.round - 1 :]
        else:
            self.history = [
                RoundRecord(
                    round,
                    Block.joined([step.inputs for step in steps]),
                    Block.joined([step.derived for step in steps]),
                )
                for round, steps in past(first)
            ]
        self.history_sum = sum(record.fingerprint for record in self.history) & WORD_MASK


def initial(setup: Mapping[str, Any], rules: int) -> MiningState:
    """The state before round 1 under these rules.

    Raises BadInput unless the setup has a complete `config` and `roster`.
    """
    return MiningState(*setup_of(setup, config_of), rules)


def copied(state: MiningState) -> MiningState:
    """A copy that shares no mutable value with the original."""
    copy = MiningState.__new__(MiningState)
    for name in MiningState.__slots__:
        value = getattr(state, name)
        if name in ("plots_of", "spent"):
            value = [list(item) for item in value]
        elif isinstance(value, (list, dict, set)):
            value = value.copy()
        setattr(copy, name, value)
    return copy


def evolve(state: MiningState, block: Block) -> MiningState:
    """Apply the events of a block, in place."""
    for code, rows in block.batches:
        _APPLY[code](state, rows)
    if block.batches:
        (state._inputs if _IS_INPUT[code] else state._derived).append(block)
    return state


def unit_done(state: MiningState) -> bool:
    """Whether all agents have submitted in the round under way."""
    return len(state._submitted) == state.config.agents


def close(state: MiningState) -> MiningState:
    """Close the round under way and append its events to the record."""
    state.round += 1
    record = RoundRecord(state.round, Block.joined(state._inputs), Block.joined(state._derived))
    state.quiet = record if state._is_quiet else None
    state.history.append(record)
    state.history_sum += record.fingerprint
    window = state.config.visibility
    if type(window) is int and len(state.history) > window:
        state.history_sum -= state.history.pop(0).fingerprint
    state.history_sum &= WORD_MASK
    state._submitted, state._inputs, state._derived, state._captured = [], [], [], {}
    state._is_quiet = True
    return state


def digest(state: MiningState) -> int:
    """64 bits that cover every field of a state with a closed round, but for the rules, which stand
    in the header; see kernel/README.md.
    """
    fields = (
        state.setup_print,
        state.round,
        state.plots_sum,
        state.memo_sum,
        state.history_sum,
        state.gold,
        state.spent,
    )
    return xxh3_64_intdigest(encode(fields))


def ended(state: MiningState) -> bool:
    """Whether the last round is closed."""
    return state.round >= state.config.rounds


def freeze(state: MiningState) -> Any:
    """A state with a closed round as plain values, without the record of the last rounds."""
    held = [
        (plot, owner, state.since[plot], state.how[plot])
        for plot, owner in enumerate(state.owner)
        if owner is not None
    ]
    setup = state.config.as_dict(), state.roster
    return (*setup, state.round, held, state.gold, state.spent, state.memo)


def thaw(frozen: Any, past: Past, rules: int) -> MiningState:
    """The inverse of `freeze`, under these rules; the parts of the digest are computed again.

    Raises BadInput, TypeError, ValueError, LookupError for values that are not a frozen state.
    """
    config, roster, round, held, gold, spent, memo = frozen
    state = MiningState(config_of(config), roster, rules)
    if not len(gold) == len(spent) == len(memo) == state.config.agents:
        raise ValueError("a frozen state with another number of agents")
    state.round = round
    state.gold = list(gold)
    state.spent = [list(by_kind) for by_kind in spent]
    for plot, owner, since, how in held:
        state.hold(plot, owner, since, how)
    for agent, text in enumerate(memo):
        state.remember(agent, text)
    state.recall(past)
    return state


def _submitted(state: MiningState, rows: Sequence[Row]) -> None:
    spent, memo = state.spent, state.memo
    state._submitted.extend(rows)
    for agent, actions, _, _, text, _ in rows:
        if text is not memo[agent]:
            state.remember(agent, text)
        by_kind = spent[agent]
        for action in actions:
            if action is not None:
                kind, _, points = action
                by_kind[kind] += points


def _pruned(state: MiningState, rows: Sequence[Row]) -> None:
    for agent, removed, _ in rows:
        actions = state._submitted[agent][1]  # all agents submit, in order
        for index, _ in removed:
            action = actions[index]
            if action is not None:
                state.spent[agent][action[0]] -= action[2]


def _claim_drawn(state: MiningState, rows: Sequence[Row]) -> None:
    state._is_quiet = False
    for plot, _, winner, _ in rows:
        state.hold(plot, winner, state.round + 1, BY_CLAIM)


def _raid_resolved(state: MiningState, rows: Sequence[Row]) -> None:
    state._is_quiet = False
    for plot, owner, _, _, outcome, winner, _ in rows:
        if outcome == RaidOutcome.CAPTURED:
            state._captured[plot] = (owner, state.since[plot], state.how[plot])
            state.hold(plot, winner, state.round + 1, BY_CAPTURE)


def _ruled(state: MiningState, rows: Sequence[Row]) -> None:
    for plot, captor, _, _, remedy, fine, _ in rows:
        if remedy == Remedy.RESTORED:
            state.hold(plot, *state._captured[plot])
        state.gold[captor] -= fine


def _mining_settled(state: MiningState, rows: Sequence[Row]) -> None:
    gold = state.gold
    for _, agent, _, settled in rows:
        gold[agent] += settled


_APPLY: list[Callable[[MiningState, Sequence[Row]], None]] = [
    _submitted, _pruned, _claim_drawn, _raid_resolved, _ruled, _mining_settled,
]  # fmt: skip
_IS_INPUT = [event.is_input for event in EVENTS]
