"""Every scripted policy does what its name says (kernel/worlds/mining/README.md 10), on maps made
by hand.

What each plans to the last draw is held against the oracle in tests/laws; here one can see why.
"""

from collections.abc import Callable

import pytest

from goldrush.agents.worlds.mining.policy import Policy
from goldrush.agents.worlds.mining.roster import POLICIES, Draft
from goldrush.kernel.worlds.mining.events import CLAIM, DEFEND, MINE, RAID
from tests.kernel.worlds.mining.scenario import Scenario, given, words

Planned = list[tuple[str, int, int]]


def plan(name: str, map: Scenario, agent: int = 0) -> Planned:
    return map.planned(POLICIES[name](), agent)


def kinds(planned: Planned) -> list[str]:
    return [kind for kind, _, _ in planned]


def plots(planned: Planned, wanted: str) -> list[int]:
    return [plot for kind, plot, _ in planned if kind == wanted]


def sampled(
    items: list[int], round: int, agent: int, *, taken: int = 0, seed: int = 0
) -> list[int]:
    """Items in the order in which an agent would pick them all, `taken` words later, from the rules
    alone.
    """
    order, size = list(items), len(items)
    drawn = iter(words(seed, round, agent, "policy", taken + 2 * size + 2)[taken:])
    for i in range(size):
        word = next(word for word in drawn if word < 2**64 - 2**64 % (size - i))
        place = i + word % (size - i)
        order[i], order[place] = order[place], order[i]
    return order


def settled() -> Scenario:
    """Ten plots: 0 to 2 of agent 0, 3 to 5 of agent 1, 6 of agent 2, 7 to 9 nobody's."""
    owners = {0: 0, 1: 0, 2: 0, 3: 1, 4: 1, 5: 1, 6: 2}
    return given(cols=10).claimed(owners).passed(1)


def full(**settings: int) -> Scenario:
    """Four plots: 0 of agent 0, 1 and 2 of agent 1, 3 of agent 2; nothing to claim."""
    return given(cols=4, **settings).claimed({0: 0, 1: 1, 2: 1, 3: 2})


def test_the_scripted_policies_are_those_of_the_rules() -> None:
    assert [
        "random", "greedy-mine", "defend-then-mine", "tit-for-tat-raid", "claim", "raid", "defend",
        "mine",
    ] == list(POLICIES)  # fmt: skip


# Baselines.


def test_greedy_mine_mines_first_then_claims_then_raids() -> None:
    free = sampled([7, 8, 9], 3, 0)

    assert [
        ("mine", 0, 3), ("mine", 1, 3), ("mine", 2, 3), ("claim", free[0], 1),
    ] == plan("greedy-mine", settled())  # fmt: skip


def test_greedy_mine_mines_the_richest_plots_first() -> None:
    map = given(stamina=7, alpha_by_plot=[1, 2, 2, 0, 3]).claimed(dict.fromkeys(range(5), 0))

    assert [("mine", 4, 3), ("mine", 1, 3), ("mine", 2, 1)] == plan("greedy-mine", map)


def test_defend_then_mine_defends_every_plot_before_it_mines() -> None:
    assert [
        ("defend", 0, 1), ("defend", 1, 1), ("defend", 2, 1), ("mine", 0, 3), ("mine", 1, 3),
        ("mine", 2, 1),
    ] == plan("defend-then-mine", settled())  # fmt: skip


def test_defend_then_mine_defends_the_lowest_ids_if_it_cannot_defend_all() -> None:
    map = given(stamina=2).claimed({4: 0, 1: 0, 2: 0})

    assert [("defend", 1, 1), ("defend", 2, 1)] == plan("defend-then-mine", map)


def test_tit_for_tat_mines_and_claims_while_nobody_raids_it_and_never_raids() -> None:
    assert ["mine", "mine", "mine", "claim"] == kinds(plan("tit-for-tat-raid", settled()))
    assert ["mine"] == kinds(plan("tit-for-tat-raid", full()))


def test_tit_for_tat_answers_each_raid_with_one_on_a_plot_of_the_raider() -> None:
    map = settled().when({0: [("defend", 0)], 1: [("raid", 0)], 2: [("raid", 0), ("raid", 3)]})

    planned = plan("tit-for-tat-raid", map)

    answer = sampled([plot for plot in (3, 4, 5) if map.owners[plot] == 1], 4, 0)[0]
    assert ("raid", answer, 1) == planned[0]
    assert "raid" == planned[1][0]
    assert 2 == map.owners[planned[1][1]]
    assert ["raid", "raid", "mine", "mine"] == kinds(planned)[:4]


def test_tit_for_tat_answers_in_plot_order_with_a_plot_not_used_yet() -> None:
    map = settled().when({1: [("raid", 0), ("raid", 1), ("raid", 2)]})

    planned = plan("tit-for-tat-raid", map)

    assert 3 == len(set(plots(planned, "raid")))
    assert all(map.owners[plot] == 1 for plot in plots(planned, "raid"))


def test_random_spends_every_point_while_something_is_possible() -> None:
    for round in range(20):
        map = given(cols=10).claimed({0: 0, 3: 1}).passed(round % 5)

        assert 10 == sum(amount for _, _, amount in plan("random", map, round % 3))


def test_random_does_each_thing_now_and_then_and_nothing_impossible() -> None:
    seen = set()
    for seed in range(20):
        map = given(cols=10, seed=seed).claimed({0: 0, 1: 0, 3: 1}).passed(1)
        planned = plan("random", map)
        seen |= set(kinds(planned))

        assert [] == map.when({0: planned}).pruned()
    assert {"defend", "mine", "claim", "raid"} == seen


