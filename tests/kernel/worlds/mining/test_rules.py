"""The rules of a round (kernel/worlds/mining/README.md 5 to 8), one a test, on maps made by
hand.
"""

from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.worlds.mining.events import INT64_MAX, MINING_SETTLED, RULED
from tests.journals import logged
from tests.kernel.worlds.mining.scenario import Item, given, words
from tests.mining import record

# Step 0: the reasons for which an action is removed.


def test_what_is_no_action_is_malformed() -> None:
    assert [[0, "malformed"]] == given().when({0: [None]}).pruned()


@pytest.mark.parametrize("plot", [-1, 5, INT64_MAX])
@pytest.mark.parametrize("kind", ["defend", "mine", "claim", "raid"])
def test_a_plot_that_the_map_does_not_have_is_off_grid(kind: str, plot: int) -> None:
    assert [[0, "off-grid"]] == given().when({0: [(kind, plot)]}).pruned()


@pytest.mark.parametrize(
    ("amount", "removed"), [(-1, True), (0, False), (3, False), (4, True), (INT64_MAX, True)]
)
def test_mining_takes_nothing_to_the_cap(amount: int, removed: bool) -> None:
    round = given(stamina=1_000).claimed({0: 0}).when({0: [("mine", 0, amount)]})

    assert ([[0, "bad-amount"]] if removed else []) == round.pruned()


@pytest.mark.parametrize("amount", [0, 2])
@pytest.mark.parametrize("kind", ["defend", "claim", "raid"])
def test_defending_claiming_and_raiding_take_one_point(kind: str, amount: int) -> None:
    map = given(stamina=1_000).claimed({0: 0, 1: 1})
    plot = {"defend": 0, "claim": 2, "raid": 1}[kind]

    assert [[0, "bad-amount"]] == map.when({0: [(kind, plot, amount)]}).pruned()


@pytest.mark.parametrize(("amount", "removed"), [(0, True), (7, False)])
def test_under_pointwise_a_defence_takes_one_point_or_more(amount: int, removed: bool) -> None:
    round = given(defense="pointwise").claimed({0: 0}).when({0: [("defend", 0, amount)]})

    assert ([[0, "bad-amount"]] if removed else []) == round.pruned()


@pytest.mark.parametrize("kind", ["defend", "mine"])
@pytest.mark.parametrize("plot", [1, 2])
def test_only_own_plots_are_defended_and_mined(kind: str, plot: int) -> None:
    assert [[0, "not-owner"]] == given().claimed({1: 1}).when({0: [(kind, plot)]}).pruned()


def test_what_somebody_owns_is_not_claimed_and_nobody_raids_their_own_plot() -> None:
    round = given().claimed({0: 0, 1: 1}).when({0: [("claim", 0), ("claim", 1), ("raid", 0)]})

    assert [[0, "already-owned"], [1, "already-owned"], [2, "own-plot"]] == round.pruned()


@pytest.mark.parametrize(("truce", "removed"), [(0, []), (1, [[0, "unowned"]])])
def test_with_a_truce_a_plot_that_nobody_owns_is_not_raided(truce: int, removed: Any) -> None:
    assert removed == given(truce=truce).when({0: [("raid", 0)]}).pruned()


def test_the_same_action_again_is_a_duplicate_be_it_one_or_all() -> None:
    plan: list[Item] = [("mine", 0), ("defend", 0), ("claim", 2), ("raid", 1)]

    for again in (plan, *([item] for item in plan)):
        map = given().claimed({0: 0, 1: 1})

        assert [[4 + i, "duplicate"] for i in range(len(again))] == map.when(
            {0: [*plan, *again]}
        ).pruned()


def test_an_action_like_one_that_was_removed_is_no_duplicate() -> None:
    map = given().claimed({0: 0})

    assert [[0, "bad-amount"]] == map.when({0: [("mine", 0, 9), ("mine", 0, 3)]}).pruned()


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


def test_a_cheap_action_behind_a_dear_one_goes_first_and_is_not_put_back() -> None:
    map = given(stamina=3).claimed({0: 0, 1: 0})

    round = map.when({0: [("claim", 2), ("mine", 0, 3), ("claim", 3), ("mine", 1, 0)]})

    assert [[1, "budget"], [2, "budget"], [3, "budget"]] == round.pruned()
    assert [1] == [event["cost"] for event in round.events("pruned")]


def test_a_plan_that_costs_exactly_the_budget_stays_whole() -> None:
    map = given(stamina=4).claimed({0: 0})

    assert [] == map.when({0: [("mine", 0, 3), ("claim", 1)]}).pruned()


# Step 1: claims.


