"""How `goldrush replay` shows an assignment of a season: who is there, above what happened."""

from __future__ import annotations

from typing import Any

from cli.text import printable, table
from kernel.competition.state import WORKER
from replay.season.summary import agent_as_dict


def as_dict(rebuilt: Any) -> dict[str, Any]:
    """The assignment for JSON, but for its events."""
    state = rebuilt.state
    return {
        "journal": rebuilt.path,
        "world": rebuilt.header.world,
        "assignment": rebuilt.round,
        "assignments": state.config.assignments,
        "digest": f"{rebuilt.digest:016x}",
        "leaderboard": [list(row) for row in state.leaderboard],
        "agents": [agent_as_dict(agent) for agent in state.agents.values()],
    }


def told(rebuilt: Any) -> str:
    """The head of the assignment and the cast after it."""
    state = rebuilt.state
    ranks = {agent: rank for rank, agent, _, _ in state.leaderboard}
    rows = [("worker", "status", "class", "sparks", "tier", "all-time", "rank", "persona")]
    for agent in state.agents.values():
        if agent.role == WORKER and agent.status != "gone":
            rows.append(
                (
                    printable(agent.name), agent.status, agent.class_, str(agent.sparks),
                    str(agent.stage), str(agent.all_time), str(ranks.get(agent.ordinal, "-")),
                    printable(agent.persona or "-"),
                )
            )  # fmt: skip
    head = f"assignment {rebuilt.round}, {state.config.assignments} in all"
    return f"{head}, digest {rebuilt.digest:016x}\n\n{table(rows, numbers=(3, 4, 5, 6))}"
