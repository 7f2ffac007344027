"""Copies of states follow from the types of their fields."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from goldrush.kernel.states import Mutable


@attrs.define
class Part(Mutable):
    ids: set[int] = attrs.field(factory=set)


@attrs.define
class Whole(Mutable):
    number: int
    part: Part = attrs.field(factory=Part)
    parts: list[Part] = attrs.field(factory=list)
    _held: dict[int, list[int]] = attrs.field(factory=dict)
    names: list[int] | None = None


@attrs.define
class More(Whole):
    rows: list[tuple[int, ...]] = attrs.field(factory=list)
    missing: dict[int, Part | None] = attrs.field(factory=dict)


def whole() -> More:
    return More(1, Part({1}), [Part({2})], {1: [1]}, [1], [(1, 2)], {1: Part({1}), 2: None})


def test_a_copy_is_equal_and_shares_nothing_that_changes_at_any_depth() -> None:
    state = whole()
    copy: Any = state.copy()
    assert (state, More) == (copy, type(copy))
    assert More(1) == More(1).copy()

    copy.number = 2
    copy.part.ids.add(2)
    copy.parts[0].ids.add(3)
    copy.parts.append(Part())
    copy._held[1].append(2)
    copy.names.append(2)
    copy.rows.append((3,))
    copy.missing[1].ids.add(2)

    assert whole() == state


@attrs.define
class Several(Mutable):
    names: dict[int, str] | list[str] | None


def test_a_field_of_several_types_that_are_copied_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"^Several\.names is declared as .* or None$"):
        Several(None).copy()