def test_a_single_claimant_wins_without_a_draw() -> None:
    round = given().when({1: [("claim", 3)]})

    round.then(
        {"event": "claim_drawn", "round": 1, "plot": 3, "claimants": [1], "winner": 1, "words": []}
    )
    assert (1, 1, "claim") == round.held(3)


def test_of_several_claimants_the_draw_of_the_plot_and_round_picks_one() -> None:
    map = given(seed=5).passed(1)
    (word,) = words(5, 2, 4, "claim")

    round = map.when({agent: [("claim", 4)] for agent in (0, 1, 2)})

    round.then(
        {
            "event": "claim_drawn", "round": 2, "plot": 4, "claimants": [0, 1, 2],
            "winner": word % 3, "words": [f"{word:016x}"],
        }
    )  # fmt: skip


# Step 2: raids and the truce.


def test_a_raid_on_an_undefended_plot_out_of_truce_captures_it() -> None:
    round = given().claimed({0: 0}).when({1: [("raid", 0)]})

    round.then(
        {
            "event": "raid_resolved", "round": 2, "plot": 0, "owner": 0, "raiders": [1],
            "defense": 0, "outcome": "captured", "winner": 1, "words": [],
        }
    )  # fmt: skip
    assert (1, 2, "capture") == round.held(0)


@pytest.mark.parametrize("truce", [1, 2, 3])
def test_the_truce_covers_as_many_rounds_the_claiming_one_counted(truce: int) -> None:
    map = given(truce=truce, agents=2).claimed({0: 0})

    for _ in range(truce - 1):
        assert {0: "truce"} == map.when({1: [("raid", 0)]}).outcomes()
    assert {0: "captured"} == map.when({1: [("raid", 0)]}).outcomes()


def test_a_capture_starts_no_truce() -> None:
    map = given(truce=3).claimed({0: 0}).passed(2)

    assert {0: "captured"} == map.when({1: [("raid", 0)]}).outcomes()
    assert {0: "captured"} == map.when({2: [("raid", 0)]}).outcomes()


def test_the_owner_of_a_plot_that_is_raided_is_the_one_after_the_claims() -> None:
    round = given(truce=0).when({0: [("claim", 3)], 1: [("raid", 3)]})

    assert [("claim_drawn", 0), ("raid_resolved", 1)] == [
        (event["event"], event["winner"]) for event in round.events()
    ]
    assert (1, 1, "capture") == round.held(3)


def test_who_wins_the_claim_is_dropped_from_the_raiders_and_alone_makes_the_raid_void() -> None:
    round = given(truce=0).when({0: [("raid", 3), ("claim", 3)]})

    assert ({3: "void"}, (0, 1, "claim")) == (round.outcomes(), round.held(3))


# Step 2: defence.


@pytest.mark.parametrize(("points", "raiders"), [(1, 1), (3, 2)])
def test_under_pointwise_as_many_points_as_raiders_stop_them_all(points: int, raiders: int) -> None:
    map = given(defense="pointwise").claimed({0: 0})
    raids = {agent: [("raid", 0)] for agent in range(1, raiders + 1)}

    round = map.when({0: [("defend", 0, points)], **raids})

    raid = round.events("raid_resolved")[0]
    assert (points, "blocked", None, []) == (
        raid["defense"], raid["outcome"], raid["winner"], raid["words"],
    )  # fmt: skip


@pytest.mark.parametrize("points", [1, 3])
def test_under_pointwise_the_next_of_the_shuffle_gets_through(points: int) -> None:
    map = given(agents=5, defense="pointwise", seed=points).claimed({0: 0})
    order = [1, 2, 3, 4]
    drawn = words(points, 2, 0, "raid", 3)  # no word of these is passed over: 2^64 is far away
    for j, word in zip((3, 2, 1), drawn, strict=True):
        order[j], order[word % (j + 1)] = order[word % (j + 1)], order[j]

    round = map.when(
        {0: [("defend", 0, points)], **{agent: [("raid", 0)] for agent in range(1, 5)}}
    )

    raid = round.events("raid_resolved")[0]
    assert ("captured", order[points]) == (raid["outcome"], raid["winner"])
    assert [f"{word:016x}" for word in drawn] == raid["words"]


# Step 3: mining.


