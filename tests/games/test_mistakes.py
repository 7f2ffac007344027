"""Mistakes in rules and policies: each is found while recording, with the cure."""

# ruff: noqa: E501

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from decimal import Decimal
from inspect import Parameter, signature

import pytest

import goldrush
from goldrush.kernel.errors import BadInput, GoldrushError, PolicyFailed
from goldrush.kernel.game import declared
from goldrush.kernel.game.watch import (
    is_stable,
    is_watching,
    varies,
    watching_all_units,
)
from goldrush.kernel.world import World
from goldrush.replay.game.tools import tools_of_game
from goldrush.replay.journal.verify import verify
from goldrush.replay.run import Run
from tests.games.fisheries import SOURCE, changed, recorded

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
    "random": (*before("import random; random.randint(1, 5)", RULES), "fishery.py:59: .*global random"),
    "clock": (*before("import time; time.time()", RULES), r"clock \(time.time\)"),
    "hash": (*before("hash('a')", RULES), r"hash\(\)"),
    "a set shuffled": (*before("draw.shuffled({'a', 'b'}, 'order')", RULES), "draw.shuffled takes a set, {'.', '.'}: its order differs between processes; take sorted"),
    "NaN in an event": ("max(0.0, grown))", "float('nan'))", "regrown.stock: real number expected"),
    "a state without a number": ("state.stock = self.stock", "state.stock = None", "State.stock is None"),
    "a policy changes the state": (*before("seen.landed[0] = 3.0", POLICY), "greedy changed the state"),
    "a policy's random": (*before("import random; random.random()", POLICY), "global random numbers"),
    "below the range": (POLICY, "        return self.Asked(-1)", "integer from 0 to 1000000000"),
    "no submission": (POLICY, "        return 5", r"5 is submitted; return self.Asked\(...\)"),
    "a submission of another copy": (POLICY, "        other = type(self.Asked)('Asked', (self.Asked,), {'__qualname__': self.Asked.__qualname__})\n        return other(1)", "import Fishery.Asked as the game is named"),
    "a key used twice": (*before("draw.word('shock')", RULES), "'shock', which this step has used"),
    "no key": (*before("draw.word()", RULES), "draw.word has no key"),
    "nothing yielded": ("    def decide(self, state, asked, draw):", "    def decide(self, state, asked, draw):\n        pass\n\n    def older(self, state, asked, draw):", "Fishery.decide gives None; yield its events"),
    "movers a set": (*before_method("def movers(self, state): return {0, 1}"), "movers gives {0, 1}; give agents"),
    "what is no event": (*before("yield 3", RULES), "yields 3; yield its events: Landed"),
    "an error in the rules": (*before("1 / 0", RULES), "fishery.py:59: ZeroDivisionError"),
    "random in apply": ("state.stock = self.stock", "import random; state.stock = random.random()", "global random"),
    "movers unsorted": (*before_method("def movers(self, state): return [2, 1]"), "in ascending order"),
    "movers unknown": (*before_method("def movers(self, state): return [7]"), "from 0 to 4"),
    "a state with another field": ("landed=[0.0]", "lands=[0.0]", "State is made with stock, lands"),
    "a set in the state": ("landed: list[float]", "landed: set[float]", "State.landed has the type set"),
}
# Found with `check`.
ITERATED = {
    "a set in a loop": (*before("for x in {'a', 'b'}: pass", RULES), "fishery.py:59 goes through a set"),
    "a set in apply_all": ("        def apply(self, state):\n            state.stock = self.stock", "        def apply_all(state, caught, stock):\n            for x in {'a', 'b'}: pass", "goes through a set"),
    "a sum over a set": (*before("sum(len(x) * 0.5 for x in {'a', 'b'})", RULES), "goes through a set"),
    "a set sorted by a key with ties": (*before("sorted({'a', 'b'}, key=len)", RULES), "fishery.py:59: `sorted` finds a tie of keys in a set"),
    "draws in a key of a set": (*before("sorted({'a', 'b'}, key=lambda x: draw.word('order', x))", RULES), "fishery.py:59 goes through a set"),
    "a set popped": (*before("set('ab').pop()", RULES), "goes through a set"),
}
# fmt: on


