"""The mining world as a PettingZoo environment: `goldrush/mining-v0`. Each episode is a journal.

The environment drives the run loop that `record` drives (`kernel.run.steps`), so what a learner
does is judged, recorded and verified like any other agent's plans. ENVIRONMENT.md in this folder is
its page. Importing this module registers the environment with PettingZoo.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.external import RosterText, roster_text
from goldrush.agents.players import Resources, RunContext
from goldrush.agents.simultaneous import prepared
from goldrush.agents.trust import EXTERNAL
from goldrush.agents.worlds.mining.players import MINING_PLAYERS, prepare
from goldrush.agents.worlds.mining.roster import POLICY_SET
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.files import TemporaryFolder
from goldrush.kernel.journal import Header, JournalWriter
from goldrush.kernel.run import Ask, Steps, steps
from goldrush.kernel.settings import INTEGER_MAX
from goldrush.kernel.treatments import BASELINE
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import MINING_SETTLED, PRUNED, REASONS, RULED
from goldrush.kernel.worlds.mining.observe import Observation
from goldrush.kernel.worlds.mining.state import MiningState, RoundRecord
from goldrush.replay.extras import require
from goldrush.replay.journal.rebuild import Rebuilt
from goldrush.replay.text import plain
from goldrush.replay.worlds.mining.show import format_frame

try:
    import numpy as np
    import pettingzoo
    from gymnasium import logger, spaces
    from numpy.typing import NDArray
    from pettingzoo.utils.conversions import parallel_to_aec
except ImportError:
    require("pettingzoo", "the environment needs", "rl")
    raise

from goldrush.replay.worlds.mining.arrays import Action, Arrays, Observed, choice_of, plan_of
from goldrush.replay.worlds.mining.picture import picture

ENV_ID: Final = "goldrush/mining-v0"
ROSTER_DEFAULT: Final = "external[name=pettingzoo]"
EPISODE: Final = "{episode}"  # in the path of a journal: the number of the episode, from 1 on

Infos = dict[str, dict[str, Any]]


@attrs.define
class _Learner:
    """The policy that the run asks in place of a learner: it has been told what to submit."""

    plan_: list[tuple[str, int, int]] = attrs.field(factory=list)

    def plan(self, seen: Observation, draws: Draws) -> list[tuple[str, int, int]]:
        return self.plan_


class MiningEnv(pettingzoo.ParallelEnv[str, Observed, Action | None]):
    """The mining world for learners: every agent whose roster entry is `external`.

    Agents are called `agent_0`, ...; the number is that of the agent in the journal. Other agents
    of the roster play their policies in the same journal. All agents live to the end.

    - Action: `MultiDiscrete([1 + 4P] * S)`: what each of the S stamina units of a round is spent
      on, on a map of P plots (`choice_of`; 0: nothing).
    - Observation: `{"observation": float32 (rows, P), "action_mask": int8 (S * (1 + 4P),)}`; the
      rows are named by `features` and described at `arrays.Arrays`. The mask says which choices are
      legal for a unit by itself, for one unit after the other.
    - Reward: the gold that the round's settlements give the agent, less its fines.
    - Termination: when the last round is closed. Its number is part of the rules and of what agents
      see, so this is an end, not a cut. Truncation: after `max_cycles` rounds, if that is before.
    - Info: `pruned`, the actions that the rules removed, as (kind, plot, amount, reason).

    Learners send no messages, whatever the treatment. `journal` is the path of the episode's
    journal, None before the first one; it is whole when the last round is played, and can be
    resumed when the episode was left before that.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  # PettingZoo declares it so
        "name": ENV_ID,
        "render_modes": ["human", "ansi", "rgb_array"],
        "render_fps": 4,
        "is_parallelizable": True,
    }

    def __init__(
        self,
        treatment: str = BASELINE,
        *,
        roster: str | Sequence[object] | None = None,
        journal: str | Path | None = None,
        render_mode: str | None = None,
        max_cycles: int | None = None,
        **settings: Any,
    ) -> None:
        """Arguments and errors as those of `goldrush.parallel_env`."""
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            known = ", ".join(self.metadata["render_modes"])
            raise BadInput(
                f"there is no render mode {format_value(render_mode)}", f"give one of {known}"
            )
        if max_cycles is not None and _integer("max_cycles", max_cycles) < 1:
            raise BadInput(f"max_cycles is {max_cycles}", "give 1 or more, or leave it out")
        if not isinstance(journal, str | os.PathLike | None):
            raise BadInput(f"journal is {format_value(journal)}", "give a path, or leave it out")
        self.render_mode, self.max_cycles = render_mode, max_cycles
        self._settings, self._treatment = dict(settings), treatment
        given = ROSTER_DEFAULT if roster is None else roster
        who = RosterText(given) if isinstance(given, str) else roster_text(POLICY_SET, given)
        config, found = prepare(self._settings, who.text, treatment)
        external = [entry.agent for entry in found.entries if entry.policy == EXTERNAL]
        learners = [agent for agent in external if agent not in who.policies]
        if not learners:
            raise BadInput(
                f"the roster {format_value(who.text)} has no learner", "make an agent `external`"
            )
        self._roster, self._others = who.text, who.policies
        self._learners = {agent: _Learner() for agent in learners}
        self._names = {f"agent_{agent}": agent for agent in learners}
        self.possible_agents = list(self._names)
        self.agents: list[str] = []
        self._arrays = Arrays(config, learners)
        self.features, self.state_space = self._arrays.features, self._arrays.state_space
        self.config = config
        self.journal: str | None = None
        self._path = None if journal is None else str(journal)
        self._temporary: TemporaryFolder | None = None  # where no path is given
        self._seed, self._since, self._episodes = config.seed, 0, 0
        self._open = ExitStack()
        self._run: tuple[Ask[MiningState], Steps[MiningState]] | None = None
        self._state: MiningState | None = None

    def __getstate__(self) -> dict[str, Any]:
        """For copies: where no path is given they have a temporary folder of their own.

        Raises BadInput while an episode is under way.
        """
        if self._run is not None:
            raise BadInput("an episode is under way", "copy the environment before reset()")
        journal = None if self._temporary else self.journal
        return {**self.__dict__, "_temporary": None, "journal": journal}

    def observation_space(self, agent: str) -> spaces.Dict:
        """The space of an agent's observations: the same object on every call."""
        return self._arrays.observation_spaces[self._names[agent]]

    def action_space(self, agent: str) -> spaces.MultiDiscrete[Any]:
        """The space of an agent's actions: the same object on every call."""
        return self._arrays.action_spaces[self._names[agent]]

    def choice_of(self, kind: str, plot: int) -> int:
        """The number of a choice for a stamina unit, as ("claim", 3). Raises BadInput."""
        return choice_of(self.config, kind, plot)

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observed], Infos]:
        """Begin an episode, and a journal.

        Args:
            seed: of the run. None: the first episode has that of the settings, each later one has
                one that follows from it, or from the last seed given, and from how many came since.
            options: not used.

        Raises:
            BadInput: for a seed that no run can have, and where a file is at the path that is not
                an episode of this environment.

        """
        base, since = (self._seed, self._since) if seed is None else (_integer("seed", seed), 0)
        seed = base if since == 0 else Draws(base, since, 0, "episode").below(INTEGER_MAX + 1)
        config, roster = prepare({**self._settings, "seed": seed}, self._roster, self._treatment)
        self.close()
        path = self._temporary_path() if self._path is None else self._path
        path = path.replace(EPISODE, str(self._episodes + 1))
        with ExitStack() as opened:
            header, run = Header(MINING.name, MINING.rules), prepared(config, roster)
            writer = opened.enter_context(JournalWriter(path, header, force=path == self.journal))
            setup = MINING_PLAYERS.resolve_models(run.setup, None)
            context = RunContext(
                MINING.initial(setup), trust=run.trust, sources=run.sources,
                resources=Resources(policies={**self._others, **self._learners}),
            )  # fmt: skip
            ask = opened.enter_context(MINING_PLAYERS.start_agents(context))
            loop = steps(MINING, setup, writer)
            self._state = next(loop)
            self._run, self._open = (ask, loop), opened.pop_all()
        self._seed, self._since, self._episodes = base, since + 1, self._episodes + 1
        self.config, self.journal = config, path
        self._arrays.begin(config)
        self.agents = list(self.possible_agents)
        if self.render_mode == "human":
            self.render()
        return self._observed(), {agent: {"pruned": ()} for agent in self.agents}

    def step(
        self, actions: Mapping[str, Action | None]
    ) -> tuple[dict[str, Observed], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Play a round: observations, rewards, terminations, truncations, infos by agent.

        Args:
            actions: one for each of `agents`.

        Raises:
            BadInput: where no episode is under way, for an agent without an action, and for actions
                outside of their spaces. Nothing is played then.
            PolicyFailed, WriteFailed: as in `record`; the episode is over then.

        """
        if self._run is None:
            raise BadInput("no episode is under way", "call reset()")
        for name in self.agents:
            if name not in actions or not self.action_space(name).contains(actions[name]):
                given = format_value(actions[name]) if name in actions else "none"
                raise BadInput(f"the action of {name} is {given}", "give one of its action_space")
        for name in self.agents:
            plan = plan_of(self.config, np.asarray(actions[name]))
            self._learners[self._names[name]].plan_ = plan
        state, has_ended = self._played(*self._run)
        self._state = state
        self._arrays.take(state)
        is_cut = not has_ended and state.round == self.max_cycles
        names, record = self.agents, state.history[-1]
        if has_ended or is_cut:
            self.close()
        if self.render_mode == "human":
            self.render()
        return (
            self._observed(),
            self._rewards(record),
            dict.fromkeys(names, has_ended),
            dict.fromkeys(names, is_cut),
            self._infos(record),
        )

    def _played(self, ask: Ask[MiningState], loop: Steps[MiningState]) -> tuple[MiningState, bool]:
        """The state after the next round, and whether it was the last one."""
        try:
            inputs = ask(self._begun())
            try:
                return loop.send(inputs), False
            except StopIteration as end:
                return end.value, True
        except BaseException:
            self.close()
            raise

    def render(self) -> str | NDArray[np.uint8] | None:
        """The map as it is: as text ("ansi"), as a picture of height x width x 3 bytes in the
        colours of the page of `goldrush view` ("rgb_array"); "human" prints the text.

        Raises BadInput before the first `reset`.
        """
        if self.render_mode is None:
            logger.warn("render() without a render_mode; give one to the environment")
            return None
        state = self._begun()
        if self.render_mode == "rgb_array":
            return picture(state)
        text = format_frame(
            Rebuilt(
                str(self.journal), Header(MINING.name, MINING.rules), state.round, state, (),
                MINING.digest(state), MINING.vocabulary,
            ),
            plain,
        )  # fmt: skip
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def state(self) -> NDArray[np.float32]:
        """The whole state, for training with a critic that sees everything: `Arrays.state`.

        Raises BadInput before the first `reset`.
        """
        return self._arrays.state(self._begun())

    def close(self) -> None:
        """End the episode and close its journal, as far as it has come."""
        self.agents, self._run = [], None
        self._open.close()

    def _temporary_path(self) -> str:
        if self._temporary is None:
            self._temporary = TemporaryFolder()
        return str(Path(self._temporary.path, "episode.journal"))

    def _begun(self) -> MiningState:
        if self._state is None:
            raise BadInput("no episode has begun", "call reset()")
        return self._state

    def _observed(self) -> dict[str, Observed]:
        found = self._arrays.observations(self._begun())
        return {name: found[agent] for name, agent in self._names.items()}

    def _rewards(self, record: RoundRecord) -> dict[str, float]:
        gold = dict.fromkeys(range(self.config.agents), 0.0)
        for _, agent, _, settled in record.rows(MINING_SETTLED):
            gold[agent] += settled
        for _, captor, _, _, _, fine, _ in record.rows(RULED):
            gold[captor] -= fine
        return {name: gold[agent] for name, agent in self._names.items()}

    def _infos(self, record: RoundRecord) -> Infos:
        removed = {agent: removals for agent, removals, _ in record.rows(PRUNED)}
        return {
            name: {
                "pruned": tuple(
                    (*self._learners[agent].plan_[index], REASONS[reason])
                    for index, reason in removed.get(agent, ())
                )
            }
            for name, agent in self._names.items()
        }


def env(*arguments: Any, **settings: Any) -> pettingzoo.AECEnv[str, Observed, Action | None]:
    """The environment whose agents act one after the other, made by PettingZoo's conversion.

    Arguments and errors as those of `goldrush.parallel_env`.
    """
    return parallel_to_aec(MiningEnv(*arguments, **settings))


def _integer(name: str, value: object) -> int:
    """An integer of Python or numpy as one of Python. Raises BadInput, for truth values, too."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise BadInput(f"{name} is {format_value(value)}", "give an integer")
    return int(value)


pettingzoo.register("parallel", ENV_ID, entry_point=MiningEnv)
pettingzoo.register("aec", ENV_ID, entry_point=env)
