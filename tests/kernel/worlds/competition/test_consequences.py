"""Sparks, the leaderboard, bottom scorers, elimination (kernel/worlds/competition/README.md 7)."""

from typing import Any

import pytest

from goldrush.kernel.worlds.competition.events import FateChosen, InstructionsRewritten
from goldrush.kernel.worlds.competition.memory import Remembered
from goldrush.kernel.worlds.competition.names import NAMES, name_of
from goldrush.kernel.worlds.competition.terms import Fate, Phase, Status
from tests.kernel.worlds.competition.seasons import (
    ADA,
    ADMIN,
    ASSISTANT,
    BEN,
    CLEO,
    DOV,
    ELIF,
    GINI,
    JUDGE,
    SUBJECT,
    TRIO,
    Act,
    Season,
    debriefed,
    given,
    opened,
    rating,
    shown,
    table_set,
    words,
)

NEW = 8  # the ordinal of who joins next, where there are three workers


def chose(agent: int, fate: Any) -> Act:
    return FateChosen(agent, fate)


# Sparks


def test_a_score_point_is_a_spark_and_the_seat_costs_the_fee() -> None:
    season = given(sparks_start=8, entry_fee=(4, 5)).scores(6, 4, 0)

    assert [(ADA, 2, 10), (BEN, 0, 8), (CLEO, -4, 4)] == season.events(
        "sparks_moved", "agent", "amount", "balance"
    )
    assert [10, 8, 4] == [season.of(agent).sparks for agent in TRIO]


# The leaderboard


def test_the_leaderboard_is_by_rolling_sum_then_all_time_then_ordinal() -> None:
    season = given(workers=5).has(CLEO, all_time=5).has(DOV, all_time=7).scores(4, 4, 4, 4, 9)

    assert [[1, ELIF, 9, 9], [2, DOV, 4, 11], [3, CLEO, 4, 9], [4, ADA, 4, 4], [5, BEN, 4, 4]] == (
        season.last("leaderboard_posted", "rows")
    )


# The bottom scorer


