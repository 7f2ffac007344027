"""The answer of a report: three sentences worked out from the outcome and its comparisons.

What was compared and in how many runs; who has the most of the outcome; and whether treatments,
rosters or policies differ, and how sure that is. A study that found nothing says what it could have
found, and one that is too small to find anything how many seeds it would need.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

import attrs

from goldrush.kernel.text import escaped, format_count
from goldrush.replay.report.failures import shortened
from goldrush.replay.report.numbers import TOGETHER, bounds, number, p_value
from goldrush.replay.report.templates import templates
from goldrush.replay.study.comparisons import format_equal, identical_cells
from goldrush.replay.study.contrasts import CONTROLS, WORDINGS
from goldrush.replay.study.inference import smallest_p
from goldrush.replay.study.outcomes import (
    CellStanding,
    Comparison,
    StudyOutcome,
    comparisons,
    outcome_named,
    seeds_needed,
    standings,
)
from goldrush.replay.study.records import Cell
from goldrush.replay.study.results import AnyResults
from goldrush.replay.text import format_list, format_ranges

NULL_NOTE: Final = " (control: it does not learn)"
FIRSTS_MAX: Final = 3  # policies that the second sentence names
NAMED_MAX: Final = 5  # treatments, or rosters, that the first sentence names


@attrs.frozen(repr=False)
class StudyAnswer:
    """The outcome of a study, its standings and comparisons, and what they come to. `notes`: of
    what controls are, by policy and roster; `same`: the cells that are identical to the baseline by
    construction, which have no standings; `contrasts`: those that were chosen, as text.
    """

    results: AnyResults
    outcome: StudyOutcome
    standings: Sequence[CellStanding]
    comparisons: Mapping[str, Sequence[Comparison]]
    notes: Mapping[str, str]
    same: Collection[Cell]
    contrasts: Sequence[str] = ()

    def __repr__(self) -> str:
        return "\n".join(self.sentences)

    @property
    def sentences(self) -> tuple[str, str, str]:
        """What was compared, which outcome is highest, and what differs, with invisible characters
        escaped.
        """
        differences = next(iter(self.verdicts.values()), None) or said("nothing", self)
        compared, most = said("compared", self), said("most", self)
        return escaped(compared), escaped(most), escaped(differences)

    @property
    def verdicts(self) -> dict[str, str]:
        """By kind of comparison, whether there are differences and how sure that is."""
        return {
            kind: said("wordings" if kind == WORDINGS else "verdict", self, kind, compared)
            for kind, compared in self.comparisons.items()
        }

    @property
    def firsts(self) -> list[CellStanding]:
        """The first policy of each cell with several."""
        of_policies = [each for each in self.standings if each.policy and each.values.n]
        return [
            max(of_cell, key=attrgetter("values.mean"))
            for _, of_cell in groupby(of_policies, key=attrgetter("cell"))
        ]

    def label(self, name: str) -> str:
        """A roster or a policy by its name; a control is named as such."""
        return f"{name}{self.notes.get(name, '')}"


def answer_of(
    results: AnyResults, name: str | None = None, contrasts: Sequence[str] = ()
) -> StudyAnswer:
    """The answer for an outcome (see `outcome_named`, also for errors). `contrasts`: those that are
    compared; none: those of the plan, else all pairs. Raises BadInput as `contrasts_of`.
    """
    contrasts = contrasts or results.manifest.plan.get("contrasts", ())
    results = _without_players(results)
    outcome, same = outcome_named(results, name), identical_cells(results)
    subjects, null = results.subjects, results.of.studies.null
    notes = {cell.roster: CONTROLS.get(subject.wording, "") for cell, subject in subjects.items()}
    alone = [cell.roster for cell, subject in subjects.items() if subject.name == null]
    notes |= dict.fromkeys([null, *alone] if null else (), NULL_NOTE)
    shown = [standing for standing in standings(results, outcome) if standing.cell not in same]
    compared = comparisons(results, outcome, contrasts)
    return StudyAnswer(results, outcome, shown, compared, notes, same, contrasts)


def _without_players(results: AnyResults) -> AnyResults:
    """The results with no roster in their cells if nobody plays in any run."""
    if any(run.policies for run in results.runs):
        return results
    cells = {attrs.evolve(cell, roster=""): runs for cell, runs in results.by_cell.items()}
    return attrs.evolve(results, by_cell=cells)


def said(macro: str, *given: object) -> str:
    """The text of a macro of `sentences.jinja`."""
    lines = getattr(_sentences(), macro)(*given).split("\n")
    return " ".join(filter(None, (line.strip(" ") for line in lines)))


@cache
def _sentences() -> Any:
    environment = templates(is_markup=False)
    environment.filters["label"] = lambda name, answer: answer.label(name)
    environment.globals.update(
        bounds=bounds, count=format_count, firsts_max=FIRSTS_MAX, format_equal=format_equal,
        is_p=_is_p, largest_of=_largest, listed=format_list, named_max=NAMED_MAX, number=number,
        p_value=p_value, ranges=format_ranges, seeds_needed=seeds_needed, shortened=shortened,
        smallest_p=smallest_p,
    )  # fmt: skip
    return environment.get_template("sentences.jinja").module


def _largest(compared: Sequence[Comparison]) -> Comparison:
    return max(compared, key=lambda each: abs(each.change.difference.mean or 0.0))


def _is_p(value: float | None) -> str:
    text = p_value(value).replace(TOGETHER, " ")
    return text if text.startswith("<") else f"= {text}"
