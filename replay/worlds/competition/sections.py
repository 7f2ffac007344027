"""The competition's own part of a report: verdicts on the protocol, and the planted control. Its
prose is in `report.html`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from goldrush.agents.worlds.competition.cast import PLANTED
from goldrush.agents.worlds.competition.treatments import NO_ELIMINATION
from goldrush.replay.report.chapter import Chapter
from goldrush.replay.report.numbers import number, p_value
from goldrush.replay.report.reported import ReportedStudy
from goldrush.replay.report.tables import Marked, ReportTable
from goldrush.replay.report.verdicts import format_effect
from goldrush.replay.study.judging import SizeVerdict
from goldrush.replay.worlds.competition.study import (
    CRITERIA,
    FOUND_SHARE,
    SIZES,
    STABLE_MIN,
    planted,
)


def _values(study: ReportedStudy) -> Mapping[str, Any]:
    """What the prose needs."""
    return {
        "criteria": CRITERIA, "sizes": SIZES, "planted": PLANTED, "no_elimination": NO_ELIMINATION,
        "stable_min": STABLE_MIN, "found_share": f"{FOUND_SHARE:.0%}",
    }  # fmt: skip


def _tables(study: ReportedStudy) -> list[ReportTable]:
    """The verdicts and what they rest on, and the planted control; those with rows."""
    if not study.question.criteria:
        return []
    judgements = study.assessment.verdicts
    head = [
        "criterion", "measure", "workers", "seasons", "protocol", "null", "effect", "p, Holm",
        "as expected",
    ]  # fmt: skip
    tables = [
        ReportTable(
            "protocol", ["criterion", "verdict"],
            [[each.criterion, Marked(each.verdict, each.note)] for each in judgements],
            "The verdicts on the protocol.",
        ),
        ReportTable(
            "protocol-tests", head,
            [_row(judged) for each in judgements for judged in each.by_size.values()],
            "The numbers behind the verdicts; in brackets 95% intervals.",
        ),
        ReportTable(
            "planted", ["treatment", "stability", "scripted ahead", "the difference is"],
            [[each.cell.treatment, number(each.stability), f"{each.ahead} of {each.seasons}",
              "found" if each.is_found else "not found"] for each in planted(study.results)],
            "A difference that was planted among the workers.",
        ),
    ]  # fmt: skip
    return [table for table in tables if table.rows]


def _row(judged: SizeVerdict) -> list[str]:
    [finding] = judged.findings
    change = finding.change
    [null] = (each.null_name for each in CRITERIA if each.name == judged.criterion)
    return [
        judged.criterion, finding.measure, str(judged.size), str(change.seeds),
        number(change.second.mean), f"{number(change.first.mean)} ({null})", format_effect(change),
        p_value(finding.holm), f"{change.right} of {change.seeds}",
    ]  # fmt: skip


CHAPTER: Final = Chapter(
    template=Path(__file__).with_name("report.html"),
    tables=_tables,
    values=_values,
)
