"""What a season is made of, what a fork of it may change, and its state as a whole
(kernel/worlds/competition/README.md 1, 10).
"""

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.competition import competition
from goldrush.kernel.worlds.competition.arenas import mining
from goldrush.kernel.worlds.competition.config import config_of
from goldrush.kernel.worlds.competition.contract import Contract
from goldrush.kernel.worlds.competition.memory import Remembered
from goldrush.kernel.worlds.competition.terms import Phase
from tests.kernel.worlds.competition.seasons import (
    ADA,
    BEN,
    BITS,
    MINERS,
    MINING,
    SUBJECT,
    Season,
    adopted,
    cast_of,
    given,
    propose,
)

WORLD = competition(mining.ARENA.rules_of(MINING))


def config(**settings: Any) -> dict[str, Any]:
    return config_of({"arena": MINING, "workers": 3} | settings).as_dict()


# Settings


def test_settings_have_the_defaults_of_the_page() -> None:
    assert {
        "seed": 0, "assignments": 40, "assignments_per_day": 2, "assignments_per_project": 5,
        "workers": 6, "moves": 3, "moves_expanded": 5, "rounds_max": 5, "scoring": "relative",
        "rolling_days": 7, "sparks_start": 8, "entry_fee": (3, 4), "passive_income": 2,
        "elimination_bottoms": 3, "worker_tiers": (5, 10, 20, 25), "admin_projects": 3,
        "assistant_stages": (5, 10, 20, 30), "judge_stages": (5, 15, 30),
        "therapist_stages": (5, 15, 30), "trials": (4, 6), "arena": MINING.as_dict(),
        "elimination": True, "tiers": True, "challenges": True, "judged": True, "memory": True,
        "table": True,
    } == config_of({"arena": MINING}).as_dict()  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("workers", 2), ("workers", 1_001), ("workers", True), ("scoring", "fair"),
        ("entry_fee", (5, 4)), ("entry_fee", (4,)), ("entry_fee", (3, 4, 5)),
        ("worker_tiers", (1, 2, 3)),
        ("judge_stages", (3, 2, 1)), ("elimination_bottoms", 0), ("luck", 1), ("trials", (6, 4)),
        ("trials", 4), ("tiers", None), ("table", ()),
    ],
)  # fmt: skip
def test_a_setting_out_of_range_is_refused(name: str, value: Any) -> None:
    with pytest.raises(BadInput, match=name):
        config_of({"arena": MINING, name: value})


def test_a_season_has_an_arena() -> None:
    with pytest.raises(BadInput, match="no arena"):
        config_of({"workers": 3})


# The cast


def broken(change: Callable[[list[dict[str, Any]]], object]) -> Any:
    cast = cast_of(3)
    change(cast)
    return cast


@pytest.mark.parametrize(
    "cast",
    [
        None, broken(lambda cast: cast.pop()),
        broken(lambda cast: cast.append(dict(cast[-1], ordinal=8, name="dov"))),
        broken(lambda cast: cast[7].update(name="ben")),
        broken(lambda cast: cast[7].update(ordinal=8)),
        broken(lambda cast: cast[7].update(role="king")),
        broken(lambda cast: cast[7].update(role="judge")),
        broken(lambda cast: cast[7].update(options={"a": [1]})),
        broken(lambda cast: cast[2].update(role="worker")),
    ],
)  # fmt: skip
def test_a_cast_that_is_not_whole_is_refused(cast: Any) -> None:
    with pytest.raises(BadInput):
        WORLD.initial({"config": config(), "cast": cast})


@pytest.mark.parametrize(
    ("name", "is_right"),
    [
        ("", False), ("a\nb", False), ("\u202eadmin", False), ("\ud800", False), ("x" * 61, False),
        ("Ada Lovelace", True), ("阿达", True), ("x" * 60, True),
    ],
)  # fmt: skip
def test_a_name_is_short_and_does_not_play_with_a_terminal(name: str, is_right: bool) -> None:
    setup = {"config": config(), "cast": broken(lambda cast: cast[ADA].update(name=name))}

    if is_right:
        assert name == WORLD.initial(setup).agents[ADA].name
    else:
        with pytest.raises(BadInput):
            WORLD.initial(setup)


@pytest.mark.parametrize(
    "setup",
    [
        {"config": dict(reversed(config().items())), "cast": cast_of(3)},
        {"config": {"arena": MINING.as_dict(), "workers": 3}, "cast": cast_of(3)},
        {"cast": cast_of(3), "config": config()},
        {"config": config()},
    ],
)
def test_a_setup_has_every_setting_in_order_and_a_cast(setup: Any) -> None:
    with pytest.raises(BadInput):
        WORLD.initial(setup)


# Forks


UNCHANGED: Any = {
    "parent": "ab" * 32, "changes": {}, "cast": None, "program": None, "replaced": [],
}  # fmt: skip


def forked(season: Season, **facts: Any) -> Any:
    assert WORLD.fork is not None
    return WORLD.fork(season.state, UNCHANGED | facts, lambda first: ())


def row(table: int = 0, round: int = 0, agent: int = ADA) -> Any:
    return (table, round, 0, agent, "pass", None, None, None, None, "", None, None)


