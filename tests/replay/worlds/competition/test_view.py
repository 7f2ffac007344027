"""What the page of a season has by the rules is what scores, proofs and tables rest on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.journal import JournalReader
from goldrush.kernel.walk import ROWS, Walk
from goldrush.replay.find import tools_at
from goldrush.replay.view.shown import shown_of
from goldrush.replay.worlds.competition.ended import ended, ended_at
from goldrush.replay.worlds.competition.right import sides
from goldrush.replay.worlds.competition.steps import season_world
from tests.golden import season_path
from tests.journals import events_of
from tests.replay.worlds.competition.told import assignments_of
from tests.seasons import kept
from tests.stances import apart, odd, silent

EVERY = season_path("every-event")
Units = dict[int, list[tuple[str, dict[str, Any]]]]


def shown(path: Path, first: int | None = None, last: int | None = None) -> dict[str, Any]:
    """What the page of a season shows."""
    return shown_of(path, tools_at(path), (first, last)).as_dict()


def tables(run: dict[str, Any]) -> dict[int, list[Any]]:
    """The tables of a page by assignment."""
    [field] = [field for field in run["fields"] if field["name"] == "tables"]
    return dict(zip(run["stated"], field["values"], strict=True))


def behind(run: dict[str, Any]) -> Units:
    """By assignment the events of a page: their names, and what is behind their lines."""
    units: Units = {}
    for unit, groups in enumerate(run["lines"], run["first"]):
        lines = [line for _, of, _ in groups for line in of]
        units[unit] = [(run["templates"][line[0]][0], more(line)) for line in lines]
    return units


def more(line: list[Any]) -> dict[str, Any]:
    behind = line[-1] if isinstance(line[-1], dict) else {}
    return {**behind, **behind.get("behind", {})}


@pytest.mark.parametrize("name", ["every-code", "every-event"])
def test_whatever_anybody_does_its_contributions_are_those_of_the_table(name: str) -> None:
    path = season_path(name)
    events = behind(shown(path))
    with JournalReader(path) as reader:
        world = season_world(reader)
        for unit, assignment in enumerate(ended(world, Walk(world, reader, ROWS))):
            for table in assignment.state.tables:
                spoken = [
                    more for name, more in events[unit]
                    if name == "spoke" and more.get("table", 0) == table.number
                ]  # fmt: skip
                assert [each.id for each in table.contributions if each.code is None] == [
                    more["id"] for more in spoken if "refused" not in more
                ]
                assert not any("id" in more for more in spoken if "refused" in more)
    for one in assignments_of(path):
        codes = [one.code(event) for event in one.all("spoke")]
        spoken = [more for name, more in events[one.number] if name == "spoke"]
        assert len(codes) == len(spoken)
        for code, more in zip(codes, spoken, strict=True):
            assert (code is not None) == ("refused" in more or more.get("table") == -1)


def test_a_claim_is_shown_with_its_test() -> None:
    compared = 0
    for unit, events in behind(shown(EVERY)).items():
        claims: dict[int, dict[int, list[Any]]] = {}
        for name, more in events:
            if name == "spoke" and "claim" in more:
                claims.setdefault(more.get("table", 0), {})[more["id"]] = more["claim"]
        for table in ended_at(EVERY, unit).state.tables:
            for said in table.proposals():
                compared += 1
                claimed, test, held = claims[table.number][said.id]
                assert [claimed, test] == pytest.approx(
                    [said.claimed, table.base_value(said)], 1e-5
                )
                assert held == table.held(said.id, "base")
    assert compared > 20


def rich() -> Path:
    return kept("rich")


@pytest.mark.parametrize("season", [odd, apart, silent, rich])
def test_sides_and_scores_are_those_of_the_proof(season: Callable[[], Path]) -> None:
    path = season()
    found = tables(shown(path))
    totals: dict[tuple[int, int], dict[int, int]] = {}
    reasons = {
        (event.unit, event["table"], event["agent"]): list(event["reasons"])
        for event in events_of(path)
        if event.name == "rated"
    }
    for event in events_of(path):
        if event.name == "scored":
            totals.setdefault((event.unit, event["table"]), {})[event["agent"]] = event["total"]
    for unit, of_unit in found.items():
        own = ended_at(path, unit).state.tables if unit >= 0 else []
        for roundtable, table in zip(own, of_unit, strict=True):
            stances = [[s.agent, s.talked, s.proven, s.final] for s in sides(roundtable)]
            assert stances == table["sides"]
            assert roundtable.bar == pytest.approx(table["bar"], 1e-5)
            assert totals.get((unit, roundtable.number), {}) == {
                agent: total for agent, _, total, _ in table["scores"]
            }
            for agent, _, _, given in table["scores"]:
                assert reasons.get((unit, roundtable.number, agent), []) == given
    assert reasons or season is silent
