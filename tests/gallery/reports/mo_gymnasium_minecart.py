"""minecart-v0: what is mined is drawn from numpy's global generator, whatever the seed is."""

import gymnasium
import mo_gymnasium  # noqa: F401  # registers the environments

for run in (1, 2):
    env = gymnasium.make("minecart-v0")
    env.reset(seed=1)
    print(f"run {run}, reset(seed=1): mined", env.unwrapped.mines[0].mine())
