"""Type hints of a game's records: for each, how its values are held in rows and in states.

A field of an event or a submission becomes a `Kind`, with the functions that convert a value as the
game's author gives it to that of a row and back. A field of a state becomes the functions that
freeze it to plain values and thaw it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import attrs

from goldrush.kernel import shape
from goldrush.kernel.codec import pack
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.shape import Kind

Agent = Annotated[int, "agent"]  # the number of an agent, from 0

Convert = Callable[[Any], Any]

_HINTS: Final = "int, float, bool, str, Agent, Literal, tuple, list or one of these | None"


@attrs.frozen
class Range:
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


@attrs.frozen
class Hint:
    """What a type hint says of a field of a row.

    Attributes:
        kind: how it is held.
        to_row: the value of a row for a value in the form of the hint; None: the same.
        from_row: the reverse.
        range: of its numbers, if it is declared.
        choices: the values that it can have, where these are few.
    """

    kind: Kind
    to_row: Convert | None = None
    from_row: Convert | None = None
    range: Range | None = None
    choices: tuple[object, ...] = ()


def hint_of(hint: object, where: str, range: Range | None = None) -> Hint:
    """What a type hint says of a field of a row. `where`: the field, for messages.

    Raises BadInput for a hint that no row can hold.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if hint == Agent:
        return Hint(shape.AGENT)
    if origin in (Union, UnionType) and NoneType in arguments and len(arguments) == 2:
        [inner] = [argument for argument in arguments if argument is not NoneType]
        return _optional(hint_of(inner, where, range))
    if origin is Literal:
        return _choice(arguments, where)
    if origin is list and len(arguments) == 1:
        return _several(hint_of(arguments[0], where, range))
    if origin is tuple and arguments and Ellipsis not in arguments:
        return _row([hint_of(argument, where, range) for argument in arguments])
    if hint is float:
        return Hint(_real(range), shape.amount, float, range)
    if hint is int:
        return Hint(_whole(range), range=range)
    if hint is bool:
        return Hint(shape.BOOLEAN, choices=(False, True))
    if hint is str:
        return Hint(shape.TEXT)
    raise BadInput(f"{where} has the type {format_hint(hint)}", f"give it {_HINTS}")


def format_hint(hint: object) -> str:
    """A type hint as its author wrote it."""
    if hint == Agent:
        return "Agent"
    if get_origin(hint) in (list, dict, tuple):
        items = ["..." if item is Ellipsis else format_hint(item) for item in get_args(hint)]
        return str(hint).partition("[")[0] + f"[{', '.join(items)}]"
    if get_origin(hint) in (Union, UnionType):
        return " | ".join(map(format_hint, get_args(hint)))
    if get_origin(hint) is Literal:
        return str(hint).removeprefix("typing.")
    return "None" if hint is NoneType else getattr(hint, "__name__", None) or str(hint)


def _whole(range: Range | None) -> Kind:
    if range is None:
        return shape.INTEGER
    low, high = math.ceil(range.low), math.floor(range.high)
    return shape.between(low, high)


def _real(range: Range | None) -> Kind:
    if range is None:
        return shape.AMOUNT
    low, high = range.low, range.high
    return attrs.evolve(
        shape.AMOUNT,
        name=f"number from {low:g} to {high:g}",
        schema={"type": "number", "minimum": low, "maximum": high},
        holds=lambda value: shape.AMOUNT.holds(value) and low <= value <= high,
    )


def _optional(inner: Hint) -> Hint:
    return Hint(
        shape.optional(inner.kind),
        _unless_none(inner.to_row),
        _unless_none(inner.from_row),
        inner.range,
        (None, *inner.choices) if inner.choices else (),
    )


def _unless_none(convert: Convert | None) -> Convert | None:
    return convert and (lambda value: None if value is None else convert(value))


def _choice(values: tuple[Any, ...], where: str) -> Hint:
    """One of several texts, held as its index; or one of several whole numbers."""
    if all(type(value) is int for value in values):
        kind = attrs.evolve(
            shape.INTEGER,
            name=f"one of {', '.join(map(str, values))}",
            holds=lambda value: type(value) is int and value in values,
        )
        return Hint(kind, choices=values)
    if not all(type(value) is str for value in values):
        raise BadInput(f"{where} has the type Literal{list(values)}", "give texts or whole numbers")
    index = {value: place for place, value in enumerate(values)}
    return Hint(shape.one_of(values), index.__getitem__, values.__getitem__, choices=values)


def _several(item: Hint) -> Hint:
    to_row, from_row = item.to_row, item.from_row
    return Hint(
        shape.several(item.kind),
        tuple if to_row is None else lambda values: tuple([to_row(value) for value in values]),
        list if from_row is None else lambda values: [from_row(value) for value in values],
        item.range,
    )


def _row(items: list[Hint]) -> Hint:
    def of(converts: list[Convert | None]) -> Convert | None:
        if not any(converts):
            return None
        each = [convert or _same for convert in converts]
        return lambda values: tuple(
            [convert(value) for convert, value in zip(each, values, strict=True)]
        )

    return Hint(
        shape.row(*(item.kind for item in items)),
        of([item.to_row for item in items]) or tuple,
        of([item.from_row for item in items]),
    )


def _same(value: Any) -> Any:
    return value


# Fields of states.


@attrs.frozen
class Held:
    """How a field of a state is copied, frozen to plain values and thawed.

    Attributes:
        copy, freeze, thaw: None: the value stays as it is, for it does not change.
    """

    copy: Convert | None = None
    freeze: Convert | None = None
    thaw: Convert | None = None


