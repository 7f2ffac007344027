"""The tools of programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from goldrush.kernel import fold
from goldrush.kernel.errors import JournalError
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import quoted
from goldrush.kernel.world import EventType, World
from goldrush.kernel.worlds.program.events import ASKED
from goldrush.kernel.worlds.program.state import ProgramState
from goldrush.kernel.worlds.program.world import program_world
from goldrush.replay.sentences import EventSentences
from goldrush.replay.tools import ClosedUnit, Description, Tools, lazy
from goldrush.replay.worlds.program.texts import response_of, text_of


class ProgramTools(Tools):
    """What can be done with recorded programs."""

    measures = lazy("goldrush.replay.worlds.program.measures:MEASURES")
    view = lazy("goldrush.replay.worlds.program.page:VIEW")
    asks_policies = False
    recorded_by = "put the program behind --: goldrush record --out run.journal -- python sim.py"

    def world(self, setup: Mapping[str, object]) -> World[ProgramState]:
        command = _command(setup) or "COMMAND"
        missing = f"the program was not run; `goldrush verify JOURNAL -- {command}` runs it"
        return program_world(missing=missing)

    def about(self, setup: Mapping[str, object]) -> Description:
        return Description(facts=[("subject", _command(setup))])

    def sentences(
        self, path: str | Path, types: Iterable[EventType]
    ) -> Callable[[], EventSentences]:
        callers: dict[str, None] = {}
        with suppress(JournalError, *fold.REFUSED), JournalReader(path) as reader:
            for commit in reader:
                for block in commit.blocks:
                    callers.update((row[0] or "(unnamed)", None) for row in block.rows(ASKED))
        names = dict(enumerate(callers))
        return lambda: EventSentences(types, self.vocabulary, names=names)

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
        return {
            **exchange,
            "tokens of requests": state.tokens.input,
            "tokens of answers": state.tokens.output,
            **{f"note {name}": value for name, value in state.notes.items()},
        }


def _command(setup: Mapping[str, object]) -> str:
    words = setup.get("command")
    return " ".join(map(quoted, words)) if isinstance(words, tuple) else ""


TOOLS: Final = ProgramTools()
