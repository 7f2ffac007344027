"""The fields of a run's states, by how a page draws them.

A field is drawn by what its values are in all units: one value, a list with one value for each
agent, a grid (a list of lists of one length), or a list of one length; all others are a tree. Of
numbers there are charts: a line, lines of agents (`Lines`), or for each of a few values the number
of items that have it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from math import prod
from types import NoneType
from typing import Any, Final

import msgspec

from goldrush.replay.view.chart import Lines, short

LEVELS_MAX: Final = 8  # values with a colour each
POINTS_MAX: Final = 1000  # points of a line of the other charts
ITEMS_MAX: Final = 10_000  # items of a list or grid that a page has
SIDE_MAX: Final = 100  # rows and columns of a larger grid that it has

ONE, AGENTS, GRID, VALUES, TREE = "one", "agents", "grid", "values", "tree"
COUNTS: Final = "counts"  # a kind of chart besides ONE and AGENTS

State = Mapping[str, Any]


class Cells(msgspec.Struct, frozen=True):
    """A list or a grid as a page has it, and what is told of the whole.

    Attributes:
        shown: the grid; of one with more than ITEMS_MAX items SIDE_MAX rows and columns.
        size: of the whole.
        types: of its items.
        counts: how many items have each value; None: more than LEVELS_MAX values.
        range: the lowest and the highest number, if all items are numbers or None.
    """

    shown: Sequence[object]
    size: tuple[int, ...]
    types: Collection[type]
    counts: Mapping[object, int] | None
    range: Sequence[float]


class ShownField(msgspec.Struct, frozen=True):
    """A field of the states.

    Attributes:
        kind: how it is drawn.
        values: in the states that are shown.
        size: of lists and grids the largest; of a tree, that of the grids in place of which it has
            a part.
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
            return cls.tree(values)
        if kind == ONE:
            return cls(ONE, values, numbers=_are_numbers(set(map(type, values))))
        cells = [value if isinstance(value, Cells) else _cells_of(value) for value in values]
        sizes = {each.size for each in cells}
        size = tuple(map(max, zip(*sizes, strict=True)))
        numbers = _are_numbers({kind for each in cells for kind in each.types})
        if kind == AGENTS:
            return cls(AGENTS, values, size, numbers=numbers)
        counts = [each.counts for each in cells if each.counts is not None]
        known = set(chain.from_iterable(counts))
        is_few = len(counts) == len(cells) and len(known) <= LEVELS_MAX
        levels = sorted(known, key=_order) if is_few else None
        has_one_size = kind == GRID or (len(sizes) == 1 and size != (0,))
        if not has_one_size or (levels is None and not numbers):
            return cls.tree(values)
        found = list(chain.from_iterable(each.range for each in cells))
        ends = (min(found), max(found)) if numbers and found else ()
        return cls(kind, values, size, levels, numbers, ends, counts)

    @classmethod
    def tree(cls, values: Sequence[object]) -> ShownField:
        """That of values which are neither a table nor drawn."""
        sizes = [value.size for value in values if isinstance(value, Cells)]
        return cls(TREE, values, tuple(map(max, zip(*sizes, strict=True))))

    def as_dict(self, before: Sequence[object], *, is_drawn: bool) -> dict[str, object]:
        """For the page. `before`: its values in earlier states; `is_drawn`: the world draws it."""
        values = [*before, *self.values]
        return {
            "kind": self.kind,
            "is_drawn": is_drawn,
            "values": values if is_drawn else [self._cut(value) for value in values],
            **({"size": self.size} if self.size else {}),
            **({"levels": self.levels, "range": self.range} if self.kind in (GRID, VALUES) else {}),
        }

    def _cut(self, value: Any) -> Any:
        """At most ITEMS_MAX items of a list; what there is of a large grid."""
        if isinstance(value, Cells):
            return value.shown
        return value[:ITEMS_MAX] if self.kind == VALUES else value

    def chart(self, lines: Lines) -> tuple[str, Sequence[object], Sequence[Sequence[object]]]:
        """The kind of its chart, a title for each line (an agent, a policy or a value), and the
        lines, of one state in `spacing`; no lines without numbers.
        """
        step = spacing(len(self.values))
        if self.kind in (GRID, VALUES):
            levels, counts = self.levels or (), self.counts[::step]
            return COUNTS, levels, [[count.get(level, 0) for count in counts] for level in levels]
        values: Sequence[Any] = self.values[::step]
        if not self.numbers:
            return self.kind, (), []
        if self.kind == ONE:
            return ONE, (0,), [[short(value) for value in values]]
        return AGENTS, lines.titles, list(zip(*map(lines.row, values), strict=True))


def spacing(states: int) -> int:
    """A chart of so many states has POINTS_MAX at most: one state in so many."""
    return max(1, -(-states // POINTS_MAX))


def fields_of(
    states: Sequence[State], agents: Sequence[int], by_agent: Collection[str]
) -> dict[str, ShownField]:
    """The fields of these states by name. `agents`: as for `ShownField.of`; `by_agent`: those with
    a value for each agent, also for those that have joined.
    """
    fields = {}
    for name in dict.fromkeys(chain.from_iterable(states)):
        values = [state.get(name) for state in states]
        counts = [len(value or ()) for value in values] if name in by_agent else agents
        fields[name] = ShownField.of(values, counts)
    return fields


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
    if isinstance(value, Cells):
        return GRID
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


def shape_of(value: object, agents: int) -> object:
    """What a value is drawn as, with the size of a list or grid."""
    return kind_of(value, agents), _size_of(value) if isinstance(value, (list, Cells)) else ()


def with_cells(state: State, drawn: Collection[str]) -> State:
    """A state whose large grids are `Cells`, but those that the world draws."""
    return {
        name: _cells_of(value)
        if name not in drawn and kind_of(value, -1) == GRID and prod(_size_of(value)) > ITEMS_MAX
        else value
        for name, value in state.items()
    }


def _cells_of(value: Any) -> Cells:
    size = _size_of(value)
    items = list(chain.from_iterable(value)) if len(size) > 1 else value
    if len(size) > 1 and len(items) > ITEMS_MAX:
        value = [row[:SIDE_MAX] for row in value[:SIDE_MAX]]
    types, counts = set(map(type, items)), Counter(items)
    numbers = counts.keys() - {None} if _are_numbers(types) else ()
    ends = (min(numbers), max(numbers)) if numbers else ()
    return Cells(value, size, types, counts if len(counts) <= LEVELS_MAX else None, ends)


def _size_of(value: Any) -> tuple[int, ...]:
    if isinstance(value, Cells):
        return value.size
    return (len(value), len(value[0])) if value and isinstance(value[0], list) else (len(value),)


def _are_numbers(types: Collection[type]) -> bool:
    """Whether values of these types are numbers, or None where one is missing."""
    return {*types} <= {int, float, NoneType} and {*types} != {NoneType}


def _order(level: Any) -> tuple[str, Any]:
    return ("number" if type(level) in (int, float) else type(level).__name__, level)
