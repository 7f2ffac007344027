"""What is run: a model, an environment, a world or a function of a seed, found by looking at it.

Mesa, PettingZoo and Gymnasium are told by what their objects have, never imported. Naming a target
is the consent to run it.
"""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, count, islice
from typing import Any, Final

import attrs

from goldrush.agents.targets import RegisteredEnvironment, is_environment_id, is_game, resolve
from goldrush.kernel.errors import BadInput
from goldrush.replay.making import (
    SEED_NAMES,
    check_kinds,
    is_taken,
    made_of,
    seed_parameter_of_reset,
)
from goldrush.replay.repeats.content import attributes
from goldrush.replay.repeats.trace import Order

STEPS: Final = 100  # of a model, an environment or a generator; a world has a length of its own
_SPACES: Final = ("action_space", "action_spaces")  # an environment has one of them


# What a step showed, by name; and the object whose attributes the names are, None: of no object.
StepValues = tuple[Mapping[str, object], object]


@attrs.frozen
class Runnable:
    """Something that can be run.

    Attributes:
        kind: "model", "environment", "parallel environment", "AEC environment", "world" or
            "function".
        is_seeded: whether it takes a seed.
        run: the steps from the beginning, the first of them without a step. Environments can be run
            again.
        is_reset: whether it can be run again, by its seed.
    """

    kind: str
    run: Callable[[], Iterator[StepValues]]
    is_seeded: bool = True
    is_reset: bool = False


def subject_of(order: Order) -> Runnable:
    """The subject that an order names, imported and made.

    Raises BadInput for what cannot be found or run; whatever its code raises.
    """
    from goldrush.replay.find import worlds

    target, settings = order.target, dict(order.settings)
    steps = STEPS if order.steps is None else order.steps
    if ":" not in target and (target in worlds() or not is_environment_id(target)):
        return _world(target, order, settings)
    found = _loaded(target)
    if is_game(found):
        return _world(found, order, settings)
    if not callable(found):
        raise BadInput(f"{target} cannot be called", "name a class or a function")
    check_kinds(found, settings)
    name = order.seed_parameter
    names = SEED_NAMES if name is None else (name,)
    is_made_without = name == "" or (name is not None and not _is_made_by(found, name))
    seed = None if is_made_without else order.seed
    made, is_seeded = made_of(found, seed, settings, target, names)
    has_steps = callable(getattr(made, "step", None))  # no column of a table, or that of a range
    if has_steps and hasattr(made, "reset") and any(hasattr(made, space) for space in _SPACES):
        own = name if name is not None and is_made_without else seed_parameter_of_reset(made)
        return _environment(made, order.seed, steps, own)
    if name and is_made_without:
        raise BadInput(f"{target} takes no parameter {name}", "name the one that takes the seed")
    if has_steps:
        return Runnable("model", lambda: _model(made, steps), is_seeded)
    if isinstance(found, type):
        raise BadInput(f"{target} has no method step", "name a model, an environment or a function")
    return Runnable("function", lambda: _values(made, steps), is_seeded)


def _is_made_by(found: Callable[..., object], name: str) -> bool:
    """Whether what makes a subject takes a parameter of this name; else a reset has to."""
    return not isinstance(found, RegisteredEnvironment) and is_taken(found, name)


def _loaded(target: str) -> Any:
    """What a location names, in a process of its own: the folder of a file comes first, as for a
    program.
    """
    front = target.partition(":")[0]
    if front.endswith(".py"):
        sys.path.insert(0, os.path.dirname(os.path.abspath(front)))
    return resolve(target).value


# Running it.


def _model(model: Any, steps: int) -> Iterator[StepValues]:
    """A model's attributes and what `step()` returned, until it is no longer running."""
    yield attributes(model), model
    for _ in range(steps):
        if getattr(model, "running", True) is False:
            return
        returned = model.step()
        more = {} if returned is None else {"step()": returned}
        yield {**attributes(model), **more}, model


def _values(made: Any, steps: int) -> Iterator[StepValues]:
    """What a function returned, or yields."""
    for value in islice(made, steps) if hasattr(made, "__next__") else [made]:
        is_named = isinstance(value, Mapping) and all(type(key) is str for key in value)
        yield (dict(value) if is_named else {"value": value}), None