@pytest.mark.parametrize(("old", "new", "says"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_found_while_recording(tmp_path, old, new, says):
    with pytest.raises(GoldrushError, match=says):
        recorded(changed(tmp_path, old, new), tmp_path / "run.journal")


@pytest.mark.parametrize(("old", "new", "says"), ITERATED.values(), ids=ITERATED)
def test_a_set_whose_order_matters_is_found_on_request(tmp_path, old, new, says):
    with pytest.raises(GoldrushError, match=says):
        recorded(changed(tmp_path, old, new), tmp_path / "run.journal", check=True)


def test_a_game_runs_as_it_was_written_unless_sets_are_looked_for(tmp_path):
    game = changed(tmp_path, *before("for x in {'a', 'b'}: pass", RULES))
    written = game.decide.__code__

    for check, how in [(False, "in another process, it fails: "), (True, "")] * 2:
        with pytest.raises(GoldrushError, match=f"{how}fishery.py:59 goes through a set"):
            recorded(game, tmp_path / "run.journal", check=check)
        assert written is game.decide.__code__


def test_sets_are_looked_for_in_what_a_game_inherits_and_calls(tmp_path):
    text = SOURCE.replace("class Fishery(", HELPER).replace(RULES, f"        helped()\n{RULES}")
    (tmp_path / "its_waters.py").write_text(text)
    other = tmp_path / "its_harbour.py"
    other.write_text("from its_waters import Fishery\n\n\nclass Harbour(Fishery):\n    pass\n")

    with pytest.raises(GoldrushError, match=r"its_waters.py:\d+ goes through a set"):
        goldrush.record(str(other), tmp_path / "run.journal", check=True)


HELPER = """def helped():
    return [*{"a", "b"}]


class Fishery("""


# By rule: where its first line goes; each is run when two seasons have closed.
RULE_OF = {
    "decide": RULES,
    "apply": "            state.stock = self.stock",
    "start": "        return self.State(",
    "over": "        return state.stock < 1",
    "policy": "        return self.Asked(int(part *",
    "score": "        return state.landed[agent]",
    "measure": "        return state.stock\n",
}


def ending(path, rule, line):
    """The fishery with a line in a rule."""
    where = RULE_OF[rule]
    space = where[: len(where) - len(where.lstrip())]
    return changed(path, where, f"{space}{line}\n{where}")


@pytest.mark.parametrize("rule", RULE_OF)
def test_what_would_end_the_program_is_a_failure_of_the_rule(tmp_path, rule):
    game = ending(tmp_path, rule, "raise SystemExit")

    with pytest.raises(GoldrushError, match=r"fishery.py:\d+: SystemExit"):
        recorded(game, tmp_path / "run.journal").table("agents")


@pytest.mark.parametrize("rule", ["decide", "policy", "measure"])
def test_a_person_who_interrupts_ends_the_program(tmp_path, rule):
    with pytest.raises(KeyboardInterrupt):
        recorded(ending(tmp_path, rule, "raise KeyboardInterrupt"), tmp_path / "r").measures()


SETS = """
        few, names = {3, 1, 2}, frozenset({"a", "b"})
        assert sum(x for x in few) == sum(list({0.5, 5.5})) and len([*{(1, 2), (2, 1)}]) == 2
        assert {*range(5)} == {*sorted({*range(5)}, key=lambda agent: draw.word("order", agent))}
        again = lambda agent: draw.word("again", agent)  # each key is drawn once
        assert {*range(5)} == {*sorted({*range(5)}, key=again)}
        assert ["a", "b"] == sorted(names, key=str) and "b" == max(names | {"ab"}, key=lambda x: x[::-1] + x)
        assert draw.shuffled({1: "a", "b": 2}.keys(), "order") != draw.shuffled(few, "few")
        assert [1, 2, 3, 6] == [min(few), len(names), max(few), sum(few)]
        assert [True, True, 3] == [1 in few, all(few), sum(1 for x in few)]
        assert 2 == sum(x > 1 for x in few)
        assert ["a", "b"] == sorted(x for x in names if x) == sorted(names)
        assert few == {x for x in few} == set(x for x in few) == few | {1} & few - {7}
        assert max(x * 0.5 for x in few) == 1.5 and any(x == "a" for x in names)
        assert sum(one.fish for one in asked) == sum([one.fish for one in asked], 0) >= 0
"""


@pytest.mark.parametrize(
    ("made", "key", "expected"),
    [
        (lambda self: hash((1, self.key)), 7, True),
        (lambda self: hash((1, self.key)), "a", False),
        (lambda self: object.__hash__(self), 7, False),
        (lambda self: hashed(self.key), "a", False),
    ],
)
def test_a_hash_is_stable_where_all_that_it_hashes_is(made, key, expected):
    kind = type("Own", (), {"__init__": lambda self: setattr(self, "key", key), "__hash__": made})

    assert expected is is_stable(kind())


def hashed(value):
    return hash(value)


@pytest.mark.parametrize("kind", [float, complex, Decimal])
def test_nan_has_no_stable_hash(kind):
    assert [False, True] == [is_stable(kind("nan")), is_stable(kind("0.5"))]
    assert varies({kind("nan"), kind("nan")})


def test_sets_can_be_used_where_their_order_does_not_matter(tmp_path):
    game = changed(tmp_path, RULES, f"{SETS}\n{RULES}")
    recorded(game, tmp_path / "run.journal", check=True)


def test_a_checked_recording_changes_nothing_for_other_threads():
    with watching_all_units(), ThreadPoolExecutor(1) as other:
        assert [True, False] == [is_watching(), other.submit(is_watching).result()]
    assert not is_watching()


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ("if state.unit == 18: wanted += 9 * numpy.random.rand()", RULES),
        ("if seen.unit == 18: return self.Asked(int(999 * numpy.random.rand()))", POLICY),
    ],
)
def test_what_makes_an_unwatched_unit_differ_is_named_at_the_end(tmp_path, line, where):
    pytest.importorskip("numpy.random")
    game = changed(tmp_path, *before(f"import numpy; numpy.array([0])\n        {line}", where))
    cause = r"uses the global random numbers \(numpy.random\); take `draw`"
    with pytest.raises(GoldrushError, match=f"season 19.*derived again.*{cause}"):
        recorded(game, tmp_path / "run.journal", roster="share*4,greedy", seasons=20)

    broken = goldrush.open(tmp_path / "run.journal", world=game).verify().broken
    assert re.search(cause, broken.hint), broken


