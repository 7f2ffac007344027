"""The outcome of a study: who has how much of it, what differs, and what could have been found."""

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.replay.study.inference import SIGNIFICANT, change, detectable, holm, interval
from goldrush.replay.study.outcomes import (
    POLICIES,
    ROSTERS,
    TREATMENTS,
    comparisons,
    outcome_named,
    seeds_needed,
    standings,
)
from goldrush.replay.study.records import Cell
from goldrush.replay.worlds.mining.study import MiningResult, MiningResults
from tests.replay.study.made_up import made, results

Gold = Callable[[str, str, int, int], float]  # of treatment, roster, seed and agent


def study(
    gold: Gold,
    seeds: int = 20,
    treatments: Sequence[str] = ("baseline", "scarce"),
    rosters: Sequence[str] = ("greedy-mine*5,raid*5", "greedy-mine"),
) -> MiningResults:
    return results(*(run(gold, t, r, s) for t in treatments for r in rosters for s in range(seeds)))


def run(gold: Gold, treatment: str, roster: str, seed: int) -> MiningResult:
    values = tuple(gold(treatment, roster, seed, agent) for agent in range(10))
    return made(Cell(treatment, roster, 9), seed, gold=values)


def noise(*key: object) -> float:
    return random.Random(repr(key)).gauss(0, 1)  # no secret


def test_standings_are_means_over_seeds_of_means_over_agents() -> None:
    found = study(lambda t, r, seed, agent: 10.0 * seed + agent, 3)
    shown = {(s.cell.treatment, s.cell.roster, s.policy): s.values for s in standings_of(found)}

    mixed = "greedy-mine*5,raid*5"
    assert (3, 14.5) == (shown["baseline", mixed, ""].n, shown["baseline", mixed, ""].mean)
    assert 12.0 == shown["baseline", mixed, "greedy-mine"].mean  # agents 0 to 4
    assert 17.0 == shown["scarce", mixed, "raid"].mean
    assert ("scarce", "greedy-mine", "greedy-mine") not in shown  # all its agents
    assert interval([2.0, 12.0, 22.0]) == shown["baseline", mixed, "greedy-mine"]


def standings_of(found: MiningResults) -> list:  # type: ignore[type-arg]
    return standings(found, outcome_named(found))


def test_pairs_of_equal_seeds_are_compared_and_each_kind_has_its_correction() -> None:
    def gold(treatment: str, roster: str, seed: int, agent: int) -> float:
        extra = 5.0 if treatment == "scarce" else 0.0
        return 100.0 * seed + extra + noise(treatment, roster, seed) + (agent >= 5)

    found = study(gold)
    compared = comparisons(found, outcome_named(found))

    assert [TREATMENTS, ROSTERS, POLICIES] == list(compared)
    assert [2, 2, 2] == [len(of) for of in compared.values()]
    for kind, of in compared.items():
        assert {kind} == {one.kind for one in of}
        assert holm([one.p for one in of]) == [one.holm for one in of]
    treatments = compared[TREATMENTS]
    for one in treatments:
        runs = {c.treatment: found.by_cell[c] for c in one.cells}
        pairs = [
            (sum(a.by_agent["gold"]) / 10, sum(b.by_agent["gold"]) / 10)
            for a, b in zip(runs["baseline"], runs["scarce"], strict=True)
        ]
        tested = change(pairs, +1)
        assert ("baseline", "scarce") == (one.a, one.b)
        assert detectable(one.change.difference, SIGNIFICANT / 2) == one.detectable
        assert one.p == min(1.0, 2 * min(tested.p or 1, tested.p_opposite or 1))
        assert one.change.difference.mean == pytest.approx(tested.difference.mean)
        assert one.differs
        assert one.change.difference.mean == pytest.approx(5.0, abs=1.5)
    assert [1.0, 1.0] == pytest.approx([of.change.difference.mean for of in compared[POLICIES]])


def test_a_loss_is_as_certain_as_a_gain() -> None:
    def changed(by: float) -> MiningResults:
        return study(
            lambda t, r, seed, agent: by * (t == "scarce") + noise(t, r, seed), rosters=("raid",)
        )

    [gain], [loss] = (
        comparisons(of, outcome_named(of))[TREATMENTS] for of in map(changed, (5.0, -5.0))
    )

    assert gain.p == loss.p
    assert gain.differs


@given(st.permutations(range(12)), st.integers(1, 12))
def test_seeds_that_only_one_of_them_has_are_left_out(order: list[int], common: int) -> None:
    def gold(treatment: str, roster: str, seed: int, agent: int) -> float:
        return 10.0 * seed + (2.0 if treatment == "scarce" else 0.0)

    ours = [run(gold, "baseline", "raid", seed) for seed in order]
    theirs = [run(gold, "scarce", "raid", seed) for seed in sorted(order[-common:])]
    found = results(*ours, *theirs)
    [one] = comparisons(found, outcome_named(found))[TREATMENTS]

    assert (common, 2.0) == (one.change.n, one.change.difference.mean)


@pytest.mark.parametrize(
    ("seeds", "rosters", "needed"), [(5, 1, 6), (6, 1, None), (6, 2, 7), (7, 2, None), (1, 4, 8)]
)
def test_how_many_seeds_any_difference_needs(seeds: int, rosters: int, needed: int | None) -> None:
    """Two-sided, 2 ÷ 2ⁿ is the least p, and Holm multiplies it by the number of comparisons."""
    names = ("raid", "greedy-mine", "mine", "defend")[:rosters]
    found = study(lambda t, *key: noise(t, *key) + 9 * (t == "scarce"), seeds, rosters=names)
    compared = comparisons(found, outcome_named(found))[TREATMENTS]

    assert needed == seeds_needed(compared)
    assert (needed is None) == any(one.differs for one in compared)


@pytest.mark.parametrize(("n", "level"), [(8, 0.05), (20, 0.005)])
def test_what_is_detectable_is_found_in_four_of_five_studies(n: int, level: float) -> None:
    """Simulated: normal differences with that mean, by the test that is used."""
    chance = random.Random(n)
    spread = [chance.gauss(0, 1) for _ in range(n)]
    mean = sum(spread) / n
    deviation = (sum((x - mean) ** 2 for x in spread) / (n - 1)) ** 0.5
    least = detectable(interval([(x - mean) / deviation for x in spread]), level)
    assert least is not None
    found = 0
    for _ in range(600):
        one = change([(0.0, chance.gauss(least, 1)) for _ in range(n)], +1)
        found += 2 * min(one.p or 1, one.p_opposite or 1) <= level

    assert found / 600 == pytest.approx(0.8, abs=0.06)


def test_what_is_detectable_is_that_of_a_t_test_of_fewer_pairs() -> None:
    """With a deviation of 1: by the noncentral t distribution, of 3 ÷ π times as many pairs."""
    pairs = [1.0, -1.0] * 10
    unit = (20 / 19) ** 0.5  # their deviation

    assert detectable(interval(pairs), 0.05) == pytest.approx(0.68152 * unit, rel=1e-4)
