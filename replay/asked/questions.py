"""Questionnaires: TOML files of what is asked about decisions."""

from __future__ import annotations

import os
import re
from typing import Final

import msgspec

from goldrush.agents.llm.afterwards import QuestionAbout
from goldrush.kernel.errors import BadInput
from goldrush.kernel.files import read_toml

FILE_MAX: Final = 1 << 16  # bytes
SHIPPED: Final = ("awareness",)
_EXAMPLE: Final = "[[question]], id = 'why' and text = 'Why?'"


class Questionnaire(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of a file."""

    question: list[QuestionAbout]


def questionnaire(name: str) -> list[QuestionAbout]:
    """The questions of a shipped questionnaire, or of a file. Raises BadInput."""
    path = os.path.join(os.path.dirname(__file__), f"{name}.toml") if name in SHIPPED else name
    wanted = f"give {', '.join(SHIPPED)}, or a TOML file"
    tables = read_toml(path, FILE_MAX, wanted, _EXAMPLE)
    try:
        found = msgspec.convert(tables, Questionnaire).question
        for code in [code for each in found for code in each.codes.values()]:
            re.compile(code)
    except (msgspec.ValidationError, re.error) as error:
        raise BadInput(f"{path}: {error}", f"write {_EXAMPLE}") from None
    if len({each.id for each in found}) < max(1, len(found)):
        raise BadInput(f"{path} has no question, or two of one id", f"write {_EXAMPLE}")
    return found
