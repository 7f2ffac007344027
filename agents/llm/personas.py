"""Personas in a table: a CSV file, whose column `persona` has texts that agents are shown.

With a column `agent` each row is that of one agent. Without it each agent gets a row drawn by the
run's seed. A journal has the text of each agent and not the file, which nothing reads again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from goldrush.agents.llm.options import PERSONAS
from goldrush.agents.roster import Persona
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.files import read_input

ROWS_MAX: Final = 10_000
FILE_MAX: Final = 1 << 23  # bytes of a file
_HOW: Final = "give a CSV file with a column persona, and agent if each row is for one"


def personas_in(path: object, where: str) -> Persona:
    """The personas in a file that a roster names, as a function that raises BadInput for an agent
    without a row. `where`: the text that names it. Raises BadInput, with the line, for a file that
    cannot be used.
    """
    import csv
    import io

    if type(path) is not str or not path.endswith(".csv"):
        raise BadInput(f"{where}: {PERSONAS} is {format_value(path)}", "it must be FILE.csv")
    text = read_input(path, FILE_MAX, _HOW).removeprefix("\ufeff")
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    texts: dict[str, str] = {}
    try:
        header = [*reader.fieldnames] if reader.fieldnames else []
        if header.count("persona") != 1 or header.count("agent") > 1:
            raise BadInput(f"its header is {format_value(','.join(header))}", _HOW)
        for row in reader:
            _add(texts, row)
    except BadInput as error:
        raise BadInput(f"{path}, line {reader.line_num}: {error.what}", error.instead) from None
    except csv.Error as error:
        raise BadInput(f"{path}, line {reader.line_num}: {error}", _HOW) from None
    if not texts:
        raise BadInput(f"{path} has no row below its header", _HOW)

    def persona(agent: int, seed: int) -> str:
        key = str(agent)
        if "agent" not in header:
            key = [*texts][Draws(seed, 0, agent, "persona").below(len(texts))]
        if key not in texts:
            raise BadInput(f"{path} has no row for agent {agent}", "add one")
        return texts[key]

    return persona


def _add(texts: dict[str, str], row: Mapping[str | None, Any]) -> None:
    """Add a row. Raises BadInput."""
    from goldrush.agents.llm.model import Framing, check

    if None in row or None in row.values():
        raise BadInput("it has more or fewer columns than the header", "quote texts")
    check(Framing, "persona", row["persona"], "persona")
    key = row.get("agent", row["persona"])
    if "agent" in row and not re.fullmatch("0|[1-9][0-9]{0,5}", key):
        raise BadInput(f"agent is {format_value(key)}", "write its number: 0")
    if key in texts:
        raise BadInput("an earlier row is for the same agent or persona", "leave one out")
    if len(texts) == ROWS_MAX:
        raise BadInput(f"there are over {ROWS_MAX:,} rows", "leave some out")
    texts[key] = row["persona"]
