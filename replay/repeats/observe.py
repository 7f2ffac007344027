"""What a graph of objects holds, as digests and as values that another process can compare.

No identity and no address enters, and nothing of the subject's own code is called: attributes are
read from `__dict__` and slots, not through properties. numpy, pandas and torch are recognized,
never imported.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Collection, Mapping
from itertools import islice
from typing import Final

import attrs

from goldrush.replay.repeats.content import digest_of
from goldrush.replay.repeats.graph import LEAVES_MAX, Graph, Ignored

VALUES_MAX: Final = 2_000_000  # of one step; those behind are not compared
TEXT_MAX: Final = 200  # characters of a value that is told


@attrs.frozen
class StepDigests:
    """What a step holds.

    Attributes:
        digests: by name, but for the states of generators of random numbers.
        states: the digests of those, by name; of names that have one.
        leaves: the values of the names that were asked for, by path, the shallowest first.
        not_seen: how many values, by what they are, were not compared; 0: unknown how many.
        left_out: how many were ignored, by the path that said so.
        compared: how many values show something by themselves, and not as a state of a generator.
    """

    digests: dict[str, int]
    states: dict[str, int]
    leaves: dict[str, str]
    not_seen: Counter[str]
    left_out: Counter[str]
    compared: int


def observed(
    names: Mapping[str, object],
    root: object = None,
    leaves_of: Collection[str] = (),
    ignored: Collection[str] = (),
) -> StepDigests:
    """What the objects under these names hold.

    Args:
        root: whose attributes they are: where it is reached, it is not looked into again.
        leaves_of: the names whose values are told.
        ignored: paths of what is left out, as leaves have them; `[*]` is any item.
    """
    was_enabled = gc.isenabled()
    gc.disable()  # it would look through all of this again and again
    try:
        left_out = Ignored(ignored)
        graph = Graph(VALUES_MAX, left_out, leaves_of)
        graph.walk({name: names[name] for name in sorted(names) if not left_out.takes(name)}, root)
        if graph.left <= 0:
            graph.not_seen[f"what stands behind {VALUES_MAX:,} values of a step"] = 0
        states = {name: digest_of(texts) for name, texts in graph.states.items()}
        leaves = {path: _cut(text) for path, text in islice(graph.leaves(), LEAVES_MAX)}
        return StepDigests(
            graph.digests(), states, leaves, graph.not_seen, left_out.count, graph.compared
        )
    finally:
        if was_enabled:
            gc.enable()


def _cut(text: str) -> str:
    if len(text) <= TEXT_MAX:
        return text
    rest = f"{len(text):,} characters, digest {digest_of([text]):016x}"
    return f"{text[:TEXT_MAX]}... ({rest})"
