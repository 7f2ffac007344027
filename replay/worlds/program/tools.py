"""The tools of programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from goldrush.kernel.shape import TEXT, several
from goldrush.kernel.text import quoted
from goldrush.kernel.world import World
from goldrush.kernel.worlds.program.state import ProgramState
from goldrush.kernel.worlds.program.values import shown
from goldrush.kernel.worlds.program.world import program_world
from goldrush.replay.tools import ClosedUnit, Description, Tools, lazy
from goldrush.replay.worlds.program.texts import response_of, text_of


class ProgramTools(Tools):
    """What can be done with recorded programs."""

    measures = lazy("goldrush.replay.worlds.program.measures:MEASURES")
    exchanges = lazy("goldrush.replay.worlds.program.prompts:prompted")
    tables = lazy("goldrush.replay.worlds.program.measures:TABLES")
    answers = lazy("goldrush.replay.worlds.program.usage:answers_in")
    asks_policies = False
    recorded_by = (
        "put the program behind --: goldrush record --out run.journal -- python sim.py; "
        "goldrush verify judges it"
    )

    def world(self, setup: Mapping[str, object]) -> World[ProgramState]:
        command = _command(setup) or "COMMAND"
        missing = f"the program was not run; `goldrush verify JOURNAL -- {command}` runs it"
        return program_world(missing=missing)

    def about(self, setup: Mapping[str, object]) -> Description:
        return Description(facts=[("subject", _command(setup))])

    def fields(self, unit: ClosedUnit) -> Mapping[str, object]:
        state: ProgramState = unit.state
        exchange: dict[str, object] = {}
        if state.asked is not None and state.answered is not None:
            response = response_of(state, state.answered)
            body = b"".join(response.chunks).decode("utf-8", "replace")
            exchange = {
                "caller": state.asked[0],
                "request": state.seen.plain(state.asked[-1]),
                "status": response.status,
                "answer": text_of(response) or body,
            }
        fields = {
            **exchange,
            "tokens of requests": state.tokens.input,
            "tokens of answers": state.tokens.output,
            **{f"note {name}": value for name, value in state.notes.items()},
        }
        # Bodies may be bytes, and a note NaN.
        found: Mapping[str, object] = json.loads(
            json.dumps(fields, default=shown), parse_constant=str
        )
        return found


def _command(setup: Mapping[str, object]) -> str:
    words: Any = setup.get("command")
    return " ".join(map(quoted, words)) if several(TEXT).holds(words) else ""


TOOLS: Final = ProgramTools()
