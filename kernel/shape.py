"""Shapes: what a field of an event holds, how it is checked and how it is shown to people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from goldrush.kernel.errors import format_value

# How `Kind.show` converts a value, for readers in other languages: None (tuples to lists, no other
# change); ("optional", form); ("list", form); ("row", [form, ...]), one form for each value;
# ("name", [name, ...]), an index among names; ("word",), 64 bits as 16 hex digits; ("event",),
# [index, code, row] as {"index", "event", ...fields}.
Form = tuple[Any, ...] | None

# Writes a check as Python statements: given the name of a variable, lines that return False if its
# value does not pass. The functions that they call are put into the map, by name.
Lines = Callable[[str, dict[str, Any]], Iterator[str]]


class Check:
    """Whether a value is of a kind, as a function that is compiled when it is first called.

    A call for each field of each row costs more than reading the row. Checks are therefore written
    as statements, and that of a list or a row has those of its items in it.
    """

    __slots__ = ("_function", "lines")

    def __init__(self, lines: Lines | str) -> None:
        """Describe a check by what writes its statements, or by an expression with `{0}` for the
        value.
        """
        self.lines = _lines_of(lines) if isinstance(lines, str) else lines
        self._function: Callable[[Any], bool] | None = None

    def __call__(self, value: Any) -> bool:
        """Whether the value passes."""
        if self._function is None:
            scope: dict[str, Any] = {}
            lines = ["def check(value):", *_indented(self.lines("value", scope)), " return True"]
            exec("\n".join(lines), scope)  # noqa: S102  # of statements written in this module
            self._function = scope["check"]
        return self._function(value)


@attrs.frozen
class Kind:
    """How a field is held in a row and shown to people.

    Attributes:
        name: a description for error messages.
        holds: whether a value read from a file is of this kind.
        show: converts a value to its logical form, the one that `export` prints.
        entity: what such a value identifies ("agent", "plot", "word"), or None; by it tools find
            agents and plots in the events of any world.
        ids: the identifiers in a value's logical form.
        form: a description of `show` as a value (see Form).

    """

    name: str
    holds: Callable[[Any], bool]
    show: Callable[[Any], Any] = lambda value: value
    entity: str | None = None
    ids: Callable[[Any], Iterable[Any]] = lambda shown: (shown,)
    form: Form = None

    def lines(self, value: str, called: dict[str, Any]) -> Iterator[str]:
        """The statements of `holds`, for the check of what such a value is part of (see Check)."""
        if isinstance(self.holds, Check):
            yield from self.holds.lines(value, called)
        else:
            name = f"holds_{len(called)}"
            called[name] = self.holds
            yield f"if not {name}({value}): return False"

    def fault(self, value: object) -> str:
        """The message for a value that is not of this kind."""
        found, stored = format_value(value), _with_amounts(value)
        fault = f"{self.name} expected, found {found}"
        if not self.holds(stored):
            return fault
        whole = "the integer " if type(stored) is int else ""
        cure = f"{found} must be stored as {whole}{format_value(stored)}"
        return f"{fault}; {cure} (wrap amounts in `amount()`)"


def _lines_of(expression: str) -> Lines:
    return lambda value, called: iter([f"if not ({expression.format(value)}): return False"])


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f" {line}" for line in lines)


def optional(kind: Kind) -> Kind:
    """The kind, or null. Null identifies nothing."""

    def lines(value: str, called: dict[str, Any]) -> Iterator[str]:
        yield f"if {value} is not None:"
        yield from _indented(kind.lines(value, called))

    return Kind(
        f"{kind.name} or null",
        Check(lines),
        lambda value: None if value is None else kind.show(value),
        kind.entity,
        lambda shown: () if shown is None else kind.ids(shown),
        kind.form and ("optional", kind.form),
    )


def each(kind: Kind) -> Check:
    """Whether all items of a sequence are of the kind."""

    def lines(value: str, called: dict[str, Any]) -> Iterator[str]:
        yield f"for {value}_item in {value}:"
        yield from _indented(kind.lines(f"{value}_item", called))

    return Check(lines)


def several(kind: Kind, most: int | None = None) -> Kind:
    """A list of the kind, with at most so many items. It identifies what its items identify."""

    def lines(value: str, called: dict[str, Any]) -> Iterator[str]:
        too_long = "" if most is None else f" or len({value}) > {most}"
        yield f"if type({value}) is not tuple{too_long}: return False"
        yield from each(kind).lines(value, called)

    return Kind(
        f"list of {kind.name}",
        Check(lines),
        lambda value: [kind.show(item) for item in value],
        kind.entity,
        lambda shown: [named for item in shown for named in kind.ids(item)],
        kind.form and ("list", kind.form),
    )


def row(*kinds: Kind) -> Kind:
    """A list with one value of each of these kinds, in order."""

    def lines(value: str, called: dict[str, Any]) -> Iterator[str]:
        items = [f"{value}_{index}" for index in range(len(kinds))]
        yield f"if type({value}) is not tuple or len({value}) != {len(kinds)}: return False"
        yield f"[{', '.join(items)}] = {value}"
        for kind, item in zip(kinds, items, strict=True):
            yield from kind.lines(item, called)

    return Kind(
        f"[{', '.join(kind.name for kind in kinds)}]",
        Check(lines),
        lambda value: [kind.show(item) for kind, item in zip(kinds, value, strict=True)],
        form=("row", [kind.form for kind in kinds]),
    )


def one_of(names: Sequence[str]) -> Kind:
    """One of a few names, held as its index."""
    return Kind(
        " | ".join(names),
        Check(f"type({{0}}) is int and 0 <= {{0}} < {len(names)}"),
        lambda value: names[value],
        form=("name", names),
    )


def at_most(high: int) -> Kind:
    """An integer of at most so much. The format has none below -(2**63)."""
    return Kind(f"integer <= {high}", Check(f"type({{0}}) is int and {{0}} <= {high}"))


INTEGER = Kind("integer", Check("type({0}) is int"))
NATURAL = Kind("integer >= 0", Check("type({0}) is int and {0} >= 0"))
BOOLEAN = Kind("boolean", Check("type({0}) is bool"))
TEXT = Kind("text", Check("type({0}) is str"))
AGENT = attrs.evolve(NATURAL, entity="agent")  # by number
AGENTS = several(AGENT)
PLOT = attrs.evolve(NATURAL, entity="plot")  # by number


def text(most: int) -> Kind:
    """Text of at most `most` characters."""
    return Kind(f"text of at most {most}", Check(f"type({{0}}) is str and len({{0}}) <= {most}"))


WORD = Kind(
    "64-bit word",
    Check(f"type({{0}}) is int and 0 <= {{0}} < {1 << 64}"),
    lambda value: f"{value:016x}",
    entity="word",
    form=("word",),
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
# A whole number is held as an integer: one byte instead of nine.
AMOUNT = Kind(
    "real number",
    Check("type({0}) is int or type({0}) is float and {0} - {0} == 0.0 and not {0}.is_integer()"),
    float,
)


def amount(value: float) -> float:
    """A real number in the form that rows have (see AMOUNT)."""
    return int(value) if type(value) is float and value.is_integer() else value


def _with_amounts(value: Any, depth: int = 4) -> Any:
    """A value with each amount in the form that rows have, down to some depth."""
    if type(value) is tuple and depth:
        return tuple(_with_amounts(item, depth - 1) for item in value)
    return amount(value)
