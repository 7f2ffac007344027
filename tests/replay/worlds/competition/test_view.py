"""What the page of a season carries by the rules is what scores and measures rest on."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.journal import JournalReader
from goldrush.kernel.worlds.competition.table import Stances
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.worlds.competition.played import played
from goldrush.replay.worlds.competition.score import grounds_of, scores
from goldrush.replay.worlds.competition.steps import season_world
from goldrush.replay.worlds.competition.view.view import computed
from tests.golden import season_path
from tests.journals import events_of
from tests.seasons import kept
from tests.stances import apart, odd, silent

EVERY = season_path("every-event")


@pytest.fixture(scope="module")
def carried() -> dict[str, Any]:
    return computed(EVERY, 0, 19)


def test_without_an_agent_is_the_counterfactual_of_its_score(carried: dict[str, Any]) -> None:
    moved = differing = 0
    for unit, tables in with_lines(carried)[::4]:
        for table in tables:
            for agent, grounds in table["agents"].items():
                [score] = scores(EVERY, unit, agent, tables.index(table))
                without = [score.without.proposal, score.differs, score.without.tied]

                assert without == grounds["without"]
                assert grounds_of(score) == grounds["says"]
                assert [(one.agent, one.without) for one in score.went] == [
                    (other, stance) for other, stance in grounds.get("went", []) if other != agent
                ]
                assert score.gone == grounds.get("gone", [])
                assert score.rubric == grounds["rubric"]
                moved += len(score.moved)
                differing += score.differs
    assert moved > 5
    assert differing > 2


def with_lines(carried: dict[str, Any]) -> list[Any]:
    """The tables by assignment, with the grounds of scores as the page shows them."""
    tables = deepcopy(carried["tables"])
    patterns = carried["patterns"]
    for table in (table for _, of in tables for table in of):
        table["says"] = {
            subject: _unpacked(patterns, *line) for subject, line in table["says"].items()
        }
        table["challenges"] = [
            (is_right, _unpacked(patterns, *line)) for is_right, line in table["challenges"]
        ]
    for grounds in (each for _, of in tables for table in of for each in table["agents"].values()):
        grounds["says"] = [
            [_unpacked(patterns, *line) for line in lines] for lines in grounds["says"]
        ]
    return list(tables)


def _unpacked(patterns: list[list[str]], index: int, *numbers: object) -> str:
    return "".join(map("".join, zip(patterns[index], [*map(str, numbers), ""], strict=True)))


def rich() -> Path:
    return kept("rich")


@pytest.mark.parametrize("season", [odd, apart, silent, rich])
def test_sides_go_from_the_end_of_the_talk_through_the_proof_to_the_end(
    season: Callable[[], Path],
) -> None:
    path = season()
    events = events_of(path)
    concluded = {(e.unit, e["table"]): dict(e["stances"]) for e in events if e.name == "concluded"}
    refused = [(e.unit, e["act"]["table"], e["act"]["agent"]) for e in events
               if e.name == "refused" and e["act"]["event"] == "stood"]  # fmt: skip
    given = {
        (e.unit, e["table"], e["agent"]): e["target"] for e in events
        if e.name == "stood" and (e.unit, e["table"], e["agent"]) not in refused
    }  # fmt: skip
    last = max(e.unit for e in events if e.name == "concluded")
    moved = 0
    for unit, tables in computed(path, 0, last)["tables"]:
        for number, table in enumerate(tables):
            stances: dict[int, int | None] = {}
            for _, agent, proposal in table["stances"]:
                stances[agent] = proposal
            holds = {id: base for id, base, _, _ in table["claims"]}
            for agent, talked, proven, final in table["sides"]:
                assert talked == stances.get(agent)
                assert final == concluded[unit, number].get(agent)
                assert final == given.get((unit, number, agent), proven)
                assert proven is None or holds[proven]
                if talked is not None and holds[talked]:
                    assert proven == talked
                moved += talked != proven
    assert bool(moved) == (season is not silent)


@pytest.mark.parametrize("season", [odd, apart, rich])
def test_what_is_left_out_without_an_agent_gives_the_counterfactual_of_the_rules(
    season: Callable[[], Path],
) -> None:
    count = 0
    with JournalReader(season()) as reader:
        for one in played(season_world(reader), reader):
            is_shared = one.state.config.table
            for table in one.state.tables:
                for agent in table.participants:
                    without = table.counterfactual(agent, is_shared=is_shared)
                    gone = without.gone
                    other = Stances()
                    for said in table.counted():
                        if said.id in gone:
                            continue
                        other.take(said)
                        is_base = said.move == "challenge" and said.part == "base"
                        if is_base and table.held(*said.challenged) is False:
                            other.refute(said.challenged[0])

                    assert other.by_agent == without.talked.by_agent
                    count += len(gone) > len(table.removed)
    assert count > 5


def test_percentiles_are_those_that_are_measured(carried: dict[str, Any]) -> None:
    measured = measured_at(EVERY).values["percentile"]
    alone = [(unit, tables[0]) for unit, tables in carried["tables"] if len(tables) == 1]

    assert [round(measured[unit] or 0, 4) for unit, _ in alone] == [
        table["percentile"] for _, table in alone
    ]


def test_a_part_of_a_season_is_as_in_the_whole(carried: dict[str, Any]) -> None:
    part = computed(EVERY, 7, 9)

    assert with_lines(carried)[7:10] == with_lines(part)
