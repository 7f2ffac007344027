"""`goldrush diff`: the first difference of two runs, its cause, its consequences."""

from __future__ import annotations

from goldrush.cli.codes import DIFFERS, DONE
from goldrush.cli.command import command
from goldrush.cli.options import Journal, Json
from goldrush.cli.text import echo, echo_error
from goldrush.kernel.text import escaped


@command()
def diff(a: Journal, b: Journal, as_json: Json) -> int:
    """Compare two runs: first difference, cause, consequences.

    Exit code: 0 if the runs are the same, 1 if they differ, 2 if they could not be compared.

    \b
    Examples:
      goldrush diff run.journal fork.journal
      goldrush diff run.journal fork.journal --json
    """
    from goldrush.kernel.errors import GoldrushError
    from goldrush.replay.journal.consequences import consequences as follow
    from goldrush.replay.journal.diff import diff as compare
    from goldrush.replay.journal.diff import format_diff
    from goldrush.replay.journal.story import names_of

    found = compare(a, b)
    consequences, trouble = None, None
    try:
        if found.world is not None:
            consequences = follow(found)
    except GoldrushError as error:  # events that cannot be applied; the difference stands
        trouble = f"the consequences cannot be worked out: {error}"
    lines = [escaped(line) for line in format_diff(found)]
    if consequences is not None:
        lines += ["", consequences.format(names_of(a))]
    echo(
        as_json,
        lambda: {**found.as_dict(), "consequences": consequences and consequences.as_dict()},
        lambda: "\n".join(lines),
    )
    if trouble:
        echo_error(f"goldrush: {trouble}")
    return DONE if found.same else DIFFERS
