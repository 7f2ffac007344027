"""A game as a PettingZoo environment. Each episode is a journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import attrs
import numpy as np
from gymnasium import spaces

from goldrush.agents.game.prompts import GamePrompts
from goldrush.agents.game.step import StepView
from goldrush.agents.players import Resources
from goldrush.agents.simultaneous import StagePlayers
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.game.draw import Draw
from goldrush.kernel.game.game import Game, snake
from goldrush.kernel.game.records import State, Submission
from goldrush.kernel.game.world import compiled
from goldrush.kernel.treatments import BASELINE
from goldrush.replay.environment import Infos, JournalEnv, refused_action
from goldrush.replay.game.spaces import Action, Actions, Space, array_of, numbers_of
from goldrush.replay.game.tools import is_finite, tools_of_game

Observed = Any  # an array; with a mask {"observation": array, "action_mask": mask}


@attrs.define
class _Learner:
    """The policy that the run asks in place of a learner: it has been told what to submit."""

    submission: Submission | None = None

    def act(self, seen: object, agent: int, draw: Draw) -> Submission | None:
        return self.submission


class GameEnv(JournalEnv[State, _Learner, Observed, Action]):
    """A game for learners.

    A step is one of the run in which a learner is asked, with those after it in which none is.

    - Action: see `spaces.Actions`. That of an agent who is not asked is ignored.
    - Observation: what the game lets the agent observe, as a float32 array (`features` names its
      entries); where the game lists legal values, `{"observation": ..., "action_mask": ...}`.
    - Reward: the change of the agent's `score`.
    - Termination: when the run is over. Truncation: after `max_cycles` units, if that is before.
    - Info: `phase`, the next one; `asked`, the event of the submission that the agent is asked for,
      None where it is not.
    """

    def __init__(
        self,
        game: type[Game],
        treatment: str = BASELINE,
        *,
        roster: str | Sequence[object] | None = None,
        journal: str | Path | None = None,
        max_cycles: int | None = None,
        **settings: object,
    ) -> None:
        """Arguments and errors as those of `goldrush.game_env`."""
        if not game.submissions:
            raise BadInput(f"nobody submits in {game.name}", "give another game")
        self._game = game
        super().__init__(_Learner, treatment, roster, journal, max_cycles, settings)
        self.metadata = {
            "name": f"goldrush/{self.config.name}-v{self.config.rules}",
            "render_modes": [],
            "is_parallelizable": True,
        }
        self.render_mode = None
        self._actions = Actions(self.config)
        run = self._players.prepare(self._settings, self._roster, treatment, Resources())
        state = compiled(game).initial(run.setup)
        self._features = {
            name: tuple(numbers_of(self._seen(state, agent))) for name, agent in self._names.items()
        }
        self._observation_spaces = {
            name: self._observation_space(features) for name, features in self._features.items()
        }
        # Each agent has a space of its own, to be seeded by itself.
        self._action_spaces = {name: Actions(self.config).space for name in self._names}
        self._scores = self._scored(state)
        self._has_ended = False
        self._asked: Mapping[str, type[Submission]] = {}

    @property
    def _players(self) -> StagePlayers[State, StepView]:
        return cast("StagePlayers[State, StepView]", tools_of_game(self._game).players)

    def _observation_space(self, features: Sequence[str]) -> Space:
        if not features:
            raise BadInput(
                f"agents of {self.config.name} see no number", "let `observe` return one that has"
            )
        seen = spaces.Box(-np.inf, np.inf, (len(features),), np.float32)
        if self._actions.mask_space is None:
            return seen
        return spaces.Dict(observation=seen, action_mask=self._actions.mask_space)

    def features(self, agent: str) -> Sequence[str]:
        """The names of the entries of an agent's observations."""
        return self._features[agent]

    def observation_space(self, agent: str) -> Space:
        """The space of an agent's observations."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> Space:
        """The space of an agent's actions."""
        return self._action_spaces[agent]

    def _begin(self) -> tuple[dict[str, Observed], Infos]:
        self._scores = self._scored(self._begun())
        self._has_ended = self._go_on()
        return self._observed(), self._infos()

    def step(
        self, actions: Mapping[str, Action]
    ) -> tuple[dict[str, Observed], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Play on until a learner is asked again: observations, rewards, terminations, truncations,
        infos by agent. `actions`: one for each agent that is asked, at least.

        Raises:
            BadInput: where no episode is under way, for an agent that is asked without an action,
                and for actions outside of their spaces. Nothing is played then.
            PolicyFailed, WriteFailed: as in `record`; the episode is over then.
        """
        self._under_way()
        submissions = {}
        for name, asks in self._asked.items():
            submitted = self._actions.submission(asks, actions[name]) if name in actions else None
            if submitted is None:
                raise refused_action(name, actions)
            submissions[self._names[name]] = submitted
        for agent, submitted in submissions.items():
            self._learners[agent].submission = submitted
        if submissions:  # else the run was over before a learner was asked
            self._asked = {}
            self._has_ended = self._play() or self._go_on()
        names, has_ended = self.agents, self._has_ended
        is_cut = not has_ended and self._is_cut
        scores, before = self._scored(self._begun()), self._scores
        self._scores = scores
        if has_ended or is_cut:
            self.close()
        return (
            self._observed(),
            {name: scores[name] - before[name] for name in names},
            dict.fromkeys(names, has_ended),
            dict.fromkeys(names, is_cut),
            self._infos(),
        )

    def _go_on(self) -> bool:
        """Play the steps in which no learner is asked; whether the run is over."""
        has_ended = False
        self._asked = self._asked_now()
        while not (has_ended or self._asked or self._is_cut):
            has_ended = self._play()
            self._asked = {} if has_ended else self._asked_now()
        return has_ended

    def _asked_now(self) -> dict[str, type[Submission]]:
        """The learners who are asked in the next step of the run, and for what."""
        state = self._begun()
        rules = compiled(self._game)
        asks, movers = rules.phase(state).asks, {*rules.movers(state)}
        if asks is None or self._is_cut:
            return {}
        return {name: asks for name, agent in self._names.items() if agent in movers}

    @property
    def _is_cut(self) -> bool:
        return self.max_cycles is not None and self._begun().unit >= self.max_cycles

    def _seen(self, state: State, agent: int) -> object:
        with compiled(self._game).running("observe", state):
            return self.config.observe(state, agent)

    def _scored(self, state: State) -> dict[str, float]:
        """The score of each learner. Raises BadInput in a game without, and for others than
        finite numbers.
        """
        scores, rule = {}, self.config.score
        for name, agent in self._names.items():
            with compiled(self._game).running("score", state):
                # a measure may have its name
                score = rule(state, agent) if callable(rule) else None
            if score is None:
                raise BadInput(
                    f"{type(self.config).__name__} tells no score, so no learner can be rewarded",
                    "declare it: def score(self, state, agent): ...",
                )
            if not is_finite(score):
                raise BadInput(
                    f"{type(self.config).__name__}.score gives {format_value(score)} for {name}",
                    "give a finite number",
                )
            scores[name] = float(score)
        return scores

    def _observed(self) -> dict[str, Observed]:
        state, mask_space, game = self._begun(), self._actions.mask_space, self._players.game
        prompts = GamePrompts(compiled(self._game))
        observed: dict[str, Observed] = {}
        for name, agent in self._names.items():
            seen = array_of(name, self._seen(state, agent), self._features[name])
            if mask_space is None:
                observed[name] = seen
                continue
            asks = self._asked.get(name)
            legal = {} if asks is None else prompts.legal(game.view(state), agent)
            mask = self._actions.mask(asks, legal)
            observed[name] = {"observation": seen, "action_mask": mask}
        return observed

    def _infos(self) -> Infos:
        phase = self._begun().phase
        asked = {name: snake(asks.__name__) for name, asks in self._asked.items()}
        return {name: {"phase": phase, "asked": asked.get(name)} for name in self._names}
