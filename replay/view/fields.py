"""The fields of a run's states, by how a page draws them.

A field is drawn by what its values are in all units: one value, a list with one value for each
agent, a grid (a list of lists of one length), or a list of one length; all others are a tree. Of
numbers there are charts: a line, lines of agents or of a few items, or for each of a few values the
number of items that have it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from math import prod
from types import NoneType
from typing import Any, Final

import msgspec

from goldrush.replay.view.chart import SINGLE_MAX, Lines, points_of, short

LEVELS_MAX: Final = 8  # values with a colour each
POINTS_MAX: Final = 1000  # points of a line of the other charts
ITEMS_MAX: Final = 10_000  # items of a list or grid that a page has
SIDE_MAX: Final = 100  # rows and columns of a larger grid that it has

ONE, AGENTS, GRID, VALUES, TREE = "one", "agents", "grid", "values", "tree"
COUNTS, ITEMS = "counts", "items"  # kinds of charts besides ONE and AGENTS

State = Mapping[str, Any]


class ShownField(msgspec.Struct, frozen=True):
    """A field of the states.

    Attributes:
        kind: how it is drawn.
        values: in the states that are shown.
        size: of lists and grids the largest, before any was cut.
        levels: of lists and grids the values in them, in order; None: more than LEVELS_MAX.
        numbers: whether all of its values are numbers, or None where one is missing.
        range: of such lists and grids the lowest and the highest number.
        counts: of lists and grids with levels, by state, how many items have each.
    """

    kind: str
    values: Sequence[object]
    size: Sequence[int] = ()
    levels: Sequence[object] | None = ()
    numbers: bool = False
    range: Sequence[float] = ()
    counts: Sequence[Mapping[object, int]] = ()

    @classmethod
    def of(cls, values: Sequence[object], agents: Sequence[int]) -> ShownField:
        """That of these values, by state, of a run with so many agents then."""
        kinds = set(map(kind_of, values, agents))
        kind = kinds.pop() if len(kinds) == 1 else TREE
        if kind == TREE:
            return cls(TREE, values)
        if kind == ONE:
            return cls(ONE, values, numbers=_are_numbers(set(map(type, values))))
        sizes = {*map(_size_of, values)}
        size = tuple(map(max, zip(*sizes, strict=True)))
        rows: Sequence[Any] = values if kind == GRID else [[value] for value in values]
        numbers = _are_numbers({type(item) for each in rows for row in each for item in row})
        if kind == AGENTS:
            return cls(AGENTS, values, size, numbers=numbers)
        known = set[object]()
        for row in chain.from_iterable(rows):
            known.update(row)
            if len(known) > LEVELS_MAX:
                break
        levels = None if len(known) > LEVELS_MAX else sorted(known, key=_order)
        has_one_size = kind == GRID or (len(sizes) == 1 and size != (0,))
        if not has_one_size or (levels is None and not numbers):
            return cls(TREE, values)
        found = [item for each in rows for row in each for item in row if item is not None]
        ends = (min(found), max(found)) if numbers else ()
        counts = [] if levels is None else [Counter(chain.from_iterable(each)) for each in rows]
        return cls(kind, values, size, levels, numbers, ends, counts)

    def as_dict(self, before: Sequence[object], *, is_drawn: bool) -> dict[str, object]:
        """For the page. `before`: its values in earlier states; `is_drawn`: the world draws it."""
        values: list[Any] = [*before, *self.values]
        if self.kind == VALUES and not is_drawn:
            values = [value[:ITEMS_MAX] for value in values]
        if self.kind == GRID and not is_drawn and prod(self.size) > ITEMS_MAX:
            values = [[row[:SIDE_MAX] for row in value[:SIDE_MAX]] for value in values]
        return {
            "kind": self.kind,
            "is_drawn": is_drawn,
            "values": values,
            **({"size": self.size} if self.size else {}),
            **({"levels": self.levels, "range": self.range} if self.kind in (GRID, VALUES) else {}),
        }

    def chart(self, lines: Lines) -> tuple[str, Sequence[object], Sequence[Sequence[object]]]:
        """The kind of its chart, a title for each line (an agent, a policy, a value or the index of
        an item), and the lines, of one state in `spacing`; no lines without numbers.
        """
        step = spacing(len(self.values))
        if self.kind == TREE or (self.kind == VALUES and self.levels is None):
            items = _items(self.values[::step])
            return ITEMS, range(len(items)), items
        if self.kind in (GRID, VALUES):
            counts = self.counts[::step]
            levels = self.levels or ()
            return COUNTS, levels, [[count.get(level, 0) for count in counts] for level in levels]
        values: Sequence[Any] = self.values[::step]
        if not self.numbers:
            return self.kind, (), []
        if self.kind == ONE:
            return ONE, (0,), [[short(value) for value in values]]
        points = (points_of(lines, value) for value in values)
        return AGENTS, list(lines), list(zip(*points, strict=True))


def spacing(states: int) -> int:
    """A chart of so many states has POINTS_MAX at most: one state in so many."""
    return max(1, -(-states // POINTS_MAX))


def fields_of(states: Sequence[State], agents: Sequence[int]) -> dict[str, ShownField]:
    """The fields of these states by name; `agents`: as for `ShownField.of`."""
    return {
        name: ShownField.of([state.get(name) for state in states], agents)
        for name in dict.fromkeys(chain.from_iterable(states))
    }


def charts(fields: Mapping[str, ShownField], lines: Lines) -> Iterator[dict[str, object]]:
    """The charts of these fields, as `ShownField.chart`: none of what never changes, and no line of
    agents that never have a value.
    """
    for name, field in fields.items():
        kind, titles, values = field.chart(lines)
        both = zip(titles, values, strict=True)
        shown = [(title, line) for title, line in both if set(line) != {None}]
        if any(len(set(line)) > 1 for _, line in shown):
            yield {
                "name": name,
                "kind": kind,
                "titles": [title for title, _ in shown],
                "values": [line for _, line in shown],
            }


def kind_of(value: object, agents: int) -> str:
    """What a value is drawn as, in a run with so many agents."""
    if isinstance(value, Mapping):
        return TREE
    if not isinstance(value, list):
        return ONE
    types = set(map(type, value))
    if types.isdisjoint((list, dict)):
        return AGENTS if value and len(value) == agents else VALUES
    if types != {list} or len(set(map(len, value))) != 1 or not value[0]:
        return TREE
    within = set(map(type, chain.from_iterable(value)))
    return GRID if within.isdisjoint((list, dict)) else TREE


def shapes_of(state: State, agents: int) -> dict[str, object]:
    """By field what a state is drawn as, with the sizes of lists and grids."""
    return {
        name: (kind_of(value, agents), _size_of(value) if isinstance(value, list) else ())
        for name, value in state.items()
    }


def _size_of(value: Any) -> tuple[int, ...]:
    return (len(value), len(value[0])) if value and isinstance(value[0], list) else (len(value),)


def _items(values: Sequence[Any]) -> Sequence[Sequence[object]]:
    """The lines of lists of up to SINGLE_MAX numbers, all of one length, by index; None where a
    list is missing; no lines of any other values.
    """
    sizes = {len(each) if isinstance(each, list) else 0 for each in values if each is not None}
    size = sizes.pop() if len(sizes) == 1 else 0
    lists = [[None] * size if value is None else value for value in values]
    if not 0 < size <= SINGLE_MAX or not _are_numbers({type(n) for each in lists for n in each}):
        return []
    return [[short(value[index]) for value in lists] for index in range(size)]


def _are_numbers(types: Collection[type]) -> bool:
    """Whether values of these types are numbers, or None where one is missing."""
    return {*types} <= {int, float, NoneType} and {*types} != {NoneType}


def _order(level: Any) -> tuple[str, Any]:
    return ("number" if type(level) in (int, float) else type(level).__name__, level)
