"""From the text of an arena to its record, and from the record to its rules and its bench."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    remark_of,
    rules_of,
    seeded_setting,
    with_program,
)
from goldrush.agents.worlds.competition.players import configured
from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.competition.arena import Arena, arena_of
from tests.cli.helpers import goldrush

PLAIN = Arena(
    "command",
    1,
    {
        "program": "grade", "sha256": "0" * 64, "agenda": (("t", "o", "up", "", ""),), "seeds": 1,
        "time_limit": 1, "output_limit": 99, "deterministic": True,
    },
    arena_record("nk").subjects[:1],
)  # fmt: skip


def test_all_arenas_have_both_halves() -> None:
    assert list(NAMES) == arenas()
    for name in NAMES:
        one = arena_entry(name)

        assert (arena_type(name).version, bench_type(name).program is not None) == (
            one.version,
            one.takes_program,
        )
        assert "seeds" in [option for option, _, _ in one.options]


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        (None, "mining", {"agents": 10, "rounds": 100, "seeds": 5}),
        (" nk ", "nk", {"seeds": 5, "noise": 0.05, "drift": 0.2, "landscape": 9}),
        ("nk[]", None, {}),
        (
            "nk[drift=0; noise = 0.1]",
            "nk",
            {"seeds": 5, "noise": 0.1, "drift": 0, "landscape": 9},
        ),
        (
            "nk [landscape=7;seeds=3]",
            "nk",
            {"seeds": 3, "noise": 0.05, "drift": 0.2, "landscape": 7},
        ),
    ],
)
def test_a_text_becomes_a_record_with_all_options_in_one_order(
    text: str | None, name: str | None, options: dict[str, float]
) -> None:
    if name is None:
        with pytest.raises(BadInput, match="between its brackets"):
            arena_record(text)
        return
    found = arena_record(text, seed=9)

    assert (name, list(options.items())) == (found.name, list(found.options.items()))


def test_an_option_whose_default_is_the_seed_is_filled_unless_it_is_typed() -> None:
    def landscape(settings: Mapping[str, Any], **options: Any) -> Any:
        return configured({"arena": "nk", **settings}, options=options).arena.options["landscape"]

    assert 0 == landscape({})
    assert 2**53 - 1 == landscape({"seed": 2**53 - 1})
    assert 7 == landscape({"seed": 3, "arena": "nk[landscape=7]"})
    assert 7 == landscape({"seed": 3}, landscape=7)
    assert 7 == landscape({"seed": 3, "arena": arena_record("nk", seed=7)})
    with pytest.raises(BadInput, match="seed is -1"):
        landscape({"seed": -1})
    with pytest.raises(BadInput, match="arena nk: landscape is -1"):
        arena_record("nk[landscape=-1]")


def test_the_catalogue_says_which_default_is_the_seed(tmp_path: Path) -> None:
    of_nk, of_mining = arena_entry("nk"), arena_entry("mining")

    assert ("landscape", None) == (of_nk.seeded, of_mining.seeded)
    assert ("landscape", None) == of_nk.options[-1][:2]
    assert (
        "  landscape      the season's seed; a whole number" in goldrush("arenas", cwd=tmp_path).out
    )
    listed = {
        one["arena"]: one["options"]
        for one in json.loads(goldrush("arenas", "--json", cwd=tmp_path).out)
    }
    assert ("landscape", None, "seed") == tuple(
        listed["nk"][-1][name] for name in ("option", "default", "default_from")
    )
    assert "default_from" not in listed["nk"][0]


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        ("nk", 2, [("arena", "options", "landscape")]),
        ("nk", 1, []),
        ("mining", 2, []),
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


@given(st.integers(1, 60), st.floats(0, 1), st.sampled_from(["nk", "mining"]))
def test_a_record_is_the_same_when_it_is_read_from_a_journal(
    seeds: int, noise: float, name: str
) -> None:
    more = f";noise={noise!r}" if name == "nk" else ""
    found = arena_record(f"{name}[seeds={seeds}{more}]", 44)
    again = arena_of(unpack(pack(found.as_dict())))

    assert found == again
    assert rules_of(again).treatments == rules_of(found).treatments


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "'' is no arena; write arena or arena[option=value]"),
        ("nk[", "'nk[' is no arena"),
        ("nk[a=1]x", "is no arena"),
        ("nk[noise]", "has 'noise' between its brackets"),
        ("nk[noise=1;noise=2]", "sets noise twice"),
        (
            "nk[seeds=1, noise=0,drift=0]",
            "has '1, noise=0,drift=0' as the value of seeds; a semicolon separates them: "
            "nk[seeds=1;noise=0;drift=0]",
        ),
        ("nk[seeds=1 noise=0]", "a semicolon separates them: nk[seeds=1;noise=0]"),
        ("nk[noise=2]", "arena nk: noise is 2; it must be a number from 0 to 1"),
        (
            "nk[agents=2]",
            "arena nk: there is no setting 'agents'; take one of seeds, noise, drift, landscape",
        ),
        ("nks", "there is no arena 'nks' here; did you mean nk? install its distribution"),
        ("mining[agents=1000;rounds=10000]", "arena mining: agents x rounds x seeds is 50,000,000"),
        ("command", "the arena command is tested by a program; give it (--test PROGRAM)"),
    ],
)
def test_what_is_no_arena_is_refused_in_a_line(text: str, says: str) -> None:
    with pytest.raises(BadInput, match=re.escape(says)) as refused:
        arena_record(text)

    assert "\n" not in str(refused.value)


def test_only_an_arena_that_is_tested_by_a_program_takes_one() -> None:
    arena = arena_record("nk")
    for act in (arena_record, lambda text, **how: bench_of(arena, **how)):
        with pytest.raises(BadInput, match="the arena nk takes no program; leave it out"):
            act("nk", test="/bin/true")
    with pytest.raises(BadInput, match="takes no program"):
        with_program(arena, "/bin/true")
    with pytest.raises(NoProgram):
        bench_of(PLAIN)


def test_a_program_is_not_named_by_hand() -> None:
    with pytest.raises(BadInput, match="sha256 is set; leave it out"):
        arena_record("command[sha256=1]", test="/bin/true")


def test_the_record_of_a_fork_names_the_program_that_it_is_given() -> None:
    other = with_program(PLAIN, "/bin/true")

    assert ("true", list(PLAIN.options)) == (other.options["program"], list(other.options))
    assert {**other.options, "program": "grade", "sha256": "0" * 64} == PLAIN.options
    assert other == with_program(other, "/bin/true")


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"version": 1}, "the arena nk has version 2 here, not 1"),
        ({"name": "elsewhere"}, "there is no arena 'elsewhere' here"),
    ],
)
def test_an_arena_that_is_not_here_is_told_apart_from_a_wrong_record(
    changed: dict[str, Any], says: str
) -> None:
    arena = attrs.evolve(arena_record("nk"), **changed)
    for judge in (rules_of, bench_of, remark_of, opened_tests):
        with pytest.raises(UnknownArena, match=says):
            judge(arena)
    with pytest.raises(BadInput) as wrong:
        rules_of(attrs.evolve(arena_record("nk"), options={"seeds": 5}))
    assert not isinstance(wrong.value, UnknownArena)


def test_what_a_person_must_know_of_an_arena_is_a_line() -> None:
    assert remark_of(arena_record("mining")) is None
    assert "only for the default options" in (remark_of(arena_record("mining[seeds=4]")) or "")
