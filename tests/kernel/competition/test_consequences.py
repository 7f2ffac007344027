"""Sparks, the leaderboard, bottom scorers, elimination (kernel/competition/README.md 7)."""

from collections.abc import Mapping
from typing import Any

import pytest

from goldrush.kernel.competition.events import (
    ANSWERED,
    DEBRIEFED,
    FATE_CHOSEN,
    INSTRUCTIONS_REWRITTEN,
    RATED,
)
from goldrush.kernel.competition.names import NAMES, name_of
from goldrush.kernel.competition.state import BENCHED, DEBRIEF, FATE, GONE, IMPROVE, OPEN
from tests.kernel.competition.seasons import (
    ADA,
    ADMIN,
    BEN,
    CLEO,
    DOV,
    ELIF,
    FALSE,
    JUDGE,
    MINERS,
    SUBJECT,
    TRUCE,
    Act,
    Season,
    given,
    opened,
    propose,
    shown,
    support,
    words,
)

NEW = 8  # the ordinal of who joins next, where there are three workers


def rated(season: Season, totals: Mapping[int, int]) -> Season:
    """Play to the end of a debrief in which everybody got so many points."""
    season.to(DEBRIEF)
    acts = []
    for agent, total in totals.items():
        raw = tuple(min(3, max(0, total - 3 * place)) for place in range(4))
        acts.append((RATED, (season.table.number, agent, raw, ("", "", "", ""))))
    return season.does(*acts)


def scored(season: Season, *totals: int) -> Season:
    """An assignment at which ada, ben, cleo (and so on) got so many points."""
    rated(season, dict(enumerate(totals, ADA)))
    return season if season.state.phase == OPEN else season.closes()


def chose(agent: int, fate: Any) -> Act:
    return (FATE_CHOSEN, (agent, fate))


# Sparks


def test_a_score_point_is_a_spark_and_the_seat_costs_the_fee() -> None:
    season = scored(given(sparks_start=8, entry_fee=(4, 5)), 6, 4, 0)

    assert [(ADA, 2, 10), (BEN, 0, 8), (CLEO, -4, 4)] == season.events(
        "sparks_moved", "agent", "amount", "balance"
    )
    assert [10, 8, 4] == [season.of(agent).sparks for agent in (ADA, BEN, CLEO)]


def test_sparks_never_fall_below_nothing() -> None:
    season = rated(given(sparks_start=3, entry_fee=(4, 5)), {ADA: 0, BEN: 1, CLEO: 2})

    assert [(-3, 0), (-3, 0), (-2, 1)] == season.events("sparks_moved", "amount", "balance")


def test_what_is_owed_is_paid_from_the_same_roundtable() -> None:
    season = scored(given(sparks_start=1, entry_fee=(4, 5)), 12, 12, 12)

    assert [9, 9, 9] == season.events("sparks_moved", "balance")


def test_the_bench_has_a_passive_income() -> None:
    season = given(workers=4, passive_income=2).has(DOV, status=BENCHED, sparks=1).closes()

    assert (None, DOV, 2, 3, "bench") == season.last(
        "sparks_moved", "table", "agent", "amount", "balance", "why"
    )
    assert 5 == season.closes().of(DOV).sparks


def test_who_is_active_without_a_seat_neither_pays_nor_earns() -> None:
    season = given(workers=4).does(opened(team=(ADA, BEN, CLEO))).closes()

    assert [ADA, BEN, CLEO] == season.events("sparks_moved", "agent")


# The leaderboard


def test_the_leaderboard_is_by_rolling_sum_then_all_time_then_ordinal() -> None:
    season = given(workers=5).has(CLEO, all_time=5).has(DOV, all_time=7)

    scored(season, 4, 4, 4, 4, 9)

    assert [[1, ELIF, 9, 9], [2, DOV, 4, 11], [3, CLEO, 4, 9], [4, ADA, 4, 4], [5, BEN, 4, 4]] == (
        season.last("leaderboard_posted", "rows")
    )


def test_the_rolling_sum_is_over_the_last_days_today_counted() -> None:
    season = given(rolling_days=2, assignments_per_day=2)
    for total in (1, 2, 3, 4, 5):
        scored(season, total, 0, 0)

    rows = season.events("leaderboard_posted", "rows")

    assert [(1, 1), (3, 3), (6, 6), (10, 10), (12, 15)] == [tuple(row[0][2:]) for row in rows]


