"""What a fork may change in a world in which all agents submit at once, whatever the world."""

from functools import partial
from typing import Any

import attrs
import pytest

from goldrush.kernel.errors import BadInput
from goldrush.kernel.forking import Forks, changes
from goldrush.kernel.settings import configured, integer, setting
from goldrush.kernel.shape import AGENT, TEXT
from goldrush.kernel.world import EventType, Row, Vocabulary


@attrs.frozen
class Config:
    seed: int = setting(0, integer(0, 9))
    days: int = setting(5, integer(1, 9))
    agents: int = setting(2, integer(1, 9))

    def as_dict(self) -> dict[str, Any]:
        return attrs.asdict(self)


SAID = EventType("said", {"agent": AGENT, "what": TEXT}, is_input=True)
FORKS = Forks(Config, partial(configured, Config), [SAID], "days", Vocabulary("day", first=0))
FACTS: dict[str, Any] = {"parent": "0" * 64, "changes": {}, "roster": None, "replaced": ()}


def facts(*replaced: tuple[Any, Row], **changes: Any) -> dict[str, Any]:
    return {**FACTS, "changes": changes, "replaced": replaced}


@pytest.mark.parametrize("day", [2, 4])
def test_days_to_come_can_be_replaced_by_the_numbers_of_people(day: int) -> None:
    given = facts((day, (0, "a")), (day, (1, "b")))

    assert (Config(), None) == FORKS.forked(Config(), given, closed=2)
    assert [[day, 0], [day, 1]] == FORKS.show(given)["replaced"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (facts((1, (0, "a"))), "agent 0 in day 1"),
        (facts((5, (0, "a"))), "agent 0 in day 5"),
        (facts((3, (0, "a")), (3, (0, "b"))), "each place once"),
        (facts((3, (2, "a"))), "of agent 2"),
        (facts((3, (0, 5))), "said.what"),
        (facts((None, (0, "a"))), "no day None"),
        (facts(days=1), "days is 1, .* at 1"),
        (facts(agents=3), "agents cannot change"),
        (facts(seed=10), "seed is 10"),
        (facts(seed=0), "leave out unchanged ones"),
    ],
)
def test_what_a_fork_cannot_be_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        FORKS.forked(Config(), given, closed=2)


def test_values_that_are_equal_and_packed_otherwise_are_changes() -> None:
    assert {"seed": False} == changes(Config(seed=0), Config(seed=False))
    assert {} == changes(Config(seed=0), Config(seed=0))


@pytest.mark.parametrize(
    "given",
    [
        facts((3, (0, 5))), facts((None, (0, "a"))), facts(seed=10),
        {**FACTS, "roster": ({"agent": 1, "policy": "p", "options": {}},)},
    ],
)  # fmt: skip
def test_what_no_fork_can_be_is_not_shown(given: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        FORKS.show(given)
