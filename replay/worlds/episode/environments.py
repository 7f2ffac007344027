"""Environments of Gymnasium and PettingZoo as subjects: what is done to them, and what they give.

They are told by what they have; nothing is imported. Each call returns rows for a journal, and
keeps what the environment itself returned (`returned`) for the caller of a wrapper.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, cast

from goldrush.agents.targets import Maker, RegisteredEnvironment
from goldrush.agents.worlds.episode.subjects import Space
from goldrush.kernel.errors import BadInput, format_error, format_value
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.episode.config import AEC, ENVIRONMENT, OWN, PARALLEL, VECTOR, About
from goldrush.kernel.worlds.episode.fork import check_parameters
from goldrush.kernel.worlds.episode.values import Encoded, digest_of
from goldrush.kernel.worlds.episode.world import Outcome
from goldrush.replay.making import UNNAMED, takes_none
from goldrush.replay.repeats.content import bases_of
from goldrush.replay.repeats.graph import Ignored
from goldrush.replay.worlds.episode.coding import decoded, encoded, is_kept, leaves

AGENT: Final = "agent"  # the name of the one agent of an environment of Gymnasium
_SPACES: Final = ("action_space", "action_spaces", "possible_agents")  # it has one of them
_CLASSES: Final = {"gymnasium.Env", "gymnasium.VectorEnv"}  # whose objects alone have spaces

Actions = Mapping[int | None, Encoded]
Rows = list[Row]
Told = tuple[int | None, str, object]  # see `Environment._told`
End = tuple[int, Any, Any, Any]  # see `Environment._ends`
Shown = tuple[object, Mapping[object, object], bool]  # see `Environment.seen_by`


class EpisodeSubject:
    """What environments and models have in common.

    Attributes:
        kind: one of the kernel's kinds of subjects.
        agents: the names of its agents, in the order of their numbers; none in a model.
        about: what START says of it, of which it needs how it is recorded and seeded.
        ignored: what is left out: arrays whose name begins so; of what a model holds, what stands
            at these paths, as `goldrush repeats` prints them.
        returned: what its own `reset` or `step` returned last.
    """

    kind: str
    agents: tuple[str, ...] = ()
    returned: object = None

    def __init__(self, about: About) -> None:
        self.about, self.ignored = about, Ignored(about.ignored)

    def rows(self, agent: int | None, name: str, value: object) -> Rows:
        """The rows of `array` for an observation, an info or a variable."""
        if self.ignored.begins(name):  # without its digest
            return []
        return [
            (agent, part, digest_of(leaf), leaf if self.about.values or is_kept(leaf) else None)
            for part, leaf in leaves(value, name)
            if not self.ignored.begins(part)
        ]


class Environment(EpisodeSubject):
    """An environment of Gymnasium, and what all others have in common.

    Attributes:
        env: the environment.
    """

    kind = ENVIRONMENT

    def __init__(self, env: Any, about: About) -> None:
        super().__init__(about)
        self.env = env
        self.agents = self._names()

    def reset(self, seed: int | None, options: Encoded) -> Outcome:
        """Begin an episode."""
        given: dict[str, object] = {} if options is None else {"options": decoded(options)}
        if self.about.seed_parameter != "":
            given[self.about.seed_parameter or UNNAMED[0]] = seed
        self.returned = self.env.reset(**given)
        self._look()
        return self._read(is_begun=True)

    def step(self, actions: Actions) -> Outcome:
        """Go on by a step."""
        self.returned = self.env.step(self._given(actions))
        self._look()
        return self._read(is_begun=False)

    def change(self, name: str, value: Encoded) -> None:
        """Environments have no parameters that change. Raises BadInput."""
        self.check_changes({name: value})

    def check_changes(self, changes: Mapping[str, object]) -> None:
        """Raises BadInput for any."""
        check_parameters(changes, is_model=False)

    def whole(self) -> Rows:
        """Nothing: what it holds is seen by what it gives."""
        return []

    def close(self) -> None:
        """Release what it holds."""
        self.env.close()

    def _names(self) -> tuple[str, ...]:
        return (AGENT,)

    def _look(self) -> None:
        """Ask for what `step` and `reset` do not return."""

    def _read(self, *, is_begun: bool) -> Outcome:
        """What it gave, as rows. Raises BadInput for what has not the form of its kind."""
        try:
            return self._outcome(is_begun=is_begun)
        except BadInput:
            raise
        except Exception as error:
            given = " ".join(format_value(self.returned).split())  # arrays have lines
            gave = "" if self.returned is None else f": it returned {given}"
            raise BadInput(
                f"what {_name(self.env)} gave cannot be read: {format_error(error)}{gave}",
                f"return what every {self.kind} returns",
            ) from error

    def _given(self, actions: Actions) -> object:
        """What its `step` is given."""
        (action,) = actions.values()
        return decoded(action)

    def space(self, agent: int | None) -> Space:
        """The space of an agent's actions; None: of those of all together."""
        return cast(Space, self.env.action_space)

    def seen_by(self, agent: int) -> Shown:
        """The observation and the info of an agent before it acts, and whether it only leaves."""
        returned: Any = self.returned
        return returned[0], returned[-1], False

    def _outcome(self, *, is_begun: bool) -> Outcome:
        """What its `reset` or its `step` gave."""
        observed, *step, info = self._parts(_BEGUN if is_begun else _STEPPED)
        arrays = [row for told in self._told(observed, info) for row in self.rows(*told)]
        ends = () if is_begun else self._ends(*step)
        results = [self._result(*end, arrays) for end in ends]
        acting = self._acting(results)
        return Outcome(acting, not acting, results, arrays)

    def _told(self, observed: Any, info: Any) -> Iterable[Told]:
        """What agents are told, in their order: who, its name, the value."""
        _check_info(info)
        return [(0, "observation", observed), (0, "info", info)]

    def _ends(self, rewards: Any, terminated: Any, truncated: Any) -> Iterable[End]:
        """What a step came to: who, its reward, whether it has ended, and whether it was cut off;
        rewards that are no numbers become rows of `array`.
        """
        return [(0, rewards, terminated, truncated)]

    def _acting(self, results: Sequence[Row]) -> tuple[int, ...]:
        """The agents that must act next; none: the episode is over."""
        is_over = any(terminated or truncated for _, _, terminated, truncated in results)
        return () if is_over else (0,)

    def _parts(self, names: Sequence[str]) -> tuple[Any, ...]:
        """What was returned, in its parts. Raises BadInput for another number of them."""
        if not isinstance(self.returned, tuple) or len(self.returned) != len(names):
            raise BadInput(
                f"{_name(self.env)} returned {format_value(self.returned)}",
                f"it must return {', '.join(names[:-1])} and {names[-1]}",
            )
        return self.returned

    def _result(
        self, agent: int, reward: Any, terminated: Any, truncated: Any, arrays: Rows
    ) -> Row:
        """A row of `gave`. Several rewards in one are NaN there, and recorded as an array. Raises
        ValueError for a reward without numbers, and an end that is neither true nor false.
        """
        for ended in (terminated, truncated):
            if ended not in (0, 1):
                raise ValueError(f"an agent has ended: {ended!r}")
        if isinstance(reward, str | bytes) or reward is None:
            raise ValueError(f"a reward is {reward!r}")
        is_single = not isinstance(reward, list | tuple) and getattr(reward, "ndim", 0) == 0
        number = math.nan
        with suppress(OverflowError):  # of a large integer
            number = float(reward) if is_single else math.nan
        if number != number:
            arrays += self.rows(agent, "reward", reward)
        return agent, number, bool(terminated), bool(truncated)


