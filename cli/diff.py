"""`goldrush diff`: the first difference of two runs, its cause, its consequences."""

from __future__ import annotations

from goldrush.cli.codes import DIFFERS, DONE
from goldrush.cli.command import command, option
from goldrush.cli.options import Journal, Json
from goldrush.cli.text import echo, echo_error
from goldrush.kernel.text import escaped


@command()
def diff(
    *,
    a: Journal,
    b: Journal,
    by_round: bool = option(
        "--by-round --by-assignment", help="Also compare every round (or assignment) after it."
    ),
    as_json: Json,
) -> int:
    """Compare two runs: first difference, cause, consequences.

    Exit code: 0 if the runs are the same, 1 if they differ, 2 if they could not be compared.

    \b
    Examples:
      goldrush diff run.journal fork.journal
      goldrush diff run.journal fork.journal --by-round
    """
    from goldrush.kernel.errors import BadInput, GoldrushError
    from goldrush.replay.find import tools_at
    from goldrush.replay.journal.diff import diff as compare
    from goldrush.replay.journal.diff import format_diff

    found = compare(a, b)
    consequences, trouble = None, None
    tools = None if found.world is None else tools_at(found.a.path)
    try:
        if tools is not None:
            consequences = tools.consequences(found, by_round=by_round)
    except BadInput:
        raise
    except GoldrushError as error:  # events that cannot be applied; the difference stands
        trouble = f"the consequences cannot be worked out: {error}"
    lines = [escaped(line) for line in format_diff(found)]
    if tools is not None and consequences is not None:
        lines += ["", tools.format_consequences(consequences, by_round)]
    echo(
        as_json,
        lambda: {**found.as_dict(), "consequences": consequences and consequences.as_dict()},
        lambda: "\n".join(lines),
    )
    if trouble:
        echo_error(f"goldrush: {trouble}")
    return DONE if found.same else DIFFERS
