"""The questions to models in a run and their usage, read from a journal of any world."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from goldrush.agents.llm.budget import Amount
from goldrush.agents.llm.failures import NO_ANSWER, Earlier
from goldrush.agents.llm.models import MAX_TOKENS_MAX
from goldrush.agents.llm.question import AROUND_MAX
from goldrush.agents.trust import LLM
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
        agent: id of the agent.
        model: its name in the roster or cast.
        error: as recorded; None: none.
        tokens_in: tokens of the question; None: not reported, or impossible.
        tokens_out: tokens of the answer; None: not reported, or impossible.
        tries: how often the question was sent.
        max_tokens: upper bound of the tokens of the answer.
        forks: number of FORK commits before it in the journal.
        prompt: the digest of the prompt, as recorded; None: not recorded.
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
    """Where a world's journals have the answers of models.

    Attributes:
        code: of the event.
        read: a row to (agent, name of the model or None, error, source); source None: the row is
            not an answer of a model.
        player: the key of an agent's id in the setup's list of players.
        longest: greatest size of a prompt, in bytes.
    """

    code: int
    read: Callable[[Row], tuple[int, Any, Any, Mapping[str, Any] | None]]
    player: str
    longest: int


def answers_in(
    reader: JournalReader, world: World[Any], answers: AnswerFields
) -> Iterator[RecordedAnswer]:
    """All answers of models in a journal, in the order of commits.

    Includes those of an unclosed unit; stops at a torn tail.

    Args:
        reader: at the start of the journal.
        answers: where the world has them.

    Raises JournalError for a damaged journal.
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
                for row in block.rows(answers.code):
                    agent, name, error, source = answers.read(row)
                    model = _model(chosen, agent, name)
                    if source is not None and model is not None:
                        key = vocabulary.number(commit.unit), agent
                        yield _asked(key, model, error, source, forks, answers.longest)
    except TornTail:
        return


def lacks_usage(answers: AnswerFields, inputs: Block) -> bool:
    """Whether the usage of an answer among these inputs was not reported in full."""
    sources = (answers.read(row)[3] for row in inputs.rows(answers.code))
    return any(
        source is not None and None in (source.get("tokens_in"), source.get("tokens_out"))
        for source in sources
    )


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
    asked = answers_in(reader, world, answers)
    return [
        Earlier(_amount(one, answers.longest, bounds), one.error)
        for one in asked
        if one.forks == forks
    ]


def _amount(one: RecordedAnswer, longest: int, bounds: Bounds) -> Amount:
    if one.error == NO_ANSWER and one.tokens_in is one.tokens_out is None:
        return Amount(one.model, 0, 0)  # no answer, and no usage reported
    most = bounds.get((one.model, one.prompt or ""))
    if most is None:
        most = Amount(one.model, longest + AROUND_MAX, one.max_tokens)
    tokens_in = most.tokens_in if one.tokens_in is None else one.tokens_in
    tokens_out = most.tokens_out if one.tokens_out is None else one.tokens_out
    return Amount(one.model, tokens_in, tokens_out)


def _models_of(players: Any, number: str) -> dict[int, tuple[str, int]]:
    """The name and `max_tokens` of each agent that is a model, for options of any version."""
    models = {}
    for entry in players:
        if entry["policy"] == LLM:
            name, most = entry["options"].get("name"), _count(entry["options"].get("max_tokens"), 1)
            models[entry[number]] = str(name), MAX_TOKENS_MAX if most is None else most
    return models


def _model(chosen: Mapping[int, tuple[str, int]], agent: int, name: Any) -> tuple[str, int] | None:
    """The model of an answer: the one that its row names, or else the agent's."""
    if name is None:
        return chosen.get(agent)
    most = (most for called, most in chosen.values() if called == name)
    return str(name), max(most, default=MAX_TOKENS_MAX)


def _asked(
    key: tuple[int, int],  # unit and agent
    model: tuple[str, int],
    error: Any,
    source: Mapping[str, Any],
    forks: int,
    longest: int,
) -> RecordedAnswer:
    tokens_in = _count(source.get("tokens_in"), 1, longest + AROUND_MAX)
    tokens_out = _count(source.get("tokens_out"), 0, model[1])
    tries = _count(source.get("tries"), 1) or 1
    text = error if type(error) is str else None
    prompt = source.get("prompt")
    return RecordedAnswer(
        *key, model[0], text, tokens_in, tokens_out, tries, model[1], forks,
        prompt if type(prompt) is str else None,
    )  # fmt: skip


def _count(value: Any, low: int, high: float = math.inf) -> int | None:
    return value if type(value) is int and low <= value <= high else None