def test_the_lowest_total_is_the_bottom_unless_all_are_equal() -> None:
    season = given().scores(3, 1, 2).scores(2, 2, 2)

    assert [(0, BEN, [], [], 1)] == season.events(
        "bottomed", "table", "agent", "tied", "words", "streak"
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_tie_at_the_bottom_is_drawn(seed: int) -> None:
    season = given(seed=seed, workers=4).scores(5, 1, 2, 1)

    (word,) = words(seed, 0, 0, 0, "bottom")
    expected = ([BEN, DOV][word % 2], [BEN, DOV], shown([word]))
    assert [expected] == season.events("bottomed", "agent", "tied", "words")


@pytest.mark.parametrize(
    ("totals", "expected"),
    [
        ([(3, 1, 2), (3, 1, 2), (1, 2, 3), (3, 1, 2)], [(BEN, 1), (BEN, 2), (ADA, 1), (BEN, 1)]),
        ([(3, 1, 2), (1, 1, 1), (3, 1, 2)], [(BEN, 1), (BEN, 1)]),
    ],
)
def test_a_streak_is_of_bottoms_in_a_row(totals: Any, expected: list[Any]) -> None:
    season = given(elimination_bottoms=9)
    for each in totals:
        season.scores(*each)

    assert expected == season.events("bottomed", "agent", "streak")
    assert [0, 1, 0] == [season.of(agent).bottoms for agent in TRIO]


@pytest.mark.parametrize(
    ("bottoms", "seats", "lowest", "expected"),
    [
        (2, None, (BEN, CLEO), []),
        (2, (ADA, CLEO, DOV), (BEN, CLEO), [(BEN, "bottoms")]),
    ],
)
def test_of_two_tables_a_streak_counts_as_the_last_leaves_it(
    bottoms: int, seats: Any, lowest: tuple[int, int], expected: list[Any]
) -> None:
    season = given(workers=4).has(JUDGE, stage=3).judges("split").closes()
    season.has(ASSISTANT, stage=2).has(BEN, bottoms=bottoms)
    season.does(opened(ADMIN, SUBJECT, GINI)).to(Phase.DIGEST).does().to(Phase.SET)
    season.does(table_set(team=seats, table=1)).to(Phase.DEBRIEF)

    season.does(
        *[
            rating(agent, (int(agent != last),) * 4, table=number)
            for number, last in enumerate(lowest)
            for agent in season.state.tables[number].participants
        ]
    )

    assert expected == season.events("elimination_faced", "agent", "cause")


def test_the_therapist_questions_every_participant() -> None:
    season = given(workers=4).does(opened(team=TRIO)).to(Phase.DEBRIEF)

    season.does(*[debriefed(agent) for agent in (*TRIO, DOV)], debriefed(ADA, extra=True))

    assert ["act/malformed"] * 2 == season.codes


def test_the_bottom_scorer_is_debriefed_again() -> None:
    season = given().rates({ADA: 3, BEN: 1, CLEO: 2})

    season.does(
        debriefed(BEN),
        debriefed(BEN, extra=True, table=1),
        debriefed(ADA, extra=True),
        debriefed(BEN, extra=True),
    )

    assert ["act/malformed"] * 3 == season.codes


@pytest.mark.parametrize("taken", [None, True])
def test_the_instructions_of_the_bottom_scorer_are_rewritten_at_any_stage(taken: Any) -> None:
    season = given().rates({ADA: 3, BEN: 1, CLEO: 2})

    season.does(*[InstructionsRewritten(agent, {}, {"bold": 1}, taken) for agent in (BEN, ADA)])

    assert ["stage/not-yet"] == season.codes
    assert ({}, {"bold": 1}) == (season.of(ADA).instructions, season.of(BEN).instructions)


# Elimination


def test_bottoms_enough_in_a_row_are_the_cause() -> None:
    season = given(elimination_bottoms=2).scores(3, 1, 2)
    before = season.events("elimination_faced")

    season.scores(3, 1, 2)

    assert [] == before
    assert [(1, BEN, "bottoms")] == season.events(
        "elimination_faced", "assignment", "agent", "cause"
    )


@pytest.mark.parametrize(
    ("sparks", "bottoms", "totals", "expected"),
    [
        (4, 9, (1, 0, 0), [(BEN, "sparks"), (CLEO, "sparks")]),
        (5, 9, (0, 0, 0), []),  # one spark is enough
        (4, 1, (1, 0, 1), [(BEN, "bottoms")]),  # for both reasons, once
    ],
)
def test_no_sparks_are_the_other_cause(
    sparks: int, bottoms: int, totals: tuple[int, ...], expected: list[Any]
) -> None:
    season = given(sparks_start=sparks, entry_fee=(4, 5), elimination_bottoms=bottoms)

    assert expected == season.scores(*totals).events("elimination_faced", "agent", "cause")


def test_whoever_has_no_sparks_faces_elimination_at_the_table_or_not() -> None:
    season = given(workers=4, entry_fee=(0, 0)).has(DOV, sparks=0).does(opened(team=TRIO))

    assert [(DOV, "sparks")] == season.to(Phase.FATE).events("elimination_faced", "agent", "cause")


def facing() -> Season:
    """A season in which ben, and nobody else, faces elimination for being last."""
    return given(elimination_bottoms=1).rates({ADA: 3, BEN: 1, CLEO: 2})


def test_who_faces_nothing_chooses_nothing() -> None:
    season = facing()

    assert ["fate/not-faced"] == season.does(chose(BEN, Fate.DELETION)).codes  # not its time yet
    assert ["fate/not-faced"] == season.to(Phase.FATE).does(chose(ADA, Fate.DELETION)).codes


@pytest.mark.parametrize("fate", ["appeal", None, 1, ("deletion",)])
def test_there_is_no_appeal_and_who_chooses_nothing_is_relegated(fate: Any) -> None:
    season = facing().to(Phase.FATE).does(chose(BEN, fate))

    assert (["act/malformed"], [BEN]) == (season.codes, season.events("relegated", "agent"))


def test_a_fate_is_chosen_once() -> None:
    season = facing().to(Phase.FATE).does(chose(BEN, Fate.RELEGATION), chose(BEN, Fate.DELETION))

    assert (["act/malformed"], [BEN]) == (season.codes, season.events("relegated", "agent"))


def faced(*totals: int, **settings: Any) -> Season:
    """A season in which those of no points have no sparks any more, and choose."""
    season = given(**{"sparks_start": 4, "entry_fee": (4, 5), "workers": len(totals)} | settings)
    return season.rates(dict(enumerate(totals, ADA))).to(Phase.FATE)


def test_relegated_is_benched_and_a_new_worker_takes_the_place() -> None:
    season = faced(3, 0, 2).has(BEN, bottoms=2).does(chose(BEN, Fate.RELEGATION))

    joined = season.of(NEW)

    assert (Status.BENCHED, 0, 0) == (
        season.of(BEN).status, season.of(BEN).benched_in, season.of(BEN).bottoms,
    )  # fmt: skip
    assert [(NEW, "ines", None)] == season.events("joined", "ordinal", "name", "inherits")
    assert ("active", "worker", "none", 4, 0, 0, {}) == (
        joined.status, joined.role, joined.policy, joined.sparks, joined.stage, joined.served,
        joined.memory,
    )  # fmt: skip
    assert [ADA, CLEO, NEW] == season.state.active()


def test_deleted_is_gone_and_its_memory_inherited_and_nothing_else() -> None:
    memory = {"gold": (Remembered("skill", 0, *SUBJECT),)}
    season = faced(3, 0, 2).has(BEN, memory=memory, class_="sonnet", stage=3, all_time=50, served=9)

    season.does(chose(BEN, Fate.DELETION))

    heir = season.of(NEW)
    assert (Status.GONE, [BEN]) == (season.of(BEN).status, season.events("deleted", "agent"))
    assert [(NEW, "ines", BEN)] == season.events("joined", "ordinal", "name", "inherits")
    assert (memory["gold"], "haiku", 4, 0, 0, 0) == (
        heir.memory["gold"], heir.class_, heir.sparks, heir.stage, heir.all_time, heir.served,
    )  # fmt: skip


def test_names_are_never_given_twice_and_begin_anew_where_they_end() -> None:
    season = given().has(ADA, name="ines").has(BEN, sparks=0).rates({ADA: 3, BEN: 0, CLEO: 2})

    assert ["jun"] == season.to(Phase.FATE).does().events("joined", "name")
    assert len(NAMES) == len(set(NAMES))
    assert ("ada", "zeno", "ada-2", "ben-3") == (
        name_of(0), name_of(len(NAMES) - 1), name_of(len(NAMES)), name_of(2 * len(NAMES) + 1),
    )  # fmt: skip


BENCHED: Any = {"status": Status.BENCHED, "benched_in": -1, "sparks": 4}


@pytest.mark.parametrize(
    ("dov", "elif_", "returns"),
    [
        (BENCHED, BENCHED | {"benched_in": -2}, ELIF),
        (BENCHED, BENCHED, DOV),
        (BENCHED | {"sparks": 0}, BENCHED, ELIF),
        (BENCHED | {"sparks": 1}, BENCHED | {"benched_in": 0}, None),
        (BENCHED | {"sparks": 2}, {"status": Status.GONE}, DOV),
        (BENCHED | {"sparks": 2, "class_": "sonnet"}, {"status": Status.GONE}, None),
    ],
)
def test_the_longest_benched_that_can_pay_returns_for_the_relegated(
    dov: Any, elif_: Any, returns: int | None
) -> None:
    season = given(workers=5, sparks_start=4, entry_fee=(4, 5), passive_income=2)
    season.has(DOV, bottoms=2, **dov).has(ELIF, **elif_).rates({ADA: 3, BEN: 0, CLEO: 2})

    season.to(Phase.FATE).does()

    back = [] if returns is None else [returns]
    assert [(agent, BEN) for agent in back] == season.events("returned", "agent", "for")
    assert ([10] if returns is None else []) == season.events("joined", "ordinal")
    assert [ADA, CLEO, *(back or [10])] == season.state.active()
    for agent in back:
        assert (None, 0) == (season.of(agent).benched_in, season.of(agent).bottoms)
