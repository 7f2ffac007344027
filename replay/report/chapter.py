"""What a world adds to the report of a study."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar

import attrs

from goldrush.replay.report.marks import Drawn
from goldrush.replay.report.page import Block

S = TypeVar("S")  # what sections are given: sections.ReportedStudy


@attrs.frozen
class OwnFigure:
    """A figure of each treatment that only one world has, drawn by `draw(cells, styles)`; the
    commands print its numbers, with {} for the journals.
    """

    name: str
    draw: Callable[..., Drawn]
    title: str
    text: str
    commands: Sequence[str]


@attrs.frozen
class Chapter(Generic[S]):
    """The part of a report that only one world has; by default, nothing.

    Attributes:
        tables: the noun for its tables; empty: it has none.
        head: `head(study)`, the blocks after the description of the study.
        sections: `sections(study)`, the blocks after the comparisons.
        figures: the figures of each treatment.
        caveat: `caveat(study)`, the limits of comparisons with the baseline.
        settings: `settings(treatment, configuration, agents)`, a treatment as text; `agents` is
            text, too. None: its description, and the settings that are not the default.
        criteria: `criteria(study)`, the section on the world's own criteria, where they are not
            those of `Studies.criteria`; None: those.
    """

    tables: str = ""
    head: Callable[[S], Sequence[Block]] = lambda study: ()
    sections: Callable[[S], Sequence[Block]] = lambda study: ()
    settings: Callable[[str, Any, str], str] | None = None
    figures: Sequence[OwnFigure] = ()
    caveat: Callable[[S], str] = lambda study: ""
    criteria: Callable[[S], Sequence[Block]] | None = None


PLAIN: Final[Chapter[Any]] = Chapter()
