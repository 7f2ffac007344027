"""`goldrush measure`: figures from journals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from goldrush.cli.codes import DONE
from goldrush.cli.models import models_file, models_of
from goldrush.cli.options import json_option
from goldrush.cli.text import echo_csv, echo_json
from goldrush.kernel.text import escaped
from goldrush.replay.text import table

if TYPE_CHECKING:
    from goldrush.replay.runs import Run
    from goldrush.replay.toolkit import Spells

SHOWN_MAX = 8  # measures that have room beside each other
_HEAD = ("answers", "without plan", "tokens in", "tokens out", "uncounted", "tries", "cost")


@click.command()
@click.argument("journals", nargs=-1, required=True, type=click.Path(), metavar="JOURNAL...")
@click.option("--by-round", is_flag=True, help="By round, too (or by the world's own unit).")
@click.option(
    "--spells",
    is_flag=True,
    help="List who held what, from when to when.",
)
@click.option("--usage", is_flag=True, help="What language models took, by agent.")
@models_file
@click.option("--csv", "as_csv", is_flag=True, help="Print everything as CSV, a row a measure.")
@json_option("Print everything as JSON.")
def measure(
    journals: tuple[str, ...],
    by_round: bool,
    spells: bool,
    usage: bool,
    models_path: str | None,
    as_csv: bool,
    as_json: bool,
) -> int:
    """Measure runs by the measures of their world; or what language models took.

    Of mining: property, conflict, efficiency, inequality. Halves are those of the rounds after the
    burn-in, the first tenth. Of a folder, all *.journal files in it are meant; of several journals
    the main measures are shown, and all of them with --csv or --json.

    \b
    Example: goldrush measure run.journal --by-round
    """
    from goldrush.replay.batch import journals_in
    from goldrush.replay.runs import runs_at

    _check(by_round, spells, usage, models_path, as_csv, as_json)
    paths = journals_in(journals)
    if usage:
        return _tell_usage(paths, models_path, by_round, as_json)
    runs = runs_at(paths)  # one at a time: nothing is kept of a run that is told
    if as_json:
        echo_json([_as_dict(run, by_round, spells) for run in runs])
    elif as_csv:
        _print_csv(runs, by_round, spells)
    elif len(paths) > 1 and not by_round and not spells:
        click.echo(_compared(runs))
    else:
        click.echo("\n\n".join([_format(run, by_round, spells) for run in runs]))
    return DONE


def _check(
    by_round: bool, spells: bool, usage: bool, models: str | None, as_csv: bool, as_json: bool
) -> None:
    """Raises BadInput for options that do not go together."""
    from goldrush.kernel.errors import BadInput

    if as_csv and as_json:
        raise BadInput("--csv and --json are two answers", "give one of them")
    if usage and (spells or as_csv):
        given = "--spells" if spells else "--csv"
        raise BadInput(f"--usage has no {given}", "give --json or --by-round, or leave it out")
    if models is not None and not usage:
        raise BadInput("--models has prices for --usage alone", "give --usage, too")
    if as_csv and by_round and spells:
        raise BadInput("--by-round and --spells are two tables", "give one of them with --csv")


def _spells_of(run: Run) -> Spells:
    """The run's spells. Raises BadInput for a world that has none."""
    from goldrush.replay.toolkit import needed

    return needed(run.measures.spells, run.path, "spells")


def _as_dict(run: Run, by_round: bool, spells: bool) -> dict[str, Any]:
    from goldrush.replay.tables import as_dicts, units_table

    vocabulary = run.world.vocabulary
    with run.reporting_forged():
        found = run.measured.as_dict()
    if by_round:
        found[f"by_{vocabulary.unit}"] = as_dicts(units_table(vocabulary, run.measures.known), run)
    if spells or (by_round and run.measures.spells is not None):
        found["spells"] = [spell.as_dict() for spell in _spells_of(run).of(run.measured)]
    return found


