"""The results of a report as plain values (`goldrush report --json`)."""

from __future__ import annotations

from typing import Any

import attrs

from goldrush.replay.report.models import hardly_played
from goldrush.replay.study.comparisons import against_baseline
from goldrush.replay.study.results import Results, cell_as_dict
from goldrush.replay.study.verdicts import Assessment, JudgedCriterion


def answers(results: Results[Any, Any]) -> dict[str, Any]:
    """Failed answers of models, verdicts, findings by cell (also without a burn-in), comparisons
    with the baseline, and the world's own results. Undefined values are None.
    """
    assessment = Assessment(results)
    whole = Assessment(results, burn_in=False)
    return {
        "folder": results.folder,
        "runs": sum(map(len, results.by_cell.values())),
        "hardly_played": hardly_played(results),
        "models": [
            {
                **cell_as_dict(results, cell),
                **attrs.asdict(one),
                "hardly_played": one.hardly_played,
            }
            for cell in results.by_cell
            for one in results.failures(cell)
        ],
        "verdicts": [
            {
                "criterion": one.criterion,
                "roster": one.roster,
                "rounds": one.rounds,
                "treatments": [judged.cell.treatment for judged in one.cells.values()],
                "verdict": one.verdict,
                "note": one.note,
            }
            for one in assessment.verdicts()
        ],
        "cells": [
            {
                **cell_as_dict(results, cell),
                "criteria": [_judged(one) for one in assessment.judged(cell)],
                "criteria_without_burn_in": [_judged(one) for one in whole.judged(cell)],
            }
            for cell in results.by_cell
        ],
        "against_baseline": [
            {
                **cell_as_dict(results, one.cell),
                "identical_by_construction": one.identical,
                "differences": {k: attrs.asdict(v) for k, v in one.differences.items()},
            }
            for one in against_baseline(results)
        ],
        **results.of.studies.answers(results),
    }


def _judged(one: JudgedCriterion) -> dict[str, Any]:
    return {
        "criterion": one.criterion,
        "outcome": one.outcome,
        "note": one.note,
        "findings": [attrs.asdict(found) for found in one.findings],
    }
