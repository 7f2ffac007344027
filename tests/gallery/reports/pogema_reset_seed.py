"""POGEMA: `reset(seed=...)` does not seed the map."""

from pogema import GridConfig, pogema_v0

for run in (1, 2):
    env = pogema_v0(GridConfig())
    env.reset(seed=1)
    places = env.unwrapped.grid.get_agents_xy(), env.unwrapped.grid.get_targets_xy()
    print(f"run {run}, reset(seed=1): agents at {places[0]}, targets at {places[1]}")
