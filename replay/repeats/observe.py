"""What a graph of objects holds, as digests and as values that another process can compare.

No identity and no address enters, and nothing of the subject's own code is called: attributes are
read from `__dict__` and slots, not through properties. The graph is walked by breadth, so each
object belongs to the name from which it is reached by the shortest path, and a cycle ends at an
object that was visited before. Sets and dictionaries have no order (`sets.py`). numpy, pandas and
torch are recognized, never imported.
"""

from __future__ import annotations

import gc
import io
import re
import threading
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

import attrs

from goldrush.replay.repeats.content import (
    PLAIN,
    SETS,
    Child,
    Entries,
    Parts,
    digest_of,
    is_generator,
    is_key,
    is_named,
    is_value,
    key_text,
    name_of,
    parts,
    plain_text,
)
from goldrush.replay.repeats.sets import DIGESTS_MAX, Graph

VALUES_MAX: Final = 2_000_000  # of one step; those behind are not compared
LEAVES_MAX: Final = 500_000  # values that are told
TEXT_MAX: Final = 200  # characters of a value that is told


_BY_NAME_ALONE: Final = (io.IOBase, threading.Thread, threading.local)  # and yet hold something


@attrs.frozen
class Seen:
    """What a step holds.

    Attributes:
        digests: by name, but for the states of generators of random numbers.
        states: the digests of those, by name; of names that have one.
        leaves: the values of the names that were asked for, by path, the shallowest first.
        not_seen: how many values, by what they are, were not compared; 0: unknown how many.
        left_out: how many were ignored, by the path that said so.
        size: the number of values.
        compared: how many values show something by themselves, and not as a state of a generator.
    """

    digests: dict[str, int]
    states: dict[str, int]
    leaves: dict[str, str]
    not_seen: Counter[str]
    left_out: Counter[str]
    size: int
    compared: int


def observed(
    names: Mapping[str, object],
    root: object = None,
    leaves_of: Collection[str] = (),
    ignored: Collection[str] = (),
) -> Seen:
    """What the objects under these names hold.

    Args:
        root: whose attributes they are: where it is reached, it is not looked into again.
        leaves_of: the names whose values are told.
        ignored: paths of what is left out, as leaves have them; `[*]` is any item.
    """
    was_enabled = gc.isenabled()
    gc.disable()  # it would look through all of this again and again
    try:
        walk = _Walk(names, root, leaves_of, _Ignored(ignored))
        walk.go()
        if walk.left <= 0:
            walk.not_seen[f"what stands behind {VALUES_MAX:,} values of a step"] = 0
        digests, states = _digests_of(walk.tokens), _digests_of(walk.states)
        return Seen(
            digests, states, walk.leaves, walk.not_seen, walk.ignored.count,
            VALUES_MAX - walk.left, walk.compared,
        )  # fmt: skip
    finally:
        if was_enabled:
            gc.enable()


class _Ignored:
    """Paths that are left out, and how many values each of them left out. Keys match with and
    without quotes: `info['episode']`, or `info[episode]` as recorded environments name it.
    """

    def __init__(self, paths: Collection[str]) -> None:
        self._patterns = [(path, re.compile(path_pattern(path))) for path in paths]
        self.count = Counter[str]()

    def may_be_in(self, name: str) -> bool:
        """Whether anything under a name can be left out."""
        return any(_without_quotes(path).startswith(name) for path, _ in self._patterns)

    def takes(self, path: str) -> bool:
        """Whether what stands at a path is left out. It is counted."""
        for given, pattern in self._patterns:
            if pattern.fullmatch(_without_quotes(path)):
                self.count[given] += 1
                return True
        return False


def path_pattern(path: str) -> str:
    """The expression, without quotes, of a path that is left out. What stands within an element of
    a set is left out of all.
    """
    text = re.escape(_without_quotes(path)).replace(r"\[\*\]", r"\[[^\]]*\]")
    return re.sub(r"\\{\d+\\}(?=.)|\\{\\\*\\}", r"\\{[^}]*\\}", text)


def _without_quotes(path: str) -> str:
    return re.sub(r"\[(['\"])([^\]]*)\1\]", r"[\2]", path)


