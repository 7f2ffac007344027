"""The limits of the parts of a prompt, in bytes of UTF-8, approximately.

A token is at least a byte, so prompts are bounded in every season. Parts on the table and the past
are limited by shares: an agent has one, one more from tier 1 on, and one more as a sonnet.
"""

from __future__ import annotations

from typing import Final

ROOM_MAX: Final = 3  # shares

RULES_MAX: Final = 12_000  # the first message
ARENA_MAX: Final = 4_000  # of it, the arena's own rules
NAME_MAX: Final = 150  # a name of sixty characters, quoted
CONDUCT_MAX: Final = 120  # a conduct in a line of others
FULL_MAX: Final = 4_500  # a conduct that is shown in full
TABLE_MAX: Final = 5_000  # a share of the contributions
WORDS_MAX: Final = 400  # of one contribution, or of one line of an interview
KNOWN_MAX: Final = 1_000  # a share of what was proposed before
MEMORY_MAX: Final = 1_200  # a share
LIST_MAX: Final = 1_200  # the workers, the leaderboard, own trials, or stances at a table
MIND_MAX: Final = 3_000  # instructions, persona and traits of one agent
ARGUMENTS_MAX: Final = 5_000  # of the arguments of a question

_SHARES: Final = TABLE_MAX + KNOWN_MAX + MEMORY_MAX
_ONCE: Final = 4 * LIST_MAX + 2 * MIND_MAX + ARGUMENTS_MAX + 3 * FULL_MAX + 4_000
PROMPT_MAX: Final = RULES_MAX + ROOM_MAX * _SHARES + _ONCE  # of both messages
