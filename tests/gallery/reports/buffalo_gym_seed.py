"""buffalo-gym: `reset(seed=...)` does not seed what steps draw."""

import buffalo_gym  # noqa: F401  # registers the environments
import gymnasium

for name in ("MultiBuffalo-v0", "BuffaloTrail-v0", "BoundlessBuffalo-v0", "FatigueBandit-v0"):
    for run in (1, 2):
        env = gymnasium.make(name)
        env.reset(seed=1)
        env.action_space.seed(1)
        total = sum(float(env.step(env.action_space.sample())[1]) for _ in range(50))
        print(f"{name}, run {run}, reset(seed=1): sum of rewards {total:.6f}")
