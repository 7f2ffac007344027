"""`goldrush view`: a run as one HTML page that contains its journal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from goldrush.cli.command import command, option
from goldrush.cli.options import (
    FILE,
    ForcePage,
    Journal,
    Output,
    OwnMeasures,
    json_option,
    range_of,
)
from goldrush.cli.text import echo, echo_error
from goldrush.kernel.text import quoted_path

if TYPE_CHECKING:
    from goldrush.replay.view.carried import Carried


@command()
def view(
    *,
    journal: Journal,
    against: str | None = option(
        "--against", "FILE", "Second journal, shown beside it.", type=FILE
    ),
    at: str | None = option("--at", "A-B", "Rounds, or assignments: 12-20, 12- or -20."),
    own_measures: OwnMeasures,
    out: str | None = option(
        "--out", "FILE", "Page to write (default: JOURNAL with .html).", type=Output()
    ),
    opens: bool = option("--open", help="Open the page in a browser."),
    force: ForcePage,
    as_json: bool = json_option("Print path and size as JSON."),
) -> None:
    """Write an HTML page that plays a run.

    One file that contains the journal and loads nothing from a network. The browser checks the
    journal's checksums, and each view has its own URL fragment. The same journal gives the same
    page, byte for byte. A page holds at most 8 MiB and 20,000 rounds of a journal.

    \b
    Examples:
      goldrush view run.journal
      goldrush view run.journal --against fork.journal --at 40-80
    """
    from goldrush.replay.data.user_measures import user_measures
    from goldrush.replay.view.page import write_page

    units, users = range_of(at, ("--at",)), user_measures(own_measures)
    written = write_page(
        journal, out or _named(journal, against), against=against, units=units, users=users,
        force=force,
    )  # fmt: skip
    for path, run in zip(filter(None, (journal, against)), written.runs, strict=True):
        _warn(path, run, units)
    page = f"page: {quoted_path(str(written.path))} ({written.size:,} bytes)"
    echo(as_json, written.as_dict, lambda: page)
    if opens:
        _open(written.path)


def _warn(journal: str, run: Carried, asked: tuple[int | None, int | None]) -> None:
    """Print a warning if the page does not show all rounds that were asked for."""
    name = quoted_path(journal)
    if run.trouble is not None:
        echo_error(f"{name} breaks off: {run.trouble}; the page shows what precedes the fault")
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


def _open(page: Path) -> None:
    import webbrowser

    if not webbrowser.open(page.resolve().as_uri()):
        echo_error(f"no browser could be started; open {quoted_path(str(page))}")
