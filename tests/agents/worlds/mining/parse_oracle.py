"""A second, naive reading of a text as a plan, to hold the fast one against.

Told from kernel/worlds/mining/README.md, section 4, alone: every pair of an object is kept in its
order, and every number as it is written. Slow and plain on purpose, and nothing of it is shared
with the parser under test but Python's decoder of JSON: where the two differ, one of them has
misread the rules.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import attrs

CHARACTERS_READ = 65_536
NESTING = 32
FAILURES = 100
ITEMS_KEPT = 1_000
DIGITS_OF_A_PLOT = 9

CATEGORIES = ["defend", "mine", "claim", "raid"]


@attrs.frozen
class Object:
    """A JSON object: its pairs as they stand in the text, also those that come twice."""

    pairs: list[tuple[str, Any]]


@attrs.frozen
class Number:
    """A JSON number as it is written."""

    written: str

    @property
    def integer(self) -> bool:
        """Whether it is written without a fraction and without an exponent."""
        return not any(mark in self.written for mark in ".eE")

    @property
    def beyond(self) -> bool:
        """Whether it is an integer outside the signed 64-bit range."""
        return self.integer and not -(2**63) <= Decimal(self.written) < 2**63


def read(text: str, rows: int, cols: int, defense: str) -> dict[str, Any]:
    """The plan in a text: its `actions`, `error` and `say`, as a line of JSON would hold them."""
    text = "".join(map(whole, text[:CHARACTERS_READ]))
    is_bare = "".join(text.split(" ")).translate(dict.fromkeys(map(ord, "\t\n\r"))) == "[]"
    plans = [
        value for value in values(text) if shaped_like_a_plan(value) and (value != [] or is_bare)
    ]
    if not plans:
        return {"actions": [], "error": "no-json", "say": None}
    chosen = plans[-1]
    listed = items(chosen)
    return {
        "actions": [action(*item, rows, cols, defense) for item in listed[:ITEMS_KEPT]],
        "error": "overflow" if len(listed) > ITEMS_KEPT else None,
        "say": message(chosen),
    }


def whole(character: str) -> str:
    """The character, or what stands for a lone surrogate."""
    return "\ufffd" if 0xD800 <= ord(character) <= 0xDFFF else character


# The values in a text.


def refused(constant: str) -> None:
    """NaN and infinities are not JSON."""
    raise ValueError(constant)


DECODER = json.JSONDecoder(
    object_pairs_hook=Object,
    parse_int=Number,
    parse_float=Number,
    parse_constant=refused,
    strict=False,
)


def values(text: str) -> list[Any]:
    """All that decodes, from left to right, until too much did not."""
    found = []
    failures = 0
    place = 0
    while place < len(text) and failures < FAILURES:
        if text[place] not in "{[":
            place += 1
            continue
        try:
            value, end = DECODER.raw_decode(text, place)
            found.append(cleaned(value, NESTING))
        except (ValueError, RecursionError):
            failures += 1
            place += 1
        else:
            place = end
    return found


def cleaned(value: Any, left: int) -> Any:
    """The value without lone surrogates; `left`: how many levels it may have."""
    if isinstance(value, str):
        return "".join(map(whole, value))
    if not isinstance(value, (list, Object)):
        return value
    if left == 0:
        raise ValueError("too deep")
    if isinstance(value, list):
        return [cleaned(item, left - 1) for item in value]
    return Object([(cleaned(key, 1), cleaned(held, left - 1)) for key, held in value.pairs])


# What a value says.


def low(name: str) -> str:
    """A name with its ASCII capitals made small, and nothing else."""
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in name)


def has(value: Object, name: str) -> bool:
    """Whether a key of this name is among the pairs."""
    return any(low(key) == name for key, _ in value.pairs)


def last(value: Object, name: str) -> Any:
    """What the last key of this name holds; there is one."""
    return [held for key, held in value.pairs if low(key) == name][-1]


def is_kind(value: Any) -> bool:
    """Whether it is the name of a kind of action."""
    return isinstance(value, str) and low(value) in CATEGORIES


def shaped_like_a_plan(value: Any) -> bool:
    """Whether a value could be meant as a plan."""
    if isinstance(value, Object):
        return any(has(value, name) for name in ["actions", *CATEGORIES])
    if not value:
        return True
    first = value[0]
    if isinstance(first, Object):
        return has(first, "type")
    return isinstance(first, list) and first != [] and is_kind(first[0])


def items(plan: Any) -> list[tuple[str, Any]]:
    """The items of a plan, each with the form it is written in: "action", the name of a category,
    or "plot: amount" for what stands in an object of `mine`.
    """
    if isinstance(plan, list):
        return [("action", item) for item in plan]
    if has(plan, "actions"):
        held = last(plan, "actions")
        return [("action", item) for item in (held if isinstance(held, list) else [None])]
    found: list[tuple[str, Any]] = []
    for key, held in plan.pairs:
        category = low(key)
        if category not in CATEGORIES:
            continue
        if category == "mine" and isinstance(held, Object):
            found += [("plot: amount", pair) for pair in held.pairs]
        else:
            found += [(category, item) for item in (held if isinstance(held, list) else [None])]
    return found


def message(plan: Any) -> str | None:
    """What the plan says to others."""
    if isinstance(plan, list) or not has(plan, "say"):
        return None
    said = last(plan, "say")
    return said if isinstance(said, str) else None


# What an item says.


def action(form: str, item: Any, rows: int, cols: int, defense: str) -> tuple[str, int, int] | None:
    """The action that an item stands for, None if it is malformed."""
    if holds_beyond(item):
        return None
    kind, where, amount = parts(form, item, defense)
    place = plot(where, rows, cols)
    if not is_kind(kind) or place is None or not is_integer(amount):
        return None
    return low(kind), place, int(amount.written)


def parts(form: str, item: Any, defense: str) -> tuple[Any, Any, Any]:
    """What stands for kind, plot and amount; None three times where nothing does."""
    nothing = (None, None, None)
    if form == "action":
        if isinstance(item, list) and len(item) in (2, 3):
            return (*item, Number("1")) if len(item) == 2 else tuple(item)
        if isinstance(item, Object) and has(item, "type") and has(item, "plot"):
            return last(item, "type"), last(item, "plot"), amount_of(item)
        return nothing
    if form == "plot: amount":
        return "mine", *item
    is_pair = isinstance(item, list) and len(item) == 2
    if is_pair and (form == "mine" or (form == "defend" and defense == "pointwise")):
        return form, *item
    if isinstance(item, Object) and form == "mine":
        if has(item, "plot"):
            return "mine", last(item, "plot"), amount_of(item)
        if len({key for key, _ in item.pairs}) == 1:
            return "mine", *item.pairs[-1]
        return nothing
    return form, item, Number("1")


def amount_of(item: Object) -> Any:
    """What an item of keys says of its amount."""
    for name in ["stamina", "k"]:
        if has(item, name):
            return last(item, name)
    return Number("1")


def plot(where: Any, rows: int, cols: int) -> int | None:
    """The plot that is meant: its id, -1 for a row or a column outside the grid, None for none."""
    if isinstance(where, str):
        inner = where.strip(" ")
        in_brackets = inner.startswith("(") and inner.endswith(")")
        if in_brackets:
            inner = inner[1:-1]
        numbers = [number.strip(" ") for number in inner.split(",")]
        if not all(map(is_short_number, numbers)):
            return None
        if len(numbers) == 1 and not in_brackets:
            return int(numbers[0])
        where = [Number(number) for number in numbers]
    if is_integer(where):
        return int(where.written)
    if not isinstance(where, list) or len(where) != 2 or not all(map(is_integer, where)):
        return None
    row, col = (int(number.written) for number in where)
    return row * cols + col if row in range(rows) and col in range(cols) else -1


def is_short_number(text: str) -> bool:
    """Whether it is what a number in a plot may be: a few ASCII digits."""
    return 1 <= len(text) <= DIGITS_OF_A_PLOT and all(c in "0123456789" for c in text)


def is_integer(value: Any) -> bool:
    """Whether it is a number written as an integer."""
    return isinstance(value, Number) and value.integer


def holds_beyond(value: Any) -> bool:
    """Whether an integer beyond 64 bits stands anywhere in it."""
    if isinstance(value, Object):
        return any(holds_beyond(held) for _, held in value.pairs)
    if isinstance(value, (list, tuple)):
        return any(map(holds_beyond, value))
    return isinstance(value, Number) and value.beyond
