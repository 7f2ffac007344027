"""Asks the agents of a run, in every world: policies, language models, people, and journals.

A world gives the play of each step. Its script yields lists of questions that do not depend on each
other and is sent their answers, or yields acts. So questions are defined once for all that answer
them. Answers of models and people are inputs of the step themselves: they are committed as they
arrive, what arrived together in one commit, and never asked for again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import msgspec

from goldrush.agents.interrupts import deferred
from goldrush.agents.llm.question import Answer, Question, Source, drawn_seed
from goldrush.agents.people import Inquiry
from goldrush.agents.players import RunContext
from goldrush.kernel.errors import BadInput
from goldrush.kernel.run import InputPieces
from goldrush.kernel.world import Batch, Block, Row, World, advance

if TYPE_CHECKING:
    from goldrush.agents.llm.asker import Asker
    from goldrush.agents.llm.model import Model
    from goldrush.agents.llm.versions import PromptVersion

S = TypeVar("S")

Input = tuple[int, Row]  # the code of an event, and a row
# Yields a list of questions and is sent the list of answers, or yields acts (a tuple, in a form of
# the world) and is sent None.
Script = Generator["list[Question] | tuple[Any, ...]", Any, None]


class Play(Protocol):
    """One step of a world."""

    @property
    def code(self) -> int:
        """Of the event of an answer from outside."""

    @property
    def unit(self) -> str:
        """Label of the unit of the step, as in "round 3"."""

    @property
    def number(self) -> int:
        """Of the unit, as displayed."""

    @property
    def seed(self) -> int:
        """The run's seed in force."""

    def script(self) -> Script:
        """The script of the step. Called once."""

    def do(self, acts: Any) -> Iterable[Input]:
        """Apply acts that the script yields, and give them as inputs."""

    def is_outside(self, asked: Question) -> bool:
        """Whether the answer comes from outside: from a model, a person or the record."""

    def answer(self, asked: Question, number: int) -> object:
        """The answer of the agent's policy. `number`: of the question in the step, from 0.

        Raises PolicyFailed if the policy fails.
        """

    def model(self, asked: Question) -> Model | None:
        """The agent's model, or the one in whose place a policy plays."""

    def prompt(self, asked: Question) -> Question | None:
        """A question with its prompt; None if there is nothing to answer."""

    def inquiry(self, prompt: Question) -> Inquiry:
        """A question in the form for a person."""

    def row(self, prompt: Question, text: str | None, error: str | None, source: Source) -> Row:
        """The row of an answer, as its text is read now. Never raises.

        `text`: None without an answer. `error`: as `Answer.early_error`, and of a text that cannot
        be read a code of the world.
        """

    def unanswered(self, prompt: Question) -> Row | None:
        """The row if the record has no answer; None if nothing is to be recorded."""

    def answer_in(self, row: Row) -> Answer:
        """The answer that a row records."""

    def read(self, asked: Question, row: Row | None) -> object:
        """The answer in a row, in the form of a policy's. None: there was nothing to answer."""

    def rest(self, asked: Sequence[Question], acts: Sequence[Input]) -> Sequence[Input] | None:
        """The inputs that end the step if one of these questions cannot be asked again; else None.

        `acts`: the recorded inputs from there on.
        """


def row_of(play: Play, question: Question, answer: Answer) -> Row:
    """The row of an answer that has arrived, or is read again."""
    return play.row(question, answer.text, answer.early_error, answer.source(question))


def row_again(play: Play, question: Question, row: Row | None) -> Row | None:
    """The row that a recorded one makes again, as text and prompt are read now.

    Facts that only the server knew (refusals, cuts, tokens) are taken from the record if an answer
    can have them.
    """
    if row is None:
        return play.unanswered(question)
    if question.is_believed:
        return row
    return row_of(play, question, play.answer_in(row).parted(question.whole))


# The play of the next step, or its inputs, if they depend on policies alone: the short path.
PlayOf = Callable[[S], Play | list[Batch]]


class PlayedStep:
    """A step under way: a script that is being played.

    Attributes:
        inputs: acts, and answers from outside, so far.
        early: number of inputs up to the last answer from outside: those that are committed before
            the step is complete.
        asked: the current questions; empty at the end.
    """

    def __init__(self, play: Play) -> None:
        """Play up to the first questions."""
        self._play, self._script = play, play.script()
        self.inputs: list[Input] = []
        self.early = self._count = 0  # _count: of questions before the current ones
        self.asked: Sequence[Question] = ()
        self._continue(None)

    def prompts(self) -> dict[int, Question]:
        """The current questions to models and people, by index."""
        prompts = {
            at: self._play.prompt(question)
            for at, question in enumerate(self.asked)
            if self._play.is_outside(question)
        }
        return {at: prompt for at, prompt in prompts.items() if prompt is not None}

    def of_policies(self) -> dict[int, object]:
        """The answers of policies to the current questions, by index."""
        return {
            at: self._play.answer(question, self._count + at)
            for at, question in enumerate(self.asked)
            if not self._play.is_outside(question)
        }

    def add(self, inputs: Sequence[Input]) -> None:
        """Add answers from outside, or what is taken from the record."""
        if inputs:
            self.inputs += inputs
            self.early = len(self.inputs)

    def go_on(self, answers: Mapping[int, object], rows: Mapping[int, Row | None]) -> None:
        """Continue with answers of policies, and rows of those from outside, by index."""
        read = self._play.read
        asked = enumerate(self.asked)
        self._continue([answers[i] if i in answers else read(q, rows.get(i)) for i, q in asked])

    def _continue(self, answers: object) -> None:
        self._count += len(self.asked)
        self.asked = ()
        while not self.asked:
            try:
                item = self._script.send(answers)
            except StopIteration:
                return
            if isinstance(item, list):
                self.asked, answers = item, []
            else:
                self.inputs += self._play.do(item)
                answers = None