def _print_csv(runs: Iterator[Run], by_round: bool, spells: bool) -> None:
    from goldrush.replay.table_files import csv_lines
    from goldrush.replay.tables import figures_table, units_table

    first = next(runs)
    table_of = units_table if by_round else figures_table
    chosen = (
        _spells_of(first).table
        if spells
        else table_of(first.world.vocabulary, first.measures.known)
    )
    # All of it or nothing: half a table would be taken for one.
    echo_csv(list(csv_lines(chosen, chain([first], runs))))


def _compared(runs: Iterator[Run]) -> str:
    """Many runs, one a line."""
    from goldrush.replay.runs import of_one_world

    rows: list[Sequence[str]] = []
    for run in of_one_world(runs):
        found = run.measured
        names = _shown(run.measures.of_runs, found.known)
        rows = rows or [("journal", found.vocabulary.units, *names)]
        values = (_number(found.of(name)) for name in names)
        rows.append((escaped(run.name), str(found.units), *values))
    return _table(rows, 1)


def _shown(chosen: Sequence[str], known: Iterable[str]) -> Sequence[str]:
    return chosen or list(known)[:SHOWN_MAX]


def _format(run: Run, by_round: bool, spells: bool) -> str:
    """One run, in blocks."""
    end = "" if run.measured.finished else ", unfinished"
    head = f"{escaped(run.name)}: {run.measures.head(run.measured)}{end}"
    blocks = [_spells_of(run).format(run.measured) if spells else _measures(run)]
    if by_round:
        blocks.append(_by_unit(run))
    return "\n\n".join([head, *blocks])


def _measures(run: Run) -> str:
    from goldrush.replay.tables import figures_table

    found = run.measured
    number = found.vocabulary.number
    spans = (found.whole, *(found.halves() or (None, None)))
    cells = [f"{number(span.first)}-{number(span.last)}" if span else "-" for span in spans]
    rows: list[Sequence[str]] = [
        ("measure", "run", "first half", "second half"),
        (found.vocabulary.units, *cells),
    ]
    for name, *values in figures_table(found.vocabulary, found.known).own_rows(run):
        rows.append((found.known[name].title, *map(_number, values[:3])))
    return _table(rows, 1)


def _by_unit(run: Run) -> str:
    found = run.measured
    known = [name for name, measure in found.known.items() if measure.by_unit]
    names = _shown(run.measures.of_units, known)
    rows: list[Sequence[str]] = [(found.vocabulary.unit, *names)]
    for place in range(found.units):
        values = (_number(found.values[name][place]) for name in names)
        rows.append((str(found.vocabulary.number(place + 1)), *values))
    return _table(rows, 0)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.4f}"


def _tell_usage(
    paths: Sequence[str], models_path: str | None, by_round: bool, as_json: bool
) -> int:
    from goldrush.agents.llm.budget import prices
    from goldrush.replay.usage import usage

    known = models_of(models_path)
    priced = prices(known, list(known.known))
    found = [usage(path, priced) for path in paths]
    if as_json:
        echo_json([one.as_dict() for one in found])
        return DONE
    for one in found:
        rows = [(str(agent), escaped(model), *_cells(taken)) for agent, model, taken in one.agents]
        click.echo(f"{escaped(one.path)}")
        rows = [("agent", "model", *_HEAD), *rows, ("all", "", *_cells(one.total))]
        click.echo(table(rows, numbers=[0, *range(2, len(rows[0]))]))
        if by_round:
            rows = [(str(round_), *_cells(taken)) for round_, taken in one.rounds]
            click.echo("\n" + _table([("round", *_HEAD), *rows], 0))
    return DONE


def _table(rows: Sequence[Sequence[str]], first_number: int) -> str:
    return table(rows, numbers=range(first_number, len(rows[0])))


def _cells(taken: Any) -> tuple[str, ...]:
    at_least = "at least " if taken.uncounted else ""
    cost = "-" if taken.cost is None else f"{at_least}{taken.cost:.4f}"
    numbers = (taken.tokens_in, taken.tokens_out, taken.uncounted, taken.tries)
    return (str(taken.answers), _errors(taken.errors), *(f"{n:,}" for n in numbers), cost)


def _errors(errors: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {escaped(error)}" for error, count in errors.items()) or "0"
