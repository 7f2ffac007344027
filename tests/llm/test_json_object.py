"""The JSON object in what a model wrote: the same on every interpreter, and never an error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.agents.llm.json_object import DEPTH_MAX, FAILED_MAX, TEXT_MAX, object_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('Not {"move": 2}, but {"move": 1}.', {"move": 1}),
        ('Like {"this": 1}: ```json\n{"move": 2}\n```', {"move": 2}),
        ('[{broken {"move": 3}]', {"move": 3}),
        ('{"move": 1e999, "a": ' + "9" * 5_000 + "}", {"move": None, "a": None}),
        ('{"move": 5} {"move": NaN} {"else": 1}', {"move": 5}),
        ('{"move": "\\ud800"}', {"move": "\ufffd"}),
        ('{"move": ' + "[" * (DEPTH_MAX - 1) + "]" * (DEPTH_MAX - 1) + "}", "it"),
        ('{"move": ' + "[" * DEPTH_MAX + "]" * DEPTH_MAX + "}", None),
        ("{" * (FAILED_MAX - 1) + '{"move": 7}', {"move": 7}),
        ("{" * FAILED_MAX + '{"move": 7}', None),
        ("{" * TEXT_MAX, None),
        (" " * TEXT_MAX + '{"move": 6}', None),
        ("", None),
    ],
)
def test_the_last_object_with_a_field_of_the_answer_is_read(text: str, found: Any) -> None:
    read = object_in(text, ["move"])

    assert (json.loads(text) if found == "it" else found) == read


@given(st.text(), st.recursive(st.none() | st.floats() | st.text(), st.lists, max_leaves=20))
def test_nothing_that_is_written_raises(front: str, value: Any) -> None:
    found = object_in(f"{front} {json.dumps({'move': value})}", ["move"])

    assert found is None or "move" in found
