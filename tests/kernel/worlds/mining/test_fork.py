"""What may change in the middle of a mining run, from the next round on, and what may not.

A scenario of scenario.py that remembers its rounds, so that it can be forked: `fork` gives the
world what the run loop would.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import pytest

from goldrush.agents.roster import Entry
from goldrush.kernel.codec import fingerprint
from goldrush.kernel.errors import BadInput
from goldrush.kernel.fold import REFUSED
from goldrush.kernel.forking import changes
from goldrush.kernel.world import Row, Step
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import ALL
from goldrush.kernel.worlds.mining.events import CLAIM
from goldrush.kernel.worlds.mining.fork import FORKS, fork
from goldrush.kernel.worlds.mining.state import MiningState, copied, digest, ended, freeze
from goldrush.kernel.worlds.mining.submit import Plan
from tests.kernel.worlds.mining.scenario import Plans, Scenario, words

PARENT = "0123456789abcdef" * 4
FACTS: Mapping[str, Any] = {"parent": PARENT, "changes": {}, "roster": None, "replaced": ()}


class Forked(Scenario):
    """A scenario that can be forked."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        super().__init__(settings)
        self.rounds: list[list[Step]] = []

    def when(self, plans: Plans) -> Self:
        super().when(plans)
        return self._remembered()

    def fork(self, **facts: Any) -> Self:
        """Fork here; without facts, nothing changes."""
        self.state = fork(copied(self.state), {**FACTS, **facts}, self.past)
        self.config = self.state.config
        return self

    def past(self, first: int) -> Iterator[tuple[int, Sequence[Step]]]:
        """The steps of every round from the one named on."""
        yield from list(enumerate(self.rounds, 1))[first - 1 :]

    def _happened(self, *derived: Any) -> Self:
        super()._happened(*derived)
        return self._remembered()

    def _remembered(self) -> Self:
        record = self.state.history[-1]
        self.rounds.append([Step(record.inputs, record.derived)])
        return self


def given(**settings: Any) -> Forked:
    return Forked({"rows": 1, "cols": 5, "agents": 3, "rounds": 9} | settings)


def submission(agent: int, *plots: int) -> Row:
    """A submission that claims plots."""
    return (agent, tuple((CLAIM, plot, 1) for plot in plots), None, None, None, None)


def claiming(*plots: int) -> list[tuple[str, int]]:
    return [("claim", plot) for plot in plots]


# What may change takes effect from the next round on.


def test_a_smaller_budget_is_that_of_the_next_round() -> None:
    scenario = given(stamina=3).when({0: claiming(0, 1, 2)}).fork(changes={"stamina": 1})
    before = scenario.owners.count(0)
    scenario.when({0: claiming(3, 4)})

    assert before == 3
    assert scenario.pruned() == [[1, "budget"]]


def test_each_agent_can_get_a_budget_of_its_own_and_lose_it_again() -> None:
    scenario = given(stamina=2).fork(changes={"stamina_by_agent": (0, 1, 3)})
    scenario.when({agent: claiming(0, 1, 2) for agent in range(3)})
    cut = [len(scenario.pruned(agent)) for agent in range(3)]
    scenario.fork(changes={"stamina_by_agent": None})

    assert cut == [3, 2, 0]
    assert scenario.state.staminas == (2, 2, 2)


def test_what_was_said_is_not_passed_on_where_communication_ends() -> None:
    scenario = given(communication=True).when({0: Plan([], say="peace")})
    before = [message.text for message in scenario.seen(1).messages]
    scenario.fork(changes={"communication": False})

    assert before == ["peace"]
    assert scenario.seen(1).messages == ()


def test_another_alpha_is_paid_from_the_next_round_on() -> None:
    scenario = given().claimed({0: 0}).when({0: [("mine", 0, 2)]})
    scenario.fork(changes={"alpha": 0.25}).when({0: [("mine", 0, 2)]})

    assert scenario.gold[0] == 2 + 0.5
    assert scenario.seen().alphas == (0.25,) * 5


def test_a_longer_truce_protects_what_was_claimed_before() -> None:
    scenario = given(truce=1).claimed({0: 0}).passed(1).fork(changes={"truce": 3})

    assert scenario.when({1: [("raid", 0)]}).outcomes() == {0: "truce"}
    assert scenario.when({1: [("raid", 0)]}).outcomes() == {0: "captured"}


def test_an_authority_rules_on_captures_from_the_next_round_on() -> None:
    scenario = given().claimed({0: 0, 1: 0}).when({1: [("raid", 0)]})
    unruled = scenario.events("ruled")
    scenario.fork(changes={"authority": "adjudicate"}).when({1: [("raid", 1)]})

    assert unruled == []
    assert [event["remedy"] for event in scenario.events("ruled")] == ["restored"]
    assert scenario.owners[:2] == [1, 0]


