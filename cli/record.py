"""`goldrush record`: play a run into a journal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from cli.text import echo_json, table

JOURNALS = Path("journals")  # where runs land by default


@click.command()
@click.option("--out", type=click.Path(path_type=Path), help="The journal to write.")
@click.option("--seed", type=int, help="The seed of all draws (default 0).")
@click.option("--rounds", type=int, help="How many rounds to play (default 200).")
@click.option("--agents", type=int, help="How many agents play (default: as the roster has).")
@click.option("--roster", help="Who plays: greedy-mine, or greedy-mine*8,raid*2 (default: a mix).")
@click.option("--treatment", default="baseline", help="A named configuration; see treatments.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="One setting by name.")
@click.option("--force", is_flag=True, help="Overwrite the journal if it exists.")
@click.option("--fsync", is_flag=True, help="Wait for the disk after every round.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def record(
    out: Path | None,
    seed: int | None,
    rounds: int | None,
    agents: int | None,
    roster: str | None,
    treatment: str,
    settings: tuple[str, ...],
    force: bool,
    fsync: bool,
    as_json: bool,
) -> None:
    """Play a mining run and record it in a journal.

    \b
    Example: goldrush record --seed 7 --roster greedy-mine*8,raid*2 --out run.journal
    """
    from agents import mining
    from replay.summary import summarise

    named = {"seed": seed, "rounds": rounds, "agents": agents}
    chosen = _settings(settings, {k: v for k, v in named.items() if v is not None})
    allow_own_policies()
    config, players = mining.prepare(chosen, roster, treatment)
    if out is None:
        out = _free_path(f"mining-{treatment}-seed{config.seed}")
    try:
        with _progress(config.rounds) as advance:
            mining.play(out, config, players, force=force, fsync=fsync, on_round=advance)
    except KeyboardInterrupt:
        click.echo(_stopped(out), err=True)
        raise
    summary = summarise(out)
    if as_json:
        echo_json(summary.as_dict())
    else:
        click.echo(_told(summary, treatment))


def _stopped(out: Path) -> str:
    from kernel.errors import GoldrushError
    from replay.summary import summarise

    try:
        return f"{out} holds rounds 1 to {summarise(out).rounds}, whole"
    except GoldrushError:
        return "nothing was recorded yet"


def allow_own_policies() -> None:
    """Let package.module:Class be found in the current folder, as `python -m` would."""
    if "" not in sys.path:
        sys.path.insert(0, "")


def _settings(pairs: tuple[str, ...], named: dict[str, Any]) -> dict[str, Any]:
    from kernel.errors import BadInput

    chosen = dict(named)
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise BadInput(f"--set {pair} has no value", "write --set name=value")
        if name in chosen:
            raise BadInput(f"{name} is set twice", "set it once")
        try:
            chosen[name] = json.loads(text)
        except (ValueError, RecursionError):
            chosen[name] = text
    return chosen


def _free_path(stem: str) -> Path:
    from kernel.errors import BadInput

    try:
        JOURNALS.mkdir(exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot make {JOURNALS}/: {error.strerror}", "give --out") from None
    path = JOURNALS / f"{stem}.journal"
    number = 1
    while path.exists():
        number += 1
        path = JOURNALS / f"{stem}-{number}.journal"
    return path


@contextmanager
def _progress(rounds: int) -> Iterator[Callable[[int, object], None] | None]:
    """A progress bar on stderr where that is a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = ("round", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=rounds)
        yield lambda done, _: progress.update(task, completed=done)


def _told(summary: Any, treatment: str) -> str:
    config = summary.config
    path = summary.path
    undone = f" ({summary.undone:,} more undone)" if summary.undone else ""
    rows = [("policy", "agents", "gold", "gold each", "plots", "defend", "mine", "claim", "raid")]
    for entry in summary.policies:
        spent = sum(entry.spent.values()) or 1
        shares = [f"{points / spent:.0%}" for points in entry.spent.values()]
        each = f"{entry.gold / entry.agents:,.1f}"
        rows.append(
            (entry.policy, str(entry.agents), f"{entry.gold:,.1f}", each, str(entry.plots), *shares)
        )
    return f"""\
{summary.rounds} rounds of {config["agents"]} agents on {config["rows"]} x {config["cols"]} plots, \
seed {config["seed"]}, treatment {treatment}, pressure {summary.pressure:.2f}
{summary.claims:,} plots claimed ({summary.contested:,} contested), {summary.raids:,} raided, \
{summary.captures:,} captured{undone}; {summary.owned} owned at the end; \
{summary.mined:,.1f} gold mined

{table(rows, numbers=range(1, 9))}

journal: {path} ({summary.bytes:,} bytes)
next:    goldrush replay {path} --round {summary.rounds}
         goldrush verify {path}"""
