"""Digests of a graph of objects: equal where the content is, different where any of it is not."""

import random
import threading
from array import array
from collections import deque, namedtuple
from collections.abc import Callable, Sequence
from copy import deepcopy
from datetime import datetime
from io import BytesIO
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.replay.repeats.observe import LEAVES_MAX, StepDigests, observed
from goldrush.replay.repeats.trace import Split, Trace, leaf_that_differs, split_of

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
KEYS = st.integers() | st.text() | st.tuples(st.text(), st.booleans())
VALUES = st.recursive(
    PLAIN | st.frozensets(st.text()),
    lambda inner: st.one_of(
        st.lists(inner), st.dictionaries(KEYS, inner), st.builds(deque, st.lists(inner)),
        st.builds(lambda value: Thing(value), inner), st.tuples(inner, inner),
    ),
    max_leaves=20,
)  # fmt: skip


class Thing:
    def __init__(self, held: object) -> None:
        self.held, self.itself = held, self


@attrs.define(eq=False)
class Slotted:
    held: object
    more: object = None


class ExtendedArray(array):  # type: ignore[type-arg]
    def __new__(cls, items: list[int]) -> "ExtendedArray":
        return super().__new__(cls, "l", items)


class ExtendedDate(datetime):
    pass


def failed(agent: int, **others: int) -> ValueError:
    error = ValueError("an agent")
    vars(error).update(agent=agent, **others)
    return error


def again(which: int) -> list[Thing]:
    things = [Thing(1), Thing(2)]
    return [*things, things[which]]


def with_default(default: int) -> Callable[[int], int]:
    return lambda n=default: n


def digest(value: object) -> int:
    return observed({"value": value}).digests["value"]


def told(value: object) -> StepDigests:
    return observed({"value": value}, leaves_of=["value"])


@given(VALUES)
def test_a_copy_has_the_same_digest_and_the_same_values(value: Any) -> None:
    copy = deepcopy(value)

    assert digest(value) == digest(copy)
    assert told(value) == told(copy)
    assert not told(value).not_seen


@given(VALUES, VALUES)
def test_digests_differ_exactly_where_a_value_is_told_to(a: Any, b: Any) -> None:
    differs = leaf_that_differs(told(a).leaves, told(b).leaves) is not None

    assert differs == (digest(a) != digest(b))


@pytest.mark.parametrize(
    ("a", "b", "path", "values"),
    [
        (1, True, "value", ("1", "True")),
        (0.0, -0.0, "value", ("0.0", "-0.0")),
        ({"x": 1}, {"x": 1, "y": 2}, "value", ("dict of 1", "dict of 2")),
        ({"x"}, {"y"}, "value{'x'}", ("True", "missing")),
        (Thing([1, (2, 3)]), Thing([1, (2, 4)]), "value.held[1][1]", ("3", "4")),
        (Slotted(1), Slotted(2), "value.held", ("1", "2")),
        (failed(1), failed(1, more=2), "value.more", ("missing", "2")),
        ([Thing(1)] * 2, [Thing(1), Thing(1)], "value[1]",
         ("the object at value[0]", "tests.replay.repeats.test_observe.Thing")),
        (again(0), again(1), "value[2]", ("the object at value[0]", "the object at value[1]")),
        (BytesIO(b"a"), BytesIO(b"b"), "value.getvalue()", ("b'a'", "b'b'")),
        (with_default(1), with_default(2), "value.__defaults__[0]", ("1", "2")),
        ({Slotted: 1}, {Slotted: 2}, "value[tests.replay.repeats.test_observe.Slotted]",
         ("1", "2")),
        ((random.Random(1), 1), (random.Random(2), 2), "value[1]", ("1", "2")),
    ],
)  # fmt: skip
def test_a_difference_is_told_by_its_path(
    a: object, b: object, path: str, values: tuple[str, str]
) -> None:
    assert (path, *values) == leaf_that_differs(told(a).leaves, told(b).leaves)
    assert digest(a) != digest(b)


@pytest.mark.parametrize("make", [ExtendedArray, ExtendedDate.fromtimestamp])
def test_a_class_derived_from_one_of_c_is_read_with_its_value(make: Callable[[Any], Any]) -> None:
    a, same, b, c = (make([n] if make is ExtendedArray else n) for n in (1, 1, 2, 1))
    c.more = 3

    assert digest(a) == digest(same)
    assert 3 == len({digest(a), digest(b), digest(c)})
    assert not told(c).not_seen


def test_times_of_pandas_are_read_wherever_they_stand() -> None:
    pd = pytest.importorskip("pandas")
    for make in (
        pd.Timestamp,
        lambda n: pd.DataFrame({"t": pd.to_datetime([n]).tz_localize("UTC")}),
    ):
        assert digest(make(1)) == digest(make(1)) != digest(make(2))
        assert not [path for path in told(make(1)).leaves if "__" in path]


