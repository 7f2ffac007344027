"""The prompts of an agent in an assignment, reconstructed from the journal.

Scripted agents have prompts too: the messages that a language model in their place would be sent.
"""

from __future__ import annotations

from pathlib import Path

from goldrush.agents.llm.afterwards import Changes, entries_changed
from goldrush.agents.llm.model import options_by_prefix
from goldrush.agents.llm.question import Answer, Question
from goldrush.agents.players import Resources
from goldrush.agents.seats import is_outside
from goldrush.agents.trust import LLM
from goldrush.agents.worlds.competition.arenas import opened_tests
from goldrush.agents.worlds.competition.check import SeasonCheck
from goldrush.agents.worlds.competition.play import SeasonPlay
from goldrush.agents.worlds.competition.seats import answer_in, roster_of
from goldrush.agents.worlds.competition.versions import PROMPT
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.walk import DERIVED, Walk
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.competition.events import CODES, Answered
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.rebuild import walk_through
from goldrush.replay.tools import RebuiltPrompt
from goldrush.replay.worlds.competition.steps import season_world


@reader_of
def prompted(
    path: str | Path, assignment: int, agent: int, resources: Resources = Resources(),
    changes: Changes | None = None,
) -> list[RebuiltPrompt]:  # fmt: skip
    """Every question to an agent in a closed assignment, in order; of an agent that was asked with
    another version of the prompt its answers alone.

    A question depends on the earlier acts of the assignment, so scripted agents are asked again and
    trials and tests run again. `assignment`: the assignment, from 0; `resources`: the program that
    tests and the number of jobs; `changes`: see `Tools.prompts`.

    Raises:
        BadInput: if there is no such agent or closed assignment, its tests cannot be run here, or
            no question can be reconstructed because agents cannot be asked again.
        PolicyFailed: if a policy fails.
        JournalError: if the journal cannot be read; MalformedEvents if an event up to the end of
            the assignment does not follow from the submissions.
    """
    questions: list[RebuiltPrompt] = []
    answers: list[Answer] = []  # of the agent, as they are recorded

    def keep(play: SeasonPlay, prompt: Question, row: Row | None) -> None:
        if prompt.agent == agent:
            answer = None if row is None else answer_in(row)
            is_asked = answer is not None and answer.is_asked
            questions.append(RebuiltPrompt(prompt, answer if is_asked else None, play=play.still()))

    with JournalReader(path) as reader:
        # Agents are asked on the way and must not see forged events.
        world = season_world(reader, judging=True)
        before = Walk(world, reader, DERIVED)
        walk = walk_through(world, reader, assignment, before)
        state = walk.state
        if agent not in state.agents:
            raise BadInput(f"there is no agent {agent}", f"give one from 0 to {max(state.agents)}")
        with opened_tests(state.arena, resources.program, resources.jobs) as tests:
            asked = _asked_otherwise(state, agent, changes)
            again = SeasonCheck(asked, tests, before.forks, on_prompt=keep)
            for _, step, after in walk.steps():
                if step is not None:
                    rows = map(answer_in, step.inputs.rows(CODES[Answered]))
                    answers += [each for each in rows if each.agent == agent and each.is_asked]
                    again(asked, step.inputs)
                    asked = _asked_otherwise(after, agent, changes)
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


def _asked_otherwise(state: SeasonState, agent: int, changes: Changes | None) -> SeasonState:
    """A copy of a state in which the model of an agent is asked with these changes."""
    state = state.copy()
    if changes and state.agents[agent].policy == LLM:
        own = state.agents[agent]
        prefix = own.class_ if own.class_ in options_by_prefix(own.options) else ""
        for each in entries_changed(
            roster_of(state.agents.values()).entries, agent, changes, prefix
        ):
            state.change(each.agent, options=each.options)
    return state
