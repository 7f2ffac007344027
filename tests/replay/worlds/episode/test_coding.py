"""Values of numpy, encoded and decoded."""

import enum
from collections import namedtuple
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as stn

from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.episode.values import holds
from goldrush.replay.worlds.episode import coding
from goldrush.replay.worlds.episode.coding import decoded, encoded, is_kept, leaves

DTYPES = st.one_of(
    stn.boolean_dtypes(), stn.integer_dtypes(endianness="<"),
    stn.unsigned_integer_dtypes(endianness="<"),
    stn.floating_dtypes(sizes=(16, 32, 64), endianness="<"),
    stn.complex_number_dtypes(sizes=(64, 128), endianness="<"),
    stn.datetime64_dtypes(endianness="<"), stn.timedelta64_dtypes(endianness="<"),
    stn.byte_string_dtypes(), stn.unicode_string_dtypes(endianness="<"),
)  # fmt: skip
SHAPES = stn.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
ARRAYS = st.builds(
    lambda array, order: np.array(array, order=order) if order in "CF" else array[::-1].T,
    stn.arrays(DTYPES, SHAPES.filter(bool)), st.sampled_from("CF-"),
) | stn.arrays(DTYPES, ())  # fmt: skip
SCALARS = stn.arrays(DTYPES, ()).map(lambda array: array[()])
NANS = st.binary(min_size=8, max_size=8).map(lambda data: np.frombuffer(data, "<f8"))
TEXT = st.text(st.characters(exclude_categories=("Cs",)))
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.binary()
VALUES = st.recursive(
    PLAIN | ARRAYS | SCALARS | NANS,
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(TEXT, inner),
    max_leaves=5,
)


def content(value: object) -> object:
    """All that a value is: types, dtypes, shapes and bytes."""
    if isinstance(value, np.ndarray | np.generic):
        return type(value), value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return dict, [(content(key), content(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [content(item) for item in value]
    return type(value), repr(value)


def test_a_list_shared_within_itself_is_refused_before_it_is_written_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coding, "_Room", partial(coding._Room, 4_000))  # items
    shared: object = [1]
    for _ in range(9):
        shared = [shared] * 1_000
    for refused in lambda: leaves((1, shared), "info"), lambda: encoded({"a": shared}, "info"):
        with pytest.raises(BadInput, match=r"info\S* has more than .* items"):
            refused()


@given(VALUES)
@example((1, [(2,)]))
@example(np.zeros((2, 3)))
@example(1 << 63)
def test_what_is_encoded_is_decoded_as_it_was(value: object) -> None:
    stored = unpack(pack(encoded(value)))

    assert content(encoded(value)) == content(stored)
    assert content(value) == content(decoded(stored))
    assert holds(stored)


class Move(enum.IntEnum):
    LEFT = 1


@pytest.mark.parametrize(
    "value",
    [
        object(), {1, 2}, Move.LEFT, "\ud800", np.array([None]), np.zeros(1, "i4,f4"),
        np.longdouble(1), np.ma.array([1]), np.array(["a"], np.dtypes.StringDType()),
        np.random.default_rng(), np.zeros(1, ">f4"),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_has_no_encoding_is_refused_by_name(value: object) -> None:
    with pytest.raises(BadInput, match=r"^the action\[x\] is .*; give "):
        encoded({"x": value}, "the action")


def in_lists() -> object:
    value: list[object] = []
    value += [value] * 9
    return value


def in_dicts() -> object:
    value: dict[str, object] = {}
    value.update(dict.fromkeys("abcdefghi", value))
    return value


@pytest.mark.parametrize("make", [in_lists, in_dicts])
def test_values_nested_in_themselves_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(BadInput, match=r"nested too deeply|cannot be recorded"):
        encoded(make())
    with pytest.raises(BadInput, match=r"info(\[\w\])+ contains itself; give values that end"):
        leaves({"a": make()}, "info")


def test_what_has_too_many_parts_is_refused() -> None:
    value: object = 1
    for _ in range(6):
        value = (value,) * 9

    with pytest.raises(BadInput, match="has more than 100,000 parts"):
        leaves(value, "info")


def test_what_an_environment_gives_is_taken_apart_by_name() -> None:
    pair = namedtuple("pair", "first second")(Move.LEFT, ())
    of_objects = np.array([None, {"score": 2.0}], object)
    given = {"a": {"b": [1, 2]}, "pair": pair, "each": of_objects, "own": [1, object()], "x": {1}}
    given |= {"big": np.array([1], ">i4")}

    assert leaves(given, "info") == [
        ("info[a][b]", ("list", (1, 2))), ("info[pair][0]", 1),
        ("info[each][0]", None), ("info[each][1][score]", 2.0), ("info[own][0]", 1),
        ("info[own][1]", ("type", "object")), ("info[x]", ("type", "set")),
        ("info[big]", ("array", "<i4", (1,), b"\1\0\0\0")),
    ]  # fmt: skip


def test_names_of_keys_are_those_that_a_journal_takes() -> None:
    keys = ("k" * 600, "\ud800", (1, object()), object(), np.int8(3))
    names = [name for name, _ in leaves(dict.fromkeys(keys, 1), "info")]

    expected = [
        "info[" + "k" * 495,
        "info[\\ud800]",
        "info[(1, object)]",
        "info[object]",
        "info[3]",
    ]
    assert expected == names


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (1 << 70, True), (1 << 300, False), ("a" * 64, True), ("a" * 65, False), (b"", False),
        (np.float32(1), True), (np.zeros(1), False), ((), False),
    ],
)  # fmt: skip
def test_numbers_and_short_texts_are_kept(value: object, kept: bool) -> None:
    assert kept == is_kept(encoded(value))


def test_arrays_of_fields_are_taken_apart() -> None:
    fields = np.array([(1, 0.5), (2, 1.5)], [("id", "<i4"), ("at", "<f8")])

    assert ["a[id]", "a[at]"] == [name for name, _ in leaves(fields, "a")]
    assert ["a[id]", "a[at]"] == [name for name, _ in leaves(fields[0], "a")]
    assert all(leaf[0] in ("array", "scalar") for _, leaf in leaves(fields[0], "a"))
    assert [1, 0.5] == [decoded(leaf) for _, leaf in leaves(fields[0], "a")]
