"""The parser under fire: invented texts, damaged plans, answers of models, hostile lengths.

What a text says is held against a second reading of the rules (parse_oracle.py). The answers in
answers.jsonl were written by a language model that was shown golden journals, some, marked "hand",
after what larger models write; each stands there with what the rules make of it.
"""

import json
import re
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from goldrush.agents.worlds.mining import parse as module
from goldrush.agents.worlds.mining.parse import (
    DEPTH_MAX,
    FAILED_POSITIONS_MAX,
    INT64_MAX,
    INT64_MIN,
    TEXT_MAX,
    parse,
)
from tests.agents.worlds.mining import parse_oracle

ANSWERS = [
    json.loads(line)
    for line in Path(__file__).with_name("answers.jsonl").read_text("ascii").splitlines()
]


def tries(times: float) -> settings:
    """As many examples as the profile says, times this."""
    return settings(max_examples=int(times * settings.default.max_examples), deadline=None)


def read(text: str, rows: int = 4, cols: int = 10, defense: str = "absolute") -> dict[str, Any]:
    """What the parser makes of a text, in the oracle's words."""
    plan = parse(text, rows, cols, defense)
    return {"actions": list(plan.actions), "error": plan.error, "say": plan.say}


def meant(text: str, rows: int = 4, cols: int = 10, defense: str = "absolute") -> dict[str, Any]:
    """What the rules make of it."""
    return parse_oracle.read(text, rows, cols, defense)


# Invented texts. They are drawn as text and not as values, so that what is nearly JSON is drawn
# too: a key twice, an escape in a name, a number that is none.

NAMES = ["actions", "type", "plot", "stamina", "k", "say", "defend", "mine", "claim", "raid"]
ODD_NAMES = [
    *(name.upper() for name in NAMES),
    *(name.title() for name in NAMES),
    *(f"\\u{ord(name[0]):04x}{name[1:]}" for name in NAMES),
    *("\u212a", "m\u0131ne", "\uff4dine", "mine ", "", "3", "1,7", "why", "\\ud800", "pl\\u006ft"),
]
KEYS = st.sampled_from([f'"{name}"' for name in NAMES * 4 + ODD_NAMES])
KINDS = st.sampled_from(
    ['"mine"', '"raid"', '"claim"', '"defend"', '"MINE"', '"Ra\\u0069d"', '"dig"', '"mine "']
)
PLOTS = st.sampled_from(
    [
        *("0", "3", "17", "39", "40", "-1", "-0", "[1, 7]", "[0,0]", "[3, 9]", "[4, 0]", "[0,-1]"),
        *('"17"', '" 1 , 7 "', '"( 1,7 )"', '"(17)"', '"1,10"', '"999999999"', '"0000000001"'),
        *('"1,7,1"', '"-1"', '"+1"', '"1.0"', '"plot 17"', '"\u0661"', '"\uff11"', '"1\\t"', '"("'),
        *('"1\\u002c7"', '"\\u0031"', '"()"', '"[1,7]"', '""', '"1_7"', '"1 7"', "[1]", "[[1,7]]"),
    ]
)
ODD_NUMBERS = [
    *map(str, [INT64_MAX, INT64_MAX + 1, INT64_MIN, INT64_MIN - 1, 10**19, -(10**19), 10**18]),
    *("9" * 5_000, "-" + "9" * 5_000, "1.0", "1e3", "-0.5E+2", "1e999", "0e-0", "0." + "9" * 700),
    *("01", "+1", "-", ".5", "1.", "1e", "1e+", "0x1", "1_0", "--1", "\u0661", "1\u0661", "-01"),
    *("NaN", "Infinity", "-Infinity", "nan", "true", "false", "null", "True", "None", "nul"),
]
AMOUNTS = st.sampled_from(["1", "2", "0", "-5", '"2"', "[2]", "null", "2.0", *ODD_NUMBERS])
STRINGS = [
    '""', '"a\nb"', '"\x00\x1f\x7f"', '"\\n\\/\\b\\f\\r\\t\\\\\\""', '"\\x"', '"\\u12g4"',
    '"\ud800"', '"\\ud800"', '"\\udfff\ud83d\ude00"', '"\\ud83d\\ude00"', '"\\ud83d\\u0041"',
    '"\\ud83d\\ud83d\\ude00"', '"\\ud83d\ude00"', '"\\uD83D\\uDE0g"', '"\\u+123"', '"\\U0041"',
    '"[{"', '"}]"', '"{\\"mine\\": [1]}"', '"\U0001f600\u202e"', '"\u2028"', '"\'"', '"', "'a'",
]  # fmt: skip
SCALARS = st.one_of(PLOTS, AMOUNTS, KINDS, st.sampled_from(STRINGS))
COMMAS = st.sampled_from([", ", ",", " ,\n\t", ",\r\n"])


def listed(items: st.SearchStrategy[str], most: int = 4) -> st.SearchStrategy[str]:
    """A list of these, as text."""
    return st.builds(lambda i, comma: f"[{comma.join(i)}]", st.lists(items, max_size=most), COMMAS)


