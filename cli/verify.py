"""`goldrush verify`: are these journals what they say they are?"""

from __future__ import annotations

from typing import Any

import click

from cli.codes import DIFFERS, TROUBLE
from cli.record import allow_own_policies
from cli.text import echo_json, printable

LEVELS = 4


@click.command()
@click.argument("journals", nargs=-1, required=True, type=click.Path())
@click.option(
    "--level",
    type=click.IntRange(1, LEVELS),
    default=LEVELS,
    show_default=True,
    help="1 bytes, 2 digests from events, 3 events from inputs, 4 policies asked again.",
)
@click.option("--trust", multiple=True, metavar="MODULE:CLASS", help="Ask your own policy too.")
@click.option("--source", "sources", multiple=True, type=click.Path(), help="What recorded plays.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
def verify(
    journals: tuple[str, ...],
    level: int,
    trust: tuple[str, ...],
    sources: tuple[str, ...],
    as_json: bool,
) -> int:
    """Check journals: bytes, digests, events, decisions.

    Exits with 0 if all hold, 1 if one does not, 2 if one could not be judged.

    \b
    Example: goldrush verify a.journal b.journal
    """
    from kernel.errors import GoldrushError
    from kernel.journal import sha256_of
    from replay.verify import verify as check

    if trust:
        allow_own_policies()
    code = 0
    results: list[dict[str, Any]] = []
    for journal in journals:
        try:
            verdict = check(journal, level, trust=trust, sources=sources)
            digest = sha256_of(journal)
        except GoldrushError as error:
            code = TROUBLE
            results.append({"path": str(journal), "holds": None, "error": str(error)})
            if not as_json:
                click.echo(f"goldrush: {printable(str(error))}", err=True)
        else:
            code = code if verdict.holds else max(code, DIFFERS)
            results.append({**verdict.as_dict(), "sha256": digest})
            if not as_json:
                click.echo(printable(_told(verdict, digest)))
    if as_json:
        echo_json(results)
    return code


def _told(verdict: Any, sha256: str) -> str:
    if not verdict.holds:
        return f"{verdict.path}: DOES NOT HOLD: {verdict.broken}"
    levels = "level 1" if verdict.level == 1 else f"levels 1 to {verdict.level}"
    if verdict.not_asked:
        part = "in part" if verdict.level == LEVELS else "not checked"
        levels = f"levels 1 to 3 (4 {part}, not asked again: {', '.join(verdict.not_asked)})"
    end = "finished" if verdict.finished else "unfinished"
    return (
        f"{verdict.path}: holds at {levels}: {verdict.rounds} rounds, {verdict.events:,} events, "
        f"{end}, sha256 {sha256}"
    )