def test_the_states_of_generators_are_digested_apart() -> None:
    np = pytest.importorskip("numpy")
    for make in (random.Random, np.random.default_rng, np.random.RandomState, np.random.MT19937):
        generator = make(3)
        before, again = observed({"value": generator}), observed({"value": make(3)})
        (generator if hasattr(generator, "random") else np.random.Generator(generator)).random()
        after = observed({"value": generator})

        assert before == again
        assert before.digests == after.digests
        assert before.states != after.states


def test_arrays_are_told_by_their_items() -> None:
    np = pytest.importorskip("numpy")
    a, b = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
    b[1, 2] = 7

    assert ("value[1, 2]", "5.0", "7.0") == leaf_that_differs(told(a).leaves, told(b).leaves)
    assert digest(a) != digest(b)
    assert digest(a) != digest(a.astype("float32"))
    assert digest(a) != digest(a.reshape(3, 2))
    assert digest(a) == digest(np.asfortranarray(a))
    assert len(told(np.zeros(LEAVES_MAX + 5)).leaves) == LEAVES_MAX
    masked = [np.ma.array([1, 9, 3], mask=[False, hides, False], fill_value=9) for hides in (0, 1)]
    assert digest(masked[0]) != digest(masked[1])


GRAPHS = st.integers(1, 9).flatmap(
    lambda size: st.lists(
        st.tuples(st.integers(0, 2), st.lists(st.integers(0, size - 1), max_size=3)),
        min_size=size, max_size=size,
    )
)  # fmt: skip


def set_of(graph: list[tuple[int, list[int]]], order: list[int], kind: Any = set) -> Any:
    """A set of objects that know each other, made in an order: a value each, and whom they know."""
    made = {number: Slotted(graph[number][0]) for number in order}
    for number, (value, known) in enumerate(graph):
        others = [made[other] for other in known]
        made[number].more = others if value else {*others, random.Random()}
    return kind(made[number] for number in order)


@given(GRAPHS, st.randoms(use_true_random=False), st.sampled_from([set, frozenset]))
def test_sets_of_objects_have_no_order(graph: Any, rng: random.Random, kind: Any) -> None:
    order = list(range(len(graph)))
    a, b = (set_of(graph, rng.sample(order, len(order)), kind) for _ in "ab")
    changed = [(value + 3 * (number == 0), known) for number, (value, known) in enumerate(graph)]

    assert observed({"value": a}).digests == observed({"value": b}).digests
    assert told(a).leaves == told(b).leaves
    assert digest(a) != digest(set_of(changed, order, kind))


def chain(length: int, end: object) -> object:
    return Slotted(end) if not length else Slotted(0, chain(length - 1, end))


state = namedtuple("state", "x name")


@pytest.mark.parametrize(
    "make",
    [
        lambda n: state(n, f"{n}"),  # no generator, although its text begins as that of one
        lambda n: chain(50, n),
        lambda n: Slotted([0] * 80 + [n]),
        lambda n: frozenset({Slotted(n), Slotted(-n)}),
    ],
)
def test_elements_are_told_apart_however_deep(make: Callable[[int], object]) -> None:
    values = [{make(number) for number in numbers} for numbers in (range(9), range(8, -1, -1))]

    assert 1 == len({digest(value) for value in values})
    assert digest(values[0]) != digest({make(number) for number in range(1, 10)})
    assert ([], {}) == (list(told(values[0]).not_seen), told(values[0]).states)


def test_sets_within_elements_have_no_order() -> None:
    one, two = ({Thing(set(items))} for items in ([0, 8], [8, 0]))  # which share a place
    assert digest(one) == digest(two)


def test_a_long_value_is_told_by_its_beginning() -> None:
    [text] = told("a" * 999).leaves.values()
    assert text.startswith(f"'{'a' * 199}... (1,001 characters, digest ")


def rings(*values: list[int]) -> set[object]:
    """Objects, of which each knows the one before it in its ring."""
    every = list[Slotted]()
    for ring in values:
        made = [Slotted(value) for value in ring]
        for number, thing in enumerate(made):
            thing.more = made[number - 1]
        every += made
    return {*every}


def test_elements_in_a_cycle_are_told_apart_by_whom_they_know() -> None:
    assert digest(rings([0, 0, 1, 1])) != digest(rings([0, 1, 0, 1]))


def test_what_nothing_tells_apart_is_not_compared_and_said() -> None:
    seen = observed({"value": rings([0] * 6)})
    kind = "which is which of equal objects of sets: tests.replay.repeats.test_observe.Slotted"

    assert seen.digests == observed({"value": rings([0] * 3, [0] * 3)}).digests
    assert {kind: 6} == seen.not_seen
    assert not observed({"value": {Slotted(0) for _ in range(6)}}).not_seen


def test_sets_that_take_too_long_are_not_compared_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goldrush.replay.repeats.graph.DIGESTS_MAX", 100)
    seen = observed({"value": {Slotted([0] * 200)}, "other": 1})

    assert {"what sets hold: it takes too long to compare": 0} == seen.not_seen
    assert seen.digests == observed({"value": {Slotted([1] * 200)}, "other": 1}).digests


