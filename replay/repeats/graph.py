"""A graph of objects: what each shows and holds, in an order that every process gives it.

The graph is walked by breadth from names, so each object belongs to the name from which it is
reached by the shortest path, and a cycle ends at an object that was reached before: what stands for
it is its place. Sets have no order, and come last: what they alone reach has a digest in place of a
place. Two such objects have one digest if nothing that they hold, at any depth, tells them apart.
Those that reach no cycle are digested from their parts upward; the others by colour refinement:
each takes the digests of what it holds into its own, all at once, until no two more of them are
told apart.
"""

from __future__ import annotations

import io
import re
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, Final, TypeVar

import attrs

from goldrush.replay.repeats.content import (
    PLAIN,
    SETS,
    Child,
    DictItem,
    DictItems,
    Parts,
    content,
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

T = TypeVar("T")

DIGESTS_MAX: Final = 1_000_000  # made for the sets of a step; above, their objects are not compared
LEAVES_MAX: Final = 500_000  # values that are told
_ORDERED_MAX: Final = 5_000  # values that are looked at to bring one set into an order
_BY_NAME_ALONE: Final = (io.IOBase, threading.Thread, threading.local)  # and yet hold something


def sorted_by_content(elements: Iterable[T]) -> list[T]:
    """Elements in an order that is the same in every process, but for those that nothing tells
    apart.
    """
    keyed = [(content(element, 1), element) for element in elements]
    if len({key for key, _ in keyed}) < len(keyed):
        graph = Graph(_ORDERED_MAX)
        items = graph.taken([element for _, element in keyed])
        if graph.digest(_ORDERED_MAX):
            keyed = [
                (f"{key} {graph.key(item)}", element)
                for (key, element), item in zip(keyed, items, strict=True)
            ]
    return [element for _, element in sorted(keyed, key=itemgetter(0))]


class Ignored:
    """Paths that are left out, and how many values each of them left out. Keys match with and
    without quotes: `info['episode']`, or `info[episode]` as recorded environments name it.
    """

    def __init__(self, paths: Collection[str] = ()) -> None:
        self._patterns = [(path, re.compile(path_pattern(path))) for path in paths]
        self.count = Counter[str]()

    def may_be_in(self, name: str) -> bool:
        """Whether anything under a name can be left out."""
        return any(without_quotes(path).startswith(name) for path, _ in self._patterns)

    def takes(self, path: str) -> bool:
        """Whether what stands at a path is left out. It is counted."""
        for given, pattern in self._patterns:
            if pattern.fullmatch(without_quotes(path)):
                self.count[given] += 1
                return True
        return False

    def begins(self, name: str) -> bool:
        """Whether a name begins with a path that is left out. It is counted for each such path."""
        matching = [path for path, pattern in self._patterns if pattern.match(name)]
        self.count.update(matching)
        return bool(matching)


def path_pattern(path: str) -> str:
    """The expression, without quotes, of a path that is left out. What stands within an element of
    a set is left out of all.
    """
    text = re.escape(without_quotes(path)).replace(r"\[\*\]", r"\[[^\]]*\]")
    return re.sub(r"\\{\d+\\}(?=.)|\\{\\\*\\}", r"\\{[^}]*\\}", text)


def without_quotes(path: str) -> str:
    """A path as names of arrays and of values within infos have it: `game[uuid]`."""
    return re.sub(r"\[(['\"])([^\]]*)\1\]", r"[\2]", path)


Held = str | int  # a text, of a plain value or a place; or the number of a node


@attrs.define
class _Node:
    """An object.

    Attributes:
        value: itself, which stays alive: no other gets its address.
        owner: the name from which it was reached first.
        path: from there, `{*}` for an element of a set.
        text: what it shows; None: nothing.
        held: what it holds, with the path from itself.
    """

    value: object
    owner: str
    path: str
    text: str | None = None
    held: list[tuple[str, Held]] = attrs.field(factory=list)

    @property
    def kids(self) -> list[int]:
        return [what for _, what in self.held if type(what) is int]

    @property
    def tokens(self) -> list[str]:
        tokens = [] if self.text is None else [self.text]
        for label, what in self.held:
            tokens.append(label)
            if type(what) is str:
                tokens.append(what)
        return tokens


class Graph:
    """The objects that are reached from names.

    Attributes:
        left: how many values may still be read.
        not_seen: how many values of which types were not looked into.
        states: those of generators of random numbers, by name.
        compared: how many values show something by themselves, and not as a state of a generator.
    """

    def __init__(
        self, most: int, ignored: Ignored | None = None, told: Collection[str] = ()
    ) -> None:
        """No object yet. `told`: names whose values are told."""
        self._ignored, self._told, self.left = ignored or Ignored(), frozenset(told), most
        self._nodes: list[_Node] = []
        self._with_paths = set[str]()
        self._sizes = Counter[str]()  # how many tokens the nodes of a name have
        self._reached: dict[int, tuple[object, Held]] = {}  # by address: what stands for an object
        self._paths: dict[Held, str] = {}  # of places, for people
        self._sets: list[tuple[_Node, Collection[object]]] = []
        self._items: list[tuple[_Node, list[Held]]] = []  # what stands for the elements of these
        self._digests: list[int] = []
        self._with_places, self._first = False, 0  # the first node that has none
        self.states: dict[str, list[str]] = {}
        self.not_seen = Counter[str]()
        self.compared = 0

    def walk(self, names: Mapping[str, object], root: object) -> None:
        """Walk from names. `root`: is not looked into."""
        if root is not None:
            self._reached[id(root)], self._paths["self"] = (root, "self"), "self"
        may_be_in = self._ignored.may_be_in
        self._with_paths = {name for name in names if self._told or may_be_in(name)}
        self._with_places = True
        self._nodes = [_Node(None, name, name) for name in names]
        for node in self._nodes[: len(names)]:
            self._hold(node, [("", names[node.owner])])
        self._look_into_all(len(names))
        self._with_places, self._first = False, len(self._nodes)
        if self.left <= 0:
            return
        states, self.states = self.states, {}
        before, most = self.left, min(DIGESTS_MAX, self.left)
        self.left = most
        items = [self._elements(node, values) for node, values in self._sets]
        self._look_into_all(self._first)
        self.left, is_digested = max(before - most + self.left, 1), self.digest(most)
        if is_digested:
            self._items = [(node, held) for (node, _), held in zip(self._sets, items, strict=True)]
            for name, count in self._ambiguous().items():
                self.not_seen[f"which is which of equal objects of sets: {name}"] += count
        else:
            self.not_seen["what sets hold: it takes too long to compare"] = 0
        for owner, texts in self.states.items() if is_digested else ():
            states.setdefault(owner, []).extend(sorted(texts))
        self.states = states

    def taken(self, elements: Collection[object]) -> list[Held]:
        """Take up objects, and what they reach. Returns what stands for each."""
        held = [self._taken(element, "", "") for element in elements]
        self._look_into_all(0)
        return held

    def _taken(self, value: object, owner: str, path: str, place: int = 0) -> Held:
        """What stands for a value: its text, or where it was reached before; else the number of a
        new node. `place`: among the tokens of its owner; 0: it has none.
        """
        kind: Any = type(value)
        if kind in PLAIN:
            return plain_text(value)
        before = self._reached.get(id(value))
        if before is not None:
            return before[1]
        number = len(self._nodes)
        self._nodes.append(_Node(value, owner, path))
        if not self._with_places:
            self._reached[id(value)] = value, number
        elif not is_value(kind):
            named = f"={owner}#{place}"
            self._reached[id(value)] = value, named
            if self._told:
                self._paths[named] = path
        return number

    def _look_into_all(self, first: int) -> None:
        for node in islice(self._nodes, first, None):  # which grow
            if self.left <= 0:
                return
            self._look_into(node)

    def _look_into(self, node: _Node) -> None:
        value: Any = node.value
        kind: Any = type(value)
        if isinstance(value, SETS):
            self._look_into_set(node, list(value))
            return
        text, children = self._parts(node)
        if is_generator(kind):
            self.states.setdefault(node.owner, []).append(text)
            node.text = None if self._with_places else name_of(kind)
        else:
            node.text = text
            self.compared += not children and text != name_of(kind) and not is_named(kind)
        self._hold(node, children)

    def _look_into_set(self, node: _Node, items: Collection[object]) -> None:
        kind: Any = type(node.value)
        node.text = f"{kind.__name__} of {len(items)}"
        self.compared += 1
        if not self._with_places:
            held = [("{}", what) for what in self._elements(node, items)]
            texts = sorted(pair for pair in held if type(pair[1]) is str)
            node.held = [*texts, *(pair for pair in held if type(pair[1]) is int)]
        elif kind is not DictItems and all(map(is_key, items)):
            self._hold(node, [(f"{{{key}}}", True) for key in sorted(map(key_text, items))])
        else:
            self._hold(node, [])
            self._sets.append((node, items))

    def _elements(self, node: _Node, items: Collection[object]) -> list[Held]:
        self.left -= len(items)
        return [self._taken(item, node.owner, f"{node.path}{{*}}") for item in items]

    def _hold(self, node: _Node, children: Collection[Child]) -> None:
        """Note what an object holds."""
        owner, has_path = node.owner, node.owner in self._with_paths
        place = self._sizes[owner] + (node.text is not None)
        self.left -= len(children)
        for label, child in children:
            path = node.path + label if has_path else ""
            if has_path and label and self._ignored.takes(path):
                continue
            place += 1
            is_plain = type(child) in PLAIN  # as most are
            what = plain_text(child) if is_plain else self._taken(child, owner, path, place)
            if type(what) is str:
                place += 1
                self.compared += 1
            node.held.append((label, what))
        self._sizes[owner] = place

    def _parts(self, node: _Node) -> Parts:
        value: Any = node.value
        kind = type(value)
        if isinstance(value, _BY_NAME_ALONE) and not isinstance(value, (io.StringIO, io.BytesIO)):
            self.not_seen[name_of(kind)] += 1
        try:
            return parts(value, LEAVES_MAX if node.owner in self._told and self._with_places else 0)
        except Exception:  # of an object that is not as its type says, or cannot be read
            self.not_seen[name_of(kind)] += 1
            return name_of(kind), []

    def digest(self, most: int) -> bool:
        """Digest the objects without a place; False if `most` digests do not suffice."""
        if self.left <= 0:
            return False
        numbers = range(self._first, len(self._nodes))
        digests = [0] * self._first + [digest_of(self._nodes[n].tokens) for n in numbers]
        kids = {number: self._nodes[number].kids for number in numbers}
        parents = defaultdict[int, list[int]](list)
        for number, each in kids.items():
            for kid in each:
                parents[kid].append(number)
        open_kids = {number: len(each) for number, each in kids.items()}
        done = [number for number in numbers if not kids[number]]
        for number in done:  # which grows
            if kids[number]:
                digests[number] = self._with_kids(digests, number, kids[number])
            for parent in parents[number]:
                open_kids[parent] -= 1
                if not open_kids[parent]:
                    done.append(parent)
        rest, told_apart = [number for number in numbers if open_kids[number]], 0
        while rest and (count := len({digests[number] for number in rest})) > told_apart:
            told_apart, most = count, most - len(rest)
            if most < 0:
                return False
            new = [self._with_kids(digests, number, kids[number]) for number in rest]
            for number, digest in zip(rest, new, strict=True):
                digests[number] = digest
        self._digests = digests
        return True

    def _with_kids(self, digests: list[int], number: int, kids: list[int]) -> int:
        below = [digests[kid] for kid in kids]
        if isinstance(self._nodes[number].value, SETS):
            below.sort()
        return digest_of([f"{digests[number]:016x}", *(f"{digest:016x}" for digest in below)])

    def key(self, item: Held) -> str:
        """What stands for an element: its text, or its digest."""
        return item if type(item) is str else f"#{self._digests[int(item)]:016x}"

    def _ambiguous(self) -> Counter[str]:
        """Objects of which nothing tells which is which, and that more than one other knows: their
        types, and how many.
        """
        own = self._nodes[self._first :]
        count, known = Counter(self._digests), Counter[int]()
        every: list[Sequence[Held]] = [held for _, held in self._items]
        for held in (*every, *(node.kids for node in own)):
            known.update({item for item in held if type(item) is int})
        kinds: dict[int, Any] = {number: type(self._nodes[number].value) for number in known}
        return Counter(
            name_of(kinds[number])
            for number, times in known.items()
            if times > 1 and count[self._digests[number]] > 1 and not is_value(kinds[number])
        )

    def digests(self) -> dict[str, int]:
        """A digest of each name."""
        tokens = defaultdict[str, list[str]](list)
        for node in islice(self._nodes, self._first):
            tokens[node.owner] += node.tokens
        for node, items in self._items:
            tokens[node.owner] += sorted(map(self.key, items))
        return {name: digest_of(each) for name, each in tokens.items()}

    def leaves(self) -> Iterator[tuple[str, str]]:
        """Path and text of the values that are told, the shallowest first."""
        for node in islice(self._nodes, self._first):
            if node.owner in self._told:
                if node.text is not None:
                    yield node.path, node.text
                for label, what in node.held:
                    if type(what) is str:
                        yield node.path + label, self._shown(what)
        for node, items in self._items:
            if node.owner in self._told:
                yield from self._leaves_of_set(node.path, items)
                keys = sorted(map(self.key, items))
                yield f"{node.path}{{}}", f"all of it, digest {digest_of(keys):016x}"

    def _shown(self, text: str) -> str:
        return f"the object at {self._paths[text]}" if text in self._paths else text

    def _leaves_of_set(self, path: str, items: Sequence[Held]) -> Iterator[tuple[str, str]]:
        """Of the elements in order of what they show, so that those of two runs stand beside each
        other.
        """
        told: dict[int, str] = {}
        ordered = sorted(items, key=self._order)
        queue = deque((f"{path}{{{place}}}", item) for place, item in enumerate(ordered))
        while queue:
            where, item = queue.popleft()
            if type(item) is str:
                yield where, self._shown(item)
            elif (digest := self._digests[int(item)]) in told:
                yield where, f"holds the same as {told[digest]}"
            else:
                node, told[digest] = self._nodes[int(item)], where
                yield where, str(node.text)
                held = node.held
                if isinstance(node.value, SETS):
                    inner = sorted((what for _, what in held), key=self._order)
                    held = [(f"{{{place}}}", what) for place, what in enumerate(inner)]
                queue.extend((where + label, what) for label, what in held)

    def _order(self, item: Held) -> tuple[Sequence[str], str]:
        if type(item) is not int:
            return [str(item)], self.key(item)
        node = self._nodes[item]
        if type(node.value) is DictItem and node.held:  # by its key: values may differ in two runs
            tokens, key = self._order(node.held[0][1])
            return tokens, key + self.key(item)
        return node.tokens, self.key(item)
