"""An assignment from its opening to its close (kernel/worlds/competition/README.md 2, 4, 5)."""

from typing import Any

import pytest

from goldrush.kernel.worlds.competition.events import ClassMoved
from goldrush.kernel.worlds.competition.terms import Phase
from tests.kernel.worlds.competition.seasons import (
    ADA,
    ADMIN,
    ASSISTANT,
    BEN,
    CLEO,
    DOV,
    FALSE,
    GINI,
    JUDGE,
    MINERS,
    RAIDERS,
    SUBJECT,
    TRIO,
    TRUCE,
    Season,
    adopted,
    digested,
    given,
    opened,
    propose,
    support,
)

# Opened


def test_an_opening_says_the_day_and_the_project_of_the_calendar() -> None:
    season = given(assignments_per_day=2, assignments_per_project=3).closes(3)

    for wrong in ({"day": 0}, {"project": 0}):
        assert ["act/malformed"] == season.does(season.opened()._replace(**wrong)).codes
    assert [] == season.does(opened(day=1, project=1)).codes


def test_who_is_benched_opens_nothing_and_moves_to_no_other_class() -> None:
    season = given(workers=4).has(ADA, stage=3, status="benched")

    season.does(ClassMoved(ADA, "sonnet", True), opened(ADA, GINI))

    assert ["act/malformed", "stage/not-yet"] == season.codes


# Table set


def test_the_directives_team_sits_at_the_table_in_its_order() -> None:
    season = given(workers=4).does(opened(team=(DOV, ADA, CLEO), order=(DOV, BEN)))

    found = season.to(Phase.SPEAK).events("roundtable_opened", "participants", "order", "words")

    assert [([ADA, CLEO, DOV], [DOV, ADA, CLEO], [])] == found


@pytest.mark.parametrize(
    ("settings", "signal"), [({"moves": 1}, "clean"), ({}, "converged"), ({"rounds_max": 1}, None)]
)
def test_a_table_ends_when_moves_are_spent_or_converged_or_with_its_last_round(
    settings: dict[str, Any], signal: Any
) -> None:
    season = given(**settings).says(propose(ADA), support(BEN, 0), propose(CLEO, RAIDERS))

    season.judges(signal) if signal else season.to(Phase.JUDGE).does()

    assert Phase.PROVE == season.phase


# Concluded: the digest and the adoption


def test_what_was_rejected_first_is_not_adopted() -> None:
    season = given().has(ASSISTANT, stage=4).worth({(MINERS, TRUCE): FALSE})

    season.says(propose(ADA, edge=TRUCE)).to(Phase.DIGEST).does(digested(rejected=True))

    assert ([], Phase.DEBRIEF) == (season.codes, season.phase)
    assert ["act/malformed"] == season.does(adopted()).codes
    assert {} == season.state.accepted


# Two tables


def split(*subjects: Any) -> Season:
    """A season whose judge recommended two tables, opened about these."""
    season = given().has(JUDGE, stage=3).judges("split").closes()
    return season.does(opened(ADMIN, *subjects, order=TRIO))


def test_two_tables_are_held_one_after_the_other_and_debriefed_together() -> None:
    season = split(SUBJECT, GINI)

    season.says(propose(ADA)).to(Phase.DIGEST).does(digested()).to(Phase.SET)

    assert ([], 1, GINI) == (season.codes, season.table.number, season.table.subject.key)
    season.says(propose(BEN, ("mine", None, 0, TRUCE), 0.25)).closes()
    assert [0, 0, 0, 1, 1, 1] == season.events("scored", "table")[3:]
    assert [0, 0, 0, 1, 1, 1] == season.events("sparks_moved", "table")[3:]
    assert [2, 2, 2, 2, 2] == [season.of(agent).served for agent in (ADMIN, JUDGE, *TRIO)]


@pytest.mark.parametrize(
    "subjects",
    [
        (SUBJECT, SUBJECT),
        (SUBJECT, GINI, ("gini", "cap-2")),
    ],
)
def test_two_tables_have_two_treatments(subjects: Any) -> None:
    assert ["act/malformed"] == split(*subjects).codes
