"""Asks the cast of a recorded season again, to check that its acts are the recorded ones.

Scripted agents are asked again, and trials and tests are run again.

A time limit makes a result depend on the speed of the machine. So if a run was ended by it in only
one of the two plays, the recorded result stands, and the run is named as one that was not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from goldrush.agents.llm.question import Question
from goldrush.agents.players import Facts
from goldrush.agents.seats import classified
from goldrush.agents.session import asked_again
from goldrush.agents.worlds.competition.bench import NO_OUTPUT, Request, Result, Tests
from goldrush.agents.worlds.competition.cast import POLICY_SET
from goldrush.agents.worlds.competition.play import SeasonPlay, replaced_turns
from goldrush.agents.worlds.competition.script import ReplacedTurns, Scripts
from goldrush.agents.worlds.competition.seats import roster_of, seats_at, seats_of
from goldrush.kernel.errors import format_value
from goldrush.kernel.world import Batch, Block, Row
from goldrush.kernel.worlds.competition import arrange
from goldrush.kernel.worlds.competition.events import (
    CODES,
    Debriefed,
    Interviewed,
    Tested,
    Tried,
    named,
)
from goldrush.kernel.worlds.competition.evolve import acts_in
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import Status


class SeasonCheck:
    """The acts of a step again, from the state before it and the recorded acts.

    User-defined policies that are not in `trust` cannot be asked, because a journal must not run
    code by naming it. A script depends on the answers, so after a question to such an agent the
    rest of the step is taken from the record; only tests of claims are run again.

    Attributes:
        not_asked: agents whose policy is not available here, as text.
        unknown: agents that this version does not know.
        unjudged: the runs so far that cannot be compared with the record.
    """

    def __init__(
        self,
        state: SeasonState,
        tests: Tests,
        forks: Sequence[Facts] = (),
        trust: Sequence[str] = (),
        on_prompt: Callable[[SeasonPlay, Question, Row | None], None] | None = None,
    ) -> None:
        """Sort the agents by whether they can be asked. `state` is that after the START or FORK
        that named the cast, `forks` the fields of the FORK commits so far.

        Raises ImpossiblePlayer for an agent that no season has.
        """
        self._on_prompt = on_prompt
        self._scripts = Repeated(tests, replaced_turns(forks))
        self.unjudged = self._scripts.unjudged
        present = [agent for agent in state.agents.values() if agent.status != Status.GONE]
        self._roster = msgspec.structs.replace(roster_of(state.agents.values()), trust=trust)
        # Who joined before a fork has the text of its wording, too, until a fork names a cast.
        is_named = not forks or forks[-1]["cast"] is not None
        seats = [
            seat
            for agent in present
            for seat in (seats_of(agent) if is_named else seats_at(agent, state))
        ]
        followed = ", and what followed in its steps"
        _, self.not_asked, self.unknown = classified(POLICY_SET, self._roster, followed, seats)

    def __call__(
        self, state: SeasonState, recorded: Block, *, is_whole: bool = True
    ) -> Sequence[Batch]:
        """The acts of a step: see session.asked_again. Raises PolicyFailed if a policy fails."""
        self._scripts.read(acts_in(recorded.batches))
        play = SeasonPlay(state, self._scripts, self._roster.trust, self._roster)
        on_prompt = self._on_prompt and partial(self._on_prompt, play)
        acts = asked_again(play, recorded, is_whole=is_whole, on_prompt=on_prompt)
        return arrange(Block(acts)).batches


_PAIRS: Final = (CODES[Debriefed], CODES[Interviewed])
_KINDS: Final = {CODES[Tried]: Tried, CODES[Tested]: Tested}
_INSTEAD: Final = "verify again where the program is as fast as it was, with --jobs 1"


class Repeated(Scripts):
    """The scripts of a recorded season. `unjudged`: as of `SeasonCheck`."""

    def __init__(self, tests: Tests, replaced: ReplacedTurns | None = None) -> None:
        super().__init__(tests, replaced)
        self.unjudged: list[str] = []
        self._recorded: Mapping[object, Tried | Tested] = {}
        self._unanswered: set[object] = set()  # lists of questions

    def read(self, acts: Sequence[tuple[int, Row]]) -> None:
        """Take the recorded acts of the next step."""
        pairs = [named(code, row) for code, row in acts if code in _PAIRS]
        self._unanswered = {pair.questions for pair in pairs if pair.answers == ()}
        if self.tests.bench.time_limit is not None:
            rows = [_KINDS[code](*row) for code, row in acts if code in _KINDS]
            self._recorded = {
                (row.conduct, row.treatment, tuple(seed for seed, _ in row.runs)): row
                for row in rows
            }

    def paired(self, questions: Any, answers: Any) -> Any:
        """As of `Scripts`, or without answers if the record has none, as in older seasons."""
        if answers == () and questions in self._unanswered:
            return answers
        return super().paired(questions, answers)

    def values(self, requests: Sequence[Request]) -> Sequence[Result]:
        """The results of trials or tests; the recorded one if the two cannot be compared."""
        results = super().values(requests)
        return [self._compared(*pair) for pair in zip(requests, results, strict=True)]

    def _compared(self, request: Request, result: Result) -> Result:
        row = self._recorded.get((request.conduct, request.treatment, tuple(request.seeds)))
        if row is None:
            return result
        causes = []
        for (seed, digest), (_, recorded) in zip(result[1], row.runs, strict=True):
            if digest == recorded:
                continue
            task = (request.conduct, request.treatment, request.objective, seed)
            if task in self.tests.timed_out:
                causes.append("was ended")
            elif row.value is None and recorded == NO_OUTPUT:
                causes.append("may have been ended when it was recorded")
            else:  # two results, and they differ
                return result
        if not causes:
            return result
        kind = "tried" if isinstance(row, Tried) else "tested"
        self.unjudged.append(
            f"{kind} {format_value(request.conduct)}: a run {causes[0]} by the time limit of "
            f"{self.tests.bench.time_limit:g} s, so its result cannot be compared: {_INSTEAD}"
        )
        return row.value, row.runs