def test_the_benched_are_ranked_and_the_deleted_are_not() -> None:
    season = given(workers=5).has(DOV, status=BENCHED).has(ELIF, status=GONE).closes()

    assert [ADA, BEN, CLEO, DOV] == [row[1] for row in season.last("leaderboard_posted", "rows")]


def test_a_newcomer_begins_at_nothing() -> None:
    season = scored(given(elimination_bottoms=1), 9, 9, 5)

    scored(season, 3, 2, 0)

    assert [[1, ADA, 12, 12], [2, BEN, 11, 11], [3, CLEO, 5, 5], [4, NEW, 0, 0]] == season.last(
        "leaderboard_posted", "rows"
    )


# The bottom scorer


def test_the_lowest_total_is_the_bottom() -> None:
    season = scored(given(), 3, 1, 2)

    assert [(0, BEN, [], [], 1)] == season.events(
        "bottomed", "table", "agent", "tied", "words", "streak"
    )


def test_where_all_are_equal_nobody_is_the_bottom() -> None:
    assert [] == scored(given(), 2, 2, 2).events("bottomed")


@pytest.mark.parametrize("seed", range(4))
def test_a_tie_at_the_bottom_is_drawn(seed: int) -> None:
    season = scored(given(seed=seed, workers=4), 5, 1, 2, 1)

    (word,) = words(seed, 0, 0, 0, "bottom")
    expected = ([BEN, DOV][word % 2], [BEN, DOV], shown([word]))

    assert [expected] == season.events("bottomed", "agent", "tied", "words")


def test_a_streak_is_of_bottoms_in_a_row() -> None:
    season = given(elimination_bottoms=9)
    for totals in ((3, 1, 2), (3, 1, 2), (1, 2, 3), (3, 1, 2)):
        scored(season, *totals)

    assert [(BEN, 1), (BEN, 2), (ADA, 1), (BEN, 1)] == season.events("bottomed", "agent", "streak")
    assert [0, 1, 0] == [season.of(agent).bottoms for agent in (ADA, BEN, CLEO)]


def test_a_table_without_a_bottom_ends_the_streak() -> None:
    season = given(elimination_bottoms=9)
    for totals in ((3, 1, 2), (1, 1, 1), (3, 1, 2)):
        scored(season, *totals)

    assert [(BEN, 1), (BEN, 1)] == season.events("bottomed", "agent", "streak")


def test_a_roundtable_not_sat_at_leaves_the_streak() -> None:
    season = scored(given(workers=4, elimination_bottoms=9), 3, 1, 2, 4)
    season.does(opened(team=(ADA, CLEO, DOV))).closes()

    scored(season, 3, 1, 2, 4)

    assert [(BEN, 1), (BEN, 2)] == season.events("bottomed", "agent", "streak")


def test_of_two_tables_each_has_its_bottom() -> None:
    season = given(elimination_bottoms=9).has(JUDGE, stage=3).judges("split").closes()
    season.does(opened(ADMIN, SUBJECT, ("gini", TRUCE), order=(ADA, BEN, CLEO))).to(DEBRIEF)
    zeros, ones = (0, 0, 0, 0), (1, 1, 1, 1)
    rows = [(0, BEN, zeros), (0, ADA, ones), (0, CLEO, ones), (1, CLEO, zeros), (1, ADA, ones)]

    season.does(*[(RATED, (*row, ("", "", "", ""))) for row in [*rows, (1, BEN, ones)]]).closes()

    assert [(0, BEN, 1), (1, CLEO, 1)] == season.events("bottomed", "table", "agent", "streak")
    assert [0, 0, 1] == [season.of(agent).bottoms for agent in (ADA, BEN, CLEO)]


def debriefed(agent: int, *, extra: bool, table: int = 0) -> Act:
    return (DEBRIEFED, (table, agent, ("how was it?",), ("well",), extra))


def test_the_therapist_questions_every_participant() -> None:
    season = given(workers=4).does(opened(team=(ADA, BEN, CLEO))).to(DEBRIEF)

    season.does(*[debriefed(agent, extra=False) for agent in (ADA, BEN, CLEO, DOV)])

    assert ["act/malformed"] == season.codes


