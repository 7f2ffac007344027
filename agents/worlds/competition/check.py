"""Asks the cast of a recorded season again, to check that its acts are the recorded ones.

Scripted agents are asked again, and trials and tests are run again. Models and people are not
asked: their recorded answers are read again, and the digest of each prompt is checked against the
prompt as it is made now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from goldrush.agents.askable import Askable, Player, UnknownPlayer, classify_players
from goldrush.agents.llm.models import LLM
from goldrush.agents.session import Asked
from goldrush.agents.worlds.competition.answers import Recorded, missing, reread
from goldrush.agents.worlds.competition.bench import Tests
from goldrush.agents.worlds.competition.cast import POLICIES
from goldrush.agents.worlds.competition.prompt import VERSION
from goldrush.agents.worlds.competition.repeated import Repeated
from goldrush.agents.worlds.competition.season import replaced_in
from goldrush.agents.worlds.competition.seats import by_class
from goldrush.agents.worlds.competition.step import ANSWERED, OUTSIDE, Question, Step, batches
from goldrush.kernel.world import Batch, Block, Row
from goldrush.kernel.worlds.competition import arrange
from goldrush.kernel.worlds.competition.evolve import acts_in
from goldrush.kernel.worlds.competition.state import AgentState, SeasonState
from goldrush.kernel.worlds.competition.terms import Status

OnQuestion = Callable[[Question, Row | None], None]


class SeasonCheck:
    """The acts of a step again, from the state before it and the recorded acts.

    User-defined policies that are not in `trust` cannot be asked, because a journal must not run
    code by naming it. A script depends on the answers, so after a question to such an agent the
    rest of the step is taken from the record; only tests of claims are run again.

    Attributes:
        not_asked: descriptions of agents whose policy is not available here.
        unknown: descriptions of agents that this version does not know.
        unjudged: descriptions of the runs so far that cannot be compared with the record.

    """

    def __init__(
        self,
        state: SeasonState,
        tests: Tests,
        forks: Sequence[Mapping[str, Any]] = (),
        trust: Sequence[str] = (),
        on_question: OnQuestion | None = None,
        *,
        reruns: bool = True,
    ) -> None:
        """Sort the agents by whether they can be asked.

        Args:
            state: after the START or FORK that named the cast.
            tests: of the arena.
            forks: the fields of the FORK commits so far.
            trust: names of user-defined policies that may be imported.
            on_question: called with each question, in the form for a model, and the recorded answer
                of a model or person (None: there is none).
            reruns: run trials and tests again; otherwise their recorded results are taken.

        Raises:
            ImpossiblePlayer: for an agent that no season has.

        """
        self._on_question = on_question
        self._scripts = Repeated(tests, replaced_in(forks), reruns=reruns)
        self.unjudged = self._scripts.unjudged
        self._trust = frozenset(trust)
        self._known = Askable(POLICIES, VERSION, self._trust)
        there = [agent for agent in state.agents.values() if agent.status != Status.GONE]
        players = [player for agent in there for player in _players(agent)]
        found = classify_players(players, self._known, ", and what followed in its steps")
        self.not_asked, self.unknown = found.not_asked, found.unknown

    def __call__(self, state: SeasonState, recorded: Block) -> Sequence[Batch]:
        """The acts of the next step. Raises PolicyFailed if a policy fails."""
        return _arranged(self._asked_again(state, recorded, is_whole=True))

    def pending(self, state: SeasonState, recorded: Block) -> Sequence[Batch]:
        """As a call, but only as many acts as are recorded, and none after a missing answer."""
        rows = self._asked_again(state, recorded, is_whole=False)
        return _arranged(rows[: len(acts_in(recorded.batches))])

    def _asked_again(
        self, state: SeasonState, recorded: Block, *, is_whole: bool
    ) -> list[tuple[int, Row]]:
        """The (code, row) of each act and answer of a step.

        An answer that the record does not have counts as missing in a whole step; otherwise the
        step ends before it, because what would follow from it is unknown.
        """
        step = Step(state, self._scripts, self._trust)
        acts = acts_in(recorded.batches)
        self._scripts.read(acts)
        answers = Recorded(acts)
        asked = step.next()
        while asked is not None:
            if not all(self._can_ask(step.agent_of(one)) for one in asked):
                step.follow(acts[len(step.rows) :])
                break
            outside, rows = self._rows(step, asked, answers)
            step.rows += [(ANSWERED, row) for row in rows.values()]
            absent = {at: missing(question) for at, question in outside.items() if at not in rows}
            if absent and not is_whole:
                break
            step.rows += [(ANSWERED, row) for row in absent.values()]
            rows |= absent
            asked = step.next([step.answer(one, at, rows) for at, one in enumerate(asked)])
        return step.rows

    def _rows(
        self, step: Step, asked: Sequence[Asked], answers: Recorded
    ) -> tuple[dict[int, Question], dict[int, Row]]:
        """The questions to models and people, and the recorded answers, read again; both by index
        of the question.
        """
        is_observed = self._on_question is not None
        questions = {
            at: question
            for at, one in enumerate(asked)
            if (is_observed or step.agent_of(one).policy in OUTSIDE)
            and (question := step.question(one))
        }
        outside = {at: q for at, q in questions.items() if q.agent.policy in OUTSIDE}
        taken = answers.take(outside)
        if self._on_question is not None:
            for at, question in questions.items():
                self._on_question(question, taken.get(at))
        return outside, {at: reread(row, outside[at]) for at, row in taken.items()}

    def _can_ask(self, agent: AgentState) -> bool:
        try:
            return all(map(self._known.can_ask, _players(agent)))
        except UnknownPlayer:
            return False


def _arranged(rows: Sequence[tuple[int, Row]]) -> Sequence[Batch]:
    return arrange(Block(batches(rows))).batches


def _players(agent: AgentState) -> list[Player]:
    """The players of an agent: one, or one for each model of its classes."""
    if agent.policy != LLM:
        return [Player(agent.name, agent.policy, agent.options)]
    return [Player(agent.name, LLM, options) for options in by_class(agent.options).values()]
