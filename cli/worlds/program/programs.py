"""Commands of a program: what follows `--` is run."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TextIO

import click

from goldrush.cli.codes import DIFFERS, DONE, INTERRUPTED, code_of
from goldrush.cli.command import PROGRAM, command, option
from goldrush.cli.models import MAX_COST, MAX_TOKENS, MODELS_FILE
from goldrush.cli.options import (
    FILE,
    NO_CAUSES,
    Force,
    Journal,
    Json,
    NewJournal,
    NumberRange,
    SummaryJson,
)
from goldrush.cli.progress import progress
from goldrush.cli.record import given_of, new_journal, typed_again
from goldrush.cli.text import as_dicts, echo, echo_error, echo_json, program
from goldrush.kernel.text import format_count, quoted_path
from goldrush.replay.worlds.program.upstreams import KNOWN

if TYPE_CHECKING:
    from goldrush.replay.worlds.program.recording import Options, ProgramOutcome
    from goldrush.replay.worlds.program.running import Write


VARIABLE: Final = option(
    "--variable", "[NAME=]VARIABLE",
    "Variable by which the program is told a server's URL; repeatable.",
)  # fmt: skip

SECONDS_RANGE: Final = NumberRange(0, min_open=True)
SECONDS: Final = option("--seconds", "N", "End the program after so long.", type=SECONDS_RANGE)


class UpstreamOptions(NamedTuple):
    """Options of what a program may ask, and where."""

    upstream: tuple[str, ...] = option(
        "--upstream", "NAME=URL",
        f"A server that the program asks, besides {', '.join(KNOWN)}; repeatable.",
    )  # fmt: skip
    variable: tuple[str, ...] = VARIABLE
    max_requests: int | None = option(
        "--max-requests", "N", "Stop after so many requests, those recorded before included.",
        type=click.IntRange(0),
    )  # fmt: skip
    max_tokens: int | None = MAX_TOKENS
    max_cost: float | None = MAX_COST
    models: str | None = MODELS_FILE
    seconds: float | None = SECONDS


def _words() -> Sequence[str]:
    """The program: the words behind the first `--`. Raises UsageError where there is none."""
    behind: Sequence[str] = click.get_current_context().meta[PROGRAM]
    if not behind:
        raise click.UsageError("there is no command behind --; write -- python sim.py")
    for word in behind:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise click.UsageError(f"{word!r} is not UTF-8; give words that are") from None
    return behind


def _options(
    reach: UpstreamOptions, masks: tuple[str, ...] = (), outputs: tuple[str, ...] = ()
) -> Options:
    """What the recorder takes. `masks`, `outputs`: what is compared; they are recorded."""
    from goldrush.agents.llm.models import Models, read_models
    from goldrush.replay.worlds.program.recording import Options

    if reach.max_cost is not None and not reach.models:
        raise click.UsageError("--max-cost needs the prices of the models; give --models FILE")
    tables = read_models(reach.models) if reach.models else {}
    models = Models(by_name=tables, max_tokens=reach.max_tokens, max_cost=reach.max_cost)
    most = reach.max_requests
    return Options(reach.upstream, reach.variable, masks, outputs, most, models, reach.seconds)


@command()
def record(
    *,
    out: NewJournal,
    reach: UpstreamOptions,
    masks: tuple[str, ...] = option(
        "--mask", "REGEX",
        "What matches is not compared: dates, say. A named group names it; repeatable.",
    ),
    outputs: tuple[str, ...] = option(
        "--output", "FILE",
        "A file that the program writes, compared like what it prints; repeatable.",
    ),
    force: Force,
    as_json: SummaryJson,
) -> int:  # fmt: skip
    """Record a program that asks models, in any language.

    Runs COMMAND and records what it asks the servers of models, and what they answer, before the
    program has it. The same line again continues a run that was killed: nothing that was answered
    is asked again.

    \b
    Examples:
      goldrush record --out run.journal -- python sim.py --seed 3
      goldrush record --out run.journal --mask '\\d{4}-\\d\\d-\\d\\d' -- node society.mjs
    """
    from goldrush.replay.worlds.program.recording import record

    behind = _words()
    stem = next((Path(word).stem for word in behind if os.path.isfile(word)), Path(behind[0]).stem)
    target, options = new_journal(out, stem), _options(reach, masks, outputs)
    return _carried_out(
        target, reach, as_json, lambda write: record(behind, target, options, write, force=force)
    )


@command()
def resume(
    *,
    journal: Journal,
    reach: UpstreamOptions,
    as_json: SummaryJson,
) -> int:
    """Continue the recording of a program.

    \b
    Example:
      goldrush resume run.journal -- python sim.py --seed 3
    """
    from goldrush.replay.worlds.program.recording import resume

    behind, options = _words(), _options(reach)
    return _carried_out(
        journal, reach, as_json, lambda write: resume(behind, journal, options, write)
    )


@command()
def fork(
    *,
    journal: Journal,
    at: int = option("--at", "N", "Exchange that changes; earlier ones are kept.", required=True),
    answer: TextIO | None = option(
        "--answer", "FILE", "Its answer, a text; without it, it is asked again.",
        type=click.File(encoding="utf-8"),
    ),
    model: str | None = option(
        "--model", "NAME", "The model that is asked from there on, whatever the program names."
    ),
    out: NewJournal,
    reach: UpstreamOptions,
    force: Force,
    as_json: SummaryJson,
) -> int:  # fmt: skip
    """Run a program again from an exchange on, with another answer or another model.

    \b
    Examples:
      goldrush fork run.journal --at 12 --answer new.txt --out b.journal -- python sim.py
      goldrush fork run.journal --at 12 --model small --out c.journal -- python sim.py
    """
    from goldrush.replay.worlds.program.recording import fork

    behind, options = _words(), _options(reach)
    try:
        text = None if answer is None else answer.read().removesuffix("\n")
    except UnicodeDecodeError:
        raise click.UsageError("--answer is not UTF-8; give a file that is") from None
    target = new_journal(out, f"{Path(journal).stem}-fork{at}")
    return _carried_out(
        target, reach, as_json,
        lambda write: fork(
            behind, journal, at, target, options, write, model=model or "", answer=text,
            force=force,
        ),
    )  # fmt: skip


@command()
def verify(
    *,
    journal: Journal,
    variables: tuple[str, ...] = VARIABLE,
    seconds: float | None = SECONDS,
    as_json: Json,
) -> int:
    """Run a program again on its recorded answers, and compare what it asks, notes and prints.

    No server is asked: no key, no cost. It runs in this folder; its files of --output are put back.

    \b
    Example:
      goldrush verify run.journal -- python sim.py --seed 3
    """
    from goldrush.replay.journal.batch import format_result, verify_all
    from goldrush.replay.worlds.program.recording import Options, running

    with running(_words(), Options(variables=variables, seconds=seconds)):
        (result,) = verify_all([journal], jobs=1)
    if as_json or result.error is None:
        echo(as_json, as_dicts([result]), lambda: format_result(result, program()))
    else:
        echo_error(f"goldrush: {result.error}")
    return code_of([result.holds])


@command()
def repeats(
    *,
    journal: str = option(
        "--journal", "FILE", "The journal of the program, whose answers it gets.", type=FILE,
        required=True,
    ),
    seconds: float = option(
        "--seconds", "N", "Time for a run (default: 300).", default=300.0, type=SECONDS_RANGE
    ),
    no_causes: bool = NO_CAUSES,
    as_json: Json,
) -> int:  # fmt: skip
    """Check that a recorded program asks the same again, and name the lines that are to blame.

    Runs it four times on the recorded answers, and until the causes are known at most 200 times
    more, in this folder; its files of --output are put back. No server is asked: no key, no cost.
    What is in libraries is seen less well.
    Exit code: 0 if it repeats, 1 if not, 2 if that cannot be judged.

    \b
    Example:
      goldrush repeats --journal run.journal -- python sim.py --seed 3
    """
    from goldrush.replay.worlds.program.recording import Options
    from goldrush.replay.worlds.program.repeating import program_repeats

    options = Options(seconds=seconds)
    with progress() as step:
        verdict = program_repeats(journal, _words(), options, causes=not no_causes, on_step=step)
    echo(as_json, verdict.as_dict, lambda: str(verdict))
    return DONE if verdict.repeats else DIFFERS


def _carried_out(
    path: str, reach: UpstreamOptions, as_json: bool, play: Callable[[Write], ProgramOutcome]
) -> int:
    """Record a program, and print what there is of it. Returns the exit code."""
    from goldrush.replay.journal.outline import outline_of
    from goldrush.replay.worlds.program.recording import shown_command

    stream = sys.stderr if as_json else sys.stdout

    def write(piece: bytes) -> None:  # what the program prints
        stream.buffer.write(piece)
        stream.flush()

    outcome = play(write)
    if not Path(path).exists():
        echo_error(f"goldrush: {outcome.stopped}; nothing was recorded")
        return DIFFERS
    info = outline_of(path)
    name = quoted_path(path)
    command = f" -- {shown_command(_words())}"
    for warning in outcome.warnings:
        echo_error(f"goldrush: {warning}")
    if as_json:
        echo_json({
            **info.as_dict(), "stopped": outcome.stopped or None, "served": outcome.served,
            "exit_code": outcome.end and outcome.end.code,
        })  # fmt: skip
    else:
        again = f", {outcome.served} of them taken from the journal" if outcome.served else ""
        echo_error(f"journal: {name} ({format_count(info.units, 'exchange')}{again})")
        if not outcome.stopped:
            echo_error(f"next:    {program()} verify {name}{command}")
    if outcome.stopped:
        reached = re.match(r"stopped by (\S+) \d", outcome.stopped)
        options = typed_again(given_of(reach), reached[1] if reached else "")
        goes_on = f"go on with `{program()} resume {name}{options}{command}`"
        echo_error(f"goldrush: {outcome.stopped}; {goes_on}")
        return INTERRUPTED if outcome.stopped == "interrupted" else DIFFERS
    return DONE
