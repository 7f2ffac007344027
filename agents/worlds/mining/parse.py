"""Plans in the text of language models (kernel/worlds/mining/README.md, section 4).

`parse` is a pure function of the text, the grid and the defence rule. It never raises, takes time
linear in the length of any text, and gives the same plan on every supported interpreter. Whether an
action is legal is decided later, by the kernel (section 5).

`json.loads` is not enough, because models write prose, code fences and examples around a plan. The
decoder's defaults lose a category that is given twice, raise on long integers, accept NaN, and
leave the depth of nesting to the interpreter's recursion limit.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeGuard

import msgspec

from goldrush.agents.llm.failures import NO_JSON
from goldrush.agents.llm.json_object import SURROGATE, TEXT_MAX, refuse_constant
from goldrush.kernel.worlds.mining.events import INT64_MAX, INT64_MIN, ITEMS_MAX, KINDS, OVERFLOW

DEPTH_MAX = 32  # nesting depth of lists and objects, with the outermost
FAILED_POSITIONS_MAX = 100  # brackets at which no value decoded, after which the search ends
PLOT_DIGITS_MAX = 9  # digits of each number in a plot written as a string
INT64_CHARS_MAX = len(str(INT64_MIN))  # a JSON integer has no leading zeros: longer is beyond

NO_PLOT = -1  # a row or column outside the grid; the kernel removes it as `off-grid`

Action = tuple[str, int, int]


class Form(msgspec.Struct, frozen=True):
    """By which names an answer is read, all of them in lower case.

    Attributes:
        kinds: the kinds of action, by name.
        actions, type, plot: the keys of an answer and of an action.
        amount: the keys of an action's amount; the first that is given counts.
        by_row: plots are named by row and column, never by an id.
    """

    kinds: Mapping[str, str] = MappingProxyType({kind: kind for kind in KINDS})
    actions: str = "actions"
    type: str = "type"
    plot: str = "plot"
    amount: Sequence[str] = ("stamina", "k")
    by_row: bool = False


PLAIN: Final = Form()  # of the default wording


class ParsedPlan(msgspec.Struct, frozen=True):
    """The plan in a text.

    Attributes:
        actions: `(kind, plot, amount)` with signed 64-bit integers; None for a malformed item.
        error: None, "no-json" (there is no plan) or "overflow" (more than ITEMS_MAX items).
        say, note: the message, and the note, as written, without surrogates but neither cleaned
            nor cut; None: there is none.
    """

    actions: tuple[Action | None, ...]
    error: str | None
    say: str | None
    note: str | None = None


def parse(text: str, rows: int, cols: int, defense: str, form: Form = PLAIN) -> ParsedPlan:
    """Read the last plan in the first TEXT_MAX characters of an answer; if `defense` is
    "pointwise", a `defend` item may be a pair.
    """
    plan = _chosen(text[:TEXT_MAX], form)
    if plan is None:
        return ParsedPlan((), NO_JSON, None)
    pointwise = defense == "pointwise"
    return ParsedPlan(
        actions=tuple(
            _action(category, item, rows, cols, pointwise, form)
            for category, item in plan.entries[:ITEMS_MAX]
        ),
        error=OVERFLOW if len(plan.entries) > ITEMS_MAX else None,
        say=plan.say,
        note=plan.note,
    )


# Which value is the plan. A decoded JSON list is a `list`, a decoded object a `tuple` of its
# `(key, value)` pairs in the order of the text; a float is None, because no plan can use one.

_Object = tuple[tuple[str, object], ...]
_Entry = tuple[str | None, object]  # the category (None in form A) and the item
_Parts = tuple[object, object, object]  # values of kind, plot and amount, not checked yet


class _Plan(msgspec.Struct, frozen=True):
    entries: list[_Entry]
    say: str | None = None
    note: str | None = None


def _chosen(text: str, form: Form) -> _Plan | None:
    # A bare empty list is a plan only if it is all of the text.
    is_bare = _BARE.fullmatch(text) is not None
    chosen: _Plan | None = None
    for value in _values(text):
        if value != [] or is_bare:
            chosen = _plan(value, form) or chosen
    return chosen


def _values(text: str) -> Iterator[object]:
    failed = 0
    opening = _OPENING.search(text)
    while opening is not None and failed < FAILED_POSITIONS_MAX:
        position = opening.start()
        try:
            value, end = _decode(text, position)
        except ValueError:
            failed += 1
            end = position + 1
        else:
            yield value
        opening = _OPENING.search(text, end)


def _plan(value: object, form: Form) -> _Plan | None:
    if isinstance(value, list):
        if value and not _starts_form_a(value[0], form):
            return None
        return _Plan([(None, item) for item in value])
    if not isinstance(value, tuple):
        return None
    fields = _fields(value)
    if fields.keys().isdisjoint((form.actions, *form.kinds)):
        return None
    say, note = (
        # Lone surrogates, for a pair is one character; decoded, because the escape \ud800 is one.
        SURROGATE.sub("\ufffd", text) if isinstance(text := fields.get(key), str) else None
        for key in ("say", "note")
    )
    return _Plan(_object_entries(value, fields, form), say, note)


def _starts_form_a(item: object, form: Form) -> bool:
    if isinstance(item, list):
        return bool(item) and _kind(item[0], form) is not None
    return isinstance(item, tuple) and form.type in _fields(item)


def _object_entries(pairs: _Object, fields: dict[str, object], form: Form) -> list[_Entry]:
    if form.actions in fields:
        # Not a category: if given twice, the last one counts, as with any other key.
        return _entries(None, fields[form.actions])
    return [
        entry
        for key, value in pairs
        if (category := _kind(key, form)) is not None
        for entry in _entries(category, value)
    ]


def _entries(category: str | None, value: object) -> list[_Entry]:
    if isinstance(value, list):
        return [(category, item) for item in value]
    if category == "mine" and isinstance(value, tuple):
        # Each `P: k` is an item, also if a key is given twice: the kernel judges both.
        return [(category, [key, amount]) for key, amount in value]
    return [(category, None)]


# One item.


def _action(
    category: str | None, item: object, rows: int, cols: int, pointwise: bool, form: Form
) -> Action | None:
    if _holds_beyond_int64(item):
        return None
    parts = _form_a(item, form) if category is None else _form_b(category, item, pointwise, form)
    if parts is None:
        return None
    kind = category or _kind(parts[0], form)
    plot = _plot(parts[1], rows, cols, form)
    amount = parts[2]
    if kind is None or plot is None or not _is_integer(amount):
        return None
    return kind, plot, amount


def _form_a(item: object, form: Form) -> _Parts | None:
    if isinstance(item, tuple):
        fields = _fields(item)
        return fields.get(form.type), fields.get(form.plot), _amount(fields, form)
    if isinstance(item, list) and len(item) == 2:
        return item[0], item[1], 1
    if isinstance(item, list) and len(item) == 3:
        return item[0], item[1], item[2]
    return None


def _form_b(category: str, item: object, pointwise: bool, form: Form) -> _Parts | None:
    takes_pair = category == "mine" or (category == "defend" and pointwise)
    if takes_pair and isinstance(item, list) and len(item) == 2:
        return category, item[0], item[1]
    if category != "mine" or not isinstance(item, tuple):
        return category, item, 1
    fields = _fields(item)
    if form.plot in fields:
        return "mine", fields[form.plot], _amount(fields, form)
    if len(fields) == 1:
        [(plot, amount)] = fields.items()
        return "mine", plot, amount
    return None  # an item is one action: {"3": 1, "4": 2} inside the list is malformed


def _amount(fields: dict[str, object], form: Form) -> object:
    # Only an absent key has a default: an amount of null is malformed.
    return next((fields[key] for key in form.amount if key in fields), 1)


def _plot(value: object, rows: int, cols: int, form: Form) -> int | None:
    if isinstance(value, str):
        written = _PLOT_TEXT.fullmatch(value.strip(" "))
        if written is None:
            return None
        value = [int(digits) for digits in written.groups() if digits is not None]
        if len(value) == 1:
            [value] = value
    if _is_integer(value):
        return None if form.by_row else value
    if not isinstance(value, list) or len(value) != 2:
        return None
    row, col = value
    if not (_is_integer(row) and _is_integer(col)):
        return None
    return row * cols + col if 0 <= row < rows and 0 <= col < cols else NO_PLOT


def _holds_beyond_int64(item: object) -> bool:
    # Anywhere in the item: also under a key that is ignored or given again later.
    if isinstance(item, (list, tuple)):
        return any(map(_holds_beyond_int64, item))
    return _is_integer(item) and not INT64_MIN <= item <= INT64_MAX


# Names and integers.


def _fields(pairs: _Object) -> dict[str, object]:
    # Of a key given twice, in any case of letters, the last value counts.
    return {_ascii_lower(key): value for key, value in pairs}


def _kind(value: object, form: Form) -> str | None:
    return form.kinds.get(_ascii_lower(value)) if isinstance(value, str) else None


def _ascii_lower(name: str) -> str:
    # `lower` alone would turn the Kelvin sign into a k; the known names are ASCII.
    return name.lower() if name.isascii() else name


def _is_integer(value: object) -> TypeGuard[int]:
    return type(value) is int  # a bool is not one


# One JSON value.


def _decode(text: str, position: int) -> tuple[object, int]:
    """The value at an offset in the text, and the offset of its end. Raises ValueError."""
    if _is_too_deep(text, position):
        raise ValueError("nested too deep")
    return _DECODER.raw_decode(text, position)


def _is_too_deep(text: str, position: int) -> bool:
    # Counts brackets outside strings only. The decoder refuses malformed values later, and before
    # that it opens no more brackets than are counted here.
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text, position):
        character = text[token.start()]
        if character in "[{":
            depth += 1
            if depth > DEPTH_MAX:
                return True
        elif character in "]}":
            depth -= 1
            if depth == 0:
                return False
    return False


def _integer(digits: str) -> int:
    # Conversion is quadratic in the digits and refused beyond a limit: not done for a long one.
    return int(digits) if len(digits) <= INT64_CHARS_MAX else INT64_MAX + 1


_OPENING = re.compile(r"[\[{]")
_BARE = re.compile(r"[ \t\n\r]*\[[ \t\n\r]*\][ \t\n\r]*")

# The closing quote is optional, so that an unclosed string is one token up to the end of the text
# instead of a new attempt at every quote in it.
_STRING_OR_BRACKET = re.compile(r'[\[\]{}]|"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)

_NUMBER = rf"([0-9]{{1,{PLOT_DIGITS_MAX}}})"
_PAIR = rf"{_NUMBER} *, *{_NUMBER}"
_PLOT_TEXT = re.compile(rf"{_NUMBER}|{_PAIR}|\( *{_PAIR} *\)")

_DECODER = json.JSONDecoder(
    object_pairs_hook=tuple,
    parse_int=_integer,
    parse_float=lambda digits: None,  # not converted, and never refused for its size
    parse_constant=refuse_constant,
    strict=False,
)
