"""The rules of the arenas: canonical conducts, distances, bars; nk against a second telling."""

from collections.abc import Sequence
from typing import Any

import attrs
import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.competition.arena import Arena, ArenaType, Rules, Subject, arena_of
from goldrush.kernel.worlds.competition.arenas import command, mining, nk

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

# Conducts, canonical for the first subject.
UNDER = MINING.arena.subjects[0].treatment
LINES = st.lists(st.sampled_from(["a", "b", " b", "", "c d"]), max_size=6).map("\n".join)
CANONICAL: dict[str, st.SearchStrategy[Any]] = {
    "mining": st.sampled_from(mining.conducts(UNDER)),
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


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(
    "changed",
    [
        {"options": {"seeds": 5}},
        {"subjects": (Subject("value", "down", "0.0", "0"),)},
        {"subjects": (Subject("gini", "up", "baseline", "gini in baseline"),)},
        {"subjects": (Subject("words", "up", "short", "words"),)},
    ],
)
def test_a_record_with_what_the_arena_does_not_have_is_refused(
    name: str, changed: dict[str, Any]
) -> None:
    types = {"mining": mining.ARENA, "nk": nk.ARENA, "command": command.ARENA}
    with pytest.raises(BadInput, match=f"arena {name}: "):
        types[name].rules_of(attrs.evolve(RULES[name].arena, **changed))


def by_assignment(options: nk.NkOptions, assignments: int) -> list[Subject]:
    return [Subject("value", "up", f"0.{number}", "0") for number in range(assignments)]


@pytest.mark.parametrize("assignments", [1, 3, 40])
def test_an_arena_that_lists_a_subject_for_each_assignment_has_those_that_it_listed(
    assignments: int,
) -> None:
    type_ = attrs.evolve(nk.ARENA, subjects=by_assignment, has=None)
    recorded = arena("nk", type_, assignments)
    other = attrs.evolve(recorded.subjects[0], treatment=f"0.{assignments}")

    assert recorded == type_.rules_of(recorded).arena
    with pytest.raises(BadInput, match="arena nk: a subject is"):
        type_.rules_of(attrs.evolve(recorded, subjects=(*recorded.subjects[1:], other)))


@pytest.mark.parametrize("name", RULES)
def test_an_option_out_of_its_range_is_refused(name: str) -> None:
    types = {"mining": mining.ARENA, "nk": nk.ARENA, "command": command.ARENA}
    known = RULES[name].arena
    with pytest.raises(BadInput, match=f"arena {name}: seeds is True; it must be a whole number"):
        types[name].rules_of(attrs.evolve(known, options={**known.options, "seeds": True}))


@pytest.mark.parametrize("name", ["nk", "command"])
def test_options_in_another_order_are_refused(name: str) -> None:
    types = {"nk": nk.ARENA, "command": command.ARENA}
    known = RULES[name].arena
    with pytest.raises(BadInput, match=f"arena {name}: .*; they must be "):
        types[name].rules_of(attrs.evolve(known, options=dict(reversed(known.options.items()))))


# mining


def test_there_are_288_conducts_each_of_which_is_canonical_there_and_nowhere_else() -> None:
    every = mining.conducts("scarce")

    assert 288 == len(set(every))
    assert all(mining.is_canonical(conduct, "scarce") for conduct in every)
    assert not any(mining.is_canonical(conduct, "baseline") for conduct in every)


@pytest.mark.parametrize(
    "conduct",
    [
        ("mine", None, 1, "scarce"), ("mine", "raid", 0, "scarce"), ("mine", "mine", 2, "scarce"),
        ("mine", "raid", 6, "scarce"), ("mine", "raid", -1, "scarce"), ("Mine", None, 0, "scarce"),
        ("mine", "x:Y", 2, "scarce"), ("x:Y", None, 0, "scarce"),
    ],
)  # fmt: skip
def test_what_is_written_otherwise_is_not_canonical(conduct: Any) -> None:
    assert MINING.conduct.holds(conduct)
    assert not MINING.is_canonical(conduct, "scarce")


@pytest.mark.parametrize(
    "value",
    [("mine", None, 0), ["mine", None, 0, "scarce"], ("mine", None, False, "scarce"),
     ("mine", None, 0.0, "scarce"), (1, None, 0, "scarce"), ("mine", 1, 0, "scarce")],
)  # fmt: skip
def test_a_conduct_has_four_fields_of_their_types(value: Any) -> None:
    assert not MINING.conduct.holds(value)


@pytest.mark.parametrize(
    ("other", "away"),
    [(("raid", "mine", 2, "scarce"), 1), (("claim", "mine", 2, "baseline"), 1),
     (("claim", None, 0, "scarce"), 2), (("claim", "mine", 2, "scarce"), 0),
     (("claim", "raid", 3, "baseline"), 2)],
)  # fmt: skip
def test_the_distance_of_conducts_is_the_fields_that_differ(other: Any, away: int) -> None:
    assert away == MINING.distance(("claim", "mine", 2, "scarce"), other)


@pytest.mark.parametrize(
    "answer",
    [{"majority": "raid", "minority": "mine", "share": 2}, ["Raid", " mine", 2],
     ("raid", "mine", 2, "SCARCE")],
)  # fmt: skip
def test_an_answer_is_read_leniently(answer: Any) -> None:
    assert ("raid", "mine", 2, "scarce") == MINING.read(answer, "scarce")


@pytest.mark.parametrize("answer", [None, "raid", [], ["raid"], 3])
def test_an_answer_that_is_none_stays_what_it_is(answer: Any) -> None:
    assert answer == MINING.read(answer, "scarce")


def test_only_the_default_options_are_screened_and_others_say_so() -> None:
    assert {"efficiency", "gini"} == set(MINING.arena.objectives)
    assert len(MINING.arena.subjects) == sum(map(len, mining.SCREENED.values()))
    for options in ({"agents": 9}, {"rounds": 99}, {"seeds": 4}):
        assert 68 == len(arena("mining", mining.ARENA, **options).subjects)
        assert mining.ARENA.remark(mining.MiningOptions(**options)) is not None
    assert mining.ARENA.remark(mining.MiningOptions()) is None


def test_a_test_of_mining_is_not_too_much_work() -> None:
    with pytest.raises(BadInput, match="agents x rounds x seeds is 1,010,000"):
        mining.MiningOptions(agents=1_000, rounds=10, seeds=101)


# nk


def naive_value(landscape: int, treatment: str, bits: str, drift: float) -> float:
    """As the page has it, a hash at a time."""
    family, generation = map(int, treatment.split("."))
    total = 0.0
    for i in range(12):
        h = 0
        for g in range(1, generation + 1):
            word = xxh3_64_intdigest(msgpack.packb(["drift", landscape, family, g, i]), 0)
            h = g if word < int(drift * 2**64) else h
        p = sum(int(bits[(i + k) % 12]) * 2**k for k in range(5))
        key = msgpack.packb(["landscape", landscape, family, h, i, p])
        total += (xxh3_64_intdigest(key, 0) >> 11) * 2.0**-53
    return total / 12


def naive_run(
    landscape: int, treatment: str, bits: str, seed: int, drift: float, noise: float
) -> float:
    key = msgpack.packb(["noise", landscape, treatment, bits, seed])
    uniforms = [(xxh3_64_intdigest(key, k) >> 11) * 2.0**-53 for k in range(12)]
    total = 0.0
    for uniform in uniforms:
        total += uniform
    return naive_value(landscape, treatment, bits, drift) + noise * (total - 6)


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

    assert naive_run(landscape, treatment, bits, seed, drift, noise) == nk.tested(
        treatment, bits, seed, options
    )


@pytest.mark.parametrize(
    ("landscape", "treatment", "drift"),
    [(0, "0.0", 0.2), (7, "3.7", 0.2), (8, "3.7", 0.2), (2**53 - 1, "1.9", 0)],
)
def test_the_bar_of_nk_has_its_rank(landscape: int, treatment: str, drift: float) -> None:
    values = {bits: naive_value(landscape, treatment, bits, drift) for bits in nk.CONDUCTS}
    bar = nk.bar(landscape, treatment, drift)

    assert 4_096 == len(set(nk.CONDUCTS))
    assert 2_457 == sum(value < values[bar] for value in values.values())
    assert 4_096 - 2_458 == sum(value > values[bar] for value in values.values())


def test_the_first_landscapes_are_these() -> None:
    assert PINNED == [
        (
            number,
            treatment,
            nk.bar(number, treatment, 0.2),
            max(nk.landscape(number, treatment, 0.2)),
        )
        for number, treatment, _, _ in PINNED
    ]


def test_landscapes_of_two_numbers_have_nothing_in_common() -> None:
    one, other = (set(nk.landscape(number, "0.0", 0.2)) for number in (1, 2))

    assert not one & other
    assert nk.noise_of(1, "0.0", "0" * 12, 5) != nk.noise_of(2, "0.0", "0" * 12, 5)
    assert [nk.redrawn(1, 0, 9, i, 0.2) for i in range(12)] != [
        nk.redrawn(2, 0, 9, i, 0.2) for i in range(12)
    ]


def test_the_bar_of_a_subject_is_that_of_the_recorded_landscape() -> None:
    for number in (1, 2):
        rules = nk.ARENA.rules_of(arena("nk", nk.ARENA, landscape=number))

        assert nk.bar(number, "2.0", 0.2) == rules.bar(rules.arena.by_key["value", "2.0"])


PINNED = [
    (0, "0.0", "110101110010", 0.7999317556403348),
    (7, "2.5", "001001111110", 0.7477583196989044),
]


def test_landscapes_drift_and_never_where_there_is_no_drift() -> None:
    def changed(drift: float) -> list[int]:
        return [
            sum(
                nk.redrawn(3, 0, g, i, drift) != nk.redrawn(3, 0, g - 1, i, drift)
                for i in range(12)
            )
            for g in range(1, 200)
        ]

    assert {0} == set(changed(0))
    assert {12} == set(changed(1))
    assert 0.15 < sum(changed(0.2)) / 12 / 199 < 0.25


@pytest.mark.parametrize(("assignments", "generations"), [(1, 10), (40, 10), (41, 11), (400, 100)])
def test_the_agenda_of_nk_goes_generation_by_generation(assignments: int, generations: int) -> None:
    subjects = arena("nk", nk.ARENA, assignments).subjects

    assert [
        ("value", "up", f"{family}.{generation}", str(family))
        for generation in range(generations)
        for family in range(4)
    ] == [attrs.astuple(subject) for subject in subjects]


@pytest.mark.parametrize(
    "treatment", ["4.0", "0.00", "0.01", "0", "0.", ".0", "0.-1", " 0.0", "0.25000", "0.0\n", "٠.0"]
)
def test_a_treatment_of_nk_is_written_in_one_way(treatment: str) -> None:
    wrong = Subject("value", "up", treatment, treatment[:1])
    with pytest.raises(BadInput, match="arena nk: a subject is"):
        nk.ARENA.rules_of(attrs.evolve(NK.arena, subjects=(wrong,)))


@pytest.mark.parametrize("bits", ["", "0" * 11, "0" * 13, "0" * 11 + "2", "0" * 11 + "٠"])
def test_what_is_not_twelve_bits_is_no_conduct(bits: str) -> None:
    assert not (NK.conduct.holds(bits) and NK.is_canonical(bits, "0.0"))


# command


@pytest.mark.parametrize(
    ("text", "trimmed"),
    [("a \t\r\nb", "a\nb"), ("a\n\n \n", "a"), (" a", " a"), ("\n\na", "\n\na"), ("", ""),
     ("a\x0b", "a\x0b"), ("a\u2028 b \n", "a\u2028 b")],
)  # fmt: skip
def test_a_text_is_trimmed_at_the_ends_of_its_lines_and_at_its_own(text: str, trimmed: str) -> None:
    assert trimmed == command.trimmed(text) == command.trimmed(trimmed)
    assert COMMANDED.is_canonical(text, "short") is (text == trimmed)


@pytest.mark.parametrize(
    ("one", "other", "away"),
    [
        ("a\nb\nc", "a\nb \nc\n", 0), ("a\nb\nc", "a\nx\nc", 1), ("a\nb\nc", "a\nx\ny\nz\nc", 1),
        ("a\nb\nc", "a\nc", 1), ("a\nb", "a\nb\nc", 1), ("a\na", "a\na\na", 1), ("", "a", 1),
        ("a\nb\nc", "x\nb\ny", 2), ("a\nb", "b\na", 2), ("a\nb\nc\nd", "b\nc\nd\na", 2),
    ],
)  # fmt: skip
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
    ("changed", "says"),
    [
        ({"agenda": ()}, "no program or no agenda"),
        ({"program": "a/b"}, "program is 'a/b'"),
        ({"program": "a\nb"}, "program is"),
        ({"sha256": "0" * 63}, "sha256 is"),
        ({"time_limit": 0}, "time_limit is 0"),
        ({"time_limit": float("nan")}, "time_limit is nan"),
        ({"deterministic": 1}, "deterministic is 1"),
        ({"agenda": (AGENDA[0], AGENDA[0])}, "agenda is"),
        ({"agenda": (AGENDA[0], ("b", "words", "down", "", ""))}, "agenda is"),
        ({"agenda": (("short", "words", "up", "", "a \nb"),)}, "agenda is"),
        ({"agenda": (("short", "words", "more", "", ""),)}, "agenda is"),
        ({"agenda": (("sho\nrt", "words", "up", "", ""),)}, "agenda is"),
        ({"agenda": (("short", "words", "up", "", "x" * 4_001),)}, "agenda is"),
        ({"agenda": (("short", "words", "up", "\ud800", ""),)}, "agenda is"),
        ({"agenda": ("short",)}, "agenda is"),
    ],
)
def test_what_no_record_of_a_program_has_is_refused(changed: dict[str, Any], says: str) -> None:
    known = COMMANDED.arena
    with pytest.raises(BadInput, match=f"arena command: .*{says}"):
        command.ARENA.rules_of(attrs.evolve(known, options={**known.options, **changed}))


def test_a_treatment_of_a_program_is_a_family_and_its_start_the_bar() -> None:
    subjects = COMMANDED.arena.subjects

    assert ("short", "long") == tuple(COMMANDED.treatments)
    assert ["short", "short", "long"] == [subject.family for subject in subjects]
    assert ["one\ntwo", "", "one"] == [COMMANDED.bar(subject) for subject in subjects]


def test_a_text_is_told_by_its_beginning_and_a_mark() -> None:
    assert "one two (2 lines, #b01d)" == COMMANDED.describe("one\ntwo")
    assert COMMANDED.describe("x" * 99).startswith("x" * 40 + "... (1 line, #")
