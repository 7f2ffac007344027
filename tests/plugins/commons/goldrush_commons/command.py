"""`goldrush quota`: a command of the fishery's own."""

from __future__ import annotations

import click


@click.command()
@click.argument("journal", type=click.Path())
def quota(journal: str) -> None:
    """Tell the largest catch that regrows in the fishery of a journal, tonnes a season."""
    from goldrush.replay.journal.rebuild import rebuild
    from goldrush_commons.world import COMMONS

    config = rebuild(journal, 0, world=COMMONS).state.config
    click.echo(f"{config.growth * config.capacity / 4:g}")
