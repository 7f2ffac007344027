"""`goldrush diff`: where two runs part, why, and what came of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from goldrush.cli.codes import DIFFERS, DONE
from goldrush.cli.options import json_option
from goldrush.cli.text import echo_json, maybe_unread
from goldrush.kernel.text import escaped

if TYPE_CHECKING:
    from goldrush.kernel.world import Vocabulary
    from goldrush.replay.diff import Diff, Side
    from goldrush.replay.toolkit import Consequences

SHOWN_MAX = 20  # causes: how many are listed


@click.command()
@click.argument("a", type=click.Path())
@click.argument("b", type=click.Path())
@click.option(
    "--by-round", "--by-assignment", "by_round", is_flag=True,
    help="Also compare every round (or assignment) from the first that differs.",
)  # fmt: skip
@json_option("Print the difference as JSON.")
def diff(a: str, b: str, by_round: bool, as_json: bool) -> int:
    """Compare two journals: the first event that differs, its cause, and what came of it.

    Exits with 0 if they are the same, 1 if they differ, 2 if they could not be compared.

    \b
    Example: goldrush diff run.journal other.journal
    """
    from goldrush.kernel.errors import GoldrushError
    from goldrush.replay.diff import diff as compare

    found = compare(a, b)
    came, trouble = None, None
    followed = _followed(found, by_round)
    try:
        if followed is not None:
            came = followed.follow(found, by_round=by_round)
    except GoldrushError as error:  # events that cannot be applied; the difference stands
        trouble = f"what came of it cannot be told: {error}"
    with maybe_unread():
        if as_json:
            echo_json({**found.as_dict(), "consequences": came and came.as_dict()})
        else:
            for line in _format(found):
                click.echo(escaped(line))
            if followed is not None and came is not None:
                click.echo("\n" + followed.format(came, by_round))
    if trouble:
        click.echo(f"goldrush: {escaped(trouble)}", err=True)
    return DONE if found.same else DIFFERS


def _followed(found: Diff, by_round: bool) -> Consequences[Any] | None:
    """What says what came of a difference; None where nothing can have come of it.

    Raises BadInput where --by-round asks for what the world does not have.
    """
    from goldrush.kernel.errors import BadInput
    from goldrush.replay.toolkit import toolkit_at

    if found.world is None:
        return None
    followed = toolkit_at(found.a.path).consequences
    if followed is None and by_round:
        raise BadInput(
            f"runs of the {found.world.name} world are not compared by {found.vocabulary.unit}",
            "leave --by-round out",
        )
    return followed


def _format(found: Diff) -> list[str]:
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


def _headline(found: Diff) -> str:
    a, b, vocabulary = found.a, found.b, found.vocabulary
    both = f"{a.path} (a) and {b.path} (b)"
    if found.same:
        end = "finished" if a.finished else "unfinished"
        return f"the same: {a.rounds} {vocabulary.units}, {end}"
    if found.first is not None:
        return f"{both} differ from {vocabulary.unit} {found.first.round} on"
    if found.prefix is not None:
        return _prefix(*((a, b) if found.prefix == "a" else (b, a)), vocabulary)
    kinds = {cause.kind for cause in found.causes}
    broken = [vocabulary.unit_of(cause.round) for cause in found.causes if cause.kind == "damage"]
    common = min(a.rounds, b.rounds, *(unit - 1 for unit in broken))
    if kinds & {"world", "rules"} or (common < 1 and kinds):
        return f"{both} cannot be compared event by event"
    last = vocabulary.number(common)
    units = f"{vocabulary.units} {vocabulary.first} to {last}"
    return f"{both} differ, but not in the events of {units}"


def _prefix(short: Side, long: Side, words: Vocabulary) -> str:
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


def _both(found: Diff) -> list[str]:
    """The first event that differs as it is in both runs; where words do not tell, as JSON."""
    from goldrush.replay.story import narrator

    story = narrator(found.a.path).lines
    assert found.first is not None
    events = found.first.a, found.first.b
    nothing = f"nothing more in this {found.vocabulary.unit}"
    told = [nothing if event is None else next(story([event])) for event in events]
    if told[0] == told[1]:
        told = [json.dumps(event and event.as_dict()) for event in events]
    return [f"  {name}: {text}" for name, text in zip("ab", told, strict=True)]
