"""The rules by which a text is read as a plan (kernel/worlds/mining/README.md 4), one a test."""

import json
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from goldrush.agents.worlds.mining.parse import (
    DEPTH_MAX,
    FAILED_POSITIONS_MAX,
    INT64_MAX,
    INT64_MIN,
    KINDS,
    NO_JSON,
    NO_PLOT,
    OVERFLOW,
    TEXT_MAX,
    Action,
    ParsedPlan,
    parse,
)
from goldrush.kernel.worlds.mining.events import ITEMS_MAX

EMPTY = ParsedPlan((), None, None)
NOTHING_FOUND = ParsedPlan((), NO_JSON, None)
HUGE = "9" * 60_000  # an integer literal that no interpreter converts without being told to


def read(text: str, defense: str = "absolute") -> ParsedPlan:
    """Read `text` on a grid of 4 rows and 10 columns."""
    return parse(text, 4, 10, defense)


def actions(text: str, defense: str = "absolute") -> tuple[Action | None, ...]:
    return read(text, defense).actions


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


# What is read of the text.


def test_the_limits_are_those_of_the_rules() -> None:
    assert (TEXT_MAX, DEPTH_MAX, FAILED_POSITIONS_MAX, ITEMS_MAX) == (65_536, 32, 100, 1_000)


def test_text_without_json_holds_no_plan() -> None:
    assert read("I would rather not.") == NOTHING_FOUND


def test_text_around_a_plan_does_not_matter() -> None:
    assert actions('Well } ] " then [["mine", 3, 2]] and that is "all, \\') == (("mine", 3, 2),)


def test_code_fences_do_not_matter() -> None:
    assert actions('Plan:\n```json\n{"claim": [7]}\n```\n') == (("claim", 7, 1),)


def test_a_plan_that_ends_at_the_limit_of_the_text_is_read() -> None:
    plan = '[["mine", 3]]'

    assert actions(" " * (TEXT_MAX - len(plan)) + plan) == (("mine", 3, 1),)


def test_a_plan_that_goes_over_the_limit_of_the_text_is_cut() -> None:
    plan = '[["mine", 3]]'

    assert read(" " * (TEXT_MAX - len(plan) + 1) + plan) == NOTHING_FOUND


# Which JSON values are found.


def test_a_value_that_decodes_is_passed_over_whole() -> None:
    assert read('{"answer": {"claim": [7]}}') == NOTHING_FOUND


def test_a_string_inside_a_value_that_decodes_is_not_searched() -> None:
    assert actions('{"mine": [1], "why": "not {\\"mine\\": [2]}"}') == (("mine", 1, 1),)


def test_inside_a_value_that_does_not_decode_the_search_goes_on() -> None:
    assert actions('{answer: {"claim": [7]}}') == (("claim", 7, 1),)


def test_a_plan_after_99_positions_that_failed_is_found() -> None:
    assert actions("{" * (FAILED_POSITIONS_MAX - 1) + '[["mine", 1]]') == (("mine", 1, 1),)


def test_after_100_positions_that_failed_the_search_ends() -> None:
    assert read("{" * FAILED_POSITIONS_MAX + '[["mine", 1]]') == NOTHING_FOUND


def test_positions_that_decode_do_not_count_towards_the_end() -> None:
    assert actions("[1] " * 1_000 + '[["mine", 1]]') == (("mine", 1, 1),)


def test_control_characters_inside_strings_are_allowed() -> None:
    plan = read('{"claim": [7], "say": "a\nb\tc\x00d"}')

    assert ParsedPlan((("claim", 7, 1),), None, "a\nb\tc\x00d") == plan


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_a_constant_that_is_not_json_does_not_decode(constant: str) -> None:
    assert read(f'{{"mine": [[3, 1], {constant}]}}') == NOTHING_FOUND


@pytest.mark.parametrize(
    "text",
    ["{'claim': [7]}", '{"claim": [7,]}', '{"claim": [07]}', '{"claim": [+7]}', '{"claim": [7}'],
)
def test_what_is_nearly_json_does_not_decode(text: str) -> None:
    assert read(text) == NOTHING_FOUND


def test_a_float_beyond_the_range_of_floats_decodes() -> None:
    assert actions('{"x": 1e999, "y": -0.' + HUGE + ', "claim": [7]}') == (("claim", 7, 1),)


