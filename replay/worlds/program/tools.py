"""The tools of programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from goldrush.kernel.shape import TEXT, several
from goldrush.kernel.text import quoted
from goldrush.kernel.world import World
from goldrush.kernel.worlds.program.state import ProgramState
from goldrush.kernel.worlds.program.world import program_world
from goldrush.replay.tools import Description, Tools, lazy


class ProgramTools(Tools):
    """What can be done with recorded programs."""

    measures = lazy("goldrush.replay.worlds.program.measures:MEASURES")
    exchanges = lazy("goldrush.replay.worlds.program.prompts:prompted")
    answers = lazy("goldrush.replay.worlds.program.usage:answers_in")
    view = lazy("goldrush.replay.worlds.program.page:VIEW")
    fields = lazy("goldrush.replay.worlds.program.page:fields_of")
    differing = lazy("goldrush.replay.worlds.program.differing:differing")
    by_number = False
    asks_policies = False
    recorded_by = "put the program behind --: goldrush record --out run.journal -- python sim.py"

    def world(self, setup: Mapping[str, object]) -> World[ProgramState]:
        return program_world(missing=f"the program was not run; add{self.code_of(setup)} to run it")

    def code_of(self, setup: Mapping[str, object]) -> str:
        return f" -- {_command(setup) or 'COMMAND'}"

    def fork_at(self, last: int) -> int:
        return last + 1  # the first exchange that is another

    def about(self, setup: Mapping[str, object]) -> Description:
        return Description(facts=[("subject", _command(setup))])


def _command(setup: Mapping[str, object]) -> str:
    words: Any = setup.get("command")
    return " ".join(map(quoted, words)) if several(TEXT).holds(words) else ""


TOOLS: Final = ProgramTools()
