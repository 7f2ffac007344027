"""Asks the cast of a recorded season again, to see whether it does the same.

Scripted agents are asked as they were, and the tests of claims are run again, whoever the cast is.
Models are not: what they wrote is in the journal, and that is read again, and held against the
prompt that they must have been given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from goldrush.agents.again import Known, Player, Unknown, sorted_players
from goldrush.agents.competition.answers import missing, reread
from goldrush.agents.competition.cast import SCRIPTED
from goldrush.agents.competition.lab import Lab
from goldrush.agents.competition.prompt import VERSION
from goldrush.agents.competition.script import Act, Asked, Scripts
from goldrush.agents.competition.season import replaced_in
from goldrush.agents.competition.step import Question, Step, batches
from goldrush.agents.llm.models import LLM
from goldrush.kernel.competition.events import ANSWERED
from goldrush.kernel.competition.evolve import acts_in
from goldrush.kernel.competition.state import GONE, Agent, SeasonState
from goldrush.kernel.world import Batch, Block, Row

OnQuestion = Callable[[Question, Row | None], None]


class SeasonAgain:
    """Gives the acts of a step again, from the state before it and what was recorded.

    Agents with policies of their own that are not in `trust` cannot be asked (a journal must not
    make code run by naming it). They stand in `not_asked`; `unknown` says whom this version does
    not know. What a script does next depends on what it is answered, so from the first question to
    one of them to its end a step is taken from the record, but for the tests of claims: what they
    give depends on nobody.
    """

    def __init__(
        self,
        state: SeasonState,
        forks: Sequence[Mapping[str, Any]] = (),
        trust: Sequence[str] = (),
        on_question: OnQuestion | None = None,
    ) -> None:
        """`on_question` is told every question on the way, to scripted agents too, as a model in
        their place would be asked it, and what is recorded of a model's answer. Raises Impossible
        for an agent that no season has.
        """
        self._on_question = on_question
        self._lab = Lab(state.config)
        self._scripts = Scripts(self._lab, replaced_in(forks))
        self._trust = frozenset(trust)
        self._known = Known({SCRIPTED}, VERSION, self._trust)
        there = [_player(agent) for agent in state.agents.values() if agent.status != GONE]
        found = sorted_players(there, self._known, ", and what followed in its steps")
        self.not_asked, self.unknown = found.not_asked, found.unknown

    def __call__(self, state: SeasonState, recorded: Block) -> list[Batch]:
        """The acts of the next step. Raises PolicyFailed where a policy fails."""
        step = Step(state, self._scripts, self._lab, self._trust)
        known = acts_in(recorded.batches)
        asked = step.next()
        while asked is not None:
            agent = step.whom(asked)
            if not self._can_ask(agent):
                step.follow(known[len(step.rows) :])
                return batches(step.rows)
            self._tell(step, asked, known)
            if agent.policy != LLM:
                asked = step.next(step.scripted(asked))
                continue
            question = step.question(asked)
            if question is None:
                asked = step.next(())
            else:
                asked = step.next(step.answered(asked, _again(known, len(step.rows), question)))
        return batches(step.rows)

    def waiting(self, state: SeasonState, recorded: Block) -> list[Batch]:
        """As many acts of the next step as are recorded. Raises as a call does."""
        acts = acts_in(self(state, recorded))
        return batches(acts[: len(acts_in(recorded.batches))])

    def _tell(self, step: Step, asked: Asked, known: Sequence[Act]) -> None:
        question = step.question(asked) if self._on_question is not None else None
        if self._on_question is not None and question is not None:
            code, row = known[len(step.rows)] if len(step.rows) < len(known) else (None, ())
            self._on_question(question, row if code == ANSWERED else None)

    def _can_ask(self, agent: Agent) -> bool:
        try:
            return self._known.can_ask(_player(agent))
        except Unknown:
            return False


def _player(agent: Agent) -> Player:
    return Player(agent.name, agent.policy, agent.options)


def _again(known: Sequence[Act], place: int, question: Question) -> Row:
    """The answer that should stand at a place of the record."""
    code, row = known[place] if place < len(known) else (None, ())
    is_it = code == ANSWERED and row[:2] == (question.agent.ordinal, question.name)
    return reread(row, question) if is_it else missing(question)