def test_random_draws_a_kind_and_then_a_target_for_each_point() -> None:
    first = words(0, 1, 0, "policy", 4)
    free = [0, 1, 2, 3, 4]
    targets = [free.pop(first[1] % 5), free.pop(first[3] % 4)]  # only claims are possible

    assert [("claim", plot, 1) for plot in targets] == plan("random", given(stamina=2))


# Specialists.


def test_claim_claims_with_half_then_mines_then_claims_on_then_defends() -> None:
    map = given(cols=20).claimed({0: 0})
    free = list(range(1, 20))
    first = sampled(free, 2, 0)[:5]

    planned = plan("claim", map)

    assert [("claim", plot, 1) for plot in first] == planned[:5]
    assert ["claim"] * 5 + ["mine"] + ["claim"] * 2 == kinds(planned)
    assert 7 == len(set(plots(planned, "claim")))


def test_raid_raids_with_half_then_mines_then_claims_then_raids_on() -> None:
    map = settled()
    targets = sampled([3, 4, 5, 6], 3, 0)

    planned = plan("raid", map)

    assert [("raid", plot, 1) for plot in targets] == planned[:4]
    assert ["raid"] * 4 + ["mine", "mine"] == kinds(planned)


def test_raid_speculates_on_unowned_plots_where_there_is_no_truce_and_nothing_to_raid() -> None:
    planned = plan("raid", given(truce=0, cols=20))

    assert [("raid", plot, 1) for plot in sampled(list(range(20)), 1, 0)[:5]] == planned[:5]
    assert ["raid"] * 5 + ["claim"] * 5 == kinds(planned)


def test_defend_defends_with_half_then_mines_then_claims() -> None:
    map = given(cols=9, stamina=9).claimed(dict.fromkeys((1, 3, 5, 7, 8), 0))

    assert [
        ("defend", 1, 1), ("defend", 3, 1), ("defend", 5, 1), ("defend", 7, 1), ("mine", 1, 3),
        ("mine", 3, 2),
    ] == plan("defend", map)  # fmt: skip


def test_mine_mines_then_defends_what_it_mines_then_claims_up_to_what_it_can_work() -> None:
    map = given(cols=20, stamina=20).claimed({3: 0, 1: 0})
    free = [plot for plot in range(20) if plot not in (1, 3)]

    assert [
        ("mine", 1, 3), ("mine", 3, 3), ("defend", 1, 1), ("defend", 3, 1),
        *[("claim", plot, 1) for plot in sampled(free, 2, 0)[:5]],
    ] == plan("mine", map)  # fmt: skip


# What holds for all of them.


@pytest.mark.parametrize("name", POLICIES)
def test_without_stamina_nobody_does_anything(name: str) -> None:
    assert [] == plan(name, given(stamina=0).claimed({0: 0, 1: 1}))


@pytest.mark.parametrize("name", POLICIES)
def test_asked_twice_a_policy_plans_the_same(name: str) -> None:
    map = settled().when({1: [("raid", 0)], 2: [("raid", 1)]})
    policy = POLICIES[name]()

    assert map.planned(policy) == map.planned(policy) == plan(name, map)


@pytest.mark.parametrize("name", [name for name in POLICIES if name != "mine"])
def test_another_seed_round_or_agent_picks_other_plots(name: str) -> None:
    def picked(map: Scenario, agent: int = 0) -> Planned:
        return plan(name, map, agent)

    first = picked(given(cols=100))

    assert first != picked(given(cols=100, seed=1))
    assert first != picked(given(cols=100).passed(1))
    assert first != picked(given(cols=100), 1)


# The steps that they are made of.


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (lambda draft: draft.mine(), [(MINE, 0, 3), (MINE, 1, 3), (MINE, 2, 3)]),
        (lambda draft: draft.defend([2, 0]), [(DEFEND, 2, 1), (DEFEND, 0, 1)]),
        (lambda draft: draft.defend([2, 0], 1), [(DEFEND, 2, 1)]),
        (lambda draft: draft.claim(0), []),
        (lambda draft: draft.raid(0), []),
        (lambda draft: draft.raid_speculatively(0), []),
        (lambda draft: draft.raid_back(2), [(RAID, 6, 1)]),
        (lambda draft: draft.raid_back(2) or draft.raid_back(2), [(RAID, 6, 1)]),
    ],
)
def test_a_step_spends_what_it_says(
    step: Callable[[Draft], None], expected: list[tuple[int, int, int]]
) -> None:
    map = settled()
    draft = Draft(map.seen(), map.draws())

    step(draft)

    assert expected == draft.actions
    assert 10 - sum(amount for _, _, amount in expected) == draft.left


def test_a_step_with_nothing_to_spend_takes_no_word() -> None:
    map = settled()
    draft = Draft(map.seen(), map.draws())

    draft.claim(0)
    draft.raid(0)
    draft.raid_speculatively(0)
    assert 0 == draft.draws.taken

    draft.left = 0
    draft.claim()
    draft.raid()
    draft.raid_speculatively()
    draft.raid_back(1)
    draft.mine()
    draft.defend([0])
    assert (0, []) == (draft.draws.taken, draft.actions)


def test_each_pick_is_a_sample_of_its_own_over_what_is_not_used_yet() -> None:
    map = settled()
    draft = Draft(map.seen(), map.draws())

    draft.claim(1)
    taken = draft.draws.taken
    draft.claim(1)

    first = sampled([7, 8, 9], 3, 0)[0]
    second = sampled([plot for plot in (7, 8, 9) if plot != first], 3, 0, taken=taken)[0]
    assert [(CLAIM, first, 1), (CLAIM, second, 1)] == draft.actions


def test_a_policy_is_anything_that_plans() -> None:
    class Idle:
        def plan(self, seen: object, draws: object) -> list[object]:
            return []

    policy: Policy = Idle()
    assert [] == settled().planned(policy)
