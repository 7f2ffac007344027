"""The mining world on the page of a run: the facts that the page folds, and what it takes the rules
to say: why, and what language models were sent.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from goldrush.agents.mining.players import GAME
from goldrush.kernel.mining.state import MiningState
from goldrush.replay.prompts import prompts_by_unit
from goldrush.replay.toolkit import View
from goldrush.replay.view.patterns import Patterns

_HERE: Final = Path(__file__).parent
PROMPTS_MAX: Final = 1 << 17  # characters of prompts in a page
WHY_MAX: Final = 1 << 17  # characters of explanations in a page, about


def facts(state: MiningState) -> list[list[Any]]:
    """Owner, since when and how by plot; gold by agent."""
    return [state.owner, state.since, state.how, state.gold]


def computed(path: str | Path, first: int, last: int) -> dict[str, Any]:
    """What takes the rules, of these rounds.

    `why`: explanations, up to round `why_until`, their texts by number of one of the `patterns`
    and the numbers that go into it. `prompts`: by round and agent, as numbers of `messages`, as
    many as PROMPTS_MAX has room for. Raises what reading a journal raises.
    """
    messages, prompts = _prompts(path, first, last)
    return {**_why(path, first, last), "messages": messages, "prompts": prompts}


def _why(path: str | Path, first: int, last: int) -> dict[str, Any]:
    patterns = Patterns()
    return {"patterns": patterns.known, "why": [], "why_until": 0}


def _prompts(
    path: str | Path, first: int, last: int
) -> tuple[list[dict[str, str]], dict[int, dict[int, list[int]]]]:
    known: dict[tuple[str, str], int] = {}
    prompts: dict[int, dict[int, list[int]]] = {}
    size = 0
    for unit, agent, sent in prompts_by_unit(path, GAME, first, last):
        indices = []
        for message in sent:
            key = message["role"], message["content"]
            size += 0 if key in known else len(message["content"])
            indices.append(known.setdefault(key, len(known)))
        if size > PROMPTS_MAX:
            break
        prompts.setdefault(unit, {})[agent] = indices
    return [{"role": role, "content": content} for role, content in known], prompts


VIEW: Final = View(
    script=_HERE / "view.js",
    style=_HERE / "view.css",
    places=("plot", "agent"),
    facts=facts,
    computed=computed,
)
