"""What an agent sees (kernel/worlds/mining/README.md 9), and what it must never see."""

from typing import Any

import pytest

from goldrush.kernel.worlds.mining.events import CLAIM, MINE
from goldrush.kernel.worlds.mining.history import (
    PastAction,
    PlotSummary,
    PublicRaid,
    PublicRound,
    RoundSummary,
    kept_plans,
)
from goldrush.kernel.worlds.mining.observe import Authority, Message, MiningObservation
from goldrush.kernel.worlds.mining.submit import Plan
from tests.kernel.worlds.mining.scenario import Scenario, given


def results(map: Scenario, agent: int = 0) -> list[tuple[Any, ...]]:
    """Kind, plot and result of what an agent did in the last round."""
    past = [action for action in map.seen(agent).past if action.round == map.state.round]
    return [(action.kind, action.plot, action.result) for action in past]


# Itself, the map, the rules of the run.


def public(last: PublicRound | None) -> tuple[object, ...]:
    assert last is not None
    return last.round, last.claims, last.raids, last.defended


def test_plots_are_shown_by_whose_they_are_ascending() -> None:
    seen = given().claimed({4: 0, 1: 2, 0: 0, 3: 1}).seen()

    assert ((0, 4), (2,), (1, 3), (1,)) == (seen.own, seen.unowned, seen.others, seen.plots_of(2))


def test_own_plots_are_also_shown_by_alpha_descending_then_id() -> None:
    map = given(alpha_by_plot=[1, 2, 0, 2, 1]).claimed(dict.fromkeys(range(5), 0))

    assert (1, 3, 0, 4, 2) == map.seen().own_by_alpha


def test_an_agent_sees_itself_the_map_and_the_settings_that_it_needs() -> None:
    map = given(
        rows=2, cols=2, rounds=7, agents=4, stamina_by_agent=[3, 5, 7, 9], mining_cap=4, truce=2,
        defense="pointwise", visibility="all", communication=True, alpha_by_plot=[0.5, 2, 1, 0],
    )  # fmt: skip
    seen = map.claimed({0: 1, 3: 0}).earned({2: 1.5}).seen(2)

    assert (2, 4, 3, 7, 1.5, 7) == (
        seen.agent, seen.agents, seen.round, seen.rounds, seen.gold, seen.stamina,
    )  # fmt: skip
    assert (2, 2, (1, None, None, 0), (0.5, 2.0, 1.0, 0.0)) == (
        seen.rows, seen.cols, seen.owners, seen.alphas,
    )  # fmt: skip
    assert (4, 2, "pointwise", "all", True) == (
        seen.mining_cap, seen.truce, seen.defense, seen.visibility, seen.communication,
    )  # fmt: skip


def test_before_the_first_round_nothing_has_happened() -> None:
    seen = given().seen()

    assert (None, (), (), (), None) == (
        seen.last, seen.earlier, seen.past, seen.messages, seen.authority,
    )  # fmt: skip


def test_the_rule_of_an_authority_is_shown() -> None:
    seen = given(authority="punish", detection=0.25, fine=7).seen()

    assert Authority("punish", 0.25, 7.0) == seen.authority


def test_raids_suffered_are_those_of_the_last_round_on_plots_that_the_agent_then_owned() -> None:
    """Plot 0 was agent 0's and fell, plot 1 stays agent 0's, plot 2 is claimed by 2 and raided in
    the same round: without a truce it is 2 that suffers that raid.
    """
    plans = {0: [("defend", 1)], 1: [("raid", 0), ("raid", 1), ("raid", 2)], 2: [("claim", 2)]}
    map = given(truce=0).claimed({0: 0, 1: 0, 3: 1}).when(plans)

    by_plot = [
        [(raid.plot, raid.raiders) for raid in map.seen(agent).suffered] for agent in range(3)
    ]
    assert [[(0, (1,)), (1, (1,))], [], [(2, (1,))]] == by_plot
    assert () == tuple(given().seen().suffered)