@pytest.mark.parametrize("limit", [0, sys.int_info.str_digits_check_threshold])
def test_the_interpreters_limit_of_digits_does_not_matter(limit: int) -> None:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(limit)
    try:
        plan = actions(f'[["mine", 3, 1], ["mine", 4, {HUGE}], ["mine", 5, -{HUGE[:700]}]]')
    finally:
        sys.set_int_max_str_digits(before)

    assert plan == (("mine", 3, 1), None, None)


def test_nesting_of_32_decodes() -> None:
    assert actions(f'[["mine", 1], {nested(DEPTH_MAX - 1)}]') == (("mine", 1, 1), None)


def test_nesting_of_33_does_not_decode() -> None:
    assert read(f'[["mine", 1], {nested(DEPTH_MAX)}]') == NOTHING_FOUND


def test_objects_count_as_nesting_like_lists() -> None:
    deep = '{"a":' * DEPTH_MAX + "1" + "}" * DEPTH_MAX

    assert read(f'{{"claim": [1], "deep": {deep}}}') == NOTHING_FOUND


def test_brackets_inside_strings_are_not_nesting() -> None:
    say = '\\"[{' * 100

    assert actions(f'{{"say": "{say}", "claim": [1]}}') == (("claim", 1, 1),)


# Which of the values is the plan.


def test_the_last_plan_is_taken() -> None:
    assert actions('For example [["mine", 1]]. My answer: {"mine": [2]}') == (("mine", 2, 1),)


@pytest.mark.parametrize("empty", ['{"actions": []}', '{"claim": []}', '{"mine": {}, "raid": []}'])
def test_an_empty_plan_is_no_error_and_displaces_one_before_it(empty: str) -> None:
    assert read(f"I pass: {empty}") == EMPTY
    assert read(f'[["mine", 1]] {empty}') == EMPTY


def test_a_bare_empty_list_is_a_plan_only_if_it_is_all_of_the_text() -> None:
    assert read(" []\n") == EMPTY
    assert read("I pass: []") == NOTHING_FOUND
    assert ParsedPlan((("mine", 1, 1),), None, None) == read('[["mine", 1]] []')


def test_a_plan_of_nothing_but_malformed_items_displaces_one_before_it() -> None:
    assert actions('[["mine", 1]] {"claim": 5}') == (None,)


@pytest.mark.parametrize("key", ["actions", "defend", "mine", "claim", "raid", "ACTIONS", "Raid"])
def test_an_object_with_a_key_of_a_plan_has_the_shape_of_a_plan(key: str) -> None:
    assert read(f'{{"thought": 1, "{key}": []}}') == EMPTY


@pytest.mark.parametrize(
    "value",
    [
        "{}",
        '{"plan": [["mine", 1]]}',
        '{"type": "mine", "plot": 1}',
        '{"say": "hello"}',
        '{" mine": [1]}',
    ],
)
def test_an_object_without_such_a_key_has_not(value: str) -> None:
    assert read(value) == NOTHING_FOUND


@pytest.mark.parametrize("first", ['["mine"]', '["RAID", 1]', '{"type": 5}', '{"TYPE": "mine"}'])
def test_a_list_has_the_shape_of_a_plan_by_its_first_item(first: str) -> None:
    assert read(f"[{first}, 5]").error is None


@pytest.mark.parametrize(
    "value",
    [
        "[null]",
        "[1, 2]",
        '["mine", 1]',
        '[{"plot": 1}]',
        '[["dig", 1], ["mine", 1]]',
        "[[]]",
        '[[["mine", 1]]]',
        '["mine", ["mine", 1]]',
    ],
)
def test_a_list_that_starts_otherwise_has_not(value: str) -> None:
    assert read(value) == NOTHING_FOUND


# Form A: a list of actions.


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_an_item_may_be_an_object_of_type_plot_and_stamina(kind: str) -> None:
    assert ((kind, 3, 2),) == actions(f'[{{"type": "{kind}", "plot": 3, "stamina": 2}}]')


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_an_item_may_be_a_list_of_kind_plot_and_amount(kind: str) -> None:
    assert ((kind, 3, 2),) == actions(f'[["{kind}", 3, 2]]')


def test_the_list_may_stand_under_actions() -> None:
    assert actions('{"actions": [["mine", 3, 2], {"type": "raid", "plot": 4}]}') == (
        ("mine", 3, 2),
        ("raid", 4, 1),
    )


def test_k_is_another_name_for_stamina() -> None:
    assert actions('[{"type": "mine", "plot": 3, "k": 2}]') == (("mine", 3, 2),)