_UNCHANGED: Final = (int, float, bool, str, NoneType)
_HELD: Final = (
    "int, float, bool, str, Agent, Literal, tuple, list, dict (with keys of int, str or Agent) or "
    "one of these | None"
)


def held_of(hint: object, where: str) -> Held:
    """How a field of a state with this type hint is held. `where`: the field, for messages.

    Raises BadInput for a type that cannot be digested: a set has no order, so the same run would
    have other bytes.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in (*_UNCHANGED, Agent) or origin is Literal:
        return Held()
    if origin in (Union, UnionType):
        return _union_of(arguments, where)
    if origin is tuple and arguments:
        items = [held_of(argument, where) for argument in arguments if argument is not Ellipsis]
        if items == [Held()] * len(items):
            return Held(thaw=tuple)
    if origin is list and len(arguments) == 1:
        return _list_of(held_of(arguments[0], where))
    if origin is dict and arguments and arguments[0] in (int, str, Agent):
        return _dict_of(held_of(arguments[1], where))
    raise BadInput(f"{where} has the type {format_hint(hint)}", f"give it {_HELD}")


def _union_of(hints: tuple[object, ...], where: str) -> Held:
    """How a value of one of several types is held: as that of the first that it is of.

    Raises BadInput as `held_of`, and for a list beside a tuple: a journal has both as arrays.
    """
    members = [(hint, held_of(hint, where)) for hint in hints]
    if {list, tuple} <= {get_origin(hint) for hint in hints}:
        listed = " | ".join(map(format_hint, hints))
        raise BadInput(f"{where} has the type {listed}", "give it a list or a tuple, not both")

    arrays = [member for member in members if get_origin(member[0]) in (list, tuple)]
    dicts = [member for member in members if get_origin(member[0]) is dict]

    def of(name: str) -> Convert | None:
        of_array, of_dict = _first_of(arrays, name), _first_of(dicts, name)
        if of_array is None and of_dict is None:
            return None

        def chosen(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return value if of_array is None else of_array(value)
            return of_dict(value) if of_dict and isinstance(value, dict) else value

        return chosen

    return Held(of("copy"), of("freeze"), of("thaw"))


def _first_of(members: list[tuple[object, Held]], name: str) -> Convert | None:
    """What converts the values of the members of a union that are all lists, tuples or dicts."""
    converts = [(hint, getattr(held, name)) for hint, held in members if getattr(held, name)]
    if len(converts) < 2:  # the items need not be looked at
        return converts[0][1] if converts else None

    def chosen(value: Any) -> Any:
        for hint, convert in converts:
            if name != "thaw":
                if is_of(value, hint):
                    return convert(value)
                continue
            with suppress(TypeError, ValueError, AttributeError):  # of another type within
                thawed = convert(value)
                # What is given is plain: only the result tells. `list` takes texts apart.
                if is_of(thawed, hint) and pack(thawed) == pack(value):
                    return thawed
        return value  # of no type: `check_value` tells it

    return chosen


def _list_of(item: Held) -> Held:
    def of(convert: Convert | None) -> Convert:
        return list if convert is None else lambda values: [convert(value) for value in values]

    return Held(of(item.copy), of(item.freeze), of(item.thaw))


def _dict_of(item: Held) -> Held:
    def of(convert: Convert | None) -> Convert:
        if convert is None:
            return dict
        return lambda values: {key: convert(value) for key, value in values.items()}

    return Held(of(item.copy), of(item.freeze), of(item.thaw))


def check_value(value: object, hint: object, where: str) -> None:
    """Check that a value of a state has the type that it is declared with.

    Raises BadInput with the innermost part that has not, as in `State.at[2]`.
    """
    if is_of(value, hint):
        return
    for place, item, inner in _items(value, hint):
        check_value(item, inner, f"{where}[{place!r}]")
    cure = f"it must be {format_hint(hint)}"
    if hasattr(value, "tolist"):  # an array or a number of numpy
        cure += ", as .tolist() gives"
    raise BadInput(f"{where} is {format_value(value)}", cure)


def _items(value: Any, hint: Any) -> Iterable[tuple[object, object, object]]:
    """The items of a list or dict with their places and hints; of other values, none."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is list and type(value) is list:
        return [(place, item, arguments[0]) for place, item in enumerate(value)]
    if origin is dict and type(value) is dict and all(is_of(key, arguments[0]) for key in value):
        return [(key, item, arguments[1]) for key, item in value.items()]
    return ()


def is_of(value: object, hint: object) -> bool:
    """Whether a value is of a type hint; whole numbers are `float`, NaN and infinities are not."""
    if hint is float:
        return type(value) is int or (type(value) is float and math.isfinite(value))
    if type(hint) is type:
        return type(value) is hint
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(is_of(value, argument) for argument in arguments)
    if origin is Literal:
        return value in arguments
    if origin is list:
        return type(value) is list and all(is_of(item, arguments[0]) for item in value)
    if origin is dict:
        keys, values = arguments
        return type(value) is dict and all(
            is_of(key, keys) and is_of(item, values) for key, item in value.items()
        )
    if origin is tuple:
        if type(value) is not tuple:
            return False
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return all(is_of(item, arguments[0]) for item in value)
        return len(value) == len(arguments) and all(map(is_of, value, arguments))
    return hint == Agent and type(value) is int and value >= 0