def test_of_what_is_behind_too_many_values_no_number_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("goldrush.replay.repeats.observe.VALUES_MAX", 100)

    assert [0] == list(observed({"value": [[0] * 200], "other": [[[1]]]}).not_seen.values())


def test_addresses_in_texts_do_not_count() -> None:
    held = [(object(), threading.Lock()) for _ in range(2)]
    values = [ValueError(f"{one!r} is lost", repr(lock)) for one, lock in held]

    assert digest(values[0]) == digest(values[1]) != digest(ValueError("<object at 0x7> is lost"))


TIMES = ("value['info']['t']", "value['many'][0].held", "value['many'][1].held")


@pytest.mark.parametrize(
    ("path", "count", "left"),
    [
        ("value[info][t]", 1, TIMES[1:]),
        ("value['info']", 1, TIMES[1:]),
        ("value", 1, ()),
        ("value['many'][*].held", 2, TIMES[:1]),
        ("value['nothing']", 0, TIMES),
    ],
)
def test_what_is_ignored_is_left_out_and_counted(
    path: str, count: int, left: Sequence[str]
) -> None:
    def seen(time: int) -> StepDigests:
        value = {"info": {"t": time, "n": 1}, "many": [Slotted(time), Slotted(time)]}
        return observed({"value": value, "valued": 1}, None, ["value"], [path])

    a, b = seen(1), seen(2)
    differs = {path for path in a.leaves if a.leaves[path] != b.leaves[path]}

    assert count == a.left_out[path]
    assert {"valued", "value"} - {path} == a.digests.keys()
    assert differs == {*left}


def test_values_of_numpy_are_told_by_their_content() -> None:
    np = pytest.importorskip("numpy")
    pair = np.dtype([("a", "i4"), ("b", object)])
    for make in (
        lambda n: np.longdouble(n),
        lambda n: np.array([(n, Thing(n))], pair),
        lambda n: np.ma.array([(n, n)], [("a", "i4"), ("b", "g")]),
        lambda n: np.array([n], "datetime64[s]"),
    ):
        assert digest(make(1)) == digest(make(1)) != digest(make(2))
        assert not told(make(1)).not_seen
        assert observed({"value": make(1)}).compared


@attrs.frozen
class Lot:
    name: str


@pytest.mark.parametrize("key", [str, Lot, Slotted, lambda name: (Lot(name), 1)])
def test_dictionaries_have_no_order_whatever_their_keys(key: Callable[[str], Any]) -> None:
    def of(*values: tuple[str, int], kind: Any = dict) -> StepDigests:
        return told([kind((key(name), [value]) for name, value in values)])

    a, changed, swapped = of(("x", 1), ("y", 2)), of(("x", 1), ("y", 3)), of(("x", 2), ("y", 1))
    difference = leaf_that_differs(a.leaves, changed.leaves)

    assert a == of(("y", 2), ("x", 1))
    assert 3 == len({seen.digests["value"] for seen in (a, changed, swapped)})
    assert difference is not None
    assert ("2", "3") == difference[1:]
    assert not a.not_seen


def test_equal_keys_of_a_dictionary_are_compared_by_their_values_or_said() -> None:
    def of(*values: int) -> StepDigests:
        keys = [Slotted(0) for _ in values]
        return told(dict(zip(keys, values, strict=True)))

    assert of(1, 2, 1).digests == of(2, 1, 1).digests != of(1, 2, 2).digests
    alike = [Slotted(0), Slotted(0)]
    kind = "which is which of equal objects of sets: tests.replay.repeats.test_observe.Slotted"
    assert {kind: 2} == told([dict.fromkeys(alike, 1), {*alike}]).not_seen


def test_runs_that_end_at_different_steps_part_behind_the_first_end() -> None:
    row = {"a": 1, "b": 2}
    a, b, c = Trace(rows=(row, row, row)), Trace(rows=(row, row)), Trace(rows=(row, {"a": 1}))

    assert None is split_of(a, a)
    assert Split(2) == split_of(a, b) == split_of(b, a)
    assert Split(1, ["b"]) == split_of(a, c) == split_of(c, b)
    assert Split(3) == split_of(a, attrs.evolve(a, error="no more"))


def test_an_object_belongs_to_the_name_with_the_shortest_path() -> None:
    shared = Thing(1)
    before = observed({"near": [shared], "some way": [[shared]]}).digests
    shared.held = 2
    after = observed({"near": [shared], "some way": [[shared]]}).digests

    assert before["some way"] == after["some way"]
    assert before["near"] != after["near"]


def test_attributes_have_no_order() -> None:
    a, b = Thing(1), Thing(1)
    vars(a).update(x=1, y=2)
    vars(b).update(y=2, x=1)

    assert digest(a) == digest(b)


def test_attributes_are_read_without_calling_the_code_of_the_object() -> None:
    class Loud:
        __slots__ = ("held",)

        def called(self, *given: object) -> Any:
            raise AssertionError

        shown = property(called)
        __getattr__ = __eq__ = __hash__ = __repr__ = called

    loud = Loud()
    loud.held = 3

    assert ["value", "value.held"] == [*told(loud).leaves]
