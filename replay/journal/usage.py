"""Usage of language models in a run, by agent and model, read from its journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from goldrush.agents.llm import usage as by_reader
from goldrush.agents.llm.budget import Price
from goldrush.agents.llm.failures import NO_ANSWER, Failures, format_cut, merge_failures
from goldrush.agents.llm.question import LENGTH
from goldrush.agents.llm.usage import RecordedAnswer
from goldrush.agents.players import NOBODY
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import escaped, format_count
from goldrush.replay.find import open_world, tools_of
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.text import format_table

_SUMS: Final = {  # of answers, with their heads
    "tokens_in": "tokens in", "tokens_cached": "cached", "tokens_out": "tokens out",
    "tokens_reasoning": "reasoning", "tries": "tries",
}  # fmt: skip
HEAD: Final = ("answers", "failed", *_SUMS.values(), "uncounted", "cost")

# For 1,000,000 tokens in and out; see Price.
Prices = Mapping[str, Price | tuple[float, float]]


class Taken(msgspec.Struct, frozen=True):
    """The usage of some answers together.

    Attributes:
        answers: the number of answers, including submissions without one.
        errors: the number of answers with each error.
        tokens_in, tokens_out: the tokens that servers counted.
        tokens_cached, tokens_reasoning: those of them that were in a server's cache, and those of
            reasoning, as far as servers report them.
        uncounted: the number of answers without a full count of tokens.
        tries: the number of requests.
        cost: the cost of the counted tokens at the given prices; None if a price is missing.
    """

    answers: int
    errors: Mapping[str, int]
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    tokens_reasoning: int
    uncounted: int
    tries: int
    cost: float | None

    @property
    def failed(self) -> str:
        """The errors with their numbers, as text; empty: none."""
        return ", ".join(f"{count} {escaped(error)}" for error, count in self.errors.items())

    @property
    def cells(self) -> Sequence[str]:
        """The row of a table under HEAD."""
        at_least = "at least " if self.uncounted else ""
        cost = "-" if self.cost is None else f"{at_least}{self.cost:.4f}"
        numbers = (f"{getattr(self, name):,}" for name in (*_SUMS, "uncounted"))
        return (str(self.answers), self.failed or "0", *numbers, cost)

    def __str__(self) -> str:
        errors = self.failed
        counted = f" ({format_count(self.uncounted, 'answer')} not counted)"
        return (
            f"{format_count(self.answers, 'answer')} of language models, "
            f"{sum(self.errors.values()):,} failed{f' ({errors})' if errors else ''}; "
            f"{self.tokens_in:,} tokens in, {self.tokens_out:,} out"
            f"{counted if self.uncounted else ''}"
        )


class Usage(msgspec.Struct, frozen=True):
    """The usage of a run.

    Attributes:
        path: the journal.
        agents: (agent, its model with its options as in labels, usage); of a program, which has no
            agents, (None, model, usage).
        total: of all answers.
        failures: the outcomes of each model's answers.
    """

    path: str
    agents: Sequence[tuple[int | None, str, Taken]]
    total: Taken
    failures: Sequence[Failures]

    def __str__(self) -> str:
        """The usage as a table, by agent."""
        rows = [
            ("-" if agent is None else str(agent), escaped(model), *of.cells)
            for agent, model, of in self.agents
        ]
        rows = [("agent", "model", *HEAD), *rows, ("all", "", *self.total.cells)]
        table = format_table(rows, numbers=[0, *range(2, len(rows[0]))])
        return "\n".join([escaped(self.path), table, *map(escaped, format_cut(self.failures))])

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "agents": [
                {"agent": agent, "model": model, **msgspec.structs.asdict(taken)}
                for agent, model, taken in self.agents
            ],
            "total": msgspec.structs.asdict(self.total),
            "failures": [msgspec.structs.asdict(one) for one in self.failures],
        }


def asked_by(reader: JournalReader) -> Iterator[RecordedAnswer]:
    """The answers of models in an open journal that was not read yet, in the order of its commits;
    none if the world asks no models. An unfinished round counts, a torn tail does not.

    Raises JournalError as reading a journal does.
    """
    tools = tools_of(reader)
    own, players = tools.answers(reader), tools.players
    if own is not None:
        yield from own
    elif players.answers is not None:
        yield from by_reader.answers_in(reader, open_world(reader), players.answers)


@reader_of
def failures_in(path: str | Path) -> list[Failures]:
    """The outcomes of each model's answers in a journal. Raises JournalError."""
    with JournalReader(path) as reader:
        return failures_by(reader)


def failures_by(reader: JournalReader) -> list[Failures]:
    """The outcomes of each model's answers in an open journal that was not read yet."""
    return merge_failures(map(_outcome, asked_by(reader)))


def _outcome(recorded: RecordedAnswer) -> Failures:
    answer = recorded.answer
    return Failures.of(recorded.asked.subject, answer.failure, is_cut=answer.finish == LENGTH)


@reader_of
def usage(path: str | Path, prices: Prices | None = None) -> Usage:
    """The usage of a run, including unfinished units.

    A fork counts the usage of its parent before the fork, too. Raises JournalError as reading a
    journal does.
    """
    by_agent: dict[tuple[int | None, str], list[RecordedAnswer]] = {}
    everything = []
    with JournalReader(path) as reader:
        has_agents = tools_of(reader).players is not NOBODY
        for recorded in asked_by(reader):
            asked = recorded.without_text()
            agent = asked.answer.agent if has_agents else None
            by_agent.setdefault((agent, asked.asked.subject), []).append(asked)
            everything.append(asked)
    prices = prices or {}
    return Usage(
        str(path),
        [
            (agent, model, _taken(by_agent[agent, model], prices))
            for agent, model in sorted(by_agent, key=lambda key: (key[0] or 0, key[1]))
        ],
        _taken(everything, prices),
        merge_failures(map(_outcome, everything)),
    )


def _taken(recorded: Sequence[RecordedAnswer], prices: Prices) -> Taken:
    answers = [each.answer for each in recorded]
    uncounted = [
        answer
        for answer in answers
        if None in (answer.tokens_in, answer.tokens_out) and answer.failure != NO_ANSWER
    ]
    errors = Counter(answer.failure for answer in answers if answer.failure)
    return Taken(
        answers=len(answers),
        errors=dict(sorted(errors.items())),
        **{name: sum(getattr(each, name) or 0 for each in answers) for name in _SUMS},
        uncounted=len(uncounted),
        cost=_cost(recorded, prices),
    )


def _cost(recorded: Iterable[RecordedAnswer], prices: Prices) -> float | None:
    cost = 0.0
    for amount in (each.amount for each in recorded):
        if amount.name not in prices:
            return None
        price = Price(*prices[amount.name])
        cost += price.millionths(amount.tokens_in, amount.tokens_out)
    return cost / 1_000_000
