"""Every draw of a game is recorded, and can be computed again without it."""

import math
from collections import Counter
from statistics import NormalDist, fmean, pstdev

import pytest

import goldrush
from goldrush import Agent
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import MalformedEvents, RulesFailed
from goldrush.kernel.game.draw import USES, Draw
from goldrush.kernel.game.world import compiled
from goldrush.kernel.journal import Header
from goldrush.kernel.world import Block
from goldrush.replay.game.draws import AMONG_MAX
from tests.games.fisheries import changed, recorded
from tests.journals import commits_of, write
from tests.redraw import redraw


class Dice(goldrush.Game):
    """All that can be drawn."""

    class State(goldrush.State):
        total: float

    class Rolled(goldrush.Event):
        by: Agent
        sum: float

        def apply(self, state):
            state.total += self.sum

    def start(self):
        return self.State(total=0)

    def decide(self, state, draw):
        low, high = draw.between(0.5, 2, "low"), draw.below(6, "die", 3)
        names = draw.shuffled("abcdef", "order") + draw.sample("abcdef", 3, "some")
        word = draw.word("word") % 7 + draw.chance(0.3, "coin")
        word += draw.normal(2.0, 0.5, "height") + draw.exponential(3, "wait")
        word += draw.poisson(700.5, "many") + draw.weighted([1, 2, 3], [0.5, 0, 2], "loaded")
        yield self.Rolled(0, low + high + word + len(names) + draw.choice([1, 2, 3], "which"))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return goldrush.record(Dice, tmp_path_factory.mktemp("dice") / "run.journal", rounds=30)


def test_each_use_is_audited(run) -> None:
    draws = run.audit()

    assert dict.fromkeys(USES, 30) == Counter(draw.kind for draw in draws)
    assert all(draw.holds for draw in draws)


ARGUMENTS = {
    "word": (), "below": (6,), "between": (0.5, 2), "chance": (0.3,), "choice": (3,),
    "shuffled": (range(6),), "sample": (6, 3), "normal": (2.0, 0.5), "exponential": (3,),
    "poisson": (700.5,), "weighted": (0.5, 0, 2),
}  # fmt: skip


def test_the_program_of_the_page_gives_words_and_outcome_of_each_use(run) -> None:
    assert set(USES) == set(ARGUMENTS)
    for audited in (drawn for unit in range(1, 31) for drawn in run.audit(unit)):
        again = redraw(audited.key)
        use = "below" if audited.kind == "choice" else audited.kind
        found = getattr(again, use)(*ARGUMENTS[audited.kind])

        assert audited.outcome == (tuple(found) if isinstance(found, list) else found)
        assert audited.draw_words == tuple(f"{word:016x}" for word in again.words)


class Wide(Dice):
    """A draw among more than are listed."""

    def decide(self, state, draw):
        yield self.Rolled(0, draw.below(AMONG_MAX + 1, "wide") + draw.chance(0.5, "coin"))


def test_draws_among_many_list_nobody_and_chances_are_true_or_false(tmp_path) -> None:
    wide, coin = goldrush.record(Wide, tmp_path / "run.journal", rounds=1).audit(1)

    assert (True, ()) == (wide.holds, wide.participants)
    assert (True, bool) == (coin.holds, type(coin.outcome))


@pytest.mark.parametrize("name", ["die", "die,3", "die, 3"])
def test_one_draw_is_audited_by_its_name(run, name) -> None:
    [die] = run.audit(3, kind=name)

    assert ("below", "die, 3") == (die.kind, die.occasion.name)
    assert Draws(0, 3, 0, "decide", "die", 3).below(6) == die.outcome


def rewritten(run, path, change):
    """The run with other draws in its third round."""
    commits = commits_of(run.path)
    inputs, derived = commits[3].blocks
    [(code, rows), *others] = derived.batches
    assert compiled(Dice).drawn == code
    commits[3].blocks = [inputs, Block([(code, [change(*row) for row in rows]), *others])]
    return goldrush.open(write(path, commits, Header("dice", 1)))


def test_a_forged_result_is_found(run, path) -> None:
    def change(key, use, arguments, results, words):
        forged = (results[0] + 1,) if key == ("die", 3) else results
        return key, use, arguments, forged, words

    again = rewritten(run, path, change)

    assert [False] == [audited.holds for audited in again.audit(3) if audited.kind == "below"]
    assert (False, 3) == (again.verify().holds, again.verify().broken.level)


@pytest.mark.parametrize(
    ("use", "arguments"),
    [("poisson", (2_000_000,)), ("shuffled", (1_000,)), ("sample", (10_000, 1_000))],
)
def test_a_forged_size_of_a_draw_is_refused_before_it_is_drawn(run, path, use, arguments) -> None:
    """However large it is: no reader draws as often as a file says."""

    def change(key, of, given, *rest):
        return key, of, arguments if USES[of] == use else given, *rest

    again = rewritten(run, path, change)

    for at in (3, None):
        with pytest.raises(MalformedEvents, match=r"expected (.|\n)*, found "):
            again.audit(at)


