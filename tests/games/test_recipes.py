"""The recipes of goldrush/GAMES.md play as the page says."""

import math
import re
from inspect import getsource
from pathlib import Path
from textwrap import indent

import goldrush
from tests.bench.published import Opinions

PAGE = Path(__file__).resolve().parents[2] / "goldrush" / "GAMES.md"

# What surrounds the two recipes of goldrush/GAMES.md in the class of a game.
OPINIONS = f"""
import goldrush
from goldrush import phase, setting

{getsource(Opinions).partition("    @phase")[0]}"""
NETWORK = """
import goldrush
from goldrush import Agent, policy, setting

class Network(goldrush.Game):
    density = setting(0.3, 0.0, 1.0)
    roster = "mean*12"

    class Seen(goldrush.Observation):
        beliefs: list[float]

    class Told(goldrush.Submission):
        belief: float

    class Believed(goldrush.Event):
        agent: Agent
        belief: float

        def apply(self, state):
            state.belief[self.agent] = self.belief

    def decide(self, state, told, draw):
        for one in told:
            yield self.Believed(one.agent, one.belief)

    @policy
    def mean(self, seen, agent, draw):
        return self.Told(len(seen.beliefs) + sum(seen.beliefs))

"""


def recipe(tmp_path, around, first):
    """A game with the block of the page that begins so."""
    found = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    [block] = [block for block in found if block.startswith(first)]
    file = tmp_path / "recipe.py"
    file.write_text(around + indent(block, "    "), encoding="utf-8")
    return str(file)


def test_the_recipe_for_rules_that_follow_one_another_keeps_the_sum(tmp_path) -> None:
    game = recipe(tmp_path, OPINIONS, "@phase(live=True)")
    run = goldrush.record(game, tmp_path / "run.journal", seed=1, people=200, near=0.3, rounds=5)
    begun, ended = (sorted(run.at(unit).state.opinion) for unit in (0, 5))

    assert begun != ended
    assert math.isclose(sum(begun), sum(ended))
    assert run.verify().holds


def test_the_recipe_for_a_network_shows_the_neighbours_alone(tmp_path) -> None:
    run = goldrush.record(recipe(tmp_path, NETWORK, "class State"), tmp_path / "run.journal")
    known = run.at(0).state.neighbours
    degrees = [float(len(others)) for others in known]

    assert 2 < len(set(degrees))
    assert all(one in known[other] for one, others in enumerate(known) for other in others)
    assert degrees == run.at(1).state.belief
    assert run.verify().holds
