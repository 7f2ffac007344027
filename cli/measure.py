"""`goldrush measure`: figures from journals."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from goldrush.cli.codes import DONE
from goldrush.cli.models import models_file, models_of
from goldrush.cli.text import echo_json
from goldrush.kernel.text import escaped
from goldrush.replay.text import table

if TYPE_CHECKING:
    from goldrush.replay.tables import Run

# What of many journals, or of many rounds, has room in a terminal.
_MAIN = ("turnover", "raid_rate", "targeting", "efficiency", "idle", "respect", "gini", "hhi")
_OF_RUNS = ("turnover", "survival", *_MAIN[1:])
_HEAD = ("answers", "without plan", "tokens in", "tokens out", "uncounted", "tries", "cost")


@click.command()
@click.argument("journals", nargs=-1, required=True, type=click.Path(), metavar="JOURNAL...")
@click.option("--by-round", is_flag=True, help="By round, too.")
@click.option("--spells", is_flag=True, help="List who held which plot, from when to when.")
@click.option("--usage", is_flag=True, help="What language models took, by agent.")
@models_file
@click.option("--csv", "as_csv", is_flag=True, help="Print everything as CSV, a row a measure.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def measure(
    journals: tuple[str, ...],
    by_round: bool,
    spells: bool,
    usage: bool,
    models_path: str | None,
    as_csv: bool,
    as_json: bool,
) -> int:
    """Measure runs: property, conflict, efficiency, inequality; or what language models took.

    Halves are those of the rounds after the burn-in, the first tenth. Of a folder, all *.journal
    files in it are meant; of several journals the main measures are shown, and all of them with
    --csv or --json. All but --usage needs goldrush[stats].

    \b
    Example: goldrush measure run.journal --by-round
    """
    from goldrush.replay.batch import journals_in

    _check(by_round, spells, usage, models_path, as_csv, as_json)
    paths = journals_in(journals)
    if usage:
        return _tell_usage(paths, models_path, by_round, as_json)
    runs = map(_run, paths)  # one at a time: nothing is kept of a run that is told
    if as_json:
        echo_json([_as_dict(run, by_round, spells) for run in runs])
    elif as_csv:
        _print_csv(runs, by_round, spells)
    elif len(paths) > 1 and not by_round and not spells:
        click.echo(_compared(runs))
    else:
        click.echo("\n\n".join([_told(run, by_round, spells) for run in runs]))
    return DONE


def _run(path: str) -> Run:
    from goldrush.replay.tables import Run
    from goldrush.replay.toolkit import needed, toolkit_at

    needed(toolkit_at(path).measures, path, "measures")
    return Run(path)


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


def _as_dict(run: Run, by_round: bool, spells: bool) -> dict[str, Any]:
    from goldrush.replay.tables import as_dict

    return as_dict(run, by_round=by_round, spells=by_round or spells)


def _print_csv(runs: Iterator[Run], by_round: bool, spells: bool) -> None:
    from goldrush.replay.table_files import csv_lines
    from goldrush.replay.tables import FIGURES, MEASURED, SPELLS

    chosen = MEASURED if by_round else SPELLS if spells else FIGURES
    # All of it or nothing: half a table would be taken for one.
    sys.stdout.buffer.write("".join(csv_lines(chosen, runs)).encode())


def _compared(runs: Iterator[Run]) -> str:
    """Many runs, one a line."""
    rows: list[Sequence[str]] = [("journal", "rounds", *_OF_RUNS)]
    for run in runs:
        found = run.measured
        values = (_number(found.of(name)) for name in _OF_RUNS)
        rows.append((escaped(run.name), str(found.rounds), *values))
    return _table(rows, 1)


def _told(run: Run, by_round: bool, spells: bool) -> str:
    """One run, in blocks."""
    blocks = [_spells(run) if spells else _measures(run)]
    if by_round:
        blocks.append(_rounds(run))
    return "\n\n".join([_head(run), *blocks])


def _head(run: Run) -> str:
    found = run.measured
    config = found.config
    end = "" if found.finished else ", unfinished"
    return (
        f"{escaped(run.name)}: {found.rounds} rounds of {config.agents} agents, "
        f"pressure {config.pressure:.2f}, seed {config.seed}{end}"
    )


def _measures(run: Run) -> str:
    from goldrush.replay.mining.measures import MEASURES
    from goldrush.replay.tables import FIGURES

    spans = (run.measured.whole, *(run.measured.halves() or (None, None)))
    rows: list[Sequence[str]] = [
        ("measure", "run", "first half", "second half"),
        ("rounds", *(f"{span.first}-{span.last}" if span else "-" for span in spans)),
    ]
    for _, name, *values in FIGURES.rows(run):
        rows.append((MEASURES[name].title, *map(_number, values[:3])))
    return _table(rows, 1)


def _rounds(run: Run) -> str:
    from goldrush.replay.tables import BY_ROUND, MEASURED

    places = [BY_ROUND.index(name) for name in _MAIN]
    rows: list[Sequence[str]] = [("round", *_MAIN)]
    for _, round_, *values in MEASURED.rows(run):
        rows.append((str(round_), *(_number(values[place]) for place in places)))
    return _table(rows, 0)


def _spells(run: Run) -> str:
    rows: list[Sequence[str]] = [
        ("start", "end", "length", "plot", "owner", "gained by", "lost by")
    ]
    for spell in run.measured.spells:
        lost = "still held" if spell.lost_to is None else f"capture, to {spell.lost_to}"
        numbers = (spell.start, spell.end, spell.length, spell.plot, spell.owner)
        rows.append((*map(str, numbers), spell.gained, lost))
    return table(rows, numbers=range(5))


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
