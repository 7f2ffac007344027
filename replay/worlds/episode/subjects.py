"""The live environments of this process: for journals that are verified or forked, and for players.

What was given for a run's subject (agents/given.py) makes it. A journal makes nothing.
"""

from __future__ import annotations

import atexit
import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, cast

from goldrush.agents.given import maker_of
from goldrush.agents.targets import Maker, RegisteredEnvironment, check_imports
from goldrush.agents.trust import EXTERNAL, RECORDED
from goldrush.agents.worlds.episode.policies import CALLER
from goldrush.agents.worlds.episode.subjects import Seen, Space
from goldrush.kernel.errors import (
    BadInput,
    GoldrushError,
    PolicyFailed,
    RulesFailed,
    format_error,
    format_value,
)
from goldrush.kernel.world import Block
from goldrush.kernel.worlds.episode.config import OWN, About, EpisodeConfig, config_of
from goldrush.kernel.worlds.episode.events import ACTED
from goldrush.kernel.worlds.episode.fork import VOCABULARY
from goldrush.kernel.worlds.episode.state import EpisodeState, initial
from goldrush.kernel.worlds.episode.subject import ENVIRONMENT, MODEL, VECTOR, Outcome
from goldrush.kernel.worlds.episode.values import (
    ARRAY,
    DICT,
    INT,
    LIST,
    SCALAR,
    TUPLE,
    Encoded,
    shown,
)
from goldrush.replay.worlds.episode.coding import decoded, encoded
from goldrush.replay.worlds.episode.environments import (
    Environment,
    InTurns,
    Parallel,
    Recorded,
    Vector,
    about_of,
    makes_environments,
)
from goldrush.replay.worlds.episode.model import (
    ModelSubject,
    is_model,
    name_of,
    subject_made,
)
from goldrush.replay.worlds.episode.parameters import asked_in
from goldrush.replay.worlds.episode.recording import EnvironmentMaker, config_for, other_kind
from goldrush.replay.worlds.episode.stage import LiveStage
from goldrush.replay.worlds.episode.versions import format_versions

KEPT: Final = 8  # makers whose last environment is kept

_UNIT: Final = VOCABULARY.unit
_REPEATS: Final = "`goldrush repeats` tells whether it repeats"
_NOBODY: Final = {"policy": "external", "options": {}}


class NamedStage(LiveStage[Environment | ModelSubject]):
    """A stage of runs that goldrush itself drives: what a subject raises is told in one line."""

    def at(self, state: EpisodeState) -> Environment | ModelSubject:
        """The subject of this state. Raises BadInput."""
        name, parameters = state.about.name, ", ".join(state.config.parameters)
        if state.unit:
            at = f"{name} cannot be brought to step {state.unit - 1}"
            with _told(at, _REPEATS, state.about.versions):
                return super().at(state)
        called = f"called with {parameters}" if parameters else "called without parameters"
        instead = f"give what makes it, {called}: --env module:make"
        with _told(f"{name} cannot be made", instead, state.about.versions):
            return super().at(state)

    def outcome(self, state: EpisodeState, inputs: Block) -> Outcome:
        """What the subject of this state gives. Raises BadInput, and PolicyFailed for an action of
        a policy that is not in its space.
        """
        subject = self.at(state)
        try:
            at = f"{state.about.name} fails in step {state.unit}"
            with _told(at, _REPEATS, state.about.versions):
                return super().outcome(state, inputs)
        except RulesFailed as failed:
            for agent, action in inputs.rows(ACTED):
                _blame(cast(Environment, subject), state, agent, action, failed)
            raise


