"""Prompts of agents, rebuilt from the journal, in worlds where all agents submit at once: those
that were sent, and those that would have been.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import attrs

from goldrush.agents.llm.model import Model
from goldrush.agents.llm.question import About, Question, drawn_seed
from goldrush.agents.llm.versions import decided
from goldrush.agents.roster import entries_in
from goldrush.agents.stage_game import S, StageGame, V
from goldrush.agents.trust import LLM
from goldrush.kernel import fold
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import END, UNIT, JournalReader
from goldrush.kernel.walk import DERIVED, Walk
from goldrush.kernel.world import Block, Step
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.tools import RebuiltPrompt


@reader_of
def prompted(
    path: str | Path, game: StageGame[S, V], unit: int, agent: int
) -> Sequence[RebuiltPrompt]:
    """The prompts of an agent for a unit of a journal, one for each step in which it is asked, as
    far as the unit is recorded. `unit`: the public number of the unit, up to the one after the last
    closed.

    Raises BadInput for an unknown agent or unit, and for a model with a prompt of another version;
    MalformedEvents if an event up to that unit does not follow from the submissions; JournalError
    as reading a journal does.
    """
    state, steps = _before(path, game, unit)
    agents = len(state.roster)
    if not 0 <= agent < agents:
        raise BadInput(f"there is no agent {agent}", f"give one from 0 to {agents - 1}")
    entry = entries_in(state.roster)[agent]
    is_model = entry.policy == LLM
    game.check_prompt(entry)
    version = game.policy_set.prompt
    assert version is not None  # a game with prompting
    model = Model.of(entry.options) if is_model else decided(Model("any", "any"), version)
    rebuilt: list[RebuiltPrompt] = []
    for step in steps:
        turn = game.turn_of(state)
        if agent in turn.agents and turn.code is not None:
            prompt = game.prompt(game.view(state), Question(agent), entry, model)
            # A submission that was replaced was not asked for.
            before = [each for each in rebuilt if each.recorded is not None or not is_model]
            seed = drawn_seed(model, state.config.seed, unit, agent, len(before))
            request = attrs.evolve(prompt, seed=seed).request()
            about = _recorded(step.inputs, game, agent)
            rebuilt.append(
                RebuiltPrompt(
                    "",
                    prompt.messages,
                    prompt.digest,
                    is_model,
                    about,
                    request,
                    turn.step,
                )
            )
        if step.derived.batches:
            state = fold.fold(game.world, state, [step.inputs, step.derived])
    if not rebuilt:
        place = f"{game.world.vocabulary.unit} {unit}"
        raise BadInput(f"agent {agent} is not asked in {place}", "give another agent or unit")
    return rebuilt


def _before(path: str | Path, game: StageGame[S, V], unit: int) -> tuple[S, Sequence[Step]]:
    """The state before a unit, and its recorded steps; the last one without derived events if it is
    not complete, or is still to come.

    Read from the start, without an index: a prompt is derived, never taken from a cache.
    """
    world, vocabulary = game.world, game.world.vocabulary
    first = vocabulary.number(1)
    if unit < first:
        problem = f"{path} has no {vocabulary.unit} {unit} to ask for"
        raise BadInput(problem, f"give one from {first} on")
    before: S | None = None
    steps: list[Step] = []
    assembler = fold.StepAssembler(world.arrange)
    is_open = True  # the unit may have another step
    open_to = first - 1  # the last unit for which agents can be asked
    with JournalReader(path) as reader:
        for commit, state in Walk(world, reader, DERIVED):
            number = vocabulary.number(commit.unit)
            if commit.kind == END or number > unit:
                break
            if number == unit and commit.kind == UNIT:
                steps += assembler.completed_by(commit)
                is_open = commit.digest is None
                if not is_open:
                    break  # damage after the unit does not matter
            if commit.digest is not None and not world.ended(state):
                open_to = number + 1
                if open_to == unit:
                    before = world.copy(state)
    if before is None:
        problem = f"{path} has no {vocabulary.unit} {unit} to ask for"
        raise BadInput(problem, f"give one from {first} to {open_to}")
    return before, [*steps, Step(assembler.pending, Block(()))] if is_open else steps


def _recorded(inputs: Block, game: StageGame[S, V], agent: int) -> About | None:
    """The answer of a model or a person in an agent's submission, if these inputs have it."""
    for _, rows in inputs:
        for row in rows:
            if row[0] == agent and (about := game.about(row)).source is not None:
                return about
    return None
