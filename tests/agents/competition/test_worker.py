"""The scripted worker has a character; its instructions are parameters that a rewrite changes."""

from collections.abc import Mapping
from typing import Any

import attrs
import pytest
from goldrush.agents.competition.lab import Lab
from goldrush.kernel.competition.conduct import seeds_of_tests

from goldrush.agents.competition.cast import cast_of
from goldrush.agents.competition.character import (
    CHARACTERS,
    PERSONAS,
    TRAITS,
    Character,
    born_with,
    character_of,
    instructions_of,
)
from goldrush.agents.competition.seen import Seen
from goldrush.agents.competition.worker import Worker, trial_seeds
from goldrush.kernel.competition.config import config_of
from goldrush.kernel.competition.state import SPEAK, SeasonState, initial
from goldrush.kernel.competition.table import Contribution, Table
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput

CONFIG = config_of({"test_agents": 4, "test_rounds": 6, "test_seeds": 1})
WORKER = 5  # the first of them


def a_season() -> SeasonState:
    return initial({"config": CONFIG.as_dict(), "cast": cast_of(CONFIG.workers)})


def at_a_table(said: tuple[Contribution, ...] = (), bar: float | None = None) -> SeasonState:
    """A season whose first table is open, with this said so far."""
    state = a_season()
    order = tuple(state.active())
    table = Table(
        0, ("efficiency", "scarce"), 5, bar=bar, is_bar_tested=True, participants=order,
        order=order, moves=dict.fromkeys(order, 5),
    )  # fmt: skip
    for contribution in said:
        table.say(contribution)
    state.tables, state.phase = [table], SPEAK
    return state


def moves(instructions: Mapping[str, Any], state: SeasonState, lab: Lab) -> dict[str, int]:
    """How often a worker under these instructions makes each move, over many draws."""
    state.change(WORKER, instructions=instructions)
    counts: dict[str, int] = {}
    for n in range(60):
        said = Worker().speak(Seen(state, WORKER, lab), Draws(n, "worker"))
        counts[said["move"]] = counts.get(said["move"], 0) + 1
    return counts


A_PROPOSAL = Contribution(
    0, 0, 6, "propose", conduct=("greedy-mine", None, 0, "scarce"), claim=(0.9, None)
)


def test_doubt_makes_a_worker_challenge() -> None:
    lab, state = Lab(CONFIG), at_a_table((A_PROPOSAL,))
    calm = dict.fromkeys(TRAITS, 0)

    never = moves(calm, state, lab)
    often = moves({**calm, "doubt": 10}, state, lab)

    assert 0 == never.get("challenge", 0)
    assert 60 == often["challenge"]


def test_loyalty_makes_a_worker_support_what_others_propose() -> None:
    lab, state = Lab(CONFIG), at_a_table((A_PROPOSAL,))
    calm = {**dict.fromkeys(TRAITS, 0)}

    assert moves(calm, state, lab).get("support", 0) < moves(
        {**calm, "loyalty": 10}, state, lab
    ).get("support", 0)


@pytest.mark.parametrize(("boldness", "claims"), [(0, {0.01}), (10, None)])
def test_boldness_claims_what_was_found_and_timidity_the_bar(
    boldness: int, claims: set[float] | None
) -> None:
    lab, state = Lab(CONFIG), at_a_table((), bar=0.01)
    state.change(WORKER, instructions={**dict.fromkeys(TRAITS, 0), "boldness": boldness})
    said = [Worker().speak(Seen(state, WORKER, lab), Draws(n, "worker")) for n in range(40)]
    seeds = trial_seeds(Seen(state, WORKER, lab))
    proposed = [s["conduct"] for s in said if s["move"] == "propose"]
    values = [lab.value(conduct, "scarce", "efficiency", seeds)[0] for conduct in proposed]
    found = {round(value, 4) for value in values if value is not None}

    assert (claims or found) == {s["claim"][0] for s in said if s["move"] == "propose"}


def test_what_a_worker_knows_to_be_worse_than_the_bar_it_does_not_propose() -> None:
    lab, state = Lab(CONFIG), at_a_table((), bar=1.0)

    assert {"pass": 60} == moves({"boldness": 9}, state, lab)


def test_the_boldest_now_and_then_claim_without_grounds() -> None:
    lab, state = Lab(CONFIG), at_a_table((), bar=1.0)

    bluffs = moves({"boldness": 10}, state, lab)["propose"]

    assert 0 < bluffs < 30


def test_workers_start_from_different_characters() -> None:
    born = [born_with(ordinal) for ordinal in range(5, 5 + len(CHARACTERS))]

    assert set(CHARACTERS) == set(born)
    assert len(set(CHARACTERS.values())) == len(CHARACTERS)


def test_instructions_go_before_character_and_persona_before_instructions() -> None:
    agent = attrs.evolve(a_season().agents[WORKER], options={"character": "skeptic"})
    rewritten = attrs.evolve(agent, instructions={"doubt": 2, "boldness": 99, "tone": "kind"})
    in_role = attrs.evolve(rewritten, persona="examiner")

    assert CHARACTERS["skeptic"] == character_of(agent)
    assert attrs.evolve(CHARACTERS["skeptic"], doubt=2, boldness=10) == character_of(rewritten)
    assert PERSONAS["examiner"]["doubt"] == character_of(in_role).doubt
    assert 2 == instructions_of(in_role)["doubt"]


@pytest.mark.parametrize("instructions", [{"doubt": "much"}, {"doubt": True}, {"": 1}, {}])
def test_instructions_that_say_nothing_change_nothing(instructions: dict[str, Any]) -> None:
    agent = attrs.evolve(a_season().agents[WORKER], instructions=instructions)

    assert CHARACTERS[born_with(WORKER)] == character_of(agent)


def test_own_trials_never_use_the_seeds_of_tests() -> None:
    state = a_season()
    state.config = config_of({"seed": 2**53 - 1, "test_seeds": 100})
    own = {seed for agent in range(5, 11) for seed in trial_seeds(Seen(state, agent, Lab(CONFIG)))}
    tested = {seed for at in range(50) for seed in seeds_of_tests(state.config, at, 0)}

    assert max(own) < 2**52 <= min(tested)
    assert max(tested) < 2**53
    assert 6 == len(own)


@pytest.mark.parametrize(
    "part", ["nobody=scripted", "ada", "ada=", "ada=nonsense", "=scripted", ""]
)
def test_a_cast_that_is_none_is_told(part: str) -> None:
    with pytest.raises(BadInput, match=r"casts nobody|there is no policy"):
        cast_of(6, [part])


def test_a_model_without_a_name_is_told_how_to_name_one() -> None:
    with pytest.raises(BadInput, match="llm alone names no model; write llm:MODEL"):
        cast_of(3, ["ada=llm"])


def test_the_last_word_on_somebody_counts() -> None:
    cast = cast_of(3, ["worker=mine:Worker", "ada=other:Worker"])

    assert ["other:Worker", "mine:Worker", "mine:Worker"] == [e["policy"] for e in cast[5:]]


def test_a_character_has_a_value_for_every_trait() -> None:
    assert TRAITS == tuple(attrs.asdict(Character()))
