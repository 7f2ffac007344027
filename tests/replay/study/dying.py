"""Policies of somebody's own that end the process in which they are asked."""

from pathlib import Path

DYING = """
import os, signal, time
from pathlib import Path

HERE = Path(__file__)

class Idle:
    def plan(self, seen, draws):
        if seen.round == 3 and seen.agent == 0:
            self.act()
        return [("claim", plot, 1) for plot in seen.unowned[:1]]
    def act(self):
        pass

class Once(Idle):
    def act(self):
        if not HERE.with_name("died").exists():
            HERE.with_name("died").touch()
            os.kill(os.getpid(), signal.SIGKILL)

class Always(Idle):
    def act(self):
        os._exit(3)

class Sleeps(Idle):
    def act(self):
        HERE.with_name("sleeps").touch()
        time.sleep(600)
"""


def write_dying(folder: Path) -> None:
    """Write the module `dying_players`: Idle, Once, Always, Sleeps, each in its third round."""
    (folder / "dying_players.py").write_text(DYING)
