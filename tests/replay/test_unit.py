"""A unit of any world as text: the declared fields of its state."""

from typing import Any

import attrs
import pytest

from goldrush.kernel.world import RecordedEvent, Vocabulary
from goldrush.replay.find import tools_at
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.tools import Tools
from goldrush.replay.unit import format_unit
from tests.golden import path_of


@attrs.frozen
class Unit:
    """A unit with these fields, of agents a and b."""

    state: dict[str, Any]
    events: tuple[RecordedEvent, ...] = ()
    round: int = 3
    digest: int = 255
    vocabulary: Vocabulary = attrs.field(factory=Vocabulary)


class FieldTools(Tools):
    def labels(self, state: Any) -> list[str]:
        return ["raid", "claim"]

    def fields(self, unit: Any) -> dict[str, Any]:
        return {**unit.state}


def told(**fields: Any) -> str:
    return format_unit(Unit(fields), FieldTools())  # type: ignore[arg-type]


def test_what_each_agent_has_is_a_table() -> None:
    text = told(gold=[1.5, 20], status=["in", "out"], memo=[None, None]).split("\n\n")[1]

    assert "agent  who    gold  status\n    0  raid    1.5  in\n    1  claim    20  out" == text


def test_a_grid_has_the_numbers_of_its_rows() -> None:
    *_, grid = told(owner=[[0, None, 1], [12, 0, None]]).split("\n\n")

    assert ["owner", "   0 1 2", "0  0 . 1", "1 12 0 ."] == grid.split("\n")


@pytest.mark.parametrize("round", [0, 1, 9])
def test_the_fields_of_mining_are_those_of_its_state(round: int) -> None:
    unit = rebuild(path_of("baseline"), round)
    state, fields = unit.state, tools_at(path_of("baseline")).fields(unit)
    assert fields is not None
    owners = [owner for row in fields["owner"] for owner in row]
    since = [start for row in fields["since"] for start in row]

    assert owners == state.owner
    assert state.config.cols == len(fields["owner"][0])
    assert [owners.count(agent) for agent in range(state.config.agents)] == fields["plots"]
    assert all(
        start == (None if owner is None else state.since[plot])
        for plot, (owner, start) in enumerate(zip(owners, since, strict=True))
    )
    assert list(state.gold) == fields["gold"]
    kinds = ("defend", "mine", "claim", "raid")
    assert [list(spent) for spent in state.spent] == [
        list(of) for of in zip(*(fields[f"spent_{kind}"] for kind in kinds), strict=True)
    ]
    assert fields["captured"] == [
        sum(state.how[plot] == 2 for plot in plots) for plots in state.plots_of
    ]
