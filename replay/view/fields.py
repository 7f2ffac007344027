"""The fields of a run's states, by how a page draws them.

A field is drawn by what its values are in all units: one value, a list with one value for each
agent, a grid (a list of lists of one length), or a list of one length; all others are a tree. Of
numbers there are charts: a line, a line for each agent (of many agents the spread of each policy),
or for each of a few values the number of items that have it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
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

    def add(self, value: object, policies: Sequence[str]) -> Row:
        """Add the value of a unit in which the agents play these policies; returns its row in a
        chart, empty if it has none.
        """
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

    def as_dict(self) -> dict[str, object]:
        """For the page: of lists the largest size; the levels, or the lowest and highest number."""
        drawn: dict[str, object] = {"kind": self.kind}
        if len(self.kinds) == 1 and self.sizes:
            drawn["size"] = [max(sides) for sides in zip(*self.sizes, strict=True)]
        if self.kind in (GRID, VALUES):
            drawn |= {"levels": self.ordered, "range": self.range}
        return drawn


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
