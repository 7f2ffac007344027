"""`goldrush fork`: a run played again from a round on, with changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from goldrush.cli.command import command, option
from goldrush.cli.models import Model, ModelsFile, ReachOptions, check_model, models_of
from goldrush.cli.options import (
    FILE,
    Force,
    Journal,
    NewJournal,
    PlayingOptions,
    RecordingOptions,
    Settings,
    Treatment,
    at_option,
    roster_option,
)
from goldrush.cli.record import (
    allow_own_policies,
    carried_out,
    how_again,
    new_journal,
    settings_of,
    treatment_of,
)
from goldrush.kernel.errors import BadInput

PLANS_MAX = 1 << 26  # bytes of a file of submissions


@command()
def fork(
    *,
    journal: Journal,
    at: int = at_option(
        "Last round (or assignment) that is kept; the next one is played anew.", required=True
    ),
    out: NewJournal,
    settings: Settings,
    treatment: Treatment,
    roster: str | None = roster_option(
        "Policies from there on, as for record; of a season NAME=POLICY,..."
    ),
    replace: str | None = option(
        "--replace-submission", "FILE",
        "Submissions (seasons: contributions) as export prints them; - is standard input.",
        type=FILE,
    ),
    playing: PlayingOptions,
    models_path: ModelsFile,
    model: Model,
    reach: ReachOptions,
    force: Force,
    recording: RecordingOptions,
) -> int:  # fmt: skip
    """Play a run again from a round on, with changes.

    Up to the end of round --at the new journal equals the old one, byte for byte; forks of the old
    one after that round are dropped. `goldrush diff` compares the two.

    \b
    Examples:
      goldrush fork run.journal --at 50 --set authority=punish --out fork.journal
      goldrush fork run.journal --at 50 --roster 'raid*10' --out raid.journal
    """
    from goldrush.agents.seats import REPLAY, family_in
    from goldrush.cli.people import at_terminal
    from goldrush.replay.find import players_at
    from goldrush.replay.run import Run

    models = models_of(models_path, reach, model)
    run = Run(journal, playing.trust)
    treatment, own_settings, _ = treatment_of(treatment, run.tools)
    chosen = {**own_settings, **settings_of(settings, {})}
    replaced = [] if replace is None else read_submissions(_read(replace), replace)
    named = players_at(journal).names(roster) if roster else []
    own = allow_own_policies(playing.trust, named)
    recorded = [name.partition(":")[2] for name in named if family_in(name) is REPLAY]
    check_model(model, named)
    with new_journal(out, f"{Path(journal).stem}-fork{at}") as target:
        return carried_out(
            target,
            lambda on_unit: run.fork(
                at, target, roster=roster, treatment=treatment, replace=replaced,
                sources=playing.sources, models=models, program=playing.test,
                jobs=playing.jobs or 1, force=force, fsync=recording.fsync, ask=at_terminal(),
                on_unit=on_unit, **chosen,
            ),
            recording.as_json,
            again=how_again(
                own, [*playing.sources, *recorded], models_path, reach, playing.test
            ),
            tools=run.tools,
            parent=journal,
        )  # fmt: skip


def _read(path: str) -> str:
    from goldrush.kernel import files
    from goldrush.kernel.errors import BadInput

    instead = "give a file of submissions"
    try:
        return files.read_input(path, PLANS_MAX, instead, stdin=True).decode("utf-8-sig")
    except ValueError:
        raise BadInput(f"cannot read {path}: it is not UTF-8 text", instead) from None


def read_submissions(text: str, name: str) -> list[dict[str, Any]]:
    """Submissions from text: JSON objects, one a line (as `export` prints them), or one JSON value,
    an object or a list of objects. `name` is the source of the text, for messages. Raises BadInput.
    """
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        lines = enumerate(text.split("\n"), 1)
        whole = [_line(line, f"{name}, line {number}") for number, line in lines if line.strip()]
    items = whole if isinstance(whole, list) else [whole]
    if not items:
        raise BadInput(f"{name} holds no submission", "give one JSON object a line")
    return items


def _line(line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{where} is not JSON: {error}", "give one JSON object a line") from None
