"""What `goldrush diff` says of two mining runs: what came of their difference."""

from __future__ import annotations

from typing import Any

from cli.text import table
from replay.consequences import consequences

__all__ = ["consequences", "told"]

SHOWN_MAX = 20  # plots with other owners, agents: how many are listed


def told(came: Any, by_round: bool) -> str:
    """The consequences as text."""
    parts = [f"after round {came.round}, and from round {came.since} to there:"]
    rows = [("", "a", "b", "b - a")]
    for name, a in came.counts_a.items():
        b = came.counts_b[name]
        rows.append((name, f"{a:,.10g}", f"{b:,.10g}", f"{b - a:+,.10g}"))
    for agent, a, b in came.gold[:SHOWN_MAX]:
        both = a is not None and b is not None
        change = f"{b - a:+,.10g}" if both else "-"
        rows.append((f"gold of agent {agent}", _amount(a), _amount(b), change))
    parts.append(table(rows, numbers=(1, 2, 3)))
    if len(came.gold) > SHOWN_MAX:
        parts.append(f"and {len(came.gold) - SHOWN_MAX} agents more; --json has all")
    parts.append(_owners(came))
    if by_round:
        parts += ["", _rounds(came.rounds)]
    return "\n".join(parts)


def _amount(gold: float | None) -> str:
    return "-" if gold is None else f"{gold:,.10g}"


def _owners(came: Any) -> str:
    if came.owners is None:
        return "the grids differ, so owners are not compared"
    if not came.owners:
        return "every plot has the same owner"
    listed = [f"{plot} ({_owner(a)}, {_owner(b)})" for plot, a, b in came.owners[:SHOWN_MAX]]
    more = len(came.owners) - len(listed)
    rest = f" and {more} more" if more else ""
    return f"plots with other owners (a, b): {', '.join(listed)}{rest}"


def _owner(agent: int | None) -> str:
    return "nobody" if agent is None else str(agent)


def _rounds(rounds: Any) -> str:
    rows = [("round", "plots apart", "gold a", "gold b", "raids a", "raids b", "captures a, b")]
    rows += [
        (
            str(r.round), "-" if r.plots is None else str(r.plots),
            f"{r.gold_a:,.10g}", f"{r.gold_b:,.10g}", str(r.raids_a), str(r.raids_b),
            f"{r.captures_a}, {r.captures_b}",
        )
        for r in rounds
    ]  # fmt: skip
    return table(rows, numbers=range(7))
