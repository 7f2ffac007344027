"""How `goldrush prompt` shows what a miner is sent: one prompt a round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from replay.prompt import Prompted
from replay.prompt import prompted as prompt_of

UNIT = "round"


def prompted(journal: str, round_: int, agent: int) -> list[Prompted]:
    """The one prompt of an agent in a round."""
    return [prompt_of(journal, round_, agent)]


def as_json(found: Sequence[Prompted], round_: int, agent: int) -> dict[str, Any]:
    """The request for JSON."""
    [one] = found
    return {
        "round": round_, "agent": agent, "digest": one.digest, "recorded": one.recorded,
        "request": dict(one.request),
    }  # fmt: skip