LANDED = """
        def apply(self, state):
            state.landed[self.agent] += self.fish
"""


@pytest.mark.parametrize(("apply", "count"), [("\n        apply = None\n", 0), ("", 1)])
def test_an_event_that_nothing_applies_is_told_once(tmp_path, caplog, apply, count):
    run = recorded(changed(tmp_path, LANDED, apply), tmp_path / "run.journal", seasons=2)
    run.fork(at=1, path=tmp_path / "fork.journal")

    assert [0.0] * 5 == run.at(2).state.landed
    assert [True] * count == ["Landed has no apply" in line for line in caplog.messages]


@pytest.mark.parametrize(
    ("agents", "unit", "is_watched"),
    [(5, 14, True), (5, 16, False), (5, 31, True), (200, 3, True), (200, 4, False)],
)
def test_mistakes_in_the_first_units_and_at_powers_of_two(tmp_path, agents, unit, is_watched):
    old, new = before(f"if state.unit == {unit}: hash('a')", RULES)
    game, journal = changed(tmp_path, old, new), tmp_path / "run.journal"
    with pytest.raises(GoldrushError, match=r"hash\(\)") if is_watched else nullcontext():
        recorded(game, journal, f"share*{agents}", seasons=unit + 1)


@pytest.mark.parametrize(("unit", "is_watched"), [(0, False), (1, False), (3, True)])
def test_the_agents_whose_policies_are_watched_take_turns(tmp_path, unit, is_watched):
    game = ending(tmp_path, "policy", f"if (seen.unit, agent) == ({unit}, 45): hash('a')")
    with pytest.raises(GoldrushError, match=r"hash\(\)") if is_watched else nullcontext():
        recorded(game, tmp_path / "run.journal", "share*60", seasons=unit + 1)


