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
from goldrush.replay.report.numbers import number, p_value, within_bounds
from goldrush.replay.report.reported import ReportedStudy
from goldrush.replay.report.tables import Marked, ReportTable
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
    if not study.judges:
        return []
    judgements = study.assessment.verdicts
    return [
        ReportTable.of(
            "protocol", "The verdicts on the protocol.",
            [{"criterion": each.criterion, "verdict": Marked(each.verdict, each.note)}
             for each in judgements],
        ),
        ReportTable.of(
            "protocol-tests", "The numbers behind the verdicts; in brackets 95% intervals.",
            [_row(judged) for each in judgements for judged in each.by_size.values()],
        ),
        ReportTable.of(
            "planted", "A difference that was planted among the workers.",
            [{"treatment": each.cell.treatment, "stability": number(each.stability),
              "scripted ahead": f"{each.ahead} of {each.seasons}",
              "the difference is": "found" if each.is_found else "not found"}
             for each in planted(study.results)],
        ),
    ]  # fmt: skip


def _row(judged: SizeVerdict) -> dict[str, str]:
    [finding] = judged.findings
    change = finding.change
    [null] = (each.null_name for each in CRITERIA if each.name == judged.criterion)
    return {
        "criterion": judged.criterion, "measure": finding.measure, "workers": str(judged.size),
        "seasons": str(change.seeds), "protocol": number(change.second.mean),
        "null": f"{number(change.first.mean)} ({null})",
        "effect": within_bounds(change.effect),
        "p, Holm": p_value(finding.holm), "as expected": f"{change.right} of {change.seeds}",
    }  # fmt: skip


CHAPTER: Final = Chapter(
    template=Path(__file__).with_name("report.html"),
    tables=_tables,
    values=_values,
)
