"""Recorded environments of PettingZoo."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from pettingzoo.utils.wrappers import BaseParallelWrapper, BaseWrapper

from goldrush.kernel.errors import BadInput, format_value
from goldrush.replay.worlds.episode.environments import InTurns, Parallel
from goldrush.replay.worlds.episode.recorded import RecordedEnv

N = TypeVar("N")  # the name of an agent
O = TypeVar("O")  # noqa: E741  # an observation
A = TypeVar("A")

_Infos = dict[str, Any]
_Stepped = tuple[dict[N, O], dict[N, float], dict[N, bool], dict[N, bool], dict[N, _Infos]]


class RecordedParallel(RecordedEnv, BaseParallelWrapper[N, O, A]):
    """A parallel environment of PettingZoo, recorded."""

    def step(self, actions: dict[N, A]) -> _Stepped[N, O]:
        """As the environment."""
        numbers = cast(Parallel, self.recording.subject).numbers
        if unknown := actions.keys() - numbers:
            names = format_value(sorted(unknown, key=str))
            raise BadInput(f"there are no agents {names}", "give actions of possible_agents")
        by_number = {numbers[agent]: action for agent, action in actions.items()}
        self.recording.step(dict(sorted(by_number.items())))
        return cast("_Stepped[N, O]", self.recording.subject.returned)


class RecordedInTurns(RecordedEnv, BaseWrapper[N, O, A]):
    """An AEC environment of PettingZoo, recorded."""

    def step(self, action: A) -> None:
        """As the environment."""
        acting = self.recording.state.acting
        self.recording.step(dict.fromkeys(acting, action) or {0: action})

    def observe(self, agent: N) -> O | None:
        """As the environment; the agent that is next sees what is recorded: to observe anew could
        draw from the environment's generator.
        """
        subject = cast(InTurns, self.recording.subject)
        if self.recording.state.acting == (subject.numbers.get(agent),):
            return cast(O, subject.seen)
        return self.env.observe(agent)
