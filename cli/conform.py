"""`goldrush conform`: the laws that all worlds keep, tested on a run."""

from __future__ import annotations

from typing import Annotated

import click

from goldrush.cli import completion
from goldrush.cli.codes import DIFFERS, DONE
from goldrush.cli.command import argument, command
from goldrush.cli.options import Json, Settings, roster_option
from goldrush.cli.record import allow_own_policies, settings_of
from goldrush.cli.text import echo_json, maybe_unread
from goldrush.kernel.text import escaped


@command()
def conform(
    world: Annotated[str, argument(shell_complete=completion.worlds)],
    settings: Settings,
    roster: Annotated[str | None, roster_option("Policies, as for record.")],
    as_json: Json,
) -> int:
    """Test a world against the laws that all worlds keep.

    Records a run and plays and folds it many times, so choose short runs with --set. In pytest, the
    same laws are goldrush.testing.WorldLaws. Exit code: 1 if a law is broken.

    \b
    Examples:
      goldrush conform mining --set rounds=3 --set agents=4
      goldrush conform mining --set rounds=3 --roster 'raid*4' --json
    """
    from goldrush.replay.find import players_of, tools_for
    from goldrush.testing import LAWS, broken, trial

    if roster is not None:
        allow_own_policies([], players_of(tools_for(world), world).names(roster))
    with trial(world, settings_of(settings, {}), roster) as run:
        found = {name: broken(law, run) for name, law in LAWS.items()}
    with maybe_unread():
        if as_json:
            echo_json([{"law": name, "broken": says} for name, says in found.items()])
        else:
            for name, says in found.items():
                click.echo(f"{name}: {'holds' if says is None else f'BREAKS: {escaped(says)}'}")
    return DIFFERS if any(found.values()) else DONE
