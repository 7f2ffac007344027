"""Observations: what an agent is shown at the start of a round, and nothing more.

A `MiningObservation` is a view: it reads from the state only what is asked for, because most
policies look at little, and a full copy for each agent would cost more than the round. It is valid
only for its round; a policy can keep values in its memo. Plots that a policy can pick are counted,
indexed and searched without being listed (`PlotsExcept`): listed for every agent, a round would
cost agents x plots.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import overload

import msgspec

from goldrush.kernel.worlds.mining.config import NO_AUTHORITY
from goldrush.kernel.worlds.mining.events import SUBMITTED
from goldrush.kernel.worlds.mining.history import (
    Outcomes,
    PastAction,
    PublicRaid,
    PublicRound,
    RoundSummary,
    public_raid,
    public_round,
    raids_by_owner,
    summary,
)
from goldrush.kernel.worlds.mining.state import MiningState, RoundRecord


class Message(msgspec.Struct, frozen=True):
    """A message that an agent sent in the last round."""

    agent: int
    text: str


class Authority(msgspec.Struct, frozen=True):
    """The authority: its rule (`adjudicate` or `punish`), probability of detection, and fine in
    gold.
    """

    rule: str
    detection: float
    fine: float


class MiningObservation:
    """What agent `agent` is shown before round `round`; see README.md, section 9.

    Plots and agents are ids; sequences of plots are ascending. Those that many agents share are not
    copied or listed for each of them, so to pick a few plots costs little however large the map is:
    with `others = seen.others`, `[others[i] for i in draws.sample(len(others), 3)]`. `owners` and
    `alphas` are indexed by plot. It never shows another agent's gold, stamina, plan, memo or
    prompt.
    """

    __slots__ = ("_state", "agent", "stamina")

    def __init__(self, state: MiningState, agent: int) -> None:
        self._state = state
        self.agent = agent
        self.stamina = state.staminas[agent]

    @property
    def agents(self) -> int:
        """The number of agents."""
        return self._state.config.agents

    @property
    def round(self) -> int:
        """The round to plan for, 1 .. rounds."""
        return self._state.round + 1

    @property
    def rounds(self) -> int:
        """The number of rounds of the run."""
        return self._state.config.rounds

    @property
    def rules(self) -> int:
        """The version of the rules of the run."""
        return self._state.rules

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
        """The most stamina that is paid on one plot in a round."""
        return self._state.config.mining_cap

    @property
    def truce(self) -> int:
        """Rounds for which a newly claimed plot is protected, including the round of the claim."""
        return self._state.config.truce

    @property
    def defense(self) -> str:
        """`absolute` (one point stops all raiders) or `pointwise` (each point stops one)."""
        return self._state.config.defense

    @property
    def visibility(self) -> int | str:
        """The number of past rounds that are shown, or `"all"`."""
        return self._state.config.visibility

    @property
    def communication(self) -> bool:
        """Whether agents can send messages."""
        return self._state.config.communication

    @property
    def authority(self) -> Authority | None:
        """The authority, if there is one."""
        config = self._state.config
        if config.authority == NO_AUTHORITY:
            return None
        return Authority(config.authority, config.detection, config.fine)

    @property
    def owners(self) -> tuple[int | None, ...]:
        """The owner of every plot; None: unowned."""
        return self._state.owners

    @property
    def alphas(self) -> tuple[float, ...]:
        """Gold for a point of stamina on every plot."""
        return self._state.config.alphas

    @property
    def own(self) -> tuple[int, ...]:
        """The agent's plots."""
        return tuple(self._state.plots_of[self.agent])

    @property
    def own_by_alpha(self) -> tuple[int, ...]:
        """The agent's plots by descending alpha, then by id."""
        state = self._state
        own = state.plots_of[self.agent]
        if state.config.alpha_by_plot is None:
            return tuple(own)
        return tuple(sorted(own, key=lambda plot: -state.alphas[plot]))

    @property
    def unowned(self) -> tuple[int, ...]:
        """The plots without an owner."""
        return self._state.unowned

    @property
    def others(self) -> Sequence[int]:
        """The plots of other agents."""
        return PlotsExcept(self._state.owned, tuple(self._state.plots_of[self.agent]))

    def plots_of(self, agent: int) -> tuple[int, ...]:
        """The plots of an agent."""
        return tuple(self._state.plots_of[agent])

    @property
    def gold(self) -> float:
        """The agent's gold so far."""
        return self._state.gold[self.agent]

    @property
    def memo(self) -> str | None:
        """The memo that the agent wrote in the last round."""
        return self._state.memo[self.agent]

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages of the last round."""
        if not self._state.history or not self._state.config.communication:
            return ()  # a fork may have turned it off; earlier messages are not delivered then
        return self._state.history[-1].view(messages)

    @property
    def last(self) -> PublicRound | None:
        """The public events of the last round in full; None before the first round."""
        history = self._state.history
        return history[-1].view(public_round) if history else None

    @property
    def suffered(self) -> Sequence[PublicRaid]:
        """The raids of the last round on plots that the agent owned then, after the claims."""
        if not self._state.history:
            return ()
        raids = self._state.history[-1].view(raids_by_owner).get(self.agent, ())
        return list(map(public_raid, raids))

    @property
    def earlier(self) -> tuple[RoundSummary, ...]:
        """The rounds before the last, as far as `visibility` reaches, oldest first."""
        return tuple([record.view(summary) for record in self._state.history[:-1]])

    @property
    def past(self) -> tuple[PastAction, ...]:
        """The agent's own actions of the last `visibility` rounds, oldest first."""
        return tuple(
            action
            for record in self._state.history
            for action in record.view(Outcomes).of(self.agent)
        )


