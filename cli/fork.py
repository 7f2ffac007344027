"""`goldrush fork`: a run played again from a round on, with changes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from goldrush.cli.command import command, option
from goldrush.cli.models import ReachOptions, models_of
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
    import msgspec

    from goldrush.agents.seats import REPLAY, family_in
    from goldrush.cli.people import people_for
    from goldrush.replay.find import players_of
    from goldrush.replay.run import Run

    resources = playing.resources(jobs, models=models_of(reach))
    run = Run(journal, resources)
    who = players_of(run.tools, journal)
    named = who.policy_set.names_in(roster) if roster else []
    own = allow_own_policies(playing.trust, named)
    recorded = [name.partition(":")[2] for name in named if family_in(name) is REPLAY]
    target = new_journal(out, f"{Path(journal).stem}-fork{at}")
    people = people_for(target, serve=recording.serve)
    run = Run(journal, msgspec.structs.replace(resources, people=people))
    play = partial(
        run.fork, at, target, roster=roster, treatment=treatment, replace=replace or (),
        force=force, fsync=recording.fsync, given=settings_of(settings, {}),
    )  # fmt: skip
    again = how_again(resources, reach, own, recorded)
    return carried_out(target, play, run.tools, recording, again, parent=journal)
