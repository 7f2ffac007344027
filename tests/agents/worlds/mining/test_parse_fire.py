"""The parser under fire: invented texts, damaged plans, answers of models, hostile lengths.

What a text says is held against a second reading of the rules (parse_oracle.py). The answers in
answers.jsonl were written by a language model that was shown golden journals, some, marked "hand",
after what larger models write; each stands there with what the rules make of it.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
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
from goldrush.kernel.worlds.mining.events import ITEMS_MAX
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
CATEGORY_KEYS = st.sampled_from(['"mine"', '"raid"', '"Claim"', '"DEFEND"', '"why"'])
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
    *(
        '""',
        '"a\nb"',
        '"\x00\x1f\x7f"',
        '"\\n\\/\\b\\f\\r\\t\\\\\\""',
        '"\\x"',
        '"\\u12"',
        '"\\u12g4"',
    ),
    *('"\ud800"', '"\\ud800"', '"\\udfff\ud83d\ude00"', '"\\ud83d\\ude00"', '"\\ud83d\\u0041"'),
    *('"\\ud83d\\ud83d\\ude00"', '"\\ud83d\ude00"', '"\\uD83D\\uDE0g"', '"\\u+123"', '"\\U0041"'),
    *('"[{"', '"}]"', '"{\\"mine\\": [1]}"', '"\U0001f600\u202e"', '"\u2028"', '"\'"', '"', "'a'"),
]
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
    [
        *(
            "",
            " ",
            "\n",
            "I would say ",
            "see [1] and [note]",
            "{",
            "[",
            "}]",
            '"',
            "\\",
            "[]",
            "{}",
        ),
        *(
            "```json\n",
            "\n```\n",
            "<think>",
            "</think>",
            "e.g. {mine: [1]} ",
            "[[",
            "{'mine': [1]}",
        ),
        *('{"plan": ', "\ufeff", "\uff3b\uff5b", "// no\n", '"{', "\u202e", "\ud83d", '["mine", 3'),
    ]
)
DAMAGE = st.lists(
    st.tuples(
        st.sampled_from(["delete", "double", "insert", "cut", "swap"]),
        st.integers(0, 400),
        st.sampled_from([*'[]{}",:\\ 0-.eNt\n', "\x00", "\ud800", "}}", "]]"]),
    ),
    max_size=3,
)


def damaged(text: str, damage: list[tuple[str, int, str]]) -> str:
    """The text after these accidents, each at its place, counted around the end."""
    for accident, place, character in damage:
        at = place % (len(text) + 1)
        before, here, after = text[:at], text[at : at + 1], text[at + 1 :]
        text = {
            "delete": before + after,
            "double": before + here * 2 + after,
            "insert": before + character + here + after,
            "cut": before,
            "swap": before + after[:1] + here + after[1:],
        }[accident]
    return text


TEXTS = st.builds(
    damaged,
    st.lists(st.one_of(PLANS, PLANS, PROSE, VALUES), min_size=1, max_size=4).map("".join),
    st.one_of(st.just([]), DAMAGE),
)
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
    closed=st.sampled_from(["matching", "none", "one short", "one more", "crossed"]),
    around=st.sampled_from(["{}", '{} [["mine", 1]]', '[["mine", 1], {}]', '[[["mine",1],{}]']),
)
def test_nesting_around_its_limit_is_read_as_the_rules_say(
    opened: list[str], depth: int, closed: str, around: str
) -> None:
    pieces = list(islice(cycle(opened), depth))
    ends = re.sub(r'"."', "", "".join(pieces))[::-1].translate(str.maketrans("[{", "]}"))
    ends = "".join(character for character in ends if character in "]}")
    match closed:
        case "none":
            ends = ""
        case "one short":
            ends = ends[:-1]
        case "one more":
            ends += "]"
        case "crossed":
            ends = ends[::-1]
    text = around.replace("{}", "".join(pieces) + "0" + ends)

    assert meant(text) == read(text)


@tries(0.5)
@given(
    filling=st.sampled_from([" ", "\U0001f600", "]", "x", '"', "[0]", "\ud800", "\\"]),
    plan=PLANS,
    missing=st.integers(-5, 120),
    before=st.sampled_from(["", '[["claim", 1]]']),
    after=st.sampled_from(["", '[["claim", 2]]', "]}", '"]}']),
)
def test_a_text_around_its_limit_is_read_as_the_rules_say(
    filling: str, plan: str, missing: int, before: str, after: str
) -> None:
    room = max(0, TEXT_MAX - len(before) - len(plan) + missing)
    text = before + (filling * (room // len(filling) + 1))[:room] + plan + after

    assert meant(text) == read(text)


@tries(1)
@given(
    failing=st.lists(st.sampled_from(["{", "[x] ", "{a} ", "[1,] ", '["', "[NaN]"]), min_size=1),
    count=st.integers(FAILED_POSITIONS_MAX - 6, FAILED_POSITIONS_MAX + 2),
    between=st.sampled_from(["", "[0]", '[["claim", 3]]']),
    plan=PLANS,
)
def test_positions_that_fail_around_their_limit_are_counted_as_the_rules_say(
    failing: list[str], count: int, between: str, plan: str
) -> None:
    pieces = list(islice(cycle(failing), count))
    text = "".join(pieces[:50]) + between + "".join(pieces[50:]) + plan + '[["raid", 9]]'

    assert meant(text) == read(text)


@tries(0.3)
@given(
    item=ITEMS,
    first=st.integers(0, ITEMS_MAX),
    count=st.integers(ITEMS_MAX - 2, ITEMS_MAX + 2),
    keys=st.tuples(CATEGORY_KEYS, CATEGORY_KEYS),
    rest=st.sampled_from(["", '{"claim": []}', "[]", '[["mine", 1]]']),
)
def test_items_around_their_limit_are_kept_as_the_rules_say(
    item: str, first: int, count: int, keys: tuple[str, str], rest: str
) -> None:
    counts = first, count - first
    lists = [f"{key}: [{', '.join([item] * n)}]" for key, n in zip(keys, counts, strict=True)]
    text = f"{{{', '.join(lists)}}}{rest}"

    assert meant(text) == read(text)


# Damaged plans: every place of a plan, one after the other.

WHOLE = [
    '{"actions": [{"type": "mine", "plot": 17, "stamina": 2}, ["raid", "1,7"]], "say": "a\\"]"}',
    'So [3]: {"defend": [[1, 2]], "mine": {"3": 2, "(1, 2)": -1}, "CLAIM": [7, "8"]} or []',
    '[["mine", [0, 9], 1], {"k": 2, "type": "RAID", "plot": " 3 ", "K": 9223372036854775808}]',
    '```\n{"say": "\\ud83d\\ude00", "mine": [[1, 2], {"plot": 3, "k": 5, "STAMINA": 2}]}\n```\n',
]


@pytest.mark.parametrize("defense", ["absolute", "pointwise"])
@pytest.mark.parametrize("text", WHOLE)
def test_a_plan_cut_anywhere_is_read_as_the_rules_say(text: str, defense: str) -> None:
    for place in range(len(text) + 1):
        for part in (text[:place], text[place:], text[:place] + WHOLE[0]):
            assert meant(part, defense=defense) == read(part, defense=defense), part


@pytest.mark.parametrize("text", WHOLE)
def test_a_plan_that_lacks_a_character_is_read_as_the_rules_say(text: str) -> None:
    for place in range(len(text)):
        for width in (1, 2, 9):
            part = text[:place] + text[place + width :]

            assert meant(part) == read(part), part


@pytest.mark.parametrize("text", WHOLE)
@pytest.mark.parametrize("more", [*'[]{}",:\\0-. ', "\x00", "\ud800"])
def test_a_plan_with_a_character_too_many_is_read_as_the_rules_say(text: str, more: str) -> None:
    for place in range(len(text) + 1):
        part = text[:place] + more + text[place:]

        assert meant(part) == read(part), part


@pytest.mark.parametrize("text", WHOLE)
@pytest.mark.parametrize("other", [*'[]{}",:\\0-.'])
def test_a_plan_with_another_character_is_read_as_the_rules_say(text: str, other: str) -> None:
    for place in range(len(text)):
        part = text[:place] + other + text[place + 1 :]

        assert meant(part) == read(part), part


# Answers of models.


def test_there_are_answers_of_all_sorts() -> None:
    written = Counter(answer["by"] for answer in ANSWERS)
    outcomes = Counter(
        answer["plan"]["error"] or ("plan" if answer["plan"]["actions"] else "empty")
        for answer in ANSWERS
    )

    assert min(written["model"], written["hand"]) >= 60
    assert {"no-json", "overflow", "plan", "empty"} == set(outcomes)
    assert min(outcomes["no-json"], outcomes["plan"]) >= 50
    assert {"absolute", "pointwise"} == {answer["defense"] for answer in ANSWERS}
    assert any(answer["plan"]["say"] for answer in ANSWERS)


@pytest.mark.parametrize("read_by", [read, meant], ids=["parser", "oracle"])
@pytest.mark.parametrize("answer", ANSWERS, ids=range(len(ANSWERS)))
def test_an_answer_is_read_as_it_was(
    answer: dict[str, Any], read_by: Callable[..., dict[str, Any]]
) -> None:
    plan = read_by(answer["text"], answer["rows"], answer["cols"], answer["defense"])

    assert answer["plan"] == json.loads(json.dumps(plan))


@pytest.mark.turns
@pytest.mark.parametrize("answer", ANSWERS, ids=range(len(ANSWERS)))
def test_an_answer_cut_or_damaged_is_read_as_the_rules_say(answer: dict[str, Any]) -> None:
    grid = answer["rows"], answer["cols"], answer["defense"]
    text = answer["text"][:2_000]
    for place in range(0, len(text), max(1, len(text) // 4)):
        for part in (text[:place], text[:place] + text[place + 1 :], text[place:] + text[:place]):
            assert meant(part, *grid) == read(part, *grid), part


# Work: how many characters are looked at, at each of its parts, for a text of the longest length
# that is read. Searching passes over the text once. A position that decodes is passed over; one
# that does not may cost the rest of the text twice, for its nesting and for its value, and all
# before its end twice more, for the decoder's error tells line and column. Four times
# FAILED_POSITIONS_MAX and a few is therefore the bound for any text, and in no family does work
# outgrow the text.


class Work:
    """Counts characters looked at by the parts of the parser it stands in for."""

    def __init__(self) -> None:
        self.done: Counter[str] = Counter()
        self.failed = 0

    def search(self, text: str, position: int = 0) -> re.Match[str] | None:
        """The next opening bracket, searched for."""
        found = _OPENING.search(text, position)
        self.done["searching"] += (found.end() if found else len(text)) - position
        return found

    def finditer(self, text: str, position: int) -> Iterator[re.Match[str]]:
        """Tokens, one after the other, for as long as they are asked for."""
        for token in _TOKEN.finditer(text, position):
            self.no_token(text, position, token.start())
            self.done["nesting"] += token.end() - position
            position = token.end()
            yield token
        self.no_token(text, position, len(text))
        self.done["nesting"] += len(text) - position

    def no_token(self, text: str, start: int, end: int) -> None:
        """Where none was found; a quote there was tried, maybe as far as to the end."""
        self.done["nesting"] += text.count('"', start, end) * (len(text) - start)
        if self.done["nesting"] > 2 * FAILED_POSITIONS_MAX * TEXT_MAX:
            pytest.fail("there is no end to it")

    def decode(self, text: str, position: int) -> tuple[object, int]:
        """A value or the failure to decode one."""
        try:
            value, end = _decode(text, position)
        except ValueError:
            self.failed += 1
            raise
        return value, end

    def raw_decode(self, text: str, position: int) -> tuple[object, int]:
        """The decoder's part of it."""
        end = len(text)  # as far as it may have looked, where its failure does not say
        try:
            value, end = _DECODER.raw_decode(text, position)
        except json.JSONDecodeError as error:
            if not error.msg.startswith("Unterminated"):  # such a string is read to the end
                end = min(end, error.pos + 16)
            self.done["errors"] += 2 * error.pos  # the lines, then where the last began
            raise
        finally:
            self.done["decoding"] += end - position
        return value, end

    def ascii_lower(self, name: str) -> str:
        """A name, compared."""
        self.done["names"] += len(name)
        return _ascii_lower(name)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """A plot written as a string."""
        self.done["plots"] += len(text)
        return _PLOT_TEXT.fullmatch(text)


