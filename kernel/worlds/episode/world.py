"""The world `episode`: environments and models of other libraries.

What an episode gives follows from its inputs by code that is not goldrush's. So its `decide` runs
that code: it is given a function that plays on the live subjects. Whoever derives such a run again
shows that it repeats here, under these versions; not that it follows from rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import attrs

from goldrush.kernel.world import Batch, Block, InvalidInputs, Row, World
from goldrush.kernel.worlds.episode.config import VECTOR
from goldrush.kernel.worlds.episode.events import (
    ACTED,
    ARRAY,
    CHANGED,
    CLOSED,
    EVENTS,
    GAVE,
    RESET,
    TURN,
)
from goldrush.kernel.worlds.episode.fork import FORKS, VOCABULARY, fork, show_setup
from goldrush.kernel.worlds.episode.state import (
    EpisodeState,
    close,
    digest,
    drawn_seed,
    ended,
    evolve,
    initial,
)

NAME: Final = "episode"
RULES: Final = 1


@attrs.frozen
class Outcome:
    """What a reset or a step gave, or of a model the end of its recording.

    Attributes:
        acting: the agents that must act next, ascending.
        is_over: the episode is over, or the model has stopped: nothing but a reset can follow.
        results: rows of `gave`.
        arrays: rows of `array`.
    """

    acting: tuple[int, ...] = ()
    is_over: bool = False
    results: Sequence[Row] = ()
    arrays: Sequence[Row] = ()


# What a subject gives that has come as far as a state, for the inputs of a unit, with the changes
# of a fork before it. Raises what its code raises.
Play = Callable[[EpisodeState, Block], Outcome]


def episode_world(play: Play | None = None, missing: str = "") -> World[EpisodeState]:
    """The world of episodes. `play`: None where nothing can be run; `missing`: the reason why."""
    return World(
        NAME, RULES, EVENTS, initial, partial(_decide, play), evolve, ended,
        pending_fault=_pending_fault,
        close=close,
        digest=digest,
        copy=attrs.evolve,
        fork=fork,
        show_setup=show_setup,
        show_fork=FORKS.show,
        vocabulary=VOCABULARY,
        missing=missing if play is None else None,
    )  # fmt: skip


def _decide(play: Play | None, state: EpisodeState, inputs: Block) -> list[Batch]:
    if fault := _fault(state, inputs):
        raise InvalidInputs(fault)
    if inputs.rows(CLOSED) and not state.is_model:
        return []
    assert play is not None  # the world is `missing`
    outcome = play(state, Block([*state.inputs, *inputs]) if state.inputs else inputs)
    turn = (outcome.acting, outcome.is_over)
    derived: list[Batch] = [(ARRAY, outcome.arrays), (GAVE, outcome.results)]
    return derived if turn == (state.acting, state.is_over) else [*derived, (TURN, [turn])]


def _fault(state: EpisodeState, inputs: Block) -> str | None:
    """What is wrong with the inputs of a unit; None: a recorder can have submitted them."""
    codes = [code for code, _ in inputs]
    if RESET in codes or CLOSED in codes:
        if len(codes) > 1 or len(inputs.batches[0][1]) > 1:
            return "a reset, and the end of a recording, stand alone"
        is_wrong = any(drawn and seed != drawn_seed(state) for seed, drawn, _ in inputs.rows(RESET))
        return f"{drawn_seed(state)} is the seed that is drawn" if is_wrong else None
    if state.is_over:
        return "a reset is needed before a step"
    if state.is_model:
        is_right = codes in ([], [CHANGED])
        return None if is_right else "nobody acts in a model"
    agents = [row[0] for row in inputs.rows(ACTED)]
    if codes != [ACTED] or not _are_of(agents, state):
        return "a step needs actions of agents of the run, in their order, each once"
    return None


def _are_of(agents: Sequence[int | None], state: EpisodeState) -> bool:
    if state.about.kind == VECTOR:
        return agents == [None]
    known = [agent for agent in agents if agent is not None]
    return known == agents == sorted({*known}) and all(0 <= a < len(state.returns) for a in known)


def _pending_fault(state: EpisodeState, pending: Block) -> str | None:
    """No recorder of episodes commits inputs before what they gave."""
    return "inputs of an episode are recorded with what they gave" if pending.batches else None
