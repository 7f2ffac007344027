"""The live environments of this process: for journals that are verified or forked, and for players.

What was given for a run's subject (agents/given.py) makes it. A journal makes nothing.
"""

from __future__ import annotations

import atexit
import copy
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any, Final, cast

from goldrush.agents.given import maker_of
from goldrush.agents.trust import RECORDED
from goldrush.agents.worlds.episode.policies import CALLER
from goldrush.agents.worlds.episode.subjects import Seen, Space
from goldrush.kernel.errors import (
    BadInput,
    PolicyFailed,
    RulesFailed,
    format_value,
)
from goldrush.kernel.world import Block
from goldrush.kernel.worlds.episode.config import AEC, OWN, About, EpisodeConfig, config_of
from goldrush.kernel.worlds.episode.events import ACTED
from goldrush.kernel.worlds.episode.fork import VOCABULARY
from goldrush.kernel.worlds.episode.state import EpisodeState, initial
from goldrush.kernel.worlds.episode.values import (
    Encoded,
    shown,
)
from goldrush.kernel.worlds.episode.world import Outcome
from goldrush.replay.worlds.episode.coding import decoded, encoded
from goldrush.replay.worlds.episode.environments import (
    Environment,
    InTurns,
    Vector,
)
from goldrush.replay.worlds.episode.making import (
    SubjectMaker,
    environment_name,
    name_of,
    subject_made,
)
from goldrush.replay.worlds.episode.model import ModelSubject
from goldrush.replay.worlds.episode.parameters import asked_in
from goldrush.replay.worlds.episode.recording import config_for, failing
from goldrush.replay.worlds.episode.stage import LiveStage
from goldrush.replay.worlds.episode.versions import format_versions

KEPT: Final = 8  # makers whose last environment is kept

_NOBODY: Final = {"policy": "external", "options": {}}


class NamedStage(LiveStage[Environment | ModelSubject]):
    """A stage of runs that goldrush itself drives: what a subject raises is told in one line."""

    def at(self, state: EpisodeState) -> Environment | ModelSubject:
        """The subject of this state. Raises BadInput, and RulesFailed for what its code raises."""
        step = f"cannot be brought to step {state.unit - 1}" if state.unit else "cannot be made"
        with _in_one_line(state, step):
            return super().at(state)

    def outcome(self, state: EpisodeState, inputs: Block) -> Outcome:
        """What the subject of this state gives. Raises as `at`, and PolicyFailed for an action of
        a policy that is not in its space.
        """
        subject = self.at(state)
        try:
            with _in_one_line(state, f"fails in step {state.unit}"):
                return super().outcome(state, inputs)
        except RulesFailed as failed:
            for agent, action in inputs.rows(ACTED):
                _blame(cast(Environment, subject).space(agent), state, agent, action, failed)
            raise


def _in_one_line(state: EpisodeState, what: str) -> AbstractContextManager[None]:
    """Tell in one line what the code of a run's subject raises while it is derived."""
    versions = format_versions(state.about.versions)
    instead = f"`goldrush repeats` tells whether it repeats; it runs under {versions}"
    return failing(f"{state.about.name} {what}", instead)


def _blame(
    space: Space, state: EpisodeState, agent: int | None, action: Encoded, failed: RulesFailed
) -> None:
    """Raise the error for an action that is not in its space, where an environment failed."""
    with suppress(Exception):  # of a space of the environment's own
        if space.contains(decoded(action)):
            return
    if action is None and state.about.kind == AEC:  # who leaves
        return
    entry = state.roster[agent or 0]
    name = "all environments" if agent is None else state.about.agents[agent]
    fault = f"the action of {name} is {format_value(shown(action))}, which is not in {space}"
    if entry["policy"] == RECORDED or entry["options"].get("name") == CALLER:
        raise RulesFailed(f"{failed.what} ({fault})", failed.instead) from failed.__cause__
    text = f"{fault}: {failed.what}"
    raise PolicyFailed(entry["policy"], agent or 0, state.unit, text, VOCABULARY.unit) from None


