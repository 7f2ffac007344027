"""The checks of values and rows, which are compiled, beside the same kinds written out by hand."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.settings import NAMES_MAX, choice, integer
from goldrush.kernel.shape import (
    AMOUNT,
    BOOLEAN,
    FACTS,
    INTEGER,
    NATURAL,
    TEXT,
    WORD,
    Kind,
    amount,
    at_most,
    one_of,
    optional,
    record,
    row,
    several,
    text,
)
from goldrush.kernel.world import EventType
from goldrush.kernel.worlds.mining.events import ACTIONS, ITEMS_MAX


def is_integer(value: Any, low: float = -(10**30), high: float = 10**30) -> bool:
    return type(value) is int and low <= value <= high


def is_amount(value: Any) -> bool:
    return is_integer(value) or (
        isinstance(value, float)
        and abs(value) < float("inf")
        and (value % 1 != 0 or int(value) not in range(-(1 << 63), 1 << 64))
    )


def is_list(value: Any, holds: Callable[[Any], bool], most: float = 10**9) -> bool:
    return isinstance(value, tuple) and len(value) <= most and all(map(holds, value))


def is_action(value: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, tuple) or len(value) != 3:
        return False
    kind, plot, points = value
    return is_integer(kind, 0, 3) and is_integer(plot, -(10**30), 2**63 - 1) and (
        is_integer(points, -(10**30), 2**63 - 1)
    )  # fmt: skip


EVEN = Kind("even", lambda value: value % 2 == 0)
KINDS: Mapping[str, tuple[Kind, Callable[[Any], bool]]] = {
    "integer": (INTEGER, is_integer),
    "natural": (NATURAL, lambda value: is_integer(value, 0)),
    "at most": (at_most(1), lambda value: is_integer(value, high=1)),
    "boolean": (BOOLEAN, lambda value: value is True or value is False),
    "text": (TEXT, lambda value: isinstance(value, str)),
    "short": (text(2), lambda value: isinstance(value, str) and len(value) <= 2),
    "word": (WORD, lambda value: is_integer(value, 0, 2**64 - 1)),
    "amount": (AMOUNT, is_amount),
    "name": (one_of(("a", "b")), lambda value: is_integer(value, 0, 1)),
    "optional": (optional(NATURAL), lambda value: value is None or is_integer(value, 0)),
    "list": (several(NATURAL), lambda value: is_list(value, lambda item: is_integer(item, 0))),
    "short list": (several(TEXT, 1), lambda value: is_list(value, lambda x: type(x) is str, 1)),
    "lists": (
        several(several(optional(BOOLEAN))),
        lambda value: is_list(value, lambda inner: is_list(inner, lambda x: x in (None, True, False)
                                                           and type(x) in (type(None), bool))),
    ),
    "row": (
        row(NATURAL, several(TEXT), row()),
        lambda value: isinstance(value, tuple) and len(value) == 3 and is_integer(value[0], 0)
        and is_list(value[1], lambda item: isinstance(item, str)) and value[2] == (),
    ),
    "actions": (ACTIONS, lambda value: is_list(value, is_action, ITEMS_MAX)),
}  # fmt: skip

EDGES = (
    None, False, True, -1, 0, 1, 2, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 0.0, 1.0, 0.5, 1e300,
    float("inf"), float("nan"), "", "ab", "abc", b"", (), (0,), ("a", "b"), [1], {},
)  # fmt: skip
SCALARS = st.one_of(
    st.sampled_from(EDGES), st.integers(-(2**63), 2**64 - 1), st.floats(), st.text(max_size=3)
)
ACTION = st.tuples(st.integers(-1, 4), SCALARS, st.integers(-1, 4))
VALUES = st.one_of(
    st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=6),
    st.lists(st.one_of(st.none(), ACTION), max_size=3).map(tuple),
    st.tuples(
        st.integers(-1, 1), st.lists(st.text(max_size=1), max_size=2).map(tuple), st.just(())
    ),
)


@pytest.mark.parametrize("name", KINDS)
@given(st.data())
def test_a_compiled_check_is_the_kind_written_by_hand(name: str, data: st.DataObject) -> None:
    kind, expected = KINDS[name]

    for value in (*EDGES, data.draw(VALUES)):
        assert kind.holds(value) is expected(value), value


def test_kinds_have_the_schema_of_what_models_and_people_give() -> None:
    kind = record(
        share=integer(0, 3), policy=optional(choice("a", "b")), says=several(text(9), 2), x=AMOUNT
    )
    policy = {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]}
    says = {"type": "array", "items": {"type": "string", "maxLength": 9}, "maxItems": 2}
    properties = {
        "share": {"type": "integer", "minimum": 0, "maximum": 3}, "policy": policy, "says": says,
        "x": {"type": "number"},
    }  # fmt: skip

    assert list(kind.schema["properties"]) == list(properties) == kind.schema["required"]
    assert kind.schema == {
        "type": "object", "properties": properties, "required": list(properties),
        "additionalProperties": False,
    }  # fmt: skip


@pytest.mark.parametrize("count", [NAMES_MAX, NAMES_MAX + 1])
def test_a_schema_lists_at_most_so_many_names(count: int) -> None:
    names = list(map(str, range(count)))

    assert choice(*names).schema.get("enum") == (names if count == NAMES_MAX else None)


@given(st.lists(st.one_of(VALUES, st.tuples(VALUES, st.integers(0, 9), st.text(max_size=3)))))
def test_a_batch_is_valid_where_each_of_its_rows_has_no_fault(rows: list[object]) -> None:
    event = EventType("tried", {"any": optional(several(NATURAL)), "n": NATURAL, "t": text(2)})

    assert event.holds_all(rows) is (not any(map(event.fault, rows)))


def test_kinds_of_plugins_are_called_wherever_they_stand() -> None:
    event = EventType("tried", {"one": EVEN, "several": several(row(EVEN, optional(EVEN)))})

    assert event.holds_all([(2, ((4, None), (6, 8)))])
    assert not event.holds_all([(2, ((4, None), (6, 8))), (1, ())])
    assert not event.holds_all([(2, ((4, None), (6, 7)))])
    assert event.fault((2, ((4, 7),))) is not None


def test_however_deep_lists_are_their_check_is_compiled() -> None:
    kind, value = NATURAL, 1
    for _ in range(40):
        kind, value = several(kind), (value,)  # type: ignore[assignment]

    assert kind.holds(value)
    assert not kind.holds((value,))


def test_ctrl_c_while_a_check_is_compiled_can_be_caught() -> None:
    program = """
