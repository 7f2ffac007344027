"""A second, naive reading of a text as a plan, to hold the fast one against.

Told from kernel/worlds/mining/README.md, section 4, alone, one character after the other: a small
reader of JSON that keeps every pair of an object in its order and every number as it is written.
Slow and plain on purpose, and nothing of it is shared with the parser under test: where the two
differ, one of them has misread the rules.
"""

from __future__ import annotations

from typing import Any

import attrs

CHARACTERS_READ = 65_536
NESTING = 32
FAILURES = 100
ITEMS_KEPT = 1_000
DIGITS_OF_A_PLOT = 9

CATEGORIES = ["defend", "mine", "claim", "raid"]


class NotJson(Exception):
    """No value decodes here."""


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
        digits = self.written.removeprefix("-")
        if not self.integer or len(digits) < 19:
            return False
        if len(digits) > 19:
            return True
        return digits > ("9223372036854775808" if self.written != digits else "9223372036854775807")


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


def values(text: str) -> list[Any]:
    """All that decodes, from left to right, until too much did not."""
    found = []
    failures = 0
    place = 0
    while place < len(text) and failures < FAILURES:
        if text[place] not in "{[":
            place += 1
            continue
        reader = Reader(text, place)
        try:
            found.append(reader.value(1))
        except NotJson:
            failures += 1
            place += 1
        else:
            place = reader.place
    return found


class Reader:
    """Reads one JSON value, beginning at `place`; afterwards `place` is where it ended."""

    def __init__(self, text: str, place: int) -> None:
        self.text = text
        self.place = place

    def look(self) -> str:
        """The next character; at the end of the text, none."""
        return self.text[self.place : self.place + 1]

    def take(self, expected: str) -> None:
        """Pass over these characters, which have to stand here."""
        if not self.text.startswith(expected, self.place):
            raise NotJson
        self.place += len(expected)

    def space(self) -> None:
        """Pass over white space."""
        while self.look() in {" ", "\t", "\n", "\r"}:
            self.place += 1

    def value(self, depth: int) -> Any:
        """A value; a list or an object that begins here is the `depth`-th inside the others."""
        match self.look():
            case "{" | "[" if depth > NESTING:
                raise NotJson
            case "{":
                return self.an_object(depth)
            case "[":
                return self.a_list(depth)
            case '"':
                return self.string()
            case "t":
                self.take("true")
                return True
            case "f":
                self.take("false")
                return False
            case "n":
                self.take("null")
                return None
            case _:
                return self.number()

    def a_list(self, depth: int) -> list[Any]:
        """A list and all that is in it."""
        read: list[Any] = []
        self.take("[")
        self.space()
        if self.look() == "]":
            self.take("]")
            return read
        while True:
            self.space()
            read.append(self.value(depth + 1))
            self.space()
            if self.look() == "]":
                self.take("]")
                return read
            self.take(",")

    def an_object(self, depth: int) -> Object:
        """An object and all that is in it."""
        read = Object([])
        self.take("{")
        self.space()
        if self.look() == "}":
            self.take("}")
            return read
        while True:
            self.space()
            key = self.string()
            self.space()
            self.take(":")
            self.space()
            read.pairs.append((key, self.value(depth + 1)))
            self.space()
            if self.look() == "}":
                self.take("}")
                return read
            self.take(",")

    def string(self) -> str:
        """A string, in which control characters may stand."""
        read: list[str] = []
        self.take('"')
        while self.look() != '"':
            if not self.look():
                raise NotJson
            read.append(self.escaped() if self.look() == "\\" else self.plain())
        self.take('"')
        return "".join(map(whole, read))

    def plain(self) -> str:
        """One character as it stands."""
        self.place += 1
        return self.text[self.place - 1]

    def escaped(self) -> str:
        """One character written with a backslash, or with two of them."""
        self.take("\\")
        name = self.plain() if self.look() else ""
        if name == "u":
            high = self.unit()
            after = self.place
            if 0xD800 <= high <= 0xDBFF and self.text.startswith("\\u", after):
                self.take("\\u")
                low = self.unit()
                if 0xDC00 <= low <= 0xDFFF:
                    return chr(0x10000 + (high - 0xD800) * 0x400 + (low - 0xDC00))
                self.place = after
            return chr(high)
        meant = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"} | {c: c for c in '"\\/'}
        if name not in meant:
            raise NotJson
        return meant[name]

    def unit(self) -> int:
        """The four hexadecimal digits of an escape."""
        digits = self.text[self.place : self.place + 4]
        if len(digits) < 4 or any(digit not in "0123456789abcdefABCDEF" for digit in digits):
            raise NotJson
        self.place += 4
        return int(digits, 16)

    def number(self) -> Number:
        """A number; what stands after it is for whoever asked."""
        start = self.place
        if self.look() == "-":
            self.take("-")
        if self.look() == "0":
            self.take("0")
        else:
            self.digits()
        if self.look() == ".":
            self.take(".")
            self.digits()
        if self.look() in {"e", "E"}:
            self.place += 1
            if self.look() in {"+", "-"}:
                self.place += 1
            self.digits()
        return Number(self.text[start : self.place])

    def digits(self) -> None:
        """One digit or more."""
        start = self.place
        while self.look() and self.look() in "0123456789":
            self.place += 1
        if self.place == start:
            raise NotJson


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
