"""`goldrush quota`: a command of the fishery's own."""

from __future__ import annotations

import click


@click.command()
@click.argument("journal", type=click.Path())
def quota(journal: str) -> None:
    """Tell the largest catch that regrows in the fishery of a journal, tonnes a season."""
    import goldrush

    config = goldrush.open(journal).at(0).state.config
    click.echo(f"{config.growth * config.capacity / 4:g}")
