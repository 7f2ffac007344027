"""The fields of a run's states, by how a page draws them.

A field is drawn by what its values are in all units: one value, a list with one value for each
agent, a grid (a list of lists of one length), or a list of one length; all others are a tree. Of
numbers there are charts: a line, a line for each agent (of many agents the spread of each policy),
or for each of a few values the number of items that have it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, compress
from types import NoneType
from typing import Any, Final, cast

import attrs

from goldrush.replay.data.spread import NO_SPREAD, Spread, spreads_of
from goldrush.replay.view.numbers import POLICIES_MAX, SINGLE_MAX, short

LEVELS_MAX: Final = 8  # values with a colour each

ONE, AGENTS, GRID, VALUES, TREE = "one", "agents", "grid", "values", "tree"
SPREADS, COUNTS = "spreads", "counts"  # kinds of charts besides ONE and AGENTS

# Of a chart: values of its lines, the spread of each policy, or counts by value.
Row = Sequence[float | None] | Mapping[str, Spread] | Counter[Any]


@attrs.define
class Field:
    """A field of the states, as far as they were added.

    Attributes:
        kinds: the kinds of its values.
        types: the types of its values, or of the items of its lists.
        sizes: the sizes of its lists.
        levels: the values in its lists; None: more than LEVELS_MAX.
        range: the lowest and the highest number in them.
    """

    kinds: set[str] = attrs.field(factory=set)
    types: set[type] = attrs.field(factory=set)
    sizes: set[tuple[int, ...]] = attrs.field(factory=set)
    levels: set[object] | None = attrs.field(factory=set)
    range: list[float] = attrs.field(factory=list)

    def add(self, value: object, policies: Sequence[str], by_agent: bool = False) -> Row:
        """Add the value of a unit in which the agents play these policies; returns its row in a
        chart, empty if it has none. `by_agent`: the value has an item for each agent, also for
        those that have joined.
        """
        if by_agent and isinstance(value, list):
            policies = [*policies, *[""] * len(value)][: len(value)]
        kind = kind_of(value, len(policies))
        self.kinds.add(kind)
        items: Sequence[Any] = [value] if not isinstance(value, list) else value
        if kind == GRID:
            self.sizes.add((len(items), len(items[0])))
            items = list(chain.from_iterable(items))
        elif kind in (AGENTS, VALUES):
            self.sizes.add((len(items),))
        elif kind == TREE:
            return ()
        self.types.update(map(type, items))
        if kind in (GRID, VALUES):
            return self._counts(items)
        if not self.is_numeric:
            return ()
        is_many = kind == AGENTS and len(items) > SINGLE_MAX
        return spreads_of(items, policies) if is_many else items

    def _counts(self, items: Sequence[Any]) -> Row:
        if self.is_numeric:
            numbers = [item for item in (*items, *self.range) if item is not None]
            self.range = [min(numbers), max(numbers)] if numbers else []
        if self.levels is None:
            return ()
        counts = Counter(items)
        self.levels |= counts.keys()
        if len(self.levels) > LEVELS_MAX:
            self.levels = None
            return ()
        return counts

    @property
    def is_numeric(self) -> bool:
        """Whether all values are numbers, or None where one is missing."""
        return self.types <= {int, float, NoneType} and self.types != {NoneType}

    @property
    def kind(self) -> str:
        """How the field is drawn."""
        if len(self.kinds) != 1:
            return TREE
        [kind] = self.kinds
        has_colours = self.levels is not None or self.is_numeric
        has_size = kind == GRID or (len(self.sizes) == 1 and (0,) not in self.sizes)
        return TREE if kind in (GRID, VALUES) and not (has_colours and has_size) else kind

    @property
    def is_tree(self) -> bool:
        """Whether no further value can change that the field is drawn as a tree."""
        return bool(self.kinds) and self.kind == TREE

    @property
    def ordered(self) -> list[object] | None:
        """The levels in order; None for too many."""
        if self.levels is None:
            return None
        return sorted(self.levels, key=_order)

    def fits(self, value: object) -> bool:
        """Whether a value that was not added is drawn as those that were."""
        if self.kind not in (GRID, VALUES, AGENTS):
            return self.kind == TREE or not isinstance(value, (list, dict))
        size = _size_of(value)
        return size is not None and size in self.sizes

    def as_dict(self, values: Sequence[object]) -> dict[str, object]:
        """For the page: of lists the largest size; the levels, or the lowest and highest number;
        the values by unit as `steps_of`.
        """
        drawn: dict[str, object] = {"kind": self.kind}
        if len(self.kinds) == 1 and self.sizes:
            drawn["size"] = [max(sides) for sides in zip(*self.sizes, strict=True)]
        if self.kind in (GRID, VALUES):
            drawn |= {"levels": self.ordered, "range": self.range}
        return {**drawn, "steps": steps_of(values)}


def _order(level: Any) -> tuple[str, Any]:
    return ("number" if type(level) in (int, float) else type(level).__name__, level)


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


def steps_of(values: Sequence[object]) -> list[object]:
    """Values by unit as steps, from each to the next one: 0 for none, a list of index and item for
    each item of a list (or of the rows of a grid, one after the other) that changes, and
    `{"is": value}` for another value.
    """
    steps: list[object] = []
    before: object = _NOTHING
    for value in values:
        changes = _changes(before, value)
        steps.append({"is": value} if changes is None else changes or 0)
        before = value
    return steps


def _size_of(value: object) -> tuple[int, ...] | None:
    """The size of a list or grid; None for anything else."""
    if not isinstance(value, list):
        return None
    if not any(isinstance(item, list) for item in value):
        return (len(value),)
    sizes = {len(row) if isinstance(row, list) else -1 for row in value}
    return (len(value), *sizes) if len(sizes) == 1 and sizes != {-1} else None


_NOTHING: Final = object()


def _changes(before: object, value: object) -> list[object] | None:
    """Index and item for each item of a list or grid that differs; None for what is not a list or
    grid of the same size, or has changed in more than half of its items.
    """
    if type(before) is not type(value) or not isinstance(value, list):
        return [] if before == value and type(before) is type(value) else None
    old: list[Any] = cast("list[Any]", before)
    new: list[Any] = value
    if not {list, dict}.isdisjoint(map(type, (*old, *new))):
        rows = [*old, *new]
        is_grid = len(old) == len(new) and all(isinstance(row, list) for row in rows)
        if not is_grid or len(set(map(len, rows))) != 1:
            return [] if old == new else None
        old, new = list(chain.from_iterable(old)), list(chain.from_iterable(new))
    if len(old) != len(new):
        return None
    found: list[object] = []
    for index, (one, other) in enumerate(zip(old, new, strict=True)):
        if one != other or type(one) is not type(other):
            found += (index, other)
    return None if len(found) > len(new) else found


def charts(
    fields: Mapping[str, Field],
    rows: Sequence[Mapping[str, Row]],
    measures: Collection[str],
) -> Iterator[dict[str, object]]:
    """The charts of the fields.

    Each has its name, its kind (ONE, AGENTS, SPREADS or COUNTS), a title for each line (an agent, a
    policy or a value), and the lines; of SPREADS five for each policy. There is none of what never
    changes, and of a single number that a measure of its name shows.
    """
    for name, field in fields.items():
        if field.kind == ONE and name in measures:
            continue
        kind, titles, lines = _lines(field, [row.get(name, ()) for row in rows])
        if all(len(set(line)) < 2 for line in lines):
            continue
        if kind == AGENTS:  # those who never have a value have no line
            has_values = [any(value is not None for value in line) for line in lines]
            titles = list(compress(titles, has_values))
            lines = list(compress(lines, has_values))
        yield {
            "name": name,
            "kind": kind,
            "titles": titles,
            "values": [[short(value) for value in line] for line in lines],
        }


def _lines(field: Field, rows: Sequence[Row]) -> tuple[str, list[Any], list[list[Any]]]:
    """The kind of a chart, the titles of its lines, and the lines; none without numbers."""
    if field.kind in (GRID, VALUES):
        levels = field.ordered or []
        return COUNTS, levels, [[Counter(row)[level] for row in rows] for level in levels]
    if field.kind == TREE or not field.is_numeric:
        return field.kind, [], []
    spreads = [cast("Mapping[str, Spread]", row) for row in rows if isinstance(row, Mapping)]
    if spreads:
        policies = list(dict.fromkeys(chain.from_iterable(spreads)))[:POLICIES_MAX]
        ends = [
            [row[policy][place] if policy in row else None for row in spreads]
            for policy in policies
            for place in range(len(NO_SPREAD))
        ]
        return SPREADS, policies, ends
    plain = [row for row in rows if not isinstance(row, Mapping)]
    count = max(map(len, plain), default=0)
    lines = [[row[line] if line < len(row) else None for row in plain] for line in range(count)]
    return field.kind, list(range(count)), lines
