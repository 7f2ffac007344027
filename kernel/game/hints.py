"""Type hints of a game's records: each is read once, into a `Field`.

A field says which values are of its type, how they are held in rows, as a `Kind` with the functions
that convert a value as the game's author gives it and back, and how a state copies them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from types import NoneType
from typing import Annotated, Any, Final, Literal, Union

import msgspec
from msgspec.structs import replace

from goldrush.kernel import shape
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.hints import hint_parts
from goldrush.kernel.shape import Kind

Agent = Annotated[int, "agent"]  # the number of an agent, from 0

Convert = Callable[[Any], Any]

_IN_ROWS: Final = (
    "int, float, bool, str, Agent, Literal (of texts or of whole numbers), tuple, list or one of "
    "these | None"
)
_IN_STATES: Final = (
    "int, float, bool, str, Agent, Literal, tuple, list, dict (with keys of int, str or Agent) or "
    "one of these | None"
)


class Range(msgspec.Struct, frozen=True):
    """The valid values of a number or of each number in a list: `within(0, 10)`.

    `each`: the setting that is the length of the list; empty: none is.
    """

    low: float
    high: float
    each: str = ""


def within(low: float, high: float, each: str = "") -> Any:
    """The range of a field of a submission or an event: from `low` to `high`, both included.

    Models, people and learners need it: they are told the range, and answers outside it are
    refused. Learners need the length of a list, too: `each` names the setting that is it, as in
    `within(0, 10, each="agents")`.
    """
    return Range(low, high, each)


ANY_LENGTH: Final = "tuple[..., ...]"
NOTHING: Final = replace(shape.TEXT, name="nothing", holds=lambda value: False)


class Field(msgspec.Struct, frozen=True):
    """A type hint: which values are of it, and how rows and states hold them.

    Attributes:
        hint: the type hint as it is written.
        form: what it is at its outside: int, float, bool, str, NoneType, Agent, Literal, list,
            tuple, dict or Union; ANY_LENGTH for a tuple of any length.
        holds: whether a value is of it; whole numbers are `float`, NaN and infinities are not.
        items: what it is made of: the item of a list, the items of a tuple, key and value of a
            dict, the types of a union.
        kind: how a row holds it; of the field of a state that no row can hold, NOTHING.
        to_row: the value of a row for a value in the form of the hint; None: the same.
        from_row: the reverse.
        range: of its numbers, if it is declared.
        choices: the values that it can have, where these are few.
        copy: the value of a state for one of another state, or for a plain one that a journal
            gave, where lists are tuples; None: the same, it does not change.
    """

    hint: object
    form: object
    holds: Callable[[object], bool]
    items: tuple[Field, ...] = ()
    kind: Kind = NOTHING
    to_row: Convert | None = None
    from_row: Convert | None = None
    range: Range | None = None
    choices: tuple[object, ...] = ()
    copy: Convert | None = None

    def has(self, form: object) -> bool:
        """Whether it, or anything that it is made of, is of a form."""
        return self.form is form or any(item.has(form) for item in self.items)


def field_of(
    hint: object, where: str, range: Range | None = None, *, in_row: bool = False
) -> Field:
    """What a type hint says.

    Args:
        where: the name of the field, for messages.
        range: of the numbers in it.
        in_row: whether it is of an event, a submission or an observation, or else of a state.

    Raises BadInput for a hint that no row can hold. In a state, for a type that cannot be digested:
    a set has no order, so the same run would have other bytes; and for a list beside a tuple: a
    journal has both as arrays.
    """
    if hint == Agent:
        return Field(hint, Agent, _is_agent, kind=shape.AGENT)
    form, parts = hint_parts(hint)
    if form is float:
        kind = _real(range)
        return Field(
            hint, float, _is_number, kind=kind, to_row=shape.amount, from_row=float, range=range
        )
    if form is int:
        return Field(hint, int, _is_a(int), kind=_whole(range), range=range)
    if form is bool:
        return Field(hint, bool, _is_a(bool), kind=shape.BOOLEAN, choices=(False, True))
    if form is str:
        return Field(hint, str, _is_a(str), kind=shape.TEXT)
    if form is NoneType and not in_row:
        return Field(hint, NoneType, _is_a(NoneType))
    if form is Literal and (not in_row or {*map(type, parts)} in ({int}, {str})):
        return _choice(hint, parts)
    if form is Union and in_row:
        others = [each for each in parts if each is not NoneType]
        if len(others) == 1:
            return _optional(hint, field_of(others[0], where, range, in_row=True))
    elif form in (Union, list, tuple, dict) and parts:
        is_open = parts[-1] is Ellipsis  # a tuple of any length
        known = parts[:-1] if is_open else parts
        items = tuple(field_of(each, where, range, in_row=in_row) for each in known)
        if form is list:
            return _list(hint, *items)
        if form is tuple and not is_open and (in_row or _are_constant(items)):
            return _tuple(hint, items)
        if form is tuple and not in_row and _are_constant(items):
            return _tuple_of_any_length(hint, *items)
        if form is dict and not in_row and parts[0] in (int, str, Agent):
            return _dict(hint, *items)
        if form is Union:
            return _union(hint, items, where)
    cure = f"give it {_IN_ROWS if in_row else _IN_STATES}"
    raise BadInput(f"{where} has the type {format_hint(hint)}", cure)


def format_hint(hint: object) -> str:
    """A type hint as its author wrote it."""
    if hint == Agent:
        return "Agent"
    form, parts = hint_parts(hint)
    if form in (list, dict, tuple) and parts:
        items = ["..." if item is Ellipsis else format_hint(item) for item in parts]
        return str(hint).partition("[")[0] + f"[{', '.join(items)}]"
    if form is Union:
        return " | ".join(map(format_hint, parts))
    if form is Literal:
        return str(hint).removeprefix("typing.")
    return "None" if hint is NoneType else getattr(hint, "__name__", None) or str(hint)


def _is_a(kind: type) -> Callable[[object], bool]:
    return lambda value: type(value) is kind


def _is_agent(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: object) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _whole(range: Range | None) -> Kind:
    if range is None:
        return shape.INTEGER
    low, high = math.ceil(range.low), math.floor(range.high)
    return shape.between(low, high)


def _real(range: Range | None) -> Kind:
    if range is None:
        return shape.AMOUNT
    low, high = range.low, range.high
    return replace(
        shape.AMOUNT,
        name=f"number from {low:g} to {high:g}",
        schema={"type": "number", "minimum": low, "maximum": high},
        holds=lambda value: shape.AMOUNT.holds(value) and low <= value <= high,
    )


def _choice(hint: object, values: tuple[Any, ...]) -> Field:
    """One of several texts, which a row holds as its index; or one of several whole numbers."""
    made = Field(hint, Literal, lambda value: value in values, choices=values)
    if all(type(value) is int for value in values):
        kind = replace(
            shape.INTEGER,
            name=f"one of {', '.join(map(str, values))}",
            holds=lambda value: type(value) is int and value in values,
        )
        return replace(made, kind=kind)
    if not all(type(value) is str for value in values):
        return made
    index = {value: place for place, value in enumerate(values)}
    kind = shape.one_of(values)
    return replace(made, kind=kind, to_row=index.__getitem__, from_row=values.__getitem__)


def _optional(hint: object, inner: Field) -> Field:
    return Field(
        hint,
        Union,
        lambda value: value is None or inner.holds(value),
        (inner,),
        shape.optional(inner.kind),
        _unless_none(inner.to_row),
        _unless_none(inner.from_row),
        inner.range,
        (None, *inner.choices) if inner.choices else (),
    )


def _unless_none(convert: Convert | None) -> Convert | None:
    return convert and (lambda value: None if value is None else convert(value))


def _list(hint: object, item: Field) -> Field:
    holds, to_row, from_row = item.holds, item.to_row, item.from_row
    by_item = tuple if to_row is None else lambda values: tuple([to_row(each) for each in values])
    return Field(
        hint,
        list,
        lambda value: type(value) is list and all(map(holds, value)),
        (item,),
        shape.several(item.kind),
        _whole_text((item,), by_item),
        _list_by(from_row),
        item.range,
        copy=_list_by(item.copy),
    )  # fmt: skip


def _list_by(convert: Convert | None) -> Convert:
    return list if convert is None else lambda values: [convert(value) for value in values]


def _whole_text(items: tuple[Field, ...], convert: Convert) -> Convert:
    """The conversion, which leaves a text as it is: a list of texts takes no text apart."""
    if not any(item.has(str) or item.has(Literal) for item in items):
        return convert
    return lambda values: values if type(values) is str else convert(values)


def _tuple(hint: object, items: tuple[Field, ...]) -> Field:
    def by_item(converts: list[Convert | None]) -> Convert:
        if not any(converts):
            return tuple
        each = [convert or _same for convert in converts]
        return lambda values: tuple(
            [convert(value) for convert, value in zip(each, values, strict=True)]
        )

    return Field(
        hint,
        tuple,
        lambda value: (
            type(value) is tuple
            and len(value) == len(items)
            and all(item.holds(each) for item, each in zip(items, value, strict=True))
        ),
        items,
        shape.row(*(item.kind for item in items)),
        _whole_text(items, by_item([item.to_row for item in items])),
        by_item([item.from_row for item in items]),
    )


def _tuple_of_any_length(hint: object, item: Field) -> Field:
    return Field(
        hint, ANY_LENGTH, lambda value: type(value) is tuple and all(map(item.holds, value)),
        (item,),
    )  # fmt: skip


def _are_constant(items: Iterable[Field]) -> bool:
    """Whether a state holds values of these fields as they are."""
    return all(item.copy is None for item in items)


def _same(value: Any) -> Any:
    return value


def _dict(hint: object, key: Field, item: Field) -> Field:
    copy_item = item.copy
    copy = copy_item and (lambda values: {key: copy_item(value) for key, value in values.items()})
    return Field(
        hint,
        dict,
        lambda value: (
            type(value) is dict
            and all(map(key.holds, value))
            and all(map(item.holds, value.values()))
        ),
        (key, item),
        copy=copy or dict,
    )  # fmt: skip


def _union(hint: object, items: tuple[Field, ...], where: str) -> Field:
    """A value is held as one of the type that it is of."""
    arrays = [item for item in items if item.form in (list, tuple, ANY_LENGTH)]
    dicts = [item for item in items if item.form is dict]
    if len(arrays) > 1 or len(dicts) > 1:
        says = f"{where} has the type {format_hint(hint)}"
        raise BadInput(says, "give it one list or tuple, and one dict, at most")

    of_array = arrays[0].copy if arrays else None
    of_dict = dicts[0].copy if dicts else None

    def copy(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return value if of_array is None else of_array(value)
        return of_dict(value) if of_dict and isinstance(value, dict) else value

    return Field(
        hint, Union, lambda value: any(item.holds(value) for item in items), items,
        copy=copy if of_array or of_dict else None,
    )  # fmt: skip


def check_value(value: object, field: Field, where: str) -> None:
    """Check that a value of a state has the type that it is declared with.

    Raises BadInput with the innermost part that has not, as in `State.at[2]`.
    """
    if field.holds(value):
        return
    for place, item, inner in _items(value, field):
        check_value(item, inner, f"{where}[{place!r}]")
    cure = f"it must be {format_hint(field.hint)}"
    if hasattr(value, "tolist"):  # an array or a number of numpy
        cure += ", as .tolist() gives"
    raise BadInput(f"{where} is {format_value(value)}", cure)


def _items(value: object, field: Field) -> Iterable[tuple[object, object, Field]]:
    """The items of a list or dict with their places and fields; of other values, none."""
    if field.form is list and type(value) is list:
        return [(place, item, field.items[0]) for place, item in enumerate(value)]
    if field.form is dict and type(value) is dict and all(map(field.items[0].holds, value)):
        return [(key, item, field.items[1]) for key, item in value.items()]
    return ()
