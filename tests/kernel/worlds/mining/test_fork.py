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
from goldrush.kernel.world import Row, Step
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import ALL
from goldrush.kernel.worlds.mining.events import CLAIM
from goldrush.kernel.worlds.mining.fork import FORKS, fork
from goldrush.kernel.worlds.mining.state import MiningState, copied, digest, ended, freeze
from goldrush.kernel.worlds.mining.submit import Plan
from tests.kernel.worlds.mining.scenario import Plans, Scenario

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


@pytest.mark.parametrize(("rounds", "over"), [(2, True), (3, False), (1_000_000, False)])
def test_the_horizon_can_come_as_near_as_the_fork_and_go_as_far_as_any(
    rounds: int, over: bool
) -> None:
    scenario = given(rounds=9).passed(2).fork(changes={"rounds": rounds})

    assert ended(scenario.state) == over
    assert scenario.seen().rounds == rounds


# The record of past rounds.

VISIBILITIES = (1, 3, 8, ALL)


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


# What a fork leaves as it is, and the digest.


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


@pytest.mark.parametrize(
    "facts",
    [{name: FACTS[name] for name in ("parent", "changes", "roster")}, dict(reversed(FACTS.items())),
     {**FACTS, "more": None}],
)  # fmt: skip
def test_the_facts_are_four(facts: dict[Any, Any]) -> None:
    scenario = given()
    with pytest.raises(BadInput):
        fork(scenario.state, facts, scenario.past)


GOOD = (4, submission(1))


@pytest.mark.parametrize(
    "facts",
    [
        *[{"changes": {name: 4}} for name in FORKS.fixed],
        *[{"changes": changes} for changes in (
            {"rounds": 2}, {"stamina": -1}, {"alpha": float("nan")}, {"defense": "none"},
            {"stamina_by_agent": (1, 2)}, {"alpha_by_plot": (1.0,)}, {"stamnia": 5},
            {"seed": 1, "stamina": 10}, {"alpha": 2}, {"stamina": 1, "seed": 5}, {"rows": 1},
        )],
        *[{"parent": parent} for parent in ("", PARENT[:-1], PARENT.upper(), PARENT.encode())],
        *[{"roster": roster} for roster in (
            [], entries("raid", "raid"), entries(*["raid"] * 4), entries(*["raid"] * 3)[::-1],
        )],
        {"replaced": [GOOD, (4, submission(0))]}, {"replaced": [GOOD, (4, submission(1, 2))]},
        {"replaced": [(5, submission(0)), GOOD]},
        *[{"replaced": [(round, submission(1))]} for round in (3, 10, True, "4")],
        *[{"replaced": [(4, row)]} for row in (
            None, submission(-1), submission(3), (0, ((9, 0, 1),), None, None, None, None),
            (0, (), None, "x" * 281, None, None), (0, ((0, 0, 2**63),), None, None, None, None),
        )],
    ],
    ids=repr,
)  # fmt: skip
def test_what_a_fork_cannot_change_is_refused(facts: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        given().passed(3).fork(**facts)


def test_replaced_submissions_are_of_rounds_to_come() -> None:
    assert 3 == given().passed(3).fork(replaced=[GOOD, (9, submission(2))]).state.round


def test_replaced_submissions_may_be_of_rounds_that_the_fork_adds_and_of_no_others() -> None:
    scenario = given(rounds=5).passed(5)
    scenario.fork(changes={"rounds": 7}, replaced=[(7, submission(0))])
    with pytest.raises(BadInput):
        scenario.fork(changes={"rounds": 6}, replaced=[(7, submission(0))])