_BEGUN: Final = ("an observation", "an info")
_STEPPED: Final = ("an observation", "a reward", "terminated", "truncated", "an info")


class Vector(Environment):
    """Many environments at once (`gymnasium.make_vec`): each is an agent. They reset themselves,
    or are reset by a mask (`About.autoreset`).
    """

    kind = VECTOR

    def _names(self) -> tuple[str, ...]:
        return tuple([f"environment {index}" for index in range(self.env.num_envs)])

    def space(self, agent: int | None) -> Space:
        env = self.env
        return cast(Space, env.action_space if agent is None else env.single_action_space)

    def seen_by(self, agent: int) -> Shown:
        returned: Any = self.returned
        observation = _item(returned[0], self.env.single_observation_space, agent)
        return observation, _infos_of(returned[-1], agent, len(self.agents)), False

    def _ends(self, rewards: Any, terminated: Any, truncated: Any) -> Iterable[End]:
        return zip(range(len(self.agents)), rewards, terminated, truncated, strict=True)

    def _acting(self, results: Sequence[Row]) -> tuple[int, ...]:
        return tuple(range(len(self.agents)))

    def _told(self, observed: Any, info: Any) -> Iterable[Told]:
        count, space = len(self.agents), self.env.single_observation_space
        yield None, "info", _infos_of(info, None, count)
        for agent in range(count):
            yield agent, "observation", _item(observed, space, agent)
            yield agent, "info", _infos_of(info, agent, count)