def test_another_seed_gives_the_draws_of_that_seed() -> None:
    scenario = given(seed=1).passed(1).fork(changes={"seed": 2})
    scenario.when({0: claiming(0), 1: claiming(0)})

    expected = [f"{word:016x}" for word in words(2, 2, 0, "claim")]

    assert scenario.events("claim_drawn")[0]["words"] == expected


@pytest.mark.parametrize(("rounds", "over"), [(2, True), (3, False), (1_000_000, False)])
def test_the_horizon_can_come_as_near_as_the_fork_and_go_as_far_as_any(
    rounds: int, over: bool
) -> None:
    scenario = given(rounds=9).passed(2).fork(changes={"rounds": rounds})

    assert ended(scenario.state) == over
    assert scenario.seen().rounds == rounds


def test_a_run_at_its_end_can_be_given_more_rounds() -> None:
    scenario = given(rounds=2).passed(2)
    was_over = ended(scenario.state)
    scenario.fork(changes={"rounds": 3})

    assert (was_over, ended(scenario.state)) == (True, False)


def test_settings_can_change_together_in_declared_order() -> None:
    together = {"seed": 5, "stamina": 1, "alpha": 2.0, "authority": "punish"}
    config = given().fork(changes=together).config.as_dict()

    assert {name: config[name] for name in together} == together


# The record of past rounds.

VISIBILITIES = (1, 2, 3, 8, ALL)


def eventful(visibility: int | str, rounds: int, fork_at: int = 0, to: Any = None) -> MiningState:
    """So many rounds, each unlike the others; forked on the way to another visibility."""
    scenario = given(visibility=visibility, cols=9)
    for round in range(1, rounds + 1):
        plans: Any = {0: claiming(round), 1: claiming(round, 0), 2: [("raid", round - 1)]}
        scenario.when(plans)
        if round == fork_at:
            scenario.fork(changes={} if to == visibility else {"visibility": to})
    return scenario.state


def recalled(state: MiningState) -> tuple[Any, ...]:
    records = [(r.round, r.inputs.packed, r.derived.packed, r.fingerprint) for r in state.history]
    return records, state.history_sum


@pytest.mark.parametrize("after", VISIBILITIES)
@pytest.mark.parametrize("before", VISIBILITIES)
def test_past_rounds_are_those_that_would_be_shown_had_it_been_so_all_along(
    before: int | str, after: int | str
) -> None:
    for at in range(1, 7):
        for rounds in (at, at + 1, 7):
            forked = eventful(before, rounds, at, after)

            assert recalled(forked) == recalled(eventful(after, rounds)), (at, rounds)


def test_a_fork_at_the_start_recalls_nothing() -> None:
    scenario = given(visibility=1).fork(changes={"visibility": ALL})

    assert recalled(scenario.state) == ([], 0)


def test_agents_are_shown_the_rounds_recalled() -> None:
    scenario = given(visibility=1).when({0: claiming(0)}).passed(2)
    seen_before = len(scenario.seen().earlier)
    scenario.fork(changes={"visibility": ALL})

    assert (seen_before, len(scenario.seen().earlier)) == (0, 2)
    assert [(action.round, action.plot) for action in scenario.seen().past] == [(1, 0)]


# What a fork leaves as it is, and the digest.


def test_what_has_happened_stays() -> None:
    scenario = given(visibility=2).claimed({0: 0, 3: 1}).captured({0: 2}).earned({1: 2.5})
    scenario.when({1: Plan([("mine", 3, 1)], memo="remember")})
    kept = ("round", "owner", "since", "how", "plots_of", "gold", "memo", "spent")
    before = {name: getattr(copied(scenario.state), name) for name in kept}
    scenario.fork(changes={"stamina": 1, "truce": 0, "visibility": ALL})

    assert {name: getattr(scenario.state, name) for name in kept} == before


def test_a_fork_that_changes_nothing_gives_the_same_digest() -> None:
    scenario = given().claimed({0: 0}).passed(3)

    assert digest(scenario.fork().state) == digest(given().claimed({0: 0}).passed(3).state)


EVERY_CHANGE = {
    "seed": 5, "rounds": 4, "stamina": 3, "stamina_by_agent": (1, 2, 3), "mining_cap": 1,
    "alpha": 0.5, "alpha_by_plot": (1.0, 2.0, 3.0, 4.0, 5.0), "truce": 2, "defense": "pointwise",
    "visibility": ALL, "communication": True, "authority": "punish", "detection": 0.5, "fine": 1.0,
}  # fmt: skip


def test_every_setting_may_change_but_for_the_grid_and_the_number_of_agents() -> None:
    assert {*EVERY_CHANGE, *FORKS.fixed} == set(given().config.as_dict())