@pytest.mark.parametrize("amounts", ['"stamina": 2, "k": 9', '"k": 9, "stamina": 2'])
def test_stamina_goes_before_k(amounts: str) -> None:
    assert actions(f'[{{"type": "mine", "plot": 3, {amounts}}}]') == (("mine", 3, 2),)


@pytest.mark.parametrize("item", ['["mine", 3]', '{"type": "mine", "plot": 3}'])
def test_an_amount_left_out_is_1(item: str) -> None:
    assert actions(f"[{item}]") == (("mine", 3, 1),)


def test_an_amount_that_nobody_could_pay_is_left_to_the_judge() -> None:
    assert actions('[["claim", 3, -5], ["mine", 4, 0], ["defend", 5, 1000000000]]') == (
        ("claim", 3, -5),
        ("mine", 4, 0),
        ("defend", 5, 10**9),
    )


def test_of_a_key_given_twice_in_an_item_the_last_counts() -> None:
    item = '{"type": "mine", "plot": 3, "k": 1, "PLOT": 4, "type": "raid", "K": 2, "k": 3}'

    assert actions(f"[{item}]") == (("raid", 4, 3),)


def test_keys_and_kinds_are_read_without_regard_to_case() -> None:
    assert actions('{"ACTIONS": [{"Type": "MiNe", "pLOT": 3, "Stamina": 2}, ["RAID", 4]]}') == (
        ("mine", 3, 2),
        ("raid", 4, 1),
    )


def test_case_is_ascii_case_only() -> None:
    kelvin = "\u212a"  # its lower case is the letter k

    assert actions(f'[{{"type": "mine", "plot": 3, "{kelvin}": 2}}]') == (("mine", 3, 1),)


@pytest.mark.parametrize(
    "item",
    [
        "null",
        "true",
        '"mine 3"',
        '["mine"]',
        '["mine", 3, 1, 1]',
        '["dig", 3]',
        '[" mine", 3]',
        '["m\u0131ne", 3]',
        "[3, 1]",
        '{"plot": 3}',
        '{"type": "mine"}',
        '{"type": "dig", "plot": 3}',
        '{"type": ["mine"], "plot": 3}',
        '["mine", 3, null]',
        '["mine", 3, "2"]',
        '{"type": "mine", "plot": 3, "stamina": "2"}',
        '{"type": "mine", "plot": null}',
    ],
)
def test_an_item_that_is_no_action_stands_as_null(item: str) -> None:
    assert actions(f'[["raid",1], {item}, ["raid",2]]') == (("raid", 1, 1), None, ("raid", 2, 1))


# Form B: categories.


def test_each_category_is_a_list_of_plots() -> None:
    assert actions('{"defend": [1], "mine": [[2, 3]], "claim": [3], "raid": [4]}') == (
        ("defend", 1, 1),
        ("mine", 2, 3),
        ("claim", 3, 1),
        ("raid", 4, 1),
    )


def test_the_order_of_the_keys_then_of_the_items_is_the_priority() -> None:
    assert actions('{"raid": [9, 2], "defend": [5], "mine": [1]}') == (
        ("raid", 9, 1),
        ("raid", 2, 1),
        ("defend", 5, 1),
        ("mine", 1, 1),
    )


def test_where_there_are_actions_the_categories_are_not_read() -> None:
    assert actions('{"raid": [2], "actions": [["mine", 1]], "claim": [3]}') == (("mine", 1, 1),)


@pytest.mark.parametrize("value", ["null", "7", '"7"', "true", "1.5", '{"7": 1}', "{}"])
@pytest.mark.parametrize("key", ["actions", "defend", "claim", "raid"])
def test_a_value_that_is_not_a_list_is_one_null_item(key: str, value: str) -> None:
    assert (None, ("mine", 1, 1))[: 1 if key == "actions" else 2] == actions(
        f'{{"{key}": {value}, "mine": [1]}}'
    )


# Form B: mine.


def test_in_mine_a_list_of_two_is_always_plot_and_amount() -> None:
    assert actions('{"mine": [[1, 2], [[1, 2], 3]]}') == (("mine", 1, 2), ("mine", 12, 3))


def test_mine_takes_a_bare_plot() -> None:
    assert actions('{"mine": [3, "4", "1, 2"]}') == (
        ("mine", 3, 1),
        ("mine", 4, 1),
        ("mine", 12, 1),
    )


def test_mine_takes_an_item_of_one_plot_and_its_amount() -> None:
    assert actions('{"mine": [{"3": 2}, {"(1, 2)": 3}]}') == (("mine", 3, 2), ("mine", 12, 3))


