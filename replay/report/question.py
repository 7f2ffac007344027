"""What a report is asked."""

from __future__ import annotations

from typing import Final

import attrs

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.text import is_visible

LINE_MAX: Final = 300


@attrs.frozen
class StudyQuestion:
    """What a report is asked.

    Attributes:
        title: of the page, at most LINE_MAX characters; empty: made of the outcome.
        outcome: the name of a measure; None: the outcome of the world.
        criteria: whether change over time and the criteria of the world have a section.
    """

    title: str = ""
    outcome: str | None = None
    criteria: bool = False

    def __attrs_post_init__(self) -> None:
        """Raises BadInput for a title that is no single line of visible characters."""
        if len(self.title) > LINE_MAX or not (is_visible(self.title) or not self.title):
            raise BadInput(
                f"the title {format_value(self.title)}",
                f"it must be one line of at most {LINE_MAX} visible characters",
            )
