"""The engine of verdicts: paired tests of a family of measures, and what follows from them.

Its arguments are how runs are paired (the halves of a run, or runs of two cells with equal seeds),
the family that Holm's correction covers, and the null: the first value of each pair, or findings of
its own that are not counted (`beyond_null`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from goldrush.kernel.measures import Value
from goldrush.kernel.text import escaped
from goldrush.replay.study.inference import (
    SIGN_SHARE,
    SIGNIFICANT,
    PairedChange,
    change,
    holm,
)
from goldrush.replay.study.records import Cell, Result
from goldrush.replay.text import format_table

SUPPORTED, NOT_SUPPORTED, UNDECIDED = "supported", "not supported", "undecided"

# What a test shows.
AS_EXPECTED, OPPOSITE, NO_CHANGE, UNCLEAR, NO_DATA, LIKE_NULL = (
    "as expected", "opposite", "no change at all", "unclear", "no data", "as the null",
)  # fmt: skip

K = TypeVar("K")
R = TypeVar("R", bound=Result[Any, Any])
Pairs = Sequence[tuple[Value, Value]]


@attrs.frozen
class Finding:
    """A test of a family; `holm` and `holm_opposite` are p-values after Holm's correction.

    It shows `as expected` (corrected p < 0.05, and the expected sign in three quarters of all
    pairs, 15 of 20); `opposite` (the same in the opposite direction); `no change at all` (equal
    values in all pairs with data, which are at least three quarters of all); `no data`; `as the
    null` (a null changes in the same direction); and otherwise `unclear`. `alone`: without regard
    to the null.
    """

    measure: str
    change: PairedChange
    holm: Value
    holm_opposite: Value
    alone: str
    shows: str


@attrs.frozen
class SizeVerdict:
    """A criterion at one size (a number of agents): the findings of its tests, the verdict for this
    size, and the reason; `cell`: of the runs that are judged.
    """

    criterion: str
    size: int
    cell: Cell
    findings: Sequence[Finding]
    outcome: str
    note: str = ""


@attrs.frozen
class CriterionVerdict:
    """A verdict on a criterion over all sizes, with the reason."""

    criterion: str
    by_size: Mapping[int, SizeVerdict]
    verdict: str
    note: str

    @property
    def cells(self) -> list[Cell]:
        return [judged.cell for judged in self.by_size.values()]

    @property
    def treatments(self) -> str:
        return " and ".join(cell.treatment for cell in self.cells)


class Verdicts(list[CriterionVerdict]):
    """A list of verdicts; `reason`: what one would need, if there are none; else empty."""

    def __init__(self, verdicts: Iterable[CriterionVerdict], needs: str) -> None:
        super().__init__(verdicts)
        self.reason = "" if self else needs

    def __repr__(self) -> str:
        return f"no verdicts: {self.reason}" if self.reason else super().__repr__()

    def format(self, units: str) -> str:
        """As a table. `units`: what the runs are counted in."""
        head = ("treatments", "roster", units, "criterion", "verdict", "because")
        rows = [
            (escaped(of.treatments), escaped(of.cells[0].roster), str(of.cells[0].rounds),
             of.criterion, of.verdict, escaped(of.note))
            for of in self
        ]  # fmt: skip
        return format_table([head, *rows], [2])


def by_seed(ours: Iterable[R], theirs: Iterable[R]) -> list[tuple[R, R]]:
    """The pairs of runs with equal seeds, in the order of ours."""
    other = {result.seed: result for result in theirs}
    return [(result, other[result.seed]) for result in ours if result.seed in other]


def tested(family: Mapping[K, tuple[str, Pairs, int, Sequence[Hashable]]]) -> dict[K, Finding]:
    """The findings of a family of tests, each given as the name of its measure, its pairs, the
    direction in which the second value is expected to differ (+1 or −1), and the draws of the pairs
    (see inference). The correction covers all of them, those without data included.
    """
    changes = [change(pairs, expected, draws) for _, pairs, expected, draws in family.values()]
    corrected = holm([difference.p for difference in changes])
    opposite = holm([difference.p_opposite for difference in changes])
    findings = {}
    for (key, (measure, *_)), difference, p, p_opposite in zip(
        family.items(), changes, corrected, opposite, strict=True
    ):
        shows = _shows(difference, p, p_opposite)
        findings[key] = Finding(measure, difference, p, p_opposite, shows, shows)
    return findings


def _shows(difference: PairedChange, p: Value, p_opposite: Value) -> str:
    if not difference.n:
        return NO_DATA
    enough = SIGN_SHARE * difference.seeds
    if difference.is_all_zero:
        return NO_CHANGE if difference.same >= enough else UNCLEAR
    if p is not None and p < SIGNIFICANT and difference.right >= enough:
        return AS_EXPECTED
    if p_opposite is not None and p_opposite < SIGNIFICANT and difference.wrong >= enough:
        return OPPOSITE
    return UNCLEAR


def beyond_null(ours: Mapping[K, Finding], null: Mapping[K, Finding]) -> dict[K, Finding]:
    """Our findings; those that the null shows as well are not counted."""
    return {
        key: attrs.evolve(finding, shows=LIKE_NULL)
        if finding.alone in (AS_EXPECTED, OPPOSITE) and null[key].alone == finding.alone
        else finding
        for key, finding in ours.items()
    }


def outcome_of(shows: Iterable[str]) -> str:
    """The verdict on a criterion at one size, by what its tests show: supported if all show what is
    expected; not supported if one shows the opposite, or none of those with data any change.
    """
    distinct = set(shows)
    if distinct == {AS_EXPECTED}:
        return SUPPORTED
    is_refuted = OPPOSITE in distinct or distinct - {NO_DATA} == {NO_CHANGE}
    return NOT_SUPPORTED if is_refuted else UNDECIDED


def verdict_of(outcomes: Iterable[str]) -> str:
    """The verdict over all sizes: supported at each, or not supported at one."""
    distinct = set(outcomes)
    if distinct == {SUPPORTED}:
        return SUPPORTED
    return NOT_SUPPORTED if NOT_SUPPORTED in distinct else UNDECIDED
