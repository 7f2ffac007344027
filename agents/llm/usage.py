"""The questions to models in a run and their usage, read from a journal of any world."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from goldrush.agents.llm.budget import Amount
from goldrush.agents.llm.failures import NO_ANSWER, Earlier
from goldrush.agents.llm.models import MAX_TOKENS_MAX
from goldrush.agents.llm.question import AROUND_MAX, About, counted
from goldrush.agents.trust import HUMAN, LLM
from goldrush.kernel import fold
from goldrush.kernel.errors import TornTail
from goldrush.kernel.journal import FORK, JournalReader
from goldrush.kernel.world import Block, Row, World

# Upper bounds of questions, by the name of the model and the digest of the prompt.
Bounds = Mapping[tuple[str, str], Amount]


@attrs.frozen
class RecordedAnswer:
    """One answer of a model.

    Attributes:
        round: displayed number of the unit.
        model: its name in the roster or cast.
        tokens_in, tokens_out: of the question and of the answer; None: not reported, or impossible.
        tries: how often the question was sent.
        max_tokens: upper bound of the tokens of the answer.
        forks: number of FORK commits before it in the journal.
        prompt: the digest of the prompt, as recorded.
    """

    round: int
    agent: int
    model: str
    error: str | None
    tokens_in: int | None
    tokens_out: int | None
    tries: int
    max_tokens: int
    forks: int
    prompt: str | None


@attrs.frozen
class AnswerFields:
    """Where a world's journals have the answers of models and people.

    Attributes:
        codes: of the events.
        about: the facts of a row.
        player: the key of an agent's id in the setup's list of players.
        longest: greatest size of a prompt, in bytes.
    """

    codes: Sequence[int]
    about: Callable[[Row], About]
    player: str
    longest: int

    def of_models(self, inputs: Block) -> Iterator[About]:
        """The answers of models among these inputs; forged ones may be of others, too."""
        for row in [row for code in self.codes for row in inputs.rows(code)]:
            about = self.about(row)
            if about.source is not None and about.model != HUMAN:
                yield about


def answers_in(
    reader: JournalReader, world: World[Any], answers: AnswerFields
) -> Iterator[RecordedAnswer]:
    """All answers of models in a journal, which is read from its start, in the order of commits.

    Includes those of an unclosed unit; stops at a torn tail. Raises JournalError.
    """
    chosen: Mapping[int, tuple[str, int]] = {}
    forks = 0
    vocabulary = world.vocabulary
    try:
        for commit in reader:
            if commit.setup is not None:
                event = fold.setup_event(world, reader, commit)
                forks += commit.kind == FORK
                if event[vocabulary.players] is not None:
                    chosen = _models_of(event[vocabulary.players], answers.player)
            if next(fold.faults(world, commit.blocks[::2], is_input=True), None):
                raise fold.malformed(world, reader.path, commit)
            for block in commit.blocks[::2]:
                for about in answers.of_models(block):
                    model = _model(chosen, about.agent, about.model)
                    if model is not None:
                        unit = vocabulary.number(commit.unit)
                        yield _recorded(unit, about, model, forks, answers.longest)
    except TornTail:
        return


def lacks_usage(answers: AnswerFields, inputs: Block) -> bool:
    """Whether the usage of an answer among these inputs was not reported in full."""
    sources = (about.source or {} for about in answers.of_models(inputs))
    return any(None in (of.get("tokens_in"), of.get("tokens_out")) for of in sources)


def earlier_in(
    reader: JournalReader,
    world: World[Any],
    answers: AnswerFields,
    forks: int,
    bounds: Bounds,
) -> list[Earlier]:
    """The answers after `forks` FORK commits: those that the run itself paid for.

    Usage that was not reported is replaced by the upper bound of the question, or of the longest
    question if it is not in `bounds`.
    """
    return [
        Earlier(_amount(answer, answers.longest, bounds), answer.error)
        for answer in answers_in(reader, world, answers)
        if answer.forks == forks
    ]


def _amount(answer: RecordedAnswer, longest: int, bounds: Bounds) -> Amount:
    if answer.error == NO_ANSWER and answer.tokens_in is answer.tokens_out is None:
        return Amount(answer.model, 0, 0)
    most = bounds.get((answer.model, answer.prompt or ""))
    if most is None:
        most = Amount(answer.model, longest + AROUND_MAX, answer.max_tokens)
    tokens_in = most.tokens_in if answer.tokens_in is None else answer.tokens_in
    tokens_out = most.tokens_out if answer.tokens_out is None else answer.tokens_out
    return Amount(answer.model, tokens_in, tokens_out)


def _models_of(players: Any, number: str) -> dict[int, tuple[str, int]]:
    """The name and `max_tokens` of each agent that is a model, for options of any version."""
    models = {}
    for entry in players:
        if entry["policy"] == LLM:
            name, most = (
                entry["options"].get("name"),
                counted(entry["options"].get("max_tokens"), 1),
            )
            models[entry[number]] = str(name), MAX_TOKENS_MAX if most is None else most
    return models


def _model(chosen: Mapping[int, tuple[str, int]], agent: int, name: Any) -> tuple[str, int] | None:
    """The model of an answer: the one that its row names, or else the agent's."""
    if name is None:
        return chosen.get(agent)
    most = (most for called, most in chosen.values() if called == name)
    return str(name), max(most, default=MAX_TOKENS_MAX)


def _recorded(
    unit: int, about: About, model: tuple[str, int], forks: int, longest: int
) -> RecordedAnswer:
    name, most = model
    source, prompt = about.source or {}, about.prompt
    return RecordedAnswer(
        unit, about.agent, name,
        error=about.error if type(about.error) is str else None,
        tokens_in=counted(source.get("tokens_in"), 1, longest + AROUND_MAX),
        tokens_out=counted(source.get("tokens_out"), 0, most),
        tries=counted(source.get("tries"), 1) or 1,
        max_tokens=most,
        forks=forks,
        prompt=prompt if type(prompt) is str else None,
    )  # fmt: skip
