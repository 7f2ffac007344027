"""`GameEnv`: a game as a PettingZoo environment, in which each episode is a journal.

The environment drives the run loop that `record` drives (`kernel.run.steps`), so what a learner
does is judged, recorded and verified like what any other agent submits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import attrs
import msgspec
import numpy as np
import pettingzoo
from gymnasium import spaces

from goldrush.agents.game.play import GamePlayers, players_of_game
from goldrush.agents.players import Resources, context_of
from goldrush.agents.trust import EXTERNAL
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, WriteFailed, format_value
from goldrush.kernel.files import TemporaryFolder
from goldrush.kernel.game.game import Game, snake
from goldrush.kernel.game.records import State, Submission
from goldrush.kernel.game.world import compiled
from goldrush.kernel.journal import Header, JournalWriter
from goldrush.kernel.run import Ask, Steps, steps
from goldrush.kernel.settings import INTEGER_MAX
from goldrush.replay.arguments import integer, path_of, roster_of
from goldrush.replay.data.user_measures import is_finite
from goldrush.replay.game.spaces import Action, Actions, Observed, Space, array_of, numbers_of

ROSTER_DEFAULT: Final = "external[name=pettingzoo]"
EPISODE: Final = "{episode}"  # in the path of a journal: the number of the episode, from 1 on

Infos = dict[str, dict[str, Any]]


@attrs.define
class Learner:
    """The policy that the run asks in place of a learner: it has been told what to submit."""

    submission: object = None

    def act(self, seen: object, agent: int, draw: object) -> object:
        return self.submission


class GameEnv(pettingzoo.ParallelEnv[str, Observed, Action]):
    """A game for learners: every agent whose roster entry is `external`.

    Agents are called `agent_0`, ..., by their numbers in the journal. Other agents of the roster
    play their policies in the same journal. A step is one of the run in which a learner is asked,
    with those after it in which none is. All agents live to the end, which is their termination:
    nothing is truncated.

    - Action: see `Actions`. That of an agent who is not asked is ignored.
    - Observation: what the game lets the agent observe, as a float32 array (`features` names its
      entries); where the game lists legal values, `{"observation": ..., "action_mask": ...}`.
    - Reward: the change of the agent's `score`.
    - Info: `phase`, the next one; `asked`, the event of the submission that the agent is asked for,
      None where it is not.

    `journal` is the path of the episode's journal, None before the first one; an episode left
    before its last unit can be resumed.
    """

    def __init__(
        self, game: type[Game], treatment: str, roster: str | Sequence[object] | None,
        journal: str | Path | None, settings: Mapping[str, object],
    ) -> None:  # fmt: skip
        """Arguments and errors as those of `goldrush.parallel_env`."""
        if not game.submissions:
            raise BadInput(f"nobody submits in {game.name}", "give another game")
        self._game = game
        players = self._players
        self._settings, self._treatment = dict(settings), treatment
        who = roster_of(players, ROSTER_DEFAULT if roster is None else roster)
        config, found = players.configured(self._settings, who.text, treatment)
        external = [entry.agent for entry in found.entries if entry.policy == EXTERNAL]
        learners = [agent for agent in external if agent not in who.policies]
        if not learners:
            raise BadInput(
                f"the roster {format_value(who.text)} has no learner", "make an agent `external`"
            )
        self._roster, self._others = who.text, who.policies
        self._learners = {agent: Learner() for agent in learners}
        self._names = {f"agent_{agent}": agent for agent in learners}
        self.possible_agents = list(self._names)
        self.agents: list[str] = []
        self.config: Any = config
        self.journal: str | None = None
        self._path = None if journal is None else path_of(journal, "journal")
        self._temporary: TemporaryFolder | None = None  # where no path is given
        self._seed, self._since, self._episodes = self.config.seed, 0, 0
        self._open = ExitStack()
        self._run: tuple[Ask[State], Steps[State], JournalWriter] | None = None
        self._state: State | None = None
        run = players.prepare(self._settings, self._roster, treatment, Resources())
        world = players.world
        self._initial: State = world.initial(run.setup)
        self.metadata = {
            "name": f"goldrush/{world.name}-v{world.rules}",
            "render_modes": [],
            "is_parallelizable": True,
        }
        self.render_mode = None
        self._asked: Sequence[str] = ()  # the learners who are asked in the next step of the run
        self._has_ended = False
        self._actions = Actions(self._initial.config)
        self._features = {
            name: tuple(numbers_of(self._seen(self._initial, agent)))
            for name, agent in self._names.items()
        }
        # By name of the agent. Each has a space of its own, to be seeded by itself.
        self._observation_spaces = {
            name: self._observation_space(features) for name, features in self._features.items()
        }
        self._action_spaces = {name: Actions(self._initial.config).space for name in self._names}
        self._scores = self._scored(self._initial)

    def observation_space(self, agent: str) -> Space:
        """The space of an agent's observations."""
        return self._observation_spaces[agent]

    def features(self, agent: str) -> Sequence[str]:
        """The names of the entries of an agent's observations."""
        return self._features[agent]

    def action_space(self, agent: str) -> Space:
        """The space of an agent's actions."""
        return self._action_spaces[agent]

    @property
    def _players(self) -> GamePlayers:
        """The players of the world. No attribute: they cannot be pickled."""
        return players_of_game(self._game)

    def __getstate__(self) -> dict[str, Any]:
        """For copies, which have temporary folders of their own. Raises BadInput in an episode."""
        if self._run is not None:
            raise BadInput("an episode is under way", "copy the environment before reset()")
        journal = None if self._temporary else self.journal
        return {**self.__dict__, "_temporary": None, "journal": journal}

    def reset(
        self, seed: int | None = None, options: Mapping[str, object] | None = None
    ) -> tuple[dict[str, Observed], Infos]:
        """Begin an episode, and a journal.

        Args:
            seed: of the run. None: the first episode has that of the settings, each later one has
                one that follows from it, or from the last seed given, and from how many came since.
            options: not used.

        Raises BadInput for a seed that no run can have, for a run that is over before its first
        unit, and where a file is at the path that is not an episode of this environment.
        """
        base, since = (self._seed, self._since) if seed is None else (integer(seed, "the seed"), 0)
        seed = base if since == 0 else Draws(base, since, 0, "episode").below(INTEGER_MAX + 1)
        players = self._players
        world, settings = players.world, {**self._settings, "seed": seed}
        config, found = players.configured(settings, self._roster, self._treatment)
        self.close()
        path = self._temporary_path() if self._path is None else self._path
        path = path.replace(EPISODE, str(self._episodes + 1))
        with ExitStack() as opened:
            header, run = Header(world.name, world.rules), players.prepared(config, found)
            roster = players.resolve_models(run.roster, run.facts, None)
            setup = msgspec.structs.replace(run, roster=roster).setup
            state = world.initial(setup)
            if world.ended(state):
                raise BadInput(
                    f"the run is over before its first {world.vocabulary.unit}", "change settings"
                )
            # The former episode is replaced with START: from then on `journal` is the new one's.
            again = path == self.journal
            writer = JournalWriter(path, header, force=again, is_opening=lambda _: False)
            opened.enter_context(writer)
            objects = Resources(policies={**self._others, **self._learners})
            context = context_of(players, state, roster, objects)
            ask = opened.enter_context(players.start_agents(context))
            loop = steps(world, setup, writer)
            self._state = next(loop)
            self._run, self._open = (ask, loop, writer), opened.pop_all()
        self._seed, self._since, self._episodes = base, since + 1, self._episodes + 1
        self.config, self.journal = config, path
        self.agents = list(self.possible_agents)
        self._scores = self._scored(self._begun())
        self._has_ended = False
        self._go_on()
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
        self._advance(actions)
        names = self.agents
        scores, before = self._scored(self._begun()), self._scores
        self._scores = scores
        if self._has_ended:
            self.close()
        return (
            self._observed(),
            {name: scores[name] - before[name] for name in names},
            dict.fromkeys(names, self._has_ended),
            dict.fromkeys(names, False),
            self._infos(),
        )

    def _advance(self, actions: Mapping[str, Action]) -> None:
        """Play on with the actions of the learners, as `step`."""
        submissions: dict[int, object] = {}
        for name in self._asked:
            submitted = self._submission(name, actions[name]) if name in actions else None
            if submitted is None:
                given = format_value(actions[name]) if name in actions else "none"
                raise BadInput(f"the action of {name} is {given}", "give one of its action_space")
            submissions[self._names[name]] = submitted
        for agent, submitted in submissions.items():
            self._learners[agent].submission = submitted
        if submissions:  # else the run was over before a learner was asked
            self._play()
            self._go_on()

    def _go_on(self) -> None:
        """Play the steps in which no learner is asked."""
        self._asked = ()
        while not (self._has_ended or self._asked):
            movers = {*self._players.turn(self._begun())[1]}
            self._asked = [name for name, agent in self._names.items() if agent in movers]
            if not self._asked:
                self._play()

    def _observation_space(self, features: Sequence[str]) -> Space:
        if not features:
            raise BadInput(
                f"agents of {self.config.name} see no number", "let `observe` return one that has"
            )
        seen = spaces.Box(-np.inf, np.inf, (len(features),), np.float32)
        if self._actions.mask_space is None:
            return seen
        return spaces.Dict(observation=seen, action_mask=self._actions.mask_space)

    @property
    def _asks(self) -> type[Submission] | None:
        """What is submitted in the next step of the run; None: nobody submits."""
        return compiled(self._game).phase(self._begun()).asks

    def _submission(self, name: str, action: Action) -> object | None:
        asks = self._asks
        return None if asks is None else self._actions.submission(asks, action)

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
        state, mask_space, players = self._begun(), self._actions.mask_space, self._players
        observed: dict[str, Observed] = {}
        for name, agent in self._names.items():
            seen = array_of(name, self._seen(state, agent), self._features[name])
            if mask_space is None:
                observed[name] = seen
                continue
            asks = self._asks if name in self._asked else None
            legal = {} if asks is None else players.prompts(players.view(state)).legal(agent)
            mask = self._actions.mask(asks, legal)
            observed[name] = {"observation": seen, "action_mask": mask}
        return observed

    def _infos(self) -> Infos:
        phase, asks = self._begun().phase, self._asks
        event = None if asks is None else snake(asks.__name__)
        return {
            name: {"phase": phase, "asked": event if name in self._asked else None}
            for name in self._names
        }

    def _play(self) -> None:
        """Play the next step of the run. Raises BadInput where no episode is under way."""
        ask, loop, writer = self._under_way()
        try:
            inputs = ask(self._begun())
            try:
                self._state = loop.send(inputs)
            except StopIteration as end:
                self._state, self._has_ended = end.value, True
        except BaseException as error:
            if writer.commits == 1 and not isinstance(error, WriteFailed):
                writer.discard()
            self.close()
            raise

    def close(self) -> None:
        """End the episode and close its journal, as far as it has come."""
        self.agents, self._run = [], None
        self._open.close()

    def _temporary_path(self) -> str:
        if self._temporary is None:
            self._temporary = TemporaryFolder()
        return str(Path(self._temporary.path, "episode.journal"))

    def _under_way(self) -> tuple[Ask[State], Steps[State], JournalWriter]:
        if self._run is None:
            raise BadInput("no episode is under way", "call reset()")
        return self._run

    def _begun(self) -> State:
        if self._state is None:
            raise BadInput("no episode has begun", "call reset()")
        return self._state