CHANGES = "if state.unit == 33: state.landed[0] += 1.0"  # a unit that is not watched
POLICY_CHANGES = before(CHANGES.replace("state", "seen"), POLICY)
OVER_CHANGES = before(CHANGES, "        return state.stock < 1")
OBSERVE = f"def observe(self, state, agent):\n        {CHANGES}\n        return state"
MOVERS = f"def movers(self, state):\n        {CHANGES}\n        return list(state.agents)"


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("policy greedy of agent 120 failed in season 34: policy greedy", POLICY_CHANGES),
        ("`decide`", before(CHANGES, RULES)),
        ("`over`", OVER_CHANGES),
        ("policy share of agent 0 failed in season 34: `observe`", before_method(OBSERVE)),
        ("`movers`", before_method(MOVERS)),
    ],
)
def test_what_changes_the_state_in_any_unit_ends_the_run_and_is_named(tmp_path, part, change):
    game, journal = changed(tmp_path, *change), tmp_path / "run.journal"
    message = rf"{part} changed the state: landed\[0\] was .* and is "
    with pytest.raises(GoldrushError, match=message):
        recorded(game, journal, "share*120,greedy*1" if "120" in part else "share*5", seasons=60)
    run = goldrush.open(journal, world=game)
    assert (33, True) == (len(list(run)), run.verify().holds)


def test_all_levels_say_the_same_of_a_state_that_was_changed(tmp_path, monkeypatch):
    game, journal = changed(tmp_path, *POLICY_CHANGES), tmp_path / "run.journal"
    tools_of_game(game)
    with monkeypatch.context() as patch:  # as it was recorded before that was looked for
        patch.setattr(World, "checks_rows", property(lambda world: False))
        Run.plan(world=game, roster="greedy*5", seasons=60).record(journal, again=False)
    where = [verify(journal, level).broken.where.partition(",")[0] for level in (2, 3, 4)]
    assert ["season 34"] * 3 == where


def test_a_value_of_another_type_is_found_at_the_end(tmp_path):
    old, new = "state.landed[self.agent] += self.fish", "state.landed[0] = state.unit == 40 or 1.0"
    with pytest.raises(GoldrushError, match=r"the last season, State.landed\[0\] is True"):
        recorded(changed(tmp_path, old, new), tmp_path / "run.journal", "share*5", seasons=41)


@pytest.mark.parametrize(
    ("start", "apply", "says"),
    [
        ("[[0] * 3]", "state.grid = [[0] * 3] * 3", "grid holds a list or dict that is in"),
        ("[[0], [1, 2.5]]", "pass", r"State.grid\[1\]\[1\] is 2.5; it must be int"),
        ("[[10**30]]", "pass", r"State.grid\[0\]\[0\] is 10*, a number beyond 64 bits"),
    ],
)
def test_a_grid_is_of_lists_that_are_each_there_once(tmp_path, start, apply, says):
    def game(start, apply):
        return changed(
            tmp_path,
            "stock: float\n", "stock: float\n        grid: list[list[int]]\n",
            "landed=[0.0]", f"grid={start}, landed=[0.0]",
            "state.stock = self.stock", f"state.stock = self.stock; {apply}",
        )  # fmt: skip

    with pytest.raises(GoldrushError, match=says):
        recorded(game(start, apply), tmp_path / "run.journal")
    run = recorded(game("[[0] * 3] * 3", "state.grid[0][0] += 1"), tmp_path / "run.journal")
    assert [[3, 0, 0], [0, 0, 0], [0, 0, 0]] == run.at(3).state.grid


LONE = "it has a lone surrogate, which UTF-8 cannot encode; replace it, as text.encode"


