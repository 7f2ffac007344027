"""Trials: tests that an agent orders for itself (kernel/worlds/competition/README.md 4)."""

import pytest

from goldrush.kernel.worlds.competition.terms import Phase
from tests.kernel.worlds.competition.seasons import (
    ADA,
    TRIO,
    given,
)

# How many, and when


@pytest.mark.parametrize(
    ("trials", "class_", "early"),
    [
        ((4, 6), "haiku", 2), ((5, 6), "haiku", 3), ((4, 7), "sonnet", 4),
    ],
)  # fmt: skip
def test_half_of_the_trials_come_before_the_first_round(
    trials: tuple[int, int], class_: str, early: int
) -> None:
    season = given(trials=trials).has(ADA, class_=class_).to(Phase.TRY)
    most = trials[0] if class_ == "haiku" else trials[1]

    seeds = [season.state.trial_seed(0, ADA, number) for number in range(early + 1)]
    season.does(*[season.tried(ADA, number=n, runs=((s, 0),)) for n, s in enumerate(seeds)])

    assert (["trial/none-left"], early) == (season.codes, len(season.table.trials))
    left = season.state.trials_left(ADA, early=False)
    assert (Phase.SPEAK, most - early) == (season.phase, left)


# What a trial is


def test_no_trial_has_a_seed_of_a_test() -> None:
    season = given(trials=(2, 2)).to(Phase.TRY)

    trials = [season.state.trial_seed(0, agent, n) for agent in TRIO for n in range(99)]

    assert max(trials) < 2**52 <= min(seed for seed, _ in season.runs())
