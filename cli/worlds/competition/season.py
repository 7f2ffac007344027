"""`goldrush season`: a season of the competition world recorded in a journal."""

from __future__ import annotations

from typing import Final

from goldrush.cli.command import command, option
from goldrush.cli.models import ReachOptions, Wording, models_of
from goldrush.cli.options import (
    DryRun,
    Force,
    NewJournal,
    RecordingOptions,
    Seed,
    Settings,
    Test,
    TestJobs,
    Treatment,
    allow_own_policies,
)
from goldrush.cli.record import (
    estimated,
    how_again,
    recorded,
    settings_of,
    worded,
)
from goldrush.cli.text import echo_error

_WORLD: Final = "competition"


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
    ),
    test: Test,
    treatment: Treatment,
    parts: tuple[str, ...] = option(
        "--cast", "WHO=POLICY",
        "Policy of a person or role: judge=llm:NAME, ada=mine:Worker, worker=silent; a policy "
        "alone is played by all workers; sonnet=llm:NAME is their model as sonnets; repeatable.",
    ),
    dry_run: DryRun,
    settings: Settings,
    jobs: TestJobs,
    wording: Wording,
    reach: ReachOptions,
    force: Force,
    recording: RecordingOptions,
) -> int:  # fmt: skip
    """Record a season of the competition world.

    At roundtables, workers make claims that tests decide; they are scored, rewarded and eliminated.
    Claims are tested in an arena, by default by runs of the mining world. All policies are scripted
    unless --cast says otherwise.

    \b
    Examples:
      goldrush season --seed 1 --arena nk --out s.journal
      goldrush season --arena nk --assignments 6 --treatment no-judge --out other-season.journal
    """
    from goldrush.agents.players import Resources
    from goldrush.agents.worlds.competition.arenas import remark_of
    from goldrush.agents.worlds.competition.players import SEASON_PLAYERS
    from goldrush.cli.people import at_terminal
    from goldrush.kernel.worlds.competition.arena import arena_of
    from goldrush.replay.run import Run

    models = models_of(reach)
    roster = ",".join(parts) or None
    if wording is not None:
        roster = worded(SEASON_PLAYERS, roster, wording, models)
    chosen = settings_of(settings, {
        "seed": seed, "assignments": assignments, "workers": workers, "arena": arena,
    })  # fmt: skip
    own = allow_own_policies([], SEASON_PLAYERS.policy_set.names_in(roster) if roster else [])
    resources = Resources(jobs or 1, test, at_terminal(), models=models, trust=own)
    planned = Run.plan(resources, world=_WORLD, roster=roster, treatment=treatment, given=chosen)
    if dry_run:
        return estimated(planned.estimate(), reach, recording.as_json)
    played = arena_of(planned.prepared.facts["config"]["arena"])
    if (remark := remark_of(played, test)) is not None:
        echo_error(f"goldrush: {remark}")
    stem = ["season"] if arena is None else ["season", played.name]
    again = how_again(resources, reach)
    return recorded(planned, out, stem, treatment, force, recording, again)