def batches(inputs: Iterable[Input]) -> list[Batch]:
    """Inputs as batches; a `Block` merges neighbours of one type."""
    return [(code, [row]) for code, row in inputs]


class RecordedAnswers:
    """The answers from outside among recorded inputs. Each is taken once, by agent, question and
    prompt; then, for forged journals, by agent and question.
    """

    def __init__(self, rows: Iterable[Row], answer_in: Callable[[Row], Answer]) -> None:
        # Of each agent and question: (digest of the prompt, row).
        self._left: dict[tuple[int, str], list[tuple[str | None, Row]]] = {}
        for row in rows:
            answer = answer_in(row)
            self._left.setdefault((answer.agent, answer.name), []).append((answer.prompt, row))

    def __bool__(self) -> bool:
        """Whether there are rows that were not taken."""
        return any(self._left.values())

    def take(self, prompts: Mapping[int, Question]) -> dict[int, Row]:
        """The recorded answers to these questions, by index of the question."""
        taken: dict[int, Row] = {}
        for is_exact in (True, False):  # an answer may have arrived before that of its neighbour
            for at in [at for at in prompts if at not in taken]:
                prompt = prompts[at]
                left = self._left.get((prompt.agent, prompt.name), [])
                for index, (digest_, _) in enumerate(left):
                    if not is_exact or digest_ == prompt.digest:
                        _, taken[at] = left.pop(index)
                        break
        return {at: taken[at] for at in prompts if at in taken}


