"""What a report is asked."""

from __future__ import annotations

import attrs


@attrs.frozen
class StudyQuestion:
    """What a report is asked.

    Attributes:
        title: of the page; empty: made of the outcome.
        outcome: the name of a measure; None: the outcome of the world.
        criteria: whether change over time and the criteria of the world have a section.
        author, year: of the study, for its citation; None: it has none.
    """

    title: str = ""
    outcome: str | None = None
    criteria: bool = False
    author: str | None = None
    year: int | None = None
