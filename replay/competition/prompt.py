"""What an agent was, or would be, sent in an assignment, made again from the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from goldrush.agents.competition.again import SeasonAgain
from goldrush.agents.competition.step import Question
from goldrush.agents.llm.models import LLM
from goldrush.agents.llm.question import Message, digest
from goldrush.kernel.competition.state import copied
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import FORK, JournalReader
from goldrush.kernel.world import Row
from goldrush.replay.competition.steps import assignment_in, moments
from goldrush.replay.forged import reader_of


@attrs.frozen
class Prompted:
    """One question: its `name`, the `messages` as they are sent, their `digest`.

    `recorded`: the digest that stands in the answer, None where there is none; `answer`: its text;
    `is_model`: the agent is a language model, and not one that could be.
    """

    name: str
    messages: Sequence[Message]
    digest: str
    recorded: str | None
    answer: str | None
    is_model: bool

    def as_dict(self) -> dict[str, Any]:
        """The question for JSON."""
        return {**attrs.asdict(self), "messages": [dict(message) for message in self.messages]}


@reader_of
def prompted(path: str | Path, assignment: int, agent: int) -> list[Prompted]:
    """Every question to an agent in a closed assignment, in order. To know what the others did
    before each, the scripted ones are asked again.

    Raises BadInput where there is no such agent or assignment, PolicyFailed where a policy fails,
    what reading a journal raises, and MalformedEvents where an event up to there does not follow
    from what was submitted.
    """
    found: list[Prompted] = []

    def keep(question: Question, row: Row | None) -> None:
        if question.agent.ordinal == agent:
            found.append(_prompted(question, row))

    with JournalReader(path) as reader:
        # Agents are asked on the way, so nothing that was forged may be what they see.
        state, commits = assignment_in(reader, assignment, derived=True)
        if agent not in state.agents:
            raise BadInput(f"there is no agent {agent}", f"give one from 0 to {max(state.agents)}")
        again = SeasonAgain(state, _forks(reader, commits[0].unit), on_question=keep)
        before = copied(state)
        for moment in moments(reader, commits, state):
            again(before, moment.step.inputs)
            before = copied(moment.state)
    return found


def _forks(journal: JournalReader, unit: int) -> list[Mapping[str, Any]]:
    """The facts of the forks before a unit of a journal."""
    with journal.again() as reader:
        facts = []
        for commit in reader:
            if commit.unit >= unit and commit.kind != FORK:
                break
            if commit.kind == FORK:
                facts.append(commit.setup or {})
        return facts


def _prompted(question: Question, row: Row | None) -> Prompted:
    source = (row[3] or {}) if row else {}
    return Prompted(
        question.name,
        question.messages,
        digest(question.messages),
        source.get("prompt"),
        row[2] if row else None,
        question.agent.policy == LLM,
    )
