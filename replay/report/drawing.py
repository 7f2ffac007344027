"""Figures that are still to be drawn, and their drawing by many processes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from goldrush.agents.workers import each_of
from goldrush.replay.report.page import Block, Figure, Text

if TYPE_CHECKING:
    from goldrush.replay.report.panels import Drawn


@attrs.frozen
class Drawing:
    """A figure to be: `draw` is a function of a module, given `arguments` in another process; the
    rest is as in `Figure`.
    """

    name: str
    draw: Callable[..., Drawn]
    arguments: tuple[Any, ...]
    caption: str
    commands: Sequence[str]
    journals: Sequence[str]


def drawn(
    parts: Sequence[Block | Drawing],
    jobs: int | None = None,
    on_figure: Callable[[int, int], None] | None = None,
) -> list[Block]:
    """The page with its figures; `on_figure` is told (figures drawn, in all)."""
    drawings = [part for part in parts if isinstance(part, Drawing)]
    ready: dict[str, Block] = {}
    for place, figure in enumerate(each_of(_drawn, drawings, jobs)):
        ready[drawings[place].name] = figure
        if on_figure is not None:
            on_figure(place + 1, len(drawings))
    return [ready[part.name] if isinstance(part, Drawing) else part for part in parts]


def _drawn(drawing: Drawing) -> Block:
    found = drawing.draw(*drawing.arguments)
    if not found.svg:
        return Text(f"{drawing.caption} There are no data for it.")
    without = f" No data for: {', '.join(found.without)}." if found.without else ""
    return Figure(
        drawing.name, found.svg, drawing.caption + without, drawing.commands, drawing.journals
    )
