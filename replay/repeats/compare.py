"""The first difference of two traces."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from goldrush.replay.repeats.trace import Leaf, Row, Trace


@attrs.frozen
class Split:
    """Where two traces part.

    Attributes:
        step: the first that differs of those looked at; 0: what was made, before any step.
        names: the names that differ in it; none where one run ends before the other, or both end
            in different errors.
        same: the step before, of those looked at, which is equal; -1: there is none.
    """

    step: int
    names: Sequence[str]
    same: int


def split_of(a: Trace, b: Trace) -> Split | None:
    """Where two runs part; None if they are equal."""
    found = _split(a, b, a.rows, b.rows)
    if found is None and a.error != b.error:
        last = a.steps[-1] if a.steps else -1
        return Split(last + 1, (), last)
    return found


def split_of_states(a: Trace, b: Trace) -> Split | None:
    """Where the states of the generators of two runs part; None if they are equal."""
    return _split(a, b, a.states, b.states)


def _split(a: Trace, b: Trace, rows_a: Sequence[Row], rows_b: Sequence[Row]) -> Split | None:
    same = -1
    for step_a, step_b, row_a, row_b in zip(a.steps, b.steps, rows_a, rows_b, strict=False):
        if step_a != step_b:  # the last one of a run
            return Split(min(step_a, step_b) + 1, (), same)
        if row_a != row_b:
            names = sorted(row_a.keys() | row_b.keys())
            differing = [name for name in names if row_a.get(name) != row_b.get(name)]
            return Split(step_a, differing, same)
        same = step_a
    return None if len(a.steps) == len(b.steps) else Split(same + 1, (), same)


def leaf_that_differs(a: Sequence[Leaf], b: Sequence[Leaf]) -> tuple[str, str, str] | None:
    """The path of the shallowest value that differs, and the two values. The state of a generator
    comes last: what was drawn from it tells more. None if all are equal.
    """
    one, two = ({leaf.path: leaf for leaf in leaves} for leaves in (a, b))
    missing = Leaf("", "missing")
    differing = [
        path
        for path in {**one, **two}
        if one.get(path, missing).text != two.get(path, missing).text
    ]
    if not differing:
        return None
    path = min(differing, key=lambda path: (one.get(path) or two[path]).is_generator)
    return path, one.get(path, missing).text, two.get(path, missing).text
