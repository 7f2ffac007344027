"""Options that several commands have, and what a path may be at which one of them writes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from goldrush.cli.text import echo_error

if TYPE_CHECKING:
    from goldrush.agents.players import Means

F = TypeVar("F", bound=Callable[..., Any])

JOBS_MAX: Final = 1_000
_RANGE: Final = re.compile(r"(\d{1,9})?(?:(-)(\d{1,9})?)?", re.ASCII)
NUMBER_MAX: Final = 10  # digits of a place


class Output(click.Path):
    """A path at which something is written; `kind` it must be.

    Without it `-` would be a file of that name, where other programs mean standard output.
    """

    def __init__(self, kind: str = "file") -> None:
        super().__init__()
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value == "":
            self.fail(f"it is empty; give a {self._kind}", param, ctx)
        if value == "-":
            self.fail(
                f"- is not standard output here; give a {self._kind}, one of that name as ./-",
                param,
                ctx,
            )
        if self._kind == "file" and value.endswith("/"):
            self.fail(f"{value} is the path of a folder; give that of a file", param, ctx)
        return str(super().convert(value, param, ctx))


def or_default(context: click.Context, parameter: click.Parameter, world: str | None) -> str:
    """The world that was given, or the one that is meant else."""
    from goldrush.replay.toolkit import WORLD_DEFAULT

    return WORLD_DEFAULT if world is None else world


def json_option(says: str = "Print as JSON.") -> Callable[[F], F]:
    """The option --json of a command, given as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help=says)


def range_of(text: str | None, names: Sequence[str]) -> tuple[int | None, int | None]:
    """The first and the last unit of a range that was typed behind an option of one of these names;
    None: from the start, to the end. Raises BadInput for what is no range.
    """
    from goldrush.kernel.errors import BadInput

    if text is None:
        return None, None
    match = _RANGE.fullmatch(text.strip())
    if match is None or not (match[1] or match[3]):
        typed = [word.partition("=")[0] for word in sys.argv]
        option = next((word for word in reversed(typed) if word in names), names[0])
        raise BadInput(f"{option} {text} is no range", "write 12, 12-20, 12- or -20")
    first = int(match[1]) if match[1] else None
    if match[2] is None:
        return first, first
    last = int(match[3]) if match[3] else None
    if first is not None and last is not None and last < first:
        raise BadInput(f"{text} ends before it begins", f"write {last}-{first}")
    return first, last


def at_option(says: str, *, required: bool = False) -> Callable[[F], F]:
    """The option that names a unit, `at`: by its own word in the worlds of goldrush itself."""
    return click.option(
        "--at", "--round", "--assignment", "at", type=int, required=required, help=says
    )


def place_number(journal: str, word: str, place: str | None) -> int | None:
    """The number of a place in a journal's units: of a plot, a table, as `word` says.

    Raises BadInput for one that there is not.
    """
    from goldrush.kernel.errors import BadInput
    from goldrush.replay.toolkit import toolkit_at

    if place is None:
        return None
    if not word:
        raise BadInput(f"events of {journal} are at no place of their own", "leave --place out")
    place_of = toolkit_at(journal).place_of
    if place_of is not None:
        return place_of(journal, place)
    if not (place.isascii() and place.isdigit() and len(place) < NUMBER_MAX):
        raise BadInput(f"there is no {word} {place!r}", "give a whole number")
    return int(place)


def means_of(test: str | None = None, jobs: int | None = None) -> Means:
    """What playing takes that no journal says, as it was typed."""
    from goldrush.agents.players import Means
    from goldrush.cli.people import at_terminal

    return Means(jobs or 1, test, at_terminal())


_TRACEBACK: Final = "goldrush.traceback"  # in the context's meta


def _keep_traceback(context: click.Context, parameter: click.Parameter, given: bool) -> None:
    context.meta[_TRACEBACK] = given


# An option, not a variable: it is added to the line just typed, and `--help` lists it.
traceback_option: Final = click.option(
    "--traceback", is_flag=True, expose_value=False, callback=_keep_traceback,
    help="If a policy fails, print its whole traceback.",
)  # fmt: skip


def echo_traceback(trace: str) -> None:
    """The traceback of a policy that failed, on stderr, if --traceback was given."""
    if click.get_current_context().meta.get(_TRACEBACK):
        for line in trace.splitlines():
            echo_error(line)


place_option: Final = click.option(
    "--place", "--plot", "--table", "place",
    help="Where in it: a plot (34, or row and column: 3,4), a table (default: all).",
)  # fmt: skip
world_option: Final = click.option(
    "--world", callback=or_default, help="The world (default: mining)."
)
journal_option: Final = click.option(
    "--out", type=Output(), help="The journal to write (default: in journals/)."
)
set_option: Final = click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE",
    help="One setting by name; may be repeated.",
)  # fmt: skip
treatment_option: Final = click.option(
    "--treatment", metavar="NAME|FILE.toml",
    help="Treatment by name (see `goldrush treatments`), or TOML file with [treatment.NAME].",
)  # fmt: skip
trust_option: Final = click.option(
    "--trust", multiple=True, metavar="MODULE:CLASS", help="Let this policy of your own be asked."
)
source_option: Final = click.option(
    "--source", "sources", multiple=True, type=click.Path(),
    help="Journal whose submissions the `recorded` policy replays.",
)  # fmt: skip
force_option: Final = click.option(
    "--force", is_flag=True, help="Replace an existing journal once the run begins."
)
fsync_option: Final = click.option(
    "--fsync", is_flag=True, help="Wait for the disk after every round (or other unit)."
)
jobs_option: Final = click.option(
    "--jobs", type=click.IntRange(1, JOBS_MAX), help="Processes (default: processors)."
)
test_jobs_option: Final = click.option(
    "--jobs", type=click.IntRange(1, JOBS_MAX), help="Tests of a season at once (default 1)."
)
test_option: Final = click.option(
    "--test", type=click.Path(), metavar="PROGRAM", help="The program that tests, in a season."
)
files_option: Final = click.option(
    "--files", type=Output("folder"), metavar="DIR",
    help="Keep a season in this folder as it goes, as export --to does.",
)  # fmt: skip
