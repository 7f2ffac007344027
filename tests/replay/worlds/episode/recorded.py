"""Journals of episodes that were recorded on subjects of tests."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from goldrush.kernel.journal import Header, JournalWriter
from goldrush.kernel.run import steps
from goldrush.kernel.world import Block, Row
from goldrush.kernel.worlds.episode.config import About, EpisodeConfig
from goldrush.kernel.worlds.episode.events import ACTED, CHANGED, CLOSED, RESET
from goldrush.kernel.worlds.episode.state import EpisodeState, drawn_seed
from goldrush.kernel.worlds.episode.subject import MODEL, PARALLEL, Outcome, played
from goldrush.kernel.worlds.episode.values import Encoded, digest_of
from goldrush.kernel.worlds.episode.world import NAME, RULES, episode_world


def floats(*numbers: float) -> Encoded:
    """An array of floats, encoded."""
    return "array", "<f4", (len(numbers),), struct.pack(f"<{len(numbers)}f", *numbers)


@attrs.define
class Walkers:
    """Agents that walk by their actions; an episode is over after some steps.

    Attributes:
        count: the number of agents.
        length: the steps of an episode.
        values: arrays have values.
        rewards: instead of where they are, by step, what all of them get.
        odd: the step from which on the first agent's observation is another.
        array: the name of the arrays.
    """

    count: int = 2
    length: int = 5
    values: bool = True
    rewards: Sequence[float] = ()
    odd: int | None = None
    array: str = "observation"
    at: list[float] = attrs.field(factory=list)
    step_number: int = 0

    def reset(self, seed: int | None, options: Encoded) -> Outcome:
        self.at, self.step_number = [float((seed or 0) % 7)] * self.count, 0
        return Outcome(tuple(range(self.count)), False, (), self._arrays())

    def step(self, actions: Mapping[int | None, Encoded]) -> Outcome:
        self.step_number += 1
        for agent, action in actions.items():
            assert agent is not None
            assert isinstance(action, int)
            self.at[agent] += action
        is_over = self.step_number == self.length
        results = [(agent, self._reward(agent), is_over, False) for agent in range(self.count)]
        acting = () if is_over else tuple(range(self.count))
        return Outcome(acting, is_over, results, self._arrays())

    def change(self, name: str, value: Encoded) -> None:
        raise AssertionError("nothing of it changes")

    def whole(self) -> list[Row]:
        raise AssertionError("it is seen by what it gives")

    def _reward(self, agent: int) -> float:
        given = self.rewards[self.step_number - 1 :][:1]
        return given[0] if given else self.at[agent]

    def _arrays(self) -> list[Row]:
        is_odd = self.odd is not None and self.step_number >= self.odd
        rows: list[Row] = []
        for agent, at in enumerate(self.at):
            value = floats(at, 2.0 * at + (0.5 if is_odd and agent == 0 else 0.0))
            shown = value if self.values else None
            rows.append((agent, self.array, digest_of(value), shown))
            rows.append((agent, "info[at]", digest_of(at), at))
        return rows


class Growth:
    """A model that grows by its rate, and stops above 100."""

    def __init__(self, variable: str = "variable[Size]") -> None:
        self.size, self.rate, self.variable = 1.0, 1.0, variable

    def reset(self, seed: int | None, options: Encoded) -> Outcome:
        self.size = float(seed or 1)
        return self._outcome()

    def step(self, actions: Mapping[int | None, Encoded]) -> Outcome:
        self.size += self.rate
        return self._outcome()

    def change(self, name: str, value: Encoded) -> None:
        assert isinstance(value, float)
        self.rate = value

    def whole(self) -> list[Row]:
        return [(None, "attributes[size]", digest_of(self.size), None)]

    def _outcome(self) -> Outcome:
        state: Encoded = ("type", "Generator")
        rows: list[Row] = [
            (None, self.variable, digest_of(self.size), self.size),
            (None, "variable[Mood]", digest_of("calm"), "calm"),
            (None, "generator[random]", digest_of(state), state),
        ]
        return Outcome((), self.size > 100.0, (), rows)


Live = Walkers | Growth
Unit = tuple[int, list[Row]]  # of inputs


class _Stage:
    def __init__(self, subject: Live) -> None:
        self.subject = subject

    def outcome(self, state: EpisodeState, inputs: Block) -> Outcome:
        return played(self.subject, inputs)

    def closing(self, state: EpisodeState) -> Sequence[Row]:
        return self.subject.whole()


def record(
    path: Path,
    subject: Live,
    units: Sequence[Unit],
    *,
    names: Sequence[str] | None = None,
    ignored: Sequence[str] = (),
    seed: int = 3,
    kind: str | None = None,
) -> Path:
    """Record what is done to a subject in these units; the recording is closed after them."""
    is_model = isinstance(subject, Growth)
    count = 0 if isinstance(subject, Growth) else subject.count
    agents = [f"walker_{agent}" for agent in range(count)] if names is None else names
    about = About(
        name="toys:Growth" if is_model else "toys:Walkers",
        kind=kind or (MODEL if is_model else PARALLEL),
        agents=tuple(agents),
        values=True,
        ignored=tuple(ignored),
        versions={"python": "3.11.7", "numpy": "2.1.0"},
    )
    roster = [
        {"agent": agent, "policy": "external", "options": {"name": "caller"}}
        for agent in range(count)
    ]
    config = EpisodeConfig(seed=seed, agents=count)
    setup = {"config": config.as_dict(), "subject": about.as_dict(), "roster": roster}
    with JournalWriter(path, Header(NAME, RULES), force=True) as journal:
        loop = steps(episode_world(_Stage(subject)), setup, journal)
        state = next(loop)
        for code, rows in [*units, (CLOSED, [()])]:
            if code == RESET and rows[0][1]:
                rows = [(drawn_seed(state), True, None)]
            try:
                state = loop.send([(code, rows)] if rows else [])
            except StopIteration:
                break
    return path


def reset(seed: int | None = 7, *, is_drawn: bool = False) -> Unit:
    """The unit of a reset; its seed is drawn, or this one."""
    return RESET, [(seed, is_drawn, None)]


def act(*actions: int) -> Unit:
    """The unit of a step in which the agents act, by number."""
    return ACTED, list(enumerate(actions))


def change(name: str, value: float) -> Unit:
    """The unit of a model's step before which an attribute is set."""
    return CHANGED, [(name, value)]


STEP: Unit = (CHANGED, [])  # of a model


def walked(path: Path, *, episodes: int = 2, **given: object) -> Path:
    """A run of episodes in which the first of two agents walks."""
    units: list[Unit] = []
    for episode in range(episodes):
        units.append(reset(7 + episode, is_drawn=episode == 1))
        units += [act(1 + episode, 0) for _ in range(5)]
    return record(path, Walkers(**given), units)  # type: ignore[arg-type]
