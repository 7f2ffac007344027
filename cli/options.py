"""Options that several commands share, and the paths at which commands write."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import click

from goldrush.cli.command import Declaration, argument, option
from goldrush.cli.text import echo_error

if TYPE_CHECKING:
    from attrs import AttrsInstance

    from goldrush.agents.llm.models import Models
    from goldrush.agents.people import AskTogether
    from goldrush.agents.players import Resources
    from goldrush.replay.data.user_functions import UserMeasure

JOBS_MAX: Final = 1_000
ASKED: Final = ".asked.jsonl"  # how files of `reask` and `interview` end
WARNED_MAX: Final = 3  # journals of a study that are not as its manifest lists them
Ends = tuple[int | None, int | None]  # of a range, None where it is open
_RANGE: Final = r"(?a)(\d{1,9})?(?:(-)(\d{1,9})?)?"


class Output(click.Path):
    """The path of a file or folder to write (`kind`). Refuses `-`, which other programs take for
    standard output.
    """

    def __init__(self, kind: str = "file") -> None:
        super().__init__()
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value == "-":
            self.fail(
                f"- does not mean standard output here; give a {self._kind}; one named - is ./-",
                param,
                ctx,
            )
        if self._kind == "file" and value.endswith("/"):
            self.fail(f"{value} is the path of a folder; give that of a file", param, ctx)
        return str(super().convert(value, param, ctx))


class NumberRange(click.FloatRange):
    """A range of numbers. Refuses `nan`, which click's own range lets pass."""

    name = "number"

    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value} is not a number", param, ctx)
        return number


def range_of(context: click.Context, parameter: click.Parameter, text: str | None) -> Ends | None:
    """The ends of a range of units such as 12-20; None if none was given."""
    if text is None:
        return None
    if not text:
        raise click.BadParameter("it is empty", context, parameter)
    match = re.fullmatch(_RANGE, text.strip())
    if match is None or not (match[1] or match[3]):
        says = f"{text} is not a range; write 12, 12-20, 12- or -20"
        raise click.BadParameter(says, context, parameter)
    first = int(match[1]) if match[1] else None
    if match[2] is None:
        return first, first
    last = int(match[3]) if match[3] else None
    if first is not None and last is not None and last < first:
        says = f"{text} ends before it begins; write {last}-{first}"
        raise click.BadParameter(says, context, parameter)
    return first, last


def refuse(options: Mapping[str, object], why: str) -> None:
    """Raises BadInput for the first of these options that was given."""
    from goldrush.kernel.errors import BadInput

    for name, value in options.items():
        if value not in (None, False, ()):
            raise BadInput(f"{name} is not for this: {why}", f"leave out {name}")


def echo_traceback(trace: str) -> None:
    """Print a traceback on stderr, if --traceback was given."""
    if click.get_current_context().params.get("traceback"):
        for line in trace.splitlines():
            echo_error(line)


def json_option(text: str = "Print JSON.") -> Declaration:
    """The option --json of a command, a parameter `as_json`."""
    return option("--json", help=text)


def at_option(text: str, *, required: bool = False) -> Declaration:
    """The option --at, the number of a round or other unit."""
    return option("--at --round", "N", text, required=required)


def roster_option(text: str) -> Declaration:
    """The option --roster."""
    return option("--roster", "ROSTER", text)


def jobs_option(text: str) -> Declaration:
    """The option --jobs."""
    return option("--jobs", "N", text, type=click.IntRange(1, JOBS_MAX))


FILE: Final = click.Path()

