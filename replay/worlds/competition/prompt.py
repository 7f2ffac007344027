"""The prompts of an agent in an assignment, reconstructed from the journal.

Scripted agents have prompts too: the messages that a language model in their place would be sent.
"""

from __future__ import annotations

from pathlib import Path

from goldrush.agents.llm.question import Answer, Question
from goldrush.agents.players import Resources
from goldrush.agents.seats import is_outside
from goldrush.agents.worlds.competition.arenas import opened_tests
from goldrush.agents.worlds.competition.check import SeasonCheck
from goldrush.agents.worlds.competition.seats import answer_in
from goldrush.agents.worlds.competition.versions import PROMPT
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.walk import DERIVED, Walk
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.competition.events import CODES, Answered
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.rebuild import walk_through
from goldrush.replay.tools import RebuiltPrompt
from goldrush.replay.worlds.competition.steps import season_world


@reader_of
def prompted(
    path: str | Path, assignment: int, agent: int, resources: Resources = Resources()
) -> list[RebuiltPrompt]:
    """Every question to an agent in a closed assignment, in order; of an agent that was asked with
    another version of the prompt its answers alone.

    A question depends on the earlier acts of the assignment, so scripted agents are asked again and
    trials and tests run again. `assignment`: the assignment, from 0; `resources`: the program that
    tests and the number of jobs.

    Raises:
        BadInput: if there is no such agent or closed assignment, its tests cannot be run here, or
            no question can be reconstructed because agents cannot be asked again.
        PolicyFailed: if a policy fails.
        JournalError: if the journal cannot be read; MalformedEvents if an event up to the end of
            the assignment does not follow from the submissions.
    """
    questions: list[RebuiltPrompt] = []
    answers: list[Answer] = []  # of the agent, as they are recorded

    def keep(prompt: Question, row: Row | None) -> None:
        if prompt.agent == agent:
            answer = None if row is None else answer_in(row)
            is_asked = answer is not None and answer.is_asked
            questions.append(RebuiltPrompt(prompt, answer if is_asked else None))

    with JournalReader(path) as reader:
        # Agents are asked on the way and must not see forged events.
        world = season_world(reader, judging=True)
        before = Walk(world, reader, DERIVED)
        walk = walk_through(world, reader, assignment, before)
        state = walk.state
        if agent not in state.agents:
            raise BadInput(f"there is no agent {agent}", f"give one from 0 to {max(state.agents)}")
        with opened_tests(state.arena, resources.program, resources.jobs) as tests:
            again = SeasonCheck(state, tests, before.forks, on_prompt=keep)
            asked = state.copy()
            for _, step, after in walk.steps():
                if step is not None:
                    rows = map(answer_in, step.inputs.rows(CODES[Answered]))
                    answers += [each for each in rows if each.agent == agent and each.is_asked]
                    again(asked, step.inputs)
                    asked = after.copy()
    options = state.agents[agent].options
    if is_outside(state.agents[agent].policy) and not PROMPT.is_of(options):
        return [RebuiltPrompt(None, each, versions=PROMPT.other(options)) for each in answers]
    if not questions and (again.not_asked or again.unknown):
        raise BadInput(
            f"the prompt of agent {agent} cannot be made again; not asked again: "
            f"{'; '.join([*again.not_asked, *again.unknown])}",
            "see its answer with `goldrush export`",
        )
    return questions
