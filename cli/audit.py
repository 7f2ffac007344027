"""`goldrush audit`: random draws recomputed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from goldrush.cli.codes import DIFFERS, DONE, TROUBLE
from goldrush.cli.command import command, option
from goldrush.cli.options import Journals, Json, Place, at_option
from goldrush.cli.text import as_dicts, echo, echo_error, echo_json, maybe_unread, program
from goldrush.kernel.text import escaped

if TYPE_CHECKING:
    from goldrush.replay.journal.draws import Recheck

LISTED_MAX: Final = 20  # draws that do not hold


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
    with maybe_unread():
        if as_json:
            echo_json([result.as_dict() for result in results])
        else:
            for result in results:
                for line in _lines(result) if result.checked or not result.error else ():
                    click.echo(escaped(line))
                if result.error:
                    echo_error(f"goldrush: {result.error}{way_out_of(result.path, program())}")
    if any(result.error for result in results):
        return TROUBLE
    return DONE if all(result.holds for result in results) else DIFFERS


def _lines(result: Recheck) -> list[str]:
    broken = result.broken
    kinds = [f"{count:,} of kind {kind}" for kind, count in result.checked.items()]
    as_far = ", as far as it can be read" if result.error else ""
    says = f"{len(broken):,} DO NOT HOLD" if broken else f"all hold{as_far}"
    counts = ", ".join(kinds) or "nothing to draw"
    lines = [f"{result.path}: {counts}; {result.drawn:,} needed a draw; {says}"]
    lines += [
        f"  {bad.kind} {bad.occasion.where}: recorded {bad.format_outcome(bad.outcome)} "
        f"with {', '.join(bad.draw_words) or 'no words'}, the key gives {bad.format_again()}"
        for bad in broken[:LISTED_MAX]
    ]
    if len(broken) > LISTED_MAX:
        lines.append(f"  and {len(broken) - LISTED_MAX} more; --json has all")
    return lines
