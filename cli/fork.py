"""`goldrush fork`: a run played again from a round on, with changes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from goldrush.cli.command import command, option
from goldrush.cli.models import (
    WORDING_HELP,
    Model,
    ReachOptions,
    check_model,
    models_of,
)
from goldrush.cli.options import (
    FILE,
    Force,
    Journal,
    NewJournal,
    PlayingOptions,
    RecordingOptions,
    Settings,
    TestJobs,
    Treatment,
    allow_own_policies,
    at_option,
    roster_option,
)
from goldrush.cli.record import (
    carried_out,
    how_again,
    new_journal,
    settings_of,
    worded,
)


@command()
def fork(
    *,
    journal: Journal,
    at: int = at_option(
        "Last round (or other unit) that is kept; the next one is played anew.", required=True
    ),
    out: NewJournal,
    settings: Settings,
    treatment: Treatment,
    roster: str | None = roster_option(
        "Policies from there on, as for record; NAME=POLICY,... in a world that casts its agents."
    ),
    replace: str | None = option(
        "--replace-submission", "FILE",
        "Submissions as export prints them; - is standard input.",
        type=FILE,
    ),
    playing: PlayingOptions,
    jobs: TestJobs,
    model: Model,
    wording: str | None = option("--wording", "NAME|FILE.toml", f"{WORDING_HELP} Needs --roster."),
    reach: ReachOptions,
    force: Force,
    recording: RecordingOptions,
) -> int:  # fmt: skip
    """Play a run again from a round on, with changes.

    The new journal begins with the bytes of the old one, up to the end of round --at. Changes that
    the old one made later, as a fork itself, are not taken over. `goldrush diff` compares the two.

    \b
    Examples:
      goldrush fork run.journal --at 50 --set authority=punish --out fork.journal
      goldrush fork run.journal --at 50 --roster 'raid*10' --out raid.journal
    """
    from goldrush.agents.seats import REPLAY, family_in
    from goldrush.cli.people import at_terminal
    from goldrush.kernel.errors import BadInput
    from goldrush.replay.find import players_of
    from goldrush.replay.run import Run

    models = models_of(reach, model)
    resources = playing.resources(jobs, at_terminal(), models)
    run = Run(journal, resources)
    who = players_of(run.tools, journal)
    if wording is not None:
        if roster is None:
            raise BadInput(
                f"--wording {wording} needs --roster: without one, models and people keep theirs",
                "add --roster 'llm:NAME*10', with the models and people from there on",
            )
        roster = worded(who, roster, wording, models)
    named = who.policy_set.names_in(roster) if roster else []
    own = allow_own_policies(playing.trust, named)
    recorded = [name.partition(":")[2] for name in named if family_in(name) is REPLAY]
    check_model(model, named)
    target = new_journal(out, f"{Path(journal).stem}-fork{at}")
    play = partial(
        run.fork, at, target, roster=roster, treatment=treatment, replace=replace or (),
        force=force, fsync=recording.fsync, given=settings_of(settings, {}),
    )  # fmt: skip
    again = how_again(resources, reach, own, recorded)
    return carried_out(target, play, run.tools, recording, again, parent=journal)
