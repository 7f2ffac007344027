"""`goldrush diff`: where two runs part, why, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import click

from cli.codes import DIFFERS, DONE
from cli.text import echo_json, printable

SHOWN_MAX = 20  # causes: how many are listed

# What comes of a difference, by the name of the world: modules with `consequences(diff, by_round=)`
# and `told(consequences, by_round)`.
CONSEQUENCES: Final[Mapping[str, str]] = {
    "mining": "cli.diff_mining",
    "competition": "cli.diff_season",
}


@click.command()
@click.argument("a", type=click.Path())
@click.argument("b", type=click.Path())
@click.option(
    "--by-round", is_flag=True, help="Also compare every round from the first that differs."
)
@click.option("--json", "as_json", is_flag=True, help="Print the difference as JSON.")
def diff(a: str, b: str, by_round: bool, as_json: bool) -> int:
    """Compare two journals: the first event that differs, its cause, and what came of it.

    Exits with 0 if they are the same, 1 if they differ, 2 if they could not be compared.

    \b
    Example: goldrush diff run.journal other.journal
    """
    from kernel.errors import GoldrushError
    from replay.diff import diff as compare

    found = compare(a, b)
    came, trouble = None, None
    followed = _followed(found, by_round)
    try:
        if followed is not None:
            came = followed.consequences(found, by_round=by_round)
    except GoldrushError as error:  # events that cannot be applied; the difference stands
        trouble = f"what came of it cannot be told: {error}"
    if as_json:
        echo_json({**found.as_dict(), "consequences": came and came.as_dict()})
    else:
        for line in _told(found):
            click.echo(printable(line))
        if came is not None:
            click.echo("\n" + followed.told(came, by_round))
    if trouble:
        click.echo(f"goldrush: {printable(trouble)}", err=True)
    return DONE if found.same else DIFFERS


def _followed(found: Any, by_round: bool) -> Any:
    """The module that says what came of a difference; None where nothing can have come of it.

    Raises BadInput where --by-round asks for what the world does not have.
    """
    from kernel.errors import BadInput

    if found.world is None:
        return None
    name = found.world.name
    if name in CONSEQUENCES:
        return import_module(CONSEQUENCES[name])
    if by_round:
        raise BadInput(
            f"runs of the {name} world are not compared by {found.words.unit}",
            "leave --by-round out",
        )
    return None


def _told(found: Any) -> list[str]:
    a, b = found.a, found.b
    lines = [_headline(found)]
    lines += [f"cause: {cause.kind}: {cause.says}" for cause in found.causes[:SHOWN_MAX]]
    if len(found.causes) > SHOWN_MAX:
        lines.append(f"and {len(found.causes) - SHOWN_MAX} more; --json has all")
    if found.first is not None:
        lines += _both(found)
    told = " ".join(cause.says for cause in found.causes)
    lines += [
        f"note: {side.trouble}" for side in (a, b) if side.trouble and side.trouble not in told
    ]
    return lines


def _headline(found: Any) -> str:
    a, b, words = found.a, found.b, found.words
    both = f"{a.path} (a) and {b.path} (b)"
    if found.same:
        end = "finished" if a.finished else "unfinished"
        return f"the same: {a.rounds} {words.units}, {end}"
    if found.first is not None:
        return f"{both} differ from {words.unit} {found.first.round} on"
    if found.prefix is not None:
        return _prefix(*((a, b) if found.prefix == "a" else (b, a)), words)
    kinds = {cause.kind for cause in found.causes}
    broken = [words.unit_of(cause.round) for cause in found.causes if cause.kind == "damage"]
    common = min(a.rounds, b.rounds, *(unit - 1 for unit in broken))
    if kinds & {"world", "rules"} or (common < 1 and kinds):
        return f"{both} cannot be compared event by event"
    last = words.number(common)
    return f"{both} differ, but not in the events of {words.units} {words.first} to {last}"


def _prefix(short: Any, long: Any, words: Any) -> str:
    """What it means that one run is the beginning of the other."""
    ends = "ends" if short.finished else "breaks off"
    if long.rounds > short.rounds:
        goes_on = f"goes on to {words.number(long.rounds)}"
    elif long.finished:
        goes_on = "has come to its end"
    else:
        goes_on = f"has {long.open} inputs of the next one"
    return (
        f"{short.path} is a prefix of {long.path}: it {ends} with {words.called(short.rounds)}, "
        f"the other one {goes_on}"
    )


def _both(found: Any) -> list[str]:
    """The first event that differs as it is in both runs; where words do not tell, as JSON."""
    from replay.words import words_for

    story = words_for(found.a.path).story
    events = found.first.a, found.first.b
    nothing = f"nothing more in this {found.words.unit}"
    told = [nothing if event is None else next(story([event])) for event in events]
    if told[0] == told[1]:
        told = [json.dumps(event.as_dict()) for event in events]
    return [f"  {name}: {text}" for name, text in zip("ab", told, strict=True)]
