"""`goldrush watch`: a run followed while it is recorded."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

from goldrush.cli.command import command, option
from goldrush.cli.options import Journal, NumberRange, json_option
from goldrush.cli.screen import frame_of, is_terminal, screen
from goldrush.kernel.text import escaped, format_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goldrush.replay.journal.follow import Progress
    from goldrush.replay.tools import Tools

EVERY_MIN: Final = 0.1
EVERY_MAX: Final = 3600.0


@command()
def watch(
    *,
    journal: Journal,
    every: float = option(
        "--every", "SECONDS", "Seconds between two reads of the file (default: 1).",
        type=NumberRange(EVERY_MIN, EVERY_MAX), default=1.0,
    ),
    as_json: bool = json_option("Print one JSON object per round."),
) -> None:  # fmt: skip
    """Follow a run while it is recorded.

    In a terminal, shows the last closed round and which answers the next one waits for; otherwise
    prints one line per round, from the first. Ends with the run. The file is read, never locked.

    \b
    Examples:
      goldrush watch run.journal
      goldrush watch run.journal --every 0.2 --json
    """
    from goldrush.replay.run import Run

    run = Run(journal)
    tools, seen = run.tools, run.follow(every)
    if is_terminal() and not as_json:
        shown, frame = None, ""
        with suppress(KeyboardInterrupt), screen() as show:
            for progress in seen:
                if progress.is_new:  # what is behind the last one is not worth showing
                    continue
                if shown != progress.rebuilt.round:  # names are read from the journal, all of it
                    shown, frame = progress.rebuilt.round, _frame(journal, progress, tools)
                show(f"{_status(progress)}\n{frame}")
        return
    for progress in seen:
        rebuilt = progress.rebuilt
        if progress.is_new and rebuilt.round >= rebuilt.vocabulary.first:
            says = json.dumps(progress.as_dict()) if as_json else _line(progress, tools)
            click.echo(says)


def _frame(journal: str, progress: Progress, tools: Tools) -> str:
    from goldrush.replay.journal.story import narrator

    return frame_of(progress.rebuilt, tools, narrator(journal))


def _line(progress: Progress, tools: Tools) -> str:
    """The line of a unit, where output is not a terminal."""
    from goldrush.replay.unit import format_line

    says = format_line(progress.rebuilt, tools)
    return f"{_where(progress)}: {says}{''.join(_tokens(progress))}"


def _where(progress: Progress) -> str:
    of = "" if progress.of is None else f" of {progress.of}"
    return f"{progress.rebuilt.vocabulary.unit} {progress.rebuilt.round}{of}"


def _tokens(progress: Progress) -> Iterator[str]:
    if progress.tokens_in or progress.tokens_out:
        yield f"; {progress.tokens_in:,} tokens in, {progress.tokens_out:,} out"


def _status(progress: Progress) -> str:
    """The status line: the unit under way, its inputs, and missing answers."""
    vocabulary, path = progress.rebuilt.vocabulary, escaped(progress.rebuilt.path)
    tokens = "".join(_tokens(progress))
    if progress.ended:
        return f"{path}: ended{tokens}"
    says = f"{path}: {vocabulary.unit} {progress.rebuilt.round + 1} under way"
    if progress.inputs:
        says += f", {format_count(progress.inputs, 'input')} so far"
    if progress.missing:
        missing = ", ".join(map(str, progress.missing))
        says += f", no answer yet of agent{'s' if len(progress.missing) > 1 else ''} {missing}"
    return f"{says}{tokens}"
