"""Trials: tests that an agent orders for itself (kernel/worlds/competition/README.md 4)."""

from typing import Any

import pytest

from goldrush.kernel.worlds.competition.terms import Phase
from tests.kernel.worlds.competition.seasons import (
    ADA,
    BASELINE,
    BEN,
    CLEO,
    TRIO,
    TRUCE,
    Act,
    Season,
    given,
    opened,
    propose,
    silent,
    words,
)

NONE_LEFT = ["trial/none-left"]


def ordered(season: Season, agent: int, *numbers: int) -> list[Act]:
    """Its trials of these numbers, as somebody orders them."""
    acts = []
    for number in numbers:
        seed = season.state.trial_seed(season.table.number, agent, number)
        acts.append(season.tried(agent, number=number, runs=((seed, 0),)))
    return acts


def numbered(season: Season, agent: int, *numbers: int) -> Season:
    """A step in which somebody orders its trials of these numbers."""
    return season.does(*ordered(season, agent, *numbers))


def left(season: Season, agent: int = ADA) -> int:
    return season.state.trials_left(agent, early=False)


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

    numbered(season, ADA, *range(early + 1))

    assert (NONE_LEFT, early) == (season.codes, len(season.table.trials))
    assert (Phase.SPEAK, most - early) == (season.phase, left(season))


def test_what_was_not_ordered_before_the_first_round_may_be_ordered_later() -> None:
    season = given(trials=(2, 3)).to(Phase.TRY).does()

    assert ([], 0) == (numbered(season, ADA, 0, 1).codes, left(season))
    season.says(propose(BEN)).judges("clean")
    assert NONE_LEFT == numbered(season, ADA, 2).codes


@pytest.mark.parametrize(("trials", "waits"), [((0, 0), False), ((0, 1), True), ((1, 1), True)])
def test_where_nobody_has_a_trial_the_phase_is_passed_over(trials: Any, waits: bool) -> None:
    season = given(trials=trials).has(CLEO, class_="sonnet").to(Phase.SET)

    assert (Phase.TRY if waits else Phase.SPEAK) == season.does(season.tested()).phase


# What a trial is


def test_a_trials_seed_is_drawn_for_its_table_its_agent_and_its_number() -> None:
    season = given(seed=7, trials=(4, 6)).closes().to(Phase.TRY)

    drawn = words(7, 1, 0, BEN, "trial", 2)

    assert [word >> 12 for word in drawn] == [season.state.trial_seed(0, BEN, n) for n in (0, 1)]
    assert [] == season.does(*[
        season.tried(BEN, number=n, runs=((word >> 12, 99),)) for n, word in enumerate(drawn)
    ]).codes  # fmt: skip


def test_no_trial_has_a_seed_of_a_test() -> None:
    season = given(trials=(2, 2)).to(Phase.TRY)

    trials = [season.state.trial_seed(0, agent, n) for agent in TRIO for n in range(99)]

    assert max(trials) < 2**52 <= min(seed for seed, _ in season.runs())


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"table": 1}, "act/malformed"), ({"agent": 99}, "act/malformed"),
        ({"treatment": "paradise"}, "act/malformed"), ({"treatment": None}, "act/malformed"),
        ({"conduct": ("mine", None, 1, BASELINE)}, "conduct/not-canonical"),
        ({"conduct": ("mine", None, 0, TRUCE), "treatment": TRUCE}, "conduct/not-canonical"),
        ({"runs": ()}, "act/malformed"), ({"runs": ((1, 0),)}, "act/malformed"),
    ],
)  # fmt: skip
def test_what_is_no_trial_is_refused_and_spends_nothing(fields: dict[str, Any], code: str) -> None:
    season = given(workers=4, trials=(4, 6)).does(opened(team=TRIO, order=TRIO)).to(Phase.TRY)

    season.does(season.tried(ADA)._replace(**fields))

    assert ([code], [], 4) == (season.codes, season.table.trials, left(season))


@pytest.mark.parametrize(("numbers", "kept"), [((1,), 0), ((0, 0), 1)])
def test_trials_are_numbered_in_order(numbers: tuple[int, ...], kept: int) -> None:
    season = numbered(given(trials=(6, 6)).to(Phase.TRY), ADA, *numbers)

    assert (["act/malformed"], kept) == (season.codes, len(season.table.trials))


# What is refused


@pytest.mark.parametrize("phase", [Phase.TRY, Phase.SPEAK])
def test_a_refused_trial_ends_its_authors_step(phase: str) -> None:
    season = given(trials=(4, 6)).to(phase)
    wrong = season.tried(ADA, ("mine", None, 1, BASELINE))

    season.does(season.tried(ADA, number=0), wrong._replace(number=1), season.tried(ADA, number=1))

    assert ["conduct/not-canonical", "act/malformed"] == season.codes
    assert 3 == left(season)


def test_nobody_orders_trials_in_the_turn_of_another_or_after_having_spoken() -> None:
    season = given(trials=(4, 6)).to(Phase.SPEAK)

    season.does(season.tried(BEN), season.spoke(silent(ADA)), season.tried(ADA))

    assert (["act/malformed"] * 2, []) == (season.codes, season.table.trials)
    assert [] == season.does(season.tried(BEN)).codes  # in its own
