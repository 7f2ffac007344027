"""Who was right at a table: what is said of it follows from the tests and the stances."""

import re
from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from goldrush.kernel.worlds.competition.arena import Subject
from goldrush.kernel.worlds.competition.events import Concluded
from goldrush.kernel.worlds.competition.table import Contribution, Roundtable
from goldrush.kernel.worlds.competition.terms import Part
from goldrush.replay.worlds.competition.ended import ended_at
from goldrush.replay.worlds.competition.right import (
    account_of,
    best_of,
    challenges_of,
    explained,
)
from tests.golden import season_path
from tests.journals import events_of
from tests.stances import ASSIGNMENTS, apart, odd

VALUES = st.integers(0, 6).map(lambda value: value / 4)


def a_conclusion(proposal: int | None) -> Concluded:
    return Concluded(0, proposal, None if proposal is None else "c", (), (), ())


def table_of(values: list[tuple[int, float, float | None]], better: str = "up") -> Roundtable:
    """A table of proposals, each as (agent, value claimed, value tested), without a conclusion."""
    return Roundtable(
        0, Subject("value", better, "here", "all"), 3, bar=0.0, order=(5, 6, 7, 8),
        contributions=[
            Contribution(id, 0, agent, "propose", conduct="c", claim=(claimed, None))
            for id, (agent, claimed, _) in enumerate(values)
        ],
        tests={(id, Part.BASE): test for id, (_, _, test) in enumerate(values)},
        conclusion=a_conclusion(None),
    )  # fmt: skip


@st.composite
def made_up(draw: st.DrawFn) -> Roundtable:
    """A table of any claims and tests, concluded on any proposal that holds, or on none."""
    claims = st.tuples(st.integers(5, 8), VALUES, st.none() | VALUES)
    table = table_of(draw(st.lists(claims, max_size=6)), draw(st.sampled_from(["up", "down"])))
    holding = [said.id for said in table.proposals() if table.held(said.id, Part.BASE)]
    if chosen := draw(st.sampled_from([None, *holding])):
        table.conclusion = a_conclusion(chosen)
        for agent in table.order:
            table.stances.stand(agent, chosen)
    return table


@given(made_up())
def test_the_best_choice_holds_and_nothing_that_holds_tested_better(table: Roundtable) -> None:
    best, is_up = best_of(table), table.subject.better == "up"
    holding = [said for said in table.proposals() if table.held(said.id, Part.BASE)]
    assert (best is None) == (not holding)
    if best is None:
        return
    values = [table.base_value(said) for said in holding]

    assert table.held(best.id, Part.BASE)
    assert table.base_value(best) == (max if is_up else min)(v for v in values if v is not None)
    assert best.id == min(s.id for s in holding if table.base_value(s) == table.base_value(best))


@given(made_up())
def test_everybody_who_claimed_is_named_with_the_claims_that_held(table: Roundtable) -> None:
    held = defaultdict(list)
    for said in table.proposals():
        held[f"agent-{said.agent}"].append(table.held(said.id, Part.BASE))
    account = account_of(table, lambda agent: f"agent-{agent}")[0]

    assert {name: (claims.count(True), len(claims)) for name, claims in held.items()} == {
        name: (int(some), int(of))
        for name, some, of in re.findall(r"(agent-\d) (\d) of (\d)", account)
    }


def test_a_challenge_is_right_if_the_part_that_it_names_does_not_hold() -> None:
    seen = set()
    for path, units in ((odd(), ASSIGNMENTS), (season_path("every-code"), 24)):
        spoken = {
            (event.unit, event["table"], event["id"]): event for event in events_of(path)
            if event.name == "spoke"
        }  # fmt: skip
        for unit in range(units):
            for table in ended_at(path, unit).state.tables:
                said = "\n".join(account_of(table, lambda agent: f"agent-{agent}"))
                for each in challenges_of(table):
                    event = spoken[unit, table.number, each.id]
                    target, part = event["target"], event["part"]
                    is_right = table.held(target, part) is False
                    of = "" if part == Part.BASE else f"the {part} of "
                    author = table.contributions[target].agent

                    assert ("challenge", event["agent"]) == (event["move"], each.agent)
                    assert (
                        f"agent-{each.agent} challenged {of}#{target} of agent-{author}, "
                        f"{'rightly' if is_right else 'wrongly'}: claimed "
                    ) in said
                    seen.add((part, is_right))
    assert {"base", "edge"} == {part for part, _ in seen}
    assert {True, False} == {is_right for _, is_right in seen}


def test_explanations_are_of_each_table_of_the_assignments() -> None:
    path = apart()
    tables = [
        (unit, table.number) for unit in range(4) for table in ended_at(path, unit).state.tables
    ]

    assert tables == [(each.unit, each.location) for each in explained(path)]
    assert [of for of in tables if of[0] in (1, 2)] == [
        (each.unit, each.location) for each in explained(path, 1, 2)
    ]
    assert [] == list(explained(path, 99))
