"""The options of a model and a person, in a roster: names, values and limits.

A roster's entry of a model has the options in `FIRST`, all of them, and of those in `SAMPLING` and
`FRAMING` the ones that are not as in `ABSENT`. An entry of a person has `prompt` and may have those
in `FRAMING`. Runs in which no model plays import these alone, and no `Model`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

AUTO, SCHEMA, TEXT = ANSWERS = ("auto", "schema", "text")
LIMITS = ("max_tokens", "max_completion_tokens")
OPTION, RUN = "option", "run"
NONE, FIELD, OPEN = "none", "field", "open"
FIXED, BY_RUN, AGENT = ORDERS = ("fixed", "run", "agent")
DEFAULT: Final = "default"  # the name of the wording that every version of a prompt has
RESERVED: Final = ("say", "note", "reasoning")  # keys of answers that keep their names in wordings

NAME_MAX: Final = 200  # characters of a model's name
MAX_TOKENS_MAX: Final = 65_536
SAMPLE_MAX: Final = 2**31 - 1

FIRST: Final = (
    "name", "model", "temperature", "max_tokens", "seed", "answer", "limit", "prompt",
)  # fmt: skip
SAMPLING: Final = (
    "top_p", "reasoning_effort", "extra_body", "seed_from", "sample", "reasoning",
)  # fmt: skip
FRAMING: Final = ("notes", "wording", "wording_sha256", "wording_text", "persona", "order")
# What the text of a roster can give between brackets.
TYPED: Final = (
    "top_p", "reasoning_effort", "seed_from", "sample", "reasoning", "notes", "wording",
    "order",
)  # fmt: skip
PERSONAS: Final = "personas"  # between brackets, too: a table, of which an entry has its `persona`
# What an entry without an option has.
ABSENT: Final = MappingProxyType(
    {
        **dict.fromkeys((*SAMPLING, *FRAMING)),
        "seed_from": OPTION, "sample": 0, "reasoning": NONE,
        "notes": False, "wording": DEFAULT, "order": FIXED,
    }
)  # fmt: skip
# What a new roster's entry has where the user gives nothing and prompts of the world have it.
NEW: Final = MappingProxyType({"notes": True, "order": BY_RUN})
