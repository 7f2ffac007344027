"""`goldrush why`: outcomes explained, with a plan that alters them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldrush.cli.command import command, option
from goldrush.cli.options import Journal, Json, Place, at_option
from goldrush.cli.text import echo, program
from goldrush.kernel.text import escaped, quoted_path
from goldrush.replay.text import format_ranges

if TYPE_CHECKING:
    from goldrush.kernel.world import Vocabulary
    from goldrush.replay.journal.why import Explanation


@command()
def why(
    *,
    journal: Journal,
    at: int | None = at_option(
        "Round, or other unit (default: list those with something to explain)."
    ),
    place: Place,
    agent: str | None = option(
        "--agent", "AGENT", "Only outcomes that involve this agent (number or name)."
    ),
    as_json: Json,
) -> None:
    """Explain captures, failed raids, claims, removed actions.

    Tells who did what, what the owner did, and whom the random draw chose (`audit` computes it
    again); then one agent's plan that would have changed the outcome, with
    the command that plays it as a fork. The change is checked by deriving the round again.

    \b
    Examples:
      goldrush why run.journal --at 12 --plot 88
      goldrush why run.journal --at 12 --agent 0 --json
    """
    from goldrush.kernel.errors import BadInput
    from goldrush.replay.journal.rebuild import world_at
    from goldrush.replay.run import Run

    run = Run(journal)
    words = world_at(journal).vocabulary
    explained = list(run.why(at, place, agent))
    if not explained:
        typed = quoted_path(journal)
        if (at, place, agent) == (None, None, None):
            instead = f"`{program()} log {typed}` lists its events"
            raise BadInput(f"nothing in {typed} can be explained", instead)
        instead = f"`{program()} why {typed}` lists where something can be"
        raise BadInput("nothing there can be explained", instead)
    if at is None:
        units = list(dict.fromkeys(each.unit for each in explained))
        says = f"{words.units} with something to explain (--at): {format_ranges(units)}"
        echo(as_json, lambda: units, lambda: says)
        return
    echo(
        as_json,
        lambda: [_as_dict(each, journal) for each in explained],
        lambda: "\n\n\n".join(_format(each, journal, words) for each in explained),
    )


def _as_dict(explanation: Explanation, journal: str) -> dict[str, object]:
    command = None if explanation.change is None else explanation.change.command(journal, program())
    return {**explanation.as_dict(), "fork": command}


def _format(explanation: Explanation, journal: str, words: Vocabulary) -> str:
    on = "" if explanation.location is None else f" on {words.location} {explanation.location}"
    account = "\n".join(map(escaped, explanation.account))
    parts = [f"{escaped(explanation.kind)}{on} in {words.unit} {explanation.unit}", account]
    if explanation.change is not None:
        command = explanation.change.command(journal, program())
        text = escaped(explanation.change.text)
        parts += [text] if command is None else [f"{text}; play it so:", command]
    return "\n\n".join(parts)