def keyed(
    keys: st.SearchStrategy[str], values: st.SearchStrategy[str], most: int = 4
) -> st.SearchStrategy[str]:
    """An object of these, as text; keys may come twice."""
    pairs = st.lists(st.builds("{}: {}".format, keys, values), max_size=most)
    return st.builds(lambda p, comma: f"{{{comma.join(p)}}}", pairs, COMMAS)


VALUES = st.recursive(
    SCALARS, lambda inner: st.one_of(listed(inner), keyed(KEYS, inner)), max_leaves=8
)
AMOUNT_KEYS = st.sampled_from(["stamina", "STAMINA", "k", "K", "\u212a", "x"])
FIELDS = st.one_of(
    st.builds('"type": {}'.format, KINDS),
    st.builds('"{}": {}'.format, st.sampled_from(["plot", "Plot", "PLOT"]), PLOTS),
    st.builds('"{}": {}'.format, AMOUNT_KEYS, AMOUNTS),
)
ITEMS = st.one_of(
    PLOTS,
    st.builds("[{}, {}]".format, KINDS, PLOTS),
    st.builds("[{}, {}, {}]".format, KINDS, PLOTS, AMOUNTS),
    st.builds("[{}, {}]".format, PLOTS, AMOUNTS),
    st.builds("{{{}}}".format, st.lists(FIELDS, max_size=5).map(", ".join)),
    st.builds('{{"type": {}, "plot": {}, "stamina": {}}}'.format, KINDS, PLOTS, AMOUNTS),
    st.builds(
        '{{"type": "mine", "plot": 3, "{}": {}, "{}": 2}}'.format, AMOUNT_KEYS, AMOUNTS, AMOUNT_KEYS
    ),
    keyed(st.sampled_from(['"3"', '"1,7"', '"(1, 7)"', '"x"']), AMOUNTS, 2),
    VALUES,
)
PLANS = st.one_of(
    listed(ITEMS),
    listed(st.builds("[{}, {}, {}]".format, KINDS, PLOTS, AMOUNTS)),
    keyed(KEYS, st.one_of(listed(ITEMS), listed(ITEMS), VALUES, keyed(PLOTS, AMOUNTS))),
    st.builds('{{"mine": {}, {}: {}}}'.format, listed(ITEMS), KEYS, VALUES),
    st.builds('{{"actions": {}, "say": {}}}'.format, listed(ITEMS), st.sampled_from(STRINGS)),
)
PROSE = st.sampled_from(
    ["", " ", "\n", "I would say ", "see [1] and [note]", "{", "[", "}]", '"', "\\", "[]", "{}",
     "```json\n", "\n```\n", "<think>", "</think>", "e.g. {mine: [1]} ", "[[", "{'mine': [1]}",
     '{"plan": ', "\ufeff", "\uff3b\uff5b", "// no\n", '"{', "\u202e", "\ud83d", '["mine", 3']
)  # fmt: skip
TEXTS = st.lists(st.one_of(PLANS, PLANS, PROSE, VALUES), min_size=1, max_size=4).map("".join)
SQUARE = {"rows": 9, "cols": 9, "defense": "absolute"}
DEFENSES = st.sampled_from(["absolute", "pointwise"])


@tries(5)
@given(text=TEXTS, rows=st.integers(1, 9), cols=st.integers(1, 9), defense=DEFENSES)
@example(text='{"mine": [{"3": 1, "3": 2}], "MINE": {"3": 1, "3": 2}}', rows=4, cols=9, defense="")
@example(text=f'{{"raid": ["0000000001", "1\\t", "\u00a01", {2**63 - 1}, {2**63}]}}', **SQUARE)
@example(text='{"defend": [[0, 1], [[0, 1], 2]]}', rows=4, cols=9, defense="pointwise")
@example(text='[["mine", 1]] ["\ud83d\ude00\\ud83d"]', rows=4, cols=9, defense="absolute")
def test_an_invented_text_is_read_as_the_rules_say(
    text: str, rows: int, cols: int, defense: str
) -> None:
    assert meant(text, rows, cols, defense) == read(text, rows, cols, defense)


@tries(2)
@given(text=st.text(st.characters()), before=PLANS, after=PLANS)
def test_any_characters_between_two_plans_are_read_as_the_rules_say(
    text: str, before: str, after: str
) -> None:
    text = before + text + after

    assert meant(text) == read(text)


@tries(2)
@given(
    opened=st.lists(st.sampled_from(["[", '{"a":', '{"mine":[', "[1,", '["]",']), min_size=1),
    depth=st.integers(DEPTH_MAX - 3, DEPTH_MAX + 3),
    closed=st.sampled_from([0, -1, None]),
    around=st.sampled_from(["{}", '{} [["mine", 1]]', '[["mine", 1], {}]', '[[["mine",1],{}]']),
)
def test_nesting_around_its_limit_is_read_as_the_rules_say(
    opened: list[str], depth: int, closed: int | None, around: str
) -> None:
    front = "".join(islice(cycle(opened), depth))
    brackets = re.sub(r'"."|[^\[{]', "", front)[::-1].translate(str.maketrans("[{", "]}"))
    text = around.replace("{}", front + "0" + brackets[: len(brackets) if closed == 0 else closed])

    assert meant(text) == read(text)


