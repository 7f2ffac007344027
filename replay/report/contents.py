"""The page of a study: its sections in order, verdicts first, then what they rest on."""

from __future__ import annotations

from collections.abc import Callable

from goldrush.replay.report.drawing import drawn
from goldrush.replay.report.models import models_section, warning
from goldrush.replay.report.page import Block
from goldrush.replay.report.sections import (
    Study,
    comparison_section,
    definitions,
    head,
    treatment_sections,
)
from goldrush.replay.report.verdicts import every_treatment, verdict_section


def page_of(
    study: Study,
    *,
    jobs: int | None = None,
    on_figure: Callable[[int, int], None] | None = None,
) -> list[Block]:
    """The page; `jobs` processes draw, and `on_figure` is told (figures drawn, in all)."""
    parts = [
        *head(study),
        *warning(study.results),
        *verdict_section(study),
        *every_treatment(study),
        *comparison_section(study),
        *(study.chapter.sections(study) if study.chapter else ()),
        *treatment_sections(study),
        *models_section(study.results),
        *definitions(study),
    ]
    return drawn(parts, jobs, on_figure)
