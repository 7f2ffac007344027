"""`goldrush wordings`: the texts of prompts, listed, shown and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import click

from goldrush.cli.codes import DIFFERS, DONE
from goldrush.cli.command import argument, command
from goldrush.cli.options import ChosenWorld, Json, World, refuse
from goldrush.cli.text import echo, echo_error, echo_exact, echo_json
from goldrush.kernel.errors import BadInput
from goldrush.kernel.text import escaped, format_count
from goldrush.replay.text import format_table

if TYPE_CHECKING:
    from goldrush.replay.wordings import CheckedWording


@command()
def wordings(
    *,
    action: str = argument(
        "[list|show|check]", type=click.Choice(["list", "show", "check"]), default="list"
    ),
    name: str | None = argument("[NAME|FILE.toml]", required=False),
    world: World,
    as_json: Json,
) -> int:
    """List, show or check wordings: the texts of prompts.

    list: the wordings that goldrush has. show NAME: prints one as a TOML file, which can be edited
    and used (wording=FILE.toml in a roster). check FILE.toml: tests a wording of your own by the
    rules for wordings and by the prompts that it gives in runs under every treatment. Exit code: 1
    if a check does not hold.

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
    if action == "check":
        return _check(of.check(name, world), as_json)
    text = of.text_of(name, world)
    echo_json({"wording": name, "toml": text}) if as_json else echo_exact([text])
    return DONE


def _check(checked: CheckedWording, as_json: bool) -> int:
    rows: list[tuple[str, ...]] = [("treatment", "prompts", "largest, bytes", "")]
    rows += [
        (escaped(e.treatment), f"{e.prompts:,}", f"{e.largest:,}", escaped(e.fault or ""))
        for e in checked.treatments
    ]
    holds = "holds" if checked.holds else "does not hold"
    first = (
        f"wording {checked.wording} {holds}: {checked.size:,} bytes as recorded, "
        f"{format_count(checked.variants, 'variant')}, version {checked.prompt} of the prompt "
        f"(at most {checked.longest:,} bytes)"
    )
    echo(as_json, checked.as_dict, lambda: f"{first}\n{format_table(rows)}")
    for line in checked.warnings:
        echo_error(f"goldrush: warning: {escaped(line)}")
    return DONE if checked.holds else DIFFERS
