"""`goldrush policies` and `goldrush treatments`: what can be played."""

from __future__ import annotations

import click

from goldrush.cli.text import echo_json
from goldrush.replay.text import table


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def policies(as_json: bool) -> None:
    """List the policies that a roster can name.

    \b
    Example: goldrush policies
    """
    from goldrush.agents.mining.roster import POLICIES

    entries = [(name, (policy.__doc__ or "").strip()) for name, policy in POLICIES.items()]
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


def _print(entries: list[tuple[str, str]], as_json: bool, what: str) -> None:
    if as_json:
        echo_json([{what: name, "says": says} for name, says in entries])
    else:
        click.echo(table(entries))