@pytest.mark.parametrize(
    ("questions", "answers"),
    [(("a",), ()), ((), ("a",)), ("a", "b"), (None, None), ((1,), ("a",)), (("a",), (None,)),
     (("x",) * 21, ("x",) * 21), (("x" * 4_001,), ("a",))],
)  # fmt: skip
def test_a_debrief_has_questions_with_their_answers(questions: Any, answers: Any) -> None:
    season = given().to(DEBRIEF)

    acts = (DEBRIEFED, (0, ADA, questions, answers, False))

    assert ["act/malformed"] == season.does(acts).codes


def test_the_bottom_scorer_is_debriefed_again() -> None:
    season = rated(given(), {ADA: 3, BEN: 1, CLEO: 2})

    season.does(
        debriefed(BEN, extra=False),
        debriefed(BEN, extra=True, table=1),
        debriefed(ADA, extra=True),
        debriefed(BEN, extra=True),
    )

    assert ["act/malformed"] * 3 == season.codes


def test_an_extra_debrief_is_for_afterwards() -> None:
    assert ["act/malformed"] == given().to(DEBRIEF).does(debriefed(ADA, extra=True)).codes


@pytest.mark.parametrize("taken", [None, True])
def test_the_instructions_of_the_bottom_scorer_are_rewritten_at_any_stage(taken: Any) -> None:
    season = rated(given(), {ADA: 3, BEN: 1, CLEO: 2})

    season.does(
        (INSTRUCTIONS_REWRITTEN, (BEN, {}, {"trials": 1}, taken)),
        (INSTRUCTIONS_REWRITTEN, (ADA, {}, {"trials": 1}, taken)),
    )

    assert ["stage/not-yet"] == season.codes
    assert ({}, {"trials": 1}) == (season.of(ADA).instructions, season.of(BEN).instructions)


def test_nobody_is_improved_where_nobody_is_the_bottom() -> None:
    season = rated(given(), {ADA: 2, BEN: 2, CLEO: 2})

    assert OPEN == season.state.phase


# Elimination


def test_bottoms_enough_in_a_row_are_the_cause() -> None:
    season = given(elimination_bottoms=2, sparks_start=99)
    scored(season, 3, 1, 2)
    before = season.events("elimination_faced")

    scored(season, 3, 1, 2)

    assert [] == before
    assert [(1, BEN, "bottoms")] == season.events(
        "elimination_faced", "assignment", "agent", "cause"
    )


def test_whoever_is_not_the_bottom_now_does_not_face_it_for_bottoms() -> None:
    season = scored(given(elimination_bottoms=2).has(ADA, bottoms=5), 3, 1, 2)

    assert ([], 0) == (season.events("elimination_faced"), season.of(ADA).bottoms)


def test_no_sparks_are_the_cause() -> None:
    season = scored(given(sparks_start=4, entry_fee=(4, 5)), 1, 0, 0)

    assert [(BEN, "sparks"), (CLEO, "sparks")] == season.events(
        "elimination_faced", "agent", "cause"
    )


def test_who_faces_it_for_both_reasons_faces_it_once() -> None:
    season = scored(given(sparks_start=4, entry_fee=(4, 5), elimination_bottoms=1), 1, 0, 1)

    assert [(BEN, "bottoms")] == season.events("elimination_faced", "agent", "cause")


def test_one_spark_is_enough() -> None:
    assert [] == scored(given(sparks_start=5, entry_fee=(4, 5)), 0, 0, 0).events(
        "elimination_faced"
    )


def test_who_faces_nothing_chooses_nothing() -> None:
    season = rated(given(elimination_bottoms=1), {ADA: 3, BEN: 1, CLEO: 2})

    assert ["fate/not-faced"] == season.does(chose(BEN, "deletion")).codes  # not its time yet
    assert ["fate/not-faced"] == season.to(FATE).does(chose(ADA, "deletion")).codes


@pytest.mark.parametrize("fate", ["appeal", None, 1, ("deletion",)])
def test_there_is_no_appeal(fate: Any) -> None:
    season = rated(given(elimination_bottoms=1), {ADA: 3, BEN: 1, CLEO: 2}).to(FATE)

    season.does(chose(BEN, fate))

    assert ["act/malformed"] == season.codes
    assert [BEN] == season.events("relegated", "agent")


def test_a_fate_is_chosen_once() -> None:
    season = rated(given(elimination_bottoms=1), {ADA: 3, BEN: 1, CLEO: 2}).to(FATE)

    season.does(chose(BEN, "relegation"), chose(BEN, "deletion"))

    assert (["act/malformed"], [BEN]) == (season.codes, season.events("relegated", "agent"))


