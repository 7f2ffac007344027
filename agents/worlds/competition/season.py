"""`Season`: asks the cast of a season in every step."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Self

from goldrush.agents.interrupts import deferred
from goldrush.agents.llm.failures import Earlier
from goldrush.agents.llm.models import Model, Models
from goldrush.agents.people import HUMAN, Ask, Inquiry
from goldrush.agents.session import Asked
from goldrush.agents.worlds.competition.answers import Recorded, row_by_hand
from goldrush.agents.worlds.competition.bench import Tests
from goldrush.agents.worlds.competition.script import Replaced, Scripts
from goldrush.agents.worlds.competition.step import ANSWERED, OUTSIDE, Question, Step, batches
from goldrush.kernel import run
from goldrush.kernel.errors import BadInput
from goldrush.kernel.run import InputPieces
from goldrush.kernel.world import Batch, Block, Row
from goldrush.kernel.worlds.competition import VOCABULARY, arrange
from goldrush.kernel.worlds.competition.evolve import acts_in
from goldrush.kernel.worlds.competition.fork import turn_of
from goldrush.kernel.worlds.competition.state import SeasonState

if TYPE_CHECKING:
    from goldrush.agents.worlds.competition.models import SeasonModels


class Season:
    """Asks the cast for the acts of each step: the `ask` of the run loop.

    A context manager that closes tests and models. A new policy is made for every question, so
    policies keep no state.
    """

    def __init__(
        self,
        tests: Tests,
        replaced: Replaced | None = None,
        *,
        chosen: Sequence[Model] = (),
        people: Ask | None = None,
        models: Models | None = None,
        earlier: Sequence[Earlier] = (),
        pending: Block | None = None,
        trust: Collection[str] = (),
    ) -> None:
        """Prepare to ask.

        Args:
            tests: of the season's arena; closed with the season.
            replaced: contributions that replace those of policies.
            chosen: the models of the cast.
            people: asks a person of the cast; None: nobody can be asked.
            models: how models are reached.
            earlier: recorded answers, which count towards the limits.
            pending: acts and answers of the next step that the journal already has.
            trust: names of user-defined policies that may be imported.

        Raises:
            BadInput: if a model cannot be asked.

        """
        self._tests = tests
        self._scripts = Scripts(tests, replaced)
        self._trust = trust
        self._pending = Block(()) if pending is None else pending
        self._people = people
        self._is_early = bool(chosen) or people is not None
        self._models: SeasonModels | None = None
        if chosen:
            # Imports the client, which takes longer than an assignment of scripted agents.
            from goldrush.agents.worlds.competition.models import SeasonModels

            self._models = SeasonModels(chosen, models or Models(), earlier)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._tests.close()
        if self._models is not None:
            self._models.close()

    def __call__(self, state: SeasonState) -> Sequence[Batch] | InputPieces:
        """The acts of the next step.

        Raises:
            PolicyFailed: if a policy fails.
            RunStopped: if a limit on models is reached.

        """
        pending, self._pending = self._pending, Block(())
        pieces = self._played(state, pending)
        return pieces if self._is_early else run.rest_of(pieces, _nothing_early)

    def _played(self, state: SeasonState, pending: Block) -> InputPieces:
        """Play a step, with the recorded answers in `pending` first.

        Yields after every answer, so that it is committed before the next one.
        """
        step = Step(state, self._scripts, self._trust)
        recorded = Recorded(acts_in(pending.batches))
        given = len(acts_in(pending.batches))
        asked = step.next()
        while asked is not None:
            outside = self._outside(step, asked)
            rows = recorded.take(outside)
            step.rows += [(ANSWERED, row) for row in rows.values()]
            missing = {at: question for at, question in outside.items() if at not in rows}
            if missing:
                _check(step, pending, given)
                for at, row in self._answers(step, state, asked, missing):
                    rows[at] = row
                    step.rows.append((ANSWERED, row))
                    yield batches(step.rows[given:])
                    given = len(step.rows)
            asked = step.next([step.answer(one, at, rows) for at, one in enumerate(asked)])
        _check(step, pending, given)
        return batches(step.rows[given:])

    def _outside(self, step: Step, asked: Sequence[Asked]) -> dict[int, Question]:
        """The questions among these to models and people, by index."""
        outside = {at: one for at, one in enumerate(asked) if step.agent_of(one).policy in OUTSIDE}
        found = {at: step.question(one) for at, one in outside.items()}
        return {at: question for at, question in found.items() if question is not None}

    def _answers(
        self,
        step: Step,
        state: SeasonState,
        asked: Sequence[Asked],
        questions: Mapping[int, Question],
    ) -> Iterator[tuple[int, Row]]:
        """(index of the question, row) as answers arrive: models concurrently, then people."""
        people = {at: q for at, q in questions.items() if q.agent.policy == HUMAN}
        models = {at: q for at, q in questions.items() if at not in people}
        unit = f"{VOCABULARY.unit} {state.assignment}"
        if models:
            assert self._models is not None
            yield from self._models.rows(unit, models)
        for at, question in people.items():
            assert self._people is not None
            fault = partial(step.fault_of, asked[at])
            name, asks = question.agent.name, question.asks
            inquiry = Inquiry(name, unit, question.messages, question.schema, fault, asks)
            text = self._people(inquiry)
            with deferred():
                yield at, row_by_hand(question, text)


def _nothing_early(piece: Sequence[Batch]) -> NoReturn:
    raise AssertionError("only answers of models and people are committed early")


def _check(step: Step, pending: Block, given: int) -> None:
    """Raises BadInput unless the step begins with the recorded acts and answers in `pending`."""
    count = len(acts_in(pending.batches))
    if given > count:  # checked before
        return
    if arrange(Block(batches(step.rows[:count]))).packed != pending.packed:
        raise BadInput(
            "the journal's acts of the unfinished step are not those of its agents",
            "fork the season at the assignment before it",
        )


def replaced_in(forks: Sequence[Mapping[str, Any]]) -> Replaced:
    """The replaced contributions of all forks; a later fork overrides an earlier one."""
    return {
        (assignment, *turn_of(row)): row for facts in forks for assignment, row in facts["replaced"]
    }