from goldrush.kernel.shape import compiled

try:  # a Ctrl-C as soon as `holds` is defined, in the same text
    compiled(lambda value, scope: iter(["pass\\nraise KeyboardInterrupt\\ndef rest():"]))(1)
except KeyboardInterrupt:
    print("caught")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert (0, "caught\n", "") == (done.returncode, done.stdout, done.stderr)


def test_another_test_of_the_same_kind_is_the_one_that_is_compiled() -> None:
    positive = replace(NATURAL, holds=lambda value: value > 0)

    assert not several(positive).holds((0,))


@pytest.mark.parametrize("make", [text, at_most, lambda most: several(TEXT, most)])
def test_a_limit_that_is_no_integer_is_refused_where_it_is_given(
    make: Callable[[Any], Kind],
) -> None:
    with pytest.raises(TypeError):
        make(2.0)


def test_facts_hold_plain_values_alone() -> None:
    wrong = [float("inf"), float("nan"), 1 << 64, -(1 << 63) - 1, "\ud800", (), {}]

    assert FACTS.holds({"a": None, "b": True, "c": (1 << 64) - 1, "d": 0.5, "e": "text"})
    assert not FACTS.holds({1: "a name that is no text"})
    assert [] == [value for value in wrong if FACTS.holds({"a": value})]


@pytest.mark.parametrize("value", [2.0**64, 1e300, -(2.0**63) - 2048, -1e19])
def test_a_whole_amount_beyond_64_bits_is_stored_as_it_is(value: float) -> None:
    assert (value, True) == (amount(value), AMOUNT.holds(value))
    assert not AMOUNT.holds(2.0**64 - 2048)
    assert value == unpack(pack(amount(value)))
    whole = (2.0, 2.0**64 - 2048, -(2.0**63))
    assert [int, int, int, float] == [type(amount(n)) for n in (*whole, 2.5)]


def test_a_word_is_shown_with_all_its_digits() -> None:
    assert "0000000000000001" == WORD.show(1)