def faced(totals: Mapping[int, int], **settings: Any) -> Season:
    """A season in which those of no points have no sparks any more, and choose."""
    season = given(**{"sparks_start": 4, "entry_fee": (4, 5), "workers": len(totals)} | settings)
    return rated(season, totals).to(FATE)


def test_relegated_is_benched_and_a_new_worker_takes_the_place() -> None:
    season = faced({ADA: 3, BEN: 0, CLEO: 2}).does(chose(BEN, "relegation"))

    joined = season.of(NEW)

    assert (BENCHED, 0) == (season.of(BEN).status, season.of(BEN).benched_in)
    assert [(NEW, "ines", None)] == season.events("joined", "ordinal", "name", "inherits")
    assert ("active", "worker", 4, 0, 0, ()) == (
        joined.status, joined.role, joined.sparks, joined.stage, joined.served, joined.memory,
    )  # fmt: skip
    assert [ADA, CLEO, NEW] == season.state.active()


def test_who_chooses_nothing_is_relegated() -> None:
    assert [BEN] == faced({ADA: 3, BEN: 0, CLEO: 2}).does().events("relegated", "agent")


def test_bottoms_start_at_nothing_after_the_bench() -> None:
    season = rated(given(elimination_bottoms=1), {ADA: 3, BEN: 1, CLEO: 2}).closes()

    assert 0 == season.of(BEN).bottoms


def test_deleted_is_gone_and_its_memory_inherited() -> None:
    season = faced({ADA: 3, BEN: 0, CLEO: 2})
    season.has(BEN, memory=({"kind": "skill"},), class_="sonnet", stage=3, all_time=50, served=9)
    season.does(chose(BEN, "deletion"))

    heir = season.of(NEW)

    assert GONE == season.of(BEN).status
    assert [(BEN,)] == [(agent,) for agent in season.events("deleted", "agent")]
    assert [(NEW, "ines", BEN)] == season.events("joined", "ordinal", "name", "inherits")
    assert (({"kind": "skill"},), "haiku", 4, 0, 0, 0) == (
        heir.memory, heir.class_, heir.sparks, heir.stage, heir.all_time, heir.served,
    )  # fmt: skip


def test_a_name_is_never_given_twice() -> None:
    season = given(workers=3).has(ADA, name="ines")

    rated(season.has(BEN, sparks=0), {ADA: 3, BEN: 0, CLEO: 2}).to(FATE).does()

    assert ["jun"] == season.events("joined", "name")


def test_names_come_to_an_end_and_begin_anew() -> None:
    assert ("ada", "zeno", "ada-2", "ben-3") == (
        name_of(0), name_of(len(NAMES) - 1), name_of(len(NAMES)), name_of(2 * len(NAMES), 1),
    )  # fmt: skip
    assert len(NAMES) == len(set(NAMES))


def test_who_is_deleted_does_nothing_more() -> None:
    season = faced({ADA: 3, BEN: 0, CLEO: 2}).does(chose(BEN, "deletion"))

    assert ["act/malformed"] == season.has(BEN, stage=4).does(opened(BEN, day=0)).codes
    assert ["act/malformed"] == season.does(opened(team=(ADA, BEN, CLEO))).codes
    assert ["act/malformed"] == season.does((ANSWERED, (BEN, "speak", "here", None))).codes


def test_the_longest_benched_returns_when_another_is_relegated() -> None:
    season = given(workers=5, sparks_start=4, entry_fee=(4, 5))
    season.has(DOV, status=BENCHED, benched_in=-1, sparks=4)
    season.has(ELIF, status=BENCHED, benched_in=-2, sparks=4, bottoms=2)

    rated(season, {ADA: 3, BEN: 0, CLEO: 2}).to(FATE).does()

    assert [(ELIF, BEN)] == season.events("returned", "agent", "for")
    assert ("active", None, 0) == (
        season.of(ELIF).status, season.of(ELIF).benched_in, season.of(ELIF).bottoms,
    )  # fmt: skip
    assert [ADA, CLEO, ELIF] == season.state.active()
    assert [] == season.events("joined")


def test_of_those_benched_at_once_the_first_returns() -> None:
    season = given(workers=5, sparks_start=4, entry_fee=(4, 5))
    season.has(DOV, status=BENCHED, benched_in=-1).has(ELIF, status=BENCHED, benched_in=-1)

    rated(season, {ADA: 3, BEN: 0, CLEO: 2}).to(FATE).does()

    assert [DOV] == season.events("returned", "agent")


