"""The answers of a study as plain values, for programs."""

from __future__ import annotations

from typing import Any

import attrs

from goldrush.replay.report.models import hardly_played
from goldrush.replay.study.comparisons import against_baseline, trade_offs
from goldrush.replay.study.plan import Cell
from goldrush.replay.study.results import Results
from goldrush.replay.study.theory import breaking, defending, possession, ties
from goldrush.replay.study.verdicts import SIZES, Assessment, Judged


def answers(results: Results) -> dict[str, Any]:
    """Verdicts, what each cell shows (also without a burn-in), treatments against the baseline, the
    trade-off, and theory; before them, which models hardly played, and what became of the answers
    of all. What is undefined is null.
    """
    assessment = Assessment(results)
    whole = Assessment(results, burn_in=False)
    return {
        "folder": results.folder,
        "runs": sum(map(len, results.by_cell.values())),
        "hardly_played": hardly_played(results),
        "models": [
            {
                **_cell(results, cell),
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
                "treatments": [one.cells[size].cell.treatment for size in SIZES],
                "verdict": one.verdict,
                "note": one.note,
            }
            for one in assessment.verdicts()
        ],
        "cells": [
            {
                **_cell(results, cell),
                "criteria": [_judged(one) for one in assessment.judged(cell)],
                "criteria_without_burn_in": [_judged(one) for one in whole.judged(cell)],
            }
            for cell in results.by_cell
        ],
        "against_baseline": [
            {
                **_cell(results, one.cell),
                "identical_by_construction": one.identical,
                "differences": {k: attrs.asdict(v) for k, v in one.differences.items()},
            }
            for one in against_baseline(results)
        ],
        "trade_off": [attrs.asdict(one) for one in trade_offs(results)],
        "theory": {
            "ties": {kind: [t.as_dict() for t in tests] for kind, tests in ties(results).items()},
            "possession": [
                {
                    **_cell(results, one.cell),
                    **attrs.asdict(one, filter=_but_cell),
                    "shows": one.shows,
                }
                for one in possession(results)
            ],
            "defending": [
                {
                    **_cell(results, one.cell),
                    **attrs.asdict(one, filter=_but_cell),
                    "pays": one.pays,
                    "did_pay": one.did_pay,
                }
                for one in defending(results)
            ],
            "breaking": [attrs.asdict(one) for one in breaking(results)],
        },
    }


def _cell(results: Results, cell: Cell) -> dict[str, Any]:
    config = results.config(cell)
    return {**attrs.asdict(cell), "agents": config.agents, "pressure": config.pressure}


def _judged(one: Judged) -> dict[str, Any]:
    return {
        "criterion": one.criterion,
        "outcome": one.outcome,
        "note": one.note,
        "findings": [attrs.asdict(found) for found in one.findings],
    }


def _but_cell(attribute: attrs.Attribute[Any], value: Any) -> bool:
    return attribute.name != "cell"
