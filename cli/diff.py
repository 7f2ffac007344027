"""`goldrush diff`: where two runs part, why, and what came of it."""

from __future__ import annotations

import json
from typing import Any

import click

from cli.codes import DIFFERS, DONE
from cli.text import echo_json, printable, table

SHOWN_MAX = 20  # plots with other owners, causes: how many are listed


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
    from replay.consequences import consequences
    from replay.diff import diff as compare

    found = compare(a, b)
    came, trouble = None, None
    try:
        came = consequences(found, by_round=by_round)
    except GoldrushError as error:  # events that cannot be applied; the difference stands
        trouble = f"what came of it cannot be told: {error}"
    if as_json:
        echo_json({**found.as_dict(), "consequences": came and came.as_dict()})
    else:
        for line in _told(found):
            click.echo(printable(line))
        if came is not None:
            click.echo("\n" + _consequences(came, by_round))
    if trouble:
        click.echo(f"goldrush: {printable(trouble)}", err=True)
    return DONE if found.same else DIFFERS


def _told(found: Any) -> list[str]:
    a, b = found.a, found.b
    lines = [_headline(found)]
    lines += [f"cause: {cause.kind}: {cause.says}" for cause in found.causes[:SHOWN_MAX]]
    if len(found.causes) > SHOWN_MAX:
        lines.append(f"and {len(found.causes) - SHOWN_MAX} more; --json has all")
    if found.first is not None:
        lines += _both(found.first)
    told = " ".join(cause.says for cause in found.causes)
    lines += [
        f"note: {side.trouble}" for side in (a, b) if side.trouble and side.trouble not in told
    ]
    return lines


def _headline(found: Any) -> str:
    a, b = found.a, found.b
    both = f"{a.path} (a) and {b.path} (b)"
    if found.same:
        end = "finished" if a.finished else "unfinished"
        return f"the same: {a.rounds} rounds, {end}"
    if found.first is not None:
        return f"{both} differ from round {found.first.round} on"
    if found.prefix is not None:
        return _prefix(*((a, b) if found.prefix == "a" else (b, a)))
    kinds = {cause.kind for cause in found.causes}
    common = min(a.rounds, b.rounds, *(c.round - 1 for c in found.causes if c.kind == "damage"))
    if kinds & {"world", "rules"} or (common < 1 and kinds):
        return f"{both} cannot be compared event by event"
    return f"{both} differ, but not in the events of rounds 1 to {common}"


def _prefix(short: Any, long: Any) -> str:
    """What it means that one run is the beginning of the other."""
    ends = "ends" if short.finished else "breaks off"
    if long.rounds > short.rounds:
        goes_on = f"goes on to {long.rounds}"
    elif long.finished:
        goes_on = "has come to its end"
    else:
        goes_on = f"has {long.open} inputs of the next one"
    return (
        f"{short.path} is a prefix of {long.path}: it {ends} with round {short.rounds}, "
        f"the other one {goes_on}"
    )


def _both(first: Any) -> list[str]:
    """The first event that differs as it is in both runs; where words do not tell, as JSON."""
    told = [_event(first.a), _event(first.b)]
    if told[0] == told[1]:
        told = [json.dumps(event.as_dict()) for event in (first.a, first.b)]
    return [f"  {name}: {text}" for name, text in zip("ab", told, strict=True)]


def _event(event: Any) -> str:
    from replay.story import story

    return "nothing more in this round" if event is None else next(story([event]))


def _consequences(came: Any, by_round: bool) -> str:
    parts = [f"after round {came.round}, and from round {came.since} to there:"]
    rows = [("", "a", "b", "b - a")]
    for name, a in came.counts_a.items():
        b = came.counts_b[name]
        rows.append((name, f"{a:,.10g}", f"{b:,.10g}", f"{b - a:+,.10g}"))
    for agent, a, b in came.gold[:SHOWN_MAX]:
        both = a is not None and b is not None
        change = f"{b - a:+,.10g}" if both else "-"
        rows.append((f"gold of agent {agent}", _amount(a), _amount(b), change))
    parts.append(table(rows, numbers=(1, 2, 3)))
    if len(came.gold) > SHOWN_MAX:
        parts.append(f"and {len(came.gold) - SHOWN_MAX} agents more; --json has all")
    parts.append(_owners(came))
    if by_round:
        parts += ["", _rounds(came.rounds)]
    return "\n".join(parts)


def _amount(gold: float | None) -> str:
    return "-" if gold is None else f"{gold:,.10g}"


def _owners(came: Any) -> str:
    if came.owners is None:
        return "the grids differ, so owners are not compared"
    if not came.owners:
        return "every plot has the same owner"
    listed = [f"{plot} ({_owner(a)}, {_owner(b)})" for plot, a, b in came.owners[:SHOWN_MAX]]
    more = len(came.owners) - len(listed)
    rest = f" and {more} more" if more else ""
    return f"plots with other owners (a, b): {', '.join(listed)}{rest}"


def _owner(agent: int | None) -> str:
    return "nobody" if agent is None else str(agent)


def _rounds(rounds: Any) -> str:
    rows = [("round", "plots apart", "gold a", "gold b", "raids a", "raids b", "captures a, b")]
    rows += [
        (
            str(r.round), "-" if r.plots is None else str(r.plots),
            f"{r.gold_a:,.10g}", f"{r.gold_b:,.10g}", str(r.raids_a), str(r.raids_b),
            f"{r.captures_a}, {r.captures_b}",
        )
        for r in rounds
    ]  # fmt: skip
    return table(rows, numbers=range(7))
