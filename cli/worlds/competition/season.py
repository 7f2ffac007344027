"""`goldrush season`: a season of the competition world recorded in a journal."""

from __future__ import annotations

from typing import Any, Final

import click

from goldrush.cli import completion
from goldrush.cli.help import command
from goldrush.cli.models import models_file, models_of, reach_options
from goldrush.cli.options import (
    dry_run_option,
    files_option,
    force_option,
    fsync_option,
    journal_option,
    json_option,
    resources_of,
    set_option,
    test_jobs_option,
    test_option,
    traceback_option,
    treatment_option,
)
from goldrush.cli.record import (
    allow_own_policies,
    carried_out,
    estimated,
    how_again,
    kept_in,
    new_journal,
    settings_of,
    treatment_of,
)
from goldrush.kernel.text import escaped

_WORLD: Final = "competition"


def _complete_arena(ctx: click.Context, param: click.Parameter, text: str) -> list[str]:
    from goldrush.agents.worlds.competition.arenas import arenas

    return [name for name in arenas() if name.startswith(text)]


@command()
@journal_option
@click.option("--seed", type=int, metavar="N", help="Seed of all random draws (default: 0).")
@click.option("--assignments", type=int, metavar="N", help="Number of assignments (default: 40).")
@click.option("--workers", type=int, metavar="N", help="Workers on the active roster (default: 6).")
@click.option(
    "--arena", metavar="ARENA", shell_complete=_complete_arena,
    help="Arena that tests the claims: nk[noise=0.1] (default: mining; see `goldrush arenas`).",
)  # fmt: skip
@test_option
@click.option("--agenda", type=click.Path(), metavar="FILE", help="TOML file of the assignments.")
@treatment_option(_WORLD)
@click.option(
    "--cast", "parts", multiple=True, metavar="WHO=POLICY",
    shell_complete=completion.policies(_WORLD),
    help="Policy of a person or role: judge=llm:NAME, ada=mine:Worker, worker=silent; a policy "
    "without a name is that of all workers; repeatable.",
)  # fmt: skip
@click.option(
    "--class-model", "by_class", metavar="CLASS=MODEL,...",
    help="Language model for the workers of each class: haiku=NAME,sonnet=NAME.",
)  # fmt: skip
@dry_run_option
@set_option(_WORLD)
@test_jobs_option
@files_option
@models_file
@reach_options
@force_option
@fsync_option
@traceback_option
@json_option("Print the summary as JSON.")
def season(
    out: str | None,
    seed: int | None,
    assignments: int | None,
    workers: int | None,
    arena: str | None,
    test: str | None,
    agenda: str | None,
    treatment: str | None,
    parts: tuple[str, ...],
    by_class: str | None,
    dry_run: bool,
    settings: tuple[str, ...],
    jobs: int | None,
    files: str | None,
    force: bool,
    fsync: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Record a season of the competition world.

    At roundtables, workers make claims that tests decide; they are scored, rewarded and eliminated.
    Claims are tested in an arena, by default by runs of the mining world. All policies are scripted
    unless --cast or --class-model says otherwise.

    \b
    Examples:
      goldrush season --seed 1 --arena nk --out s.journal
      goldrush season --arena nk --assignments 6 --treatment no-judge --out other-season.journal
    """
    from goldrush.agents.worlds.competition.arenas import remark_of
    from goldrush.agents.worlds.competition.cast import cast_of
    from goldrush.agents.worlds.competition.players import (
        SEASON_PLAYERS,
        configured,
        prepared,
        record,
    )
    from goldrush.agents.worlds.competition.treatments import treatment_named
    from goldrush.replay.find import tools_for

    named = {"seed": seed, "assignments": assignments, "workers": workers, "arena": arena}
    chosen = settings_of(settings, {k: v for k, v in named.items() if v is not None})
    tools = tools_for(_WORLD)
    treatment, treated, label = treatment_of(treatment, tools)
    if treatment is not None:
        treated = treatment_named(treatment).settings
    resources = resources_of(test, jobs)
    more = {} if agenda is None else {"agenda": agenda}
    config = configured({**treated, **chosen}, resources, more)
    own = allow_own_policies([], [part.rpartition("=")[2] for part in parts])
    models = models_of(**options)
    cast = cast_of(config.workers, parts, models, _by_class(by_class))
    if dry_run:
        return estimated(SEASON_PLAYERS, prepared(config, cast), models, as_json, resources)
    if (remark := remark_of(config.arena, test)) is not None:
        click.echo(f"goldrush: {escaped(remark)}", err=True)
    stem = "-".join(filter(None, ["season", arena and config.arena.name, label]))
    with new_journal(out, f"{stem}-seed{config.seed}") as target:
        return carried_out(
            target,
            lambda on_assignment: record(
                target, config.as_dict(), cast, models=models, resources=resources, force=force,
                fsync=fsync, on_assignment=on_assignment,
            ),
            as_json,
            again=how_again(own, [], options, test, files),
            tools=tools,
            live=kept_in(files, target, tools, force=force),
        )  # fmt: skip


def _by_class(text: str | None) -> dict[str, str]:
    """The model of each class, from `haiku=NAME,sonnet=NAME`. Raises BadInput."""
    from goldrush.kernel.errors import BadInput

    pairs = [part.partition("=") for part in text.split(",")] if text else []
    if not all(name and model for name, _, model in pairs):
        raise BadInput(f"--class-model is {text!r}", "write haiku=NAME,sonnet=NAME")
    found: dict[str, str] = {}
    for name, _, model in pairs:
        if name.strip() in found:
            raise BadInput(f"{name.strip()} is given twice (--class-model)", "give each class once")
        found[name.strip()] = model.strip()
    return found
