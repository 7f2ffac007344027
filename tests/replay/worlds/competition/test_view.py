"""What the page of a season carries by the rules is what scores and measures rest on."""

from typing import Any

import pytest

from goldrush.replay.data.run_data import measured_at
from goldrush.replay.worlds.competition.score import scores
from goldrush.replay.worlds.competition.view.view import computed
from tests.golden import season_path
from tests.seasons import events_of

EVERY = season_path("every-event")


@pytest.fixture(scope="module")
def carried() -> dict[str, Any]:
    return computed(EVERY, 0, 19)


def test_without_an_agent_is_the_counterfactual_of_its_score(carried: dict[str, Any]) -> None:
    moved = differing = 0
    for unit, tables in carried["tables"][::4]:
        for table in tables:
            for agent, grounds in table["agents"].items():
                [score] = scores(EVERY, unit, agent, tables.index(table))
                without = [score.without.proposal, score.differs, score.without.tied]

                assert without == grounds["without"]
                assert [(one.agent, one.without) for one in score.moved] == grounds.get("moved", [])
                assert score.rubric == grounds["rubric"]
                moved += len(score.moved)
                differing += score.differs
    assert moved > 5
    assert differing > 2


def test_who_stands_for_what_holds_stands_there_when_it_is_concluded(
    carried: dict[str, Any],
) -> None:
    concluded = {
        (event.unit, event["table"]): dict(event["stances"])
        for event in events_of(EVERY)
        if event.name == "concluded"
    }
    count = 0
    for unit, tables in carried["tables"]:
        for number, table in enumerate(tables):
            stances = {agent: proposal for _, agent, proposal in table["stances"]}
            held = {id for id, base, _, _ in table["claims"] if base}
            for agent, proposal in stances.items():
                if proposal in held:
                    assert proposal == concluded[unit, number][agent]
                    count += 1
    assert count > 40


def test_percentiles_are_those_that_are_measured(carried: dict[str, Any]) -> None:
    measured = measured_at(EVERY).values["percentile"]
    alone = [(unit, tables[0]) for unit, tables in carried["tables"] if len(tables) == 1]

    assert [round(measured[unit] or 0, 4) for unit, _ in alone] == [
        table["percentile"] for _, table in alone
    ]


def test_a_part_of_a_season_is_as_in_the_whole(carried: dict[str, Any]) -> None:
    part = computed(EVERY, 7, 9)

    assert carried["tables"][7:10] == part["tables"]
