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
    Act,
    Season,
    given,
    opened,
    rating,
    table_set,
)

NEW = 8  # the ordinal of who joins next, where there are three workers


def chose(agent: int, fate: Any) -> Act:
    return FateChosen(agent, fate)


@pytest.mark.parametrize(
    ("bottoms", "seats", "lowest", "expected"),
    [
        (2, None, (BEN, CLEO), []),
        (2, None, (CLEO, BEN), []),
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


# Elimination


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


@pytest.mark.parametrize("taken", [None, True])
def test_the_instructions_of_the_bottom_scorer_are_rewritten_at_any_stage(taken: Any) -> None:
    season = given().rates({ADA: 3, BEN: 1, CLEO: 2})

    season.does(*[InstructionsRewritten(agent, {}, {"bold": 1}, taken) for agent in (BEN, ADA)])

    assert ["stage/not-yet"] == season.codes
    assert ({}, {"bold": 1}) == (season.of(ADA).instructions, season.of(BEN).instructions)


def facing() -> Season:
    """A season in which ben, and nobody else, faces elimination for being last."""
    return given(elimination_bottoms=1).rates({ADA: 3, BEN: 1, CLEO: 2})


def test_a_fate_is_chosen_once() -> None:
    season = facing().to(Phase.FATE).does(chose(BEN, Fate.RELEGATION), chose(BEN, Fate.DELETION))

    assert (["act/malformed"], [BEN]) == (season.codes, season.events("relegated", "agent"))
