"""mobile-env: connections are sets of objects, whose order differs from process to process."""

import os
import subprocess
import sys

PROGRAM = """
import gymnasium, hashlib, mobile_env
env = gymnasium.make("mobile-medium-ma-v0")
env.reset(seed=1)
env.action_space.seed(1)
steps = [env.step(env.action_space.sample()) for _ in range(100)]
given = repr([(reward, info) for _, reward, _, _, info in steps])
print("rewards and infos have the digest", hashlib.md5(given.encode()).hexdigest())
"""
for seed in "01":
    print(f"PYTHONHASHSEED={seed}, reset(seed=1):", end=" ", flush=True)
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=True)
