"""`goldrush wordings`: the texts of prompts, listed and shown."""

from __future__ import annotations

import attrs
import click

from goldrush.cli.codes import DONE
from goldrush.cli.command import argument, command
from goldrush.cli.options import ChosenWorld, Json, World, refuse
from goldrush.cli.text import echo, echo_exact, echo_json
from goldrush.kernel.errors import BadInput
from goldrush.kernel.text import escaped
from goldrush.replay.text import format_table


@command()
def wordings(
    *,
    action: str = argument("[list|show]", type=click.Choice(["list", "show"]), default="list"),
    name: str | None = argument("[NAME|FILE.toml]", required=False),
    world: World,
    as_json: Json,
) -> int:
    """List or show wordings: the texts of prompts.

    list: the wordings that goldrush has. show NAME: prints one as a TOML file, which can be edited
    and used (wording=FILE.toml in a roster). show FILE.toml: one of your own; refused if it breaks
    a rule for wordings.

    \b
    Examples:
      goldrush wordings list --world competition
      goldrush wordings show default --world competition > own.toml
    """
    from goldrush.replay import wordings as of

    world = ChosenWorld(None, world).name
    if action == "list":
        refuse({"NAME": name}, "`wordings list` lists all")
        listed = of.listed(world)
        rows = [(escaped(each.wording), escaped(each.description)) for each in listed]
        echo(as_json, lambda: [attrs.asdict(each) for each in listed], lambda: format_table(rows))
        return DONE
    if name is None:
        raise BadInput(f"`wordings {action}` has no name", f"write wordings {action} NAME")
    text = of.text_of(name, world)
    echo_json({"wording": name, "toml": text}) if as_json else echo_exact([text])
    return DONE
