"""`goldrush audit`: random draws and scores recomputed, and tested for fairness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final

import click

from goldrush.cli.codes import DIFFERS, DONE, TROUBLE
from goldrush.cli.command import command, option
from goldrush.cli.options import Journals, Json, Place, at_option, place_number
from goldrush.cli.text import echo_error, echo_json, maybe_unread
from goldrush.kernel.text import escaped
from goldrush.replay.text import format_table

if TYPE_CHECKING:
    from goldrush.replay.journal.recheck import Recheck
    from goldrush.replay.journal.tie_break import Outcome, TieBreak

LISTED_MAX: Final = 20  # draws that do not hold


@command()
def audit(
    journals: Journals,
    at: Annotated[int | None, at_option("Round, or assignment.")],
    place: Place,
    kind: Annotated[
        str | None, option("--kind", "KIND", "Kind of draw, as claim or raid (default: all).")
    ],
    score: Annotated[
        str | None, option("--score --agent", "AGENT", "Seasons: recompute this agent's score.")
    ],
    every: Annotated[bool, option("--all", help="Recompute every draw of the journals.")],
    fair: Annotated[
        bool, option("--fairness", help="Chi-square test of who wins ties, over all draws.")
    ],
    as_json: Json,
) -> int:
    """Recompute random draws and scores; test their fairness.

    With --at: the draws on a plot in a round of a mining run, or those of an assignment of a season
    (order of speakers, conclusion, last place), each with participants, key, random words and rule;
    with --score, every line of an agent's score. Exit code: 0 if what was checked holds, 1 if not,
    2 if it could not be checked.

    \b
    Examples:
      goldrush audit run.journal --at 1 --plot 2
      goldrush audit run.journal --all
    """
    from goldrush.replay.journal.batch import journals_in

    one = any(given is not None for given in (at, place, score))
    if score is not None and at is None and not every and not fair:
        raise click.UsageError("--score needs --at, the assignment")
    if one + every + fair != 1 or (one and at is None):
        raise click.UsageError(_GIVE)
    if kind is not None and (not one or score is not None):
        raise click.UsageError("--kind needs --at and --place; leave it out")
    if fair:
        return _fairness(journals_in(journals), as_json)
    if every:
        return _every(journals_in(journals), as_json)
    if len(journals) > 1:
        raise click.UsageError("--at takes one journal")
    assert at is not None
    if score is not None:
        return _score(journals[0], at, place, score, as_json)
    return _one(journals[0], at, place, kind, as_json)


_GIVE: Final = "give --at and --place (a plot, a table), or --all, or --fairness"


def _one(journal: str, at: int, place: str | None, kind: str | None, as_json: bool) -> int:
    found = _found(journal, at, place, kind)
    with maybe_unread():
        if as_json:
            echo_json([audited.as_dict() for audited in found])
        else:
            click.echo("\n\n".join(map(_format, found)))
    return DONE if all(audited.holds for audited in found) else DIFFERS


def _found(journal: str, at: int, place: str | None, kind: str | None) -> Sequence[TieBreak]:
    """The draws of a unit. Raises BadInput for a kind that the world does not have."""
    from goldrush.kernel.errors import BadInput
    from goldrush.replay.find import tools_at
    from goldrush.replay.tools import Tools

    tools = tools_at(journal)
    tools.require(Tools.draws, journal)
    kinds, noun = tools.draw_kinds, tools.location
    if kind is not None and kind not in kinds:
        raise BadInput(f"there are no draws of kind {kind!r}", f"take one of {', '.join(kinds)}")
    if place is None and tools.draws_need_location:
        raise BadInput(f"draws of {journal} belong to a {noun}", f"give one (--{noun})")
    return tools.draws_at(journal, at, place_number(journal, place), kind)


def _score(journal: str, at: int, place: str | None, agent: str, as_json: bool) -> int:
    from goldrush.replay.find import tools_at
    from goldrush.replay.journal.story import agent_of
    from goldrush.replay.tools import Tools

    tools = tools_at(journal)
    tools.require(Tools.scores, journal)
    found = tools.scores(journal, at, agent_of(journal, agent), place_number(journal, place))
    with maybe_unread():
        if as_json:
            echo_json([audited.as_dict() for audited in found])
        else:
            click.echo("\n\n".join(map(tools.format_score, found)))
    return DONE if all(audited.holds for audited in found) else DIFFERS


def _format(audited: TieBreak) -> str:
    rows = [
        *_took_part(audited),
        ("key", audited.key),
        ("words", ", ".join(audited.draw_words) or "none: nothing was drawn"),
        ("rule", audited.rule),
        ("index", "-" if audited.index is None else str(audited.index)),
        (audited.occasion.decides, _value(audited, audited.outcome_again)),
        ("recorded", _value(audited, audited.outcome)),
        ("holds", "yes" if audited.holds else "NO: the key gives " + _again(audited)),
    ]
    head = f"{audited.kind} {audited.occasion.where}"
    snippet = f"\nredo it with msgpack and xxhash:\n\n{audited.snippet}" if audited.snippet else ""
    return f"{head}\n\n{format_table(rows)}\n{snippet}".rstrip()


def _took_part(audited: TieBreak) -> list[tuple[str, str]]:
    """Rows with the participants as recorded and, if they differ, as derived again."""
    again = audited.participants_again
    rows = [("took part", audited.participants)]
    if again is not None and tuple(again) != tuple(audited.participants):
        rows.append(("should have", again))
    tied = f"{audited.occasion.tied}s"
    return [(says, f"{tied} {', '.join(map(str, among))}") for says, among in rows if among]


def _value(audited: TieBreak, outcome: Outcome) -> str:
    if outcome is None:
        return "nobody" if audited.occasion.tied == "agent" else "none"
    if isinstance(outcome, tuple):
        return f"{audited.occasion.tied}s {', '.join(map(str, outcome))}"
    if isinstance(outcome, (bool, float)):
        return str(outcome)
    return f"{audited.occasion.tied} {outcome}"


def _again(audited: TieBreak) -> str:
    words = ", ".join(audited.draw_words_again) or "no words"
    return f"{_value(audited, audited.outcome_again)} with {words}"


def _every(journals: Sequence[str], as_json: bool) -> int:
    from goldrush.replay.journal.recheck import recheck

    results = [recheck(journal) for journal in journals]
    with maybe_unread():
        if as_json:
            echo_json([result.as_dict() for result in results])
        else:
            for result in results:
                for line in _lines(result) if result.checked or not result.error else ():
                    click.echo(escaped(line))
                if result.error:
                    echo_error(f"goldrush: {result.error}")
    if any(result.error for result in results):
        return TROUBLE
    return DONE if all(result.holds for result in results) else DIFFERS


def _lines(result: Recheck) -> list[str]:
    broken = result.broken
    kinds = [f"{count:,} of kind {kind}" for kind, count in result.checked.items()]
    as_far = ", as far as it can be read" if result.error else ""
    says = f"{len(broken):,} DO NOT HOLD" if broken else f"all hold{as_far}"
    counts = ", ".join(kinds) or "nothing to draw"
    lines = [f"{result.path}: {counts}; {result.drawn:,} needed a draw; {says}"]
    lines += [
        f"  {bad.kind} {bad.occasion.where}: recorded {_value(bad, bad.outcome)} "
        f"with {', '.join(bad.draw_words) or 'no words'}, the key gives {_again(bad)}"
        for bad in broken[:LISTED_MAX]
    ]
    if len(broken) > LISTED_MAX:
        lines.append(f"  and {len(broken) - LISTED_MAX} more; --json has all")
    return lines


def _fairness(journals: Sequence[str], as_json: bool) -> int:
    from goldrush.replay.journal.fairness import fairness

    tests = fairness(journals)
    if as_json:
        echo_json([test.as_dict() for test in tests])
        return DONE
    rows = [("tied", "draws", "wins by place", "expected each", "chi-square", "df", "p", "")]
    rows += [
        (
            "all" if test.participants is None else str(test.participants),
            f"{test.draws:,}",
            " ".join(map(str, test.counts)),
            "" if test.expected is None else f"{test.expected:,.1f}",
            f"{test.statistic:.3f}",
            str(test.degrees),
            f"{test.p:.3f}",
            "too few draws" if test.is_thin else "",
        )
        for test in tests
    ]
    click.echo(format_table(rows, numbers=(0, 1, 3, 4, 5, 6)))
    click.echo("draws of one key (runs that share a seed) are counted once")
    return DONE