@pytest.mark.parametrize("name", EVERY_CHANGE)
def test_the_digest_is_that_of_a_state_with_the_new_setting(name: str) -> None:
    scenario = given(visibility=1, cols=5).claimed({0: 0, 3: 1}).earned({1: 2.5}).passed(1)
    before = digest(scenario.state)
    state = scenario.fork(changes={name: EVERY_CHANGE[name]}).state

    assert digest(state) == digest(MINING.thaw(freeze(state), scenario.past))
    assert digest(state) != before
    assert getattr(state.config, name) == EVERY_CHANGE[name]


def entries(*policies: str) -> list[dict[str, Any]]:
    return [Entry(agent, policy).as_dict() for agent, policy in enumerate(policies)]


def test_a_new_roster_is_in_the_state_and_in_its_digest() -> None:
    scenario = given().claimed({0: 0})
    before = digest(scenario.state)
    state = scenario.fork(roster=entries("raid", "claim", "module:Mine")).state

    assert [entry["policy"] for entry in state.roster] == ["raid", "claim", "module:Mine"]
    assert state.setup_print == fingerprint((state.config.as_dict(), state.roster))
    assert digest(state) != before


def test_replaced_submissions_are_not_in_the_state() -> None:
    scenario = given().claimed({0: 0})
    before = digest(scenario.state)

    assert digest(scenario.fork(replaced=((2, submission(0, 1)),)).state) == before


# What is refused.


@pytest.mark.parametrize("name", FORKS.fixed)
def test_the_grid_and_the_number_of_agents_cannot_change(name: str) -> None:
    with pytest.raises(BadInput, match=f"{name} cannot change in the middle of a run"):
        given(rows=2, cols=3).passed(1).fork(changes={name: 4})


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"rounds": 2}, "rounds is 2, but the run is forked at 3"),
        ({"rounds": 0}, "rounds is 0; it must be"),
        ({"stamina": -1}, "stamina is -1; it must be"),
        ({"stamina": True}, "stamina is True; it must be"),
        ({"mining_cap": 0}, "mining_cap is 0; it must be"),
        ({"alpha": float("nan")}, "alpha is nan; it must be"),
        ({"detection": 1.5}, "detection is 1.5; it must be"),
        ({"defense": "none"}, "defense is 'none'; it must be"),
        ({"visibility": 0}, "visibility is 0; it must be"),
        ({"stamina_by_agent": (1, 2)}, "stamina_by_agent has 2 items; it must have 3"),
        ({"alpha_by_plot": (1.0,)}, "alpha_by_plot has 1 item; it must have 5"),
        ({"stamnia": 5}, "did you mean stamina"),
        ({"policy": "raid"}, "there is no setting 'policy'"),
    ],
)
def test_settings_out_of_range_and_unknown_ones_are_refused(
    settings: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadInput, match=says):
        given().passed(3).fork(changes=settings)


@pytest.mark.parametrize(
    "wrong",
    [
        {"stamina": 10},
        {"seed": 1, "stamina": 10},
        {"alpha": 2},
        {"stamina": 1, "seed": 5},
        {"alpha": 1},
        {"rows": 1},
        {"visibility": 5},
    ],
    ids=[
        "what it was", "one that is what it was", "a whole number for a real", "not in order",
        "the same as a whole number", "the grid as it was", "the record as it was",
    ],
)  # fmt: skip
def test_changes_are_what_changes_and_in_the_one_form(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="leave out unchanged ones"):
        given().passed(3).fork(changes=wrong)


@pytest.mark.parametrize(
    "parent",
    [
        "", PARENT[:-1], PARENT + "0", PARENT.upper(), "g" * 64, PARENT.encode(), None, 5,
        list(PARENT), PARENT[:-1] + "\n",
    ],
)  # fmt: skip
def test_the_parent_is_a_sha256(parent: object) -> None:
    with pytest.raises(BadInput, match="SHA-256"):
        given().fork(parent=parent)


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {name: FACTS[name] for name in ("parent", "changes", "roster")},
        {name: FACTS[name] for name in ("changes", "parent", "roster", "replaced")},
        {**FACTS, "more": None},
        {**FACTS, 5: None},
    ],
    ids=["none", "one short", "in another order", "one more", "a number"],
)
def test_the_facts_are_four(facts: dict[Any, Any]) -> None:
    scenario = given()
    with pytest.raises(BadInput, match="it has parent, changes, roster, replaced"):
        fork(scenario.state, facts, scenario.past)


