"""What agents remember: part of the state and of its digest (kernel/worlds/competition/README.md
7).
"""

from goldrush.kernel.worlds.competition.memory import FACTS_MAX, Remembered, remembering
from goldrush.kernel.worlds.competition.terms import Phase
from tests.kernel.worlds.competition.seasons import (
    ADA,
    BEN,
    BITS,
    CLAIMED,
    CLEO,
    FALSE,
    GINI,
    MINERS,
    RAIDERS,
    SUBJECT,
    TRIO,
    TRUCE,
    TRUE,
    amend,
    bits,
    debriefed,
    given,
    propose,
    rating,
    support,
)

FAMILY = "efficiency in baseline"
AT = (0, *SUBJECT)  # the assignment and the subject


def test_an_assignment_leaves_trials_claims_the_conclusion_and_scores_in_this_order() -> None:
    season = given(trials=(4, 6)).worth({RAIDERS: None, (MINERS, TRUCE): FALSE}).to(Phase.TRY)
    season.does(season.tried(ADA, RAIDERS, None), season.tried(BEN, RAIDERS, 0.1)).turn(ADA)
    season.does(
        season.tried(ADA, RAIDERS, 0.3, treatment=TRUCE), season.spoke(propose(ADA, edge=TRUCE))
    )
    season.says(support(BEN, 0), propose(ADA, RAIDERS)).rates({ADA: (2, 1, 1, 0)}).until(1)

    under_truce = ("efficiency", TRUCE)
    assert (
        Remembered("trial", *AT, RAIDERS, None),
        Remembered("trial", 0, *under_truce, RAIDERS, 0.3),
        Remembered("claim", *AT, MINERS, TRUE, "base", CLAIMED, True),
        Remembered("claim", 0, *under_truce, MINERS, FALSE, "edge", CLAIMED, False),
        Remembered("claim", *AT, RAIDERS, None, "base", CLAIMED, False),
        Remembered("conclusion", *AT, MINERS, TRUE),
        Remembered("scores", *AT, scores=(2, 1, 1, 0), reasons=("", "", "", "")),
    ) == season.of(ADA).memory[FAMILY]
    assert ["trial", "conclusion", "scores"] == season.remembers(BEN)
    assert () == season.of(BEN).memory[FAMILY][-1].reasons  # who was not rated


def test_memory_is_kept_by_family() -> None:
    season = given().closes().about(*GINI).closes().about(*SUBJECT).closes()
    of_nk = given(arena=BITS).says(propose(ADA, bits(1))).closes()

    assert {FAMILY: [0, 2], "gini in truce-0": [1]} == {
        family: [fact.assignment for fact in facts]
        for family, facts in season.of(ADA).memory.items()
    }
    assert ["0"] == list(of_nk.of(ADA).memory)


def test_the_latest_twelve_facts_of_a_family_are_kept() -> None:
    facts = [Remembered("trial", n, *SUBJECT) for n in range(20)]

    memory = remembering(remembering({}, "a", facts[:1]), "b", facts)

    assert {"a": tuple(facts[:1]), "b": tuple(facts[-12:])} == memory
    assert ({}, 12) == (remembering({}, "a", []), FACTS_MAX)


# Lessons and skills


def test_an_extra_debrief_leaves_the_best_tested_conduct_as_a_lesson() -> None:
    season = given().worth({MINERS: 0.7, RAIDERS: 0.6})  # refuted, and above the bar
    season.says(propose(ADA), amend(BEN, 0, RAIDERS)).to(Phase.DEBRIEF)
    season.does(debriefed(ADA), *[rating(n, (8 - n, 0, 0, 0)) for n in TRIO])

    season.does(debriefed(CLEO, extra=True)).until(1)

    assert Remembered("lesson", *AT, MINERS, 0.7) == season.of(CLEO).memory[FAMILY][-1]
    assert ["scores", "lesson"] == season.remembers(CLEO)
    assert "lesson" not in season.remembers(ADA)
