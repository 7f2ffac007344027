"""Personas in a table: a CSV file, whose column `persona` has texts that agents are shown.

With a column `agent` each row is that of one agent. Without it each agent gets a row drawn by the
run's seed. A journal has the text of each agent and not the file, which nothing reads again.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from msgspec.structs import replace

from goldrush.agents.llm.model import Framing, check
from goldrush.agents.llm.options import FIRST, FRAMING, PERSONAS, SAMPLING
from goldrush.agents.roster import Entry
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.files import read_input
from goldrush.kernel.records import Record

E = TypeVar("E", bound=Entry)

ROWS_MAX: Final = 10_000
FILE_MAX: Final = 1 << 23  # bytes of a file
_ORDER: Final = (*FIRST, *SAMPLING, *FRAMING)
_HOW: Final = "give a CSV file with a column persona, and agent if each row is for one"


class Personas(Record, frozen=True):
    """The rows of a file. `texts`: by agent; if they are drawn by row, from 0."""

    path: str
    texts: Mapping[int, str]
    are_drawn: bool

    def of(self, entry: Entry, seed: int) -> str:
        """The persona of an agent in a run of this seed. Raises BadInput for one without a row."""
        at = entry.agent
        if self.are_drawn:
            at = Draws(seed, 0, at, "persona").below(len(self.texts))
        if at not in self.texts:
            raise BadInput(f"{self.path} has no row for agent {at}", "add one")
        return self.texts[at]


def with_personas(entries: Sequence[E], tables: Mapping[int, Personas], seed: int) -> Sequence[E]:
    """New agents, each with its persona in a run of this seed. `tables`: of those that have one
    from a file, by agent. Raises BadInput for an agent without a row.
    """

    def given(entry: E) -> E:
        if entry.agent not in tables:
            return entry
        options = {**entry.options, "persona": tables[entry.agent].of(entry, seed)}
        ordered = {name: options[name] for name in _ORDER if name in options}
        return replace(entry, options={**ordered, **options})

    return tuple(map(given, entries))


def personas_in(path: object, where: str) -> Personas:
    """The personas in a file that a roster names. `where`: the text that names it. Raises BadInput,
    with the line, for a file that cannot be used.
    """
    if type(path) is not str or not path.endswith(".csv"):
        raise BadInput(f"{where}: {PERSONAS} is {format_value(path)}", "it must be FILE.csv")
    text = read_input(path, FILE_MAX, _HOW).removeprefix("\ufeff")
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    texts: dict[int, str] = {}
    try:
        header = [*reader.fieldnames] if reader.fieldnames else []
        if header.count("persona") != 1 or header.count("agent") > 1:
            raise BadInput(f"its header is {format_value(','.join(header))}", _HOW)
        for row in reader:
            if None in row or None in row.values():
                raise BadInput("it has more or fewer columns than the header", "quote texts")
            _add(texts, row)
    except BadInput as error:
        raise BadInput(f"{path}, line {reader.line_num}: {error.what}", error.instead) from None
    except csv.Error as error:
        raise BadInput(f"{path}, line {reader.line_num}: {error}", _HOW) from None
    if not texts:
        raise BadInput(f"{path} has no row below its header", _HOW)
    return Personas(path, texts, "agent" not in header)


def _add(texts: dict[int, str], row: Mapping[str, str]) -> None:
    """Add a row. Raises BadInput."""
    text, agent = row["persona"], row.get("agent", str(len(texts))).strip()
    check(Framing, "persona", text, "persona")
    if len(texts) == ROWS_MAX:
        raise BadInput(f"there are over {ROWS_MAX:,} rows", "leave some out")
    if not re.fullmatch("[0-9]{1,6}", agent):
        raise BadInput(f"agent is {format_value(agent)}", "it must be a number from 0")
    if int(agent) in texts:
        raise BadInput(f"agent {agent} has two rows", "leave one out")
    if "agent" not in row and text in texts.values():
        raise BadInput("an earlier row has this persona, too", "leave it out, or number the agents")
    texts[int(agent)] = text
