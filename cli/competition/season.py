"""`goldrush season`: play a season of the competition world into a journal."""

from __future__ import annotations

from typing import Any

import click

from goldrush.cli.models import models_file, models_of, reach_options
from goldrush.cli.paths import Output
from goldrush.cli.record import allow_own_policies, carried_out, free_path, how_again, settings_of
from goldrush.cli.text import json_option


@click.command()
@click.option("--out", type=Output(), help="The journal to write (default: in journals/).")
@click.option("--seed", type=int, help="The seed of all draws (default 0).")
@click.option("--assignments", type=int, help="How many assignments to play (default 40).")
@click.option("--workers", type=int, help="How many sit on the active roster (default 6).")
@click.option(
    "--cast", "parts", multiple=True, metavar="WHO=POLICY",
    help="Who is played by what: judge=llm:NAME, ada=mine:Worker, worker=... for all of them.",
)  # fmt: skip
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="One setting by name, as entry_fee=[4,5].",
)
@models_file
@reach_options
@click.option("--force", is_flag=True, help="Replace an existing journal once the run begins.")
@click.option("--fsync", is_flag=True, help="Wait for the disk after every assignment.")
@json_option("Print the summary as JSON.")
def season(
    out: str | None,
    seed: int | None,
    assignments: int | None,
    workers: int | None,
    parts: tuple[str, ...],
    settings: tuple[str, ...],
    force: bool,
    fsync: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Play a season: roundtables on how to mine, scored, with rewards and consequences.

    Everybody is scripted but for whom --cast names. What is claimed at a table is tested by playing
    the mining world.

    \b
    Example: goldrush season --seed 1 --out s.journal
    """
    from goldrush.agents.competition.cast import cast_of
    from goldrush.agents.competition.players import record
    from goldrush.kernel.competition.config import config_of
    from goldrush.replay.competition.toolkit import TOOLKIT

    named = {"seed": seed, "assignments": assignments, "workers": workers}
    chosen = settings_of(settings, {k: v for k, v in named.items() if v is not None})
    config = config_of(chosen)
    own = allow_own_policies([], [part.partition("=")[2] for part in parts])
    models = models_of(**options)
    cast = cast_of(config.workers, parts, models)
    target = out or free_path(f"season-seed{config.seed}")
    return carried_out(
        target,
        lambda on_assignment: record(
            target, chosen, cast, models=models, force=force, fsync=fsync,
            on_assignment=on_assignment,
        ),
        as_json,
        again=how_again(own, [], options),
        toolkit=TOOLKIT,
    )  # fmt: skip
