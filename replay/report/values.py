"""The numbers of a report as plain values (`goldrush report --json`)."""

from __future__ import annotations

from typing import Any, Final

import attrs
import msgspec

from goldrush.replay.report.failures import hardly_played
from goldrush.replay.report.reported import ReportedStudy
from goldrush.replay.report.sections import variances
from goldrush.replay.study.outcomes import Comparison
from goldrush.replay.study.results import cell_as_dict
from goldrush.replay.study.verdicts import Assessment


def answers(study: ReportedStudy) -> dict[str, Any]:
    """The answer, the outcome by cell, policy and agent, all comparisons, the variance of models by
    source, comparisons of the other measures with the baseline, failed answers of models, and the
    world's own results; of a study that is judged verdicts and findings by cell (also without a
    burn-in). Undefined values are None.
    """
    results, against = study.results, study.against
    return {
        "folder": results.folder,
        "runs": len(results.runs),
        "answer": list(study.sentences),
        "outcome": _outcome(study),
        "comparisons": {
            kind: [_comparison(comparison) for comparison in compared]
            for kind, compared in study.comparisons.items()
        },
        "variance": [each for each, _ in variances(study)],
        "hardly_played": hardly_played(results),
        "models": [
            {
                **cell_as_dict(results, cell),
                **msgspec.structs.asdict(failures),
                "hardly_played": failures.hardly_played,
            }
            for cell in results.by_cell
            for failures in results.failures(cell)
        ],
        **(_criteria(study) if study.judges else {}),
        "against_baseline": [
            {
                **cell_as_dict(results, cell),
                "identical_by_construction": cell not in against,
                "differences": {k: attrs.asdict(v) for k, v in against.get(cell, {}).items()},
            }
            for cell in results.by_cell
            if cell in against or cell in study.same
        ],
        **results.of.studies.answers(results),
    }


def _outcome(study: ReportedStudy) -> dict[str, Any]:
    outcome = study.outcome
    return {
        **attrs.asdict(outcome),
        "standings": [
            {**cell_as_dict(study.results, standing.cell), "policy": standing.policy or None,
             **attrs.asdict(standing.values)}
            for standing in study.standings
        ],
        "runs": [
            {**attrs.asdict(cell), "seed": run.seed, "value": outcome.of_run(run),
             "agents": list(outcome.of_agents(run))}
            for cell, runs in study.results.by_cell.items()
            for run in runs
        ],
        "measures": [
            {"name": user.name, "function": user.typed(), "sha256": user.sha256}
            for user in study.results.users
        ],
    }  # fmt: skip


def _comparison(comparison: Comparison) -> dict[str, Any]:
    """A comparison with its change, whose one-sided tests stay out: they have no correction."""
    change = attrs.asdict(comparison.change, filter=lambda field, _: field.name not in _ONE_SIDED)
    fields = attrs.asdict(comparison, recurse=False)
    del fields["cells"]
    return {**fields, "change": change, "differs": comparison.differs}


_ONE_SIDED: Final = ("expected", "p", "p_opposite")


def _criteria(study: ReportedStudy) -> dict[str, Any]:
    """Verdicts with their tests; of criteria of change over time, the tests in every cell."""
    assessment, whole = study.assessment, Assessment(study.results, burn_in=False)
    return {
        "verdicts": [
            {
                "roster": verdict.cells[0].roster,
                "rounds": verdict.cells[0].rounds,
                "treatments": [cell.treatment for cell in verdict.cells],
                **attrs.asdict(verdict),
            }
            for verdict in assessment.verdicts
        ],
        "cells": [
            {
                **cell_as_dict(study.results, cell),
                "criteria": list(map(attrs.asdict, assessment.judged(cell))),
                "criteria_without_burn_in": list(map(attrs.asdict, whole.judged(cell))),
            }
            for cell in study.results.by_cell
            if assessment.criteria.every
        ],
    }
