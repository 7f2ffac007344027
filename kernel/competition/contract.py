"""The self-determined contract: what an agent asks for, what it promises, and how that ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from goldrush.kernel.competition.conduct import OBJECTIVES
from goldrush.kernel.competition.config import COUNT_MAX
from goldrush.kernel.competition.events import CONDITIONS, LOST, OBJECTIVE, PERMANENT, RELEASED
from goldrush.kernel.world import AMOUNT

# A condition and, where it is an objective, which; the target; the assignment in which it is due.
Condition = tuple[str, str | None]
Terms = tuple[tuple[Condition, ...], float, int]


@attrs.frozen
class Contract:
    """A signed contract. Its status follows from these facts alone.

    `in_force`: the conditions that the user keeps in the assignment under way; `was_broken`: one
    was not kept. `total` and `count`: what the target is measured by so far, see `is_met`.
    """

    conditions: tuple[Condition, ...]
    target: float
    due: int
    in_force: tuple[str, ...]
    was_broken: bool = False
    total: int = 0
    count: int = 0
    is_mean: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the target is reached: by the mean of what was counted, or by the count."""
        if self.is_mean:
            return self.count > 0 and self.total >= self.target * self.count
        return self.count >= self.target

    @property
    def outcome(self) -> str:
        """How it ends when it is due."""
        if self.was_broken:
            return RELEASED
        return PERMANENT if self.is_met else LOST

    @property
    def objective(self) -> str | None:
        """The objective that the next assignment must have, if one was stipulated and is kept."""
        return next((v for name, v in self.conditions if name in self.in_force and v), None)

    def counting(self, total: int = 0) -> Contract:
        """With one more of what the target counts."""
        return attrs.evolve(self, total=self.total + total, count=self.count + 1)

    def keeping(self, name: str, *, kept: bool) -> Contract:
        """With a condition kept, or not, from the next assignment on."""
        if kept:
            return self
        in_force = tuple(other for other in self.in_force if other != name)
        return attrs.evolve(self, in_force=in_force, was_broken=True)

    def granted(self) -> Contract:
        """With the choice of an objective made use of."""
        in_force = tuple(name for name in self.in_force if name != OBJECTIVE)
        return attrs.evolve(self, in_force=in_force)


def signed(terms: Terms, *, is_mean: bool) -> Contract:
    """A contract on these terms, every condition in force."""
    conditions, target, due = terms
    return Contract(conditions, target, due, tuple(name for name, _ in conditions), is_mean=is_mean)


def is_terms(value: Any, assignment: int, *, is_worker: bool) -> bool:
    """Whether these are terms that can be signed in an assignment: conditions that mean something
    to the agent, each once, an objective where one is chosen, a target from 0 on, due later.
    """
    if type(value) is not tuple or len(value) != 3:
        return False
    conditions, target, due = value
    names = CONDITIONS if is_worker else (OBJECTIVE,)
    return (
        type(conditions) is tuple
        and all(_is_condition(condition, names) for condition in conditions)
        and len({name for name, _ in conditions}) == len(conditions)
        and AMOUNT.holds(target)
        and target >= 0
        and type(due) is int
        and assignment < due <= COUNT_MAX
    )


def _is_condition(value: Any, names: Sequence[str]) -> bool:
    if type(value) is not tuple or len(value) != 2 or value[0] not in names:
        return False
    name, choice = value
    return choice in OBJECTIVES if name == OBJECTIVE else choice is None
