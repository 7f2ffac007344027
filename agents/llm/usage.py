"""What models were asked in a run and what it took, read from the journal of whatever world."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from goldrush.agents.llm.budget import WRAPPING, Amount
from goldrush.agents.llm.failures import NO_ANSWER, Earlier
from goldrush.agents.llm.models import LLM, MAX_TOKENS_MAX
from goldrush.agents.llm.question import SCHEMA_MAX
from goldrush.kernel import fold
from goldrush.kernel.errors import TornTail
from goldrush.kernel.journal import FORK, JournalReader
from goldrush.kernel.world import Row, World


@attrs.frozen
class Asked:
    """One answer of an agent: the round (or assignment) as people count it, the model by the name
    of roster or cast, the `error` of what came (None: what was asked for), tokens as the server
    counted them (None: it did not, or named what no such request can take), tries, the most tokens
    that the answer and the question could have. `forks`: how many stand before it in the journal.
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
    max_tokens_in: int


@attrs.frozen
class Answers:
    """Where a world keeps the answers of models.

    `code`: that of the event; `read(row)` gives the agent, the model's name if the row says so, the
    error, and the source (None: of no model). `player`: the key of an agent's number in the list of
    who plays. `longest`: the most bytes of a prompt.
    """

    code: int
    read: Callable[[Row], tuple[int, Any, Any, Mapping[str, Any] | None]]
    player: str
    longest: int


def asked_in(reader: JournalReader, world: World[Any], answers: Answers) -> Iterator[Asked]:
    """Every answer of a model in a journal that is open and not read yet, in the order in which
    they were committed.

    An unfinished round counts, a torn tail does not. Raises what reading a journal raises.
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
                        place = vocabulary.number(commit.unit), agent
                        yield _asked(place, model, error, source, forks, answers.longest)
    except TornTail:
        return


def earlier_in(
    reader: JournalReader, world: World[Any], answers: Answers, forks: int
) -> list[Earlier]:
    """The answers that stand behind so many forks: those that a run asked for itself.

    What they took is, where a server did not say, the most that it can have been.
    """
    asked = asked_in(reader, world, answers)
    return [Earlier(_amount(one), one.error) for one in asked if one.forks == forks]


def _amount(one: Asked) -> Amount:
    if one.error == NO_ANSWER and one.tokens_in is one.tokens_out is None:
        return Amount(one.model, 0, 0)  # nothing came, and nothing was said to be charged
    tokens_in = one.max_tokens_in if one.tokens_in is None else one.tokens_in
    tokens_out = one.max_tokens if one.tokens_out is None else one.tokens_out
    return Amount(one.model, tokens_in, tokens_out)


def _models_of(players: Any, number: str) -> dict[int, tuple[str, int]]:
    """Of each agent that is a model its name and the most tokens of an answer, whatever else this
    version knows of it.
    """
    models = {}
    for entry in players:
        if entry["policy"] == LLM:
            name, most = entry["options"].get("name"), _count(entry["options"].get("max_tokens"), 1)
            models[entry[number]] = str(name), MAX_TOKENS_MAX if most is None else most
    return models


def _model(chosen: Mapping[int, tuple[str, int]], agent: int, name: Any) -> tuple[str, int] | None:
    """The model that gave an answer: the one that it names, or else the agent's."""
    if name is None:
        return chosen.get(agent)
    most = (most for called, most in chosen.values() if called == name)
    return str(name), max(most, default=MAX_TOKENS_MAX)


def _asked(
    place: tuple[int, int],
    model: tuple[str, int],
    error: Any,
    source: Mapping[str, Any],
    forks: int,
    longest: int,
) -> Asked:
    tokens_in = _count(source.get("tokens_in"), 1, longest + SCHEMA_MAX + WRAPPING)
    tokens_out = _count(source.get("tokens_out"), 0, model[1])
    return Asked(*place, model[0], error if type(error) is str else None, tokens_in, tokens_out,
                 _count(source.get("tries"), 1) or 1, model[1], forks, longest)  # fmt: skip


def _count(value: Any, low: int, high: float = math.inf) -> int | None:
    return value if type(value) is int and low <= value <= high else None
