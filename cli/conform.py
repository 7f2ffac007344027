"""`goldrush conform`: the laws that every world must keep to, tried on a run of one."""

from __future__ import annotations

import click

from goldrush.cli.codes import DIFFERS, DONE
from goldrush.cli.options import json_option, set_option
from goldrush.cli.record import allow_own_policies, settings_of
from goldrush.cli.text import echo_json, maybe_unread
from goldrush.kernel.text import escaped


@click.command()
@click.argument("world")
@set_option
@click.option("--roster", help="Who plays, as for record.")
@json_option()
def conform(world: str, settings: tuple[str, ...], roster: str | None, as_json: bool) -> int:
    """Try a world: whether it keeps to the laws on which recording and verifying rest.

    A run is recorded, and played and folded many times: make it short with --set. Exits with 1 if a
    law is broken. In pytest the same laws are goldrush.testing.WorldLaws.

    \b
    Example: goldrush conform mining --set rounds=5 --set agents=4
    """
    from goldrush.replay.toolkit import players_of, toolkit_for
    from goldrush.testing import LAWS, broken, trial

    if roster is not None:
        allow_own_policies([], players_of(toolkit_for(world), world).names(roster))
    with trial(world, settings_of(settings, {}), roster) as run:
        found = {name: broken(law, run) for name, law in LAWS.items()}
    with maybe_unread():
        if as_json:
            echo_json([{"law": name, "broken": says} for name, says in found.items()])
        else:
            for name, says in found.items():
                click.echo(f"{name}: {'holds' if says is None else f'BREAKS: {escaped(says)}'}")
    return DIFFERS if any(found.values()) else DONE
