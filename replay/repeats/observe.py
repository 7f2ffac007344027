"""What a graph of objects holds, as digests and as values that another process can compare.

No identity and no address enters, and nothing of the subject's own code is called: attributes are
read from `__dict__` and slots, not through properties. The graph is walked by breadth, so each
object belongs to the name from which it is reached by the shortest path, and a cycle ends at an
object that was visited before. Sets have no order; dictionaries with plain keys have none, others
that of insertion. numpy, pandas and torch are recognized, never imported.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

import attrs

from goldrush.replay.repeats.content import (
    PLAIN,
    SETS,
    STATE,
    Child,
    Parts,
    digest_of,
    is_key,
    is_value,
    key_text,
    name_of,
    parts,
    plain_text,
    sorted_by_content,
)
from goldrush.replay.repeats.trace import Leaf

VALUES_MAX: Final = 2_000_000  # of one step; those behind are not compared
LEAVES_MAX: Final = 500_000  # values that are told
TEXT_MAX: Final = 200  # characters of a value that is told


@attrs.frozen
class Seen:
    """What a step holds.

    Attributes:
        digests: by name, but for the states of generators of random numbers.
        states: the digests of those, by name; of names that have one.
        leaves: the values of the names that were asked for, the shallowest first.
        not_seen: types that were not looked into.
        size: the number of values.
    """

    digests: dict[str, int]
    states: dict[str, int]
    leaves: list[Leaf]
    not_seen: set[str]
    size: int


def observed(
    names: Mapping[str, object], root: object = None, leaves_of: Collection[str] = ()
) -> Seen:
    """What the objects under these names hold.

    Args:
        root: whose attributes they are: where it is reached, it is not looked into again.
        leaves_of: the names whose values are told.
    """
    was_enabled = gc.isenabled()
    gc.disable()  # it would look through all of this again and again
    try:
        walk = _Walk(names, root, leaves_of, VALUES_MAX)
        if walk.left <= 0:
            walk.not_seen.add(f"what stands behind {VALUES_MAX:,} values of a step")
        digests, states = _digests_of(walk.tokens), _digests_of(walk.states)
        return Seen(digests, states, walk.leaves, walk.not_seen, VALUES_MAX - walk.left)
    finally:
        if was_enabled:
            gc.enable()


class _Walk:
    """A walk over a graph. `left`: how many values it may still read."""

    def __init__(
        self, names: Mapping[str, object], root: object, leaves_of: Collection[str], most: int
    ) -> None:
        self._root = root
        self._told = frozenset(leaves_of)
        # By address: the object, which stays alive so that no other gets it, and where it is: in
        # the digests, and for people.
        self._reached: dict[int, tuple[object, str, str]] = {}
        if root is not None:
            self._reached[id(root)] = (root, "self", "self")
        self.tokens: dict[str, list[str]] = {name: [] for name in sorted(names)}
        self.states: dict[str, list[str]] = {}
        self.leaves: list[Leaf] = []
        self.not_seen: set[str] = set()
        self.left = most
        self._queue: deque[tuple[str, str, object]] = deque()
        # Sets come last: most of their elements are then reached elsewhere, which orders them.
        self._sets: deque[tuple[str, str, Iterable[object]]] = deque()
        for name in self.tokens:
            self._reach(name, name, [("", names[name])])
        while self.left > 0 and (self._queue or self._sets):
            if self._queue:
                self._visit(*self._queue.popleft())
            else:
                self._open_set(*self._sets.popleft())

    def _reach(self, owner: str, path: str, children: Collection[Child]) -> None:
        """Note plain values, and objects that were reached before; others are put in the queue."""
        self.left -= len(children)
        tokens, reached, is_told = self.tokens[owner], self._reached, owner in self._told
        for label, child in children:
            kind: Any = type(child)
            tokens.append(label)
            where = path + label if is_told else ""
            if kind in PLAIN:
                text = plain_text(child)
                tokens.append(text)
                if is_told:
                    self._tell(where, text)
                continue
            if not is_value(kind):
                before = reached.get(id(child))
                if before is not None:
                    tokens.append(before[1])
                    if is_told:
                        self._tell(where, f"the object at {before[2]}")
                    continue
                reached[id(child)] = (child, f"={owner}#{len(tokens)}", where)
            self._queue.append((owner, where, child))

    def _visit(self, owner: str, path: str, value: object) -> None:
        children: Collection[Child] = ()
        if isinstance(value, SETS):
            text = f"{type(value).__name__} of {len(value)}"
            self._sets.append((owner, path, value))
        else:
            text, children = self._parts(value, owner in self._told)
        if text.startswith(STATE):
            self.states.setdefault(owner, []).append(text)
        else:
            self.tokens[owner].append(text)
        if owner in self._told:
            self._tell(path, text)
        self._reach(owner, path, children)

    def _open_set(self, owner: str, path: str, value: Iterable[object]) -> None:
        items = list(value)
        if all(map(is_key, items)):
            held: list[Child] = [(f"{{{key}}}", True) for key in sorted(map(key_text, items))]
        else:
            order = sorted_by_content(items, self._place_of)
            held = [(f"{{{place}}}", item) for place, item in enumerate(order)]
        self._reach(owner, path, held)

    def _place_of(self, value: object) -> str:
        before = self._reached.get(id(value))
        return before[1] if before else ""

    def _tell(self, path: str, text: str) -> None:
        if len(self.leaves) == LEAVES_MAX:
            return
        if len(text) > TEXT_MAX:
            rest = f"{len(text):,} characters, digest {digest_of([text]):016x}"
            self.leaves.append(Leaf(path, f"{text[:TEXT_MAX]}... ({rest})"))
        else:
            self.leaves.append(Leaf(path, text, text.startswith(STATE)))

    def _parts(self, value: Any, is_told: bool) -> Parts:
        try:
            return parts(value, LEAVES_MAX if is_told else 0)
        except Exception:  # of an object that is not as its type says, or cannot be read
            kind = name_of(type(value))
            self.not_seen.add(kind)
            return kind, []


def _digests_of(tokens: Mapping[str, Iterable[str]]) -> dict[str, int]:
    return {name: digest_of(each) for name, each in tokens.items()}
