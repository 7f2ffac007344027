"""Prompts of agents, rebuilt from the journal, in worlds where all agents submit at once: those
that were sent, and those that would have been.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from goldrush.agents.llm.afterwards import Changes, entries_changed
from goldrush.agents.llm.model import Model
from goldrush.agents.llm.question import Answer, Question, drawn_seed
from goldrush.agents.llm.versions import decided
from goldrush.agents.roster import Entry, Roster, entries_in
from goldrush.agents.seats import is_outside
from goldrush.agents.simultaneous import S, SimultaneousPlayers, V
from goldrush.agents.trust import LLM
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import END, JournalReader
from goldrush.kernel.walk import DERIVED, Walk
from goldrush.kernel.world import Block
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.tools import RebuiltPrompt


@reader_of
def prompted(
    path: str | Path, players: SimultaneousPlayers[S, V], unit: int, agent: int,
    changes: Changes | None = None,
) -> Sequence[RebuiltPrompt]:  # fmt: skip
    """The prompts of an agent for a unit of a journal, one for each step in which it is asked, as
    far as the unit is recorded. `unit`: the public number of the unit, up to the one after the last
    closed; `changes`: see `Tools.prompts`.

    Raises BadInput for an unknown agent or unit, and for a model with a prompt of another version
    whose answer is not recorded;
    MalformedEvents if an event up to that unit does not follow from the submissions; JournalError
    as reading a journal does.
    """
    rebuilt: list[RebuiltPrompt] = []
    for state, inputs in _steps(path, players, unit):
        if not 0 <= agent < len(state.roster):
            last = len(state.roster) - 1
            raise BadInput(f"there is no agent {agent}", f"give one from 0 to {last}")
        entry = entries_in(state.roster)[agent]
        is_model = entry.policy == LLM
        version = players.prompt
        assert version is not None  # models can play
        answer = _recorded(inputs, players, agent)
        if is_outside(entry.policy) and not version.is_of(entry.options):
            if answer is None:
                players.check_prompt(entry)
            step, versions = players.turn(state)[0], version.other(entry.options)
            rebuilt.append(RebuiltPrompt(None, answer, step, versions=versions))
            continue
        if changes and is_model:
            entry = _asked_otherwise(state, agent, changes)
        anyone = decided(Model("any", "any"), version).as_options()
        model = Model.asked(entry.options if is_model else anyone)
        play = players.play(state, {}, entries_in(state.roster), models={agent: model})
        if play is None or agent not in play.agents:
            continue
        prompt = play.prompt(Question(agent))
        # A submission that was replaced was not asked for.
        before = [each for each in rebuilt if each.recorded is not None or not is_model]
        seed = drawn_seed(model, state.config.seed, unit, agent, len(before))
        question = msgspec.structs.replace(prompt, seed=seed)
        rebuilt.append(RebuiltPrompt(question, answer, play.step, play))
    if not rebuilt:
        place = f"{players.world.vocabulary.unit} {unit}"
        raise BadInput(f"agent {agent} is not asked in {place}", "give another agent or unit")
    return rebuilt


def _asked_otherwise(state: Any, agent: int, changes: Changes) -> Entry:
    """The entry of an agent with these changes, which the roster of the state then has."""
    entries = entries_changed(entries_in(state.roster), agent, changes)
    state.roster = Roster(entries).as_setup()
    return entries[agent]


def _steps(
    path: str | Path, players: SimultaneousPlayers[S, V], unit: int
) -> Iterator[tuple[S, Block]]:
    """The state before each step of a unit, with the recorded inputs; the last step may lack some,
    or still be to come.

    Read from the start, without an index: a prompt is derived, never taken from a cache.
    """
    world, vocabulary = players.world, players.world.vocabulary
    first = vocabulary.number(1)
    before: S | None = None
    problem = f"{path} has no {vocabulary.unit} {unit} to ask for"
    if unit < first:
        raise BadInput(problem, f"give one from {first} on")
    open_to = first - 1  # the last unit for which agents can be asked
    with JournalReader(path) as reader:
        walk = Walk(world, reader, DERIVED)
        for commit, step, state in walk.steps():
            number = vocabulary.number(commit.unit)
            if commit.kind == END:
                break
            if number == unit and step is not None and before is not None:
                yield before, step.inputs
                before = world.copy(state)
            elif number == unit and commit.digest is not None and step is None:
                return  # damage after the unit does not matter
            elif commit.digest is not None and step is None and not world.ended(state):
                open_to = number + 1
                before = world.copy(state) if open_to == unit else None
        if before is None:
            raise BadInput(problem, f"give one from {first} to {open_to}")
        yield before, walk.pending


def _recorded(inputs: Block, players: SimultaneousPlayers[S, V], agent: int) -> Answer | None:
    """The answer of a model or a person in an agent's submission, if these inputs have it."""
    for _, rows in inputs:
        for row in rows:
            if row[0] == agent and (answer := players.answer_in(row)).is_asked:
                return answer
    return None
