"""What can be said at a table (kernel/worlds/competition/README.md 5), and what few seasons meet.

What follows from it is held against the naive oracle: laws/test_season_oracle.py.
"""

from typing import Any

import pytest

from goldrush.kernel.worlds.competition.terms import Phase
from tests.kernel.worlds.competition.seasons import (
    ADA,
    BEN,
    CLEO,
    DOV,
    FALSE,
    JUDGE,
    MINERS,
    RAIDERS,
    TRIO,
    challenge,
    given,
    opened,
    propose,
    silent,
    support,
)

# Contributions


@pytest.mark.parametrize("agent", [BEN, DOV, JUDGE])
def test_nobody_speaks_in_the_turn_of_another_or_without_a_seat(agent: int) -> None:
    season = given(workers=4).does(opened(team=TRIO, order=TRIO)).to(Phase.SPEAK)

    season.does(season.spoke(propose(agent)))

    assert (["act/malformed"], []) == (season.codes, season.table.contributions)


# The judge


@pytest.mark.parametrize(
    ("signal", "ids", "reason"),
    [
        ("fine", (), ""), ("clean", (0,), ""), ("clean", None, ""), ("clean", (), "x" * 4_001),
        ("redirect", (), ""), ("redirect", (0, 0), ""), ("redirect", (1,), ""),
        ("redirect", (False,), ""),
    ],
)  # fmt: skip
def test_what_is_no_signal_is_malformed(signal: Any, ids: Any, reason: Any) -> None:
    season = given().says(propose(ADA), silent(BEN)).to(Phase.JUDGE)

    assert ["act/malformed"] == season.does(season.judged(signal, ids, reason)).codes


# Reasons and stances


@pytest.mark.parametrize(
    ("because", "is_right"),
    [
        (None, True), (((), False), True), (((0,), False), True), (((1, 0), True), True),
        (((3,), False), False), (((-1,), False), False), (((0, 0), False), False),
        (((0,), 1), False), ((0, False), False),
    ],
)  # fmt: skip
def test_a_contribution_may_name_what_it_relies_on(because: Any, is_right: bool) -> None:
    season = given().says(propose(BEN)).judges("clean")

    season.says(support(ADA, 1)._replace(because=because))

    assert ([] if is_right else ["act/malformed"]) == season.codes
    assert (because if is_right else None) == season.table.contributions[3].because


def test_the_proposal_with_most_stances_leads_and_of_equals_the_earliest() -> None:
    season = given(workers=4).says(propose(ADA), propose(BEN, RAIDERS), support(CLEO, 1))
    leading = season.table.stances.leading()

    season.says(support(DOV, 0))

    assert (1, 0) == (leading, season.table.stances.leading())


def test_what_was_tested_is_not_tested_again_for_another_challenge() -> None:
    season = given().worth({MINERS: FALSE}).says(propose(ADA), challenge(BEN, 0))
    season.judges("redirect", 1).says(challenge(BEN, 0))

    assert (Phase.SPEAK, CLEO) == (season.phase, season.speaker)
    assert ({}, {0}) == (season.stances, season.table.stances.refuted)
