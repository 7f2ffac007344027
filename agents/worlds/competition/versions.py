"""The version of the season's prompt."""

from __future__ import annotations

from typing import Final

from goldrush.agents.llm.versions import PromptVersion
from goldrush.agents.worlds.competition.limits import PROMPT_MAX
from goldrush.agents.worlds.competition.wordings import wordable

_WORDED_MAX: Final = 24_000  # bytes by which a wording may make a prompt longer

PROMPT: Final = PromptVersion(
    5,
    PROMPT_MAX + _WORDED_MAX,
    ("wording", "wording_sha256", "wording_text", "persona"),
    wordable,
)
