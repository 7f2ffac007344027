"""`goldrush export`: the events of a journal for other programs."""

from __future__ import annotations

import json
import sys

import click


@click.command()
@click.argument("journal", type=click.Path())
@click.option(
    "--format", "format_", type=click.Choice(["jsonl"]), default="jsonl", show_default=True,
    help="jsonl: one JSON object a line.",
)  # fmt: skip
def export(journal: str, format_: str) -> None:
    """Print the events of a journal, one JSON object a line.

    \b
    Example: goldrush export run.journal --format jsonl > run.jsonl
    """
    from kernel.fold import events
    from kernel.journal import JournalReader
    from kernel.worlds import world_of

    with JournalReader(journal) as reader:
        for event in events(world_of(reader), reader):
            sys.stdout.write(json.dumps(event.as_dict()) + "\n")
