"""Usage of language models in a run, by agent and model, read from its journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import msgspec

from goldrush.agents.llm import usage as by_reader
from goldrush.agents.llm.budget import Price
from goldrush.agents.llm.failures import (
    NO_ANSWER,
    Failures,
    failure_kind,
    format_cut,
)
from goldrush.agents.llm.question import LENGTH
from goldrush.agents.llm.usage import RecordedAnswer
from goldrush.agents.players import NOBODY
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import escaped
from goldrush.replay.find import open_world, tools_of
from goldrush.replay.journal.forged import reading
from goldrush.replay.journal.taken import HEAD, SUMS, Taken, by_model, total_of
from goldrush.replay.study.listing import StudyFolders
from goldrush.replay.text import format_table

# For 1,000,000 tokens in and out; see Price.
Prices = Mapping[str, Price | tuple[float, float]]


class Usage(msgspec.Struct, frozen=True):
    """The usage of a run.

    Attributes:
        path: the journal.
        agents: (agent, its model with its options as in labels, usage); of a program, which has no
            agents, (None, model, usage).
        total: of all answers.
    """

    path: str
    agents: Sequence[tuple[int | None, str, Taken]]
    total: Taken

    @property
    def failures(self) -> list[Failures]:
        """The outcomes of each model's answers."""
        return [taken.failures for taken in by_model(taken for *_, taken in self.agents)]

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


def usage_by_cell(runs: Iterable[Usage], studies: StudyFolders) -> list[tuple[str, str, Taken]]:
    """The usage of each model in all runs of a cell of a study, as (treatment, roster, usage);
    empty for runs of none.
    """
    by_cell: dict[tuple[str, str], list[Taken]] = {}
    for run in runs:
        if (cell := studies.cell_of(run.path.removesuffix(".unfinished"))) is not None:
            by_cell.setdefault(cell, []).extend(taken for *_, taken in run.agents)
    return [(*cell, taken) for cell, parts in by_cell.items() for taken in by_model(parts)]


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


def taken_by(reader: JournalReader) -> list[Taken]:
    """The usage of each model in an open journal that was not read yet, without costs."""
    return by_model(_taken(recorded, {}) for recorded in asked_by(reader))


def usage(path: str | Path, prices: Prices | None = None) -> Usage:
    """The usage of a run, including unfinished units.

    A fork counts the usage of its parent before the fork, too. Raises JournalError as reading a
    journal does.
    """
    by_agent: dict[tuple[int | None, str], list[Taken]] = {}
    with reading(path) as reader:
        has_agents = tools_of(reader).players is not NOBODY
        for recorded in asked_by(reader):
            agent = recorded.answer.agent if has_agents else None
            taken = _taken(recorded, prices or {})
            by_agent.setdefault((agent, taken.model), []).append(taken)
    keys = sorted(by_agent, key=lambda key: (key[0] or 0, key[1]))
    agents = [(*key, reduce(add, by_agent[key])) for key in keys]
    return Usage(str(path), agents, total_of(taken for *_, taken in agents))


def _taken(recorded: RecordedAnswer, prices: Prices) -> Taken:
    answer, amount = recorded.answer, recorded.amount
    failure, price = answer.failure, prices.get(amount.name)
    is_counted = None not in (answer.tokens_in, answer.tokens_out) or failure == NO_ANSWER
    cost = price and Price(*price).millionths(amount.tokens_in, amount.tokens_out) / 1_000_000
    return Taken(
        model=recorded.asked.subject,
        answers=1,
        errors={failure: 1} if failure else {},
        cut=int(answer.finish == LENGTH and failure_kind(failure) is None),
        **{name: getattr(answer, name) or 0 for name in SUMS},
        uncounted=int(not is_counted),
        cost=cost,
        reported=(answer.model,) if answer.model else (),
        fingerprints=(answer.fingerprint,) if answer.fingerprint else (),
        created=(answer.created,) if answer.created else (),
    )
