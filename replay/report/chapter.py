"""What a world adds to the report of a study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import attrs

from goldrush.replay.report.figure import Figure
from goldrush.replay.report.tables import ReportTable

S = TypeVar("S")  # the study: reported.ReportedStudy


@attrs.frozen
class Chapter(Generic[S]):
    """The part of a report that only one world has; by default, nothing.

    Attributes:
        template: a template of Jinja that extends `study.html`: the prose, in its blocks `head`,
            `caveat`, `chapter` and `criteria`. None: the world adds none.
        tables, figures: those of the world, which the template shows by name.
        values: other values of the template, as `world.NAME`.
    """

    template: Path | None = None
    tables: Callable[[S], Sequence[ReportTable]] = lambda study: ()
    figures: Callable[[S], Sequence[Figure]] = lambda study: ()
    values: Callable[[S], Mapping[str, Any]] = lambda study: {}


PLAIN: Final[Chapter[Any]] = Chapter()