class _Walk:
    """A walk over a graph. `left`: how many values it may still read."""

    def __init__(
        self,
        names: Mapping[str, object],
        root: object,
        leaves_of: Collection[str],
        ignored: _Ignored,
    ) -> None:
        self._told, self.ignored = frozenset(leaves_of), ignored
        # By address: the object, which stays alive so that no other gets it, and where it is: in
        # the digests, and for people.
        self._reached: dict[int, tuple[object, str, str]] = {}
        if root is not None:
            self._reached[id(root)] = (root, "self", "self")
        self._names = {n: names[n] for n in sorted(names) if not ignored.takes(n)}
        self._with_paths = {n for n in names if n in self._told or ignored.may_be_in(n)}
        self.tokens: dict[str, list[str]] = {name: [] for name in self._names}
        self.states: dict[str, list[str]] = {}
        self.leaves: dict[str, str] = {}
        self.not_seen = Counter[str]()
        self.left, self.compared = VALUES_MAX, 0
        self._queue: deque[tuple[str, str, object]] = deque()
        self._sets: list[tuple[str, str, Collection[object]]] = []

    def go(self) -> None:
        """Walk. Sets come last: most of their elements are then reached elsewhere."""
        for name, value in self._names.items():
            self._reach(name, name, [("", value)])
        while self.left > 0 and self._queue:
            self._visit(*self._queue.popleft())
        if self.left > 0:
            self._open_sets()

    def _reach(self, owner: str, path: str, children: Collection[Child]) -> None:
        """Note plain values, and objects that were reached before; others are put in the queue."""
        self.left -= len(children)
        tokens, reached, is_told = self.tokens[owner], self._reached, owner in self._told
        has_path = owner in self._with_paths
        for label, child in children:
            kind: Any = type(child)
            where = path + label if has_path else ""
            if has_path and label and self.ignored.takes(where):
                continue
            tokens.append(label)
            if kind in PLAIN:
                self.compared += 1
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
        kind: Any = type(value)
        is_state, children = is_generator(kind), list[Child]()
        if isinstance(value, SETS):
            items = list(value)
            text = f"{kind.__name__} of {len(items)}"
            if kind is not Entries and all(map(is_key, items)):
                children = [(f"{{{key}}}", True) for key in sorted(map(key_text, items))]
            else:
                self._sets.append((owner, path, items))
        else:
            text, children = self._parts(value, owner in self._told)
            is_shown = text != name_of(kind) and not is_state and not is_named(kind)
            self.compared += is_shown and not children
        if is_state:
            self.states.setdefault(owner, []).append(text)
        else:
            self.tokens[owner].append(text)
            if owner in self._told:
                self._tell(path, text)
        self._reach(owner, path, children)

    def _open_sets(self) -> None:
        """Digest what the other sets hold, all at once."""
        graph = Graph(self._place_of, min(DIGESTS_MAX, self.left), self.ignored.takes)
        sets = [graph.of_set(items, owner, path) for owner, path, items in self._sets]
        self.left, self.compared = self.left - graph.size, self.compared + graph.size
        if not graph.digest():
            self.left = max(self.left, 1)
            self.not_seen["what sets hold: it takes too long to compare"] = 0
            return
        self.not_seen += graph.not_seen
        for name, count in graph.ambiguous(sets).items():
            self.not_seen[f"which is which of equal objects of sets: {name}"] += count
        where = {place: path for _, place, path in self._reached.values()} if self._told else {}
        for (owner, path, _), items in zip(self._sets, sets, strict=True):
            keys = sorted(map(graph.key, items))
            self.tokens[owner] += keys
            if owner in self._told:
                for leaf_path, text in graph.leaves(path, items):
                    self._tell(leaf_path, f"the object at {where[text]}" if text in where else text)
                self._tell(f"{path}{{}}", f"all of it, digest {digest_of(keys):016x}")
        for owner, texts in graph.states.items():
            self.states.setdefault(owner, []).extend(sorted(texts))

    def _place_of(self, value: object) -> str:
        before = self._reached.get(id(value))
        return before[1] if before else ""

    def _tell(self, path: str, text: str) -> None:
        if len(self.leaves) == LEAVES_MAX:
            return
        if len(text) > TEXT_MAX:
            rest = f"{len(text):,} characters, digest {digest_of([text]):016x}"
            text = f"{text[:TEXT_MAX]}... ({rest})"
        self.leaves[path] = text

    def _parts(self, value: Any, is_told: bool) -> Parts:
        kind = type(value)
        if isinstance(value, _BY_NAME_ALONE) and not isinstance(value, (io.StringIO, io.BytesIO)):
            self.not_seen[name_of(kind)] += 1
        try:
            return parts(value, LEAVES_MAX if is_told else 0)
        except Exception:  # of an object that is not as its type says, or cannot be read
            self.not_seen[name_of(kind)] += 1
            return name_of(kind), []


def _digests_of(tokens: Mapping[str, Iterable[str]]) -> dict[str, int]:
    return {name: digest_of(each) for name, each in tokens.items()}
