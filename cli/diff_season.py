"""What `goldrush diff` says of two seasons: how conclusions and scores moved."""

from __future__ import annotations

from typing import Any

from cli.text import printable, table
from replay.season.consequences import consequences

__all__ = ["consequences", "told"]

SHOWN_MAX = 20


def told(came: Any, by_round: bool) -> str:
    """The consequences as text; with `by_round` the scores of each assignment too."""
    head = f"from assignment {came.since} to {came.until}"
    if not came.assignments:
        return f"{head} every conclusion and every score is the same"
    shown = came.assignments if by_round else came.assignments[:SHOWN_MAX]
    rows = [("assignment", "concluded in a", "concluded in b", "mean total a", "b")]
    for apart in shown:
        rows.append(
            (
                str(apart.assignment), _concluded(apart.a), _concluded(apart.b), _mean(apart.a),
                _mean(apart.b),
            )
        )  # fmt: skip
    parts = [f"{head}, {len(came.assignments)} came out otherwise:", table(rows, numbers=(0, 3, 4))]
    if len(came.assignments) > len(shown):
        parts.append(f"and {len(came.assignments) - len(shown)} more; --by-round has all")
    moved = came.assignments if by_round else came.assignments[:1]
    parts += [
        f"\nscores in assignment {apart.assignment}:\n{_scores(apart, came.names)}"
        for apart in moved
    ]
    parts.append(f"\nafter assignment {came.until}:\n{_standings(came.standings)}")
    return "\n".join(parts)


def _concluded(came: Any) -> str:
    if came is None:
        return "-"
    return "; ".join(conduct or "nothing" for conduct in came.conclusions)


def _mean(came: Any) -> str:
    return "-" if came is None or came.mean_total is None else f"{came.mean_total:.2f}"


def _scores(apart: Any, names: Any) -> str:
    """The four final scores of everybody at the tables, side by side."""
    rows = [("table", "agent", "a", "b")]
    tables = max(len(came.scores) if came else 0 for came in (apart.a, apart.b))
    for number in range(tables):
        one, two = (
            came.scores[number] if came and number < len(came.scores) else {}
            for came in (apart.a, apart.b)
        )
        for agent in sorted({*one, *two}):
            rows.append(
                (str(number), printable(names[agent]), _four(one.get(agent)), _four(two.get(agent)))
            )
    return table(rows, numbers=(0,))


def _four(scores: Any) -> str:
    if scores is None:
        return "-"
    return f"{' '.join(map(str, scores))} = {sum(scores)}"


def _standings(standings: Any) -> str:
    if not standings:
        return "every worker stands the same"
    rows = [("worker", "a: status, sparks, all-time", "b")]
    for standing in standings[:SHOWN_MAX]:
        rows.append((printable(standing.name), _stands(standing.a), _stands(standing.b)))
    more = len(standings) - SHOWN_MAX
    return table(rows) + (f"\nand {more} more; --json has all" if more > 0 else "")


def _stands(stands: Any) -> str:
    return "-" if stands is None else f"{stands[0]}, {stands[1]}, {stands[2]}"
