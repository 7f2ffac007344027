"""Submissions of worlds whose agents all submit once in a step, in rows that begin with the agent.

A row is valid whatever its agent, so a forged journal can have submissions of agents that the run
does not have. No recorder makes them: `decide` must refuse them, and must not fail on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from goldrush.kernel.errors import format_value
from goldrush.kernel.world import Block, InvalidInputs, Row


def arrange(inputs: Block) -> Block:
    """Submissions of several commits in the order of their agents, for `World.arrange`."""
    if len(inputs.batches) != 1:
        return inputs  # invalid ones are refused by `decide`
    [(code, rows)] = inputs.batches
    if not all(type(row) is tuple and row and type(row[0]) is int for row in rows):
        return inputs
    return Block([(code, sorted(rows, key=itemgetter(0)))])


def one_of_each(inputs: Block, code: int, agents: Sequence[int]) -> list[Row]:
    """The submissions of a step, for `World.decide`. `agents`: whose turn it is, ascending.

    Raises InvalidInputs unless there is one submission of each agent, in the order of agents.
    """
    rows = inputs.rows(code)
    if len(inputs.batches) > 1 or [row[0] for row in rows] != [*agents]:
        raise InvalidInputs("a step needs one submission of each agent whose turn it is, in order")
    return rows


def pending_fault(pending: Block, code: int | None, agents: Sequence[int]) -> str | None:
    """The reason why these submissions cannot begin a step, for `World.pending_fault`, or None.

    Each must be of another agent of the step. Args as for `one_of_each`; `code`: None: nobody
    submits.
    """
    submitted = [row[0] for batch, rows in pending for row in rows if batch == code]
    count = sum(len(rows) for _, rows in pending)
    if len(set(submitted)) == count and {*agents}.issuperset(submitted):
        return None
    return (
        "the pending submissions are not of different agents of the step, but of "
        f"{format_value(submitted)}"
    )
