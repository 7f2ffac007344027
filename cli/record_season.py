"""What `season`, `resume` and `fork` say of a season when it is played."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cli.models import failed
from cli.text import printable, program, table
from kernel.errors import BadInput
from kernel.text import quoted_path
from replay.season.story import story
from replay.season.summary import summarise

__all__ = ["progress", "resume", "summarise", "told"]

SHOWN_MAX = 12  # conducts, and lines of who left


def resume(
    journal: str,
    *,
    models: Any,
    trust: Sequence[str],
    sources: Sequence[str],
    fsync: bool,
    on_round: Callable[[int, Any], None] | None,
) -> Any:
    """Go on with a season. Raises BadInput for sources, which no season has."""
    from agents.season import play

    if sources:
        raise BadInput(f"{journal} is a season: it has no recorded players", "leave --source out")
    return play.resume(journal, models=models, trust=trust, fsync=fsync, on_assignment=on_round)


def progress(unit: int, state: Any) -> tuple[str, int, int]:
    """What is under way, how much of it is done, and of how much."""
    return "assignment", unit, state.config.assignments


def told(summary: Any) -> str:
    """The summary of a season as text."""
    config = summary.config
    path, goldrush = quoted_path(summary.path), program()
    mean = "-" if summary.mean_total is None else f"{summary.mean_total:.2f}"
    parts = [
        f"{_counted(summary.assignments, 'assignment')}, {_counted(summary.tables, 'table')} of "
        f"{config['workers']} workers at most, seed {config['seed']}: "
        f"{_counted(summary.concluded, 'conclusion')} ({summary.ties} drawn), "
        f"{summary.adopted} adopted; mean total {mean} of 12",
        *(
            f"after assignment {fork.unit} {printable(next(iter(story([fork]))))}"
            for fork in summary.forks
        ),
    ]
    for at, number, round_, agent in summary.unsaid:
        parts.append(
            f"not said: what was put in by hand in assignment {at}, table {number}, round "
            f"{round_}, for agent {agent}, whose turn that never was"
        )
    if summary.models:
        parts.append(f"{summary.models:,} answers of language models")
        parts += failed(summary.failures, "nothing of it was used")
    if summary.refused:
        codes = ", ".join(f"{count} {code}" for code, count in sorted(summary.refused.items()))
        parts.append(f"acts refused: {codes}")
    parts += ["", _workers(summary.workers), "", _left(summary.left)]
    parts += ["", _conclusions(summary.conclusions)] if summary.conclusions else []
    last = max(summary.assignments - 1, -1)
    return "\n".join(
        [
            *parts,
            "",
            f"journal: {path} ({summary.bytes:,} bytes)",
            f"next:    {goldrush} replay {path} --round {last}",
            f"         {goldrush} leaderboard {path}",
            f"         {goldrush} verify {path}",
        ]
    )


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _workers(workers: Sequence[Any]) -> str:
    """Who stands where, and where it came from."""
    rows: list[Sequence[str]] = [
        ("rank", "worker", "", "status", "class", "sparks", "rolling", "all-time", "sat at")
    ]
    for worker in workers:
        rank = "-" if worker.rank is None else str(worker.rank)
        rows.append(
            (
                rank, printable(worker.name), _moved(worker), worker.status, worker.class_,
                str(worker.sparks), str(worker.rolling), str(worker.total), str(worker.sat),
            )
        )  # fmt: skip
    return table(rows, numbers=(0, 5, 6, 7, 8))


def _moved(worker: Any) -> str:
    if worker.rank is None or worker.first_rank is None or worker.rank == worker.first_rank:
        return ""
    rose = worker.rank < worker.first_rank
    return f"{'rose' if rose else 'fell'} from {worker.first_rank}"


def _left(left: Sequence[tuple[int, str, str]]) -> str:
    """Who faced elimination, was benched or deleted, returned or joined."""
    if not left:
        return "nobody faced elimination"
    lines = [
        f"assignment {at:>3}: {printable(name)} {what}" for at, name, what in left[-SHOWN_MAX:]
    ]
    more = len(left) - SHOWN_MAX
    return "\n".join(([f"({more} earlier comings and goings)"] if more > 0 else []) + lines)


def _conclusions(conclusions: Sequence[Any]) -> str:
    rows: list[Sequence[str]] = [("objective", "treatment", "concluded on", "times", "adopted")]
    rows += [
        (c.objective, c.treatment, c.conduct, str(c.times), str(c.adopted))
        for c in conclusions[:SHOWN_MAX]
    ]
    more = len(conclusions) - SHOWN_MAX
    return table(rows, numbers=(3, 4)) + (f"\n({more} more)" if more > 0 else "")