def _world(world: Any, order: Order, settings: dict[str, object]) -> Runnable:
    """A world is recorded, and read from its journal."""
    from goldrush.kernel.journal import sha256_of
    from goldrush.replay.find import players_of, tools_for, world_named
    from goldrush.replay.run import Run

    name = world_named(world)
    horizon = players_of(tools_for(name)).horizon
    given = {} if order.steps is None else {horizon: order.steps}
    chosen: dict[str, Any] = {"seed": order.seed, **given, **settings}

    def steps() -> Iterator[StepValues]:
        run = Run.record(world=name, **chosen)
        yield {"roster": run.info().declared.roster}, None
        for unit in run:
            yield {"state": unit.state, "events": unit.events}, None
        yield {"journal": f"SHA-256 {sha256_of(run.path)}"}, None  # whatever else it has

    return Runnable("world", steps)


def _environment(env: Any, seed: int, steps: int, name: str) -> Runnable:
    """`name`: of the parameter of its reset that takes the seed; empty: none does."""
    kind, episode_of = "environment", _alone
    if hasattr(env, "possible_agents") or hasattr(env, "agents"):
        kind, episode_of = "parallel environment", _together
        if hasattr(env, "last"):
            kind, episode_of = "AEC environment", _in_turns

    def run() -> Iterator[StepValues]:
        action = _Actions(seed)
        episodes = (
            episode_of(env, env.reset(**({name: number} if name else {})), action)
            for number in count(seed)
        )
        return ((names, None) for names in islice(chain.from_iterable(episodes), steps + 1))

    return Runnable(kind, run, is_seeded=name != "", is_reset=name != "")


class _Actions:
    """Random actions, of a seed of their own."""

    def __init__(self, seed: int) -> None:
        self._seeds, self._spaces = count(seed), dict[object, Any]()

    def __call__(self, agent: object, space: Any, observation: object, info: Any) -> Any:
        """An action of an agent, one that is allowed where the environment tells which are."""
        if agent not in self._spaces:
            self._spaces[agent] = copy.deepcopy(space)  # the environment may draw from its own
            self._spaces[agent].seed(next(self._seeds))
        masks = observation if isinstance(observation, Mapping) else info or {}
        mask = masks.get("action_mask") if hasattr(space, "n") else None
        return self._spaces[agent].sample(*([] if mask is None else [mask.astype("int8")]))


# An episode of an environment that was reset: what it gives, by name.

_Episode = Iterator[dict[str, object]]
_STEPPED: Final = ("observation", "reward", "terminated", "truncated", "info")


def _alone(env: Any, returned: Any, action: _Actions) -> _Episode:
    """Of Gymnasium; one of many environments resets itself."""
    is_over = False
    yield _named(returned)
    while not is_over:
        returned = env.step(action("", env.action_space, returned[0], returned[-1]))
        is_over = not hasattr(env, "num_envs") and bool(returned[2] or returned[3])
        yield _named(returned)


def _together(env: Any, returned: Any, action: _Actions) -> _Episode:
    """Of PettingZoo, parallel."""
    yield _named_by_agent(returned)
    while env.agents:
        observations, infos = returned[0], returned[-1]
        actions = {
            agent: action(agent, env.action_space(agent), observations[agent], infos.get(agent))
            for agent in env.agents
        }
        returned = env.step(actions)
        yield _named_by_agent(returned)


def _in_turns(env: Any, returned: Any, action: _Actions) -> _Episode:
    """Of PettingZoo, whose agents act in turn: a step is a turn."""
    yield _turn(env)
    while env.agents:
        observation, _reward, terminated, truncated, info = env.last()
        agent, is_out = env.agent_selection, terminated or truncated
        space = env.action_space(agent)
        env.step(None if is_out else action(agent, space, observation, info))
        yield _turn(env)


def _turn(env: Any) -> dict[str, object]:
    shown: dict[str, object] = {"agents": tuple(env.agents), "rewards": dict(env.rewards)}
    given = _named(env.last()) if env.agents else {}
    return shown | {f"{name} of {env.agent_selection}": value for name, value in given.items()}


def _named(returned: Any) -> dict[str, Any]:
    names = _STEPPED if len(returned) > 2 else ("observation", "info")
    return dict(zip(names, returned, strict=True))


def _named_by_agent(returned: Any) -> dict[str, object]:
    return {
        f"{name} of {agent}": value
        for name, values in _named(returned).items()
        for agent, value in values.items()
    }