def test_of_a_plot_given_twice_in_such_an_item_the_last_counts() -> None:
    assert actions('{"mine": [{"3": 1, "3": 2}]}') == (("mine", 3, 2),)


def test_mine_takes_items_of_plot_and_stamina() -> None:
    assert actions(
        '{"mine": [{"Plot": 3, "STAMINA": 2}, {"k": 3, "plot": [1, 2]}, {"plot": "4", "x": 9}]}'
    ) == (("mine", 3, 2), ("mine", 12, 3), ("mine", 4, 1))


def test_mine_takes_an_object_of_plots_and_amounts() -> None:
    assert actions('{"mine": {"5": 1, "3": 2, "1,2": 3}}') == (
        ("mine", 5, 1),
        ("mine", 3, 2),
        ("mine", 12, 3),
    )


def test_an_object_of_plots_and_amounts_has_as_many_items_as_keys() -> None:
    assert actions('{"mine": {"5": 1, "x": 2, "5": 2, "6": null}}') == (
        ("mine", 5, 1),
        None,
        ("mine", 5, 2),
        None,
    )


@pytest.mark.parametrize(
    "item",
    [
        "[3]",
        "[]",
        '{"3": 1, "4": 2}',
        '{"3": "2"}',
        '{"k": 2}',
        '{"stamina": 2, "k": 1}',
        '[3, "2"]',
        "[[3], 1]",
    ],
)
def test_an_item_of_mine_that_is_none_of_these_stands_as_null(item: str) -> None:
    assert actions(f'{{"mine": [1, {item}, 2]}}') == (("mine", 1, 1), None, ("mine", 2, 1))


# Form B: defend, claim and raid.


def test_under_pointwise_a_pair_in_defend_is_a_plot_and_its_points() -> None:
    assert actions('{"defend": [[1, 2], ["1,2", 3], 4]}', "pointwise") == (
        ("defend", 1, 2),
        ("defend", 12, 3),
        ("defend", 4, 1),
    )


def test_under_absolute_a_list_of_two_in_defend_is_a_row_and_column() -> None:
    assert actions('{"defend": [[1, 2], [[1, 2], 3]]}', "absolute") == (("defend", 12, 1), None)


@pytest.mark.parametrize("defense", ["absolute", "pointwise"])
@pytest.mark.parametrize("kind", ["claim", "raid"])
def test_in_claim_and_raid_a_list_of_two_is_a_row_and_column(kind: str, defense: str) -> None:
    assert ((kind, 12, 1), None) == actions(f'{{"{kind}": [[1, 2], [[1, 2], 1]]}}', defense)


@pytest.mark.parametrize("defense", ["absolute", "pointwise"])
@pytest.mark.parametrize("kind", ["defend", "claim", "raid"])
@pytest.mark.parametrize("item", ['{"plot": 3}', '{"3": 1}', "[3]", "[1, 2, 3]", "null"])
def test_the_other_ways_to_write_an_item_are_those_of_mine_alone(
    kind: str, item: str, defense: str
) -> None:
    assert actions(f'{{"{kind}": [{item}]}}', defense) == (None,)


@pytest.mark.parametrize("defense", ["absolute", "pointwise"])
def test_form_a_does_not_depend_on_the_defence_rule(defense: str) -> None:
    assert actions('[["defend", 3, 2], ["defend", [1, 2]]]', defense) == (
        ("defend", 3, 2),
        ("defend", 12, 1),
    )


# Plots and integers.


def plots(written: str) -> tuple[int | None, ...]:
    """The plot that `written` stands for in a form A list, in an object and in a category."""
    found = (
        *actions(f'[["raid", {written}, 1]]'),
        *actions(f'[{{"type": "raid", "plot": {written}}}]'),
        *actions(f'{{"raid": [{written}]}}'),
    )
    return tuple(action[1] if action else None for action in found)


@pytest.mark.parametrize(
    ("written", "plot"),
    [
        ("17", 17),
        ("0", 0),
        ("-0", 0),
        ('"17"', 17),
        ('" 17 "', 17),
        ('"007"', 7),
        ("[1, 7]", 17),
        ("[0, 0]", 0),
        ("[3, 9]", 39),
        ('"1,7"', 17),
        ('"1, 7"', 17),
        ('"  1  ,  7  "', 17),
        ('"(1,7)"', 17),
        ('"(1, 7)"', 17),
        ('"  (  1  ,  7  )  "', 17),
    ],
)
def test_a_plot_is_an_id_or_a_row_and_column(written: str, plot: int) -> None:
    assert (plot,) * 3 == plots(written)