@pytest.mark.parametrize(
    ("notes", "apply", "says"),
    [
        (r"{1: ['a', '\ud800']}", "0", r"Fishery.start: State.notes[1][1] is '\ud800': " + LONE),
        ("{2**70: []}", "0", f"a key of State.notes is {2**70}, a number beyond 64 bits"),
        ("{}", r"state.notes.update({7: ['\ud800']})", "after season 21, State.notes[7][0] is"),
    ],
)
def test_what_no_state_can_hold_is_named_by_its_place(tmp_path, notes, apply, says):
    game = changed(
        tmp_path,
        "stock: float\n", "stock: float\n        notes: dict[int, list[str]]\n",
        "landed=[0.0]", f"notes={notes}, landed=[0.0]",
        "state.stock = self.stock", f"state.stock = self.stock; state.unit == 20 and {apply}",
    )  # fmt: skip
    with pytest.raises(BadInput, match=re.escape(says)):
        recorded(game, tmp_path / "run.journal", "share*5")


@pytest.mark.parametrize("unit", [0, 40])  # one of them is watched
def test_a_text_that_cannot_be_encoded_is_told_with_its_policy(tmp_path, unit):
    fish = "fish: int = within(0, 10**9)"
    note = rf"note='\ud800' if seen.unit == {unit} else 'a'"
    game = changed(
        tmp_path, fish, f"{fish}\n        note: str", "self.Asked(", f"self.Asked({note}, fish="
    )
    says = f"policy share of agent 0 failed in season {unit + 1}: .*{LONE}"
    with pytest.raises(PolicyFailed, match=says):
        recorded(game, tmp_path / "run.journal", "share*5", seasons=50)


def test_no_setting_has_the_name_of_a_parameter_of_calls_that_take_settings():
    calls = [
        Run.record.__func__,
        Run.plan.__func__,
        Run.fork,
        goldrush.study,
    ]
    parameters = [each for call in calls for each in signature(call).parameters.values()]
    names = {each.name for each in parameters if each.kind is not Parameter.VAR_KEYWORD}
    assert names == declared.PARAMETERS


def test_mistakes_after_the_first_units_are_found_on_request(tmp_path):
    old, new = before("if state.unit == 190: hash('a')", RULES)
    game = changed(tmp_path, old, new)
    recorded(game, tmp_path / "run.journal", "share*5", seasons=200)
    with pytest.raises(GoldrushError, match=r"hash\(\)"):
        recorded(game, tmp_path / "run.journal", "share*5", seasons=200, check=True)
    recorded(game, tmp_path / "run.journal", "share*5", seasons=200)


EVENT = "class Regrown(goldrush.Event):"
ROSTER = '    roster = "share*3,greedy*2"'
SAYS = '"{agent} lands {fish:amount}"'
START = "    def start(self):"
ANOTHER = "    class Gone(goldrush.Submission):\n        day: int = within(0, 1)\n\n"
TWICE = "    class REGROWN(goldrush.Event):\n        x: int\n\n"
APPLY = "        def apply(self, state):\n            state.stock = self.stock"
SHOCK = "shock = setting(0.1, 0, 0.9)"


def criteria(given, null="random"):
    return ROSTER, f"{ROSTER}\n    criteria = {given}\n    null = {null!r}"


