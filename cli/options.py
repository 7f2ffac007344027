"""Options that several commands share, and the paths at which commands write."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from goldrush.cli import completion
from goldrush.cli.text import echo_error

if TYPE_CHECKING:
    from goldrush.agents.players import Resources

F = TypeVar("F", bound=Callable[..., Any])

JOBS_MAX: Final = 1_000
_RANGE: Final = re.compile(r"(\d{1,9})?(?:(-)(\d{1,9})?)?", re.ASCII)


class Output(click.Path):
    """The path of a file or folder to write (`kind`). Refuses `-`, which other programs take for
    standard output.
    """

    def __init__(self, kind: str = "file") -> None:
        super().__init__()
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value == "":
            self.fail(f"the path is empty; give a {self._kind}", param, ctx)
        if value == "-":
            self.fail(
                f"- does not mean standard output here; give a {self._kind}; one named - is ./-",
                param,
                ctx,
            )
        if self._kind == "file" and value.endswith("/"):
            self.fail(f"{value} is the path of a folder; give that of a file", param, ctx)
        return str(super().convert(value, param, ctx))


def or_default(context: click.Context, parameter: click.Parameter, world: str | None) -> str:
    """The world that was given, or the default one."""
    from goldrush.replay.find import WORLD_DEFAULT

    return WORLD_DEFAULT if world is None else world


def json_option(text: str = "Print JSON.") -> Callable[[F], F]:
    """The option --json of a command, given as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help=text)


def range_of(text: str | None, names: Sequence[str]) -> tuple[int | None, int | None]:
    """The first and the last unit of a range such as 12-20; None for an open end.

    Args:
        text: what was typed; None if the option was not given.
        names: the names of the option, for the error.

    Raises:
        BadInput: the text is not a range.
    """
    from goldrush.kernel.errors import BadInput

    if text is None:
        return None, None
    match = _RANGE.fullmatch(text.strip())
    typed = [word.partition("=")[0] for word in sys.argv]
    option = next((word for word in reversed(typed) if word in names), names[0])
    if match is None or not (match[1] or match[3]):
        raise BadInput(f"{option} {text} is not a range", "write 12, 12-20, 12- or -20")
    first = int(match[1]) if match[1] else None
    if match[2] is None:
        return first, first
    last = int(match[3]) if match[3] else None
    if first is not None and last is not None and last < first:
        raise BadInput(f"{option} {text} ends before it begins", f"write {last}-{first}")
    return first, last


def at_option(text: str, *, required: bool = False) -> Callable[[F], F]:
    """The option --at, the number of a round or other unit. Two different numbers are refused."""
    return click.option(
        "--at", "--round", "--assignment", "at", multiple=True, callback=_only,
        type=int, required=required, metavar="N", help=text,
    )  # fmt: skip


def _only(context: click.Context, option: click.Parameter, numbers: Sequence[int]) -> int | None:
    """The number that was given; None if none was."""
    if len(set(numbers)) > 1:
        both = " and ".join(map(str, dict.fromkeys(numbers)))
        raise click.UsageError(f"{option.opts[0]} is given as {both}; give one number")
    return numbers[0] if numbers else None


def place_number(journal: str, place: str | None) -> int | None:
    """The number of a place (a plot, a table) in the journal's world.

    Raises BadInput for a place that does not exist.
    """
    from goldrush.replay.find import tools_at

    return None if place is None else tools_at(journal).location_of(journal, place)


def resources_of(test: str | None = None, jobs: int | None = None) -> Resources:
    """The resources for playing, from the options."""
    from goldrush.agents.players import Resources
    from goldrush.cli.people import at_terminal

    return Resources(jobs or 1, test, at_terminal())


_TRACEBACK: Final = "goldrush.traceback"  # in the context's meta


def _keep_traceback(context: click.Context, parameter: click.Parameter, given: bool) -> None:
    context.meta[_TRACEBACK] = given


# An option, not a variable: it is added to the line just typed, and `--help` lists it.
traceback_option: Final = click.option(
    "--traceback", is_flag=True, expose_value=False, callback=_keep_traceback,
    help="If a policy or a world fails, print its traceback.",
)  # fmt: skip


def echo_traceback(trace: str) -> None:
    """Print a traceback on stderr, if --traceback was given."""
    if click.get_current_context().meta.get(_TRACEBACK):
        for line in trace.splitlines():
            echo_error(line)


place_option: Final = click.option(
    "--place", "--plot", "--table", "place",
    metavar="PLACE", help="Plot (34, or row,column: 3,4), or table of a season (default: all).",
)  # fmt: skip
world_option: Final = click.option(
    "--world", metavar="WORLD", callback=or_default, shell_complete=completion.worlds,
    help="World (default: mining).",
)  # fmt: skip
journal_option: Final = click.option(
    "--out", type=Output(), metavar="FILE", help="Journal to write (default: in journals/)."
)


def set_option(world: str | None = None) -> Callable[[F], F]:
    """The option --set, given as `settings`. `world` as for completion.settings."""
    return click.option(
        "--set", "settings", multiple=True, metavar="NAME=VALUE",
        shell_complete=completion.settings(world),
        help="Value of a setting (see `goldrush settings`); repeatable.",
    )  # fmt: skip


def treatment_option(world: str | None = None) -> Callable[[F], F]:
    """The option --treatment. `world` as for completion.treatments."""
    return click.option(
        "--treatment", metavar="NAME|FILE.toml", shell_complete=completion.treatments(world),
        help="Treatment by name (see `goldrush treatments`), or TOML file with [treatment.NAME].",
    )  # fmt: skip


def roster_option(text: str) -> Callable[[F], F]:
    """The option --roster."""
    return click.option(
        "--roster", metavar="ROSTER", shell_complete=completion.policies(), help=text
    )


trust_option: Final = click.option(
    "--trust",
    multiple=True,
    metavar="MODULE:CLASS",
    help="Import and ask this policy of your own; repeatable.",
)
source_option: Final = click.option(
    "--source", "sources", multiple=True, type=click.Path(), metavar="FILE",
    help="Journal whose submissions the `recorded` policy replays; repeatable.",
)  # fmt: skip
dry_run_option: Final = click.option(
    "--dry-run", is_flag=True, help="Estimate questions, tokens and cost; record nothing."
)
force_option: Final = click.option(
    "--force", is_flag=True, help="Replace an existing journal when the run begins."
)
fsync_option: Final = click.option(
    "--fsync", is_flag=True, help="Wait for the disk after each round."
)
jobs_option: Final = click.option(
    "--jobs",
    type=click.IntRange(1, JOBS_MAX),
    metavar="N",
    help="Number of processes (default: processors).",
)
test_jobs_option: Final = click.option(
    "--jobs",
    type=click.IntRange(1, JOBS_MAX),
    metavar="N",
    help="Seasons: number of tests run at once (default: 1).",
)
test_option: Final = click.option(
    "--test",
    type=click.Path(),
    metavar="PROGRAM",
    help="Seasons: program that tests claims, for arenas that take one.",
)
files_option: Final = click.option(
    "--files", type=Output("folder"), metavar="DIR",
    help="Seasons: keep this folder up to date, in the form of `export --to`.",
)  # fmt: skip