def _blame(
    subject: Environment,
    state: EpisodeState,
    agent: int | None,
    action: Encoded,
    failed: RulesFailed,
) -> None:
    """Raise the error for an action that is not in its space, where an environment failed."""
    space = _space_of(subject, agent)
    if (action is None and isinstance(subject, InTurns)) or _contains(space, action):
        return
    entry = state.roster[agent or 0]
    policy, options = entry["policy"], entry["options"]
    name = "all environments" if agent is None else state.about.agents[agent]
    fault = f"the action of {name} is {format_value(shown(action))}, which is not in {space}"
    if policy == RECORDED or (policy == EXTERNAL and options.get("name") == CALLER):
        raise RulesFailed(f"{failed.what} ({fault})", failed.instead) from failed.__cause__
    raise PolicyFailed(policy, agent or 0, state.unit, f"{fault}: {failed.what}", _UNIT) from None


def _contains(space: Space, action: Encoded) -> bool:
    try:
        return space.contains(decoded(action))
    except KeyboardInterrupt:
        raise
    except BaseException:  # of a space of the environment's own
        return False


def _space_of(subject: Environment, agent: int | None) -> Space:
    """The space of an agent's actions, or of those of all together."""
    space = subject.env.action_space
    if agent is not None and isinstance(subject, Parallel):
        space = space(subject.env.possible_agents[agent])
    return cast(Space, space)


@contextmanager
def _told(what: str, instead: str, recorded: Mapping[str, str] = {}) -> Iterator[None]:
    """Tell in one line what a subject's code raises. `recorded`: versions of its run."""
    try:
        yield
    except (KeyboardInterrupt, MemoryError, GoldrushError):
        raise
    except BaseException as error:  # an environment may raise anything
        reason = " ".join(format_error(error).split())
        versions = f"; it runs under {format_versions(recorded)}" if recorded else ""
        raise RulesFailed(f"{what}: {reason}", f"{instead}{versions}") from error


