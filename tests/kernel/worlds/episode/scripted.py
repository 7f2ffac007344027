"""A subject whose behaviour is a small function of its inputs, and a stage that has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import attrs
from xxhash import xxh3_64_intdigest

from goldrush.kernel.journal import Header, JournalWriter
from goldrush.kernel.run import steps
from goldrush.kernel.world import Batch, Block, Row, World
from goldrush.kernel.worlds.episode.config import AEC, MODEL, PARALLEL, About, EpisodeConfig
from goldrush.kernel.worlds.episode.events import CLOSED, RESET
from goldrush.kernel.worlds.episode.state import EpisodeState
from goldrush.kernel.worlds.episode.values import Encoded, digest_of
from goldrush.kernel.worlds.episode.world import Outcome, episode_world
from goldrush.replay.worlds.episode.stage import LiveSubject, played, replay

LENGTH = 4  # steps of an episode


class Scripted:
    """Sums up what it is told; its agents see the sum. An episode has LENGTH steps."""

    def __init__(self, kind: str = PARALLEL, agents: int = 2, *, added_at: int = 0) -> None:
        """`added_at`: the step, over all episodes, at which it adds 1 of its own; 0: never."""
        self.kind, self.agents, self.added_at = kind, agents, added_at
        self.total = self.steps = self.all_steps = 0
        self.growth = 1

    def reset(self, seed: int | None, options: Encoded) -> Outcome:
        self.total, self.steps = (seed or 0) + len(repr(options)), 0
        return self._outcome([])

    def step(self, actions: Mapping[int | None, Encoded]) -> Outcome:
        self.steps, self.all_steps = self.steps + 1, self.all_steps + 1
        told = sum(action for action in actions.values() if isinstance(action, int))
        self.total += told + self.growth + (self.all_steps == self.added_at)
        is_over = self.steps == LENGTH
        agents = range(self.agents)
        return self._outcome([(agent, self.total / 2, is_over, False) for agent in agents])

    def change(self, name: str, value: Encoded) -> None:
        setattr(self, name, value)

    def whole(self) -> Sequence[Row]:
        digest = digest_of((self.total, self.growth))
        return [(None, "attributes", digest, None)] if self.kind == MODEL else []

    def _outcome(self, results: Sequence[tuple[int, float, bool, bool]]) -> Outcome:
        is_over = self.steps == LENGTH
        acting = () if is_over or self.kind == MODEL else tuple(range(self.agents))
        if self.kind == AEC and acting:
            acting = (self.steps % self.agents,)
        names = [None] if self.kind == MODEL else range(self.agents)
        seen = (digest_of(self.total), self.total)
        return Outcome(acting, is_over, results, [(who, "observation", *seen) for who in names])


@attrs.define
class OneStage:
    """Has the subject that came last, and makes another where that has not come as far."""

    make: Callable[[], LiveSubject]
    live: dict[int, LiveSubject] = attrs.field(factory=dict)
    made: int = 0

    def outcome(self, state: EpisodeState, inputs: Block) -> Outcome:
        subject = self.live.pop(state.chain, None)
        if subject is None:
            self.made += 1
            subject = self.make()
            replay(subject, state.done)
        if inputs.rows(CLOSED):
            return Outcome(state.acting, state.is_over, arrays=subject.whole())
        outcome = played(subject, inputs)
        self.live = {xxh3_64_intdigest(inputs.packed, state.chain): subject}
        return outcome


def world_on(make: Callable[[], LiveSubject]) -> World[EpisodeState]:
    """The world of episodes on a subject that `make` makes."""
    return episode_world(OneStage(make).outcome)


def setup_of(kind: str, agents: int, **config: int) -> dict[str, object]:
    """The fields of START."""
    names = tuple(f"agent_{agent}" for agent in range(agents))
    return {
        "config": EpisodeConfig(agents=agents, **config).as_dict(),
        "subject": About(name="tests:Scripted", kind=kind, agents=names).as_dict(),
        "roster": [
            {"agent": agent, "policy": "external", "options": {}} for agent in range(agents)
        ],
    }


def recorded(
    path: Path, world: World[EpisodeState], setup: Mapping[str, object],
    units: Iterable[Sequence[Batch]],
) -> None:  # fmt: skip
    """Record units, given by their inputs."""
    with JournalWriter(path, Header(world.name, world.rules), force=True) as journal:
        loop = steps(world, setup, journal)
        next(loop)
        with suppress(StopIteration):
            for inputs in units:
                loop.send(inputs)


def reset(seed: int) -> list[Batch]:
    """The inputs of a reset."""
    return [(RESET, [(seed, False, None)])]