def messages(record: RoundRecord) -> tuple[Message, ...]:
    """The messages that were sent in a round, a view of its record."""
    return tuple([Message(row[0], row[3]) for row in record.rows(SUBMITTED) if row[3]])


class PlotsExcept(Sequence[int]):
    """Ascending integers without some of them, as of its making as long as neither is changed.

    Its length takes no time, an item and a search the time of a binary search; the first item takes
    one for each integer that is removed.
    """

    __slots__ = ("_before", "_every", "_removed")

    def __init__(self, every: Sequence[int], removed: Sequence[int]) -> None:
        """Both are ascending; all of `removed` are in `every`."""
        self._every = every
        self._removed = removed
        self._before: list[int] | None = None  # how many items are before each one removed

    def __len__(self) -> int:
        return len(self._every) - len(self._removed)

    @overload
    def __getitem__(self, index: int) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[int, ...]: ...

    def __getitem__(self, index: int | slice) -> int | tuple[int, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        at = index if index >= 0 else index + len(self)
        if self._before is None:
            self._before = self._counted()
        try:
            if at >= 0:
                return self._every[at + bisect_right(self._before, at)]
        except IndexError:
            pass  # said below
        raise IndexError(f"index {index} of {len(self)} plots")

    def __iter__(self) -> Iterator[int]:
        every, start = self._every, 0
        for plot in self._removed:
            at = bisect_left(every, plot, start)
            yield from every[start:at]
            start = at + 1
        yield from every[start:]

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, int):
            return False
        return _has(self._every, value) and not _has(self._removed, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # as a list

    def __repr__(self) -> str:
        return repr(tuple(self))

    def _counted(self) -> list[int]:
        every, removed = self._every, self._removed
        if every and every[-1] == len(every) - 1:  # all plots from 0 on: each is its own index
            return [plot - at for at, plot in enumerate(removed)]
        return [bisect_left(every, plot) - at for at, plot in enumerate(removed)]


def _has(ascending: Sequence[int], value: int) -> bool:
    at = bisect_left(ascending, value)
    return at < len(ascending) and ascending[at] == value
