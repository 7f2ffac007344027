"""Digests of a graph of objects: equal where the content is, different where any of it is not."""

import random
import threading
import weakref
from array import array
from collections import deque
from collections.abc import Callable
from copy import deepcopy
from datetime import datetime
from decimal import Decimal
from io import BytesIO, StringIO
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.replay.repeats.compare import Split, leaf_that_differs, split_of
from goldrush.replay.repeats.observe import LEAVES_MAX, Seen, observed
from goldrush.replay.repeats.trace import Trace

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


class ExtendedDecimal(Decimal):
    pass


def failed(agent: int) -> ValueError:
    error = ValueError("an agent")
    error.agent = agent  # type: ignore[attr-defined]
    return error


def with_default(default: int) -> Callable[[int], int]:
    return lambda n=default: n


def digest(value: object) -> int:
    return observed({"value": value}).digests["value"]


def told(value: object) -> Seen:
    return observed({"value": value}, leaves_of=["value"])


@given(VALUES)
def test_a_copy_has_the_same_digest_and_the_same_values(value: Any) -> None:
    copy = deepcopy(value)

    assert digest(value) == digest(copy)
    assert told(value) == told(copy)
    assert set() == told(value).not_seen


@given(VALUES, VALUES)
def test_digests_differ_exactly_where_a_value_is_told_to(a: Any, b: Any) -> None:
    differs = leaf_that_differs(told(a).leaves, told(b).leaves) is not None

    assert differs == (digest(a) != digest(b))


@pytest.mark.parametrize(
    ("a", "b", "path", "values"),
    [
        ([1, 2], [1, 3], "value[1]", ("2", "3")),
        (1, True, "value", ("1", "True")),
        (0.0, -0.0, "value", ("0.0", "-0.0")),
        ({"x": 1}, {"x": 1, "y": 2}, "value", ("dict of 1", "dict of 2")),
        ({"x"}, {"y"}, "value{'x'}", ("True", "missing")),
        (Thing([1, (2, 3)]), Thing([1, (2, 4)]), "value.held[1][1]", ("3", "4")),
        (Slotted(1), Slotted(2), "value.held", ("1", "2")),
        ([Thing(1)] * 2, [Thing(1), Thing(1)], "value[1]",
         ("the object at value[0]", "tests.replay.repeats.test_observe.Thing")),
        (StringIO("a"), StringIO("b"), "value.getvalue()", ("'a'", "'b'")),
        (BytesIO(b"a"), BytesIO(b"b"), "value.getvalue()", ("b'a'", "b'b'")),
        (failed(1), failed(2), "value.agent", ("1", "2")),
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


@pytest.mark.parametrize("make", [ExtendedArray, ExtendedDate.fromtimestamp, ExtendedDecimal])
def test_a_class_derived_from_one_of_c_is_read_with_its_value(make: Callable[[Any], Any]) -> None:
    a, same, b, c = (make([n] if make is ExtendedArray else n) for n in (1, 1, 2, 1))
    c.more = 3

    assert digest(a) == digest(same)
    assert 3 == len({digest(a), digest(b), digest(c)})
    assert set() == told(c).not_seen


def test_times_of_pandas_are_read_wherever_they_stand() -> None:
    pd = pytest.importorskip("pandas")
    for make in (
        pd.Timestamp,
        lambda n: pd.Series([pd.Timestamp(n)], dtype=object).to_numpy(),
        lambda n: pd.DataFrame({"t": pd.to_datetime([n]).tz_localize("UTC")}),
        lambda n: pd.Interval(0, n),
    ):
        assert digest(make(1)) == digest(make(1)) != digest(make(2))
        assert not [leaf for leaf in told(make(1)).leaves if "__" in leaf.path]


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


def test_sets_of_objects_have_no_order() -> None:
    def things(order: list[int]) -> set[object]:
        return {made[number] for number in order}

    made = [Slotted((number, {Slotted(number)})) for number in range(20)]
    numbers = list(range(20))
    for value in (set, weakref.WeakSet):
        assert digest(value(things(numbers))) == digest(value(things(numbers[::-1])))


@pytest.mark.parametrize(
    "make",
    [
        lambda n: Slotted({Slotted(n)}),
        lambda n: frozenset({Slotted(n), Slotted(-n)}),
        lambda n: Slotted([random.Random(), n]),
        Slotted,
    ],
)
def test_elements_that_differ_within_have_an_order(make: Callable[[int], object]) -> None:
    values = [{make(number) for number in range(20)} for _ in range(5)]

    assert 1 == len({digest(value) for value in values})


def test_dictionaries_have_an_order_only_if_their_keys_are_objects() -> None:
    a, b = Slotted(1), Slotted(2)

    assert digest({"x": 1, "y": 2}) == digest({"y": 2, "x": 1})
    assert digest({a: 1, b: 1}) != digest({b: 1, a: 1})


def test_the_root_is_not_looked_into_where_it_is_reached() -> None:
    root = Slotted(1)
    before = observed({"held": [root]}, root)
    root.held = 2

    assert before == observed({"held": [root]}, root)


def test_runs_that_end_at_different_steps_part_behind_the_first_end() -> None:
    row = {"a": 1}
    a, b = (Trace(steps=(0, 3, end), rows=(row, row, {"a": end})) for end in (5, 4))

    assert Split(5, (), 3) == split_of(a, b) == split_of(b, a)
    assert None is split_of(a, a)


def test_what_cannot_be_looked_into_is_listed_once_by_its_type() -> None:
    seen = observed({"a": [(x for x in ()), (x for x in ())], "b": threading.Lock()})

    assert {"builtins.generator"} == seen.not_seen


def test_an_object_belongs_to_the_name_with_the_shortest_path() -> None:
    shared = Thing(1)
    before = observed({"near": [shared], "some way": [[shared]]}).digests
    shared.held = 2
    after = observed({"near": [shared], "some way": [[shared]]}).digests

    assert before["some way"] == after["some way"]
    assert before["near"] != after["near"]


def test_attributes_are_read_without_calling_the_code_of_the_object() -> None:
    class Loud:
        __slots__ = ("held",)

        @property
        def shown(self) -> int:
            raise AssertionError

        def __getattr__(self, name: str) -> None:
            raise AssertionError

        def __eq__(self, other: object) -> bool:
            raise AssertionError

        def __hash__(self) -> int:
            raise AssertionError

        def __repr__(self) -> str:
            raise AssertionError

    loud = Loud()
    loud.held = 3

    assert ["value", "value.held"] == [leaf.path for leaf in told(loud).leaves]
