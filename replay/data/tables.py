"""Tables of journals for other programs: events, units, measures, and tables of each world.

Many journals become one table. Every row begins with the identity of its run: the journal's path as
it was given, treatment, roster and seed. The columns are the same for all journals of a world, so
that separate files can be joined; replay/TABLES.md lists them. Rows are made one by one and written
in batches: of thousands of runs only one is held in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.kernel.errors import BadInput
from goldrush.kernel.world import Vocabulary, World
from goldrush.replay.data.columns import REAL, TEXT, WHOLE, Column, free_name
from goldrush.replay.data.measures import Measure
from goldrush.replay.data.run_data import RunData
from goldrush.replay.toolkit import Toolkit

Row = Sequence[Any]

FRONT: Final = (
    Column("journal", TEXT, "", "the path of the journal, as it was given"),
    Column("treatment", TEXT, "", "the treatment in the study whose folder holds it; else null"),
    Column("roster", TEXT, "", "the roster's name in that study; else as text; null: unknown"),
    Column("seed", WHOLE, "", "the run's seed; the last one, where a fork changed it"),
)
_TAKEN: Final = tuple(column.name for column in FRONT)


@attrs.frozen
class Table:
    """A table.

    Attributes:
        name: its name.
        description: what a row is.
        own: its columns after those that all tables have.
        own_rows: the rows of a run in these columns, in order.

    """

    name: str
    description: str
    own: Sequence[Column]
    own_rows: Callable[[RunData], Iterator[Row]]

    @property
    def columns(self) -> Sequence[Column]:
        """All columns."""
        return [*FRONT, *self.own]

    def rows(self, run: RunData) -> Iterator[Row]:
        """The rows of a run. Raises JournalError as reading a journal does."""
        with run.reporting_forged():
            front = attrs.astuple(run.front)
            for row in self.own_rows(run):
                yield (*front, *row)


def tables_of(
    toolkit: Toolkit, world: World[Any], names: Iterable[str] | None = None
) -> list[Table]:
    """The tables of a world's journals: its events, its units and measures (if it has measures),
    and its own tables.

    Args:
        toolkit: the world's toolkit.
        world: the world.
        names: the names of the wanted tables; None: all.

    Raises:
        BadInput: for a table that the world does not have.

    """
    from goldrush.replay.data.events_table import events_table

    found = [events_table(world, toolkit)]
    if toolkit.measures is not None:
        known = toolkit.measures().known
        found += [units_table(world.vocabulary, known), figures_table(world.vocabulary, known)]
    by_name = {table.name: table for table in found}
    if toolkit.tables is not None:
        by_name |= {table.name: table for table in toolkit.tables().own}
    for name in names or ():
        if name not in by_name:
            raise BadInput(
                f"journals of the {world.name} world have no table {name!r}",
                f"take one of {', '.join(by_name)}",
            )
    return [by_name[name] for name in names or by_name]


def units_table(vocabulary: Vocabulary, known: Mapping[str, Measure]) -> Table:
    """The measures of every unit of a run (`goldrush measure --by-round --csv`)."""
    names = [name for name, measure in known.items() if measure.by_unit]

    def rows(run: RunData) -> Iterator[Row]:
        values = run.measured.values
        for index in range(run.measured.units):
            yield (vocabulary.number(index + 1), *(values[name][index] for name in names))

    return Table(
        vocabulary.units,
        f"a closed {vocabulary.unit}; measures are null where they are undefined",
        [unit_column(vocabulary), *measure_columns(vocabulary, known)],
        rows,
    )


def unit_column(vocabulary: Vocabulary) -> Column:
    """The column of a unit's number."""
    text = f"the {vocabulary.unit}, from {vocabulary.first} on"
    return Column(free_name(vocabulary.unit, _TAKEN), WHOLE, "", text)


def measure_columns(vocabulary: Vocabulary, known: Mapping[str, Measure]) -> list[Column]:
    """A column for each measure that a single unit has."""
    taken = (*_TAKEN, vocabulary.unit)
    return [
        Column(free_name(name, taken), REAL, "", f"{measure.title}. {measure.definition}")
        for name, measure in known.items()
        if measure.by_unit
    ]


_WITHOUT: Final = "of all of them, without burn-in"


def figures_table(vocabulary: Vocabulary, known: Mapping[str, Measure]) -> Table:
    """The measures of a run and of its halves (`goldrush measure --by-run --csv`)."""

    def rows(run: RunData) -> Iterator[Row]:
        measured = run.measured
        for name in known:
            halves = (measured.compared(name, burn_in=burn_in) for burn_in in (True, False))
            yield (name, measured.of(name), *(value for pair in halves for value in pair))

    others = " or ".join(name for name, measure in known.items() if not measure.by_unit)
    at_end = " and ".join(name for name, measure in known.items() if measure.at_end)
    return Table(
        "measures",
        "a measure of a run (`goldrush measure --by-run --csv`)",
        [
            Column(
                "measure", TEXT, "",
                f"its name: a measure of `{vocabulary.units}`" + (f", {others}" if others else ""),
            ),
            Column(
                "run", REAL, "",
                f"over the run: the mean of the {vocabulary.units}"
                + (f", for {at_end} the end" if at_end else ""),
            ),
            Column("first_half", REAL, "",
                   f"of the {vocabulary.units} after the burn-in, the first tenth"),
            Column("second_half", REAL, "", f"of the same {vocabulary.units}"),
            Column("first_half_without_burn_in", REAL, "", _WITHOUT),
            Column("second_half_without_burn_in", REAL, "", _WITHOUT),
        ],
        rows,
    )  # fmt: skip


def as_dicts(table: Table, run: RunData) -> list[dict[str, Any]]:
    """The rows of a run for JSON, without the columns that all tables have."""
    names = [column.name for column in table.own]
    with run.reporting_forged():
        return [dict(zip(names, row, strict=True)) for row in table.own_rows(run)]
