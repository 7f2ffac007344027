"""`goldrush season`: a season of the competition world recorded in a journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import click

from goldrush.cli import completion
from goldrush.cli.command import command, option
from goldrush.cli.models import ModelsFile, ReachOptions, Wording, models_of
from goldrush.cli.options import (
    FILE,
    DryRun,
    Force,
    NewJournal,
    RecordingOptions,
    Seed,
    Test,
    TestJobs,
    set_option,
    treatment_option,
)
from goldrush.cli.record import (
    allow_own_policies,
    estimated,
    how_again,
    recorded,
    settings_of,
)
from goldrush.cli.text import echo_error

if TYPE_CHECKING:
    from goldrush.agents.llm.models import Models

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
        "alone is played by all workers; repeatable.",
        shell_complete=completion.policies(_WORLD),
    ),
    by_class: str | None = option(
        "--class-model", "CLASS=MODEL,...",
        "Language model for the workers of each class: haiku=NAME,sonnet=NAME.",
    ),
    dry_run: DryRun,
    settings: tuple[str, ...] = set_option(_WORLD),
    jobs: TestJobs,
    models_path: ModelsFile,
    wording: Wording,
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
    from goldrush.agents.players import Resources
    from goldrush.agents.worlds.competition.arenas import remark_of
    from goldrush.agents.worlds.competition.cast import name_in
    from goldrush.cli.people import at_terminal
    from goldrush.kernel.worlds.competition.arena import arena_of
    from goldrush.replay.run import Run

    models = models_of(models_path, reach)
    roster, classes = _worded(parts, _by_class(by_class), wording, models)
    named = {
        "seed": seed, "assignments": assignments, "workers": workers, "arena": arena,
        "agenda": agenda, "class_models": classes or None,
    }  # fmt: skip
    own = allow_own_policies([], list(map(name_in, parts)))
    resources = Resources(jobs or 1, test, at_terminal(), models=models, trust=own)
    planned = Run.plan(
        resources, world=_WORLD, roster=roster, treatment=treatment,
        **settings_of(settings, named),
    )  # fmt: skip
    if dry_run:
        return estimated(planned, recording.as_json)
    played = arena_of(planned.prepared.facts["config"]["arena"])
    if (remark := remark_of(played, test)) is not None:
        echo_error(f"goldrush: {remark}")
    stem = ["season"] if arena is None else ["season", played.name]
    again = how_again(resources, models_path, reach)
    return recorded(planned, out, stem, treatment, force, recording, again)


def _worded(
    parts: Sequence[str], classes: Mapping[str, str] | None, wording: str | None, models: Models
) -> tuple[str | None, Mapping[str, str] | None]:
    """The text of a cast and the model of each class, with `wording` for those that name none.

    Raises BadInput if there is nobody.
    """
    roster = ",".join(parts) if parts else None
    if wording is None:
        return roster, classes
    from goldrush.agents.seats import check_worded
    from goldrush.agents.worlds.competition.cast import worded_cast

    before = roster, classes or {}
    after = worded_cast(*before, wording, models)
    check_worded(wording, before, after)
    return after


def _by_class(text: str | None) -> Mapping[str, str] | None:
    """The model of each class, from `haiku=NAME,sonnet=NAME`. Raises BadInput."""
    from goldrush.kernel.errors import BadInput

    if not text:
        return None
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(name and model for name, _, model in pairs):
        raise BadInput(f"--class-model is {text!r}", "write haiku=NAME,sonnet=NAME")
    classes: dict[str, str] = {}
    for name, _, model in pairs:
        if name.strip() in classes:
            raise BadInput(f"{name.strip()} is given twice (--class-model)", "give each class once")
        classes[name.strip()] = model.strip()
    return classes
