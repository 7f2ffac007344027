"""FrankaKitchen-v1: the order of `tasks_to_complete` depends on the hash seed."""

import os
import subprocess
import sys

PROGRAM = """
import gymnasium, gymnasium_robotics
env = gymnasium.make("FrankaKitchen-v1", tasks_to_complete=["microwave", "kettle", "light switch"])
print(env.reset(seed=1)[1]["tasks_to_complete"])
"""
for seed in "01":
    print(f"PYTHONHASHSEED={seed}:", end=" ", flush=True)
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=True)
