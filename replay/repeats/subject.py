"""What is run: a model, an environment, a world or a function of a seed, found by looking at it.

Mesa, PettingZoo and Gymnasium are told by what their objects have, never imported. Naming a target
is the consent to run it.
"""

from __future__ import annotations

import ast
import os
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import count, islice
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.given import is_game
from goldrush.agents.targets import RegisteredEnvironment, is_environment_id, target_named
from goldrush.kernel.errors import BadInput
from goldrush.replay.making import (
    SEED_NAMES,
    check_kinds,
    is_taken,
    made_of,
    seed_parameter_of_reset,
)
from goldrush.replay.repeats.content import attributes
from goldrush.replay.repeats.observe import observed
from goldrush.replay.repeats.sightings import is_mendable, package_of
from goldrush.replay.repeats.trace import Order

STEPS: Final = 100  # of a model, an environment or a generator; a world has a length of its own
_LISTED_MAX: Final = 5  # classes in a message
_SPACES: Final = ("action_space", "action_spaces")  # an environment has one of them


@attrs.frozen
class Shown:
    """What a step showed. `root`: the object whose attributes the names are; None: of no object."""

    names: Mapping[str, object]
    root: object = None


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
    run: Callable[[], Iterator[Shown]]
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
        try:
            return _world(target, order, settings)
        except BadInput as error:
            if models := _models_in(target):
                listed = " or ".join(f"{target}:{name}" for name in models[:_LISTED_MAX])
                raise BadInput(f"{target} is no game", f"give {listed}") from error
            raise
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


def _models_in(path: str) -> list[str]:
    """The classes of a file that have a method `step`. It is not run."""
    with suppress(OSError, SyntaxError, ValueError):
        return [
            node.name
            for node in ast.parse(Path(path).read_bytes()).body
            if isinstance(node, ast.ClassDef)
            and "step" in [getattr(part, "name", "") for part in node.body]
        ]
    return []


def _loaded(target: str) -> Any:
    """What a location names, in a process of its own: the folder of a file comes first, as for a
    program.
    """
    front = target.partition(":")[0]
    if front.endswith(".py"):
        sys.path.insert(0, os.path.dirname(os.path.abspath(front)))
    return target_named(target)


def shared_by_all(home: str) -> dict[str, tuple[int, int]]:
    """Digests of what a subject's own modules hold, by name: their values, those of their classes,
    and defaults of functions. All subjects that a process makes share it.
    """
    held = dict[str, object]()
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file is None or package_of(file, home) or not is_mendable(file):
            continue
        stem = os.path.basename(file).removesuffix(".py")  # the module of a game has another name
        front = module.__name__ if stem == "__init__" else stem
        for name, value in vars(module).items():
            if name[:2] == "__" or isinstance(value, types.ModuleType):
                continue
            if not isinstance(value, type):
                held[f"{front}.{name}"] = value
            elif value.__module__ == module.__name__:
                held |= {
                    f"{value.__qualname__}.{attribute}": inner
                    for attribute, inner in vars(value).items()
                    if attribute[:2] != "__" or isinstance(inner, types.FunctionType)
                }
    seen = observed(held)
    return {name: (digest, seen.states.get(name, 0)) for name, digest in seen.digests.items()}


# Running it.


def _model(model: Any, steps: int) -> Iterator[Shown]:
    """A model's attributes and what `step()` returned, until it is no longer running."""
    yield Shown(attributes(model), model)
    for _ in range(steps):
        if getattr(model, "running", True) is False:
            return
        returned = model.step()
        more = {} if returned is None else {"step()": returned}
        yield Shown({**attributes(model), **more}, model)


def _values(made: Any, steps: int) -> Iterator[Shown]:
    """What a function returned, or yields."""
    for value in islice(made, steps) if hasattr(made, "__next__") else [made]:
        is_named = isinstance(value, Mapping) and all(type(key) is str for key in value)
        yield Shown(dict(value) if is_named else {"value": value})


def _world(world: Any, order: Order, settings: dict[str, object]) -> Runnable:
    """A world is recorded, and read from its journal."""
    from goldrush.kernel.journal import sha256_of
    from goldrush.replay.find import players_of, tools_for, world_named
    from goldrush.replay.run import Run

    name = world_named(world)
    horizon = players_of(tools_for(name), name).horizon
    given = {} if order.steps is None else {horizon: order.steps}
    chosen: dict[str, Any] = {"seed": order.seed, **given, **settings}

    def steps() -> Iterator[Shown]:
        run = Run.record(world=name, **chosen)
        yield Shown({"roster": run.info().declared.roster})
        for unit in run:
            yield Shown({"state": unit.state, "events": unit.events})
        yield Shown({"journal": f"SHA-256 {sha256_of(run.path)}"})  # whatever else it has

    return Runnable("world", steps)


