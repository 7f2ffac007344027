"""The state of a game after a unit, as text for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goldrush.agents.llm.versions import PromptVersion
from goldrush.agents.seats import policy_label
from goldrush.kernel.text import escaped
from goldrush.replay.text import Paint, format_table
from goldrush.replay.tools import ClosedUnit
from goldrush.replay.view.fields import AGENTS, GRID, kind_of


def format_state(unit: ClosedUnit, prompts: Sequence[PromptVersion], paint: Paint) -> str:
    """One line, then a table of what has a value for each agent, then each grid as one."""
    state = unit.state
    values = {name: getattr(state, name) for name in state.types}
    kinds = {name: kind_of(value, len(state.roster)) for name, value in values.items()}
    by_agent = {name: values[name] for name, kind in kinds.items() if kind == AGENTS}
    grids = {name: values[name] for name, kind in kinds.items() if kind == GRID}
    others = [name for name in values if name not in by_agent and name not in grids]
    head = [f"{unit.vocabulary.unit} {unit.round}", *(f"{n} {_shown(values[n])}" for n in others)]
    parts = [", ".join(head)]
    if by_agent:
        policies = [policy_label(entry, prompts) for entry in state.roster]
        parts.append(_by_agent(by_agent, policies, paint))
    parts += [f"{name}\n{_grid(rows)}" for name, rows in grids.items()]
    return "\n\n".join(parts)


def _by_agent(
    columns: Mapping[str, Sequence[object]], policies: Sequence[str], paint: Paint
) -> str:
    rows = [("agent", "policy", *columns)]
    for agent, policy in enumerate(policies):
        shown = (_shown(values[agent]) for values in columns.values())
        rows.append((paint(str(agent), agent), policy, *shown))
    return format_table(rows, numbers=range(2, 2 + len(columns)))


def _grid(rows: Sequence[Sequence[object]]) -> str:
    shown = [["." if value is None else _shown(value) for value in row] for row in rows]
    return format_table(shown, numbers=range(len(shown[0])))


def _shown(value: object) -> str:
    return f"{value:,.10g}" if type(value) is float else escaped(str(value))
