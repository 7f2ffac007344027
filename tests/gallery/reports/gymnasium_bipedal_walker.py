"""BipedalWalker-v3: a reset by a seed does not forget the episode before it."""

import gymnasium

env = gymnasium.make("BipedalWalker-v3")
env.action_space.seed(1)
action = env.action_space.sample()


def reward_of_first_step():
    env.reset(seed=1)
    return float(env.step(action)[1])


print("in a fresh environment:  ", reward_of_first_step())
env.reset(seed=2)
while not env.step(env.action_space.sample())[2]:  # an episode, to its end
    pass
print("after one other episode: ", reward_of_first_step())
