"""Who was right at a table: what is said of it follows from the tests alone."""

import json
import re
from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from goldrush.kernel.worlds.competition.terms import Part
from goldrush.replay.worlds.competition.proof import (
    BY_PROOF,
    Challenge,
    Proof,
    Proven,
    Side,
    proofs,
)
from goldrush.replay.worlds.competition.quality import Quality
from goldrush.replay.worlds.competition.right import (
    best_of,
    challenges_of,
    format_best,
    format_challenge,
    format_quality,
    format_right,
)
from tests.golden import season_path
from tests.journals import events_of
from tests.stances import ASSIGNMENTS, odd

VALUES = st.integers(0, 6).map(lambda value: value / 4)


@st.composite
def made_up(draw: st.DrawFn) -> Proof:
    """A proof of any claims and tests, concluded on any proposal that holds, or on none."""
    is_up = draw(st.booleans())
    proposals = []
    for id in range(draw(st.integers(0, 6))):
        claimed, tested = draw(VALUES), draw(st.none() | VALUES)
        held = tested is not None and (tested >= claimed if is_up else tested <= claimed)
        proposals.append(
            Proven(id, draw(st.integers(5, 8)), "c", claimed, tested, held, None,
                   None if held else BY_PROOF)
        )  # fmt: skip
    holding = [each.id for each in proposals if each.held]
    conclusion = draw(st.none() | st.sampled_from(holding)) if holding else None
    sides = [Side(agent, None, None, conclusion, None) for agent in range(5, 9)]
    subject = ("value", "up" if is_up else "down", "here")
    return Proof(0, subject, 0.0, proposals, [], sides, conclusion, ())


@given(made_up())
def test_the_best_choice_holds_and_nothing_that_holds_tested_better(proof: Proof) -> None:
    best = best_of(proof)
    holding = [each for each in proof.proposals if each.held]
    assert (best is None) == (not holding)
    if best is None:
        return
    values = [each.tested for each in holding if each.tested is not None]

    assert best.held
    assert best.tested == (max(values) if proof.subject[1] == "up" else min(values))
    assert best.id == min(each.id for each in holding if each.tested == best.tested)


@given(made_up())
def test_what_should_have_been_chosen_is_said_unless_it_was(proof: Proof) -> None:
    best, said = best_of(proof), format_best(proof, str)
    chosen = [each for each in proof.proposals if each.id == proof.conclusion]
    if best is None:
        assert said.startswith("By the tests there was nothing to choose")
    elif chosen and chosen[0].tested == best.tested:
        assert said.startswith("By the tests that was the best choice.")
    else:
        assert said.startswith(f"By the tests it should have chosen #{best.id} of {best.agent}, at")


def test_a_choice_as_good_as_the_best_is_the_best_choice() -> None:
    proposals = [Proven(id, 5 + id, "c", 0.1, 0.2, True, None, None) for id in range(2)]
    sides = [Side(5, None, None, 1, None)]
    proof = Proof(0, ("value", "up", "here"), 0.0, proposals, [], sides, 1, ())

    assert format_best(proof, str) == "By the tests that was the best choice."


@given(made_up())
def test_everybody_who_claimed_is_named_with_the_claims_that_held(proof: Proof) -> None:
    held = defaultdict(list)
    for each in proof.proposals:
        held[f"agent-{each.agent}"].append(each.held)
    said = format_right(proof, lambda agent: f"agent-{agent}")

    assert {name: (sum(claims), len(claims)) for name, claims in held.items()} == {
        name: (int(some), int(of))
        for name, some, of in re.findall(r"(agent-\d) (\d) of (\d)", said)
    }


def test_names_of_a_large_table_are_counted_from_the_seventh_on() -> None:
    proposals = [Proven(id, id, "c", 0.1, 0.2, True, None, None) for id in range(20)]
    proof = Proof(0, ("value", "up", "here"), 0.0, proposals, [], [], 0, ())

    assert format_right(proof, str).endswith(", 5 1 of 1 and 14 more workers.")


def test_a_challenge_is_right_if_the_part_that_it_names_does_not_hold() -> None:
    seen = set()
    for path, units in ((odd(), ASSIGNMENTS), (season_path("every-code"), 24)):
        spoken = {
            (event.unit, event["table"], event["id"]): event for event in events_of(path)
            if event.name == "spoke"
        }  # fmt: skip
        for unit in range(units):
            for number, proof in enumerate(proofs(path, unit)):
                by_id = {each.id: each for each in proof.proposals}
                for each in challenges_of(proof):
                    event = spoken[unit, number, each.id]
                    target = by_id[each.target]
                    held = target.held if each.part == Part.BASE else target.edge_held
                    said = format_challenge(each, proof, lambda agent: f"agent-{agent}")

                    assert ("challenge", event["agent"]) == (event["move"], each.agent)
                    assert (each.target, each.part) == (event["target"], event["part"])
                    assert each.is_sustained == (held is False)
                    assert (", rightly: " in said) == each.is_sustained
                    assert f" #{each.target} of agent-{target.agent}" in said
                    seen.add((each.part, each.is_sustained))
    assert {"base", "edge"} == {part for part, _ in seen}
    assert {True, False} == {is_sustained for _, is_sustained in seen}


def test_the_quality_of_a_conclusion_is_said_or_that_it_is_not_known() -> None:
    proof = Proof(0, ("value", "up", "here"), 0.0, [], [], [], None, ())
    concluded = Proof(0, ("value", "up", "here"), 0.0, [], [], [], 3, ())
    nearly = Quality(0.99976, 0.9, 0.25, 0.25, 0.0)

    assert "not known in this arena" in format_quality(proof, None)
    assert "The bar's conduct, which stays, is better than 40% of" in format_quality(
        proof, Quality(0.4, 0.1, 0.5, 0.5, 0.0)
    )
    assert "better than more than 99.9% of all" in format_quality(concluded, nearly)
    assert "the best of all is better by 0.25." in format_quality(concluded, nearly)
    assert "no conduct is better." in format_quality(concluded, Quality(0.9999, 1.0, 0.0, 0.0, 0.0))


def test_challenges_are_in_the_plain_values_of_a_proof() -> None:
    [proof] = proofs(odd(), 0)
    plain = json.loads(json.dumps(proof.as_dict()))["challenges"]

    assert [Challenge(**each) for each in plain] == list(proof.challenges)
