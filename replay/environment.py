"""`JournalEnv`: a world as a PettingZoo environment, in which each episode is a journal.

The environment drives the run loop that `record` drives (`kernel.run.steps`), so what a learner
does is judged, recorded and verified like what any other agent submits. A world derives it, for its
spaces and its rewards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import attrs
import msgspec
import pettingzoo
from gymnasium import spaces

from goldrush.agents.players import Resources, context_of
from goldrush.agents.simultaneous import SimultaneousPlayers, SimultaneousState
from goldrush.agents.trust import EXTERNAL
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, WriteFailed, format_value
from goldrush.kernel.files import TemporaryFolder
from goldrush.kernel.journal import Header, JournalWriter
from goldrush.kernel.run import Ask, Steps, steps
from goldrush.kernel.settings import INTEGER_MAX
from goldrush.replay.arguments import integer, path_of, roster_of

ROSTER_DEFAULT: Final = "external[name=pettingzoo]"
EPISODE: Final = "{episode}"  # in the path of a journal: the number of the episode, from 1 on

Infos = dict[str, dict[str, Any]]
S = TypeVar("S", bound=SimultaneousState)
O = TypeVar("O")  # noqa: E741  # an observation
A = TypeVar("A")


@attrs.define
class Learner:
    """The policy that the run asks in place of a learner: it has been told what to submit."""

    submission: object = None

    def act(self, seen: object, agent: int, draw: object) -> object:
        return self.submission

    def plan(self, seen: object, draws: object) -> object:
        return self.submission


class JournalEnv(pettingzoo.ParallelEnv[str, O, A], Generic[S, O, A]):
    """A world for learners: every agent whose roster entry is `external`.

    Agents are called `agent_0`, ..., by their numbers in the journal. Other agents of the roster
    play their policies in the same journal. All agents live to the end, which is their termination:
    nothing is truncated.

    `journal` is the path of the episode's journal, None before the first one; an episode left
    before its last unit can be resumed.
    """

    def __init__(
        self, treatment: str, roster: str | Sequence[object] | None,
        journal: str | Path | None, settings: Mapping[str, object],
    ) -> None:  # fmt: skip
        """Arguments and errors as those of `goldrush.parallel_env`."""
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
        self._run: tuple[Ask[S], Steps[S], JournalWriter] | None = None
        self._state: S | None = None
        run = players.prepare(self._settings, self._roster, treatment, Resources())
        world = players.world
        self._initial: S = world.initial(run.setup)
        self.metadata = {
            "name": f"goldrush/{world.name}-v{world.rules}",
            "render_modes": [],
            "is_parallelizable": True,
        }
        self.render_mode = None
        self._scores: Mapping[str, float] = {}
        self._asked: Sequence[str] = ()  # the learners who are asked in the next step of the run
        self._has_ended = False
        # By name of the agent. Each has a space of its own, to be seeded by itself.
        self._observation_spaces: Mapping[str, spaces.Space[Any]] = {}
        self._action_spaces: Mapping[str, spaces.Space[Any]] = {}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's observations."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's actions."""
        return self._action_spaces[agent]

    @property
    def _players(self) -> SimultaneousPlayers[S, Any]:
        """The players of the world. No attribute: they cannot be pickled."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        """For copies, which have temporary folders of their own. Raises BadInput in an episode."""
        if self._run is not None:
            raise BadInput("an episode is under way", "copy the environment before reset()")
        journal = None if self._temporary else self.journal
        return {**self.__dict__, "_temporary": None, "journal": journal}

    def reset(
        self, seed: int | None = None, options: Mapping[str, object] | None = None
    ) -> tuple[dict[str, O], Infos]:
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
        self, actions: Mapping[str, A]
    ) -> tuple[dict[str, O], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
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

    def _advance(self, actions: Mapping[str, A]) -> None:
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

    def _submission(self, name: str, action: A) -> object | None:
        """What a learner submits with an action; None: it is not of its space."""
        raise NotImplementedError

    def _observed(self) -> dict[str, O]:
        """The observations of the learners."""
        raise NotImplementedError

    def _scored(self, state: S) -> Mapping[str, float]:
        """What each learner has earned so far; its change is the reward."""
        raise NotImplementedError

    def _infos(self) -> Infos:
        """The infos of the learners."""
        raise NotImplementedError

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

    def _under_way(self) -> tuple[Ask[S], Steps[S], JournalWriter]:
        if self._run is None:
            raise BadInput("no episode is under way", "call reset()")
        return self._run

    def _begun(self) -> S:
        if self._state is None:
            raise BadInput("no episode has begun", "call reset()")
        return self._state
