"""Copies of states follow from the types of their fields."""

from __future__ import annotations

import attrs
import pytest

from goldrush.kernel.states import Mutable


@attrs.define
class Part(Mutable):
    ids: set[int] = attrs.field(factory=set)


@attrs.define
class Whole(Mutable):
    number: int
    names: dict[int, str] = attrs.field(factory=dict)
    part: Part = attrs.field(factory=Part)
    parts: list[Part] = attrs.field(factory=list)
    _held: dict[int, list[int]] = attrs.field(factory=dict)


@attrs.define
class More(Whole):
    rows: list[tuple[int, ...]] = attrs.field(factory=list)


def whole() -> More:
    return More(1, {1: "a"}, Part({1}), [Part({2})], {1: [1]}, rows=[(1, 2)])


def test_a_copy_is_equal_and_of_the_same_class() -> None:
    assert whole() == whole().copy()


def test_a_copy_shares_nothing_that_changes_at_any_depth() -> None:
    state = whole()
    copy = state.copy()

    copy.number = 2
    copy.names[2] = "b"
    copy.part.ids.add(2)
    copy.parts[0].ids.add(3)
    copy.parts.append(Part())
    copy._held[1].append(2)
    copy.rows.append((3,))

    assert whole() == state


@attrs.define
class Missing(Mutable):
    names: list[int] | None = None
    parts: dict[int, Part | None] = attrs.field(factory=dict)


def test_a_copy_shares_no_value_that_can_be_missing() -> None:
    state = Missing([1], {1: Part({1}), 2: None})
    copy = state.copy()

    assert copy.names is not None
    copy.names.append(2)
    part = copy.parts[1]
    assert part is not None
    part.ids.add(2)

    assert Missing([1], {1: Part({1}), 2: None}) == state
    assert Missing() == Missing().copy()


@attrs.define
class Several(Mutable):
    names: dict[int, str] | list[str] | None


def test_a_field_of_several_types_that_are_copied_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"^Several\.names is declared as .* or None$"):
        Several(None).copy()
