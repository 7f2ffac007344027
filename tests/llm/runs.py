"""Mining runs of language models against a server of the tests, and what their journals hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from goldrush.agents.llm.model import Model
from goldrush.agents.llm.models import Endpoint, Models, read_models
from goldrush.agents.llm.options import TEXT
from goldrush.kernel.errors import TornTail
from goldrush.kernel.journal import Commit, JournalReader
from goldrush.kernel.world import Batch, Row
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import SUBMITTED
from goldrush.replay.journal.log import log
from tests import journals
from tests.llm.servers import Asked, Reply, completion
from tests.waiting import until

_REACH = ("tries", "timeout", "price_in", "price_out", "key_env")


def models(address: str | None, *names: str, tokens: int = 500, **chosen: Any) -> Models:
    """Models that need no short question, by these names (default: `a`), at one server."""
    reach = {name: chosen.pop(name) for name in _REACH if name in chosen}
    endpoint = Endpoint(address, **{"tries": 1, **reach})
    known = {
        name: (Model(name, f"{name}-1", answer=TEXT, max_tokens=tokens), endpoint)
        for name in names or ("a",)
    }
    return Models(known, **chosen)


def table(folder: Path, text: str | bytes) -> dict[str, tuple[Model, Endpoint]]:
    """What a file of models says."""
    path = folder / "models.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_models(path)


def text_of(agent: int, round: int) -> str:
    """What a scripted model answers: it claims, mines what it may have, and raids."""
    mine = (13 * agent + 7 * (round - 1)) % 100
    plan = [
        ("claim", (13 * agent + 7 * round) % 100, 1),
        ("claim", (5 * agent + 11 * round) % 100, 1),
        ("mine", mine, 3),
        ("raid", (31 * agent + round) % 100, 1),
    ]
    return json.dumps({"actions": plan})


def playing(asked: Asked) -> Reply:
    """The response of that model; tokens are bytes, and as many out as the text has."""
    if asked.agent is None or asked.round is None:
        return completion('{"actions": []}')
    text = text_of(asked.agent, asked.round)
    return completion(text, usage=(bytes_in(asked), len(text)))


def arriving(
    path: Path, order: Callable[[int], Sequence[int]], reply: Callable[[Asked], Reply] = playing
) -> Callable[[Asked], Reply]:
    """Replies, each when those of the agents before it in the round's order are in the journal."""

    def respond(asked: Asked) -> Reply:
        round, agents = asked.round or 0, order(asked.round or 0)
        before = {(round, agent) for agent in agents[: agents.index(asked.agent or 0)]}
        until(lambda: before <= rows_in(path).keys())
        return reply(asked)

    return respond


def bytes_in(asked: Asked) -> int:
    """The bytes of a question, messages alone."""
    return sum(len(message["content"].encode()) for message in asked.body["messages"])


def pairs(asked: Sequence[Asked]) -> list[tuple[int | None, int | None]]:
    """(round, agent) of requests."""
    return [(one.round, one.agent) for one in asked]


def rows_in(path: Path, *, models_only: bool = True) -> dict[tuple[int, int], Row]:
    """Submissions by (round, agent), those of rounds left open included."""
    found: dict[tuple[int, int], Row] = {}
    with JournalReader(path) as reader:
        try:
            for commit in reader:
                for block in commit.blocks[::2]:
                    for row in block.rows(SUBMITTED):
                        if row[5] is not None or not models_only:
                            assert (commit.unit, row[0]) not in found
                            found[commit.unit, row[0]] = row
        except TornTail:
            pass
    return found


def told(path: Path) -> list[dict[str, Any]]:
    """All events."""
    return [event.as_dict() for event in log(path)]


def played_again(commits: Sequence[Commit], change: Callable[[int, Row], Row]) -> list[Commit]:
    """The commits with other submissions, and what then follows from them."""

    def inputs(unit: int, batches: Sequence[Batch]) -> list[Batch]:
        return [(code, [change(unit, row) for row in rows]) for code, rows in batches]

    return journals.played_again(commits, MINING, inputs=inputs)