Journal = Annotated[str, argument(type=FILE)]
Journals = Annotated[tuple[str, ...], argument("JOURNAL|DIR...", required=True, type=FILE)]
Place = Annotated[
    str | None,
    option(
        "--place --plot", "PLACE",
        "Plot (34, or row,column: 3,4), or another place of the world (default: all).",
    ),
]  # fmt: skip
World = Annotated[
    str | None,
    option(
        "--world --env", "WORLD|FILE.py",
        "What is played: a world, the file of a game, or the code of an environment or model: "
        "FILE.py:NAME, module:NAME, an id of Gymnasium (default: mining).",
    ),
]  # fmt: skip
NamedWorld = Annotated[str | None, argument("[WORLD]", required=False)]
NewJournal = Annotated[
    str | None, option("--out", "FILE", "Journal to write (default: in journals/).", type=Output())
]
Seed = Annotated[int | None, option("--seed", "N", "Seed of all random draws (default: 0).")]
SETTINGS: Final = option(
    "--set", "NAME=VALUE", "Value of a setting (see `goldrush settings`); repeatable.",
)  # fmt: skip
Settings = Annotated[tuple[str, ...], SETTINGS]
Treatment = Annotated[
    str | None,
    option(
        "--treatment", "NAME|FILE.toml",
        "Treatment by name (see `goldrush treatments`), or TOML file with [treatment.NAME].",
    ),
]  # fmt: skip
Trust = Annotated[
    tuple[str, ...],
    option("--trust", "MODULE:CLASS", "Import and ask this policy of your own; repeatable."),
]
Sources = Annotated[
    tuple[str, ...],
    option(
        "--source", "FILE",
        "Journal whose submissions the `recorded` policy replays; repeatable.", type=FILE,
    ),
]  # fmt: skip
Test = Annotated[
    str | None,
    option(
        "--test", "PROGRAM", "Program that tests claims, for a world that takes one.", type=FILE
    ),
]  # fmt: skip
TestJobs = Annotated[int | None, jobs_option("Number of tests of claims run at once (default: 1).")]
Jobs = Annotated[int | None, jobs_option("Number of processes (default: processors).")]
StepName = Annotated[
    str | None,
    option("--step", "NAME", "Note that begins a program's round (default: round, or step)."),
]
OwnMeasures = Annotated[
    tuple[str, ...],
    option(
        "--measure", "FILE.py:NAME",
        "Measure of your own: a function of a file, which runs with your rights; repeatable.",
    ),
]  # fmt: skip
SEED_PARAMETER: Final = option(
    "--seed-parameter", "NAME",
    "The parameter of an environment or model that takes the seed (default: by its name); none: "
    "no parameter does.",
)  # fmt: skip
NO_CAUSES: Final = option("--no-causes", help="Do not look for the causes of a difference.")

DryRun = Annotated[
    bool, option("--dry-run", help="Estimate questions, tokens and cost; record nothing.")
]
Force = Annotated[
    bool, option("--force", help="Replace an existing journal, once its first unit is recorded.")
]
ForcePage = Annotated[bool, option("--force", help="Replace another file that goldrush wrote.")]
# Not a variable of the environment: it is added to the line just typed, and `--help` lists it.
Traceback = Annotated[  # read by `echo_traceback`
    bool, option("--traceback", help="If a policy or a world fails, print its traceback.")
]
Json = Annotated[bool, json_option()]
SummaryJson = Annotated[bool, json_option("Print the summary as JSON.")]


def journals_of(given: Sequence[str]) -> list[str]:
    """The journals at these paths (`journals_in`), with a warning if those in the folder of a study
    are not those of its manifest.
    """
    from goldrush.replay.journal.batch import journals_in
    from goldrush.replay.study.listing import listing_of

    paths = journals_in(given)
    listing = listing_of(given, paths)
    faults = (f"{path}: {fault}" for path, fault in listing.faults.items())
    differing = [*listing.unreadable.values(), *faults]
    for text in differing[:WARNED_MAX]:
        echo_error(f"goldrush: warning: {text}")
    if len(differing) > WARNED_MAX:
        more = len(differing) - WARNED_MAX
        echo_error(f"goldrush: warning: and {more} more; `goldrush verify` lists them")
    return paths


