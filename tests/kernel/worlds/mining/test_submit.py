"""From a policy's answer to the record (kernel/worlds/mining/README.md 4, "Plans from code")."""

from collections.abc import Callable
from typing import Any

import pytest

from goldrush.kernel.errors import BadPlan
from goldrush.kernel.worlds.mining.config import config_of
from goldrush.kernel.worlds.mining.events import CLAIM, DEFEND, MINE, RAID
from goldrush.kernel.worlds.mining.submit import Plan, submitted

QUIET = config_of({})
TALKING = config_of({"communication": True})
AGENT = 7


def row(answer: object, *, talking: bool = False) -> tuple[Any, ...]:
    """What is recorded of an answer: actions, error, say, memo, source."""
    agent, *rest = submitted(AGENT, answer, TALKING if talking else QUIET)
    assert agent == AGENT
    return tuple(rest)


def said(text: str | None, *, talking: bool = True) -> str | None:
    return row(Plan([], say=text), talking=talking)[2]


# Actions.


@pytest.mark.parametrize("shape", [list, tuple])
def test_a_plan_is_a_list_or_tuple_of_items_that_are_lists_or_tuples(
    shape: Callable[[Any], Any],
) -> None:
    plan = shape(map(shape, [("defend", 1, 1), ("mine", 2, 3), ("claim", 3, 1), ("raid", 4, 1)]))

    expected = ((DEFEND, 1, 1), (MINE, 2, 3), (CLAIM, 3, 1), (RAID, 4, 1))
    assert (expected, None, None, None, None) == row(plan)
    assert (expected, None, None, None, None) == row(Plan(plan))


def test_what_is_not_legal_to_do_is_legal_to_record() -> None:
    assert ((MINE, -5, -1), (RAID, 10**9, 0)) == row([("mine", -5, -1), ("raid", 10**9, 0)])[0]


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**400])
def test_an_item_with_an_integer_beyond_64_bits_becomes_null(number: int) -> None:
    plan = [("mine", number, 1), ("claim", 2**63 - 1, -(2**63)), ("mine", 1, number)]

    assert ((None, (CLAIM, 2**63 - 1, -(2**63)), None), None) == row(plan)[:2]


def test_items_beyond_a_thousand_are_cut_and_called_an_overflow() -> None:
    plan: list[Any] = [("claim", plot, 1) for plot in range(1_000)]
    kept = tuple((CLAIM, plot, 1) for plot in range(1_000))

    assert (kept, None) == row(plan)[:2]
    assert (kept, "overflow") == row([*plan, "what was cut is not looked at"])[:2]


@pytest.mark.parametrize(
    "item",
    [
        ("dig", 1, 1), (MINE, 1, 1), ("mine", 1.0, 1), ("mine", 1, 1.0), ("mine", True, 1),
        ("mine", 1), ("mine", 1, 1, 1), None, "mine", {"kind": "mine", "plot": 1, "amount": 1},
    ],
    ids=repr,
)  # fmt: skip
def test_an_item_that_is_no_action_is_refused_by_its_place(item: object) -> None:
    with pytest.raises(BadPlan, match="item 2 is "):
        row([("claim", 1, 1), ("claim", 2, 1), item])


@pytest.mark.parametrize("answer", [None, "mine 1", {"mine": [1]}, 7, range(1), Plan], ids=repr)
def test_an_answer_that_is_no_list_is_refused(answer: Any) -> None:
    for plan in (answer, Plan(answer)):
        with pytest.raises(BadPlan):
            row(plan)


# Messages.


@pytest.mark.parametrize("control", ["\x00", "\n", "\x1f", "\x7f", "\x80", "\x9f"], ids=repr)
def test_control_characters_are_removed_from_a_message_before_it_is_cut(control: str) -> None:
    assert "a" * 280 == said(f"{control}a{control}" * 281)
    assert None is said(control)
    assert None is said("peace?", talking=False)


def test_what_is_no_control_character_stays() -> None:
    text = " ~\xa0\xad\u200b\u2028é\ue000\U0001f600"

    assert text == said(text)


def test_a_message_is_cut_at_280_code_points_not_bytes() -> None:
    assert "\U0001f600" * 280 == said("\U0001f600" * 281)


def test_lone_surrogates_in_a_message_are_replaced() -> None:
    assert "a\ufffdb\ufffd" == said("a\ud800b\udfff")


# Memos.


@pytest.mark.parametrize("memo", [None, "", "\x00\n", "\U0001f600" * 2_000])
def test_a_memo_is_recorded_as_it_is(memo: str | None) -> None:
    assert memo == row(Plan([], memo=memo))[3]


@pytest.mark.parametrize(
    "plan",
    [
        {"memo": "a" * 2_001}, {"memo": b"bytes"}, {"memo": ["a"]}, {"memo": True},
        {"memo": "a\ud800"}, {"say": 1}, {"say": b"hello"}, {"say": True},
    ],
)  # fmt: skip
def test_what_is_no_memo_and_no_message_is_refused(plan: dict[str, Any]) -> None:
    with pytest.raises(BadPlan, match=r"the memo |^say is "):
        row(Plan([], **plan), talking=True)
