"""`goldrush policies`, `treatments`, `settings`, `plugins`: what there is to play."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from goldrush.cli.codes import DIFFERS, DONE
from goldrush.cli.text import echo_json
from goldrush.kernel.text import escaped
from goldrush.replay.text import table

if TYPE_CHECKING:
    from goldrush.agents.plugins import Plugin


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def policies(as_json: bool) -> None:
    """List the policies that a roster can name.

    \b
    Example: goldrush policies
    """
    from goldrush.agents.mining.roster import POLICIES, installed_policies

    entries = [(name, (policy.__doc__ or "").strip()) for name, policy in POLICIES.items()]
    entries += [
        (name, f"Of {one.distribution} {one.version}.")
        for name, one in installed_policies().items()
    ]
    entries += [
        ("llm:MODEL", "A language model, asked over the OpenAI protocol; see record --help."),
        ("recorded:JOURNAL", "Submits what the agent of the same id submitted in another journal."),
        ("package.module:Class", "A policy of your own: a class with plan(seen, draws)."),
    ]
    _print(entries, as_json, "policy")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def treatments(as_json: bool) -> None:
    """List the treatments: named variations of the default configuration.

    \b
    Example: goldrush treatments
    """
    from goldrush.kernel.mining.treatments import TREATMENTS

    _print([(item.name, item.says) for item in TREATMENTS.values()], as_json, "treatment")


@click.command()
@click.argument("world", default="mining")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def settings(world: str, as_json: bool) -> None:
    """List the settings of a world (mining, where none is named): name, default, range.

    \b
    Example: goldrush settings competition
    """
    import attrs

    from goldrush.kernel.errors import BadInput
    from goldrush.replay.toolkit import toolkit_for

    config = toolkit_for(world).config
    if config is None:
        raise BadInput(f"the {world} world does not list its settings", "see its own pages")
    rows = [(one.name, one.default, one.metadata["rule"][1]) for one in attrs.fields(config)]
    if as_json:
        names = ("setting", "default", "range")
        echo_json([dict(zip(names, row, strict=True)) for row in rows])
    else:
        click.echo(table([(name, json.dumps(value), range_) for name, value, range_ in rows]))


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def plugins(as_json: bool) -> int:
    """List what other distributions add: name, kind, distribution and version, or why it fails.

    GOLDRUSH_PLUGINS lists the names that may be used: all where it is not set, none where it is
    empty. Exits with 1 if one of them cannot be used.

    \b
    Example: goldrush plugins
    """
    from goldrush.agents.mining.roster import installed_policies
    from goldrush.agents.plugins import trouble_of
    from goldrush.replay import toolkit

    found: list[tuple[Plugin, str, Callable[[Any], bool]]]
    found = [(one, "world", toolkit.is_toolkit) for one in toolkit.installed()]
    found += [(one, "policy", callable) for one in installed_policies().values()]
    rows = [
        (one.name, kind, f"{one.distribution} {one.version}", trouble_of(one, check))
        for one, kind, check in found
    ]
    if as_json:
        names = ("name", "kind", "distribution", "trouble")
        echo_json([dict(zip(names, row, strict=True)) for row in rows])
    elif rows:
        click.echo(table([tuple(escaped(cell or "") for cell in row) for row in rows]))
    else:
        click.echo("nothing is installed, or allowed by GOLDRUSH_PLUGINS")
    return DIFFERS if any(row[3] for row in rows) else DONE


def _print(entries: list[tuple[str, str]], as_json: bool, what: str) -> None:
    if as_json:
        echo_json([{what: name, "says": says} for name, says in entries])
    else:
        click.echo(table(entries))
