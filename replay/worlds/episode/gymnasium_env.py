"""Recorded environments of Gymnasium."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import gymnasium
import gymnasium.vector

from goldrush.replay.worlds.episode.recorded import RecordedEnv

O = TypeVar("O")  # noqa: E741  # an observation
A = TypeVar("A")
R = TypeVar("R")  # an array of rewards, or of whether they have ended

_Infos = dict[str, Any]


class RecordedGymnasium(RecordedEnv, gymnasium.Wrapper[O, A, O, A]):
    """An environment of Gymnasium, recorded."""

    def step(self, action: A) -> tuple[O, float, bool, bool, _Infos]:
        """As the environment."""
        self.recording.step({0: action})
        return cast("tuple[O, float, bool, bool, _Infos]", self.recording.subject.returned)


class RecordedVector(RecordedEnv, gymnasium.vector.VectorWrapper[O, A, O, A, R]):
    """A vector environment of Gymnasium, recorded."""

    def step(self, actions: A) -> tuple[O, R, R, R, _Infos]:
        """As the environment."""
        self.recording.step({None: actions})
        return cast("tuple[O, R, R, R, _Infos]", self.recording.subject.returned)
