"""What a foreign environment or model returns badly, or raises: one line, and a whole journal."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goldrush
from goldrush.kernel.errors import BadInput, RulesFailed
from tests.replay.worlds.episode.envs import MAKE, Hunt, NoisyWalk
from tests.replay.worlds.episode.models import Walk

WHOLE = 3  # units before the step that is spoilt
ACTIONS: dict[str, Any] = {
    "environment": 1, "vector": np.ones(3, int), "AEC": 1,
    "parallel": {f"hunter_{number}": np.zeros(2, "f4") for number in range(3)},
}  # fmt: skip


class NoNumber:
    def __float__(self) -> float:
        raise RuntimeError("it is none")


class Own(BaseException):
    pass


Spoil = Callable[[Any, Any], Any]  # of an environment and what its step returns


def put(index: int, value: object) -> Spoil:
    return lambda env, given: (*given[:index], value, *given[index + 1 :])


def sets(**attributes: object) -> Spoil:
    return lambda env, given: [setattr(env, name, value) for name, value in attributes.items()]


def raising(error: BaseException) -> Spoil:
    def raises(env: object, given: object) -> None:
        raise error

    return raises


def spoilt(kind: str, path: Path, spoil: Spoil, at: int = WHOLE, **options: Any) -> None:
    """Record an environment whose step `at` is spoilt."""
    env: Any = MAKE[kind]()
    step, done = env.step, []

    def spoilt_step(action: Any) -> Any:
        done.append(action)
        given = step(action)
        return spoil(env, given) if len(done) == at else given

    env.step = spoilt_step
    recorded = goldrush.wrap(env, path, **options)
    recorded.reset(seed=7)
    for _ in range(at):
        recorded.step(ACTIONS[kind])


def ended_without_a_reward(env: object, given: Any) -> Any:
    return given[0], {}, {"hunter_0": True}, given[3], given[4]


BAD: list[tuple[str, Spoil]] = [
    ("environment", lambda env, given: given[:4]),
    ("environment", put(1, NoNumber())),
    ("environment", put(2, np.array([True, False]))),
    ("environment", put(4, None)),
    ("vector", put(1, 1.0)),
    ("vector", put(1, np.ones(2))),
    ("parallel", put(1, {"nobody": 1.0})),
    ("parallel", put(2, {})),
    ("parallel", ended_without_a_reward),
    ("AEC", sets(rewards=None)),
    ("AEC", sets(agent_selection="nobody")),
]


@pytest.mark.parametrize(("kind", "spoil"), BAD)
def test_what_is_returned_badly_is_one_line(kind: str, spoil: Spoil, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        spoilt(kind, tmp_path / "run.journal", spoil)

    assert "\n" not in str(caught.value)
    assert WHOLE == goldrush.open(tmp_path / "run.journal").info().closed


class Silent(Hunt):
    """Tells nothing of the first agent before the last step."""

    def step(self, actions: Any) -> Any:
        given = super().step(actions)
        for part in given[1:4]:
            if len(part) > 1:
                del part["hunter_0"]
        return given


def test_an_agent_that_has_not_ended_may_have_no_reward(tmp_path: Path) -> None:
    env = goldrush.wrap(Silent, tmp_path / "run.journal")
    env.reset(seed=1)
    while env.agents:
        env.step({agent: np.zeros(2, "f4") for agent in env.agents})
    env.close()

    assert [1, 2, 1, 0] == [event["agent"] for event in env.run.events("gave")]


class Speaks(Hunt):
    """Gives of each step what it tells of all agents, and of the living alone the rest."""

    def __init__(self, told: tuple[int, ...], end: object = True) -> None:
        super().__init__()
        self.told, self.end = told, end

    def step(self, actions: Any) -> Any:
        given = list(super().step(actions))
        dead = {1: 0.0, 2: self.end, 3: False}
        for part in self.told:
            given[part] = dict.fromkeys(self.possible_agents, dead[part]) | given[part]
        return tuple(given)


@pytest.mark.parametrize(
    ("told", "end"), [((1,), True), ((2,), np.array([True, False])), ((1, 2, 3), True)]
)
def test_of_agents_that_are_gone_anything_or_nothing_can_be_told(
    told: tuple[int, ...], end: object, tmp_path: Path
) -> None:
    env = goldrush.wrap(partial(Speaks, told, end), tmp_path / "run.journal")
    env.reset(seed=1)
    while env.agents:  # who is gone is given an action, too
        env.step({agent: np.zeros(2, "f4") for agent in env.possible_agents})
    env.close()
    gave = [event["agent"] for event in env.run.events("gave")]

    assert gave == ([0, 1, 2] * 3 if 1 in told else [0, 1, 2, 0, 1, 0])
    assert env.run.verify().holds


@pytest.mark.parametrize(
    ("kind", "error"),
    [*((kind, SystemExit(0)) for kind in MAKE), ("AEC", GeneratorExit()), ("AEC", Own())],
)
def test_what_would_end_the_program_is_a_failure_of_the_step(
    kind: str, error: BaseException, tmp_path: Path
) -> None:
    says = rf" fails: raising.<locals>.raises, test_bad.py:\d+: {type(error).__name__}"
    with pytest.raises(RulesFailed, match=says):
        spoilt(kind, tmp_path / "run.journal", raising(error))

    assert WHOLE == goldrush.open(tmp_path / "run.journal").info().closed


@pytest.mark.parametrize("spoil", [raising(StopIteration()), put(1, None), raising(Own())])
@pytest.mark.parametrize("old", [None, b"", b"\x95\xa8goldrush and more"])
def test_a_first_step_that_fails_leaves_what_was_there(
    spoil: Spoil, old: bytes | None, tmp_path: Path
) -> None:
    path = tmp_path / "run.journal"
    if old is not None:
        path.write_bytes(old)
    with pytest.raises((ValueError, RuntimeError, BadInput)):
        spoilt("environment", path, spoil, at=1, force=True)

    assert path.read_bytes() == old if old else not path.exists()


def test_a_person_who_interrupts_ends_the_program(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        spoilt("environment", tmp_path / "run.journal", raising(KeyboardInterrupt()))


@pytest.mark.parametrize("base", [Walk, NoisyWalk])
def test_what_would_end_the_program_is_a_failure_where_it_is_made(
    base: type, tmp_path: Path
) -> None:
    class Ending(base):  # type: ignore[misc]
        def __init__(self, seed: int = 0) -> None:
            raise SystemExit(0)

    with pytest.raises(RulesFailed, match="SystemExit: 0; raise an exception there"):
        goldrush.wrap(Ending, tmp_path / "run.journal")


def test_names_that_no_text_can_have_are_recorded_escaped(tmp_path: Path) -> None:
    class Named(Walk):
        def step(self) -> float:
            vars(self).update({"odd\ud800": 1, "long" * 200: 2})
            return super().step()

    hunt = Hunt()
    hunt.possible_agents = ["first", "odd\ud800"]
    env = goldrush.wrap(hunt, tmp_path / "hunt.journal")
    env.reset(seed=1)
    run = goldrush.wrap(Named, tmp_path / "walk.journal", seed=1, steps=2)
    names = {event["name"] for event in run.events("array")}

    assert "names: first, odd\\ud800" in f"names: {dict(env.run.info().about.facts)['names']}"
    assert {"attributes[odd\\ud800]", f"attributes[{'long' * 200}]"[:500]} <= names
    assert run.verify().holds