def measures_of(own_measures: Sequence[str]) -> Sequence[UserMeasure]:
    """The measures that --measure names. Raises BadInput for what is none."""
    if not own_measures:
        return ()
    from goldrush.replay.data.user_functions import user_measures

    return user_measures(own_measures)


class ChosenWorld(NamedTuple):
    """The world of a command that takes it as an argument (`named`) or by --world."""

    named: NamedWorld
    world: World

    @property
    def name(self) -> str:
        """The world that was given, by name or as the location of a game, else the default one.
        Raises UsageError for two worlds.
        """
        from goldrush.replay.find import WORLD_DEFAULT, world_named

        given = [world_named(each) for each in self if each is not None]
        if len({*given}) > 1:
            raise click.UsageError(f"{given[0]} and --world {given[1]} are two worlds; give one")
        return given[0] if given else WORLD_DEFAULT


class SubjectOptions(NamedTuple):
    """How an environment or a model is recorded (--env)."""

    ignore: tuple[str, ...] = option(
        "--ignore", "PATH",
        "--env: record nothing whose name begins so, such as 'info[time]', nor what is at a path "
        "of a model, such as \"game['uuid']\"; repeatable.",
    )  # fmt: skip
    report: str | None = option(
        "--report", "NAME,...", "--env: what a model reports, as measures: its attributes, "
        "properties and methods, and what its report() or its collector tells (default: all).",
    )  # fmt: skip
    seed_parameter: str | None = SEED_PARAMETER

    def chosen(self) -> dict[str, object]:
        """Settings by name; None where nothing was given."""
        report = None if self.report is None else self.report.split(",")
        named = "" if self.seed_parameter == "none" else self.seed_parameter
        return {"ignore": self.ignore or None, "report": report, "seed_parameter": named}

    def check(self, config: type[AttrsInstance]) -> None:
        """Raises UsageError for an option that a world, whose settings are of this class, does not
        have.
        """
        from attrs import fields_dict

        for name, value in self.chosen().items():
            if value is not None and name not in fields_dict(config):
                option = name.replace("_", "-")
                raise click.UsageError(f"--{option} is for environments and models; give --env")


class PlayingOptions(NamedTuple):
    """What the players of a recorded run may need."""

    trust: Trust
    sources: Sources
    test: Test

    def resources(
        self,
        jobs: int | None = None,
        people: AskTogether | None = None,
        models: Models | None = None,
    ) -> Resources:
        """What these options give, and others: the number of tests made at once, who asks people,
        and how models are reached.
        """
        from goldrush.agents.players import Resources

        return Resources(
            jobs or 1, self.test, people, models=models, trust=self.trust, sources=self.sources
        )


class RecordingOptions(NamedTuple):
    """How a run is recorded, and what is printed of it."""

    fsync: Annotated[bool, option("--fsync", help="Wait for the disk after each round.")]
    serve: Annotated[
        bool,
        option(
            "--serve",
            help="People (`human`) answer in browsers, by a page on this machine for each; "
            "NAME.times.csv beside the journal says how long they took.",
        ),
    ]
    traceback: Traceback
    as_json: SummaryJson


def allow_own_policies(trust: Sequence[str], typed: Iterable[str] = ()) -> list[str]:
    """Search the current folder, after everything that is installed, for policies of the user's own
    (MODULE:CLASS or FILE.py:CLASS) that were named on the command line. Without one, nothing there
    is imported. `typed`: the policies named in rosters and casts.

    Returns the names of the user's own policies.

    Raises:
        BadInput: a value of --trust has neither form.
    """
    from goldrush.agents.trust import OWN_FORM, add_user_folder, import_names, is_import_name
    from goldrush.kernel.errors import BadInput

    for name in trust:
        if not is_import_name(name):
            raise BadInput(f"--trust {name} is not a policy of your own", f"write {OWN_FORM}")
    own = import_names([*trust, *typed])
    if own:
        add_user_folder(os.getcwd())
    return list(own)
