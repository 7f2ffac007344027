"""The page of a study: what it comes to first, then verdicts and what they rest on."""

from __future__ import annotations

from goldrush.replay.report.models import models_section, warning
from goldrush.replay.report.page import Block, Heading, numbered
from goldrush.replay.report.sections import (
    Study,
    citation,
    comparison_section,
    definitions,
    head,
    outlier_section,
    run_section,
    treatment_sections,
)
from goldrush.replay.report.verdicts import every_treatment, summary, verdict_section


def page_of(study: Study) -> list[Block]:
    """The page."""
    return numbered(
        [
            Heading(1, study.title, "top"),
            *warning(study.results),
            *summary(study),
            *head(study),
            *verdict_section(study),
            *every_treatment(study),
            *comparison_section(study),
            *(study.chapter.sections(study) if study.chapter else ()),
            *outlier_section(study),
            *treatment_sections(study),
            *models_section(study.results),
            *run_section(study),
            *definitions(study),
            *citation(study),
        ]
    )
