"""`goldrush study` and `goldrush report`: many runs, and the statistics over them."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from functools import partial
from typing import TYPE_CHECKING, Annotated, NamedTuple

import click

from goldrush.agents import given
from goldrush.cli.codes import DIFFERS, DONE, INTERRUPTED, TROUBLE
from goldrush.cli.command import argument, command, option
from goldrush.cli.models import (
    Model,
    ModelsFile,
    ReachOptions,
    check_model,
    models_of,
)
from goldrush.cli.options import (
    FILE,
    SETTINGS,
    DryRun,
    ForcePage,
    Jobs,
    Output,
    OwnMeasures,
    SubjectOptions,
    SummaryJson,
    Trust,
    World,
    allow_own_policies,
    json_option,
    measures_of,
    refuse,
    roster_option,
)
from goldrush.cli.progress import progress
from goldrush.cli.record import estimated, settings_of
from goldrush.cli.text import echo_error, echo_json, echo_text, program
from goldrush.kernel.text import escaped, format_count, quoted, quoted_path

if TYPE_CHECKING:
    from pathlib import Path

    from goldrush.agents.llm.models import Models
    from goldrush.replay.report.page import StudyPage
    from goldrush.replay.study.plan import StudyPlan
    from goldrush.replay.study.study import Study


class VariedOptions(NamedTuple):
    """What a study varies, and the settings of all its runs."""

    treatments: tuple[str, ...] = option(
        "--treatment", "NAME|FILE.toml",
        "Treatment, by name or in a TOML file, or `all` (the default); repeatable.",
    )  # fmt: skip
    rosters: tuple[str, ...] = roster_option(
        "Roster, or `baselines` (the default: those of the world); repeatable."
    )
    seeds: str | None = option(
        "--seeds", "N|LIST", "Number of seeds, from 0 on, or a list: 0-4,7 (default: 20)."
    )
    rounds: tuple[int, ...] = option(
        "--rounds", "N",
        "Number of rounds, or other units of the world (default: the world's); repeatable. "
        "Also --set with its name there: hours=5, or hours=[5,10] for several.",
    )  # fmt: skip
    settings: tuple[str, ...] = SETTINGS


Contrasts = Annotated[
    tuple[str, ...],
    option(
        "--contrast", "B-A",
        "What is compared, B − A: two treatments, two rosters, or two wordings of a model "
        "(plain-default); repeatable (default: as in the plan, else all pairs).",
    ),
]  # fmt: skip


@command()
def study(
    *,
    plan: str | None = argument("[PLAN.toml]", required=False, type=FILE),
    world: World,
    out: str = option("--out", "DIR", "Folder of the study.", type=Output("folder"), required=True),
    varied: VariedOptions,
    contrasts: Contrasts,
    subject: SubjectOptions,
    jobs: Jobs,
    dask: str | None = option(
        "--dask", "ADDRESS", "Dask scheduler whose workers play the runs; needs goldrush-sim[dask]."
    ),
    trust: Trust,
    model: Model,
    reach: ReachOptions,
    dry_run: DryRun,
    as_json: SummaryJson,
) -> int:  # fmt: skip
    """Record many runs: treatments x rosters x seeds x horizons.

    Each run is a journal in the folder --out. The plan is given as a TOML file or by these options.
    The same command continues a study that was stopped.

    \b
    Examples:
      goldrush study --treatment scarce --roster greedy-mine --seeds 4 --out study
      goldrush study plan.toml --jobs 2 --out planned
    """
    from goldrush.kernel.errors import BadInput
    from goldrush.replay.find import WORLD_DEFAULT
    from goldrush.replay.study import plan as plans

    treatments, rosters, seeds, rounds, settings = varied
    asked = subject.chosen()
    options = (*treatments, *rosters, *rounds, *settings, *contrasts, seeds, *asked.values())
    if plan is not None and any(option is not None for option in options):
        raise BadInput("a plan and options were given", f"put all into {plan}, or leave it out")
    if plan is None and trust:
        raise BadInput("--trust needs a plan", "leave it out, or give a plan")
    if dask is not None and jobs is not None:
        raise BadInput("--jobs and --dask exclude each other", "give one of them")
    of = plans.studied(world or WORLD_DEFAULT)
    models = models_of(reach, model)
    own = allow_own_policies(
        trust, [name for text in rosters for name in of.players.policy_set.names_in(text)]
    )
    if plan is not None:
        wanted = plans.read_plan(plan, own, world)
    else:
        subject.check(of.config)
        wanted = plans.plan_of(
            world=of.name, treatments=treatments or plans.ALL, rosters=rosters or plans.BASELINES,
            seeds=plans.SEEDS_DEFAULT if seeds is None else plans.seeds_of(seeds),
            rounds=rounds or None, settings=settings_of(settings, asked), contrasts=contrasts,
        )  # fmt: skip
    if model is not None:
        check_model(model, wanted.policies, "no roster has it")
    if dry_run:
        from goldrush.replay.study.carry_out import estimate_study

        return estimated(estimate_study(wanted, models), reach, as_json)
    return _carried_out(wanted, out, models, dask, jobs, as_json)


def _carried_out(
    wanted: StudyPlan, out: str, models: Models, dask: str | None, jobs: int | None, as_json: bool
) -> int:
    """Play what is missing, print the summary, and return the exit code."""
    from goldrush.kernel.errors import WriteFailed
    from goldrush.replay.study.backend import RunFailed, WorkersLost
    from goldrush.replay.study.carry_out import PLAYED, runs_given_code
    from goldrush.replay.study.cluster import cluster
    from goldrush.replay.study.study import Study

    played, workers = 0, nullcontext() if dask is None else cluster(dask)
    try:
        # The output of policies is not part of the summary.
        with progress() as step, workers as backend, redirect_stdout(sys.stderr):

            def on_step(what: str, done: int, every: int) -> None:
                nonlocal played
                if what == PLAYED:
                    played = every
                step(what, done, every)

            study = Study.play(
                wanted, out, jobs=jobs, backend=backend, models=models, on_step=on_step
            )
    except KeyboardInterrupt:
        echo_error(f"stopped: what is finished is kept; {_again()} continues the study")
        return INTERRUPTED
    except (RunFailed, WorkersLost, WriteFailed) as error:
        is_stopped = getattr(error, "stopped", False)
        then = f"{_again()} continues the study"
        if isinstance(error, RunFailed) and not is_stopped and runs_given_code(wanted):
            then = f"mend your code and give another folder (--out), or, as it is, {then}"
        echo_error(f"goldrush: {error}; what is finished is kept; {then}")
        return DIFFERS if is_stopped else TROUBLE
    _print_study(study, out, len(study.manifest.runs) - played, as_json)
    return DONE


def _print_study(study: Study, out: str, kept: int, as_json: bool) -> None:
    """The summary of a study; `kept`: its runs that were there already."""
    from msgspec.structs import asdict

    from goldrush.agents.llm.failures import format_failures
    from goldrush.replay.study.comparisons import equal_runs, format_equal

    runs, failures = study.manifest.runs, study.failures()
    equal = equal_runs(out, runs)
    total = sum(run.bytes or 0 for run in runs)
    if as_json:
        done = {"folder": out, "runs": len(runs), "repeated": len(equal), "kept": kept}
        echo_json({**done, "bytes": total, "failures": [asdict(one) for one in failures]})
        return
    path = quoted_path(out)
    of = "".join(f" {option} {quoted(location)}" for option, location in given.options())
    said = [*format_failures(failures), format_equal(len(runs), len(equal))]
    lines = "".join(f"{line}\n" for line in said if line)
    click.echo(
        f"{format_count(len(runs), 'run')} in {path} ({kept:,} were there already, "
        f"{total:,} bytes)\n"
        f"{lines}"
        f"next:    {program()} report {path}{of}\n         {program()} verify {path}{of}"
    )


@command()
def report(
    *,
    study: str = argument("DIR", type=FILE),
    outcome: str | None = option(
        "--outcome", "NAME",
        "Measure that is compared (default: that of the world, such as gold).",
    ),
    criteria: bool = option(
        "--criteria",
        help="Add verdicts on the criteria of the world, which compare halves of runs.",
    ),
    contrasts: Contrasts,
    own_measures: OwnMeasures,
    out: str | None = option(
        "--out", "FILE", "Page to write (default: report.html in DIR).", type=Output()
    ),
    jobs: Jobs,
    figures: str | None = option(
        "--figures", "DIR",
        "Write every figure for a paper, too: PDF, PNG, data and caption. Needs "
        "goldrush-sim[figures].",
        type=Output("folder"),
    ),
    tables: str | None = option(
        "--tables", "DIR", "Write every table, too: CSV and LaTeX.",
        type=Output("folder"),
    ),
    models: ModelsFile,
    name_hosts: bool = option(
        "--name-hosts", help="Name the servers of models, as the file --models has them."
    ),
    force: ForcePage,
    as_json: bool = json_option("Print the numbers as JSON; write no page."),
) -> int:  # fmt: skip
    """Write the report of a study: what differs, how surely.

    The outcome by treatment, roster and policy, with intervals and tests of all differences. One
    HTML page. Needs goldrush-sim[stats].

    \b
    Examples:
      goldrush report study
      goldrush report study --outcome turnover --figures figures --tables tables
      goldrush report study --criteria --json
    """
    users = measures_of(own_measures)
    refuse({"--name-hosts": name_hosts and models is None}, "hosts stand in the file of --models")
    if as_json:
        written = {"--out": out, "--figures": figures, "--tables": tables, "--models": models}
        refuse({**written, "--force": force, "--name-hosts": name_hosts}, "--json writes no page")
        from goldrush.replay.report.reported import study_of
        from goldrush.replay.report.values import answers
        from goldrush.replay.study.measuring import results_of

        with progress() as step:
            results = results_of(study, jobs=jobs, on_run=partial(step, "measuring"), users=users)
        echo_json(answers(study_of(results, outcome, contrasts, criteria=criteria)))
        return DONE
    from goldrush.replay.arguments import models_of as models_in
    from goldrush.replay.report.report import report as write_report

    with progress() as step:
        page, path = write_report(
            study, out, jobs=jobs, force=force, figures=figures, tables=tables,
            outcome=outcome, criteria=criteria, contrasts=contrasts, users=users, on_step=step,
            models=models_in(models), names_hosts=name_hosts,
        )  # fmt: skip
    _print_report(page, path, figures, tables)
    return DONE


def _print_report(page: StudyPage, path: Path, figures: str | None, tables: str | None) -> None:
    """What a report comes to, and where it is; `figures`, `tables`: folders that were asked for."""
    from goldrush.replay.report.failures import hardly_played, shortened

    study = page.study
    if lines := hardly_played(study.results):
        click.echo("models most of whose answers failed:")
        click.echo("".join(f"  {escaped(line)}\n" for line in shortened(lines)))
    echo_text("".join(f"{line}\n" for line in study.answer.sentences))
    if study.judges:
        verdicts = study.assessment.verdicts
        why = f"no verdicts: {verdicts.reason}"
        echo_text(f"{verdicts.format(study.units) if verdicts else why}\n")
    click.echo(f"page: {quoted_path(str(path))}")
    if figures is not None:
        click.echo(
            f"figures: {', '.join(page.figures)} in {quoted_path(figures)}, each as .pdf, "
            ".png, .csv (data) and .tex (caption)"
        )
    if tables is not None:
        named = ", ".join(page.tables)
        click.echo(f"tables: {named} in {quoted_path(tables)}, each as .csv and .tex")


def _again() -> str:
    return f"`{program()} {' '.join(map(quoted, sys.argv[1:]))}`"
