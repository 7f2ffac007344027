"""What runs and studies of every world come to is what it was: see values.py."""

import pytest

from goldrush.agents import given
from tests.net import values


def test_the_values_of_runs_and_studies_are_those_that_were_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(given, "_MAKERS", {})  # what is given stays so, and makes any other subject
    changed = list(values.changes(values.kept(), values.found()))
    assert not changed, "\n".join(changed[:40])


def test_a_change_is_told_as_one_of_words_or_of_numbers() -> None:
    before = {"a": '"two agents"', "b": '{"n": 1, "says": "one agent"}', "c": "[1.5]"}
    now = {"a": '"2 agents"', "b": '{"n": 2, "says": "one agent"}', "c": "[1.5]", "d": "null"}
    kinds = [line.split(":")[0] for line in values.changes(before, now)]
    assert kinds == ["words  a", "numbers  b", "numbers  d"]