class Parallel(Environment):
    """A parallel environment of PettingZoo: all agents act at once."""

    kind = PARALLEL
    _acted: Collection[object] = ()  # in the step under way; empty where a step is a turn

    def __init__(self, env: Any, about: About) -> None:
        super().__init__(env, about)
        self.numbers = {agent: number for number, agent in enumerate(env.possible_agents)}
        self._possible: Sequence[object] = list(env.possible_agents)

    def _names(self) -> tuple[str, ...]:
        names: Any = getattr(self.env, "possible_agents", None)
        if not isinstance(names, list | tuple) or not names:
            raise BadInput(
                f"{_name(self.env)} has possible_agents {format_value(names)}",
                "give it a list of all agents that may come",
            )
        return tuple([str(name).encode("utf-8", "backslashreplace").decode() for name in names])

    def space(self, agent: int | None) -> Space:
        return cast(Space, self.env.action_space(self._possible[agent or 0]))

    def seen_by(self, agent: int) -> Shown:
        name, returned = self._possible[agent], cast("tuple[Any, ...]", self.returned)
        return returned[0].get(name), returned[-1].get(name, {}), False

    def _given(self, actions: Actions) -> object:
        given = {
            self._possible[agent]: decoded(action)
            for agent, action in actions.items()
            if agent is not None
        }
        self._acted = [agent for agent in self.env.agents if agent in given]  # not of the dead
        return given

    def _acting(self, results: Sequence[Row]) -> tuple[int, ...]:
        return tuple(sorted([self._number(agent) for agent in self.env.agents]))

    def _ends(self, rewards: Any, terminated: Any, truncated: Any) -> Iterable[End]:
        """Of all that have a reward, and of those that have acted and ended: they must have one. Of
        an agent that is gone it need not be said that it has ended.
        """
        agents = dict.fromkeys([*rewards, *self._acted])
        for number, agent in sorted([(self._number(agent), agent) for agent in agents]):
            unsaid = None if agent in self._acted and agent in rewards else False
            ends = [ended.get(agent, unsaid) for ended in (terminated, truncated)]
            if agent in rewards or any(ends):
                yield number, rewards.get(agent), ends[0], ends[1]

    def _told(self, observed: Any, info: Any) -> Iterable[Told]:
        told: list[Told] = []
        for name, values in ("observation", observed), ("info", info):
            for agent, value in values.items():
                number = self.numbers.get(agent)  # None: of a key that all share
                if number is not None and values is info:
                    _check_info(value)
                told.append((number, name if number is not None else f"{name}[{agent}]", value))
        return sorted(told, key=lambda each: -1 if each[0] is None else each[0])

    def _number(self, agent: Any) -> int:
        if agent not in self.numbers:
            raise BadInput(
                f"{_name(self.env)} has an agent {format_value(agent)}",
                "all agents must be in its possible_agents",
            )
        return self.numbers[agent]


class InTurns(Parallel):
    """An AEC environment of PettingZoo: a step is a turn.

    Attributes:
        seen: the observation of the agent that is next, as `last` gave it.
    """

    kind = AEC
    seen: object = None
    _last: Any = None  # what `last` gave

    def seen_by(self, agent: int) -> Shown:
        env, name = self.env, self._possible[agent]
        is_out = bool(env.terminations[name] or env.truncations[name])
        return self.seen, env.infos.get(name, {}), is_out

    def _given(self, actions: Actions) -> object:
        return Environment._given(self, actions)

    def _look(self) -> None:
        env, self._last = self.env, None
        if env.agents:
            self._number(env.agent_selection)
            self._last = env.last()

    def _parts(self, names: Sequence[str]) -> tuple[Any, ...]:
        env, self.seen = self.env, None
        observed, infos = dict[Any, Any](), dict[Any, Any]()
        if env.agents:
            self.seen, *_, infos[env.agent_selection] = self._last
            observed[env.agent_selection] = self.seen
        step = (dict(env.rewards), env.terminations, env.truncations)
        return observed, *(step if names is _STEPPED else ()), infos

    def _acting(self, results: Sequence[Row]) -> tuple[int, ...]:
        return (self._number(self.env.agent_selection),) if self.env.agents else ()