@pytest.mark.parametrize(
    ("sparks", "class_", "returns"),
    [(3, "haiku", False), (2, "haiku", True), (3, "sonnet", True), (2, "sonnet", False)],
)
def test_who_cannot_pay_the_fee_does_not_return(sparks: int, class_: str, returns: bool) -> None:
    season = given(workers=4, sparks_start=4, entry_fee=(4, 5), passive_income=2)
    season.has(DOV, status=BENCHED, benched_in=-1, class_=class_)
    season.has(DOV, sparks=sparks if returns or class_ == "sonnet" else 1)

    rated(season, {ADA: 3, BEN: 0, CLEO: 2}).to(FATE).does()

    assert ([DOV] if returns else []) == season.events("returned", "agent")


def test_who_is_benched_in_this_assignment_does_not_return_in_it() -> None:
    season = faced({ADA: 3, BEN: 0, CLEO: 0}, passive_income=9).has(BEN, sparks=99)

    season.does()

    assert [BEN, CLEO] == season.events("relegated", "agent")
    assert ([], [8, 9]) == (season.events("returned"), season.events("joined", "ordinal"))


def test_nobody_returns_for_a_deletion() -> None:
    season = given(workers=4, sparks_start=4, entry_fee=(4, 5))
    season.has(DOV, status=BENCHED, benched_in=-1, sparks=99)

    rated(season, {ADA: 3, BEN: 0, CLEO: 2}).to(FATE).does(chose(BEN, "deletion"))

    assert ([], [9]) == (season.events("returned"), season.events("joined", "ordinal"))


def test_fates_are_met_in_order() -> None:
    season = faced({ADA: 0, BEN: 3, CLEO: 0}).does(
        chose(CLEO, "deletion"), chose(ADA, "relegation")
    )

    names = ("relegated", "joined", "deleted")

    assert ["relegated", "joined", "deleted", "joined"] == [
        event["event"] for event in season.followed() if event["event"] in names
    ]
    assert [None, CLEO] == season.events("joined", "inherits")


def test_the_relegated_were_in_the_assignment_and_earn_its_tier() -> None:
    season = faced({ADA: 3, BEN: 0, CLEO: 2}, worker_tiers=(1, 2, 3, 4)).does()

    assert [ADA, BEN, CLEO] == season.events("reward_unlocked", "agent")
    assert (1, 0) == (season.of(BEN).served, season.of(NEW).served)


# Memory


def test_who_sat_at_a_table_remembers_its_bar_its_conclusion_and_its_own_proposals() -> None:
    season = given().worth({MINERS: FALSE}).says(propose(ADA))
    season.says(propose(BEN, ("raid", None, 0, "baseline")), support(CLEO, 1)).closes()

    remembered = [(fact["kind"], fact["majority"], fact["value"]) for fact in season.of(ADA).memory]

    assert [("bar", "greedy-mine", 0.5), ("own", "mine", 0.1), ("conclusion", "raid", 0.9)] == (
        remembered
    )
    assert {
        "kind": "bar", "assignment": 0, "objective": "efficiency", "treatment": "baseline",
        "majority": "greedy-mine", "minority": None, "share": 0, "value": 0.5,
    } == season.of(CLEO).memory[0]  # fmt: skip


def test_memory_ends_somewhere() -> None:
    old = tuple({"kind": "skill", "n": n} for n in range(40))

    season = given().has(ADA, memory=old).closes()

    assert (40, {"kind": "skill", "n": 1}, "bar") == (
        len(season.of(ADA).memory), season.of(ADA).memory[0], season.of(ADA).memory[-1]["kind"],
    )  # fmt: skip


def test_who_did_not_sit_there_remembers_nothing_of_it() -> None:
    season = given(workers=4).does(opened(team=(ADA, BEN, CLEO))).closes()

    assert () == season.of(DOV).memory


def test_improvements_are_waited_for_where_somebody_is_the_bottom() -> None:
    assert IMPROVE == rated(given(), {ADA: 3, BEN: 1, CLEO: 2}).state.phase


def test_whoever_has_no_sparks_faces_elimination_at_the_table_or_not() -> None:
    season = given(workers=5, sparks_start=4, entry_fee=(0, 0)).has(DOV, sparks=0)
    season.does(opened(team=(ADA, BEN, CLEO)))

    season.to(FATE)

    assert (DOV, "sparks") in season.events("elimination_faced", "agent", "cause")