class LiveSubjects:
    """The environments that were made of what was given."""

    def __init__(self) -> None:
        """No environment yet."""
        self._stages: dict[int, NamedStage] = {}  # by the id of what each has to make subjects
        self._spaces: tuple[Environment | None, dict[int, Space]] = None, {}

    def stage_of(self, subject: str) -> NamedStage | None:
        """The stage of the runs of a subject; None: nothing was given that makes it."""
        make = maker_of(subject)
        if make is None:
            return None
        if not self._stages:
            atexit.register(self.close)
        stage = self._stages.pop(id(make), None) or NamedStage(SubjectMaker(make))
        self._stages[id(make)] = stage  # the last one used
        if len(self._stages) > KEPT:
            self._stages.pop(next(iter(self._stages))).close()
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
            names = [environment_name(live.env, make), environment_name(live.env)]
        return "" if subject in names else names[0]

    def close(self) -> None:
        """Close all environments."""
        for stage in self._stages.values():
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
        asked, settings = asked_in(settings, make)
        own = config_of({name: value for name, value in settings.items() if name in OWN})
        parameters = {name: value for name, value in settings.items() if name not in OWN}
        config = config_for(own.seed, own.steps, parameters)
        named = ", ".join(parameters) or "no parameters"
        instead = f"it is called with {named}: see --set, or give something else: --env module:make"
        with failing("what is given cannot make an environment or a model", instead):
            subject = subject_made(make, None, own.seed, parameters, asked)
        roster = [{"agent": agent, **_NOBODY} for agent in range(len(subject.agents))]
        state = initial({"config": config, "subject": subject.about.as_dict(), "roster": roster})
        stage.hold(subject, state, is_made=True)
        return state.config, subject.about

    def seen(self, state: EpisodeState, agent: int) -> Seen:
        """See Subjects."""
        subject = cast(Environment, self._live(state))
        observation, info, is_out = subject.seen_by(agent)
        known, copies = self._spaces
        if known is not subject:
            copies = {}
            self._spaces = subject, copies
        if agent not in copies:  # to seed a copy changes nothing for the environment
            copies[agent] = copy.deepcopy(subject.space(agent))
        return Seen(state.about.agents[agent], observation, info, copies[agent], is_out)

    def check_changes(self, state: EpisodeState, changes: Mapping[str, object]) -> None:
        """See Subjects."""
        cast(ModelSubject, self._live(state)).check_changes(changes)

    def encoded(self, value: object, what: str) -> Encoded:
        """See Subjects."""
        return encoded(value, what)

    def together(self, state: EpisodeState, actions: Sequence[Encoded]) -> Encoded:
        """See Subjects."""
        from gymnasium.vector import utils

        space = cast(Vector, self._live(state)).env.single_action_space
        batch: Any = utils.create_empty_array(space, len(actions))
        batch = utils.concatenate(space, [decoded(action) for action in actions], batch)
        return encoded(batch, "the actions of all environments")

    def action_of(
        self, given: object, state: EpisodeState, agent: int | None, recorded: Encoded
    ) -> Encoded:
        """See Subjects."""
        subject = cast(Environment, self._live(state))
        space = subject.space(agent)
        if given is None and isinstance(subject, InTurns):
            return None  # an agent that leaves
        with suppress(Exception):  # of another form
            action: Any = _from_json(space, given)
            if space.contains(action):
                action = encoded(action, "the action")
                is_plain = isinstance(recorded, int | float | str)
                return cast(Encoded, shown(action)) if is_plain else action
        who = "all environments" if agent is None else state.about.agents[agent]
        sample = shown(encoded(copy.deepcopy(space).sample(), "a sample"))
        raise BadInput(
            f"the action of {who} is {format_value(given)}",
            f"give one of {space}, as {format_value(sample)}",
        )

    def _live(self, state: EpisodeState) -> Environment | ModelSubject:
        stage = self.stage_of(state.about.name)
        if stage is None:
            raise BadInput(missing(state.about.name), "give it")
        return stage.at(state)


def missing(name: str) -> str:
    """Why a run cannot be derived again here. `name`: of its subject."""
    return f"{name or 'what the run is of'} is not here; give what makes it: --env module:make"


def _from_json(space: Any, given: Any) -> object:
    """An action given by hand, as a value of its space. Raises whatever there is to raise for one
    of another form, and BadInput for other numbers.
    """
    if isinstance(space, Mapping):
        if space.keys() != given.keys():
            raise BadInput("other keys", "give those of the space")
        return {name: _from_json(space[name], value) for name, value in given.items()}
    if isinstance(space, Sequence):  # a Tuple
        pairs = zip(space, given, strict=True)
        return tuple([_from_json(part, value) for part, value in pairs])
    import numpy as np

    [action] = space.from_jsonable([given])
    is_whole = isinstance(action, np.ndarray | np.generic) and action.dtype.kind != "f"
    if is_whole and not np.array_equal(action, given):
        raise BadInput("other numbers", "give whole ones")
    return action