def test_a_fork_replaces_contributions_that_are_still_to_come() -> None:
    replaced = [(1, row()), (1, row(round=1)), (2, row(agent=BEN))]

    assert 1 == forked(given().closes(), replaced=replaced).assignment
    shown = WORLD.show_fork(UNCHANGED | {"replaced": replaced})
    assert [[1, ADA], [1, ADA], [2, BEN]] == shown["replaced"]


def test_a_fork_may_be_tested_by_another_program() -> None:
    season = given()
    arena = attrs.evolve(MINING, options={"program": "a.py", "sha256": "ab", "seeds": 1})
    season.state.config = attrs.evolve(season.state.config, arena=arena)

    state = forked(season, program={"sha256": "cd"})

    assert {"program": "a.py", "sha256": "cd", "seeds": 1} == state.arena.options
    for wrong in ({"sha256": "cd"}, {"seeds": "2"}, {"seeds": 2}, {"colour": "red"}, {}):
        with pytest.raises(BadInput, match="the program is"):
            forked(season, program=wrong)


@pytest.mark.parametrize(
    "facts",
    [
        {"parent": "ab"}, {"parent": None}, {"changes": {"workers": 4}},
        {"changes": {"arena": BITS.as_dict()}}, {"changes": {"luck": 4}},
        {"changes": {"moves": 0}}, {"changes": {"assignments": 1}}, {"cast": []},
        {"cast": [{"ordinal": 0, "policy": "p"}]},
        {"cast": [{"ordinal": 0, "policy": "p", "options": {}}]}, {"replaced": [(1, row())]},
        {"replaced": [(2, row()), (2, row())]}, {"replaced": [(3, row()), (2, row())]},
        {"replaced": [(2, row()[:-1])]}, {"extra": 1},
    ],
)  # fmt: skip
def test_what_a_fork_cannot_change_is_refused(facts: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        forked(given().closes(2), **facts)


# The state


def lasting() -> Season:
    """A season of which as much as can be lasts."""
    season = given(worker_tiers=(1, 1, 1, 1), judge_stages=(1, 1, 1), trials=(2, 2)).turn(ADA)
    season.does(season.tried(ADA), season.spoke(propose(ADA)))
    season.to(Phase.ADOPT).does(adopted()).closes()
    season.says(propose(ADA)).signs(ADA, (("seat", None),), (1, 1), 9).until(2)
    season.state.approved, season.state.recommended = SUBJECT, (ADA, BEN)
    return season


# Of the assignment under way, or not of the season: gone when an assignment is closed.
_PASSING = [
    "rules", "phase", "steps", "opening", "proposed", "tables", "tried", "tried_early", "faced",
    "fates", "vacant", "interviewed", "offers", "agreed", "kept", "attempts",
]  # fmt: skip
_OTHER: dict[str, Any] = {
    "config": config_of({"arena": MINING, "workers": 3, "moves": 9}),
    "agents": {},
    "assignment": 7,
    "known": {MINERS: 3},
    "accepted": {SUBJECT: 0.125},
    "is_split": True,
    "approved": ("gini", "baseline"),
    "recommended": (BEN,),
    "projects": 9,
    "is_project_adopted": False,
    "leaderboard": (),
}


def test_the_digest_covers_every_field_that_lasts() -> None:
    state = lasting().state
    fields = [name for name in attrs.fields_dict(type(state)) if name not in _PASSING]
    assert fields == list(_OTHER)

    for name in fields:
        changed = attrs.evolve(state, **{name: _OTHER[name]})
        assert WORLD.digest(changed) != WORLD.digest(state), name


_ODD: Any = "other"
_OTHER_AGENT: dict[str, Any] = {
    "ordinal": 99, "name": "zeno", "role": "judge", "policy": "p", "options": {"a": 1},
    "status": "gone", "class_": "sonnet", "served": 9, "stage": 9, "is_self_determined": False,
    "sparks": 9, "bottoms": 9, "recent": ((9, 9),), "all_time": 9, "instructions": {"a": 1},
    "persona": "bold", "traits": ("calm",), "benched_in": 9, "interview_from": 9,
    "memory": {"gold": (Remembered("skill", 0, *SUBJECT),)}, "contract": None,
}  # fmt: skip


def test_the_digest_covers_every_field_of_an_agent_of_its_contract_and_of_a_fact() -> None:
    season = lasting()
    agent, before = season.of(ADA), WORLD.digest(season.state)
    contract, (fact, *_) = agent.contract, agent.memory["efficiency in baseline"]
    assert isinstance(contract, Contract)
    changes = [*_OTHER_AGENT.items()]
    for name in attrs.fields_dict(Contract):
        changes.append(("contract", attrs.evolve(contract, **{name: _ODD})))
    for name in attrs.fields_dict(Remembered):
        changes.append(("memory", {"a": (attrs.evolve(fact, **{name: _ODD}),)}))

    assert set(_OTHER_AGENT) == set(attrs.fields_dict(type(agent)))
    digests = {before}
    for name, value in changes:
        season.state.agents[ADA] = attrs.evolve(agent, **{name: value})
        digests.add(WORLD.digest(season.state))
        season.state.agents[ADA] = agent
    assert len(changes) + 1 == len(digests)
