"""The live subject of a run, found by the chain of all that was done to it.

A run that goes on finds its subject as it left it. Any other state (a journal that is verified, a
fork) gets one that is made anew and replayed to there: most environments can be neither copied nor
pickled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Generic, Protocol, TypeVar

import attrs
from xxhash import xxh3_64_intdigest

from goldrush.kernel.codec import unpack
from goldrush.kernel.errors import BadInput
from goldrush.kernel.world import Block, Row
from goldrush.kernel.worlds.episode.events import ACTED, CHANGED, CLOSED, RESET
from goldrush.kernel.worlds.episode.state import EpisodeState
from goldrush.kernel.worlds.episode.values import Encoded
from goldrush.kernel.worlds.episode.world import Outcome


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


U = TypeVar("U", bound=LiveSubject)


class LiveStage(Generic[U]):
    """The subject of a run: the one that a state before had, or one that is made anew.

    One whose code has raised is dropped: nobody knows how far it came. A subject that the stage has
    made is closed when another takes its place.

    Attributes:
        make: makes the subject of a state's run, as it was before the first reset; None: there is
            but the one that is held.
        live: the subject that was run last, unless its code has raised.
    """

    def __init__(self, make: Callable[[EpisodeState], U] | None = None) -> None:
        """Prepare a stage; see the attribute."""
        self.make = make
        self.live: U | None = None
        self._chain = 0  # of the state that the live one has reached
        self._made: object = None  # what is to be closed

    def hold(self, subject: U, state: EpisodeState, *, is_made: bool = False) -> None:
        """Have a subject that has come as far as a state. `is_made`: the stage closes it."""
        self.live, self._chain = subject, state.chain
        if is_made:
            self._made = subject

    def close(self) -> None:
        """Close the subject that the stage has made, if any."""
        made, self.live, self._made = self._made, None, None
        if hasattr(made, "close"):
            with suppress(Exception):  # it is not needed any more
                made.close()

    def at(self, state: EpisodeState) -> U:
        """The subject of this state.

        Raises BadInput where there is none, and none can be made; whatever its code raises.
        """
        if self.live is not None and self._chain == state.chain:
            return self.live
        if self.make is None:
            raise BadInput(
                f"{state.about.name} cannot be made again",
                "record it from the callable that makes it, not from the object",
            )
        self.close()
        subject = self.make(state)
        self._made = subject
        replay(subject, state.done)
        self.hold(subject, state)
        return subject

    def outcome(self, state: EpisodeState, inputs: Block) -> Outcome:
        """What the subject of this state gives; where the recording of a model ends, all that it
        holds. Raises as `at`.
        """
        subject = self.at(state)
        if inputs.rows(CLOSED):
            return Outcome(state.acting, state.is_over, arrays=subject.whole())
        self.live = None
        outcome = played(subject, inputs)
        if state.is_model and _is_whole(state, outcome):
            outcome = attrs.evolve(outcome, arrays=[*outcome.arrays, *subject.whole()])
        self.live, self._chain = subject, xxh3_64_intdigest(inputs.packed, state.chain)
        return outcome


def _is_whole(state: EpisodeState, outcome: Outcome) -> bool:
    """Whether all that a model holds is recorded after the step that follows a state."""
    step, every = state.unit, state.about.every
    is_last = outcome.is_over or step == state.config.steps
    return step > 0 and (is_last or (every > 0 and step % every == 0))


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
