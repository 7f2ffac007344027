"""`goldrush measure`: figures from journals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from cli.codes import DONE
from cli.models import models_file, models_of
from cli.text import echo_json, printable, table

_HEAD = ("answers", "without plan", "tokens in", "tokens out", "uncounted", "tries", "cost")


@click.command()
@click.argument("journals", nargs=-1, required=True, type=click.Path())
@click.option("--usage", is_flag=True, required=True, help="What language models took, by agent.")
@click.option("--by-round", is_flag=True, help="By round, too.")
@models_file
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def measure(
    journals: tuple[str, ...],
    usage: bool,
    by_round: bool,
    models_path: str | None,
    as_json: bool,
) -> int:
    """Measure what language models took in runs: answers, tokens, tries and, with prices, cost.

    \b
    Example: goldrush measure --usage run.journal --models models.toml
    """
    from agents.llm.budget import prices
    from replay.usage import usage as usage_of

    known = models_of(models_path)
    found = [usage_of(path, prices(known, list(known.known))) for path in journals]
    if as_json:
        echo_json([one.as_dict() for one in found])
        return DONE
    for one in found:
        rows = [
            (str(agent), printable(model), *_cells(taken)) for agent, model, taken in one.agents
        ]
        click.echo(f"{printable(one.path)}")
        click.echo(_told([("agent", "model", *_HEAD), *rows, ("all", "", *_cells(one.total))], 2))
        if by_round:
            rows = [(str(round_), *_cells(taken)) for round_, taken in one.rounds]
            click.echo("\n" + _told([("round", *_HEAD), *rows], 0))
    return DONE


def _told(rows: Sequence[Sequence[str]], first_number: int) -> str:
    return table(rows, numbers=[0, *range(first_number, len(rows[0]))])


def _cells(taken: Any) -> tuple[str, ...]:
    at_least = "at least " if taken.uncounted else ""
    cost = "-" if taken.cost is None else f"{at_least}{taken.cost:.4f}"
    numbers = (taken.tokens_in, taken.tokens_out, taken.uncounted, taken.tries)
    return (str(taken.answers), _errors(taken.errors), *(f"{n:,}" for n in numbers), cost)


def _errors(errors: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {printable(error)}" for error, count in errors.items()) or "0"
