"""A unit of a run (a round, an assignment) as text: the declared fields of the state after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from goldrush.kernel.text import escaped
from goldrush.replay.text import (
    EXACT_DIGITS,
    cut_middle,
    format_number,
    format_table,
)
from goldrush.replay.tools import ClosedUnit, Tools
from goldrush.replay.view.fields import GRID, kind_of

SIDE_MAX: Final = 60  # rows and columns of a grid
ROWS_MAX: Final = 60  # agents, and values of a map
TEXT_MAX: Final = 80  # characters of a value
_NUMBERS: Final = (int, float, type(None))


def format_unit(unit: ClosedUnit, tools: Tools) -> str:
    """A unit above its events: one line, then a table of what has a value for each agent, then each
    grid and each map as a table.
    """
    state, labels = unit.state, tools.labels(unit.state)
    fields: Mapping[str, Any] = tools.fields(unit) or {}
    length = length_of(tools, state)
    kinds = {name: _kind(value, len(labels)) for name, value in fields.items()}
    behind = bool(unit.vocabulary.uncounted)  # what does not count is numbered, as the first reset
    last = unit.round if length is None else unit.vocabulary.number(length + behind)
    of = "" if length is None or unit.round > last else f" of {last}"
    head = [f"{unit.vocabulary.unit} {unit.round}{of}", f"digest {unit.digest:016x}"]
    head += [f"{name} {_shown(fields[name])}" for name, kind in kinds.items() if kind == "one"]
    parts = [", ".join(head)]
    by_agent = {
        name: fields[name] for name, kind in kinds.items()
        if kind == "agents" and any(value is not None for value in fields[name])
    }  # fmt: skip
    if labels:
        parts.append(_by_agent(by_agent, labels))
    for name, kind in kinds.items():
        if kind == GRID:
            parts.append(f"{name}\n{_grid(fields[name])}")
        elif kind == "map" and fields[name]:
            rows = [(escaped(str(key)), _shown(value)) for key, value in _leaves(fields[name])]
            parts.append(f"{name}\n{format_table(rows, most=ROWS_MAX)}")
    return "\n\n".join(parts)


def length_of(tools: Tools, state: Any) -> int | None:
    """The number of units of a run by its settings; None: unknown."""
    horizon = tools.players.horizon
    return getattr(state.config, horizon) or None if horizon else None


def _kind(value: object, agents: int) -> str:
    """How a field is shown: a value for each agent comes before any other kind of list."""
    if isinstance(value, Mapping):
        return "map"
    if isinstance(value, list) and agents and len(value) == agents:
        return "agents" if kind_of(value, agents) != GRID else GRID
    return GRID if kind_of(value, agents) == GRID else "one"


def _by_agent(columns: Mapping[str, Sequence[object]], labels: Sequence[str]) -> str:
    rows = [("agent", "who", *columns)]
    for agent, label in enumerate(labels):
        shown = (_shown(values[agent]) for values in columns.values())
        rows.append((str(agent), escaped(label), *shown))
    are_numbers = (all(type(v) in _NUMBERS for v in values) for values in columns.values())
    numbers = [place for place, is_number in enumerate(are_numbers, 2) if is_number]
    return format_table(rows, [0, *numbers], ROWS_MAX)


def _grid(rows: Sequence[Sequence[Any]]) -> str:
    """A grid with the numbers of its rows and columns; None is a dot."""
    count, columns = min(len(rows), SIDE_MAX), min(len(rows[0]), SIDE_MAX)
    cells = [["", *map(str, range(columns))]]
    for number, row in enumerate(rows[:count]):
        shown = ("." if value is None else _shown(value) for value in row[:columns])
        cells.append([str(number), *shown])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [" ".join(map(str.rjust, line, widths)) for line in cells]
    if (count, columns) != (len(rows), len(rows[0])):
        whole = f"{len(rows)} x {len(rows[0])}"
        lines.append(f"the first {count} x {columns} of {whole}; --json has all")
    return "\n".join(lines)


def _leaves(value: object, name: str = "") -> Iterator[tuple[str, object]]:
    """The values of nested maps, with their names joined by dots."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{name}.{key}" if name else str(key))
    else:
        yield name, value


def _shown(value: object) -> str:
    if type(value) in _NUMBERS and value is not None:
        return format_number(value, EXACT_DIGITS)  # type: ignore[arg-type]
    return cut_middle(escaped("-" if value is None else str(value)), TEXT_MAX, " ... ")