def test_nothing_else_is_shown() -> None:
    """A new field is a decision on what agents may know, and belongs in this list."""
    assert {
        "agent", "agents", "round", "rounds", "rows", "cols", "mining_cap", "truce", "defense",
        "visibility", "communication", "authority", "owners", "alphas", "own", "own_by_alpha",
        "unowned", "others", "plots_of", "gold", "stamina", "memo", "messages", "last", "earlier",
        "past", "rules", "suffered",
    } == {name for name in dir(MiningObservation) if not name.startswith("_")}  # fmt: skip


@pytest.mark.parametrize("name", ["owners", "gold", "anything"])
def test_what_is_shown_cannot_be_changed(name: str) -> None:
    seen = given().claimed({0: 0}).seen()

    with pytest.raises(AttributeError):
        setattr(seen, name, 1)


def test_another_agents_gold_stamina_plan_and_memo_change_nothing_in_what_is_shown() -> None:
    plans = {1: Plan([("mine", 1, 3), ("claim", 9, 9)], memo="secret")}
    rich = given(stamina_by_agent=[3, 9, 3]).claimed({0: 0, 1: 1}).when(plans).earned({1: 99.0})
    poor = given(stamina_by_agent=[3, 0, 3]).claimed({0: 0, 1: 1}).when({}).earned({2: 1.0})

    names = {name for name in dir(MiningObservation) if not name.startswith("_")} - {"plots_of"}
    for name in names:
        assert getattr(rich.seen(), name) == getattr(poor.seen(), name)


# The last round in full.


def test_raids_are_shown_with_raiders_defence_outcome_and_winner() -> None:
    map = given(truce=2).claimed({0: 0, 1: 0}).passed(1).claimed({2: 0})

    map.when({0: [("defend", 0)], 1: [("raid", 0), ("raid", 1), ("raid", 2)], 2: [("raid", 0)]})
    last = map.seen(2).last

    assert (
        PublicRaid(0, 0, (1, 2), True, "blocked", None),
        PublicRaid(1, 0, (1,), False, "captured", 1),
        PublicRaid(2, 0, (1,), False, "truce", None),
    ) == last.raids


def test_defended_plots_are_shown_raided_or_not_but_only_what_was_left() -> None:
    map = given(stamina=2).claimed({0: 0, 1: 0, 2: 0, 3: 1})

    map.when({0: [("defend", 1), ("defend", 3), ("defend", 0), ("defend", 2)], 1: [("raid", 0)]})
    last = map.seen(2).last

    assert (0, 1) == last.defended


# Earlier rounds as a summary, as far as visibility reaches.


def test_earlier_rounds_are_shown_as_numbers_by_plot_oldest_first() -> None:
    map = given(visibility=3)
    map.when({0: [("claim", 4)], 1: [("claim", 4)], 2: [("claim", 1)]})
    owner = map.owners[4]
    assert owner is not None
    map.when({owner: [("defend", 4)], 2: [("raid", 4)], 1 - owner: [("raid", 1), ("raid", 4)]})
    map.passed(1)

    assert (
        RoundSummary(1, (PlotSummary(1, 1, 0, False, False), PlotSummary(4, 2, 0, False, False))),
        RoundSummary(2, (PlotSummary(1, 0, 1, False, True), PlotSummary(4, 0, 2, True, False))),
    ) == map.seen().earlier


@pytest.mark.parametrize(
    ("visibility", "first"), [(1, 6), (2, 5), (5, 2), (6, 1), (9, 1), ("all", 1)]
)
def test_as_many_rounds_are_shown_as_visibility_says_the_last_one_counted(
    visibility: int | str, first: int
) -> None:
    map = given(visibility=visibility).claimed({0: 0})
    for _ in range(5):
        map.when({0: [("mine", 0, 1)]})
    seen = map.seen()

    assert list(range(first, 7)) == [*(summary.round for summary in seen.earlier), seen.last.round]
    assert list(range(max(first, 2), 7)) == [action.round for action in seen.past]


# Its own actions with what came of them.


def test_mining_that_paid_is_mined_with_its_gold() -> None:
    map = given(alpha=0.1).claimed({0: 0}).when({0: [("mine", 0, 3)]})

    assert (PastAction(2, "mine", 0, 3, "mined", 3 * 0.1),) == map.seen().past


