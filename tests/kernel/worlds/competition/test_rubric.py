"""Of scores (kernel/worlds/competition/README.md 6) what few seasons meet, and what is no rating.

The rubric and the steps afterwards are held against the naive oracle: laws/test_season_oracle.py.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from goldrush.kernel.worlds.competition.terms import Phase
from tests.kernel.worlds.competition.seasons import (
    ADA,
    BEN,
    CLEO,
    DOV,
    ELIF,
    FALSE,
    GUARDS,
    MINERS,
    RAIDERS,
    TRIO,
    challenge,
    given,
    opened,
    propose,
    rating,
)


@pytest.mark.parametrize(("days", "known"), [(3, {MINERS: 0}), (4, {})])
def test_what_leaves_the_window_is_kept_no_longer(days: int, known: Mapping[Any, int]) -> None:
    season = given(assignments_per_day=1, rolling_days=3).says(propose(ADA)).closes(days)

    assert known == season.state.known


@pytest.mark.parametrize(
    ("objective", "claimed", "tested", "is_sharp"),
    [
        ("efficiency", 0.75, 1.0, True), ("efficiency", 0.75, 1.01, False),
        ("efficiency", 0.75, 0.74, False), ("efficiency", 1, 1.0, True), ("gini", 0.25, 0.0, True),
        ("gini", 0.25, -0.01, False), ("gini", 0.25, 0.26, False),
    ],
)  # fmt: skip
def test_sharp_is_half_of_what_the_test_shows(
    objective: str, claimed: float, tested: float, is_sharp: bool
) -> None:
    season = given().about(objective, "baseline").worth({MINERS: tested})
    season.says(propose(ADA, MINERS, claimed)).to(Phase.DIGEST)

    assert is_sharp is season.table.is_sharp(season.table.contributions[0])


def test_two_challenges_sustained_in_two_rounds_are_worth_2() -> None:
    season = given(workers=4).worth({MINERS: FALSE, RAIDERS: FALSE})
    season.says(propose(ADA), propose(BEN, RAIDERS), challenge(DOV, 0), challenge(DOV, 1))

    assert 2 == season.closes().scored(DOV, "raw")[3]


def test_an_own_final_stance_falls_away_with_its_target() -> None:
    """Without cleo, so does what it stands for: nobody moves, and nothing else is concluded."""
    season = given(workers=5).worth({RAIDERS: 0.8})
    season.says(propose(ADA), propose(BEN, RAIDERS), propose(CLEO, GUARDS))
    season.stands({ADA: 0, BEN: None, CLEO: 2, DOV: 1, ELIF: 1})

    assert 0 == season.closes().scored(CLEO, "raw")[2]


# The therapist


@pytest.mark.parametrize(
    "act",
    [
        *[rating(ADA, (0, 0, 0, score)) for score in (4, -1, 1.5, True)], rating(ADA, (0, 0, 0)),
        rating(ADA, (0, 0, 0, 0), ("", "", "", "x" * 4_001)), rating(DOV, (1, 1, 1, 1)),
        rating(ADA, (1, 1, 1, 1), table=1),
    ],
)  # fmt: skip
def test_a_rating_is_four_numbers_with_reasons_for_somebody_at_the_table(act: Any) -> None:
    season = given(workers=4).does(opened(team=TRIO)).to(Phase.DEBRIEF)

    assert ["act/malformed"] == season.does(act).codes
