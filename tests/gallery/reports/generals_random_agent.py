"""generals: the opponent draws its moves from numpy's global generator, whatever the seed is."""

import generals  # noqa: F401  # registers the environment
import gymnasium

for run in (1, 2):
    env = gymnasium.make("gym-generals-v0")
    env.reset(seed=1)
    env.action_space.seed(1)
    for _ in range(100):
        env.step(env.action_space.sample())
    board = env.unwrapped.game.channels
    print(f"run {run}, seed 1: the opponent owns {int(board.ownership['Random'].sum())} cells")
