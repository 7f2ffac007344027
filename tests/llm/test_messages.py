"""Messages of prompts in a file: what is put in, and what is refused when it is read."""

from __future__ import annotations

import pytest

from goldrush.agents.llm.messages import Messages
from goldrush.agents.worlds.mining.prompt import wording


def test_fields_are_put_in_once_and_two_dollars_are_one() -> None:
    say = Messages("w.toml", 'a = "$x, ${x}s, $$5"', {"a": "x"})

    assert "$x, $xs, $5" == say("a", x="$x")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "message a is missing"),
        ('a = ""\nb = ""', "unknown message b"),
        ("a = 1", "message a is no text"),
        ('a = "$y"', "message a: unknown field $y"),
        ('a = "5 $"', "message a: a $ that starts no field; $$ is a dollar"),
        ("a = ", "Invalid value (at end of document)"),
    ],
)
def test_a_file_that_cannot_be_said_is_refused_in_one_line(text: str, error: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        Messages("w.toml", text, {"a": "x"})

    assert f"w.toml: {error}" == str(refused.value)


def test_the_rules_of_mining_are_read_from_their_file() -> None:
    assert "1" == wording()("mine_points_one", cap=1)
    assert "1 to 9" == wording()("mine_points_many", cap=9)
