"""What an agent is shown at the start of a round, and nothing more.

An `Observation` is a view: it reads from the state only what is asked for, because most policies
look at little and a full copy for each agent would cost more than the round. It is valid for the
round it was made for; keep nothing from it but what a memo can hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import attrs

from kernel.mining.config import NO_AUTHORITY
from kernel.mining.events import (
    CAPTURED,
    CLAIM,
    CLAIM_DRAWN,
    DEFEND,
    KINDS,
    MINE,
    MINING_SETTLED,
    OUTCOMES,
    PRUNED,
    RAID_RESOLVED,
    REASONS,
    RESTORED,
    RULED,
    SUBMITTED,
    Action,
)
from kernel.mining.state import MiningState, RoundRecord
from kernel.world import Row


@attrs.frozen
class PublicClaim:
    """A claimed plot: who claimed it (ascending ids) and who won."""

    plot: int
    claimants: tuple[int, ...]
    winner: int


@attrs.frozen
class PublicRaid:
    """A raided plot: its owner after the claims (None: nobody's), the raiders (ascending ids),
    whether it was defended, the outcome, and who took it (None: nobody).
    """

    plot: int
    owner: int | None
    raiders: tuple[int, ...]
    defended: bool
    outcome: str
    winner: int | None


@attrs.frozen
class PublicRound:
    """The public events of a round, each tuple by ascending plot; `defended` lists plots."""

    round: int
    claims: tuple[PublicClaim, ...]
    raids: tuple[PublicRaid, ...]
    defended: tuple[int, ...]


@attrs.frozen
class PlotSummary:
    """One plot in a round further back: numbers of claimants and raiders, and what came of it."""

    plot: int
    claimants: int
    raiders: int
    defended: bool
    captured: bool


@attrs.frozen
class RoundSummary:
    """A round further back: the plots on which something public happened, ascending."""

    round: int
    plots: tuple[PlotSummary, ...]


@attrs.frozen
class PastAction:
    """One of the agent's own actions and what came of it.

    `kind` and `plot` are None and `amount` 0 for an item that was no action. `result`: a reason
    for removal (see the `pruned` event), or: mined, forfeited (mine); won, lost (claim); captured,
    undone (by an authority), lost (another raider took it), blocked, truce, void (raid); held,
    fell, untested (defend). `gold` is what it mined.
    """

    round: int
    kind: str | None
    plot: int | None
    amount: int
    result: str
    gold: float = 0.0


@attrs.frozen
class Message:
    """What an agent said last round."""

    agent: int
    text: str


@attrs.frozen
class Authority:
    """The authority's rule (`adjudicate`, `punish`), its chance to detect, its fine in gold."""

    rule: str
    detection: float
    fine: float


class Shown:
    """What everybody is shown, made once a round for all agents and only when asked for."""

    def __init__(self, state: MiningState) -> None:
        self.state = state

    @cached_property
    def owners(self) -> tuple[int | None, ...]:
        return tuple(self.state.owner)

    @cached_property
    def unowned(self) -> tuple[int, ...]:
        return tuple([plot for plot, owner in enumerate(self.state.owner) if owner is None])

    @cached_property
    def last(self) -> PublicRound | None:
        history = self.state.history
        return public_round(history[-1]) if history else None

    @cached_property
    def earlier(self) -> tuple[RoundSummary, ...]:
        return tuple(summary(public_round(record)) for record in self.state.history[:-1])

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        if not self.state.history:
            return ()
        rows = self.state.history[-1].rows(SUBMITTED)
        return tuple(Message(row[0], row[3]) for row in rows if row[3])


class Observation:
    """What agent `agent` is shown before round `round`; every field as SPEC section 9 lists them.

    Plots and agents are ids; tuples of plots ascend. `owners` and `alphas` are indexed by plot.
    Never another agent's gold, stamina, plan, memo or prompt.
    """

    __slots__ = ("_shown", "_state", "agent", "stamina")

    def __init__(self, shown: Shown, agent: int) -> None:
        self._shown = shown
        self._state = shown.state
        self.agent = agent
        self.stamina = shown.state.staminas[agent]

    @property
    def agents(self) -> int:
        """How many agents there are."""
        return self._state.config.agents

    @property
    def round(self) -> int:
        """The round to plan for, 1 .. rounds."""
        return self._state.round + 1

    @property
    def rounds(self) -> int:
        """How many rounds there will be."""
        return self._state.config.rounds

    @property
    def rows(self) -> int:
        """Rows of the grid; plot = row * cols + col."""
        return self._state.config.rows

    @property
    def cols(self) -> int:
        """Columns of the grid."""
        return self._state.config.cols

    @property
    def mining_cap(self) -> int:
        """The most stamina that pays on one plot in a round."""
        return self._state.config.mining_cap

    @property
    def truce(self) -> int:
        """Rounds for which a newly claimed plot is protected, the claiming round counted."""
        return self._state.config.truce

    @property
    def defense(self) -> str:
        """`absolute` (one point stops all raiders) or `pointwise` (each point stops one)."""
        return self._state.config.defense

    @property
    def visibility(self) -> int | str:
        """How many past rounds are shown, or `"all"`."""
        return self._state.config.visibility

    @property
    def communication(self) -> bool:
        """Whether messages are passed on."""
        return self._state.config.communication

    @property
    def authority(self) -> Authority | None:
        """The authority's rule, if there is one."""
        config = self._state.config
        if config.authority == NO_AUTHORITY:
            return None
        return Authority(config.authority, config.detection, config.fine)

    @property
    def owners(self) -> tuple[int | None, ...]:
        """The owner of every plot; None: nobody."""
        return self._shown.owners

    @property
    def alphas(self) -> tuple[float, ...]:
        """Gold per stamina of every plot."""
        return self._state.alphas

    @property
    def own(self) -> tuple[int, ...]:
        """The agent's plots."""
        return tuple(self._state.plots_of[self.agent])

    @property
    def own_by_alpha(self) -> tuple[int, ...]:
        """The agent's plots, the richest first, then by id."""
        state = self._state
        own = state.plots_of[self.agent]
        if state.config.alpha_by_plot is None:
            return tuple(own)
        return tuple(sorted(own, key=lambda plot: -state.alphas[plot]))

    @property
    def unowned(self) -> tuple[int, ...]:
        """Nobody's plots."""
        return self._shown.unowned

    @property
    def others(self) -> tuple[int, ...]:
        """The plots of other agents."""
        agent = self.agent
        return tuple(
            [p for p, owner in enumerate(self.owners) if owner is not None and owner != agent]
        )

    def plots_of(self, agent: int) -> tuple[int, ...]:
        """The plots of any agent."""
        return tuple(self._state.plots_of[agent])

    @property
    def gold(self) -> float:
        """The agent's gold so far."""
        return self._state.gold[self.agent]

    @property
    def memo(self) -> str | None:
        """What the agent left for itself last round."""
        return self._state.memo[self.agent]

    @property
    def messages(self) -> tuple[Message, ...]:
        """What was said last round."""
        return self._shown.messages

    @property
    def last(self) -> PublicRound | None:
        """The public events of last round in full; None before the first."""
        return self._shown.last

    @property
    def earlier(self) -> tuple[RoundSummary, ...]:
        """The rounds before the last, as far as `visibility` reaches, oldest first."""
        return self._shown.earlier

    @property
    def past(self) -> tuple[PastAction, ...]:
        """The agent's own actions of the last `visibility` rounds, oldest first."""
        return tuple(
            action for record in self._state.history for action in past_actions(record, self.agent)
        )


def public_round(record: RoundRecord) -> PublicRound:
    """The public events of a recorded round."""
    return PublicRound(
        record.round,
        tuple(
            PublicClaim(plot, tuple(claimants), winner)
            for plot, claimants, winner, _ in record.rows(CLAIM_DRAWN)
        ),
        tuple(
            PublicRaid(plot, owner, tuple(raiders), defense > 0, OUTCOMES[outcome], winner)
            for plot, owner, raiders, defense, outcome, winner, _ in record.rows(RAID_RESOLVED)
        ),
        tuple(sorted({action[1] for _, action in kept_actions(record) if action[0] == DEFEND})),
    )


def kept_actions(record: RoundRecord) -> Iterator[tuple[int, tuple[int, int, int]]]:
    """(agent, action) of every action that was left after pruning, in plan order."""
    removed = {
        (agent, place) for agent, removals, _ in record.rows(PRUNED) for place, _ in removals
    }
    for row in record.rows(SUBMITTED):
        for place, action in enumerate(row[1]):
            if action is not None and (row[0], place) not in removed:
                yield row[0], action


def summary(public: PublicRound) -> RoundSummary:
    """A round boiled down to counts by plot."""
    claims = {claim.plot: len(claim.claimants) for claim in public.claims}
    raids = {raid.plot: raid for raid in public.raids}
    defended = set(public.defended)
    return RoundSummary(
        public.round,
        tuple(
            PlotSummary(
                plot,
                claims.get(plot, 0),
                len(raids[plot].raiders) if plot in raids else 0,
                plot in defended,
                plot in raids and raids[plot].outcome == OUTCOMES[CAPTURED],
            )
            for plot in sorted({*claims, *raids, *defended})
        ),
    )


def past_actions(record: RoundRecord, agent: int) -> Iterator[PastAction]:
    """An agent's actions of a recorded round, in plan order, with what came of each."""
    actions: tuple[Action, ...] = next(r[1] for r in record.rows(SUBMITTED) if r[0] == agent)
    removed = {
        place: reason
        for row in record.rows(PRUNED) if row[0] == agent
        for place, reason in row[1]
    }  # fmt: skip
    claims = {row[0]: row[2] for row in record.rows(CLAIM_DRAWN)}
    raids = {row[0]: row for row in record.rows(RAID_RESOLVED)}
    undone = {row[0] for row in record.rows(RULED) if row[4] == RESTORED}
    settled = {row[0]: row[3] for row in record.rows(MINING_SETTLED)}
    for place, action in enumerate(actions):
        kind, plot, points = action or (None, None, 0)
        name = None if kind is None else KINDS[kind]
        gold = 0.0
        if place in removed or plot is None:
            result = REASONS[removed[place]]
        elif kind == MINE:
            gold = float(settled.get(plot, 0))
            result = "forfeited" if _fell(raids.get(plot), plot in undone) else "mined"
        elif kind == CLAIM:
            result = "won" if claims[plot] == agent else "lost"
        elif kind == DEFEND:
            result = _defended(raids.get(plot), plot in undone)
        else:
            result = _raided(raids[plot], agent, plot in undone)
        yield PastAction(record.round, name, plot, points, result, gold)


def _fell(raid: Row | None, undone: bool) -> bool:
    """Whether a plot that was the agent's at round start was taken from it for good."""
    return raid is not None and raid[4] == CAPTURED and not undone


def _defended(raid: Row | None, undone: bool) -> str:
    if raid is None:
        return "untested"
    return "fell" if _fell(raid, undone) else "held"


def _raided(raid: Row, agent: int, undone: bool) -> str:
    if raid[4] != CAPTURED:
        return OUTCOMES[raid[4]]
    if raid[5] != agent:
        return "lost"
    return "undone" if undone else "captured"
