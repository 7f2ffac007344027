"""What an episode is played on: an environment or a model of another library, as the world sees it.

The rules of such a run are code that goldrush does not have. A subject stands for it: it is reset
and stepped, and gives what it gave as rows of events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import attrs

from goldrush.kernel.codec import unpack
from goldrush.kernel.world import Block, Row
from goldrush.kernel.worlds.episode.events import ACTED, CHANGED, RESET
from goldrush.kernel.worlds.episode.values import Encoded

ENVIRONMENT, VECTOR, PARALLEL, AEC, MODEL = KINDS = (
    "environment", "vector environment", "parallel environment", "AEC environment", "model",
)  # fmt: skip


@attrs.frozen
class Outcome:
    """What a reset or a step gave.

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


class LiveSubject(Protocol):
    """A live environment or model. What its code raises is raised as it is."""

    def reset(self, seed: int | None, options: Encoded) -> Outcome:
        """Begin an episode. `options`: an encoded value; None: none."""

    def step(self, actions: Mapping[int | None, Encoded]) -> Outcome:
        """Go on by a step. `actions`: by agent (None: of all together), encoded values."""

    def change(self, name: str, value: Encoded) -> None:
        """Set an attribute of a model to an encoded value."""

    def check_changes(self, changes: Mapping[str, object]) -> None:
        """Raises BadInput for what cannot be set, by name and value."""

    def whole(self) -> Sequence[Row]:
        """Rows of `array` for all that a model holds; none of an environment."""


def played(subject: LiveSubject, inputs: Block) -> Outcome:
    """Do to a subject what the inputs of a unit say."""
    actions: dict[int | None, Encoded] = {}
    for code, rows in inputs:
        for row in rows:
            if code == RESET:
                return subject.reset(row[0], row[2])
            if code == CHANGED:
                subject.change(*row)
            elif code == ACTED:
                actions[row[0]] = row[1]
    return subject.step(actions)


def replay(subject: LiveSubject, past: Iterable[bytes]) -> None:
    """Do to a new subject all that was done before: the packed inputs of units, in order."""
    for packed in past:
        played(subject, Block(unpack(packed), packed))
