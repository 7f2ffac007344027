"""The cast of a season, asked step by step."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Self

from goldrush.agents.competition.lab import Lab
from goldrush.agents.competition.script import Act, Replaced, Scripts
from goldrush.agents.competition.step import Question, Step, batches
from goldrush.agents.llm.failures import Earlier
from goldrush.agents.llm.models import LLM, Model, Models
from goldrush.kernel import run
from goldrush.kernel.competition import COMPETITION
from goldrush.kernel.competition.events import ANSWERED
from goldrush.kernel.competition.evolve import acts_in
from goldrush.kernel.competition.fork import turn_of
from goldrush.kernel.competition.state import SeasonState
from goldrush.kernel.errors import BadInput
from goldrush.kernel.run import Coming
from goldrush.kernel.world import Batch, Block, Row

if TYPE_CHECKING:
    from goldrush.agents.competition.models import SeasonModels


class Season:
    """Asks everybody who has something to do next; to be given to the run loop as `ask`, and to be
    closed.

    Policies are made afresh for every question: they keep nothing but what is shown to them.
    """

    def __init__(
        self,
        lab: Lab,
        replaced: Replaced | None = None,
        *,
        chosen: Sequence[Model] = (),
        models: Models | None = None,
        earlier: Sequence[Earlier] = (),
        waiting: Block | None = None,
        trust: Collection[str] = (),
    ) -> None:
        """`chosen`: the models of the cast, reached as `models` says; `earlier`: the answers that
        the season has already; `waiting`: acts and answers of the next step that are there already;
        `trust`: the policies of somebody's own that may be imported.

        Raises BadInput where a model cannot be asked.
        """
        self._scripts = Scripts(lab, replaced)
        self._lab = lab
        self._trust = trust
        self._waiting = Block(()) if waiting is None else waiting
        self._models: SeasonModels | None = None
        if chosen:
            # Imports the client, which takes longer than a whole assignment of scripted agents.
            from goldrush.agents.competition.models import SeasonModels

            self._models = SeasonModels(chosen, models or Models(), earlier)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._models is not None:
            self._models.close()

    def __call__(self, state: SeasonState) -> Sequence[Batch] | Coming:
        """The acts of the next step. Raises PolicyFailed where a policy fails, RunStopped where
        models are not to be asked any more.
        """
        waiting, self._waiting = self._waiting, Block(())
        coming = self._played(state, waiting)
        return coming if self._models is not None else run.rest_of(coming, _nothing_early)

    def _played(self, state: SeasonState, waiting: Block) -> Coming:
        """Play the script again over what waits, then on. A piece ends with every answer."""
        step = Step(state, self._scripts, self._lab, self._trust)
        known = acts_in(waiting.batches)
        given = len(known)
        asked = step.next()
        while asked is not None:
            if step.whom(asked).policy != LLM:
                asked = step.next(step.scripted(asked))
                continue
            question = step.question(asked)
            if question is None:
                asked = step.next(())
            elif len(step.rows) < len(known):
                asked = step.next(step.answered(asked, _known(known, step, question)))
            else:
                _check_known(step, waiting)
                for row in self._answers(state, question):
                    answer = step.answered(asked, row)
                    yield batches(step.rows[given:])
                    given = len(step.rows)
                asked = step.next(answer)
        _check_known(step, waiting)
        return batches(step.rows[given:])

    def _answers(self, state: SeasonState, question: Question) -> Iterator[Row]:
        assert self._models is not None
        unit = COMPETITION.vocabulary.unit
        return self._models.rows(f"{unit} {state.assignment}", question)


def _nothing_early(piece: Sequence[Batch]) -> NoReturn:
    raise AssertionError("only a model's answer is committed early")


def _known(known: Sequence[Act], step: Step, question: Question) -> Row:
    """The answer to a question that waits in the journal already."""
    code, row = known[len(step.rows)]
    if code != ANSWERED or row[:2] != (question.agent.ordinal, question.name):
        raise _other()
    return row


def _check_known(step: Step, waiting: Block) -> None:
    """Raises BadInput where what waits is not how the step begins."""
    count = len(acts_in(waiting.batches))
    if Block(batches(step.rows[:count])).packed != waiting.packed:
        raise _other()


def _other() -> BadInput:
    return BadInput(
        "what the journal has of the step under way is not what its agents do now",
        "fork the season at the assignment before it",
    )


def replaced_in(forks: Sequence[Mapping[str, Any]]) -> Replaced:
    """All contributions that were put in by hand; those of a later fork go first."""
    return {
        (assignment, *turn_of(row)): row for facts in forks for assignment, row in facts["replaced"]
    }
