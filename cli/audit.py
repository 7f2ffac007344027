"""`goldrush audit`: random draws recomputed."""

from __future__ import annotations

from collections.abc import Sequence

import click

from goldrush.cli.codes import DIFFERS, DONE, TROUBLE
from goldrush.cli.command import command, option
from goldrush.cli.options import Journals, Json, Place, at_option
from goldrush.cli.text import as_dicts, echo, echo_error, program


@command()
def audit(
    *,
    journals: Journals,
    at: int | None = at_option("Round, or other unit."),
    place: Place,
    kind: str | None = option(
        "--kind", "KIND",
        "Kind of draw (claim, raid); in a game, the name of a draw: shock, or bite,3 for one key "
        "(default: all).",
    ),
    every: bool = option("--all", help="Recompute every draw of the journals."),
    as_json: Json,
) -> int:  # fmt: skip
    """Recompute random draws.

    With --at: the draws of a round or other unit, each with participants, key, random words and
    rule; with --place or --kind only some of them. Exit code: 0 if what was checked holds,
    1 if not, 2 if it could not be checked.

    \b
    Examples:
      goldrush audit run.journal --at 1 --plot 2
      goldrush audit run.journal --all
    """
    from goldrush.replay.journal.batch import journals_in
    from goldrush.replay.run import Run

    is_at = at is not None or place is not None
    if kind is not None and not is_at:
        raise click.UsageError("--kind needs --at; leave it out")
    if is_at == every or (is_at and at is None):
        raise click.UsageError("give --at (a round or other unit), or --all")
    if every:
        return _every(journals_in(journals), as_json)
    if len(journals) > 1:
        raise click.UsageError("--at takes one journal")
    assert at is not None
    audited = Run(journals[0]).audit(at, place, kind)
    echo(as_json, as_dicts(audited), lambda: "\n\n".join(map(str, audited)))
    return DONE if all(result.holds for result in audited) else DIFFERS


def _every(journals: Sequence[str], as_json: bool) -> int:
    from goldrush.replay.journal.draws import recheck
    from goldrush.replay.journal.verify import way_out_of

    results = [recheck(journal) for journal in journals]
    read = [result for result in results if result.checked or not result.error]
    if as_json or read:
        echo(as_json, as_dicts(results), lambda: "\n".join(map(str, read)))
    for result in () if as_json else results:
        if result.error:
            echo_error(f"goldrush: {result.error}{way_out_of(result.path, program())}")
    if any(result.error for result in results):
        return TROUBLE
    return DONE if all(result.holds for result in results) else DIFFERS
