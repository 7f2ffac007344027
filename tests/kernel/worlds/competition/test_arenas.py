"""The rules of the arenas: canonical conducts, distances, bars; nk against a second telling."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import attrs
import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from goldrush.agents.worlds.competition.bench import Bench
from goldrush.agents.worlds.competition.benches import mining as mining_bench
from goldrush.agents.worlds.competition.benches import nk as nk_bench
from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.competition.arena import Arena, ArenaType, Rules, Subject, arena_of
from goldrush.kernel.worlds.competition.arenas import command, mining, nk
from tests.arena_oracle import nk_values

AGENDA = (
    ("short", "words", "up", "Write many words.", "one\ntwo"),
    ("short", "errors", "down", "", ""),
    ("long", "words", "up", "Write more.", "one"),
)
COMMAND: dict[str, Any] = {"program": "grade", "sha256": "0" * 64, "agenda": AGENDA}


def arena(name: str, type_: ArenaType, assignments: int = 40, **options: Any) -> Arena:
    made = type_.options(**options)
    recorded = attrs.asdict(made, recurse=False)
    return arena_of(Arena(name, 1, recorded, tuple(type_.subjects(made, assignments))).as_dict())


MINING = mining.ARENA.rules_of(arena("mining", mining.ARENA))
NK = nk.ARENA.rules_of(arena("nk", nk.ARENA))
COMMANDED = command.ARENA.rules_of(arena("command", command.ARENA, **COMMAND))
RULES = {"mining": MINING, "nk": NK, "command": COMMANDED}
TYPES = {"mining": mining.ARENA, "nk": nk.ARENA, "command": command.ARENA}

# Conducts, canonical for the first subject.
UNDER = MINING.arena.subjects[0].treatment
LINES = st.lists(st.sampled_from(["a", "b", " b", "", "c d"]), max_size=6).map("\n".join)
CANONICAL: dict[str, st.SearchStrategy[Any]] = {
    "mining": st.sampled_from(mining_bench.conducts(UNDER)),
    "nk": st.sampled_from(nk.CONDUCTS),
    "command": LINES.map(command.trimmed),
}
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=14),
    lambda inner: st.lists(inner, max_size=5).map(tuple),
    max_leaves=6,
)

# Of all arenas


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_the_bar_is_a_canonical_conduct_of_its_subject(rules: Rules) -> None:
    for subject in rules.arena.subjects:
        bar = rules.bar(subject)

        assert rules.conduct.holds(bar)
        assert rules.is_canonical(bar, subject.treatment)
        assert "\n" not in rules.describe(bar)
        assert subject.treatment in rules.treatments


@pytest.mark.parametrize("name", RULES)
@given(data=st.data())
def test_distance_is_0_for_equals_and_the_same_both_ways(name: str, data: st.DataObject) -> None:
    rules = RULES[name]
    one, other = data.draw(CANONICAL[name]), data.draw(CANONICAL[name])
    distance = rules.distance(one, other)

    assert rules.is_canonical(one, UNDER)
    assert (distance == 0) is (one == other)
    assert distance == rules.distance(other, one)
    assert distance in (0, 1, 2)


@pytest.mark.parametrize("name", RULES)
@given(value=PLAIN)
def test_whatever_an_act_holds_it_is_judged(name: str, value: Any) -> None:
    rules = RULES[name]
    if rules.conduct.holds(value):
        rules.is_canonical(value, UNDER)
        rules.distance(value, rules.bar(rules.arena.subjects[0]))
        assert rules.describe(value)


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        ("nk", ("value", "down", "0.0", "0")), ("nk", ("value", "up", "0.0", "1")),
        ("nk", ("value", "up", "0.25000", "0")), ("nk", ("value", "up", "4.0", "4")),
        ("nk", ("value", "up", "0.00", "0")), ("nk", ("value", "up", "٠.0", "٠")),
        ("mining", ("gini", "up", "baseline", "gini in baseline")),
        ("mining", ("gini", "down", "paradise", "gini in paradise")),
        ("command", ("words", "up", "short", "words")),
    ],
)  # fmt: skip
def test_a_record_with_a_subject_that_the_arena_does_not_have_is_refused(
    name: str, subject: tuple[str, ...]
) -> None:
    with pytest.raises(BadInput):
        TYPES[name].rules_of(attrs.evolve(RULES[name].arena, subjects=(Subject(*subject),)))


@pytest.mark.parametrize("name", RULES)
def test_a_record_has_the_options_of_the_arena_in_order(name: str) -> None:
    known = RULES[name].arena
    for options in (
        {"seeds": 5}, {**known.options, "seeds": True}, dict(reversed(known.options.items()))
    ):  # fmt: skip
        with pytest.raises(BadInput):
            TYPES[name].rules_of(attrs.evolve(known, options=options))


# mining


def test_there_are_288_conducts_of_a_treatment_and_no_others() -> None:
    every = set(mining_bench.conducts("scarce"))
    policies = (None, "mine", "raid", "Mine", "x:Y")
    others = product(policies, policies, range(-1, 7), ("scarce", "baseline"))

    assert 288 == len(every)
    assert all(mining.is_canonical(known, "scarce") for known in every)
    assert [] == [c for c in others if mining.is_canonical(c, "scarce") is not (c in every)]


@pytest.mark.parametrize(
    ("other", "away"),
    [(("claim", "mine", 2, "scarce"), 0), (("claim", "mine", 2, "baseline"), 1),
     (("claim", "raid", 3, "baseline"), 2)],
)  # fmt: skip
def test_the_distance_of_conducts_is_the_fields_that_differ(other: Any, away: int) -> None:
    assert away == MINING.distance(("claim", "mine", 2, "scarce"), other)


@pytest.mark.parametrize(
    ("answer", "conduct"),
    [
        ({"majority": "raid", "minority": "mine", "share": 2}, ("raid", "mine", 2, "scarce")),
        (["Raid", " mine", 2], ("raid", "mine", 2, "scarce")),
        (("raid", "mine", 2, "BASELINE"), ("raid", "mine", 2, "baseline")),
        (("raid", "", None), ("raid", None, 0, "scarce")),
        (["raid"], ["raid"]), (None, None),
    ],
)  # fmt: skip
def test_an_answer_is_read_leniently_or_stays_what_it_is(answer: Any, conduct: Any) -> None:
    assert conduct == bench_of_mining().read(answer, "scarce")


def test_only_the_default_options_are_screened_and_others_say_so() -> None:
    screened = sum(map(len, mining.SCREENED.values()))
    for options, subjects in (({}, screened), ({"agents": 9}, 68), ({"seeds": 4}, 68)):
        assert subjects == len(arena("mining", mining.ARENA, **options).subjects)
        assert (bench_of_mining(**options).remark() is None) is (subjects == screened)


def bench_of_mining(**options: int) -> Bench:
    return mining_bench.BENCH.opened(mining.MiningOptions(**options), None)


def test_a_test_of_mining_is_at_most_a_million_turns() -> None:
    mining.MiningOptions(agents=1_000, rounds=10, seeds=100)
    with pytest.raises(BadInput):
        mining.MiningOptions(agents=1_000, rounds=10, seeds=101)


# nk


def naive_run(
    landscape: int, treatment: str, bits: str, seed: int, drift: float, noise: float
) -> float:
    key = msgpack.packb(["noise", landscape, treatment, bits, seed])
    uniforms = [(xxh3_64_intdigest(key, k) >> 11) * 2.0**-53 for k in range(12)]
    total = 0.0
    for uniform in uniforms:
        total += uniform
    return nk_values(landscape, treatment, drift)[bits] + noise * (total - 6)


TREATMENT = st.builds("{}.{}".format, st.integers(0, 3), st.integers(0, 12))
BITS = st.text("01", min_size=12, max_size=12)


@settings(max_examples=40)
@given(
    st.integers(0, 2**53 - 1),
    TREATMENT,
    BITS,
    st.integers(0, 2**53),
    st.sampled_from([0, 0.2, 0.9, 1]),
    st.floats(0, 1),
)
def test_a_run_of_nk_is_what_the_page_says(
    landscape: int, treatment: str, bits: str, seed: int, drift: float, noise: float
) -> None:
    options = nk.NkOptions(drift=drift, noise=noise, landscape=landscape)

    value, _ = nk_bench.BENCH.opened(options, None).test(bits, treatment, "value", seed)

    assert naive_run(landscape, treatment, bits, seed, drift, noise) == value


@pytest.mark.parametrize(
    ("landscape", "treatment", "drift"),
    [(8, "3.7", 0.2), (2**53 - 1, "1.9", 0)],
)
def test_the_bar_of_nk_has_its_rank(landscape: int, treatment: str, drift: float) -> None:
    values = nk_values(landscape, treatment, drift)
    rules = nk.ARENA.rules_of(arena("nk", nk.ARENA, landscape=landscape, drift=drift))
    bar = rules.bar(rules.arena.by_key["value", treatment])

    assert 4_096 == len(set(nk.CONDUCTS))
    assert 2_457 == sum(value < values[bar] for value in values.values())
    assert 4_096 - 2_458 == sum(value > values[bar] for value in values.values())


@pytest.mark.parametrize(("assignments", "generations"), [(1, 10), (41, 11)])
def test_the_agenda_of_nk_goes_generation_by_generation(assignments: int, generations: int) -> None:
    subjects = arena("nk", nk.ARENA, assignments).subjects

    assert [
        ("value", "up", f"{family}.{generation}", str(family))
        for generation in range(generations)
        for family in range(4)
    ] == [attrs.astuple(subject) for subject in subjects]


# command


@pytest.mark.parametrize(
    ("text", "trimmed"),
    [("a \t\r\nb", "a\nb"), ("a\n\n \n", "a"), ("\n\n a", "\n\n a"), ("a\u2028 b \n", "a\u2028 b")],
)  # fmt: skip
def test_a_text_is_trimmed_at_the_ends_of_its_lines_and_at_its_own(text: str, trimmed: str) -> None:
    assert trimmed == command.trimmed(text) == command.trimmed(trimmed)
    assert COMMANDED.is_canonical(text, "short") is (text == trimmed)


@pytest.mark.parametrize(
    ("one", "other", "away"),
    [("a\nb\nc", "a\nb \nc\n", 0), ("c\nc", "x\nc", 1), ("a\nb\nc", "x\nb\ny", 2)],
)
def test_texts_are_near_where_one_run_of_lines_differs(one: str, other: str, away: int) -> None:
    assert away == command.distance(one, other) == command.distance(other, one)


@given(LINES, LINES)
def test_texts_are_near_where_a_least_edit_has_one_place(one: str, other: str) -> None:
    a, b = (command.trimmed(text).split("\n") for text in (one, other))
    kept = longest_common(a, b)
    fronts = range(min(len(a), len(b), kept) + 1)
    in_one_place = any(
        a[:k] == b[:k] and (a[len(a) - kept + k :] == b[len(b) - kept + k :]) for k in fronts
    )

    assert command.distance(one, other) == (0 if a == b else 1 if in_one_place else 2)


def longest_common(a: Sequence[str], b: Sequence[str]) -> int:
    if not a or not b:
        return 0
    if a[0] == b[0]:
        return 1 + longest_common(a[1:], b[1:])
    return max(longest_common(a[1:], b), longest_common(a, b[1:]))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("program", "a/b"), ("program", "a\nb"), ("sha256", "0" * 63), ("time_limit", 0),
        ("time_limit", float("nan")), ("deterministic", 1), ("agenda", (AGENDA[0], AGENDA[0])),
        ("agenda", (AGENDA[0], ("b", "words", "down", "", ""))), ("agenda", ("short",)),
        ("agenda", (("short", "words", "up", "", "a \nb"),)),
        ("agenda", (("short", "words", "more", "", ""),)),
        ("agenda", (("short", "words", "up", "", "x" * 4_001),)),
        ("agenda", (("short", "words", "up", "\ud800", ""),)),
    ],
)  # fmt: skip
def test_what_no_record_of_a_program_has_is_refused(name: str, value: Any) -> None:
    known = COMMANDED.arena
    with pytest.raises(BadInput, match=f"{name} is "):
        command.ARENA.rules_of(attrs.evolve(known, options={**known.options, name: value}))


def test_a_program_has_an_agenda() -> None:
    with pytest.raises(BadInput):
        command.CommandOptions(**COMMAND | {"agenda": ()})


def test_a_treatment_of_a_program_is_a_family_and_its_start_the_bar() -> None:
    subjects = COMMANDED.arena.subjects

    assert ("short", "long") == tuple(COMMANDED.treatments)
    assert ["short", "short", "long"] == [subject.family for subject in subjects]
    assert ["one\ntwo", "", "one"] == [COMMANDED.bar(subject) for subject in subjects]
