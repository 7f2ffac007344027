"""Tables of journals for other programs: events, units, measures, and whatever a world has beside.

Many journals become one table. Every row begins with what tells runs apart: the journal's path as
it was given, treatment, roster and seed. The columns of a table are the same for every journal of a
world, so that files made apart can be put together; replay/TABLES.md lists them. Rows are made one
by one and written in batches: thousands of runs are never held at once, only the one that is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.kernel.errors import BadInput
from goldrush.kernel.world import Vocabulary, World
from goldrush.replay.columns import REAL, TEXT, WHOLE, Column, free_name
from goldrush.replay.measures import Measure
from goldrush.replay.run_data import RunData
from goldrush.replay.toolkit import Toolkit

Row = Sequence[Any]

FRONT: Final = (
    Column("journal", TEXT, "", "the path of the journal, as it was given"),
    Column("treatment", TEXT, "", "that of the study in whose folder the journal lies; else null"),
    Column("roster", TEXT, "", "the roster's name in that study; else who plays; null: not known"),
    Column("seed", WHOLE, "", "the run's seed; the last one, where a fork changed it"),
)
_TAKEN: Final = tuple(column.name for column in FRONT)


@attrs.frozen
class Table:
    """A table: what a row of it is, its columns behind those that all tables have (`own`), and what
    they hold of a run (`own_rows`), in order.
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
        """The rows of a run. Raises what reading a journal raises."""
        with run.reporting_forged():
            front = attrs.astuple(run.front)
            for row in self.own_rows(run):
                yield (*front, *row)


def tables_of(
    toolkit: Toolkit, world: World[Any], names: Iterable[str] | None = None
) -> list[Table]:
    """The tables of a world's journals, or those of these names: its events; its units, if it has
    measures; and those of its own. Raises BadInput for a table that the world does not have.
    """
    from goldrush.replay.events_table import events_table

    by_name = {table.name: table for table in [events_table(world, toolkit)]}
    if toolkit.measures is not None:
        units = units_table(world.vocabulary, toolkit.measures().known)
        by_name[units.name] = units
    if toolkit.tables is not None:
        by_name |= {table.name: table for table in toolkit.tables().own}
    for name in names or ():
        if name not in by_name:
            raise BadInput(
                f"journals of the {world.name} world have no table {name!r}",
                f"take one of {', '.join(by_name)}",
            )
    return [by_name[name] for name in names or by_name]


def units_table(words: Vocabulary, known: Mapping[str, Measure]) -> Table:
    """The measures of every unit of a run (`goldrush measure --csv --by-round`)."""
    names = [name for name, measure in known.items() if measure.by_unit]

    def rows(run: RunData) -> Iterator[Row]:
        values = run.measured.values
        for place in range(run.measured.units):
            yield (words.number(place + 1), *(values[name][place] for name in names))

    return Table(
        words.units,
        f"a closed {words.unit}; measures are null where they are undefined",
        [unit_column(words), *measure_columns(words, known)],
        rows,
    )


def unit_column(words: Vocabulary) -> Column:
    """The column of a unit's number."""
    says = f"the {words.unit}, from {words.first} on"
    return Column(free_name(words.unit, _TAKEN), WHOLE, "", says)


def measure_columns(words: Vocabulary, known: Mapping[str, Measure]) -> list[Column]:
    """A column for each measure that a single unit has."""
    taken = (*_TAKEN, words.unit)
    return [
        Column(free_name(name, taken), REAL, "", f"{measure.title}. {measure.definition}")
        for name, measure in known.items()
        if measure.by_unit
    ]


_WITHOUT: Final = "of all of them, without a burn-in"


def figures_table(words: Vocabulary, known: Mapping[str, Measure]) -> Table:
    """The measures of a run and of its halves (`goldrush measure --csv`)."""

    def rows(run: RunData) -> Iterator[Row]:
        measured = run.measured
        for name in known:
            halves = (measured.compared(name, burn_in=burn_in) for burn_in in (True, False))
            yield (name, measured.of(name), *(value for pair in halves for value in pair))

    others = " or ".join(name for name, measure in known.items() if not measure.by_unit)
    at_end = " and ".join(name for name, measure in known.items() if measure.at_end)
    return Table(
        "measures",
        "a measure of a run (`goldrush measure --csv`)",
        [
            Column(
                "measure", TEXT, "",
                f"its name: a measure of `{words.units}`" + (f", {others}" if others else ""),
            ),
            Column(
                "run", REAL, "",
                f"over the run: the mean of the {words.units}"
                + (f", for {at_end} the end" if at_end else ""),
            ),
            Column("first_half", REAL, "",
                   f"of the {words.units} after the burn-in, the first tenth"),
            Column("second_half", REAL, "", f"of the same {words.units}"),
            Column("first_half_without_burn_in", REAL, "", _WITHOUT),
            Column("second_half_without_burn_in", REAL, "", _WITHOUT),
        ],
        rows,
    )  # fmt: skip


def as_dicts(table: Table, run: RunData) -> list[dict[str, Any]]:
    """The rows of a run for JSON, without what all of them begin with."""
    names = [column.name for column in table.own]
    with run.reporting_forged():
        return [dict(zip(names, row, strict=True)) for row in table.own_rows(run)]
