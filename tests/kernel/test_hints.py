"""A type hint is read once: what its check accepts, row, column and schema describe, too."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.errors import BadInput
from goldrush.kernel.game.hints import Agent, field_of
from goldrush.replay.data.columns import type_of

# A hint, and values of it.
Typed = tuple[Any, st.SearchStrategy[Any]]

INT64 = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(codec="utf-8"))
PLAIN: list[Typed] = [
    (int, INT64),
    (float, st.floats(allow_nan=False, allow_infinity=False)),
    (bool, st.booleans()),
    (str, TEXT),
    (Agent, st.integers(0, 99)),
    (Literal["calm", "loud"], st.sampled_from(["calm", "loud"])),
    (Literal[1, 5], st.sampled_from([1, 5])),
    (Annotated[int, "fish"], INT64),
]


def _lists(typed: Typed) -> Typed:
    hint, values = typed
    return list[hint], st.lists(values, max_size=3)


def _optional(typed: Typed) -> Typed:
    hint, values = typed
    return Optional[hint], st.none() | values  # noqa: UP045  # both ways are hints


def _pairs(one: Typed, other: Typed) -> Typed:
    return tuple[one[0], other[0]], st.tuples(one[1], other[1])


KINDS = st.recursive(
    st.sampled_from(PLAIN),
    lambda inner: inner.map(_lists) | inner.map(_optional) | st.builds(_pairs, inner, inner),
    max_leaves=4,
)


@st.composite
def typed_values(draw: st.DrawFn) -> tuple[Any, Any]:
    hint, values = draw(KINDS)
    return hint, draw(values)


@given(typed_values())
def test_a_value_is_held_shown_and_described_as_it_is_checked(typed: tuple[Any, Any]) -> None:
    pa = pytest.importorskip("pyarrow")
    jsonschema = pytest.importorskip("jsonschema")
    hint, value = typed
    field = field_of(hint, "field", in_row=True)
    row = value if field.to_row is None else field.to_row(value)

    assert field.holds(value)
    assert field.kind.holds(row)
    assert field.kind.holds(unpack(pack(row)))
    assert value == (row if field.from_row is None else field.from_row(row))
    shown = field.kind.show(row)
    jsonschema.validate(json.loads(json.dumps(shown)), field.kind.schema)
    column = type_of(field.kind.schema)
    if shown is not None:
        assert column.text(shown) or shown == ""
        plain = shown if column.plain is None else column.plain(shown)
        assert 1 == len(pa.array([plain], type=column.arrow(pa)))


@given(typed_values(), st.sampled_from(PLAIN))
def test_a_schema_allows_what_the_check_accepts_and_no_other_type(
    typed: tuple[Any, Any], other: Typed
) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    kind = field_of(other[0], "field", in_row=True).kind
    value = typed[1]
    is_one = jsonschema.Draft202012Validator(kind.schema).is_valid(value)

    if other[0] not in (Literal["calm", "loud"], float, Literal[1, 5]):  # held in another form
        is_whole = type(value) is float and value.is_integer()  # as JSON has it, not as rows do
        assert kind.holds(value) is (is_one and not is_whole)


@pytest.mark.parametrize("hint", [list, tuple, dict, set[int], Any, int | str, bytes])
def test_what_no_row_holds_is_refused(hint: object) -> None:
    with pytest.raises(BadInput, match=r"^field has the type"):
        field_of(hint, "field", in_row=True)
