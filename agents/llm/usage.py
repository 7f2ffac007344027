"""What models were asked in a run and what it took, read from the journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from agents.llm.budget import Amount
from agents.llm.models import LLM, MAX_TOKENS_MAX
from agents.llm.prompt import PROMPT_MAX
from kernel import fold
from kernel.errors import TornTail
from kernel.journal import FORK, JournalReader
from kernel.mining import MINING
from kernel.mining.events import NO_ANSWER, SUBMITTED


@attrs.frozen
class Asked:
    """One agent of one round: the model by the roster's name, the `error` of what came (None: a
    plan), tokens as the server counted them (None: it did not), tries, the most
    tokens that the answer could have. `forks`: how many forks stand before it in the journal.
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


def asked_in(path: str | Path) -> Iterator[Asked]:
    """Every answer of a model in a mining journal, in the order in which they were committed.

    An unfinished round counts, a torn tail does not. Raises what reading a journal raises.
    """
    chosen: Mapping[int, tuple[str, int]] = {}
    forks = 0
    with JournalReader(path) as reader:
        try:
            for commit in reader:
                if commit.setup is not None:
                    event = fold.setup_event(MINING, reader, commit)
                    forks += commit.kind == FORK
                    if event["roster"] is not None:
                        chosen = _models_of(event["roster"])
                if next(fold.faults(MINING, commit.blocks[::2], is_input=True), None):
                    raise fold.malformed(MINING, reader.path, commit)
                for block in commit.blocks[::2]:
                    for row in block.rows(SUBMITTED):
                        if row[0] in chosen and row[5] is not None:
                            yield _asked(commit.unit, row, chosen[row[0]], forks)
        except TornTail:
            return


def taken_in(path: str | Path, forks: int) -> list[Amount]:
    """What the answers took that stand behind so many forks: those that a run asked for itself.

    Where a server did not say, the most that it can have been.
    """
    return [_amount(one) for one in asked_in(path) if one.forks == forks]


def _amount(one: Asked) -> Amount:
    if one.error == NO_ANSWER and one.tokens_in is None:
        return Amount(one.model, 0, 0)  # nothing came, and nothing was said to be charged
    tokens_in = PROMPT_MAX if one.tokens_in is None else one.tokens_in
    tokens_out = one.max_tokens if one.tokens_out is None else one.tokens_out
    return Amount(one.model, tokens_in, tokens_out)


def _models_of(roster: Any) -> dict[int, tuple[str, int]]:
    """Of each agent that is a model its name and the most tokens of an answer, whatever else this
    version knows of it.
    """
    models = {}
    for entry in roster:
        if entry["policy"] == LLM:
            name, most = entry["options"].get("name"), _count(entry["options"].get("max_tokens"))
            models[entry["agent"]] = str(name), MAX_TOKENS_MAX if most is None else most
    return models


def _asked(round: int, row: Any, model: tuple[str, int], forks: int) -> Asked:
    agent, _, error, _, _, source = row
    count = {name: _count(source.get(name)) for name in ("tokens_in", "tokens_out", "tries")}
    return Asked(round, agent, model[0], error, count["tokens_in"], count["tokens_out"],
                 count["tries"] or 1, model[1], forks)  # fmt: skip


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None
