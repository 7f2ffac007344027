"""Messages in files: what is put in, what is refused, and that code and files name the same."""

from __future__ import annotations

import importlib
import re
from itertools import chain
from pathlib import Path

import pytest

from goldrush.agents.llm.messages import Messages, fields_in, plural

FILES = [
    ("mining.prompts", "prompt.toml"),
    ("competition", "wording.toml"),
    ("competition", "sentences.toml"),
]


def test_fields_are_put_in_once_and_two_dollars_are_one() -> None:
    messages = Messages.of({"a": "$x, ${x}s, $$5, {x}, {$x}"})

    assert "$x{x}, $x{x}s, $5, {x}, {$x{x}}" == messages("a", x="$x{x}")


@pytest.mark.parametrize("text", ["5 $", "$5", "$$$"])
def test_a_dollar_that_starts_no_field_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="starts no field"):
        fields_in(text)


@pytest.mark.parametrize(("world", "file"), FILES)
def test_each_message_of_a_file_is_named_in_the_code_beside_it(world: str, file: str) -> None:
    package = f"goldrush.agents.worlds.{world}"
    folder = Path(str(importlib.import_module(package).__file__)).parent
    code = "".join(path.read_text() for path in folder.rglob("*.py"))
    named = set(re.findall(r'"([a-z_]+)"', code))
    begun = tuple(re.findall(r'f"([a-z]+_)\{', code))

    assert all(map(str.islower, chain(*map(fields_in, Messages(package, file).texts.values()))))
    assert [] == [
        id
        for id in Messages(package, file).formats
        if re.sub("_(one|many)$", "", id) not in named and not id.startswith(begun)
    ]


def test_a_number_decides_which_message_is_said() -> None:
    assert ["day_many", "day_one", "day_many"] == [plural("day", number) for number in range(3)]