@pytest.mark.parametrize(
    ("written", "plot"), [("40", 40), ("-7", -7), ('"999999999"', 999_999_999)]
)
def test_an_id_that_is_not_on_the_grid_is_left_to_the_judge(written: str, plot: int) -> None:
    assert (plot,) * 3 == plots(written)


@pytest.mark.parametrize(
    "written",
    ["[4, 0]", "[0, 10]", "[-1, 5]", "[1, -1]", '"4,0"', '"(0, 10)"', '"0,999999999"'],
)
def test_a_row_or_column_outside_the_grid_gives_plot_minus_1(written: str) -> None:
    assert (NO_PLOT,) * 3 == plots(written) == (-1,) * 3


@pytest.mark.parametrize(
    "written",
    [
        '""',
        '"-17"',
        '"1 7"',
        '"(17)"',
        '"1,7,1"',
        '"(1,7"',
        '"1,7)"',
        '"((1,7))"',
        '"1,"',
        '"1,-7"',
        '"17\\n"',
        '"1,\u00a07"',
        '"1234567890"',
        '"1,1234567890"',
        '"\u0661\u0667"',
        "null",
        "[]",
        "[1]",
        '["1", "7"]',
        "[1, null]",
    ],
)
def test_what_is_none_of_these_is_no_plot(written: str) -> None:
    assert plots(written) == (None,) * 3


@pytest.mark.parametrize(
    "written", ["true", "false", "1.0", "1e0", "-0.0", "[true, 1]", "[1, false]", "[1.0, 1]"]
)
def test_booleans_and_floats_are_not_plots(written: str) -> None:
    assert plots(written) == (None,) * 3


@pytest.mark.parametrize("amount", ["true", "false", "1.0", "2e0", "1e999"])
def test_booleans_and_floats_are_not_amounts(amount: str) -> None:
    text = f'{{"actions": [["mine", 3, {amount}], {{"type": "mine", "plot": 3, "k": {amount}}}]}}'

    assert actions(text) == (None, None)
    assert actions(f'{{"mine": [[3, {amount}], {{"3": {amount}}}]}}') == (None, None)


@pytest.mark.parametrize("number", [INT64_MIN, INT64_MAX])
def test_the_whole_range_of_64_bits_is_taken(number: int) -> None:
    assert (("mine", number, number),) == actions(f'[["mine", {number}, {number}]]')


@pytest.mark.parametrize(
    "number",
    [str(INT64_MIN - 1), str(INT64_MAX + 1), "9" * 20, HUGE],
    ids=["below", "above", "20 digits", "60,000 digits"],
)
@pytest.mark.parametrize(
    "item",
    [
        '["raid", N]',
        '["raid", 3, N]',
        '["raid", [1, N]]',
        '{"type": "raid", "plot": N}',
        '{"type": "raid", "plot": 3, "k": N, "stamina": 1}',
        '{"type": "raid", "plot": 3, "why": [{"deep": [N]}]}',
        '{"type": "raid", "plot": N, "plot": 3}',
    ],
)
def test_an_item_that_holds_an_integer_beyond_64_bits_stands_as_null(
    item: str, number: str
) -> None:
    assert actions(f'[["mine", 1], {item.replace("N", number)}]') == (("mine", 1, 1), None)


def test_an_integer_beyond_64_bits_spoils_no_item_but_its_own() -> None:
    assert actions(
        f'{{"x": {HUGE}, "mine": {{"1": 1, "2": 9223372036854775808, "3": 1}}, "raid": [4]}}'
    ) == (("mine", 1, 1), None, ("mine", 3, 1), ("raid", 4, 1))


# How many items.


@pytest.mark.parametrize("item", ['["mine", 1]', "null"])
def test_a_thousand_items_are_kept(item: str) -> None:
    plan = read('{"actions": [' + ", ".join([item] * ITEMS_MAX) + "]}")

    assert (len(plan.actions), plan.error) == (ITEMS_MAX, None)


@pytest.mark.parametrize("item", ['["mine", 1]', "null"])
def test_more_than_a_thousand_items_are_cut_and_named_overflow(item: str) -> None:
    plan = read('{"actions": [' + ", ".join([item] * (ITEMS_MAX + 1)) + "]}")

    assert (len(plan.actions), plan.error) == (ITEMS_MAX, OVERFLOW)