@pytest.mark.parametrize(
    ("roster", "says"),
    [
        (entries("raid", "raid"), "the roster has 2 agents; it must have 3"),
        (entries(*["raid"] * 4), "the roster has 4 agents; it must have 3"),
        ([], "the roster has 0 agents"),
        (entries("raid", "raid", "raid")[::-1], "entry 0 of the roster"),
        ([*entries("raid", "raid"), {"agent": 2, "policy": "raid"}], "entry 2 of the roster"),
        ([*entries("raid", "raid"), {"agent": 2, "policy": 5, "options": {}}], "entry 2"),
        ([*entries("raid", "raid"), {"agent": 2, "policy": "raid", "options": None}], "entry 2"),
        (entries("raid", "x" * 201, "raid"), "entry 1 of the roster"),
    ],
)
def test_a_roster_has_one_whole_entry_an_agent(roster: list[Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        given().fork(roster=roster)


GOOD = (4, submission(1))


@pytest.mark.parametrize(
    "replaced",
    [
        [GOOD, (4, submission(0))],
        [GOOD, GOOD],
        [GOOD, (4, submission(1, 2))],
        [(5, submission(0)), GOOD],
        [(3, submission(1))],
        [(0, submission(1))],
        [(-1, submission(1))],
        [(10, submission(1))],
        [(True, submission(1))],
        [(4.0, submission(1))],
        [("4", submission(1))],
        [(None, submission(1))],
    ],
    ids=[
        "agents not ascending", "twice", "two of one agent", "rounds not ascending",
        "the round of the fork", "the start", "before the start", "after the last round", "true",
        "a float", "text", "none",
    ],
)  # fmt: skip
def test_replaced_submissions_are_of_rounds_to_come_ascending_each_agent_once(
    replaced: list[Any],
) -> None:
    with pytest.raises(
        BadInput, match=r"give rounds 4 to 9, and each place once|to replace; give a submission"
    ):
        given().passed(3).fork(replaced=replaced)


@pytest.mark.parametrize("round", [3, 4, 9])
@pytest.mark.parametrize("agent", [3, 4, 2**40])
def test_an_agent_that_there_is_not_cannot_be_replaced(round: int, agent: int) -> None:
    with pytest.raises(BadInput, match=r"the last agent is 2|give rounds 4 to 9"):
        given().passed(3).fork(replaced=[(round, submission(agent))])


@pytest.mark.parametrize(
    "row",
    [
        None, (), (0,), [0, (), None, None, None, None], submission(-1), submission(True),
        (0, [], None, None, None, None), (0, ((9, 0, 1),), None, None, None, None),
        (0, (), 5, None, None, None), (0, (), "x" * 41, None, None, None),
        (0, (), None, "x" * 281, None, None), (0, (), None, None, "x" * 2001, None),
        (0, (), None, None, None, {"a": ()}), (0, ((0, 0, 2**63),), None, None, None, None),
    ],
)  # fmt: skip
def test_a_replaced_submission_is_a_row_of_that_event(row: Any) -> None:
    with pytest.raises(BadInput, match="submitted"):
        given().passed(3).fork(replaced=[(4, row)])


def test_replaced_submissions_may_reach_from_the_next_round_to_the_last_one() -> None:
    rows = [(4, submission(0)), (4, submission(2, 1)), (5, submission(0)), (9, submission(2))]

    assert given().passed(3).fork(replaced=rows).state.round == 3


def test_replaced_submissions_may_be_of_rounds_that_the_fork_adds_and_of_no_others() -> None:
    scenario = given(rounds=5).passed(5)
    scenario.fork(changes={"rounds": 7}, replaced=[(7, submission(0))])
    with pytest.raises(BadInput, match="give rounds 6 to 6"):
        scenario.fork(changes={"rounds": 6}, replaced=[(7, submission(0))])


@pytest.mark.parametrize(
    "facts",
    [
        {"changes": None}, {"changes": ()}, {"changes": {5: 1}}, {"changes": 5},
        {"roster": 5}, {"roster": (None,) * 3}, {"roster": "abc"},
        {"replaced": None}, {"replaced": 5}, {"replaced": (5,)}, {"replaced": ((4,),)},
        {"replaced": ((4, submission(0), 1),)}, {"replaced": "ab"},
    ],
)  # fmt: skip
def test_facts_of_another_shape_are_refused_as_hostile_ones_are(facts: dict[str, Any]) -> None:
    with pytest.raises((BadInput, *REFUSED)):
        given().passed(3).fork(**facts)


# Configurations compared.


def test_the_changes_are_the_settings_that_differ_with_their_new_values_in_order() -> None:
    old = given().config
    new = FORKS.changed(old, {"fine": 2, "seed": 4, "stamina": 10}, 3)

    assert list(changes(old, new).items()) == [("seed", 4), ("fine", 2.0)]
    assert changes(old, old) == {}


def test_a_change_back_is_a_change_too() -> None:
    scenario = given().fork(changes={"visibility": ALL}).passed(6)
    scenario.fork(changes={"visibility": 5})

    assert [record.round for record in scenario.state.history] == [2, 3, 4, 5, 6]


def test_the_world_can_be_forked() -> None:
    assert MINING.fork is fork
