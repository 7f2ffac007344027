"""`goldrush season`: play a season of the competition world into a journal."""

from __future__ import annotations

from typing import Any

import click

from goldrush.cli.models import models_file, models_of, reach_options
from goldrush.cli.options import force_option, fsync_option, journal_option, json_option, set_option
from goldrush.cli.record import allow_own_policies, carried_out, free_path, how_again, settings_of


@click.command()
@journal_option
@click.option("--seed", type=int, help="The seed of all draws (default 0).")
@click.option("--assignments", type=int, help="How many assignments to play (default 40).")
@click.option("--workers", type=int, help="How many sit on the active roster (default 6).")
@click.option(
    "--cast", "parts", multiple=True, metavar="WHO=POLICY",
    help="Who is played by what: judge=llm:NAME, ada=mine:Worker, worker=... for all of them.",
)  # fmt: skip
@set_option
@models_file
@reach_options
@force_option
@fsync_option
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
