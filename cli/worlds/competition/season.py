"""`goldrush season`: a season of the competition world recorded in a journal."""

from __future__ import annotations

from typing import Final

import click

from goldrush.cli import completion
from goldrush.cli.command import command, option
from goldrush.cli.models import ModelsFile, ReachOptions, models_of
from goldrush.cli.options import (
    FILE,
    DryRun,
    Folder,
    Force,
    NewJournal,
    RecordingOptions,
    Seed,
    Test,
    TestJobs,
    resources_of,
    set_option,
    treatment_option,
)
from goldrush.cli.record import (
    allow_own_policies,
    how_again,
    recorded,
    settings_of,
    treatment_of,
)
from goldrush.kernel.text import escaped

_WORLD: Final = "competition"


def _complete_arena(ctx: click.Context, param: click.Parameter, text: str) -> list[str]:
    from goldrush.agents.worlds.competition.arenas import arenas

    return [name for name in arenas() if name.startswith(text)]


@command()
def season(
    *,
    out: NewJournal,
    seed: Seed,
    assignments: int | None = option("--assignments", "N", "Number of assignments (default: 40)."),
    workers: int | None = option("--workers", "N", "Workers on the active roster (default: 6)."),
    arena: str | None = option(
        "--arena", "ARENA",
        "Arena that tests the claims: nk[noise=0.1] (default: mining; see `goldrush arenas`).",
        shell_complete=_complete_arena,
    ),
    test: Test,
    agenda: str | None = option("--agenda", "FILE", "TOML file of the assignments.", type=FILE),
    treatment: str | None = treatment_option(_WORLD),
    parts: tuple[str, ...] = option(
        "--cast", "WHO=POLICY",
        "Policy of a person or role: judge=llm:NAME, ada=mine:Worker, worker=silent; a policy "
        "without a name is that of all workers; repeatable.",
        shell_complete=completion.policies(_WORLD),
    ),
    by_class: str | None = option(
        "--class-model", "CLASS=MODEL,...",
        "Language model for the workers of each class: haiku=NAME,sonnet=NAME.",
    ),
    dry_run: DryRun,
    settings: tuple[str, ...] = set_option(_WORLD),
    jobs: TestJobs,
    files: Folder,
    models_path: ModelsFile,
    reach: ReachOptions,
    force: Force,
    recording: RecordingOptions,
) -> int:  # fmt: skip
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
    from goldrush.agents.worlds.competition.players import SEASON_PLAYERS, configured, prepared
    from goldrush.agents.worlds.competition.treatments import treatment_named
    from goldrush.replay.find import tools_for

    named = {"seed": seed, "assignments": assignments, "workers": workers, "arena": arena}
    chosen = settings_of(settings, {k: v for k, v in named.items() if v is not None})
    tools = tools_for(_WORLD)
    treatment, treated, label = treatment_of(treatment, tools)
    if treatment is not None:
        treated = treatment_named(treatment).settings
    models = models_of(models_path, reach)
    resources = resources_of(models, test, jobs)
    more = {} if agenda is None else {"agenda": agenda}
    config = configured({**treated, **chosen}, resources, more)
    own = allow_own_policies([], [part.rpartition("=")[2] for part in parts])
    cast = cast_of(config.workers, parts, models, _by_class(by_class))
    if not dry_run and (remark := remark_of(config.arena, test)) is not None:
        click.echo(f"goldrush: {escaped(remark)}", err=True)
    stem = "-".join(filter(None, ["season", arena and config.arena.name, label]))
    return recorded(
        out, f"{stem}-seed{config.seed}", tools, SEASON_PLAYERS, prepared(config, cast),
        resources=resources, dry_run=dry_run, force=force, recording=recording, files=files,
        again=how_again(own, [], models_path, reach, test, files),
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
