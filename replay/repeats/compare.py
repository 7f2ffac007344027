"""The first difference of two traces."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from goldrush.replay.repeats.trace import Leaf, Row, Trace


@attrs.frozen
class Split:
    """Where two traces part.

    Attributes:
        step: the first that differs; 0: what was made, before any step.
        names: the names that differ in it; none where one run ends before the other, or both end
            in different errors.
    """

    step: int
    names: Sequence[str] = ()


def split_of(a: Trace, b: Trace) -> Split | None:
    """Where two runs part; None if they are equal."""
    found = split_of_rows(a.rows, b.rows)
    if found is None and a.error != b.error:
        return Split(len(a.rows))
    return found


def split_of_rows(a: Sequence[Row], b: Sequence[Row]) -> Split | None:
    """Where the rows of two runs part; None if they are equal."""
    for step, (row_a, row_b) in enumerate(zip(a, b, strict=False)):
        if row_a != row_b:
            names = sorted(row_a.keys() | row_b.keys())
            return Split(step, [name for name in names if row_a.get(name) != row_b.get(name)])
    return None if len(a) == len(b) else Split(min(len(a), len(b)))


def leaf_that_differs(a: Sequence[Leaf], b: Sequence[Leaf]) -> tuple[str, str, str] | None:
    """The path of the shallowest value that differs, and the two values. The state of a generator
    comes last: what was drawn from it tells more. None if all are equal.
    """
    texts_b = {leaf.path: leaf.text for leaf in b}
    paths_a = {leaf.path for leaf in a}
    differing = [
        (leaf.is_generator, leaf.path, leaf.text, texts_b.get(leaf.path, "missing"))
        for leaf in a
        if texts_b.get(leaf.path) != leaf.text
    ]
    differing += [
        (leaf.is_generator, leaf.path, "missing", leaf.text)
        for leaf in b
        if leaf.path not in paths_a
    ]
    if not differing:
        return None
    _, path, text_a, text_b = min(differing, key=lambda one: one[0])
    return path, text_a, text_b
