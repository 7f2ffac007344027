"""Shapes: what a field of an event holds, how it is checked and how it is shown to people.

A call for each field of each row would cost more than reading the row. So a kind writes its check
as Python statements; the check of a list or a row contains those of its items, and that of a batch
of events is one function, compiled when it is first called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import index
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from goldrush.kernel.codec import pack
from goldrush.kernel.errors import format_value

# The JSON schema of a value as models and people give it; empty for any value. Columns take their
# types from it, too.
Schema = Mapping[str, Any]

# Writes a check as Python statements: given the name of a variable, statements that return False if
# its value does not pass. What they refer to is put into the map, by name.
Scope = dict[str, Any]
Check = Callable[[str, Scope], Iterator[str]]
Holds = Callable[[Any], bool]  # whether a value is of a kind

# Lists within lists whose checks are one function: Python allows 20 loops within each other.
DEPTH_MAX: Final = 8


def _exact(holds: Holds) -> Holds:
    """A check of somebody else, which may take a set or a decimal for a list or a number, holds of
    what can be stored alone; those of goldrush are exact.
    """
    if str(getattr(holds, "__module__", "")).startswith("goldrush."):
        return holds

    def of_stored(value: Any) -> bool:
        try:
            return bool(holds(value) and pack(value))
        except (TypeError, ValueError, OverflowError):
            return False

    return of_stored


class Kind(msgspec.Struct, frozen=True):
    """How a field is held in a row and shown to people.

    Attributes:
        name: a description for error messages.
        holds: whether a value read from a file is of this kind.
        show: converts a value to its logical form, the one that `export` prints.
        entity: what such a value identifies ("agent", "plot", "word"), or None; by it tools find
            agents and plots in the events of any world.
        ids: the identifiers in a value's logical form.
        schema: see Schema. In it a record is an object; in the logical form it is a list.
        unit: the unit of measurement of a field; empty for none.
        meaning: what a field of an event holds, for people; empty where an event of the same world
            says it of a field of the same name.
    """

    name: str
    holds: Holds
    show: Callable[[Any], Any] = lambda value: value
    entity: str | None = None
    ids: Callable[[Any], Iterable[Any]] = lambda shown: (shown,)
    schema: Schema = {}
    unit: str = ""
    meaning: str = ""

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "holds", _exact(self.holds))

    def __hash__(self) -> int:
        return hash((self.name, self.holds))

    def means(self, meaning: str, unit: str = "") -> Kind:
        """The kind of a field with this meaning."""
        return replace(self, meaning=meaning, unit=unit)

    def statements(self, value: str, scope: Scope) -> Iterator[str]:
        """The check of a variable, for that of a list or row of which it is an item (see Check)."""
        check: Check | None = getattr(self.holds, _CHECK, None)
        if check is not None and value.count("_") < DEPTH_MAX:
            yield from check(value, scope)
        else:
            name = f"holds_{len(scope)}"
            scope[name] = self.holds
            yield f"if not {name}({value}): return False"

    def format_fault(self, value: object) -> str:
        """The message for a value that is not of this kind."""
        found, stored = format_value(value), _with_amounts(value)
        fault = f"{self.name} expected, found {found}"
        if not self.holds(stored):
            return fault
        whole = "the integer " if type(stored) is int else ""
        cure = f"{found} must be stored as {whole}{format_value(stored)}"
        return f"{fault}; {cure} (wrap amounts in `amount()`)"


_CHECK: Final = "goldrush_check"  # the attribute of a function by which its check is found


def compiled(check: Check) -> Holds:
    """The function of a check, compiled when it is first called."""

    @cache
    def function() -> Holds:
        scope: Scope = {}
        body = _indented(check("value", scope))
        text = "\n".join(["def holds(value):", *body, " return True"])
        # Compiled apart: after a Ctrl-C within `exec` of text, CPython ends the process by SIGINT,
        # whoever catches the exception.
        code = compile(text, "<kinds>", "exec")
        exec(code, scope)  # noqa: S102  # of statements of kinds; limits in them are integers
        holds: Holds = scope["holds"]
        return holds

    return _written(lambda value: function()(value), check)


def _written(holds: Holds, check: Check) -> Holds:
    """The function, with the check that writes it."""
    holds.__dict__[_CHECK] = check
    return holds


def _indented(statements: Iterable[str]) -> Iterator[str]:
    return (f" {statement}" for statement in statements)


def _test(expression: str) -> Holds:
    """The function of an expression of `value`, with its check."""

    def check(value: str, scope: Scope) -> Iterator[str]:
        yield f"if not ({re.sub(_VALUE, value, expression)}): return False"

    return _written(eval(f"lambda value: {expression}"), check)  # noqa: S307  # of this module


_VALUE: Final = r"\bvalue\b"


def optional(kind: Kind) -> Kind:
    """The kind, or null. Null identifies nothing."""

    def check(value: str, scope: Scope) -> Iterator[str]:
        yield f"if {value} is not None:"
        yield from _indented(kind.statements(value, scope))

    return Kind(
        f"{kind.name} or null",
        compiled(check),
        lambda value: None if value is None else kind.show(value),
        kind.entity,
        lambda shown: () if shown is None else kind.ids(shown),
        {"anyOf": [kind.schema, {"type": "null"}]},
    )


def each(kind: Kind) -> Check:
    """The check whether all items of a sequence are of the kind."""

    def check(value: str, scope: Scope) -> Iterator[str]:
        yield f"for {value}_item in {value}:"
        yield from _indented(kind.statements(f"{value}_item", scope))

    return check


def several(kind: Kind, most: int | None = None) -> Kind:
    """A list of the kind, of at most `most` items. It identifies what its items identify."""
    limit = "" if most is None else f" or len({{}}) > {index(most)}"

    def check(value: str, scope: Scope) -> Iterator[str]:
        yield f"if type({value}) is not tuple{limit.format(value)}: return False"
        yield from each(kind)(value, scope)

    return Kind(
        f"list of {kind.name}" if most is None else f"list of at most {most} {kind.name}",
        compiled(check),
        lambda value: [kind.show(item) for item in value],
        kind.entity,
        lambda shown: [named for item in shown for named in kind.ids(item)],
        {"type": "array", "items": kind.schema, **({} if most is None else {"maxItems": most})},
    )


def row(*kinds: Kind) -> Kind:
    """A list with one value of each of these kinds, in order."""

    def check(value: str, scope: Scope) -> Iterator[str]:
        items = [f"{value}_{place}" for place in range(len(kinds))]
        yield f"if not isinstance({value}, tuple) or len({value}) != {len(kinds)}: return False"
        yield f"[{', '.join(items)}] = {value}"
        for kind, item in zip(kinds, items, strict=True):
            yield from kind.statements(item, scope)

    return Kind(
        f"[{', '.join(kind.name for kind in kinds)}]",
        compiled(check),
        lambda value: [kind.show(item) for kind, item in zip(kinds, value, strict=True)],
    )


def record(**kinds: Kind) -> Kind:
    """A list with a value for each of these names, in order."""
    schema = {
        "type": "object",
        "properties": {name: kind.schema for name, kind in kinds.items()},
        "required": list(kinds),
        "additionalProperties": False,
    }
    return replace(row(*kinds.values()), schema=schema)


def described(kind: Kind, *texts: str) -> Kind:
    """The kind of a field that is declared with no texts, its meaning, or its unit and meaning."""
    *unit, meaning = texts or ("",)
    return kind.means(meaning, *unit)


def one_of(names: Sequence[str]) -> Kind:
    """One of a few names, held as its index."""
    return Kind(
        " | ".join(names),
        _test(f"type(value) is int and 0 <= value < {len(names)}"),
        lambda value: names[value],
        schema={"type": "string", "enum": list(names)},
    )


def at_most(high: int) -> Kind:
    """An integer of at most `high`. No journal has one below -(2**63), so that is not checked."""
    test = f"type(value) is int and value <= {index(high)}"
    return Kind(f"integer <= {high}", _test(test), schema={"type": "integer", "maximum": high})


def between(low: int, high: int) -> Kind:
    """An integer from `low` to `high`, both included."""
    test = f"type(value) is int and {index(low)} <= value <= {index(high)}"
    schema = {"type": "integer", "minimum": low, "maximum": high}
    return Kind(f"integer from {low} to {high}", _test(test), schema=schema)


INTEGER = Kind("integer", _test("type(value) is int"), schema={"type": "integer"})
NATURAL = Kind(
    "integer >= 0",
    _test("type(value) is int and value >= 0"),
    schema={"type": "integer", "minimum": 0},
)
BOOLEAN = Kind("boolean", _test("type(value) is bool"), schema={"type": "boolean"})
LABEL = Kind("integer or text", _test("type(value) is int or type(value) is str"))
TEXT = Kind("text", _test("type(value) is str"), schema={"type": "string"})
AGENT = replace(NATURAL, entity="agent")  # by number
AGENTS = several(AGENT)
PLOT = replace(NATURAL, entity="plot")  # by number


def text(most: int) -> Kind:
    """Text of at most `most` characters."""
    test = f"type(value) is str and len(value) <= {index(most)}"
    schema = {"type": "string", "maxLength": most}
    return Kind(f"text of at most {most}", _test(test), schema=schema)


WORD = Kind(
    "64-bit word",
    _test(f"type(value) is int and 0 <= value < {1 << 64}"),
    lambda value: f"{value:016x}",
    entity="word",
    schema=TEXT.schema,
)


def _is_plain(value: Any) -> bool:
    if type(value) is float:
        return value - value == 0.0  # neither an infinity nor NaN, which JSON does not have
    if type(value) is int:
        return -(1 << 63) <= value < 1 << 64
    if type(value) is str:
        return not any("\ud800" <= character <= "\udfff" for character in value)
    return value is None or type(value) is bool


FACTS = Kind(
    "map of names to plain values",
    lambda value: (
        type(value) is dict
        and all(type(name) is str and _is_plain(name) for name in value)
        and all(map(_is_plain, value.values()))
    ),
)
# Two fields at the end of a submission in worlds where language models can play: why it is empty or
# incomplete (a short code), and the metadata of a model's answer.
ERROR_MAX = 40  # characters of such a code
FROM_MODELS: Mapping[str, Kind] = {
    "error": optional(text(ERROR_MAX)),
    "source": optional(FACTS),
}
# A whole number is held as an integer, if that has 64 bits: one byte instead of nine.
AMOUNT = Kind(
    "real number",
    _test(
        "type(value) is int or "
        "type(value) is float and value - value == 0.0 "
        "and (not value.is_integer() or not -(2.0**63) <= value < 2.0**64)"
    ),
    float,
    schema={"type": "number"},
)


def amount(value: float) -> float:
    """A real number in the form that rows have (see AMOUNT)."""
    if type(value) is float and value.is_integer() and -(2.0**63) <= value < 2.0**64:
        return int(value)
    return value


def _with_amounts(value: Any, depth: int = 4) -> Any:
    """A value with each amount in the form that rows have, down to some depth."""
    if type(value) is tuple and depth:
        return tuple(_with_amounts(item, depth - 1) for item in value)
    return amount(value)
