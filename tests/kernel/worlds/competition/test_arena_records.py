"""The record of an arena in a setup, what it says of subjects, and seasons whose arena is not here
(kernel/worlds/competition/README.md 4). What the arenas themselves are: test_arenas.py.
"""

from typing import Any

import attrs
import pytest

from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.competition import NAME, competition
from goldrush.kernel.worlds.competition.arena import DOWN, UP, Subject, arena_of
from goldrush.kernel.worlds.competition.arenas import mining
from tests.kernel.worlds.competition.seasons import (
    BITS,
    MINING,
    SUBJECT,
    cast_of,
    given,
)

# Records


def test_a_record_read_again_is_the_same_arena() -> None:
    record = MINING.as_dict()

    assert MINING == arena_of(record)
    assert MINING == arena_of({**record, "subjects": [list(s) for s in record["subjects"]]})


ONE = ("value", "up", "0.0", "0")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "NK"), ("name", "n" * 33), ("name", "n\n"), ("version", 0), ("options", []),
        ("options", {}), ("options", {"seeds": 0}), ("options", {"seeds": 101}),
        ("options", {"seeds": 1, 2: 3}), ("subjects", []), ("subjects", [ONE[:3]]),
        ("subjects", ["four"]), ("subjects", [("value", "sideways", "0.0", "0")]),
        ("subjects", [ONE, ONE]), ("subjects", [ONE, ("value", "up", "0.0", "1")]),
        ("subjects", [ONE, ("value", "down", "0.1", "0")]), ("subjects", [ONE] * 200_001),
    ],
)  # fmt: skip
def test_what_is_no_record_of_an_arena_is_refused(field: str, value: Any) -> None:
    with pytest.raises(BadInput, match="arena: "):
        arena_of({**BITS.as_dict(), field: value})


@pytest.mark.parametrize(
    "record",
    [
        None,
        {},
        dict(reversed(BITS.as_dict().items())),
        BITS.as_dict() | {"x": 1},
    ],
)
def test_a_record_has_four_fields_in_order(record: Any) -> None:
    with pytest.raises(BadInput, match="arena: "):
        arena_of(record)


def test_objectives_and_families_are_in_the_order_of_the_subjects() -> None:
    rows = [("b", UP, "2", "g"), ("a", DOWN, "1", "f"), ("b", UP, "1", "g")]

    arena = attrs.evolve(BITS, subjects=tuple(Subject(*row) for row in rows))

    assert ("b", "a") == arena.objectives
    assert [["2", "1"], ["1"]] == [[s.treatment for s in family] for family in arena.families]


@pytest.mark.parametrize(
    ("key", "found"),
    [
        (SUBJECT, True), (("efficiency", "paradise"), False),
        (("baseline", "efficiency"), False), (list(SUBJECT), False), ((*SUBJECT, "up"), False),
        (([], {}), False),
    ],
)  # fmt: skip
def test_a_subject_is_found_by_objective_and_treatment(key: Any, found: bool) -> None:
    assert (MINING.by_key[SUBJECT] if found else None) == MINING.subject(key)


# Better and worse


@pytest.mark.parametrize(
    ("better", "value", "other", "holds", "beats"),
    [
        (UP, 0.6, 0.5, True, True), (UP, 0.5, 0.5, True, False), (UP, 0.4, 0.5, False, False),
        (DOWN, 0.6, 0.5, False, False), (DOWN, 0.4, 0.5, True, True),
        (UP, None, 0.5, False, False), (UP, 0.5, None, False, True),
        (UP, None, None, False, False),
    ],
)  # fmt: skip
def test_better_and_as_good(better: str, value: Any, other: Any, holds: bool, beats: bool) -> None:
    subject = Subject("o", better, "t", "f")

    assert (holds, beats) == (subject.holds(value, other), subject.beats(value, other))


# Arenas that are not here

WHY = "the arena mining is not installed"


def test_nothing_is_decided_without_the_rules() -> None:
    season = given().to("set")
    season.world = competition(None, WHY)
    season.state.rules = None

    with pytest.raises(LookupError, match="the arena mining is not installed"):
        season.does(season.tested(conduct=None))


def test_the_rules_are_those_of_the_recorded_arena() -> None:
    setup = {"config": given().config.as_dict(), "cast": cast_of(3)}
    others = attrs.evolve(MINING, options={**MINING.options, "seeds": 3})

    for rules in (given(arena=BITS).state.rules, mining.ARENA.rules_of(others)):
        with pytest.raises(BadInput, match="not the rules of the arena mining"):
            competition(rules).initial(setup)
    assert None is competition(None, WHY).initial(setup).rules
    assert (NAME, 3) == (competition(None).name, competition(None).rules)
