"""`goldrush verify`: journals checked in four levels."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import click

from goldrush.cli.codes import code_of
from goldrush.cli.command import command, keep_here, option
from goldrush.cli.options import (
    ASKED,
    Jobs,
    Journals,
    Json,
    PlayingOptions,
    Traceback,
    allow_own_policies,
    echo_traceback,
)
from goldrush.cli.progress import paused, progress
from goldrush.cli.text import echo_error, echo_json, maybe_unread, program
from goldrush.kernel.text import escaped

if TYPE_CHECKING:
    from goldrush.replay.journal.batch import BatchResult

LEVEL_MAX: Final = 4


@command()
def verify(
    *,
    journals: Journals,
    level: int = option(
        "--level", "N",
        "Highest level: 1 checksums, 2 digests, 3 derived events, 4 policies (default: 4).",
        type=click.IntRange(1, LEVEL_MAX), default=LEVEL_MAX,
    ),
    jobs: Jobs,
    playing: PlayingOptions,
    strict: bool = option("--strict", help="Exit with 1 if a policy could not be asked again."),
    traceback: Traceback,
    as_json: Json,
) -> int:  # fmt: skip
    """Check journals: checksums, digests, events, decisions.

    Level 1 checks checksums; level 2 applies the events and compares digests of the state; level 3
    derives all events again from the inputs; level 4 asks deterministic policies again. Of a
    folder, all *.journal files in and below it are checked, and those of a study against its
    manifest: none may be missing, added or replaced. The SHA-256 that is printed pins a
    journal: `sha256sum -c` checks a list of them. Exit code: 0 if all hold, 1 if one does not, 2 if
    one could not be judged.

    \b
    Examples:
      goldrush verify run.journal
      goldrush verify journals --jobs 4 --json
    """
    from goldrush.replay.journal import batch
    from goldrush.replay.study.listing import listing_of

    if playing.trust:
        keep_here(click.get_current_context())
    allow_own_policies(playing.trust)
    if strict and level < LEVEL_MAX:
        raise click.UsageError(f"--strict needs --level {LEVEL_MAX}, and {level} was given")
    asked = [each for path in journals for each in batch.below(path, ASKED)]
    paths = batch.journals_in([each for each in journals if not each.endswith(ASKED)])
    outcomes = []
    if asked:
        from goldrush.replay.asked.asking import verify as verify_asked

        outcomes += [verify_asked(each, paths, playing.resources()) for each in asked]
    for outcome in outcomes if not as_json else ():
        _tell(outcome)
    with progress() as step:
        verified = batch.verify_all(
            paths, level, playing.resources(), jobs=jobs, strict=strict,
            on_bytes=partial(step, "bytes"),
        )  # fmt: skip
        for outcome in batch.compared(verified, listing_of(journals, paths)):
            outcomes.append(outcome)
            if not as_json:
                with paused(), maybe_unread():
                    _tell(outcome)
    with maybe_unread():
        if as_json:
            echo_json([outcome.as_dict() for outcome in outcomes])
        elif len(outcomes) > 1:
            click.echo(batch.format_results(outcomes))
    return code_of(outcome.holds for outcome in outcomes)


def _tell(outcome: BatchResult) -> None:
    from goldrush.replay.journal import batch

    echo_traceback(outcome.trace)
    if outcome.error is not None:
        echo_error(f"goldrush: {outcome.error}")
    if outcome.verdict is not None and outcome.verdict.broken is not None:
        echo_traceback(outcome.verdict.broken.trace)
    # With other code, what breaks is in the error.
    is_open = outcome.verdict is not None and outcome.verdict.broken is None
    if outcome.holds is not None or is_open:
        click.echo(escaped(batch.format_result(outcome, program())))
