"""highway-env: `reset(seed=...)` returns an action in `info` that no seed determines."""

import gymnasium
import highway_env  # noqa: F401  # registers the environment

for run in range(5):
    _, info = gymnasium.make("exit-v1").reset(seed=1)
    print(f"run {run}, reset(seed=1): info['action'] is {info['action']}")
