"""Seasons: asking the cast, step by step, and recording a whole season.

Scripted agents answer at once. What a language model writes is committed before anything is made of
it, so that it is paid for once, whatever stops the season.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self

from agents.llm.failures import Earlier
from agents.llm.models import LLM, Model, Models
from agents.llm.usage import earlier_in
from agents.season.cast import SCRIPTED, Entry, cast_of, check_playable, models_in
from agents.season.lab import Lab
from agents.season.script import Act, Replaced, Scripts
from agents.season.step import Question, Step, batches
from agents.trust import check_trust, own_among
from kernel import run
from kernel.competition import COMPETITION
from kernel.competition.config import config_of
from kernel.competition.events import ANSWERED
from kernel.competition.evolve import acts_in
from kernel.competition.fork import turn_of
from kernel.competition.state import GONE, SeasonState
from kernel.errors import BadInput
from kernel.journal import Header, JournalWriter
from kernel.run import Coming
from kernel.world import Batch, Block, Row

if TYPE_CHECKING:
    from agents.season.models import SeasonModels

OnAssignment = Callable[[int, SeasonState], None]


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
            from agents.season.models import SeasonModels

            self._models = SeasonModels(chosen, models or Models(), earlier)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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


def record(
    path: str | Path,
    settings: Mapping[str, Any] | None = None,
    cast: Sequence[Entry] | None = None,
    *,
    models: Models | None = None,
    lab: Lab | None = None,
    force: bool = False,
    fsync: bool = False,
    on_assignment: OnAssignment | None = None,
) -> SeasonState:
    """Play a season into a journal and return the last state.

    `cast` as `agents.season.cast.cast_of` gives it; everybody is scripted without, and the policies
    of somebody's own that it names are trusted. `models` says how language models are reached;
    `lab`: to look at afterwards how many runs there were. Raises BadInput before anything is
    written; PolicyFailed, RunStopped and WriteFailed in the middle, with the journal whole up to
    the last assignment closed and the answers behind it.
    """
    config = config_of(settings or {})
    cast = list(cast or cast_of(config.workers))
    COMPETITION.initial({"config": config.as_dict(), "cast": cast})  # refuses what is no cast
    trust = own_among(entry["policy"] for entry in cast)
    check_playable(cast, trust)
    header = Header(COMPETITION.name, COMPETITION.rules)
    with JournalWriter(path, header, force=force, fsync=fsync) as journal:
        cast = with_models_decided(cast, models)
        chosen = models_in((entry["policy"], entry["options"]) for entry in cast)
        with Season(lab or Lab(config), chosen=chosen, models=models, trust=trust) as season:
            setup = {"config": config.as_dict(), "cast": cast}
            return run.record(COMPETITION, setup, season, journal, on_assignment)


def with_models_decided(cast: Sequence[Entry], models: Models | None) -> list[Entry]:
    """The cast, with how each model is asked found out where that is left open.

    Each is asked a short question. Raises BadInput where one does not answer it. Entries need no
    more than policy and options.
    """
    if not any(entry["policy"] == LLM for entry in cast):
        return list(cast)
    from agents.season.models import decided

    return decided(cast, models or Models())


def resume(
    path: str | Path,
    *,
    models: Models | None = None,
    trust: Sequence[str] = (),
    fsync: bool = False,
    on_assignment: OnAssignment | None = None,
) -> SeasonState:
    """Go on with a season that broke off and return the last state.

    For deterministic policies the finished journal is what it would have been, byte for byte; of
    models nothing is asked whose answer is in the journal. A journal does not make code run by
    naming it: policies of the form package.module:Class play on only where `trust` lists them.
    Raises BadInput for who cannot play on and for a season that has ended, and as `record` does.
    """
    with JournalWriter.reopen(path, fsync=fsync) as journal, ExitStack() as stack:

        def ask_of(
            state: SeasonState, forks: Sequence[Mapping[str, Any]], waiting: Block
        ) -> Season:
            with journal.reader() as reader:
                earlier = earlier_in(reader, len(forks))
            return stack.enter_context(
                season_of(state, forks, waiting, models, earlier, trust=trust)
            )

        return run.resume(COMPETITION, journal, ask_of, on_assignment)


def season_of(
    state: SeasonState,
    forks: Sequence[Mapping[str, Any]],
    waiting: Block | None = None,
    models: Models | None = None,
    earlier: Sequence[Earlier] = (),
    *,
    trust: Collection[str],
) -> Season:
    """Whoever plays on from a state, by their forks. To be closed.

    Models are asked a short question first: a wrong server is told now, not recorded as one that
    does not answer. Raises BadInput for one that cannot be asked, and for an agent that plays code
    of somebody's own that is not in `trust`.
    """
    _check_players(state, trust)
    there = [a for a in state.agents.values() if a.status != GONE]
    with_models_decided([{"policy": a.policy, "options": a.options} for a in there], models)
    chosen = models_in((agent.policy, agent.options) for agent in there)
    return Season(
        Lab(state.config),
        replaced_in(forks),
        chosen=chosen,
        models=models,
        earlier=earlier,
        waiting=waiting,
        trust=trust,
    )


def _check_players(state: SeasonState, trust: Collection[str]) -> None:
    for agent in state.agents.values():
        if agent.policy not in (SCRIPTED, LLM):
            check_trust(agent.policy, trust, agent.name)


def replaced_in(forks: Sequence[Mapping[str, Any]]) -> Replaced:
    """All contributions that were put in by hand; those of a later fork go first."""
    return {
        (assignment, *turn_of(row)): row for facts in forks for assignment, row in facts["replaced"]
    }