class Session(AbstractContextManager["Session[S]"], Generic[S]):
    """The agents of a run: a context manager that the run loop calls as its `ask`.

    In each list of questions policies are asked first, so that nothing is paid for if one fails;
    then models, concurrently; then people.
    """

    def __init__(
        self,
        world: World[S],
        play_of: PlayOf[S],
        context: RunContext[S],
        chosen: Sequence[Model] = (),
        *,
        prompt: PromptVersion | None = None,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        """Prepare to ask.

        `prompt`: as for Asker; `close` releases what the plays need. Raises BadInput as `Asker`.
        """
        self._world, self._play_of, self._close = world, play_of, close
        self._pending, self._people = context.pending, context.resources.people
        # The questions to each agent so far, by unit.
        self._put = Counter((each.unit, each.answer.agent) for each in context.earlier)
        self._asker: Asker | None = None
        if chosen:
            # Imports the client, which takes longer than a whole run of scripted agents.
            from goldrush.agents.llm.asker import Asker
            from goldrush.agents.llm.models import Models

            models = context.resources.models or Models()
            self._asker = Asker(chosen, models, context.earlier, prompt)
            self._asker.warn_of_ignored(chosen)

    def __exit__(self, *error: object) -> None:
        self._close()
        if self._asker is not None:
            self._asker.close()

    def __call__(self, state: S) -> list[Batch] | InputPieces:
        """The inputs of the next step.

        Raises BadInput if the recorded inputs of the step are not those of its agents; PolicyFailed
        if a policy fails; RunStopped if a limit on models is reached.
        """
        play, pending = self._play_of(state), self._pending
        if pending.batches:
            self._pending = Block(())
        if not isinstance(play, list):
            return self._played(play, pending)
        if pending.batches:
            raise _foreign(self._world)
        return play

    def _played(self, play: Play, pending: Block) -> InputPieces:
        """Play a step, with the recorded answers in `pending` first."""
        step = PlayedStep(play)
        recorded = RecordedAnswers(pending.rows(play.code), play.answer_in)
        given, is_waiting = 0, bool(pending.batches)
        for row in pending.rows(play.code):  # these questions are put now
            self._put[play.number, row[0]] -= 1
        while step.asked:
            answers = step.of_policies()
            prompts = {at: self._sent(play, each) for at, each in step.prompts().items()}
            rows = recorded.take(prompts)
            step.add([(play.code, row) for row in rows.values()])
            missing = {at: prompt for at, prompt in prompts.items() if at not in rows}
            if is_waiting and (missing or not recorded):
                early = self._world.arrange(Block(batches(step.inputs[: step.early])))
                if early.packed != pending.packed:
                    raise _foreign(self._world)
                given, is_waiting = step.early, False
            for arrived in self._arrivals(play, missing):
                rows.update(arrived)
                step.add([(play.code, row) for row in arrived.values()])
                yield batches(step.inputs[given:])
                given = step.early
            step.go_on(answers, rows)
        if is_waiting:
            raise _foreign(self._world)
        return batches(step.inputs[given:])

    def _sent(self, play: Play, prompt: Question) -> Question:
        """A question as it is sent, which is counted."""
        place = play.number, prompt.agent
        self._put[place] += 1
        if prompt.model is None:
            return prompt
        assert self._asker is not None  # it has all models of the run
        seed = drawn_seed(prompt.model, play.seed, *place, self._put[place] - 1)
        server = self._asker.endpoint(prompt.model)
        return msgspec.structs.replace(prompt, seed=seed, server=server)

    def _arrivals(self, play: Play, prompts: Mapping[int, Question]) -> Iterator[dict[int, Row]]:
        """The rows of answers that arrived together, by index of the question.

        No signal comes between the arrival of an answer and the next step of this generator. A
        step without missing answers is not subject to the limits on models.
        """
        indexes = [at for at, prompt in prompts.items() if prompt.model is not None]

        def form(index: int, answer: Answer) -> tuple[tuple[int, Row], str | None]:
            row = row_of(play, prompts[indexes[index]], answer)
            return (indexes[index], row), play.answer_in(row).failure

        if indexes:
            assert self._asker is not None  # it has all models of the run
            questions = [prompts[at] for at in indexes]
            for arrived in self._asker.answers(play.unit, questions, form):
                if arrived:  # else a signal woke who waits
                    yield dict(arrived)
        of_people = [(at, prompt) for at, prompt in prompts.items() if prompt.model is None]
        if of_people:
            assert self._people is not None  # checked before the run
            for index, text in self._people([play.inquiry(prompt) for _, prompt in of_people]):
                at, question = of_people[index]
                with deferred():
                    yield {at: row_of(play, question, Answer(question.agent, question.name, text))}


def _foreign(world: World[Any]) -> BadInput:
    unit = world.vocabulary.unit
    return BadInput(
        f"what the journal has of its unfinished {unit} is not what its agents submit",
        f"fork the run at the {unit} before it",
    )


def asked_again(
    play: Play,
    recorded: Block,
    *,
    is_whole: bool = True,
    on_prompt: Callable[[Question, Row | None], None] | None = None,
) -> list[Batch]:
    """The inputs of a recorded step, asked for again: its acts follow from policies and answers.

    Models and people are not asked: their recorded answers are read again, and the digest of each
    prompt is made anew.

    Args:
        is_whole: the step is complete; otherwise it ends with the last recorded answer, because
            what would follow from a missing one is unknown.
        on_prompt: called with each question, also to a policy, in the form for a model, and the
            recorded answer of a model or a person.

    Raises PolicyFailed if a policy fails.
    """
    step, left = PlayedStep(play), RecordedAnswers(recorded.rows(play.code), play.answer_in)
    acts = [(code, row) for code, rows in recorded for row in rows]
    while step.asked:
        following = acts[len(step.inputs) :]
        rest = play.rest(step.asked, following)
        if rest is not None:
            step.add(rest if is_whole else rest[: len(following)])
            break
        prompts = step.prompts()
        taken = left.take(prompts)
        for at, question in enumerate(step.asked if on_prompt is not None else ()):
            prompt = prompts[at] if at in prompts else play.prompt(question)
            if prompt is not None and on_prompt is not None:
                on_prompt(prompt, taken.get(at))
        known = prompts if is_whole else taken
        rows = {at: row_again(play, prompts[at], taken.get(at)) for at in known}
        step.add([(play.code, row) for row in rows.values() if row is not None])
        if not is_whole and (len(taken) < len(prompts) or not left):
            break
        step.go_on(step.of_policies(), rows)
    return batches(step.inputs if is_whole else step.inputs[: step.early])


def asked_by_unit(
    world: World[S], state: S, play_of: Callable[[S], Play | None], units: int
) -> Iterator[list[Question]]:
    """The questions to models in each of the first `units` of a run, in which policies play instead
    of models and people. `play_of` gives None for a step in which nobody is asked. Raises
    PolicyFailed.
    """
    for _ in range(units):
        if world.ended(state):
            return
        prompts: list[Question] = []
        is_done = False
        while not is_done:
            play, inputs = play_of(state), Block(())
            if play is not None:
                step = PlayedStep(play)
                while step.asked:
                    of_models = (play.prompt(asked) for asked in step.asked if play.model(asked))
                    prompts += (prompt for prompt in of_models if prompt is not None)
                    step.go_on(step.of_policies(), {})
                inputs = world.arrange(Block(batches(step.inputs)))
            state, _, is_done = advance(world, state, inputs)
        yield prompts