class LiveSubjects:
    """The environments that were made of what was given."""

    def __init__(self) -> None:
        """No environment yet."""
        self._stages: dict[int, tuple[Maker, NamedStage]] = {}
        self._spaces: tuple[Environment | None, dict[int, Space]] = None, {}

    def stage_of(self, subject: str) -> NamedStage | None:
        """The stage of the runs of a subject; None: nothing was given that makes it."""
        make = maker_of(subject)
        if make is None:
            return None
        if not self._stages:
            atexit.register(self.close)
        _, stage = self._stages.pop(id(make), (make, None))
        stage = stage or NamedStage(_maker_of_subject(make))
        self._stages[id(make)] = make, stage  # the last one used
        if len(self._stages) > KEPT:
            self._stages.pop(next(iter(self._stages)))[1].close()
        return stage

    def other_than(self, subject: str) -> str:
        """The name of what was given for a subject, if a run of it would record another name than
        the subject's; empty also where it has not been made yet.
        """
        make, stage = maker_of(subject), self.stage_of(subject)
        live = None if stage is None else stage.live
        if make is None or live is None:
            return ""
        if isinstance(live, ModelSubject):
            names = [name_of(make)]
        else:
            names = [about_of(live, make).name, about_of(live).name]
        return "" if subject in names else names[0]

    def close(self) -> None:
        """Close all environments."""
        for _, stage in self._stages.values():
            stage.close()
        self._stages.clear()
        self._spaces = None, {}

    def prepared(self, settings: Mapping[str, object]) -> tuple[EpisodeConfig, About]:
        """See Subjects."""
        stage, make = self.stage_of(""), maker_of("")
        if stage is None or make is None:
            raise BadInput(
                "nothing is given that makes an environment",
                "give it: --env CartPole-v1, module:make or FILE.py:NAME",
            )
        recorded, settings = asked_in(settings, make)
        own = config_of({name: value for name, value in settings.items() if name in OWN})
        parameters = {name: value for name, value in settings.items() if name not in OWN}
        config = config_for(own.seed, own.steps, parameters)
        named = ", ".join(parameters) or "no parameters"
        instead = f"it is called with {named}: see --set, or give something else: --env module:make"
        with _told("what is given cannot make an environment or a model", instead):
            subject, about = subject_made(make, None, own.seed, parameters, recorded)
        roster = [{"agent": agent, **_NOBODY} for agent in range(len(about.agents))]
        state = initial({"config": config, "subject": about.as_dict(), "roster": roster})
        stage.hold(subject, state, is_made=True)
        return state.config, about

    def seen(self, state: EpisodeState, agent: int) -> Seen:
        """See Subjects."""
        subject, name = self._at(state), state.about.agents[agent]
        env, returned = subject.env, cast("tuple[Any, ...]", subject.returned)
        if isinstance(subject, InTurns):
            own = env.possible_agents[agent]
            is_out = bool(env.terminations[own] or env.truncations[own])
            space = self._space(subject, agent, env.action_space(own))
            return Seen(name, subject.seen, env.infos.get(own, {}), space, is_out)
        if isinstance(subject, Parallel):
            own = env.possible_agents[agent]
            space = self._space(subject, agent, env.action_space(own))
            return Seen(name, returned[0].get(own), returned[-1].get(own, {}), space)
        if isinstance(subject, Vector):
            space = self._space(subject, agent, env.single_action_space)
            return Seen(name, _item(returned[0], agent), _infos_of(returned[-1], agent), space)
        return Seen(name, returned[0], returned[-1], self._space(subject, agent, env.action_space))

    def check_changes(self, state: EpisodeState, changes: Mapping[str, object]) -> None:
        """See Subjects."""
        cast(ModelSubject, self._live(state)).check_changes(changes)

    def encoded(self, value: object, what: str) -> Encoded:
        """See Subjects."""
        return encoded(value, what)

    def together(self, state: EpisodeState, actions: Sequence[Encoded]) -> Encoded:
        """See Subjects."""
        from gymnasium.vector import utils

        space = self._at(state).env.single_action_space
        batch: Any = utils.create_empty_array(space, len(actions))
        batch = utils.concatenate(space, [decoded(action) for action in actions], batch)
        return encoded(batch, "the actions of all environments")

    def action_of(
        self, given: object, state: EpisodeState, agent: int | None, recorded: Encoded
    ) -> Encoded:
        """See Subjects."""
        subject = self._at(state)
        space = _space_of(subject, agent)
        if given is None and isinstance(subject, InTurns):
            return None  # an agent that leaves
        sample = encoded(copy.deepcopy(space).sample(), "a sample")
        for like in [sample] if recorded is None else [recorded, sample]:
            try:
                action = _as_recorded(given, like)
                if space.contains(action):
                    return encoded(action, "the action")
            except (TypeError, ValueError, OverflowError):
                continue
        who = "all environments" if agent is None else state.about.agents[agent]
        raise BadInput(
            f"the action of {who} is {format_value(given)}",
            f"give one of {space}, as {format_value(shown(sample))}",
        )

    def _at(self, state: EpisodeState) -> Environment:
        return cast(Environment, self._live(state))

    def _live(self, state: EpisodeState) -> Environment | ModelSubject:
        stage = self.stage_of(state.about.name)
        if stage is None:
            raise BadInput(missing(state.about.name), "give it")
        return stage.at(state)

    def _space(self, subject: Environment, agent: int, space: Space) -> Space:
        """A copy of an agent's space: to seed it must change nothing for the environment."""
        known, copies = self._spaces
        if known is not subject:
            copies = {}
            self._spaces = subject, copies
        if agent not in copies:
            copies[agent] = copy.deepcopy(space)
        return copies[agent]


class _JournalModel(ModelSubject):
    """A model whose parameters are those of a journal."""

    def reset(self, seed: int | None, options: Encoded) -> Outcome:
        """As of any model. Raises BadInput for a parameter that names a module, too."""
        check_imports({"parameters": decoded(options)})
        return super().reset(seed, options)