# What is found when the class is made, in the same form.
# fmt: off
DECLARED = {
    "an event of the framework": (EVENT, "class Drawn(goldrush.Event):", "Fishery.Drawn is the event drawn"),
    "two events of one name": (START, TWICE.replace("REGROWN", "regrown") + START, "event regrown, which Fishery.Regrown has"),
    "a field named as a column": ("        caught: float", "        journal: float", "Regrown.journal has a name"),
    "a setting named as a method": (SHOCK, "legal = setting(1, 0, 2)", "setting Fishery.legal is a name of every game"),
    "a setting named as a parameter": (SHOCK, "jobs = setting(1, 0, 5)", "setting Fishery.jobs has the name of a parameter of calls in Python, .*; take another name"),
    "a setting and a measure": (SHOCK, "stock = setting(1, 0, 2)", "Fishery.stock is declared twice: a setting and a measure"),
    "an inherited setting": ("        return sum(state.landed)", "        return sum(state.landed)\n\n\nclass Small(Fishery):\n    capacity = 20.0", "Small.capacity is a setting, and also 20.0"),
    "a setting without a range": (SHOCK, "shock = setting(0.1)", r"Fishery.shock has the valid values \(\)"),
    "a range the wrong way": (SHOCK, "shock = setting(0.1, 1, 0)", "Fishery.shock has the range 1 to 0"),
    "a horizon of fractions": ('horizon = "seasons"', 'horizon = "shock"', "horizon is 'shock', which cannot be"),
    "a policy named as a player": ("def random(self", "def human(self", "Fishery.human has a name that rosters use"),
    "a treatment named baseline": ("high-growth", "baseline", "treatment 'baseline' of Fishery has a name"),
    "a treatment of no setting": ('{"growth": 1.0}', '{"grows": 1.0}', "Fishery: there is no setting 'grows'; did you mean growth"),
    "a criterion without a direction": (*criteria('{"growth": ("it grows", {"stock": 0})}'), r"stock is 0; give \+1 or -1"),
    "criteria and no null": (*criteria('{"growth": ("it grows", {"stock": 1})}', ""), "Fishery.null is ''; name a policy: share, greedy"),
    "within the wrong way": ("within(0, 10**9)", "within(3, 1)", r"Asked.fish is within\(3, 1\)"),
    "a field with a default": ("within(0, 10**9)", "3", "Asked.fish is given 3; fields have no defaults"),
    "a phase and decide": ("    def over(", "    @goldrush.phase\n    def grow(self, state, draw):\n        pass\n\n    def over(", "Fishery has phases and decide"),
    "nobody is asked": ("    def decide(", ANOTHER + "    @goldrush.phase(Asked)\n    def ask(", "nobody is asked for Fishery.Gone; write @phase"),
    "no submission": ("class Asked(goldrush.Submission)", "class Asked(goldrush.Event)", "has policies, and no submission"),
    "no start": (START, "    def begin(self):", r"has no start; write .*State\(stock=..., landed=...\)"),
    "an __init__": (START, "    def __init__(self):\n        pass\n\n" + START, "has an __init__; make the state in start"),
    "an unknown field": (SAYS, '"{whom} lands"', "Landed.says has {whom}; name a field: agent, fish"),
    "an attribute": (SAYS, '"{fish.real}"', "says has {fish.real}; name a field"),
    "two ways to apply": ("            state.stock = self.stock", "            state.stock = self.stock\n\n        def apply_all(state, caught, stock): pass", "Regrown has apply and apply_all; leave one of them out"),
    "columns with self": (APPLY, "        def apply_all(self, state, caught, stock): pass", r"Regrown.apply_all does not take .*; write def apply_all\(state, caught, stock\), without self"),
    "an amount of a list": ("        caught: float\n        stock: float\n", "        caught: list[float]\n        stock: float\n", "has {caught:amount}, which is no number"),
    "a measure without a title": ('@measure("stock, tonnes")', "@measure", "measure stock has no title; write .*@measure"),
    "a setting of a policy without a default": ("draw, part=0.8):", "draw, part):", "policy share takes self, seen, agent, draw, part"),
}
# fmt: on


@pytest.mark.parametrize(("old", "new", "says"), DECLARED.values(), ids=DECLARED)
def test_a_mistake_is_found_when_the_class_is_made(tmp_path, old, new, says):
    with pytest.raises(BadInput, match=says):
        changed(tmp_path, old, new)


def test_fields_can_have_the_names_that_the_constructor_uses(tmp_path):
    names = "        type: float\n        cls: int\n        make: str\n        caught: float"
    game = changed(tmp_path, "        caught: float", names)
    assert game.Regrown(2.0, 3, "a", 4.0, 5.5) == (2, 3, "a", 4, 5.5)
