"""How `goldrush replay` shows a round of a mining run: a map, and who holds what."""

from __future__ import annotations

import os
from typing import Any

import click

from agents.roster import called
from cli.text import printable, table
from kernel.mining.events import KINDS
from kernel.mining.state import BY_CAPTURE, HOLDINGS

MAP_COLUMNS_MAX = 60
MAP_ROWS_MAX = 60


def as_dict(rebuilt: Any) -> dict[str, Any]:
    """The round for JSON, but for its events."""
    state = rebuilt.state
    cols = state.config.cols
    return {
        "journal": rebuilt.path,
        "world": rebuilt.header.world,
        "round": rebuilt.round,
        "rounds": state.config.rounds,
        "digest": f"{rebuilt.digest:016x}",
        "agents": [
            {
                "agent": agent,
                "policy": state.roster[agent]["policy"],
                "gold": gold,
                "plots": state.plots_of[agent],
                "spent": dict(zip(KINDS, state.spent[agent], strict=True)),
                "memo": state.memo[agent],
            }
            for agent, gold in enumerate(state.gold)
        ],
        "plots": [
            {
                "plot": plot,
                "row": plot // cols,
                "col": plot % cols,
                "owner": owner,
                "since": None if owner is None else state.since[plot],
                "how": HOLDINGS[state.how[plot]],
            }
            for plot, owner in enumerate(state.owner)
        ],
    }


def told(rebuilt: Any) -> str:
    """What is shown of a round above its events."""
    state = rebuilt.state
    head = f"round {rebuilt.round} of {state.config.rounds}, digest {rebuilt.digest:016x}"
    return f"{head}\n\n{_map(state)}\n\n{_holders(state)}"


def _map(state: Any) -> str:
    """The owners by row and column; a dot is nobody's."""
    rows, cols = state.config.rows, state.config.cols
    shown_rows, shown_cols = min(rows, MAP_ROWS_MAX), min(cols, MAP_COLUMNS_MAX)
    width = len(str(max(state.config.agents - 1, shown_cols - 1)))
    edge = len(str(shown_rows - 1))
    lines = [" " * edge + "  " + " ".join(str(col).rjust(width) for col in range(shown_cols))]
    for row in range(shown_rows):
        cells = [_cell(state.owner[row * cols + col], width) for col in range(shown_cols)]
        lines.append(str(row).rjust(edge) + "  " + " ".join(cells))
    if (shown_rows, shown_cols) != (rows, cols):
        lines.append(f"the first {shown_rows} x {shown_cols} of {rows} x {cols}; --json has all")
    return "\n".join(lines)


def _cell(owner: int | None, width: int) -> str:
    text = ("." if owner is None else str(owner)).rjust(width)
    if "NO_COLOR" in os.environ:
        return text
    if owner is None:
        return click.style(text, dim=True)
    return click.style(text, fg=_COLOURS[owner % len(_COLOURS)])


_COLOURS = (
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "bright_red",
    "bright_green",
    "bright_yellow",
    "bright_blue",
)


def _holders(state: Any) -> str:
    """Who has how much gold, and which plots since when; an asterisk marks what was captured."""
    rows = [("agent", "policy", "gold", "plots (since round; * captured)")]
    for agent, gold in enumerate(state.gold):
        plots = [
            f"{plot} ({state.since[plot]}{'*' if state.how[plot] == BY_CAPTURE else ''})"
            for plot in state.plots_of[agent]
        ]
        policy = printable(called(state.roster[agent]))
        rows.append((str(agent), policy, f"{gold:,.10g}", ", ".join(plots) or "none"))
    return table(rows, numbers=(0, 2))