def test_items_are_counted_over_all_categories_in_their_order() -> None:
    plots_of_600 = json.dumps(list(range(600)))
    plan = read(f'{{"raid": {plots_of_600}, "claim": {plots_of_600}}}')

    assert (plan.actions[0], plan.actions[-1]) == (("raid", 0, 1), ("claim", 399, 1))
    assert (len(plan.actions), plan.error) == (ITEMS_MAX, OVERFLOW)


# The message.


@pytest.mark.parametrize(
    "text",
    [
        '{"say": "hello", "mine": [1]}',
        '{"mine": [1], "SAY": "hello"}',
        '{"say": "hello", "actions": [["mine", 1]]}',
    ],
)
def test_say_is_the_message(text: str) -> None:
    assert ParsedPlan((("mine", 1, 1),), None, "hello") == read(text)


def test_the_message_is_that_of_the_plan_that_is_taken() -> None:
    assert read('{"say": "a", "mine": [1]} {"mine": [2]} {"say": "c"}').say is None


@pytest.mark.parametrize("value", ["null", "5", '["hello"]', '{"text": "hello"}', "true"])
def test_a_message_that_is_not_a_string_is_none(value: str) -> None:
    assert ParsedPlan((("mine", 1, 1),), None, None) == read(f'{{"say": {value}, "mine": [1]}}')


@pytest.mark.parametrize("lone", [chr(0xD800), chr(0xDFFF), "\\ud800", "\\udfff"])
def test_a_lone_surrogate_becomes_a_replacement_character(lone: str) -> None:
    assert read(f'{{"say": "a{lone}b", "mine": [1]}}').say == "a\ufffdb"


# Laws.

ITEM = st.tuples(
    st.sampled_from(sorted(KINDS)),
    st.integers(INT64_MIN, INT64_MAX),
    st.integers(INT64_MIN, INT64_MAX),
)
PIECES = st.sampled_from(
    [
        *'[]{}",:\\ 0179-.e',
        *("null", "true", "NaN", "9" * 19, "9" * 5_000, "1.5", "\ud800", "\\ud800", "\x00"),
        *('"actions":', '"type":', '"plot":', '"stamina":', '"k":', '"say":', '"Mine":', '"mine"'),
        *('"defend":', '"raid":', '"claim":', '"raid"', '["raid",', '["mine",3,', '"1,2"', '"3":'),
        *('[["mine",1],', '{"mine":[', '{"actions":[', "[1,2]", "[[3,1],2]", nested(33)),
    ]
)
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(),
        st.sampled_from(["mine", "raid", "1", "1,2", "(1, 2)"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(["actions", "type", "plot", "k", "say", "stamina", "3", *KINDS]),
            inner,
            max_size=4,
        ),
    ),
)
TEXTS = st.one_of(
    st.text(st.characters()),  # any character, surrogates too
    st.lists(PIECES).map("".join),
    st.lists(VALUES, max_size=3).map(lambda values: " and ".join(map(json.dumps, values))),
)


@settings(max_examples=3 * settings().max_examples)
@given(text=TEXTS, defense=st.sampled_from(["absolute", "pointwise"]))
@example(text="[" * 100_000, defense="absolute")
@example(text="\ud800" * 100_000, defense="pointwise")
def test_any_text_gives_a_well_formed_plan(text: str, defense: str) -> None:
    plan = parse(text, 4, 10, defense)

    assert plan.error in (None, NO_JSON, OVERFLOW)
    assert plan.error != NO_JSON or plan == NOTHING_FOUND
    assert len(plan.actions) <= ITEMS_MAX
    assert plan.say is None or plan.say.encode() is not None
    for action in plan.actions:
        if action is not None:
            kind, plot, amount = action
            assert kind in KINDS
            assert [int, int] == [type(plot), type(amount)]
            assert INT64_MIN <= min(plot, amount) <= max(plot, amount) <= INT64_MAX


@settings(deadline=None)
@given(items=st.lists(ITEM), defense=st.sampled_from(["absolute", "pointwise"]))
def test_what_is_written_in_form_a_is_read_back(items: list[Action], defense: str) -> None:
    assert ParsedPlan(tuple(items), None, None) == read(json.dumps(items), defense)


@settings(deadline=None)
@given(items=st.lists(ITEM, min_size=1), around=st.text(st.characters(exclude_characters="[{")))
def test_prose_around_a_plan_changes_nothing(items: list[Action], around: str) -> None:
    assert tuple(items) == actions(around + json.dumps({"actions": items}) + around)