APPLIED = """
        def apply(self, state):
            state.landed[self.agent] += self.fish
"""
APPLIED_AT_ONCE = """
        @staticmethod
        def apply_all(state, agents, fish):
            assert all(type(tonnes) is float for tonnes in fish)
            for agent, tonnes in zip(agents, fish, strict=True):
                state.landed[agent] += tonnes
"""


@pytest.mark.parametrize("applied", [APPLIED, APPLIED_AT_ONCE])
def test_a_column_of_events_is_the_same_as_one_by_one(tmp_path, applied) -> None:
    one_by_one = changed(tmp_path, "", "")
    runs = [recorded(one_by_one, tmp_path / "a.journal", seed=3)]
    old = """        for one in asked:
            if one.fish:
                yield self.Landed(one.agent, one.fish * share)
"""
    new = """        asking = [one for one in asked if one.fish]
        yield self.Landed.all(
            [one.agent for one in asking], [one.fish * share for one in asking]
        )
"""
    columns = changed(tmp_path, old, new, APPLIED, applied)
    runs.append(recorded(columns, tmp_path / "b.journal", seed=3))
    assert runs[0].at(5).state.landed == runs[1].at(5).state.landed

    first, second = ([list(run.events(name)) for name in ("landed", "regrown")] for run in runs)
    assert first == second
    assert first[0]


def test_an_empty_list_has_no_choice(tmp_path) -> None:
    rules = "        left = max(0.0"
    game = changed(tmp_path, rules, f"        draw.choice([], 'who')\n{rules}")
    with pytest.raises(
        RulesFailed, match=r"fishery.py:59: .*draw.choice: the list of items is empty"
    ):
        recorded(game, tmp_path / "run.journal")


def test_draws_of_distributions_are_the_same_everywhere() -> None:
    draw = Draw((7, 1))

    assert 1.5 == draw.normal(1.5, 0, "sure")
    assert -0.2587095226371388 == draw.normal(0, 1, "n")
    assert 10.930971429245 == draw.exponential(2.5, "e")
    assert [10, 1221] == [draw.poisson(4.5, "p"), draw.poisson(1234.5, "q")]
    assert "c" == draw.weighted("abc", [1, 0, 2.5], "w")


def test_draws_of_distributions_have_their_moments() -> None:
    draw, several = Draw((1,)), range(10_000)
    normal = [draw.normal(10, 2, "n", i) for i in several]
    waiting = [draw.exponential(3, "e", i) for i in several]
    few = [draw.poisson(2.5, "p", i) for i in several]
    many = [draw.poisson(1200, "q", i) for i in range(2000)]
    loaded = [draw.weighted([0, 1, 2], [1, 0, 3], "w", i) for i in several]

    assert (10, 2) == pytest.approx((fmean(normal), pstdev(normal)), rel=0.02)
    assert (3, 3) == pytest.approx((fmean(waiting), pstdev(waiting)), rel=0.03)
    assert (2.5, 2.5) == pytest.approx((fmean(few), pstdev(few) ** 2), rel=0.03)
    assert (1200, 1200) == pytest.approx((fmean(many), pstdev(many) ** 2), rel=0.1)
    assert {0: 2500, 2: 7500} == pytest.approx(Counter(loaded), rel=0.05)
    below = fmean(one < 8 for one in normal), fmean(one < 14 for one in normal)
    assert (NormalDist().cdf(-1), NormalDist().cdf(2)) == pytest.approx(below, rel=0.05)
    assert 1 - math.exp(-2) == pytest.approx(fmean(one < 6 for one in waiting), rel=0.05)


@pytest.mark.parametrize(
    ("take", "says"),
    [
        (lambda draw: draw.normal(0, math.nan, "x"), "the standard deviation cannot be nan"),
        (lambda draw: draw.poisson(10**7, "x"), "the mean cannot be 10000000"),
        (lambda draw: draw.weighted("ab", [0, 0], "x"), "the weights cannot be"),
        (lambda draw: draw.weighted("ab", [2, -1], "x"), "the weights cannot be"),
        (lambda draw: draw.between(5, 1, "x"), "the limits cannot be"),
        (lambda draw: draw.chance(math.nan, "x"), "the probability cannot be nan"),
    ],
)
def test_what_no_distribution_has_is_refused(take, says) -> None:
    with pytest.raises(ValueError, match=says):
        take(Draw((1,)))


START = "        return self.State(stock=self.capacity, landed"


def test_a_start_can_be_drawn(tmp_path) -> None:
    drawn = START.replace("self.capacity", "draw.between(400, 600, 'stock')")
    game = changed(tmp_path, "def start(self)", "def start(self, draw)", START, drawn)
    runs = [recorded(game, tmp_path / f"{seed}.journal", seed=seed) for seed in (1, 2)]
    stocks = [run.at(0).state.stock for run in runs]

    assert [Draw((seed, 0, 0, "start")).between(400, 600, "stock") for seed in (1, 2)] == stocks
    assert stocks[0] != stocks[1]
    assert all(run.verify().holds for run in runs)
    assert runs[0].fork(at=2).verify().holds
