"""`goldrush audit`: random draws recomputed, and tested for fairness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from goldrush.cli.codes import DIFFERS, DONE, TROUBLE
from goldrush.cli.command import command, option
from goldrush.cli.options import Journals, Json, Place, at_option
from goldrush.cli.text import as_dicts, echo, echo_error, echo_json, maybe_unread
from goldrush.kernel.text import escaped
from goldrush.replay.text import format_table

if TYPE_CHECKING:
    from goldrush.replay.journal.draws import Recheck

LISTED_MAX: Final = 20  # draws that do not hold


@command()
def audit(
    *,
    journals: Journals,
    at: int | None = at_option("Round, or assignment."),
    place: Place,
    kind: str | None = option(
        "--kind", "KIND", "Kind of draw, such as claim or raid (default: all)."
    ),
    draw: str | None = option(
        "--draw", "NAME",
        "Games: only draws of this name, as shock, or bite,3 with the rest of its key.",
    ),
    every: bool = option("--all", help="Recompute every draw of the journals."),
    fair: bool = option("--fairness", help="Chi-square test of who wins ties, over all draws."),
    as_json: Json,
) -> int:  # fmt: skip
    """Recompute random draws; test their fairness.

    With --at: the draws of a round or other unit, each with participants, key, random words and
    rule; with --place, --kind or --draw only some of them. Exit code: 0 if what was checked holds,
    1 if not, 2 if it could not be checked.

    \b
    Examples:
      goldrush audit run.journal --at 1 --plot 2
      goldrush audit run.journal --all
    """
    from goldrush.replay.journal.batch import journals_in
    from goldrush.replay.run import Run

    is_at = at is not None or place is not None
    for flag, given in (("--kind", kind), ("--draw", draw)):
        if given is not None and not is_at:
            raise click.UsageError(f"{flag} needs --at; leave it out")
    if is_at + every + fair != 1 or (is_at and at is None):
        raise click.UsageError("give --at (a round or other unit), or --all, or --fairness")
    if fair:
        return _fairness(journals_in(journals), as_json)
    if every:
        return _every(journals_in(journals), as_json)
    if len(journals) > 1:
        raise click.UsageError("--at takes one journal")
    assert at is not None
    audited = Run(journals[0]).audit(at, place, kind, draw)
    echo(as_json, as_dicts(audited), lambda: "\n\n".join(map(str, audited)))
    return DONE if all(result.holds for result in audited) else DIFFERS


def _every(journals: Sequence[str], as_json: bool) -> int:
    from goldrush.replay.journal.draws import recheck

    results = [recheck(journal) for journal in journals]
    with maybe_unread():
        if as_json:
            echo_json([result.as_dict() for result in results])
        else:
            for result in results:
                for line in _lines(result) if result.checked or not result.error else ():
                    click.echo(escaped(line))
                if result.error:
                    echo_error(f"goldrush: {result.error}")
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


def _fairness(journals: Sequence[str], as_json: bool) -> int:
    from goldrush.replay.journal.fairness import fairness

    tests = fairness(journals)
    rows = [("tied", "draws", "wins by place", "expected each", "chi-square", "df", "p", "")]
    rows += [
        (
            "all" if test.participants is None else str(test.participants),
            f"{test.draws:,}",
            " ".join(map(str, test.counts)),
            "" if test.expected is None else f"{test.expected:,.1f}",
            f"{test.statistic:.3f}",
            str(test.degrees),
            f"{test.p:.3f}",
            "too few draws" if test.is_thin else "",
        )
        for test in tests
    ]
    table = format_table(rows, numbers=(0, 1, 3, 4, 5, 6))
    note = "draws of one key (runs that share a seed) are counted once"
    echo(as_json, as_dicts(tests), lambda: f"{table}\n{note}")
    return DONE
