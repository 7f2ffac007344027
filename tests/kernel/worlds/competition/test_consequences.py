"""Sparks, the leaderboard, bottom scorers, elimination (kernel/worlds/competition/README.md 7)."""

from typing import Any

import pytest

from goldrush.kernel.worlds.competition.events import FateChosen
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
    GINI,
    JUDGE,
    SUBJECT,
    Season,
    given,
    opened,
    rating,
    table_set,
)

NEW = 8  # the ordinal of who joins next, where there are three workers


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


def faced() -> Season:
    """A season in which ben has no sparks any more, and chooses."""
    season = given(sparks_start=4, entry_fee=(4, 5))
    return season.rates({ADA: 3, BEN: 0, CLEO: 2}).to(Phase.FATE)


def test_who_is_relegated_has_no_streak_any_more() -> None:
    ben = faced().has(BEN, bottoms=2).does(FateChosen(BEN, Fate.RELEGATION)).of(BEN)

    assert (Status.BENCHED, 0, 0) == (ben.status, ben.benched_in, ben.bottoms)


def test_deleted_is_gone_and_its_memory_inherited_and_nothing_else() -> None:
    memory = {"gold": (Remembered("skill", 0, *SUBJECT),)}
    season = faced().has(BEN, memory=memory, class_="sonnet", stage=3, all_time=50, served=9)

    season.does(FateChosen(BEN, Fate.DELETION))

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