_OPENING, _TOKEN, _PLOT_TEXT = module._OPENING, module._STRING_OR_BRACKET, module._PLOT_TEXT
_DECODER, _decode, _ascii_lower = module._DECODER, module._decode, module._ascii_lower


def work(text: str, monkeypatch: pytest.MonkeyPatch) -> Work:
    """The work of reading a text."""
    counted = Work()
    with monkeypatch.context() as patch:
        for name in ("_OPENING", "_STRING_OR_BRACKET", "_DECODER", "_PLOT_TEXT"):
            patch.setattr(module, name, counted)
        patch.setattr(module, "_decode", counted.decode)
        patch.setattr(module, "_ascii_lower", counted.ascii_lower)
        parse(text, 4, 10, "pointwise")
    return counted


def filled(before: str, piece: str, after: str = "") -> Callable[[int], str]:
    """Texts of any length: these with a piece repeated between them, and spaces for the rest."""

    def of(size: int) -> str:
        room = max(0, size - len(before) - len(after))
        return (before + piece * (room // len(piece)) + after).ljust(size)

    return of


UNENDING = '["' + '[\\"' * (FAILED_POSITIONS_MAX - 1)
COSTLY = "[" * 31 + '"' + '[\\"' * 38 + "[" * 31 + '",'
NEST_32, NEST_33 = ("[" * depth + "]" * depth for depth in (DEPTH_MAX, DEPTH_MAX + 1))
OPENED = ("[" * 31, '["' * 31, '{"actions":[', '{"mine":[1],"say":"')
PIECES = (
    "[",
    '{"a":',
    '"',
    '\\"',
    '["',
    "[1] ",
    "[1,",
    '["mine",1],',
    '{"mine":{',
    "9",
    "\\",
    "\ud800",
)
FAMILIES = {
    **{
        repr(p): filled("", p) for p in ("[", "{", '{"', '["', "\\", '\\"', '["\\"', '{"a":', "[1,")
    },
    **{repr(p): filled("", p) for p in ("[]", "{}", "][", "}{", "[}", "{]", "[{", "[[]", "[[],")},
    **{f"{before} then {p}": filled(before, p) for before in OPENED for p in PIECES},
    **{repr(p): filled("", p) for p in ('"', "[1] ", "[NaN]", '[["mine",1]]', '{"mine":{}}')},
    "just as deep as allowed": filled("", NEST_32),
    "just too deep": filled("", NEST_33),
    "deep around much": filled("[" * 32, "1,"),
    "deep around many": filled("[" * 31, "[1,2,3,4,5],"),
    "too deep at the end": filled("[", "1,", "[" * 32),
    "spaces without end": filled("[", " "),
    "a string without end": filled('["', "x"),
    "a string of escapes without end": filled('["', "\\u0041"),
    "a string of backslashes without end": filled('["', "\\"),
    "a key without end": filled('{"', "x"),
    "a long key": filled('{"', "x", '":[]}'),
    "a long kind": filled('[["', "M", '",1]]'),
    "an integer without end": filled("[", "9"),
    "a long integer": filled('[["mine",', "9", "]]"),
    "a long fraction": filled('[["mine",0.', "9", "]]"),
    "a long exponent": filled('[["mine",1e', "9", "]]"),
    "a constant at the end": filled("[", "1,", "NaN]"),
    "a plot of digits": filled('{"raid":["', "9", '"]}'),
    "a plot of spaces": filled('{"raid":["1', " ", 'x"]}'),
    "a plot of spaces in brackets": filled('{"raid":["( 1 , ', " ", '"]}'),
    "a plot of brackets": filled('{"raid":["', "( ", '"]}'),
    "a crossed end": filled("[" * 32, "1,", "1}"),
    "a lone line at the end": filled("[" * 32, "1,", "\n"),
    "one object of many keys": filled("{", '"mine":[1],', '"k":0}'),
    "many plots in mine": filled('{"mine":{', '"3":1,', '"3":1}}'),
    "many items": filled("[", '["mine",1],', '["mine",1]]'),
    "many messages": filled("", '{"say":"x","mine":[1]}'),
    "positions that fail one inside the other": filled("", "[" * 31 + '"' + "[" * 31 + '",1}'),
    "strings each without end": filled(UNENDING, "x"),
    "strings without end before openings": filled(UNENDING, "["),
    "nesting, values and errors to the end": filled(COSTLY, "1,"),
}


@pytest.mark.turns
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES.keys())
def test_a_text_is_looked_at_no_more_often_than_the_bound(
    family: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = family(TEXT_MAX)

    counted = work(text, monkeypatch)

    assert len(text) == TEXT_MAX
    assert counted.failed <= FAILED_POSITIONS_MAX
    assert counted.done["searching"] <= TEXT_MAX
    assert counted.done["nesting"] <= (counted.failed + 1) * TEXT_MAX
    assert counted.done["decoding"] <= (counted.failed + 1) * TEXT_MAX
    assert counted.done["errors"] <= 2 * counted.failed * TEXT_MAX
    assert counted.done["names"] <= 4 * TEXT_MAX
    assert counted.done["plots"] <= TEXT_MAX


@pytest.mark.turns
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES.keys())
def test_twice_the_text_is_looked_at_about_twice_as_much_at_most(
    family: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    half, whole = (work(family(size), monkeypatch) for size in (TEXT_MAX // 16, TEXT_MAX // 8))

    # Of two errors at one place, one may tell the end of the text and one the start of a string.
    assert whole.done.total() <= 2.05 * half.done.total() + TEXT_MAX // 2


def test_no_more_is_looked_at_of_a_longer_text(monkeypatch: pytest.MonkeyPatch) -> None:
    most = work(FAMILIES["nesting, values and errors to the end"](TEXT_MAX), monkeypatch)
    more = work(FAMILIES["nesting, values and errors to the end"](4 * TEXT_MAX), monkeypatch)

    assert most.done == more.done


def test_the_costliest_text_known_is_looked_at_225_times(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = work(FAMILIES["nesting, values and errors to the end"](TEXT_MAX), monkeypatch)

    assert FAILED_POSITIONS_MAX == counted.failed
    assert 225 == round(counted.done.total() / TEXT_MAX)
