"""Scores, one cell of the rubric a case, and the steps afterwards
(kernel/worlds/competition/README.md 6).

A raw score is [novelty, accuracy, net impact, challenge]. Five sit at each table here; who is not
named passes.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from goldrush.kernel.worlds.competition.rubric import lower_median, related
from goldrush.kernel.worlds.competition.terms import Phase
from tests.kernel.worlds.competition.seasons import (
    ADA,
    BAR_CONDUCT,
    BEN,
    BITS,
    CLEO,
    DOV,
    ELIF,
    FALSE,
    FEW_GUARDS,
    FEW_RAIDERS,
    GUARDS,
    MINERS,
    MORE_RAIDERS,
    RAIDERS,
    TRIO,
    TRUCE,
    Line,
    Season,
    amend,
    bits,
    challenge,
    given,
    opened,
    propose,
    rating,
    support,
)

NOVELTY, ACCURACY, IMPACT, CHALLENGE = range(4)
BLUNT = 1.01  # a value so much beyond CLAIMED that the claim is not sharp


def raw(season: Season, agent: int, dimension: int) -> int:
    """What the rubric gives in the assignment under way."""
    score: int = season.closes().scored(agent, "raw")[dimension]
    return score


def said(*lines: Line, **settings: Any) -> Season:
    return given(**{"workers": 5} | settings).says(*lines)


case = pytest.param


# Novelty


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        case([propose(ADA), support(BEN, 0)], 0, id="proposes nothing"),
        case([propose(ADA), propose(BEN)], 0, id="said before at the table"),
        case([propose(ADA), propose(BEN, RAIDERS)], 1, id="a variation"),
        case([propose(ADA, FEW_RAIDERS), propose(CLEO, FEW_GUARDS), propose(BEN, MORE_RAIDERS)], 1,
             id="the nearest counts and not the latest"),
        case([propose(ADA), propose(BEN, FEW_RAIDERS), support(CLEO, 0)], 2, id="fresh"),
        case([propose(BEN), support(CLEO, 0)], 2, id="fresh and concluded while nobody led"),
        case([propose(ADA), propose(BEN, FEW_GUARDS), support(CLEO, 0), propose(BEN)], 2,
             id="its best proposal"),
        case([propose(ADA), propose(BEN, FEW_RAIDERS), support(CLEO, 1)], 3,
             id="fresh and concluded while another led"),
    ],
)  # fmt: skip
def test_novelty(lines: list[Line], expected: int) -> None:
    assert expected == raw(said(*lines), BEN, NOVELTY)


@pytest.mark.parametrize(("days", "expected"), [(1, 0), (2, 0), (3, 2)])
def test_what_was_proposed_within_the_window_is_known(days: int, expected: int) -> None:
    season = given(assignments_per_day=1, rolling_days=3).says(propose(ADA)).closes(days)

    assert expected == raw(season.says(propose(BEN)), BEN, NOVELTY)


@pytest.mark.parametrize(("days", "known"), [(3, {MINERS: 0}), (4, {})])
def test_what_leaves_the_window_is_kept_no_longer(days: int, known: Mapping[Any, int]) -> None:
    season = given(assignments_per_day=1, rolling_days=3).says(propose(ADA)).closes(days)

    assert known == season.state.known


# Accuracy


EDGE = {(MINERS, TRUCE): FALSE}


@pytest.mark.parametrize(
    ("lines", "worth", "expected"),
    [
        case([propose(ADA), support(BEN, 0)], {}, 0, id="claims nothing"),
        case([propose(BEN)], {MINERS: FALSE}, 0, id="none held"),
        case([propose(BEN, BAR_CONDUCT)], {}, 0, id="the bar's conduct is not counted"),
        case([propose(ADA), propose(BEN)], {}, 0, id="what was proposed before is not counted"),
        case([propose(ADA), challenge(CLEO, 0), propose(BEN)], {}, 0,
             id="nor what was tested before"),
        case([propose(BEN), propose(BEN, RAIDERS)], {RAIDERS: FALSE}, 1, id="some held"),
        case([propose(BEN)], {MINERS: BLUNT}, 1, id="held and none sharp"),
        case([propose(BEN)], {}, 2, id="held and sharp"),
        case([propose(BEN), propose(BEN, RAIDERS)], {RAIDERS: BLUNT}, 2, id="one of two sharp"),
        case([propose(BEN), propose(BEN, FEW_GUARDS)], {}, 2, id="edges are what counts here"),
        case([propose(BEN, edge=TRUCE)], EDGE, 2, id="an edge failed"),
        case([propose(BEN, edge=TRUCE), propose(BEN, RAIDERS, edge=TRUCE)], EDGE, 2,
             id="one edge held and one failed"),
        case([propose(BEN, edge=TRUCE), propose(BEN, RAIDERS)], {RAIDERS: BLUNT}, 2,
             id="an edge held and one of two bases sharp"),
        case([propose(ADA), propose(BEN), propose(BEN, RAIDERS)], {MINERS: FALSE}, 2,
             id="what is not counted does no harm"),
        case([propose(BEN, edge=TRUCE)], {}, 3, id="every base sharp and an edge"),
        case([propose(ADA), challenge(BEN, 0)], {}, 0, id="a ground was wrong"),
        case([propose(ADA), challenge(BEN, 0)], {MINERS: FALSE}, 2, id="grounds alone"),
        case([propose(ADA), propose(BEN, RAIDERS, edge=TRUCE), challenge(BEN, 0)], {}, 1,
             id="a ground was wrong and a base held"),
        case([propose(ADA), propose(BEN, RAIDERS), challenge(BEN, 0)], {MINERS: FALSE,
             RAIDERS: BLUNT}, 1, id="a ground held and no base is sharp"),
    ],
)  # fmt: skip
def test_accuracy(lines: list[Line], worth: Mapping[Any, Any], expected: int) -> None:
    season = given(workers=5).worth(worth).says(*lines)

    assert expected == raw(season, BEN, ACCURACY)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([propose(BEN, bits(2)), propose(BEN, bits(3))], 2),
        ([propose(BEN, bits(2)), propose(BEN, bits(4))], 3),
        ([propose(ADA, bits(4)), propose(BEN, bits(2)), propose(BEN, bits(4))], 2),
    ],
)  # fmt: skip
def test_with_one_treatment_a_second_base_far_away_is_as_good_as_an_edge(
    lines: list[Line], expected: int
) -> None:
    assert expected == raw(said(*lines, arena=BITS), BEN, ACCURACY)


def test_what_was_redirected_is_no_claim_and_no_conduct_proposed_before() -> None:
    season = given().worth({RAIDERS: FALSE}).says(propose(ADA, RAIDERS)).judges("redirect", 0)

    season.says(propose(ADA)).judges("redirect", 3).says(propose(ADA))

    assert 2 == raw(season, ADA, ACCURACY)


def test_what_was_tested_is_not_counted_though_it_was_redirected_later() -> None:
    season = given().says(propose(ADA), challenge(BEN, 0)).judges("redirect", 0)

    assert 0 == raw(season.says(propose(CLEO)), CLEO, ACCURACY)


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


# Net impact


@pytest.mark.parametrize(
    ("lines", "worth", "agent", "expected"),
    [
        case([propose(ADA)], {}, BEN, 0, id="said nothing"),
        case([propose(ADA), support(BEN, 0), support(CLEO, 0)], {}, CLEO, 0, id="joins the many"),
        case([propose(ADA, RAIDERS), support(BEN, 0), propose(CLEO), challenge(DOV, 0)],
             {RAIDERS: FALSE}, DOV, 1, id="the stance of another before the proof"),
        case([*[propose(ADA), support(BEN, 0), support(CLEO, 0)], *[propose(DOV, RAIDERS),
             support(ELIF, 3)]], {}, DOV, 1, id="the stance of another"),
        case([*[propose(ADA), propose(BEN), support(CLEO, 1), support(DOV, 1)], support(ELIF, 0)],
             {}, BEN, 1, id="conclusions are compared as conducts"),
        case([propose(ADA), propose(BEN, RAIDERS), support(CLEO, 1)], {RAIDERS: 0.8}, CLEO, 2,
             id="the conclusion"),
        case([propose(ADA), propose(BEN), support(CLEO, 1), support(DOV, 1)], {}, ADA, 2,
             id="a later proposal of the conduct goes with the first"),
        case([propose(ADA), amend(BEN, 0), propose(CLEO, RAIDERS), support(DOV, 2)], {}, ADA, 1,
             id="not a later one of a conduct that another proposed first"),
        case([propose(ADA)], {}, ADA, 3, id="the conclusion, and it is its own"),
        case([propose(ADA), amend(BEN, 0), amend(CLEO, 1, GUARDS), support(DOV, 2), support(ADA,
             2)], {}, ADA, 3, id="the conclusion, which amends its own at any depth"),
    ],
)  # fmt: skip
def test_net_impact(lines: list[Line], worth: Mapping[Any, Any], agent: int, expected: int) -> None:
    assert expected == raw(given(workers=5).worth(worth).says(*lines), agent, IMPACT)


# Three proposals, of which the third is the best unless a test says otherwise.
THREE = [propose(ADA), propose(BEN, RAIDERS), propose(CLEO, GUARDS)]
NONE = {ADA: None, BEN: None, CLEO: None}


@pytest.mark.parametrize("seed", range(3))
def test_the_conclusion_stays_while_it_is_among_the_equals(seed: int) -> None:
    season = given(seed=seed).says(propose(ADA), propose(BEN, RAIDERS), propose(CLEO, GUARDS))

    season.closes()

    proposal = season.last("concluded", "proposal")
    assert [[0, 3][proposal == n] for n in range(3)] == [
        e["raw"][2] for e in season.events("scored")
    ]


# Challenge


LEADER = [propose(ADA), support(BEN, 0), propose(CLEO, RAIDERS)]


@pytest.mark.parametrize(
    ("lines", "worth", "expected"),
    [
        case(LEADER, {}, 0, id="never"),
        case([*LEADER, challenge(DOV, 0)], {}, 0, id="a wrong one"),
        case([*LEADER, challenge(DOV, 2), challenge(DOV, 0)], {RAIDERS: FALSE}, 0,
             id="as many failed as sustained"),
        case([propose(ADA), challenge(DOV, 0)], {MINERS: FALSE}, 1, id="one sustained"),
        case([propose(ADA), propose(DOV, RAIDERS), challenge(DOV, 0)], {MINERS: FALSE}, 1,
             id="a proposal before it does not follow it"),
        case([*LEADER, challenge(DOV, 2)], {RAIDERS: FALSE}, 1, id="of what did not lead"),
        case([propose(ADA, edge=TRUCE), support(BEN, 0), challenge(DOV, 0, "edge")], EDGE, 1,
             id="of an edge: the leader leads on"),
        case([*THREE, challenge(DOV, 0), challenge(DOV, 1)], {MINERS: FALSE, RAIDERS: FALSE}, 2,
             id="two sustained, in two rounds"),
        case([propose(ADA), challenge(DOV, 0), amend(DOV, 0)], {MINERS: FALSE}, 2,
             id="one sustained and a proposal after it"),
        case([*LEADER, challenge(DOV, 0)], {MINERS: FALSE}, 3, id="of a leader of two stances"),
    ],
)  # fmt: skip
def test_challenge(lines: list[Line], worth: Mapping[Any, Any], expected: int) -> None:
    season = given(workers=4).worth(worth).says(*lines)

    assert expected == raw(season, DOV, CHALLENGE)


def test_what_follows_later_does_not_topple_a_leader_that_still_led() -> None:
    season = given().worth(EDGE).says(propose(ADA, edge=TRUCE), support(BEN, 0))
    season.says(challenge(CLEO, 0, "edge"), propose(ADA, RAIDERS), support(BEN, 3))

    assert 1 == raw(season, CLEO, CHALLENGE)
    assert [3] == season.events("concluded", "proposal")


def test_a_leader_is_toppled_as_stances_stood_then_whatever_is_redirected_later() -> None:
    season = given().worth({MINERS: FALSE}).says(propose(ADA), support(BEN, 0), challenge(CLEO, 0))

    assert 3 == raw(season.judges("redirect", 1), CLEO, CHALLENGE)


# The steps afterwards


AGREEING = [["agreeing", "challenge", 2, 0]]


@pytest.mark.parametrize(
    ("lines", "worth", "given_raw", "steps"),
    [
        case([propose(ADA)], {MINERS: FALSE}, (2, 3, 0, 0), [["novelty-farming", "accuracy", 3, 0]],
             id="what earned the novelty is refuted"),
        case([propose(ADA)], {MINERS: FALSE}, (1, 3, 0, 0), [], id="the therapist saw no novelty"),
        case([propose(ADA)], {MINERS: FALSE}, (3, 0, 0, 0), [], id="it saw no accuracy"),
        case([propose(ADA), propose(ADA, RAIDERS)], {RAIDERS: FALSE}, (2, 1, 0, 0), [],
             id="what did not earn it is refuted"),
        case([propose(ADA), propose(ADA, FEW_GUARDS)], {FEW_GUARDS: FALSE}, (2, 1, 0, 0), [],
             id="of equals the earliest earned it"),
        case([propose(BEN), support(ADA, 1)], {}, (0, 0, 0, 2), AGREEING,
             id="supported and never challenged"),
        case([propose(BEN), challenge(ADA, 1)], {}, (0, 0, 0, 2), AGREEING,
             id="challenged in vain"),
        case([propose(BEN, RAIDERS), propose(CLEO), challenge(ADA, 1), support(ADA, 2)],
             {RAIDERS: FALSE}, (0, 0, 0, 2), [], id="supported, and challenged with success"),
        case([propose(BEN)], {}, (0, 0, 0, 2), [], id="neither"),
    ],
)  # fmt: skip
def test_steps_against_gaming(lines: Any, worth: Any, given_raw: Any, steps: Any) -> None:
    season = given().worth(worth).says(*lines).rates({ADA: given_raw}).until(1)

    final = list(given_raw)
    for _, dimension, _, after in steps:
        final[{"accuracy": 1, "challenge": 3}[dimension]] = after
    assert (list(given_raw), steps, final, sum(final)) == tuple(
        season.scored(ADA, field) for field in ("raw", "steps", "final", "total")
    )


@pytest.mark.parametrize(
    ("scores", "expected"),
    [((1,), 1), ((3, 1, 2), 2), ((0, 3, 2, 1), 1), ((2, 2, 0, 3), 2), ((0, 0, 3, 3), 0)],
)
def test_of_two_in_the_middle_the_lower_is_the_median(scores: Any, expected: int) -> None:
    assert expected == lower_median(scores)


@pytest.mark.parametrize(
    ("middle", "expected"),
    [(0, [0, 2, 3, 3]), (1, [0, 1, 2, 3]), (2, [0, 1, 1, 2]), (3, [0, 1, 1, 1])],
)
def test_a_score_is_relative_to_the_middle_of_the_table(middle: int, expected: list[int]) -> None:
    assert expected == [related(score, middle) for score in range(4)]


def test_relative_scores_are_taken_by_dimension_and_told() -> None:
    raws = {ADA: (3, 0, 1, 2), BEN: (2, 0, 1, 3), CLEO: (1, 1, 1, 0)}
    season = given(scoring="relative").rates(raws).until(1)

    assert [[2, 0, 1, 1], [1, 0, 1, 2], [1, 2, 1, 0]] == season.events("scored", "final")
    assert [["relative", "novelty", 3, 2], ["relative", "challenge", 2, 1]] == (
        season.scored(ADA, "steps")
    )
    assert [4, 4, 4] == season.events("scored", "total")


# The therapist


def test_the_therapists_numbers_stand_in_place_of_the_rubrics_which_are_told_beside_them() -> None:
    season = given().says(propose(ADA)).rates({ADA: (0, 1, 2, 3)}).until(1)

    assert ([0, 1, 2, 3], 6, 7) == tuple(
        season.scored(ADA, field) for field in ("raw", "total", "rubric")
    )


def test_a_rating_is_final_and_so_is_a_score() -> None:
    season = given(moves=1).worth({MINERS: FALSE}).says(propose(ADA), challenge(BEN, 0))
    season.to(Phase.DEBRIEF).does(rating(ADA, (1, 1, 1, 1)), rating(ADA, (3, 3, 3, 3)))
    codes = season.codes

    assert (["score/final"], [1, 1, 1, 1]) == (codes, season.scored(ADA, "raw"))
    assert ["score/final"] == season.does(rating(CLEO, (3, 3, 3, 3))).codes  # who was not rated
    assert ["act/malformed"] == given().does(rating(ADA, (3, 3, 3, 3))).codes


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


@pytest.mark.parametrize(
    ("lines", "targets", "agent", "expected"),
    [
        case(THREE, {ADA: 0, BEN: None, CLEO: 2, DOV: 1, ELIF: 1}, CLEO, 0,
             id="its own falls away with its target"),
        case([*THREE[:2], support(CLEO, 1)], {ADA: 0, BEN: 0, CLEO: 0}, BEN, 1,
             id="the stance of another at the end of the talk"),
        case(THREE, {ADA: 1, BEN: 1}, BEN, 3, id="the conclusion by final stances is its own"),
    ],
)  # fmt: skip
def test_net_impact_where_final_stances_are_given(
    lines: list[Line], targets: Any, agent: int, expected: int
) -> None:
    season = given(workers=5).worth({RAIDERS: 0.8}).says(*lines).stands(targets)

    assert expected == raw(season, agent, IMPACT)
