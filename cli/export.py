"""`goldrush export`: journals as JSON lines or tables, for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from goldrush.cli.command import command, option
from goldrush.cli.options import (
    Journals,
    Output,
    OwnMeasures,
    journals_of,
    measures_of,
    refuse,
)
from goldrush.cli.progress import progress
from goldrush.cli.text import echo_exact, echo_json_line
from goldrush.kernel.text import escaped

if TYPE_CHECKING:
    from goldrush.replay.data.user_functions import UserMeasure

JSONL, CSV, PARQUET = "jsonl", "csv", "parquet"


@command()
def export(
    *,
    journals: Journals,
    format_: str | None = option(
        "--format", help="jsonl: the events of one journal, one JSON object per line (default; csv "
        "with options of tables).", type=click.Choice([JSONL, CSV, PARQUET]),
    ),
    table: str | None = option("--table", "NAME", "Table to write (default: all of the world)."),
    out: str | None = option("--out", "DIR", "Folder of the tables.", type=Output("folder")),
    own_measures: OwnMeasures,
    force: bool = option("--force", help="Replace earlier tables."),
) -> None:  # fmt: skip
    """Convert journals to JSON lines, CSV or Parquet.

    Prints the events of one journal as JSON lines, or writes tables. Tables: events;
    rounds (or other units) and measures, if the world has measures; and those of the world; their
    columns: `goldrush columns`. Of a folder, all *.journal files in and below it are converted. A
    single CSV table is printed if there is no --out. Parquet needs goldrush-sim[tables].

    \b
    Examples:
      goldrush export run.journal > events.jsonl
      goldrush export journals --format parquet --out tables
    """
    from goldrush.kernel.errors import BadInput
    from goldrush.replay.run import Run

    users = measures_of(own_measures)
    paths = journals_of(journals)
    names = None if table is None else [table]
    format_ = format_ or (CSV if table or out or own_measures else JSONL)
    if format_ == JSONL:
        tables = {"--table": table, "--measure": own_measures, "--out": out, "--force": force}
        refuse(tables, "jsonl has no tables; --format csv and parquet have")
        if len(paths) > 1:
            raise BadInput(
                f"jsonl takes one journal, and {len(paths)} were given", "give one, or --format csv"
            )
        for event in Run(paths[0]).events():
            echo_json_line(event.as_dict())
    elif out is not None:
        from goldrush.replay.data.encoded import write_tables

        with progress() as step:
            every = len(paths)
            rows = write_tables(
                paths, out, format_, names=names, users=users, force=force,
                on_run=lambda done: step("journal", done, every),
            )  # fmt: skip
        for path, count in rows.items():
            click.echo(f"{escaped(path)}: {count:,} rows")
    else:
        refuse({"--force": force}, "only --out has something to replace")
        if format_ == PARQUET:
            raise BadInput("parquet cannot be printed", "give --out, a folder for the tables")
        _print(paths, names, users)


def _print(paths: Sequence[str], names: Sequence[str] | None, users: Sequence[UserMeasure]) -> None:
    from goldrush.kernel.errors import BadInput
    from goldrush.replay.data.encoded import csv_table
    from goldrush.replay.data.run_data import run_at
    from goldrush.replay.data.tables import tables_of

    first = run_at(paths[0])
    tables = tables_of(first.tools, first.world, names)
    if len(tables) > 1:
        known = ", ".join(one.name for one in tables)
        raise BadInput(
            f"{len(tables)} tables cannot be printed at once",
            f"give --out, a folder, or one --table: {known}",
        )
    echo_exact(csv_table(paths, tables[0].name, users))