def _environment(env: Any, seed: int, steps: int, name: str) -> Runnable:
    """`name`: of the parameter of its reset that takes the seed; empty: none does."""
    kind, play = "environment", _alone
    if hasattr(env, "possible_agents") or hasattr(env, "agents"):
        kind, play = "parallel environment", _together
        if hasattr(env, "last"):
            kind, play = "AEC environment", _in_turns

    def run() -> Iterator[Shown]:
        seeds = count(seed)  # the next one for each reset
        return play(env, lambda: env.reset(**({name: next(seeds)} if name else {})), seed, steps)

    return Runnable(kind, run, is_seeded=name != "", is_reset=name != "")


class _Actions:
    """Actions drawn from the spaces of agents, each of which has a seed of its own."""

    def __init__(self, seed: int) -> None:
        self._seeds = count(seed)
        self._seeded = dict[object, Any]()

    def draw(self, agent: object, space: Any, observation: object, info: Any) -> Any:
        """An action of an agent, one that is allowed where the environment tells which are."""
        if agent not in self._seeded:
            space.seed(next(self._seeds))
            self._seeded[agent] = space
        masks = observation if isinstance(observation, Mapping) else info or {}
        mask = masks.get("action_mask") if hasattr(space, "n") else None
        return self._seeded[agent].sample(*([] if mask is None else [mask.astype("int8")]))


def _alone(env: Any, reset: Callable[[], Any], seed: int, steps: int) -> Iterator[Shown]:
    """An environment of Gymnasium, reset whenever an episode ends; one of many environments
    resets itself.
    """
    actions = _Actions(seed)
    observation, info = reset()
    yield Shown({"observation": observation, "info": info})
    ended = False
    for _ in range(steps):
        if ended:
            observation, info = reset()
            yield Shown({"observation": observation, "info": info})
            ended = False
            continue
        action = actions.draw("", env.action_space, observation, info)
        observation, reward, terminated, truncated, info = env.step(action)
        ended = not hasattr(env, "num_envs") and bool(terminated or truncated)
        yield Shown(
            {
                "observation": observation, "reward": reward, "terminated": terminated,
                "truncated": truncated, "info": info,
            }
        )  # fmt: skip


def _together(env: Any, reset: Callable[[], Any], seed: int, steps: int) -> Iterator[Shown]:
    """A parallel environment of PettingZoo, reset whenever nobody is left."""
    actions = _Actions(seed)
    observations, infos = reset()
    yield Shown(_by_agent(observation=observations, info=infos))
    for _ in range(steps):
        if not env.agents:
            observations, infos = reset()
            yield Shown(_by_agent(observation=observations, info=infos))
            continue
        chosen = {
            agent: actions.draw(
                agent, env.action_space(agent), observations[agent], infos.get(agent)
            )
            for agent in env.agents
        }
        observations, rewards, terminations, truncations, infos = env.step(chosen)
        yield Shown(
            _by_agent(
                observation=observations, reward=rewards, termination=terminations,
                truncation=truncations, info=infos,
            )
        )  # fmt: skip


def _by_agent(**given: Mapping[object, object]) -> dict[str, object]:
    return {
        f"{what} of {agent}": value
        for what, values in given.items()
        for agent, value in values.items()
    }


def _in_turns(env: Any, reset: Callable[[], Any], seed: int, steps: int) -> Iterator[Shown]:
    """An environment of PettingZoo whose agents act in turn: a step is a turn."""
    actions = _Actions(seed)
    reset()
    yield _turn(env)
    for _ in range(steps):
        if not env.agents:
            reset()
            yield _turn(env)
            continue
        observation, _reward, terminated, truncated, info = env.last()
        agent = env.agent_selection
        space = env.action_space(agent)
        is_out = terminated or truncated
        env.step(None if is_out else actions.draw(agent, space, observation, info))
        yield _turn(env)


def _turn(env: Any) -> Shown:
    if not env.agents:
        return Shown({"agents": (), "rewards": dict(env.rewards)})
    observation, reward, terminated, truncated, info = env.last()
    shown = _by_agent(
        observation={env.agent_selection: observation}, reward={env.agent_selection: reward},
        termination={env.agent_selection: terminated}, truncation={env.agent_selection: truncated},
        info={env.agent_selection: info},
    )  # fmt: skip
    return Shown({**shown, "agents": tuple(env.agents), "rewards": dict(env.rewards)})
