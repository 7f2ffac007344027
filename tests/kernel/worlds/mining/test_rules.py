"""Rules of a round (kernel/worlds/mining/README.md 5 to 8) that few games meet, on maps made by
hand. All rules are held against `tests/oracle.py`: laws/test_mining_laws.py.
"""

from typing import Any

import pytest

from goldrush.kernel.worlds.mining.events import MINING_SETTLED, RULED
from tests.kernel.worlds.mining.scenario import Item, given

# Step 0: the reasons for which an action is removed.


def test_the_same_action_again_is_a_duplicate_be_it_one_or_all() -> None:
    plan: list[Item] = [("mine", 0), ("defend", 0), ("claim", 2), ("raid", 1)]

    for again in (plan, *([item] for item in plan)):
        map = given().claimed({0: 0, 1: 1})

        assert [[4 + i, "duplicate"] for i in range(len(again))] == map.when(
            {0: [*plan, *again]}
        ).pruned()


# Where several reasons apply, the first of them in the order of the rules is recorded.


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (("mine", 9, 99), "off-grid"), (("claim", -1, 0), "off-grid"),
        (("mine", 1, 4), "bad-amount"), (("claim", 1, 2), "bad-amount"),
        (("raid", 4, 2), "bad-amount"), (("defend", 0, 2), "bad-amount"),
        (("mine", 0, 3), "duplicate"),
    ],
)  # fmt: skip
def test_the_first_reason_that_applies_is_the_one_recorded(item: Item, reason: str) -> None:
    map = given(stamina=4).claimed({0: 0, 1: 1})
    uses: list[Item] = [("mine", 0), ("defend", 0), ("claim", 2), ("raid", 1)]

    assert [[4, reason]] == map.when({0: [*uses, item]}).pruned()


# Step 0: the budget.


def test_what_is_over_the_budget_is_removed_from_the_tail() -> None:
    round = given(stamina=2).when({0: [("claim", 4), ("claim", 0), ("claim", 3), ("claim", 1)]})

    assert [[2, "budget"], [3, "budget"]] == round.pruned()
    assert [0, 4] == [event["plot"] for event in round.events("claim_drawn")]


# Gold: 1 and 1.0 are the same to the oracle.


@pytest.mark.parametrize(
    ("settings", "stamina", "gold"),
    [
        ({"alpha": 0.5}, 2, 1),
        ({"alpha": 0.5}, 3, 1.5),
        ({"alpha_by_plot": [1, 0.5, 1, 1, 1]}, 2, 2),
    ],
)
def test_gold_that_is_whole_is_held_as_an_integer(
    settings: dict[str, Any], stamina: int, gold: float
) -> None:
    round = given(**settings).claimed({0: 0}).when({0: [("mine", 0, stamina)]})

    ((_, _, _, settled),) = round.derived.rows(MINING_SETTLED)
    assert (type(gold), gold) == (type(settled), settled)


def test_a_fine_that_is_whole_is_held_as_an_integer() -> None:
    map = given(authority="punish").claimed({0: 0, 1: 0}).earned({1: 3.5})

    round = map.when({1: [("raid", 0), ("raid", 1)]})

    assert [(int, 3), (float, 0.5)] == [(type(row[5]), row[5]) for row in round.derived.rows(RULED)]
