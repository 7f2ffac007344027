"""`goldrush view`: a run as one HTML page that contains its journal, or a folder of runs as one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from goldrush.cli.command import argument, command, option
from goldrush.cli.options import (
    FILE,
    Ends,
    ForcePage,
    Jobs,
    Output,
    OwnMeasures,
    json_option,
    measures_of,
    range_of,
    refuse,
)
from goldrush.cli.progress import progress
from goldrush.cli.text import echo, echo_error, program
from goldrush.kernel.text import format_count, quoted_path

if TYPE_CHECKING:
    from goldrush.replay.view.overview import Overview
    from goldrush.replay.view.page import Written
    from goldrush.replay.view.shown import ShownRun


@command()
def view(
    *,
    journal: str = argument("JOURNAL|DIR", type=FILE),
    against: str | None = option(
        "--against", "FILE", "Second journal, shown beside it.", type=FILE
    ),
    at: Ends | None = option(
        "--at", "A-B", "Rounds, or other units: 12-20, 12- or -20.", callback=range_of
    ),
    own_measures: OwnMeasures,
    outcome: str | None = option(
        "--outcome", "NAME", "Of a folder: measure that is charted (default: the world's)."
    ),
    jobs: Jobs,
    out: str | None = option(
        "--out", "FILE", "Page to write (default: JOURNAL with .html; runs.html in DIR).",
        type=Output(),
    ),
    force: ForcePage,
    as_json: bool = json_option("Print path and size as JSON."),
) -> None:  # fmt: skip
    """Write an HTML page of a run, or of all runs of a folder.

    One file that loads nothing from a network. The page of a run has the journal for download, and
    compares its SHA-256. It holds at most 20,000 rounds. The page of a folder has
    a table of the runs, which can be sorted and filtered, charts of the outcome, and for each run
    a link to its page or the command that shows it. The address in the browser leads back to what
    is shown. The same journals give the same page, byte for byte.

    \b
    Examples:
      goldrush view run.journal
      goldrush view run.journal --against fork.journal --at 40-80
      goldrush view study
    """
    is_folder = os.path.isdir(journal)
    refuse(
        {"--against": against, "--at": at} if is_folder else {"--outcome": outcome, "--jobs": jobs},
        f"{quoted_path(journal)} is {'a folder' if is_folder else 'a journal'}",
    )
    users, units, lines = measures_of(own_measures), at or (None, None), []
    written: Overview | Written
    if is_folder:
        from goldrush.replay.view.overview import write_overview

        with progress() as step:
            written = write_overview(
                journal, out, outcome=outcome, users=users, jobs=jobs, force=force,
                on_step=step,
            )  # fmt: skip
        found, left = written.folder, len(written.folder.left_out)
        more = f"; {format_count(left, 'file')} left out, with reasons in the page" if left else ""
        lines = [f"{format_count(len(found.runs), 'run')}{more}"]
    else:
        from goldrush.replay.view.page import write_page

        written = write_page(
            journal, out or _named(journal, against), against=against, units=units, users=users,
            force=force,
        )  # fmt: skip
        for path, run in zip(filter(None, (journal, against)), written.runs, strict=True):
            _warn(path, run, units)
    lines.append(f"page: {quoted_path(str(written.path))} ({written.size:,} bytes)")
    echo(as_json, written.as_dict, lambda: "\n".join(lines))


def _warn(journal: str, run: ShownRun, asked: Ends) -> None:
    """Print a warning if the page does not show all rounds that were asked for."""
    from goldrush.replay.journal.verify import way_out_of

    name = quoted_path(journal)
    if run.trouble is not None:
        more = way_out_of(journal, program())
        echo_error(
            f"{name} breaks off: {run.trouble}{more}; the page shows what precedes the fault"
        )
    if run.last < min(run.total if asked[1] is None else asked[1], run.total):
        echo_error(
            f"{name}: a page has room for {run.first:,} to {run.last:,} of {run.total:,}; --at "
            f"{run.last + 1}- shows what follows"
        )


def _named(journal: str, against: str | None) -> str:
    """The default path of the page: beside the journal, with its name."""
    from goldrush.kernel.errors import BadInput

    path = Path(journal)
    if path.parent == Path("/dev"):
        raise BadInput(f"no page can be written beside {journal}", "give --out")
    other = "" if against is None else f"-against-{Path(against).stem}"
    return str(path.with_name(f"{path.stem}{other}.html"))
