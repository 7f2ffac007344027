"""The page of an episode journal."""

from __future__ import annotations

from typing import Final

from goldrush.replay.tools import View

# A chart for each measure is there already, and the state says who acts next.
VIEW: Final = View(
    identifiers=("episode", "step of the episode"), ranks="returns", left_out=("turn",),
    verify_option=" --env module:make",
)  # fmt: skip