PLAN = '[["mine", 3]]'
AT_LIMITS = {  # of the page, and of the interpreter for digits
    "as long as can be": " " * (65_536 - len(PLAN)) + PLAN,
    "too long": " " * (65_537 - len(PLAN)) + PLAN,
    "5,000 digits": f'[["mine", 3], ["mine", 4, {"9" * 5_000}]]',
    "99 that fail": "[1] " * 1_000 + "{" * 99 + PLAN,
    "100 that fail": "{" * 100 + PLAN,
    "1,000 items": json.dumps({"actions": [None] * 1_000}),
    "1,200 items": json.dumps({"raid": list(range(600)), "claim": list(range(600))}),
}


@pytest.mark.parametrize("text", AT_LIMITS.values(), ids=AT_LIMITS)
def test_a_text_at_a_limit_is_read_as_the_rules_say(text: str) -> None:
    assert meant(text) == read(text)


# Damaged plans: every place of a plan, one after the other.

WHOLE = [
    '{"actions": [{"type": "mine", "plot": 17, "stamina": 2}, ["raid", "1,7"]], "say": "a\\"]"}',
    'So [3]: {"defend": [[1, 2]], "mine": {"3": 2, "(1, 2)": -1}, "CLAIM": [7, "8"]} or []',
    '[["mine", [0, 9], 1], {"k": 2, "type": "RAID", "plot": " 3 ", "K": 9223372036854775808}]',
    '```\n{"say": "\\ud83d\\ude00", "mine": [[1, 2], {"plot": 3, "k": 5, "STAMINA": 2}]}\n```\n',
]


@pytest.mark.parametrize("text", WHOLE)
def test_a_plan_that_is_damaged_anywhere_is_read_as_the_rules_say(text: str) -> None:
    for place in range(len(text) + 1):
        before, here, after = text[:place], text[place : place + 1], text[place + 1 :]
        cut = (before, here + after, before + WHOLE[0], before + after, before + after[8:])
        spoilt = (before + other + rest for other in ODD for rest in (after, here + after))
        for part in (*cut, *spoilt):
            assert meant(part) == read(part), part


ODD = [*'[]{}",:\\0-. ', "\x00", "\ud800"]

# Answers of models.


@pytest.mark.parametrize("answer", ANSWERS, ids=range(len(ANSWERS)))
def test_an_answer_is_read_as_it_was_and_damaged_as_the_rules_say(answer: dict[str, Any]) -> None:
    grid = answer["rows"], answer["cols"], answer["defense"]
    text = answer["text"][:2_000]

    assert answer["plan"] == json.loads(json.dumps(read(answer["text"], *grid)))
    assert answer["plan"] == json.loads(json.dumps(meant(answer["text"], *grid)))
    for place in range(0, len(text), max(1, len(text) // 4)):
        for part in (text[:place], text[:place] + text[place + 1 :], text[place:] + text[:place]):
            assert meant(part, *grid) == read(part, *grid), part


# Work: a position that decodes is passed over; one that does not may cost the rest of the text, so
# their number bounds the work for any text.


def filled(before: str, piece: str, after: str = "") -> str:
    """A text of the longest length that is read: a piece repeated between two others."""
    room = TEXT_MAX - len(before) - len(after)
    return (before + piece * (room // len(piece)) + after).ljust(TEXT_MAX)


UNENDING = '["' + '[\\"' * (FAILED_POSITIONS_MAX - 1)
COSTLY = {
    "openings": filled("", "["),
    "keys": filled("", '{"a":'),
    "crossed": filled("", "[}"),
    "too deep": filled("", "[" * (DEPTH_MAX + 1) + "]" * (DEPTH_MAX + 1)),
    "too deep at the end": filled("[", "1,", "[" * 32),
    "a string without end": filled('["', "x"),
    "a long integer": filled('[["mine",', "9", "]]"),
    "a constant at the end": filled("[", "1,", "NaN]"),
    "positions that fail one inside the other": filled("", "[" * 31 + '"' + "[" * 31 + '",1}'),
    "strings without end before openings": filled(UNENDING, "["),
    "a plan": filled('[["mine",1]]', " "),
}


@pytest.mark.parametrize("text", COSTLY.values(), ids=COSTLY)
def test_so_many_positions_are_tried_and_no_more_of_a_longer_text(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: list[int] = []

    def counted(text: str, position: int) -> tuple[object, int]:
        assert len(text) <= TEXT_MAX
        try:
            return decode(text, position)
        except ValueError:
            failed.append(position)
            raise

    decode = module._decode
    monkeypatch.setattr(module, "_decode", counted)
    parse(text, 4, 10, "pointwise")
    first, failed[:] = [*failed], []
    parse(text * 3, 4, 10, "pointwise")

    assert first == failed == sorted(set(failed))
    assert len(failed) <= FAILED_POSITIONS_MAX
