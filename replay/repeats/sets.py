"""What sets of objects hold, whatever their order: a digest of each object by all that it reaches.

Two objects have one digest if nothing that they hold, at any depth, tells them apart. Objects that
reach no cycle are digested from their parts upward; the others by colour refinement: each takes the
digests of what it holds into its own, all at once, until no two more of them are told apart.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Final, TypeVar

import attrs

from goldrush.replay.repeats.content import (
    PLAIN,
    SETS,
    Entry,
    content,
    digest_of,
    is_generator,
    is_value,
    name_of,
    parts,
    plain_text,
)

T = TypeVar("T")

DIGESTS_MAX: Final = (
    1_000_000  # made for the sets of one step; above, their objects are not compared
)
_ORDERED_MAX: Final = 5_000  # the same, to bring one set into an order


def sorted_by_content(elements: Iterable[T]) -> list[T]:
    """Elements in an order that is the same in every process, but for those that nothing tells
    apart.
    """
    keyed = [(content(element, 1), element) for element in elements]
    if len({key for key, _ in keyed}) < len(keyed):
        found = Graph(lambda _: "", _ORDERED_MAX)
        items = found.of_set([element for _, element in keyed])
        if found.digest():
            keyed = [
                (f"{key} {found.key(item)}", element)
                for (key, element), item in zip(keyed, items, strict=True)
            ]
    return [element for _, element in sorted(keyed, key=itemgetter(0))]


@attrs.define
class _Node:
    """An object: what it shows, and what it holds: texts, or the numbers of other nodes."""

    value: object  # which stays alive: no other gets its address
    text: str = ""
    held: Sequence[tuple[str, str | int]] = ()
    owner: str = ""  # the name from which it was reached first
    path: str = ""  # from there, `{*}` for an element of a set

    @property
    def kind(self) -> Any:
        return type(self.value)

    @property
    def kids(self) -> list[int]:
        return [what for _, what in self.held if type(what) is int]

    @property
    def tokens(self) -> list[str]:
        tokens = [self.text]
        for label, what in self.held:
            tokens += [label] if type(what) is int else [label, str(what)]
        return tokens


class Graph:
    """The objects that sets hold, and all that is reached from there alone.

    Attributes:
        nodes: the objects, by number.
        not_seen: how many values of which types were not looked into.
        states: those of generators of random numbers, by name.
        size: the number of values.
    """

    def __init__(
        self,
        place_of: Callable[[object], str],
        most: int = DIGESTS_MAX,
        is_ignored: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """No object yet. `place_of`: what stands for an object that was reached elsewhere; empty:
        nothing does. `most`: how many digests may be made. `is_ignored`: whether what stands at a
        path is left out.
        """
        self._place_of, self._left, self._is_ignored = place_of, most, is_ignored
        self._numbers: dict[int, int] = {}
        self._digests: list[int] = []
        self.nodes: list[_Node] = []
        self.states: dict[str, list[str]] = {}
        self.not_seen = Counter[str]()
        self.size = 0

    def of_set(
        self, elements: Collection[object], owner: str = "", path: str = ""
    ) -> list[str | int]:
        """Take up the elements of a set, and what they reach. Returns their texts and numbers."""
        first = len(self.nodes)
        held = [self._taken(element, owner, f"{path}{{*}}") for element in elements]
        while first < len(self.nodes) and self.size <= self._left:
            self._look_into(self.nodes[first])
            first += 1
        return held

    def _taken(self, value: object, owner: str, path: str) -> str | int:
        kind: Any = type(value)
        self.size += 1
        if kind in PLAIN:
            return plain_text(value)
        if place := self._place_of(value):
            return place
        if id(value) not in self._numbers:
            self._numbers[id(value)] = len(self.nodes)
            self.nodes.append(_Node(value, owner=owner, path=path))
        return self._numbers[id(value)]

    def _look_into(self, node: _Node) -> None:
        value: Any = node.value
        kind = node.kind
        if isinstance(value, SETS):
            node.text = f"{kind.__name__} of {len(value)}"
            path = f"{node.path}{{*}}"
            held = [("{}", self._taken(item, node.owner, path)) for item in value]
            texts = sorted(what for _, what in held if type(what) is str)
            node.held = [("{}", text) for text in texts]
            node.held += [pair for pair in held if type(pair[1]) is int]
            return
        try:
            node.text, children = parts(value)
        except Exception:  # of an object that is not as its type says, or cannot be read
            node.text, children = name_of(kind), []
            self.not_seen[node.text] += 1
        if is_generator(kind):
            self.states.setdefault(node.owner, []).append(node.text)
            node.text = name_of(kind)
        node.held = [
            (label, self._taken(child, node.owner, node.path + label))
            for label, child in children
            if not self._is_ignored(node.path + label)
        ]

    def digest(self) -> bool:
        """Digest all objects; False if they are too many."""
        if self.size > self._left:
            return False
        digests = [digest_of(node.tokens) for node in self.nodes]
        kids = [node.kids for node in self.nodes]
        open_kids, parents = [len(each) for each in kids], [list[int]() for _ in kids]
        for number, each in enumerate(kids):
            for kid in each:
                parents[kid].append(number)
        done = [number for number, count in enumerate(open_kids) if not count]
        for number in done:  # which grows
            if kids[number]:
                digests[number] = self._with_kids(digests, number, kids[number])
            for parent in parents[number]:
                open_kids[parent] -= 1
                if not open_kids[parent]:
                    done.append(parent)
        rest, told_apart = [n for n, count in enumerate(open_kids) if count], 0
        while rest and (count := len({digests[n] for n in rest})) > told_apart:
            told_apart, self._left = count, self._left - len(rest)
            if self._left < 0:
                return False
            new = [self._with_kids(digests, number, kids[number]) for number in rest]
            for number, digest in zip(rest, new, strict=True):
                digests[number] = digest
        self._digests = digests
        return True

    def _with_kids(self, digests: list[int], number: int, kids: list[int]) -> int:
        below = [digests[kid] for kid in kids]
        if isinstance(self.nodes[number].value, SETS):
            below.sort()
        return digest_of([f"{digests[number]:016x}", *(f"{digest:016x}" for digest in below)])

    def key(self, item: str | int) -> str:
        """What stands for an element: its text, or its digest."""
        return item if type(item) is str else f"#{self._digests[int(item)]:016x}"

    def leaves(self, path: str, items: Sequence[str | int]) -> Iterator[tuple[str, str]]:
        """Path and text of what a set holds, of the elements in order of what they show, so that
        those of two runs stand beside each other.
        """

        def shown(item: str | int) -> tuple[Sequence[str], str]:
            if type(item) is not int:
                return [str(item)], self.key(item)
            node = self.nodes[item]
            if node.kind is Entry and node.held:  # by its key: values may differ in two runs
                tokens, key = shown(node.held[0][1])
                return tokens, key + self.key(item)
            return node.tokens, self.key(item)

        told: dict[int, str] = {}
        ordered = sorted(items, key=shown)
        queue = deque((f"{path}{{{place}}}", item) for place, item in enumerate(ordered))
        while queue:
            where, item = queue.popleft()
            if type(item) is str:
                yield where, item
            elif (digest := self._digests[int(item)]) in told:
                yield where, f"holds the same as {told[digest]}"
            else:
                node, told[digest] = self.nodes[int(item)], where
                yield where, node.text
                held = node.held
                if isinstance(node.value, SETS):
                    inner = sorted((what for _, what in held), key=shown)
                    held = [(f"{{{place}}}", what) for place, what in enumerate(inner)]
                queue.extend((where + label, what) for label, what in held)

    def ambiguous(self, sets: Iterable[Sequence[str | int]]) -> Counter[str]:
        """Objects of which nothing tells which is which, and that more than one other knows: their
        types, and how many.
        """
        count, known = Counter(self._digests), Counter[int]()
        for held in (*sets, *(node.kids for node in self.nodes)):
            known.update({item for item in held if type(item) is int})
        return Counter(
            name_of(self.nodes[number].kind)
            for number, times in known.items()
            if times > 1 and count[self._digests[number]] > 1
            and not is_value(self.nodes[number].kind)
        )  # fmt: skip
