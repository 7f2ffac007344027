"""`goldrush measure`: the measures of runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from goldrush.cli.codes import DONE
from goldrush.cli.command import command, option
from goldrush.cli.models import ModelsFile, show_asked
from goldrush.cli.options import (
    ASKED,
    Jobs,
    Journals,
    Json,
    OwnMeasures,
    StepName,
    journals_of,
    measures_of,
    refuse,
)
from goldrush.cli.progress import progress
from goldrush.cli.text import (
    as_dicts,
    cut,
    echo,
    echo_error,
    with_rosters_cut,
)
from goldrush.kernel.text import escaped
from goldrush.replay.text import TABLE_DIGITS, csv_of_records, format_number, format_table

if TYPE_CHECKING:
    from goldrush.replay.data.groups import Group
    from goldrush.replay.data.run_data import RunData
    from goldrush.replay.journal.taken import Taken

_UNFINISHED = "seed-*.journal.unfinished"  # runs of a study that have answers, too
WIDTH_MAX = 40  # characters of a treatment, of a roster
_GROUPED = ("measure", "treatment", "roster", "units", "runs", "mean", "95% interval")


@command()
def measure(
    *,
    journals: Journals,
    usage: bool = option(
        "--usage",
        help="Show answers, tokens and cost of language models, by agent and model; of a study by "
        "cell.",
    ),
    as_csv: bool = option("--csv", help="With --usage: print the cells of a study as CSV."),
    models: ModelsFile,
    own_measures: OwnMeasures,
    step: StepName,
    table: str | None = option(
        "--table", "NAME", "Of files of `reask` or `interview`: print a table as CSV."
    ),
    codes: str | None = option(
        "--codes", "FILE.csv", "Of `interview`: the table `answers`, coded by hand."
    ),
    jobs: Jobs,
    as_json: Json,
) -> int:
    """Measure a run, or the means over many runs.

    Of one journal: each measure over the run, and over the two halves of what follows its first
    tenth (the burn-in). Of several journals, or of a folder (all *.journal files in and below
    it): the mean of each measure with its 95% confidence interval, over the runs of the same world,
    treatment, roster, horizon and forks; needs goldrush-sim[stats]. `goldrush export` writes the
    measures of each run, and of each round (or other unit), as tables. Of files of `goldrush
    reask` or `interview` (*.asked.jsonl): their tables.

    \b
    Examples:
      goldrush measure run.journal
      goldrush measure study --json
    """
    if any(path.endswith(ASKED) for path in journals):
        from goldrush.replay.asked.file import read

        given = {"--usage": usage, "--csv": as_csv, "--models": models, "--step": step}
        refuse({**given, "--measure": own_measures}, "it is of journals")
        return show_asked([*map(read, journals)], as_json, table, codes)
    refuse({"--table": table, "--codes": codes}, "they are of files of `reask` or `interview`")
    paths = journals_of(journals)
    if usage:
        refuse({"--measure": own_measures, "--step": step}, "--usage is by agent and model")
        return _usage(journals, paths, models, jobs, as_json, as_csv)
    refuse({"--models": models, "--csv": as_csv}, "prices and CSV are for --usage")
    users = measures_of(own_measures)
    is_single = len(paths) == 1 and paths[0] == journals[0]
    if is_single:
        from goldrush.agents.modules import printing_to_stderr
        from goldrush.replay.data.run_data import run_at
        from goldrush.replay.folders import total_size

        run, size = run_at(paths[0], users), total_size(paths)
        run.step = step
        with progress() as on_step, printing_to_stderr():
            run.on_bytes = lambda done: on_step("bytes", done, size)
            measured = run.measured
        echo(as_json, lambda: [measured.as_dict()], lambda: _format(run))
        return DONE
    from goldrush.replay.data.groups import groups

    refuse({"--step": step}, "means are over whole runs")
    found = groups(paths, jobs, users)
    for note in (note for group in found for note in group.notes):
        echo_error(f"goldrush: {note}")
    echo(as_json, as_dicts(found), lambda: _by_world(found))
    return DONE


def _usage(
    journals: Sequence[str], paths: Sequence[str], models: str | None, jobs: int | None,
    as_json: bool, as_csv: bool,
) -> int:  # fmt: skip
    """Print the usage of models in journals, of a study by cell. `paths`: of the finished ones."""
    from goldrush.agents.llm.budget import prices
    from goldrush.agents.llm.models import read_models
    from goldrush.replay.folders import total_size
    from goldrush.replay.journal.usage import usage as usage_of
    from goldrush.replay.journal.usage import usage_by_cell
    from goldrush.replay.study.listing import StudyFolders
    from goldrush.replay.workers import map_in_order

    of = partial(usage_of, prices=prices(read_models(models) if models else {}))
    paths = [*paths, *(str(p) for each in journals for p in Path(each).rglob(_UNFINISHED))]
    runs = list(map_in_order(of, paths, jobs, total_size(paths)))
    if (cells := usage_by_cell(runs, StudyFolders())) and len(runs) > 1:
        _echo_cells(cells, as_json, as_csv)
        return DONE
    refuse({"--csv": as_csv}, "it is for a study")
    echo(as_json, as_dicts(runs), lambda: "\n".join(map(str, runs)))
    return DONE


def _echo_cells(cells: Sequence[tuple[str, str, Taken]], as_json: bool, as_csv: bool) -> None:
    """Print the usage of a study by cell, and all together."""
    from msgspec.structs import asdict

    from goldrush.replay.journal.taken import HEAD, total_of

    rows = [*cells, ("all", "", total_of(taken for *_, taken in cells))]
    named = [{"treatment": t, "roster": r, **asdict(taken)} for t, r, taken in rows]
    table: list[Sequence[str]] = [("treatment", "roster", "model", *HEAD)]
    table += [(t, r, taken.model, *taken.cells) for t, r, taken in rows]
    if as_csv:
        text = csv_of_records(named).rstrip()
    else:
        text = format_table(table, range(3, len(table[0])))
    echo(as_json, lambda: {"cells": named[:-1], "total": named[-1]}, lambda: text)


def _by_world(groups: Sequence[Group]) -> str:
    """The groups of all worlds, a table for each world."""
    worlds = dict.fromkeys(group.kind.world for group in groups)
    tables = [_grouped([one for one in groups if one.kind.world == world]) for world in worlds]
    if len(worlds) > 1:
        tables = [f"{world}:\n\n{table}" for world, table in zip(worlds, tables, strict=True)]
    return "\n\n".join(tables)


def _grouped(groups: Sequence[Group]) -> str:
    """The groups of one world as a table, measure by measure."""
    from goldrush.replay.data.groups import format_treatment

    units = groups[0].kind.units
    rows: list[Sequence[str]] = [tuple(units if cell == "units" else cell for cell in _GROUPED)]
    known = {name: measure for group in reversed(groups) for name, measure in group.known.items()}
    for name, measure in {**groups[0].known, **known}.items():
        for place, group in enumerate(group for group in groups if name in group.means):
            one, kind = group.means[name], group.kind
            runs = str(one.n) if one.n == group.runs else f"{one.n} of {group.runs}"
            ends = "-" if one.low is None else f"{_number(one.low)} to {_number(one.high)}"
            labels = (
                cut(format_treatment(kind) or "-", WIDTH_MAX),
                kind.roster or "-",
            )
            rows.append(
                ("" if place else measure.title, *labels, str(kind.horizon), runs,
                 _number(one.mean), ends)
            )  # fmt: skip
    unfinished = sum(group.unfinished for group in groups)
    note = f"\n\n{unfinished} of these runs are unfinished" if unfinished else ""
    return format_table(with_rosters_cut(rows, 2, WIDTH_MAX), numbers=(3, 4, 5)) + note


def _format(run: RunData) -> str:
    """The text of one run: its measures."""
    end = "" if run.measured.finished else ", unfinished"
    head = f"{escaped(run.name)}: {run.measures.head(run.measured)}{end}"
    blocks = [*([_measures(run)] if run.measured.known else []), *_by_policy(run)]
    return "\n\n".join([head, *blocks])


def _by_policy(run: RunData) -> list[str]:
    """The measures of agents at the end, as means by policy, in a table; none without any."""
    from goldrush.replay.outcome import means_of, standings_of

    by_agent, roster = run.measured.by_agent, run.measured.roster
    if not by_agent or not roster or not run.measured.units:
        return []
    means = [means_of(values, roster) for values in by_agent.values()]
    rows: list[Sequence[str]] = [("policy", "agents", *(f"{name}, mean" for name in by_agent))]
    for standing in standings_of(next(iter(by_agent.values())), roster):
        values = [_number(by_policy[standing.policy]) for by_policy in means]
        rows.append((escaped(standing.policy), str(len(standing.agents)), *values))
    return [_table(rows)]


def _measures(run: RunData) -> str:
    from goldrush.replay.data.tables import figures_table

    found = run.measured
    number = found.vocabulary.number
    spans = (found.whole, *(found.halves() or (None, None)))
    cells = [f"{number(span.first)}-{number(span.last)}" if span else "-" for span in spans]
    rows: list[Sequence[str]] = [
        ("measure", "run", "first half", "second half"),
        (found.vocabulary.units, *cells),
    ]
    for name, *values in figures_table(found.vocabulary).own_rows(run):
        rows.append((found.known[name].title, *map(_number, values[:3])))
    return _table(rows)


def _number(value: float | None) -> str:
    return format_number(value, TABLE_DIGITS)


def _table(rows: Sequence[Sequence[str]]) -> str:
    return format_table(rows, numbers=range(1, len(rows[0])))
