"""What an agent was, or would be, sent before a round, made again from the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from goldrush.agents.llm.models import LLM, Endpoint, Model, check_version, model_of
from goldrush.agents.llm.question import Message, Question, digest
from goldrush.agents.mining.prompt import VERSION, Prompts, schema
from goldrush.kernel import derive
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import END, UNIT, Commit, JournalReader
from goldrush.kernel.mining import MINING
from goldrush.kernel.mining.events import SUBMITTED
from goldrush.kernel.mining.observe import Observation, Shown
from goldrush.kernel.mining.state import MiningState
from goldrush.replay.forged import reader_of


@attrs.frozen
class Prompted:
    """`messages` as they are sent, their `digest`, and the whole body of the `request`.

    `recorded`: the digest that stands in the agent's submission of that round, None where it has
    none; `is_model`: the agent is a language model, and not one that could be.
    """

    messages: Sequence[Message]
    digest: str
    request: Mapping[str, Any]
    recorded: str | None
    is_model: bool


@reader_of
def prompted(path: str | Path, round: int, agent: int) -> Prompted:
    """The prompt of an agent for a round of a mining journal: up to the one after the last closed.

    Raises BadInput where there is no such agent or round, and for models that were asked with a
    prompt of another version; what reading a journal raises; and MalformedEvents where an event up
    to that round does not follow from what was submitted.
    """
    state, recorded = _before(path, round, agent)
    if not 0 <= agent < state.config.agents:
        raise BadInput(
            f"there is no agent {agent}", f"give one from 0 to {state.config.agents - 1}"
        )
    entry = state.roster[agent]
    model = Model("any", "any", prompt=VERSION)
    if entry["policy"] == LLM:
        model = model_of(entry["options"])
        check_version(model, VERSION)
    shown = Shown(state)
    messages = Prompts(shown).of(agent)
    question = Question(model, Endpoint(), messages, schema(Observation(shown, agent)))
    request = question.request()
    return Prompted(messages, digest(messages), request, recorded, entry["policy"] == LLM)


def _before(path: str | Path, round: int, agent: int) -> tuple[MiningState, str | None]:
    """The state in which agents are asked for a round, and the digest that is recorded for one.

    Read from the start, not by way of an index: what an agent is told is derived, not believed.
    """
    if round < 1:
        raise BadInput(f"{path} has no round {round} to ask for", "give one from 1 on")
    before: MiningState | None = None
    recorded: str | None = None
    open_to = 0  # the last round that anybody can be asked for
    with JournalReader(path) as reader:
        for commit, state in derive.states(MINING, reader):
            if commit.kind == END or commit.unit > round:
                break
            if commit.unit == round and commit.kind == UNIT:
                recorded = recorded or _recorded(commit, agent)
                if commit.digest is not None:
                    break  # what is behind the round does not matter, broken or not
            if commit.digest is not None:
                open_to = min(commit.unit + 1, state.config.rounds)
                if commit.unit == round - 1 and open_to == round:
                    before = MINING.copy(state)
    if before is None:
        raise BadInput(f"{path} has no round {round} to ask for", f"give one from 1 to {open_to}")
    return before, recorded


def _recorded(commit: Commit, agent: int) -> str | None:
    """The digest of the prompt in an agent's submission, if it stands in this commit."""
    for block in commit.blocks[::2]:
        for row in block.rows(SUBMITTED):
            if row[0] == agent and row[5] is not None:
                return str(row[5].get("prompt"))
    return None
