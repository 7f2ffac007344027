"""From the text of an arena to its record, and from the record to its rules and its bench."""

import re
from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from goldrush.agents.players import Resources
from goldrush.agents.worlds.competition.arenas import (
    NAMES,
    NoProgram,
    UnknownArena,
    arena_entry,
    arena_record,
    arena_type,
    arenas,
    bench_of,
    bench_type,
    opened_tests,
    rules_of,
    seeded_setting,
    with_program,
)
from goldrush.agents.worlds.competition.players import SEASON_PLAYERS, configured, prepared
from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.competition.arena import Arena, Subject
from goldrush.kernel.worlds.competition.state import initial

PLAIN = Arena(
    "command",
    1,
    {
        "program": "grade", "sha256": "0" * 64, "agenda": (("t", "o", "up", "", ""),), "seeds": 1,
        "time_limit": 1, "output_limit": 99, "deterministic": True,
    },
    (Subject("o", "up", "t", "t"),),
)  # fmt: skip


def test_all_arenas_have_both_halves_and_say_which_default_is_the_seed() -> None:
    assert list(NAMES) == arenas()
    for name in NAMES:
        entry = arena_entry(name)

        assert arena_type(name).version == entry["version"]
        assert (bench_type(name).program is not None) == entry["takes_program"]
        assert "seeds" in [option["option"] for option in entry["options"]]
    last = arena_entry("nk")["options"][-1]
    assert ("landscape", None, "seed") == (last["option"], last["default"], last["default_from"])
    assert not any("default_from" in option for option in arena_entry("mining")["options"])


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (None, {"agents": 10, "rounds": 100, "seeds": 5}),
        (" nk ", {"seeds": 5, "noise": 0.05, "drift": 0.2, "landscape": 9}),
        ("nk [landscape=7; seeds = 3]", {"seeds": 3, "noise": 0.05, "drift": 0.2, "landscape": 7}),
    ],
)
def test_a_text_becomes_a_record_with_all_options_in_one_order(
    text: str | None, options: dict[str, float]
) -> None:
    assert list(options.items()) == list(arena_record(text, seed=9).options.items())


def test_an_option_whose_default_is_the_seed_is_filled_unless_it_is_typed() -> None:
    def landscape(settings: Mapping[str, Any]) -> Any:
        return configured({"arena": "nk", **settings}).arena.options["landscape"]

    assert 0 == landscape({})
    assert 2**53 - 1 == landscape({"seed": 2**53 - 1})
    assert 7 == landscape({"seed": 3, "arena": "nk[landscape=7]"})
    assert 7 == landscape({"seed": 3, "arena": arena_record("nk", seed=7)})
    with pytest.raises(BadInput, match="seed is -1"):
        landscape({"seed": -1})
    with pytest.raises(BadInput, match="arena nk: landscape is -1"):
        arena_record("nk[landscape=-1]")


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        ("nk", 2, [("arena", "options", "landscape")]),
        ("nk", 1, []),
        ("nowhere", 1, []),
        (3, None, []),
    ],
)
def test_which_setting_follows_the_seed_is_known_of_arenas_that_are_here(
    name: Any, version: Any, expected: list[Any]
) -> None:
    record = {**arena_record("nk").as_dict(), "name": name, "version": version}

    assert expected == list(seeded_setting({"arena": record}))
    assert () == seeded_setting({}) == seeded_setting({"arena": None})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nk[a=1]x", "is no arena"),
        ("nk[noise=1;noise=2]", "sets noise twice"),
        ("nk[seeds=1 noise=0]", "nk[seeds=1;noise=0]"),
        ("nk[noise=2]", "arena nk: noise is 2"),
        ("mining[agents=1000;rounds=10000]", "50,000,000"),
    ],
)
def test_what_is_no_arena_is_refused(text: str, says: str) -> None:
    with pytest.raises(BadInput, match=re.escape(says)):
        arena_record(text)


def test_only_an_arena_that_is_tested_by_a_program_takes_one() -> None:
    for act in (
        lambda: arena_record("nk", test="/bin/true"),
        lambda: bench_of(arena_record("nk"), "/bin/true"),
        lambda: with_program(arena_record("nk"), "/bin/true"),
    ):
        with pytest.raises(BadInput, match="takes no program"):
            act()
    with pytest.raises(NoProgram):
        bench_of(PLAIN)
    with pytest.raises(BadInput, match="sha256 is set"):
        arena_record("command[sha256=1]", test="/bin/true")


def test_the_record_of_a_fork_names_the_program_that_it_is_given() -> None:
    other = with_program(PLAIN, "/bin/true")

    assert ("true", list(PLAIN.options)) == (other.options["program"], list(other.options))
    assert {**other.options, "program": "grade", "sha256": "0" * 64} == PLAIN.options


@pytest.mark.parametrize("is_deterministic", [True, False])
def test_a_program_that_changes_its_mind_judges_nobody(is_deterministic: bool) -> None:
    arena = with_program(PLAIN, "/bin/true")
    arena = attrs.evolve(arena, options={**arena.options, "deterministic": is_deterministic})
    setup = prepared(configured({"arena": arena, "workers": 3})).setup
    check = SEASON_PLAYERS.policy_check(Resources(program="/bin/true"))
    found = check(initial(setup, rules_of(arena)), ())
    found.close()

    assert (is_deterministic, is_deterministic) == (found.ask is not None, not found.not_asked)


@pytest.mark.parametrize("changed", [{"version": 1}, {"name": "elsewhere"}])
def test_an_arena_that_is_not_here_is_told_apart_from_a_wrong_record(
    changed: dict[str, Any],
) -> None:
    arena = attrs.evolve(arena_record("nk"), **changed)
    for judge in (rules_of, bench_of, opened_tests):
        with pytest.raises(UnknownArena):
            judge(arena)
    with pytest.raises(BadInput) as wrong:
        rules_of(attrs.evolve(arena_record("nk"), options={"seeds": 5}))
    assert not isinstance(wrong.value, UnknownArena)
