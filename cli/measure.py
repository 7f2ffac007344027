"""`goldrush measure`: the measures of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from goldrush.cli.codes import DONE
from goldrush.cli.command import command, option
from goldrush.cli.models import ModelsFile
from goldrush.cli.options import Jobs, Journals, Json, OwnMeasures, journals_of, measures_of, refuse
from goldrush.cli.progress import progress
from goldrush.cli.text import (
    as_dicts,
    cut,
    echo,
    echo_error,
    echo_json,
    echo_text,
    with_rosters_cut,
)
from goldrush.kernel.text import escaped
from goldrush.replay.text import TABLE_DIGITS, format_number, format_table

if TYPE_CHECKING:
    from goldrush.replay.data.groups import Group
    from goldrush.replay.data.run_data import RunData
    from goldrush.replay.data.user_functions import UserMeasure

R = TypeVar("R")

WIDTH_MAX = 40  # characters of a treatment, of a roster
SHOWN_MAX = 8  # measures that have room beside each other
_GROUPED = ("measure", "treatment", "roster", "units", "runs", "mean", "95% interval")


@command()
def measure(
    *,
    journals: Journals,
    by_run: bool = option("--by-run", help="Show each run by itself, not means."),
    by_round: bool = option("--by-round", help="Show each round (or other unit), too."),
    usage: bool = option(
        "--usage", help="Show answers, tokens and cost of language models, by agent."
    ),
    models: ModelsFile,
    own_measures: OwnMeasures,
    jobs: Jobs,
    as_json: Json,
) -> int:
    """Measure a run, or the means over many runs.

    Of one journal: each measure over the run, and over the two halves of what follows its first
    tenth (the burn-in). Of several journals, or of a folder (all *.journal files in and below
    it): the mean of each measure with its 95% confidence interval, over the runs of the same world,
    treatment, roster, horizon and forks; needs goldrush-sim[stats].

    \b
    Examples:
      goldrush measure run.journal
      goldrush measure study --json
      goldrush measure run.journal --by-round
    """
    paths = journals_of(journals)
    if usage:
        from goldrush.agents.llm.budget import prices
        from goldrush.agents.llm.models import Models, read_models
        from goldrush.agents.workers import map_in_order
        from goldrush.kernel.files import total_size
        from goldrush.replay.journal.usage import usage as usage_of

        refuse({"--by-run": by_run, "--measure": own_measures}, "--usage is by agent and model")
        known = read_models(models) if models else {}
        of = partial(usage_of, prices=prices(Models(by_name=known), list(known)))
        runs = list(map_in_order(of, paths, jobs, total_size(paths)))
        echo(
            as_json, as_dicts(runs),
            lambda: "\n".join(run.format(by_round=by_round) for run in runs),
        )  # fmt: skip
        return DONE
    refuse({"--models": models}, "prices are for --usage")
    users = measures_of(own_measures)
    is_single = len(paths) == 1 and paths[0] == journals[0]
    if not (is_single or by_run or by_round):
        from goldrush.replay.data.groups import groups

        found = groups(paths, jobs, users)
        for note in (note for group in found for note in group.notes):
            echo_error(f"goldrush: {note}")
        echo(as_json, as_dicts(found), lambda: _by_world(found))
    elif as_json:
        echo_json(_each(partial(_as_dict, by_round), paths, jobs, users))
    elif len(paths) > 1 and not by_round:
        echo_text(_compared(paths, jobs, users))
    else:
        echo_text("\n\n".join(_each(partial(_format, by_round), paths, jobs, users)))
    return DONE


def _each(
    of: Callable[[RunData], R],
    paths: Sequence[str],
    jobs: int | None,
    users: Sequence[UserMeasure],
) -> list[R]:
    """What a function gives for the run of each journal; a long one is shown in progress."""
    from goldrush.agents.modules import printing_to_stderr
    from goldrush.kernel.files import total_size
    from goldrush.replay.data.run_data import map_runs, run_at

    if len(paths) > 1:
        return list(map_runs(of, paths, jobs, users=users))
    run, size = run_at(paths[0], users), total_size(paths[:1])
    with progress() as step, printing_to_stderr():
        run.on_bytes = lambda done: step("bytes", done, size)
        return [of(run)]


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


def _as_dict(by_round: bool, run: RunData) -> dict[str, Any]:
    from goldrush.replay.data.tables import as_dicts, units_table

    vocabulary = run.world.vocabulary
    found = run.measured.as_dict()
    if by_round:
        found[f"by_{vocabulary.unit}"] = as_dicts(units_table(vocabulary, run.measured.known), run)
    return found


def _compared(paths: Sequence[str], jobs: int | None, users: Sequence[UserMeasure]) -> str:
    """A table with a line for each run."""
    from goldrush.replay.data.run_data import map_runs

    lines = list(map_runs(_line, paths, jobs, one_world=True, users=users))
    head = list(dict.fromkeys(chain.from_iterable(lines)))
    return _table([head, *([line.get(name, "-") for name in head] for line in lines)], 1)


def _line(run: RunData) -> Mapping[str, str]:
    """The line of a run, by column."""
    found = run.measured
    names = _shown(run.measures.of_runs, found.known)
    front = {"journal": escaped(run.name), found.vocabulary.units: str(found.counted)}
    return {**front, **{escaped(name): _number(found.of(name)) for name in names}}


def _shown(chosen: Sequence[str], known: Iterable[str]) -> Sequence[str]:
    names = list(known)
    return [name for name in chosen if name in names] or names[:SHOWN_MAX]


def _format(by_round: bool, run: RunData) -> str:
    """The text of one run: its measures, and its rounds."""
    end = "" if run.measured.finished else ", unfinished"
    head = f"{escaped(run.name)}: {run.measures.head(run.measured)}{end}"
    blocks = [*([_measures(run)] if run.measured.known else []), *_by_policy(run)]
    if by_round:
        blocks.append(_by_unit(run))
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
    return [_table(rows, 1)]


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
    return _table(rows, 1)


def _by_unit(run: RunData) -> str:
    found = run.measured
    known = [name for name, measure in found.known.items() if measure.by_unit]
    names = _shown(run.measures.of_units, known)
    rows: list[Sequence[str]] = [(found.vocabulary.unit, *names)]
    for place in range(found.units):
        values = (_number(found.values[name][place]) for name in names)
        rows.append((str(found.vocabulary.number(place + 1)), *values))
    return _table(rows, 0)


def _number(value: float | None) -> str:
    return format_number(value, TABLE_DIGITS)


def _table(rows: Sequence[Sequence[str]], first_number: int) -> str:
    return format_table(rows, numbers=range(first_number, len(rows[0])))