def _maker_of_subject(make: Maker) -> Callable[[EpisodeState], Environment | ModelSubject]:
    """What makes the subject of a state's run by `make`, the environment or the model."""

    def made(state: EpisodeState) -> Environment | ModelSubject:
        about = state.about
        _check_kind(make, about, state.config.parameters)
        if not state.is_model:
            is_many = isinstance(make, RegisteredEnvironment) and about.kind == VECTOR
            several = partial(make, num_envs=len(about.agents))
            return EnvironmentMaker(several if is_many else make)(state)
        return _JournalModel(make, about.name, Recorded.of(about))

    return made


def _check_kind(make: Maker, about: About, parameters: Mapping[str, Encoded]) -> None:
    """Raises BadInput for a run of another kind than is made here, as far as that is known before
    anything is made: parameters of a journal may take any time and memory.
    """
    here, count = about.kind, parameters.get("num_envs")
    if isinstance(make, RegisteredEnvironment):
        here = VECTOR if about.kind == VECTOR or count is not None else ENVIRONMENT
    elif isinstance(make, type) and makes_environments(make):
        here = ENVIRONMENT if about.kind == MODEL else here
    elif is_model(make):
        here = MODEL
    if here != about.kind:
        raise other_kind(about, here)
    if type(count) is int and about.kind == VECTOR and count > len(about.agents):
        raise BadInput(
            f"num_envs is {format_value(count)}, but the run has {len(about.agents)} environments",
            "forged or damaged: no journal has that",
        )


def missing(name: str) -> str:
    """Why a run cannot be derived again here. `name`: of its subject."""
    return f"{name or 'what the run is of'} is not here; give what makes it: --env module:make"


def _item(batch: Any, index: int) -> Any:
    """The observation of one environment, among those of all."""
    if isinstance(batch, Mapping):
        return {name: _item(value, index) for name, value in batch.items()}
    if isinstance(batch, tuple):
        return tuple([_item(value, index) for value in batch])
    return batch[index]


def _infos_of(infos: Any, index: int) -> dict[object, object]:
    """What one environment told, among what all did."""
    return {
        name: value[index]
        for name, value in infos.items()
        if not str(name).startswith("_")
        and getattr(value, "shape", ())[:1] > (index,)
        and bool(infos.get(f"_{name}", {index: True})[index])
    }


def _as_recorded(given: object, recorded: Encoded) -> object:
    """An action given by hand, as JSON, with the types of a recorded one. Raises ValueError for
    another form.
    """
    if isinstance(recorded, tuple):
        form, *rest = cast("tuple[Any, ...]", recorded)
        if form in (ARRAY, SCALAR):
            return _in_numpy(given, rest[0], rest[1] if form == ARRAY else ())
        if form in (TUPLE, LIST):
            items = _items(given, len(rest[0]))
            made = [_as_recorded(item, each) for item, each in zip(items, rest[0], strict=True)]
            return tuple(made) if form == TUPLE else made
        if form == DICT:
            pairs = {str(shown(key)): (key, value) for key, value in rest[0]}
            if not isinstance(given, Mapping) or given.keys() != pairs.keys():
                raise ValueError("other keys")
            return {
                decoded(key): _as_recorded(given[name], value)
                for name, (key, value) in pairs.items()
            }
        recorded = 0 if form == INT else ""
    if type(recorded) is float and type(given) is int:
        return float(given)
    if type(given) is not type(recorded):
        raise ValueError("another type")
    return given


def _in_numpy(given: object, dtype: object, shape: tuple[int, ...]) -> object:
    """The array, or the scalar, of a type. Raises ValueError unless it has the same numbers."""
    import numpy as np

    array = np.array(given)
    made = array.astype(dtype)  # type: ignore[call-overload]
    is_same = np.array_equal(made.astype(array.dtype), array)
    if array.dtype.kind not in "biuf" or made.shape != shape:
        raise ValueError("another shape")
    if not is_same and made.dtype.kind != "f":
        raise ValueError("other numbers")
    return made if shape else made[()]


def _items(given: object, count: int) -> list[object]:
    if not isinstance(given, list) or len(given) != count:
        raise ValueError("another number of items")
    return given
