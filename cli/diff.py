"""`goldrush diff`: the first difference of two runs, its cause, its consequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from goldrush.cli.codes import DIFFERS, DONE
from goldrush.cli.help import command
from goldrush.cli.options import json_option
from goldrush.cli.text import echo_json, maybe_unread
from goldrush.kernel.text import escaped

if TYPE_CHECKING:
    from goldrush.replay.journal.diff import Diff
    from goldrush.replay.tools import Consequences


@command()
@click.argument("a", type=click.Path())
@click.argument("b", type=click.Path())
@click.option(
    "--by-round", "--by-assignment", "by_round", is_flag=True,
    help="Also compare every round (or assignment) after it.",
)  # fmt: skip
@json_option()
def diff(a: str, b: str, by_round: bool, as_json: bool) -> int:
    """Compare two runs: first difference, cause, consequences.

    Exit code: 0 if the runs are the same, 1 if they differ, 2 if they could not be compared.

    \b
    Examples:
      goldrush diff run.journal fork.journal
      goldrush diff run.journal fork.journal --by-round
    """
    from goldrush.kernel.errors import GoldrushError
    from goldrush.replay.journal.diff import diff as compare
    from goldrush.replay.journal.diff import format_diff

    found = compare(a, b)
    came, trouble = None, None
    followed = _followed(found, by_round)
    try:
        if followed is not None:
            came = followed.follow(found, by_round=by_round)
    except GoldrushError as error:  # events that cannot be applied; the difference stands
        trouble = f"the consequences cannot be worked out: {error}"
    with maybe_unread():
        if as_json:
            echo_json({**found.as_dict(), "consequences": came and came.as_dict()})
        else:
            for line in format_diff(found):
                click.echo(escaped(line))
            if followed is not None and came is not None:
                click.echo("\n" + followed.format(came, by_round))
    if trouble:
        click.echo(f"goldrush: {escaped(trouble)}", err=True)
    return DONE if found.same else DIFFERS


def _followed(found: Diff, by_round: bool) -> Consequences[Diff, Any] | None:
    """The tool that follows the consequences of a difference; None if the runs cannot be compared
    or the world has no such tool.

    Raises BadInput for --by-round if the world has no such tool.
    """
    from goldrush.kernel.errors import BadInput
    from goldrush.replay.find import tools_at

    if found.world is None:
        return None
    followed = tools_at(found.a.path).consequences
    if followed is None and by_round:
        raise BadInput(
            f"runs of the {found.world.name} world are not compared by {found.vocabulary.unit}",
            "leave --by-round out",
        )
    return followed
