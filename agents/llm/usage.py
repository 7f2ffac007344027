"""The questions to models in a run and their usage, read from a journal of any world."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import msgspec
from msgspec.structs import replace

from goldrush.agents.llm.failures import NO_ANSWER
from goldrush.agents.llm.model import options_by_prefix
from goldrush.agents.llm.options import MAX_TOKENS_MAX
from goldrush.agents.llm.question import (
    AROUND_MAX,
    Amount,
    Answer,
    AnswerFields,
    counted,
)
from goldrush.agents.llm.versions import shown_name, subject_of
from goldrush.agents.trust import LLM
from goldrush.kernel import fold
from goldrush.kernel.errors import TornTail
from goldrush.kernel.journal import FORK, JournalReader
from goldrush.kernel.world import World


class AskedModel(msgspec.Struct, frozen=True):
    """A model of an agent.

    Attributes:
        subject: what its failures are counted by: see `versions.subject_of`.
        longest: the upper bound of the tokens of one question and its answer, of any version, with
            its name in the roster or cast.
    """

    subject: str
    longest: Amount


class RecordedAnswer(msgspec.Struct, frozen=True):
    """One answer of a model in a journal.

    Attributes:
        unit: its displayed number.
        forks: number of FORK commits before it in the journal.
    """

    answer: Answer
    asked: AskedModel
    unit: int
    forks: int

    @property
    def amount(self) -> Amount:
        """The usage, as far as it was reported."""
        tokens = self.answer.tokens_in or 0, self.answer.tokens_out or 0
        return Amount(self.asked.longest.name, *tokens)

    @property
    def charged(self) -> Amount:
        """The usage under a ceiling: what was not reported counts with the upper bound of the
        longest question, or, of an answer that is longer, with an estimate.
        """
        answer = self.answer
        if answer.error == NO_ANSWER and answer.tokens_in is answer.tokens_out is None:
            return self.amount
        return self.asked.longest.reported(answer)

    def without_text(self) -> Self:
        """The same without what takes most of the memory."""
        answer = replace(self.answer, text=None, reasoning=None)
        return replace(self, answer=answer)


def answers_in(
    reader: JournalReader, world: World[Any], answers: AnswerFields
) -> Iterator[RecordedAnswer]:
    """All answers of models in a journal, which is read from its start, in the order of commits.

    Includes those of an unclosed unit; stops at a torn tail. Raises JournalError.
    """
    chosen: Mapping[int, Mapping[str, AskedModel]] = {}
    forks = 0
    vocabulary = world.vocabulary
    try:
        for commit in reader:
            if commit.setup is not None:
                event = fold.setup_event(world, reader, commit)
                forks += commit.kind == FORK
                if event[vocabulary.players] is not None:
                    chosen = _models_in(event[vocabulary.players], answers)
            if next(fold.faults(world, commit.blocks[::2], is_input=True), None):
                raise fold.malformed(world, reader.path, commit)
            for block in commit.blocks[::2]:
                for answer in answers.of_models(block):
                    asked = _asked(answers, chosen, answer)
                    if asked is not None:
                        yield RecordedAnswer(answer, asked, vocabulary.number(commit.unit), forks)
    except TornTail:
        return


def earlier_in(
    reader: JournalReader, world: World[Any], answers: AnswerFields, forks: int
) -> list[RecordedAnswer]:
    """The answers after `forks` FORK commits, without their texts: those that the run itself paid
    for.
    """
    return [
        each.without_text() for each in answers_in(reader, world, answers) if each.forks == forks
    ]


def _models_in(players: Any, answers: AnswerFields) -> dict[int, dict[str, AskedModel]]:
    """The models of each agent of a recorded roster, by name."""
    return {
        entry[answers.player]: {
            str(options.get("name")): _model_of(options, answers)
            for options in options_by_prefix(entry["options"]).values()
        }
        for entry in players
        if entry["policy"] == LLM
    }


def _model_of(options: Mapping[str, object], answers: AnswerFields) -> AskedModel:
    name = str(options.get("name"))
    shown, subject = shown_name(name), subject_of(name, options, answers.prompt)
    most_out = counted(options.get("max_tokens"), 1) or MAX_TOKENS_MAX
    return AskedModel(subject, Amount(shown, answers.prompt.longest + AROUND_MAX, most_out))


def _asked(
    answers: AnswerFields, chosen: Mapping[int, Mapping[str, AskedModel]], answer: Answer
) -> AskedModel | None:
    """The model of an answer: the one that its row names, or else the agent's first."""
    own, name = chosen.get(answer.agent, {}), answer.player
    if name is None:
        return next(iter(own.values()), None)
    if name in own:
        return own[name]
    called = [models[name] for models in chosen.values() if name in models]
    called = called or [_model_of({"name": name}, answers)]
    return max(called, key=lambda asked: asked.longest.tokens_out)
