"""What `record`, `resume` and `fork` say of a mining run when it is played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cli.models import failed
from cli.text import printable, program, table
from kernel.text import quoted_path
from replay.story import tell
from replay.summary import summarise

__all__ = ["progress", "summarise", "told"]


def progress(unit: int, state: Any) -> tuple[str, int, int]:
    """What is under way, how much of it is done, and of how much."""
    return "round", unit, state.config.rounds


def _asked(models: Any) -> str:
    """What language models took, in a line; nothing where none plays."""
    if models is None:
        return ""
    errors = ", ".join(f"{count} {printable(error)}" for error, count in models.errors.items())
    without = f" ({errors})" if errors else ""
    partly = f" ({models.uncounted:,} answers were not counted)" if models.uncounted else ""
    return (
        f"{models.answers:,} questions to language models, {sum(models.errors.values()):,} without "
        f"a whole plan{without}; {models.tokens_in:,} tokens in, {models.tokens_out:,} out"
        f"{partly}\n"
    )


def _failed(failures: Any) -> str:
    """A line for each model whose answers failed."""
    return "".join(f"{line}\n" for line in failed(failures, "no plan was played"))


def told(summary: Any) -> str:
    """The summary of a run as text."""
    config = summary.config
    path = quoted_path(summary.path)
    goldrush = program()
    undone = f" ({summary.undone:,} more undone)" if summary.undone else ""
    rows: list[Sequence[str]] = [
        ("policy", "agents", "gold", "gold each", "plots", "defend", "mine", "claim", "raid")
    ]
    for entry in summary.policies:
        spent = sum(entry.spent.values()) or 1
        shares = [f"{points / spent:.0%}" for points in entry.spent.values()]
        each = f"{entry.gold / entry.agents:,.1f}"
        rows.append(
            (
                printable(entry.policy),
                str(entry.agents),
                f"{entry.gold:,.1f}",
                each,
                str(entry.plots),
                *shares,
            )
        )
    forks = "".join(f"after round {fork.unit} {printable(tell(fork))}\n" for fork in summary.forks)
    return f"""\
{summary.rounds} rounds of {config["agents"]} agents on {config["rows"]} x {config["cols"]} plots, \
seed {config["seed"]}, pressure {summary.pressure:.2f}
{summary.claims:,} plots claimed ({summary.contested:,} contested), {summary.raids:,} raided, \
{summary.captures:,} captured{undone}; {summary.owned} owned at the end; \
{summary.mined:,.1f} gold mined
{forks}{_asked(summary.models)}{_failed(summary.failures)}
{table(rows, numbers=range(1, 9))}

journal: {path} ({summary.bytes:,} bytes)
next:    {goldrush} replay {path} --round {summary.rounds}
         {goldrush} verify {path}"""
