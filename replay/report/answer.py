"""The answer of a report: three sentences worked out from the outcome and its comparisons.

What was compared and in how many runs; who has the most of the outcome; and whether treatments,
rosters or policies differ, and how sure that is. A study that found nothing says what it could have
found, and one that is too small to find anything how many seeds it would need.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

import attrs

from goldrush.kernel.text import escaped, format_count
from goldrush.replay.report.numbers import MINUS, TOGETHER, bounds, number, p_value
from goldrush.replay.study.comparisons import format_equal, identical_cells
from goldrush.replay.study.contrasts import CONTROLS, TOLD, WORDINGS
from goldrush.replay.study.inference import smallest_p
from goldrush.replay.study.outcomes import (
    CellStanding,
    Comparison,
    StudyOutcome,
    comparisons,
    contrasted_in,
    outcome_named,
    seeds_needed,
    standings,
)
from goldrush.replay.study.records import Cell
from goldrush.replay.study.results import AnyResults
from goldrush.replay.text import format_list

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
        compared, most, differences = map(
            escaped, (self._compared(), self._most(), self._differences())
        )
        return compared, most, differences

    def label(self, name: str) -> str:
        """A roster or a policy by its name; a control is named as such."""
        return f"{name}{self.notes.get(name, '')}"

    def _compared(self) -> str:
        cells = list(self.results.by_cell)
        count = len(self.results.runs)
        runs, equal = format_count(count, "run"), format_equal(count, self.results.equal)
        seeds = format_count(len({run.seed for run in self.results.runs}), "seed")
        horizons = self.results.horizons
        units = format_count(horizons[-1], self.results.of.vocabulary.unit)
        length = " or ".join([*(f"{rounds:,}" for rounds in horizons[:-1]), units])
        if len(cells) == 1:
            subject = f"{runs} of {self._name(self.standings[0])}, {length} each"
        else:
            treatments = _named("treatment", dict.fromkeys(cell.treatment for cell in cells))
            rosters = _named("roster", dict.fromkeys(self.label(cell.roster) for cell in cells))
            compared = f"{treatments} and {rosters}" if cells[0].roster else treatments
            subject = f"{runs} of {length} compare {compared}"
        return (
            f"{subject}, with {seeds}; the outcome is {self.outcome.title}{self.outcome.how}."
            f"{equal and ' '}{equal}"
        )

    def _most(self) -> str:
        """The cell with the highest outcome, and the policy that is first within rosters."""
        title = self.outcome.title
        of_cells = [
            standing for standing in self.standings if not standing.policy and standing.values.n
        ]
        if not of_cells:
            return f"No run has a value of {title}."
        best, least = (pick(of_cells, key=_mean) for pick in (max, min))
        if len(of_cells) == 1:
            text = f"The mean {title} is {self._with_interval(best)}"
        elif _mean(best) == _mean(least):
            text = f"All have the same {title}, {self._with_interval(best)}"
        else:
            text = (
                f"The highest {title} is that of {self._name(best)}, "
                f"{self._with_interval(best)}, the "
                f"lowest that of {self._name(least)}, {bounds(least.values)}"
            )
        return f"{text}{self._first_policies()}."

    def _with_interval(self, standing: CellStanding) -> str:
        """A mean with its interval: "412 ± 12 (95% interval of 20 seeds)"."""
        values = standing.values
        is_equal = any(run.equal_to is not None for run in self.results.by_cell[standing.cell])
        noun = "distinct run" if is_equal else "seed"
        if values.low is None:
            return f"{number(values.mean)} (one {noun}, so without an interval)"
        return f"{bounds(values)} (95% interval of {format_count(values.n, noun)})"

    def _name(self, standing: CellStanding) -> str:
        cell = standing.cell
        several = len(self.results.horizons) > 1
        rounds = f", {self.results.of.vocabulary.units} {cell.rounds}" if several else ""
        of = f"{self.label(cell.roster)} under " if cell.roster else ""
        return f"{of}{cell.treatment}{rounds}"

    def _first_policies(self) -> str:
        """The first policy of each cell with several."""
        of_policies = [each for each in self.standings if each.policy and each.values.n]
        by_cell = groupby(of_policies, key=attrgetter("cell"))
        firsts = [max(of_cell, key=_mean) for _, of_cell in by_cell]
        if not firsts:
            return ""
        listed = [
            f"{self.label(each.policy)} in {self._name(each)} ({bounds(each.values)})"
            for each in firsts[:FIRSTS_MAX]
        ]
        more = [f"{len(firsts) - FIRSTS_MAX:,} more"] if len(firsts) > FIRSTS_MAX else []
        return f"; of the policies the first is {format_list([*listed, *more])}"

    def _differences(self) -> str:
        """Whether treatments differ; of a study with one treatment, rosters or policies."""
        nothing = "There is nothing to compare: one treatment, one roster and one policy."
        if self.same:
            names = ", ".join(dict.fromkeys(cell.treatment for cell in self.same))
            nothing = (
                f"There is nothing to compare: the policies do not depend on what {names} "
                "changes, so its runs are those of the baseline."
            )
        return next(iter(self.verdicts.values()), nothing)

    @property
    def verdicts(self) -> dict[str, str]:
        """By kind of comparison, whether there are differences and how sure that is."""
        noun = "distinct pair" if self.results.equal else "seed"
        return {
            kind: _of_wordings(compared) if kind == WORDINGS else _verdict(kind, compared, noun)
            for kind, compared in self.comparisons.items()
        }


def answer_of(
    results: AnyResults, name: str | None = None, contrasts: Sequence[str] = ()
) -> StudyAnswer:
    """The answer for an outcome (see `outcome_named`, also for errors). `contrasts`: those that are
    compared; none: those of the plan, else all pairs. Raises BadInput as `contrasts_of`.
    """
    contrasts = contrasts or results.manifest.plan.get("contrasts", ())
    results = _without_players(results)
    outcome, same = outcome_named(results, name), identical_cells(results)
    null = results.of.studies.null
    subjects = contrasted_in(results).subjects
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


def _named(noun: str, names: Mapping[str, object]) -> str:
    count = format_count(len(names), noun)
    return f"{count} ({', '.join(names)})" if len(names) <= NAMED_MAX else count


def _mean(standing: CellStanding) -> float:
    assert standing.values.mean is not None
    return standing.values.mean


def _verdict(kind: str, compared: Sequence[Comparison], noun: str) -> str:
    """Whether treatments, rosters or policies differ, and how sure that is. `noun`: what the tests
    rest on.
    """
    tests = format_count(len(compared), "comparison")
    most = max(comparison.change.n for comparison in compared)
    if not most:
        return f"Whether {kind} differ cannot be told: no two runs to be compared have a value."
    needed = seeds_needed(compared)
    if needed is not None:
        family = min(comparison.tests for comparison in compared)
        least = p_value(min(1.0, 2 * family * smallest_p(most))).replace(TOGETHER, " ")
        return (
            f"Whether {kind} differ cannot be told from {format_count(most, noun)}: in {tests} "
            f"the least possible p is {least}; at least {needed} {noun}s are needed for p < 0.05."
        )
    differing = [comparison for comparison in compared if comparison.differs]
    if differing:
        largest = max(differing, key=_size)
        where = f" for {largest.where}" if largest.where else ""
        share = "" if len(compared) == 1 else f" in {len(differing)} of {tests}"
        return (
            f"{kind.capitalize()} differ{share}, most {largest.b} {MINUS} {largest.a}{where}: "
            f"{bounds(largest.change.difference)} (95% interval; p {_p(largest.holm)}"
            f"{_corrected(compared)})."
        )
    if all(comparison.change.is_all_zero for comparison in compared):
        return f"{kind.capitalize()} make no difference: every pair of runs has the same outcome."
    return f"No difference between {kind} was found in {tests}{_could_have(compared)}."


def _of_wordings(compared: Sequence[Comparison]) -> str:
    """Which wordings differ by more than the noise. `told` is counted apart: whether words move the
    model at all.
    """
    if all(each.floor is None for each in compared):
        return (
            "Whether wordings differ cannot be told from noise: no roster has the default wording "
            "with other samples ([sample=1]) under two seeds or more."
        )
    told = [each for each in compared if TOLD in (each.a, each.b)]
    others = [each for each in compared if each not in told]
    parts = [("Wordings", others), ("The positive control", told)]
    return " ".join(_beyond_noise(who, of) for who, of in parts if of)


def _beyond_noise(who: str, of: Sequence[Comparison]) -> str:
    beyond = [each for each in of if not each.is_noise]
    if beyond:
        most = max(beyond, key=_size)
        return (
            f"{who}: {len(beyond)} of {format_count(len(of), 'difference')} beyond the noise, most "
            f"{most.b} {MINUS} {most.a} for {most.where}: {bounds(most.change.difference)} (95% "
            f"interval of {format_count(most.change.n, 'seed')}; noise up to "
            f"{number(most.floor, 2)}; p {_p(most.holm)}{_corrected([most])})."
        )
    sizes = [each.detectable for each in of if each.detectable is not None]
    least = f"; one of {number(max(sizes), 2)} or more could have been" if sizes else ""
    return f"{who}: no difference is told from noise{least}."


def _corrected(compared: Sequence[Comparison]) -> str:
    return "" if compared[0].tests == 1 else " after Holm's correction"


def _could_have(compared: Sequence[Comparison]) -> str:
    """The smallest p-value, and what the study could have found."""
    values = [comparison.holm for comparison in compared if comparison.holm is not None]
    smallest = f" (p {_p(min(values))}{_corrected(compared)})" if values else ""
    sizes = [comparison.detectable for comparison in compared if comparison.detectable is not None]
    if not sizes:
        return smallest
    least = number(max(sizes), 2)
    return f"{smallest}; the study could have found one of {least} or more with 80% power"


def _size(comparison: Comparison) -> float:
    return abs(comparison.change.difference.mean or 0.0)


def _p(value: float | None) -> str:
    text = p_value(value).replace(TOGETHER, " ")
    return text if text.startswith("<") else f"= {text}"
