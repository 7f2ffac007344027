"""Mistakes in rules and policies: each is found while recording, with the cure."""

# ruff: noqa: E501

import pytest

from goldrush.kernel.errors import GoldrushError
from tests.games.fisheries import changed, recorded

RULES = "        left = max(0.0"
POLICY = "        return self.Asked(int(seen.stock / self.agents * part))"


def before(line, where):
    return where, f"        {line}\n{where}"


def before_method(line):
    return before_line("    def over(self, state):", f"    {line}")


def before_line(where, line):
    return where, f"{line}\n\n{where}"


# By mistake: what is changed in the source, and what the message says.
# fmt: off
MISTAKES = {
    "decide changes the state": (*before("state.stock += 1", RULES), "stock was 1000.0 and is 1001"),
    "decide changes a list": (*before("state.landed[0] = 1.0", RULES), "landed was"),
    "random": (*before("import random; random.randint(1, 5)", RULES), "fishery.py:59: .*global random"),
    "clock": (*before("import time; time.time()", RULES), r"clock \(time.time\)"),
    "date": (*before("import datetime; datetime.date.today()", RULES), "clock"),
    "system's bytes": (*before("import secrets; secrets.randbelow(3)", RULES), "random bytes"),
    "hash": (*before("hash('a')", RULES), r"hash\(\)"),
    "address": (*before("id(state)", RULES), r"id\(\)"),
    "a set in a loop": (*before("for x in {'a', 'b'}: pass", RULES), "line 59 goes through a set"),
    "a set in a list": (*before("list(set('ab'))", RULES), "goes through a set"),
    "a set in a comprehension": (*before("[x for x in frozenset('ab')]", RULES), "through a set"),
    "a set starred": (*before("print(*set('ab'))", RULES), "goes through a set"),
    "a set popped": (*before("set('ab').pop()", RULES), "goes through a set"),
    "NaN in an event": ("max(0.0, grown))", "float('nan'))", "regrown.stock: real number expected"),
    "text in an event": ("max(0.0, grown))", "'a')", "regrown.stock: real number expected"),
    "a field that is not declared": ("state.stock = self.stock", "state.stok = self.stock", "fishery.py:48: .*no attribute 'stok'"),
    "a state without a number": ("state.stock = self.stock", "state.stock = None", "State.stock is None"),
    "an item of another type": ("+= self.fish", "= 'x'", "State.landed is a list with 'x' at 0"),
    "a policy changes the state": (*before("seen.landed[0] = 3.0", POLICY), "greedy changed the state"),
    "a policy's random": (*before("import random; random.random()", POLICY), "global random numbers"),
    "below the range": (POLICY, "        return self.Asked(-1)", "integer from 0 to 1000000000"),
    "no whole number": (POLICY, "        return self.Asked(0.5)", "integer from 0 to 1000000000"),
    "no submission": (POLICY, "        return 5", r"5 is submitted; return self.Asked\(...\)"),
    "a key used twice": (*before("draw.word('shock')", RULES), "'shock', which this step has used"),
    "no key": (*before("draw.word()", RULES), "draw.word has no key"),
    "what is no event": (*before("yield 3", RULES), "yields 3; yield its events: Landed"),
    "an error in the rules": (*before("1 / 0", RULES), "fishery.py:59: ZeroDivisionError"),
    "an error in apply": ("state.stock = self.stock", "1 / 0", "fishery.py:48: ZeroDivisionError"),
    "an error in start": ("return self.State(", "1 / 0; return self.State(", "Fishery.start, fishery.py"),
    "an error in over": ("return state.stock < 1", "return 1 / 0", "Fishery.over, fishery.py"),
    "random in apply": ("state.stock = self.stock", "import random; state.stock = random.random()", "global random"),
    "random in start": ("return self.State(", "import random; random.random(); return self.State(", "global random"),
    "random in over": ("return state.stock < 1", "import random; return random.random() < 0", "global random"),
    "over changes the state": ("return state.stock < 1", "state.stock = 3.0; return False", "stock was"),
    "movers twice": (*before_method("def movers(self, state): return [0, 0]"), r"movers gives \[0, 0\]; give agents from 0 to 4"),
    "movers unsorted": (*before_method("def movers(self, state): return [2, 1]"), "in ascending order"),
    "movers unknown": (*before_method("def movers(self, state): return [7]"), "from 0 to 4"),
    "movers no numbers": (*before_method("def movers(self, state): return '01'"), "from 0 to 4"),
    "movers nothing": (*before_method("def movers(self, state): return None"), "Fishery.* failed: .*NoneType"),
    "a state with another field": ("landed=[0.0]", "lands=[0.0]", "State is made with stock, lands"),
    "a state that is none": ("return self.State(", "return dict(", "return self.State"),
    "a set in the state": ("landed: list[float]", "landed: set[float]", "State.landed has the type set"),
    "no horizon": ('horizon = "seasons"', 'horizon = "years"', "declare it: years ="),
    "a default out of range": ("setting(0.5, 0, 2)", "setting(3, 0, 2)", "default 3"),
    "a policy without draw": ("def random(self, seen, agent, draw)", "def random(self, seen)", "policy random takes"),
    "no state": ("class State(goldrush.State)", "class Place(goldrush.State)", "has no state"),
    "no rules": ("def decide(", "def rules(", "has no rules"),
}
# fmt: on


@pytest.mark.parametrize(("old", "new", "says"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_found_while_recording(tmp_path, old, new, says):
    with pytest.raises(GoldrushError, match=says):
        recorded(changed(tmp_path, old, new), tmp_path / "run.journal")


def test_a_game_without_mistakes_is_recorded(tmp_path):
    recorded(changed(tmp_path, "", ""), tmp_path / "run.journal")


def test_mistakes_after_the_first_units_are_found_on_request(tmp_path):
    old, new = before("if state.unit == 190: state.landed[0] = 1.0", RULES)
    game = changed(tmp_path, old, new)
    recorded(game, tmp_path / "run.journal", "share*5", seasons=200)
    with pytest.raises(GoldrushError, match="landed was"):
        recorded(game, tmp_path / "run.journal", "share*5", seasons=200, check=True)
    recorded(game, tmp_path / "run.journal", "share*5", seasons=200)