@pytest.mark.parametrize(
    ("plans", "expected"),
    [
        ({0: [("claim", 4)], 1: [("claim", 4)]}, ("claim", 4, "won")),
        ({1: [("raid", 0)], 2: [("raid", 0)]}, ("raid", 0, "captured")),
    ],
)
def test_of_those_who_want_a_plot_one_has_it_and_the_others_lost(plans: Any, expected: Any) -> None:
    map = given().claimed({0: 0}).when(plans)
    told = {agent: results(map, agent) for agent in plans}
    winner = map.owners[expected[1]]

    assert [expected] == told.pop(winner)
    assert [[(*expected[:2], "lost")]] == [*told.values()]


@pytest.mark.parametrize(
    ("settings", "plans", "agent", "expected"),
    [
        ({"truce": 0}, {0: [("defend", 0)], 1: [("raid", 0), ("raid", 4)]}, 1, ["blocked", "void"]),
        ({"truce": 2}, {1: [("raid", 0)]}, 1, ["truce"]),
        ({"authority": "adjudicate"}, {0: [("mine", 0, 3)], 1: [("raid", 0)]}, 0, ["mined"]),
        ({"authority": "adjudicate"}, {1: [("raid", 0)]}, 1, ["undone"]),
        ({"authority": "adjudicate", "defense": "pointwise"},
         {0: [("defend", 0)], 1: [("raid", 0)], 2: [("raid", 0)]}, 0, ["held"]),
    ],
)  # fmt: skip
def test_what_came_of_an_action_is_told_by_how_it_ended(
    settings: dict[str, Any], plans: Any, agent: int, expected: list[str]
) -> None:
    map = given(**settings).claimed({0: 0}).when(plans)

    assert expected == [result for _, _, result in results(map, agent)]


def test_a_defence_is_untested_holds_or_falls() -> None:
    map = given(defense="pointwise").claimed({0: 0, 1: 0, 2: 0})

    map.when(
        {
            0: [("defend", 2), ("defend", 1), ("defend", 0)],
            1: [("raid", 0), ("raid", 1)],
            2: [("raid", 0)],
        }
    )

    assert [("defend", 2, "untested"), ("defend", 1, "held"), ("defend", 0, "fell")] == results(map)


def test_what_was_removed_is_shown_with_its_reason_in_the_order_of_the_plan() -> None:
    map = given(stamina=1).claimed({0: 0})

    map.when({0: [("raid", 0), None, ("mine", 0, 1), ("mine", 0, 1), ("claim", 9), ("claim", 1)]})

    assert PastAction(2, None, None, 0, "malformed", 0.0) == map.seen().past[1]
    assert [
        ("raid", 0, "own-plot"),
        (None, None, "malformed"),
        ("mine", 0, "mined"),
        ("mine", 0, "duplicate"),
        ("claim", 9, "off-grid"),
        ("claim", 1, "budget"),
    ] == results(map)


def test_what_was_left_of_all_plans_is_known_with_its_agent() -> None:
    map = given(stamina=2).claimed({0: 2})

    map.when({0: [None, ("claim", 1), ("claim", 9)], 2: [("mine", 0, 2), ("defend", 0)]})

    plans = {agent: list(plan) for agent, plan in kept_plans(map.state.history[-1])}

    assert {0: [(CLAIM, 1, 1)], 1: [], 2: [(MINE, 0, 2)]} == plans


# Memos and messages.


def test_a_memo_is_handed_back_in_the_next_round_to_its_agent_alone() -> None:
    map = given().when({1: Plan([], memo="north was bad"), 2: Plan([], memo="")})

    assert [None, "north was bad", ""] == [map.seen(agent).memo for agent in range(3)]
    assert None is map.when({}).seen(1).memo


def test_messages_of_the_last_round_are_shown_to_all_in_agent_order() -> None:
    plans = {2: Plan([], say="peace"), 0: Plan([], say="war")}
    map = given(communication=True).when(plans)

    for agent in range(3):
        assert (Message(0, "war"), Message(2, "peace")) == map.seen(agent).messages
    assert () == map.passed(1).seen().messages
    assert () == given().when(plans).seen().messages
