"""What it costs to record an environment whose step takes a millisecond."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

import goldrush

from .timing import Row, in_process, row

STEPS = 200
STEP = 1e-3  # seconds of CPU time
OBSERVATIONS = {"8 numbers": ((8,), "f4"), "an image of 210 x 160": ((210, 160, 3), "u1")}


class Millisecond(gymnasium.Env[Any, Any]):
    """Steps that take STEP, and give an observation of a shape and one info."""

    action_space = spaces.Discrete(2)

    def __init__(self, shape: tuple[int, ...], dtype: str) -> None:
        self.observation_space = spaces.Box(0, 1, shape)
        self.seen = np.zeros(shape, dtype)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return self.seen, {}

    def step(self, action: object) -> Any:
        end = time.process_time() + STEP
        while time.process_time() < end:
            pass
        return self.seen.copy(), 1.0, False, False, {"score": 0.5}


def rows(folder: Path, repeats: int) -> Iterator[Row]:
    """A recorded environment beside the bare one, by the size of its observation."""
    for name, (shape, dtype) in OBSERVATIONS.items():
        bare = Millisecond(shape, dtype)
        path = folder / "episode.journal"
        recorded = goldrush.wrap(Millisecond(shape, dtype), path, force=True)
        recorded.reset(seed=1)
        pairs = in_process(partial(_run, recorded), partial(_run, bare), repeats)
        recorded.close()
        cost = statistics.median(ours - theirs for ours, theirs in pairs) / STEPS
        *found, _ = row(f"step of 1 ms, {name}", "the bare environment", pairs, "<= 1.2")
        yield (*found, f"{cost * 1e6:.0f} us a step")


def _run(env: gymnasium.Env[Any, Any]) -> None:
    for _ in range(STEPS):
        env.step(1)
