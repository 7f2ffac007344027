"""Which world is meant where a command is told none."""

from __future__ import annotations

import click


def or_default(context: click.Context, parameter: click.Parameter, world: str | None) -> str:
    """The world that was given, or the one that is meant else."""
    from goldrush.replay.toolkit import WORLD_DEFAULT

    return WORLD_DEFAULT if world is None else world


world_option = click.option("--world", callback=or_default, help="The world (default: mining).")
