"""`goldrush audit`: random draws recomputed."""

from __future__ import annotations

from goldrush.cli.codes import DIFFERS, DONE
from goldrush.cli.command import command, option
from goldrush.cli.options import Journal, Json, Place, at_option
from goldrush.cli.text import as_dicts, echo


@command()
def audit(
    *,
    journal: Journal,
    at: int | None = at_option("Round, or other unit (default: all)."),
    place: Place,
    kind: str | None = option(
        "--kind", "KIND",
        "Kind of draw (claim, raid); in a game, the name of a draw: shock, or bite,3 for one key "
        "(default: all).",
    ),
    as_json: Json,
) -> int:  # fmt: skip
    """Recompute random draws.

    Shows each draw with participants, key, random words and rule. Exit code: 0 if they hold, 1 if
    not, 2 if they could not be checked. `goldrush verify` derives all events again.

    \b
    Examples:
      goldrush audit run.journal --at 1 --plot 2
      goldrush audit run.journal --kind raid --json
    """
    from goldrush.replay.run import Run

    audited = Run(journal).audit(at, place, kind)
    echo(as_json, as_dicts(audited), lambda: "\n\n".join(map(str, audited)))
    return DONE if all(result.holds for result in audited) else DIFFERS
