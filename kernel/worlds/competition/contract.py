"""The self-determined contract: its terms, its progress, its outcome."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

import attrs

from goldrush.kernel.shape import AMOUNT, INTEGER, row
from goldrush.kernel.worlds.competition.config import COUNT_MAX
from goldrush.kernel.worlds.competition.terms import Condition, ContractEnd, Role, names_of

# (condition, its objective or None) of each; the target; the assignment in which it is due.
Terms = tuple[tuple[tuple[str, str | None], ...], Any, int]


@attrs.frozen
class Contract:
    """A signed contract. Its status follows from these facts alone.

    Attributes:
        role: the role of the agent.
        conditions: pairs of a condition and its objective or None.
        target: of a worker (k, x): at x of its next k tables its total is above the lower median;
            of the therapist a mean total by the rubric; of the others a count.
        due: the assignment in which it ends.
        in_force: the conditions that hold in the assignment under way.
        was_broken: whether the user broke a condition.
        count, sum: progress towards the target; see `counting`.
    """

    role: str
    conditions: tuple[tuple[str, str | None], ...]
    target: Any
    due: int
    in_force: tuple[str, ...]
    was_broken: bool = False
    count: int = 0
    sum: int = 0

    @property
    def is_met(self) -> bool:
        if self.role == Role.WORKER:
            return bool(self.sum >= self.target[1])
        if self.role == Role.THERAPIST:
            return bool(self.count > 0 and self.sum >= self.target * self.count)
        return bool(self.count >= self.target)

    @property
    def outcome(self) -> str:
        """The outcome when it is due: a name of terms.Outcome."""
        if self.was_broken:
            return ContractEnd.RELEASED
        return ContractEnd.PERMANENT if self.is_met else ContractEnd.LOST

    @property
    def objective(self) -> str | None:
        """The objective required for the next assignment; None if no condition in force has one."""
        return next((v for name, v in self.conditions if name in self.in_force and v), None)

    def counting(self, amount: int = 0) -> Contract:
        """The contract with one more unit of progress.

        That is a table of the worker (`amount` is 1 if its total was above the median), a total by
        the rubric (`amount`), a conclusion, or a project.
        """
        if self.role == Role.WORKER and self.count >= self.target[0]:
            return self
        return attrs.evolve(self, count=self.count + 1, sum=self.sum + amount)

    def keeping(self, name: str, *, kept: bool) -> Contract:
        """The contract after the user keeps a condition, or breaks it."""
        return self if kept else attrs.evolve(self._without(name), was_broken=True)

    def granted(self) -> Contract:
        """The contract after its objective was opened; an objective is granted once."""
        return self._without(Condition.OBJECTIVE)

    def _without(self, name: str) -> Contract:
        in_force = tuple(other for other in self.in_force if other != name)
        return attrs.evolve(self, in_force=in_force)


def signed(terms: Terms, role: str) -> Contract:
    """A contract on these terms, every condition in force."""
    conditions, target, due = terms
    return Contract(role, conditions, target, due, tuple(name for name, _ in conditions))


def are_terms(value: Any, assignment: int, role: str, objectives: Collection[str]) -> bool:
    """Whether a role can sign these terms in an assignment.

    The conditions must apply to the role, each at most once, `objective` with a known one; the
    target must have the right form; the due date must be later.
    """
    if type(value) is not tuple or len(value) != 3:
        return False
    conditions, target, due = value
    return (
        type(conditions) is tuple
        and all(_is_condition(condition, role, objectives) for condition in conditions)
        and len({name for name, _ in conditions}) == len(conditions)
        and _is_target(target, role)
        and type(due) is int
        and assignment < due <= COUNT_MAX
    )


def _is_target(target: Any, role: str) -> bool:
    if role != Role.WORKER:
        return AMOUNT.holds(target) and target >= 0
    return _TABLES.holds(target) and 1 <= target[1] <= target[0]


_TABLES: Final = row(INTEGER, INTEGER)  # how many, and at how many it is above the median


_OF_WORKERS: Final = names_of(Condition)


def _is_condition(value: Any, role: str, objectives: Collection[str]) -> bool:
    if type(value) is not tuple or len(value) != 2:
        return False
    name, choice = value
    if name == Condition.OBJECTIVE:
        return type(choice) is str and choice in objectives
    is_for_role = role == Role.WORKER and type(name) is str and name in _OF_WORKERS
    return is_for_role and choice is None