def test_mining_pays_stamina_times_alpha() -> None:
    map = given(alpha_by_plot=[0.5, 0.1, 0.0, 2.0, 1.0]).claimed(dict.fromkeys(range(5), 0))

    round = map.when({0: [("mine", 1, 3), ("mine", 0, 3), ("mine", 3, 2), ("mine", 2, 1)]})

    front = {"event": "mining_settled", "round": 2}
    round.then(
        front | {"plot": 0, "agent": 0, "stamina": 3, "gold": 1.5},
        front | {"plot": 1, "agent": 0, "stamina": 3, "gold": 3 * 0.1},
        front | {"plot": 2, "agent": 0, "stamina": 1, "gold": 0.0},
        front | {"plot": 3, "agent": 0, "stamina": 2, "gold": 4.0},
    )
    assert [1.5 + 3 * 0.1 + 0.0 + 4.0, 0.0, 0.0] == round.gold
    assert all(type(gold) is float for gold in round.gold)


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


def test_mining_with_nothing_is_no_event() -> None:
    given().claimed({0: 0}).when({0: [("mine", 0, 0)]}).then()


def test_what_is_mined_on_a_plot_that_was_lost_is_forfeited() -> None:
    map = given().claimed({0: 0, 1: 0})

    round = map.when({0: [("mine", 0, 3), ("mine", 1, 2)], 1: [("raid", 0)]})

    assert [(0, 0, 3, 0.0), (1, 0, 2, 2.0)] == [
        (e["plot"], e["agent"], e["stamina"], e["gold"]) for e in round.events("mining_settled")
    ]
    assert [2.0, 0.0, 0.0] == round.gold


# The authority.


@pytest.mark.parametrize("authority", ["adjudicate", "punish"])
def test_only_captures_are_ruled_on(authority: str) -> None:
    map = given(authority=authority, truce=2).claimed({0: 0}).passed(1).claimed({1: 1, 2: 1})
    plans = {0: [("raid", 1), ("defend", 0)], 2: [("raid", 0)]}

    assert [] == map.when(plans).events("ruled")


def test_adjudicate_gives_the_plot_back_as_it_was_held() -> None:
    map = given(authority="adjudicate").claimed({0: 0, 1: 1}).passed(2)
    (word,) = words(0, 4, 0, "authority")

    round = map.when({0: [("mine", 0, 3)], 1: [("raid", 0)]})

    assert {
        "event": "ruled", "round": 4, "plot": 0, "captor": 1, "victim": 0, "detected": True,
        "remedy": "restored", "fine": 0.0, "words": [f"{word:016x}"],
    } == round.events("ruled")[0]  # fmt: skip
    assert (0, 1, "claim") == round.held(0)


@pytest.mark.parametrize("authority", ["adjudicate", "punish"])
def test_a_capture_that_is_not_detected_stands_and_still_takes_its_word(authority: str) -> None:
    map = given(authority=authority, detection=0.0).claimed({0: 0}).earned({1: 5.0})
    (word,) = words(0, 3, 0, "authority")

    round = map.when({1: [("raid", 0)]})

    assert {
        "event": "ruled", "round": 3, "plot": 0, "captor": 1, "victim": 0, "detected": False,
        "remedy": None, "fine": 0.0, "words": [f"{word:016x}"],
    } == round.events("ruled")[0]  # fmt: skip
    assert (1, 3, "capture") == round.held(0)
    assert [0.0, 5.0, 0.0] == round.gold


def test_several_fines_in_a_round_take_no_more_than_the_captor_has() -> None:
    map = given(authority="punish").claimed({0: 0, 1: 0, 2: 0, 3: 2}).earned({1: 4.5, 2: 1.0})

    round = map.when({1: [("raid", plot) for plot in (3, 2, 1, 0)]})

    assert [3.0, 1.5, 0.0, 0.0] == [event["fine"] for event in round.events("ruled")]
    assert ["fined"] * 4 == [event["remedy"] for event in round.events("ruled")]
    assert [0.0, 0.0, 1.0] == round.gold


# What a run leaves behind.

KEYS = {
    "run_started": "world rules config roster",
    "submitted": "round agent actions error say memo source",
    "pruned": "round agent removed cost",
    "claim_drawn": "round plot claimants winner words",
    "raid_resolved": "round plot owner raiders defense outcome winner words",
    "ruled": "round plot captor victim detected remedy fine words",
    "mining_settled": "round plot agent stamina gold",
    "round_closed": "round digest",
    "run_ended": "round",
}


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "journal"
    settings = {"rows": 3, "cols": 3, "rounds": 12, "authority": "punish", "truce": 0}
    record(path, settings, "random*3,raid*2,claim*1")
    return path


def test_every_event_has_exactly_the_fields_of_the_rules_in_their_order(journal: Path) -> None:
    log = logged(journal)

    assert all(["event", *KEYS[event["event"]].split()] == list(event) for event in log)
    assert {*KEYS} - {"pruned"} == {event["event"] for event in log}
