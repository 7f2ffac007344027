"""The page of a study: its sections in order."""

from __future__ import annotations

from goldrush.replay.report.failures import models_section, warning
from goldrush.replay.report.methods import methods
from goldrush.replay.report.outcome import answer, outcome_section
from goldrush.replay.report.page import Block, Heading, numbered
from goldrush.replay.report.sections import (
    ReportedStudy,
    comparison_section,
    definitions,
    head,
    outlier_section,
    run_section,
    treatment_sections,
)
from goldrush.replay.report.verdicts import criteria_section


def page_of(study: ReportedStudy) -> list[Block]:
    """The blocks of the page of a study, with its tables and figures numbered."""
    return numbered(
        [
            Heading(1, study.title, "top"),
            *warning(study.results),
            *answer(study),
            *head(study),
            *outcome_section(study),
            *criteria_section(study),
            *comparison_section(study),
            *study.chapter.sections(study),
            *outlier_section(study),
            *treatment_sections(study),
            *models_section(study.results),
            *run_section(study),
            *definitions(study),
            *methods(study),
        ]
    )
