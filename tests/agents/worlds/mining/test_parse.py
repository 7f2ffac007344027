"""The limits of what is read of a text (kernel/worlds/mining/README.md 4).

What a text stands for is held against a second reading of the rules in test_parse_fire.py.
"""

import json
import sys

import pytest

from goldrush.agents.worlds.mining.parse import (
    DEPTH_MAX,
    FAILED_POSITIONS_MAX,
    NO_JSON,
    OVERFLOW,
    TEXT_MAX,
    Action,
    ParsedPlan,
    parse,
)
from goldrush.kernel.worlds.mining.events import ITEMS_MAX

NOTHING_FOUND = ParsedPlan((), NO_JSON, None)
HUGE = "9" * 60_000  # an integer literal that no interpreter converts without being told to
PLAN = '[["mine", 3]]'


def read(text: str) -> ParsedPlan:
    """Read `text` on a grid of 4 rows and 10 columns."""
    return parse(text, 4, 10, "absolute")


def actions(text: str) -> tuple[Action | None, ...]:
    return read(text).actions


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def test_the_limits_are_those_of_the_rules() -> None:
    assert (65_536, 32, 100, 1_000) == (TEXT_MAX, DEPTH_MAX, FAILED_POSITIONS_MAX, ITEMS_MAX)


def test_a_text_is_read_up_to_its_limit() -> None:
    assert (("mine", 3, 1),) == actions(" " * (TEXT_MAX - len(PLAN)) + PLAN)
    assert NOTHING_FOUND == read(" " * (TEXT_MAX - len(PLAN) + 1) + PLAN)


def test_the_search_ends_after_so_many_positions_that_failed() -> None:
    assert (("mine", 3, 1),) == actions("[1] " * 1_000 + "{" * (FAILED_POSITIONS_MAX - 1) + PLAN)
    assert NOTHING_FOUND == read("{" * FAILED_POSITIONS_MAX + PLAN)


def test_nesting_has_a_limit_in_which_strings_do_not_count() -> None:
    deep = '{"a":' * (DEPTH_MAX - 1) + "1" + "}" * (DEPTH_MAX - 1)
    say = '\\"[{' * 100

    assert (("mine", 1, 1), None) == actions(f'[["mine", 1], {nested(DEPTH_MAX - 1)}]')
    assert (("claim", 1, 1),) == actions(f'{{"say": "{say}", "claim": [1], "deep": {deep}}}')
    for deeper in (nested(DEPTH_MAX), f"[{deep}]"):
        assert NOTHING_FOUND == read(f'[["mine", 1], {deeper}]')


def test_items_are_kept_up_to_their_limit_counted_over_all_categories() -> None:
    whole = read(json.dumps({"actions": [None] * ITEMS_MAX}))
    more = read(json.dumps({"raid": list(range(600)), "claim": list(range(600))}))

    assert (ITEMS_MAX, None) == (len(whole.actions), whole.error)
    assert (ITEMS_MAX, OVERFLOW) == (len(more.actions), more.error)
    assert (("raid", 0, 1), ("claim", 399, 1)) == (more.actions[0], more.actions[-1])


@pytest.mark.parametrize("limit", [0, sys.int_info.str_digits_check_threshold])
def test_the_interpreters_limit_of_digits_does_not_matter(limit: int) -> None:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(limit)
    try:
        plan = actions(f'[["mine", 3, 1], ["mine", 4, {HUGE}], ["mine", 5, -{HUGE[:700]}]]')
    finally:
        sys.set_int_max_str_digits(before)

    assert (("mine", 3, 1), None, None) == plan


# The message.
