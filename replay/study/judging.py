"""The engine of verdicts: paired tests of a family of measures, and what follows from them.

Its arguments are how runs are paired (the halves of a run, or runs of two cells with equal seeds),
the family that Holm's correction covers, and the null: the first value of each pair, or findings of
its own that are not counted (`beyond_null`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from goldrush.replay.study.inference import (
    SIGN_SHARE,
    SIGNIFICANT,
    PairedChange,
    Value,
    change,
    holm,
)
from goldrush.replay.study.records import Result

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
    """A test of a family.

    Findings are: `as expected` (corrected p < 0.05, and the expected sign in three quarters of all
    pairs, 15 of 20); `opposite` (the same in the opposite direction); `no change at all` (equal
    values in all pairs with data, which are at least three quarters of all pairs); `no data` (no
    pair has two values); `as the null`; and otherwise `unclear`.

    Attributes:
        measure: the measure's name.
        change: its change from the first to the second value of each pair.
        holm: the p-value of the expected direction, after Holm's correction.
        holm_opposite: the p-value of the opposite direction, after Holm's correction.
        alone: the finding without regard to the null.
        shows: the finding; `as the null` if the null changes in the same direction.
    """

    measure: str
    change: PairedChange
    holm: Value
    holm_opposite: Value
    alone: str
    shows: str


def by_seed(ours: Iterable[R], theirs: Iterable[R]) -> list[tuple[R, R]]:
    """The pairs of runs with equal seeds, in the order of ours."""
    other = {result.seed: result for result in theirs}
    return [(result, other[result.seed]) for result in ours if result.seed in other]


def tested(family: Mapping[K, tuple[str, Pairs, int]]) -> dict[K, Finding]:
    """The findings of a family of tests, each given as the name of its measure, its pairs, and the
    direction in which the second value is expected to differ (+1 or −1). The correction covers all
    of them, those without data included.
    """
    changes = [change(pairs, expected) for _, pairs, expected in family.values()]
    corrected = holm([found.p for found in changes])
    opposite = holm([found.p_opposite for found in changes])
    findings = {}
    for (key, (measure, *_)), found, p, p_opposite in zip(
        family.items(), changes, corrected, opposite, strict=True
    ):
        shows = _shows(found, p, p_opposite)
        findings[key] = Finding(measure, found, p, p_opposite, shows, shows)
    return findings


def _shows(found: PairedChange, p: Value, p_opposite: Value) -> str:
    if not found.n:
        return NO_DATA
    enough = SIGN_SHARE * found.seeds
    if found.is_all_zero:
        return NO_CHANGE if found.same >= enough else UNCLEAR
    if p is not None and p < SIGNIFICANT and found.right >= enough:
        return AS_EXPECTED
    if p_opposite is not None and p_opposite < SIGNIFICANT and found.wrong >= enough:
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