def is_environment(value: object) -> bool:
    """Whether something is an environment: it can be reset and stepped, and has spaces."""
    return not isinstance(value, type) and _is_like_one(value)


def makes_environments(kind: type) -> bool:
    """Whether the objects of a class are environments, as far as the class tells."""
    return _is_like_one(kind) or not _CLASSES.isdisjoint(bases_of(kind))


def _is_like_one(value: object) -> bool:
    has_calls = all(callable(getattr(value, name, None)) for name in ("reset", "step"))
    return has_calls and any(hasattr(value, name) for name in _SPACES)


def subject_of_environment(env: object, about: About) -> Environment:
    """The subject that an environment is, by what it has.

    Raises BadInput for what is no environment that can be recorded.
    """
    if not is_environment(env):
        if callable(getattr(env, "step", None)) and not isinstance(env, type):
            raise takes_none(type(env), of=f"what makes {type(env).__qualname__}")  # a model
        raise BadInput(
            f"{format_value(env)} is no environment", "give one of Gymnasium or PettingZoo"
        )
    if hasattr(env, "num_envs"):
        return Vector(env, about)
    if hasattr(env, "possible_agents") or hasattr(env, "agents"):
        return (InTurns if hasattr(env, "last") else Parallel)(env, about)
    return Environment(env, about)


def registered(env: object) -> tuple[Maker, dict[str, object]] | None:
    """What makes an environment again that Gymnasium has made from its registry, and with what
    parameters; None for any other, such as one with further wrappers.
    """
    spec: Any = getattr(env, "spec", None)
    is_vector = hasattr(env, "num_envs")
    if spec is None or spec.additional_wrappers:
        return None
    import gymnasium  # which has made it

    parameters = {name: value for name, value in spec.kwargs.items() if name != "render_mode"}
    if is_vector:
        parameters.setdefault("num_envs", env.num_envs)  # type: ignore[attr-defined]
    try:
        make, most = RegisteredEnvironment(spec.id), spec.max_episode_steps
        if most != gymnasium.spec(spec.id).max_episode_steps:
            if most is None:  # of an environment without its wrappers
                return None
            parameters["max_episode_steps"] = most
        for name, value in parameters.items():
            encoded(value, name)
    except BadInput:
        return None
    return None if set(OWN) & set(parameters) else (make, parameters)


def _item(batch: Any, space: Any, index: int) -> Any:
    """The observation of one environment, among those of all. `space`: of one. Gymnasium has a
    batch for each part of a Dict and a Tuple, but a tuple of all that are texts or graphs.
    """
    if isinstance(space, Mapping):
        return {name: _item(value, space[name], index) for name, value in batch.items()}
    if isinstance(space, Sequence):
        parts = zip(batch, space, strict=True)
        return tuple([_item(value, part, index) for value, part in parts])
    return batch[index]


def _infos_of(infos: Mapping[Any, Any], index: int | None, count: int) -> dict[object, object]:
    """What one of several environments told, among what all did: `_score` says which of them gave a
    `score`. None: what is not of each of them.
    """
    infos_of: dict[object, object] = {}
    for name, value in infos.items():
        is_given = index is None or infos.get(f"_{name}", {index: True})[index]
        is_of_each = getattr(value, "shape", ())[:1] == (count,)
        if _is_mask(name, infos) or not is_given:
            continue
        if isinstance(value, Mapping):
            infos_of[name] = _infos_of(value, index, count)
        elif is_of_each != (index is None):
            infos_of[name] = value if index is None else value[index]
    return infos_of


def _check_info(info: object) -> None:
    if not isinstance(info, Mapping):
        raise ValueError(f"an info is {format_value(info)}")


def _is_mask(name: object, infos: Mapping[Any, Any]) -> bool:
    return str(name).startswith("_") and str(name)[1:] in infos


def _name(env: object) -> str:
    return type(getattr(env, "unwrapped", env)).__qualname__
