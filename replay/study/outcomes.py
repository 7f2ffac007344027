"""The outcome of a study: one measure, by run, by policy and by agent, and what differs in it.

Treatments are compared with treatments (the same roster), rosters with rosters (the same treatment)
and policies with policies (the same runs), all in pairs of runs with equal seeds: Wilcoxon's
signed-rank test, two-sided, with Holm's correction over all comparisons of one kind. Where
contrasts are chosen, these alone are tested, and corrected over those of one subject.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, permutations
from operator import attrgetter

import attrs

from goldrush.agents.llm.options import DEFAULT
from goldrush.kernel.grouping import grouped
from goldrush.kernel.measures import Value, mean
from goldrush.kernel.world import Vocabulary
from goldrush.replay.data.measures import AgentMeasure, Measure, Span
from goldrush.replay.outcome import means_of
from goldrush.replay.study.comparisons import identical_cells
from goldrush.replay.study.contrasts import (
    NULL,
    POLICIES,
    ROSTERS,
    TREATMENTS,
    WORDINGS,
    Contrasted,
)
from goldrush.replay.study.inference import (
    SIGNIFICANT,
    Interval,
    PairedChange,
    change,
    detectable,
    detectable_beyond,
    holm,
    interval,
    seeds_for,
)
from goldrush.replay.study.judging import NOT_SUPPORTED, SUPPORTED, UNDECIDED, by_seed
from goldrush.replay.study.records import Cell, points_of
from goldrush.replay.study.results import AnyResult, AnyResults


@attrs.frozen
class StudyOutcome:
    """The measure that a study is asked about. One by agent has a value for each agent at the end;
    that of a run is then their mean.

    Attributes:
        how: how the value of a run is made, to follow its title in a sentence; empty: as the
            definition says.
        at_end: its value over several units is that of the last one.
    """

    name: str
    title: str
    definition: str
    is_by_agent: bool
    how: str = ""
    at_end: bool = False

    def of_run(self, result: AnyResult) -> Value:
        """The value of a run, or the mean over its agents; None if it is undefined."""
        return mean(self.of_agents(result)) if self.is_by_agent else result.run.get(self.name)

    def of_agents(self, result: AnyResult) -> Sequence[Value]:
        """The value of each agent; empty for a measure of the run. A measure of a user's own that
        gave no list in a run is undefined for all agents of that run.
        """
        if not self.is_by_agent:
            return ()
        return result.by_agent.get(self.name, (None,) * len(result.policies))

    def by_policy(self, result: AnyResult) -> dict[str, Value]:
        """The mean over the agents of each policy; empty as `of_agents`."""
        return means_of(self.of_agents(result), result.policies) if self.is_by_agent else {}

    def over_runs(self, runs: Sequence[AnyResult], draws: Sequence[Hashable] = ()) -> Interval:
        """The mean of the values of runs of one cell, with its interval. `draws`: see inference;
        empty: those of the study.
        """
        return interval([self.of_run(run) for run in runs], draws or draws_of(runs))

    def curves(self, result: AnyResult) -> dict[str, Curve]:
        """The outcome over the units of a run, by policy; of the run alone, under the empty name.
        A value at the end stands for one unit.
        """
        course = result.course.means.get(self.name)
        if course is not None:
            units = result.course.units
            return {
                policy: {at: (Span(at, at), value) for at, value in zip(units, values, strict=True)}
                for policy, values in course.items()
            }
        curve = {}
        values = result.curves.get(self.name, ())
        for window, span, value in zip(
            points_of(result.cell.rounds), result.windows, values, strict=False
        ):
            at_end = self.is_by_agent or self.at_end
            curve[window.first] = Span(span.last, span.last) if at_end else span, value
        return {"": curve} if curve else {}

    def over_units(
        self, runs: Sequence[AnyResult], draws: Sequence[Hashable] = ()
    ) -> dict[str, MeanCurve]:
        """The same over the units of the longest of the runs, by policy."""
        every, draws = [self.curves(run) for run in runs], draws or draws_of(runs)
        longest = max(zip(runs, every, strict=True), key=lambda pair: pair[0].units)[1]
        return {
            policy: [
                (span, interval([of[at][1] if at in of else None for of in of_policy], draws))
                for at, (span, _) in curve.items()
            ]
            for policy, curve in longest.items()
            for of_policy in [[of.get(policy, {}) for of in every]]
        }


# By the first unit of a window, the same in all runs: the units of the run, the value.
Curve = Mapping[int, tuple[Span, Value]]
MeanCurve = Sequence[tuple[Span, Interval]]


def outcome_named(results: AnyResults, name: str | None = None) -> StudyOutcome:
    """The outcome of this name: a measure of a run, or by agent; None: the world's own, which is
    its first measure by agent, else the first of a run.

    Raises BadInput for another name, and for a world without measures.
    """
    measure = results.measures.outcome(results.of.name, name)
    outcome = outcome_in(results.runs, measure)
    how = ", at the end of the run, as mean over the agents"
    if not outcome.is_by_agent:
        is_users = measure.name in {user.name for user in results.users}
        how = _over_units(measure, results.of.vocabulary, is_users=is_users)
    return attrs.evolve(outcome, how=how)


def outcome_in(runs: Sequence[AnyResult], measure: AgentMeasure | Measure) -> StudyOutcome:
    """A measure as the outcome of runs of one world; `how` is left out."""
    is_by_agent = any(measure.name in run.by_agent for run in runs)
    at_end = isinstance(measure, AgentMeasure) or measure.at_end
    return StudyOutcome(measure.name, measure.title, measure.definition, is_by_agent, at_end=at_end)


def _over_units(measure: Measure | AgentMeasure, words: Vocabulary, *, is_users: bool) -> str:
    """How the value of a run is made of those of its units; a measure of the user's is a mean where
    it has a function over several units.
    """
    if not isinstance(measure, Measure) or measure.of is None:
        return ", for the whole run"
    if measure.over is not None and not is_users:
        return ", for the whole run"
    if measure.at_end:
        return ", at the end of the run"
    return f", as {'sum' if measure.total else 'mean'} over the {words.units}"


@attrs.frozen
class CellStanding:
    """The outcome of a cell, or of a policy in its runs (`policy`; empty: of all agents)."""

    cell: Cell
    policy: str
    values: Interval


def standings(results: AnyResults, outcome: StudyOutcome) -> list[CellStanding]:
    """The outcome of each cell, and then of each policy of cells with several."""
    every = [
        CellStanding(cell, "", outcome.over_runs(runs)) for cell, runs in results.by_cell.items()
    ]
    for cell, runs in results.by_cell.items():
        by_policy = _by_policy(outcome, runs)
        if len(by_policy) > 1:
            every += [
                CellStanding(cell, policy, interval(values, draws_of(runs)))
                for policy, values in by_policy.items()
            ]
    return every


def draws_of(runs: Iterable[AnyResult]) -> list[Hashable]:
    """What tells the runs of a cell that are equal in every event (see inference)."""
    return [run.draw for run in runs]


def _by_policy(outcome: StudyOutcome, runs: Sequence[AnyResult]) -> dict[str, list[Value]]:
    """The outcome of each policy by run."""
    every = [outcome.by_policy(run) for run in runs]
    policies = dict.fromkeys(policy for of_run in every for policy in of_run)
    return {policy: [of_run.get(policy) for of_run in every] for policy in policies}


@attrs.frozen
class Comparison:
    """Two treatments, rosters, policies or wordings (`kind`) compared in the outcome: b − a, in
    pairs of runs with equal seeds.

    Attributes:
        where: what both have in common: the roster, the treatment, or both.
        rounds: their horizon.
        cells: that of `a` and that of `b`.
        change: from a to b.
        p: of the two-sided test; None if no pair changed.
        holm: after the correction over all comparisons of this kind, or of chosen contrasts over
            those of one subject; `tests`: their number.
        detectable: the least difference that the test would find with a power of 80%, if the pairs
            vary as they do (see inference.detectable); None if it can find none. Of wordings the
            least whose interval would be beyond the noise (see inference.detectable_beyond).
        floor: of wordings the noise: the end farther from 0 of the 95% interval of the differences
            null − default; None: it is not measured.
    """

    kind: str
    where: str
    rounds: int
    a: str
    b: str
    cells: tuple[Cell, Cell]
    change: PairedChange
    p: Value
    holm: Value = None
    detectable: Value = None
    floor: Value = None
    tests: int = 1

    @property
    def is_noise(self) -> bool:
        """Whether the interval reaches inside the noise, or one of them is unknown."""
        low, high = self.change.difference.low, self.change.difference.high
        if self.floor is None or low is None or high is None:
            return True
        return low <= self.floor and high >= -self.floor

    @property
    def outcome(self) -> str:
        """What it says of the claim that b is higher than a."""
        if not self.differs:
            return UNDECIDED
        return SUPPORTED if (self.change.difference.mean or 0.0) > 0 else NOT_SUPPORTED

    @property
    def differs(self) -> bool:
        """Whether `holm`, the p-value after Holm's correction, is below 0.05."""
        return self.holm is not None and self.holm < SIGNIFICANT


def comparisons(
    results: AnyResults, outcome: StudyOutcome, contrasts: Sequence[str] = ()
) -> dict[str, list[Comparison]]:
    """The comparisons of each kind that the study has, or of chosen `contrasts`. Cells that are
    identical to the baseline by construction are left out. Raises BadInput for a contrast that the
    study does not have.
    """
    named = contrasted_in(results)
    chosen, same = named.chosen(contrasts), identical_cells(results)
    cells = [cell for cell in results.by_cell if cell not in same]
    compared: list[Comparison] = []
    for kind in (TREATMENTS, WORDINGS, ROSTERS) if chosen else (TREATMENTS, ROSTERS):
        of = {cell: named.named(kind, cell) for cell in cells}
        for first, second in permutations(cells, 2) if chosen else combinations(cells, 2):
            (a, where), (b, other) = of[first], of[second]
            is_asked = not chosen or (kind, a, b) in chosen
            if is_asked and (where, first.rounds) == (other, second.rounds):
                compared.append(_of_cells(results, outcome, kind, where, (a, b), (first, second)))
    if chosen:
        compared = [_beside_noise(results, outcome, named, each) for each in compared]
    else:
        compared += [each for cell in cells for each in _policies(results, outcome, cell)]

    def family(comparison: Comparison) -> str:
        is_of_one = chosen and comparison.kind != ROSTERS
        return named.subjects[comparison.cells[0]].name if is_of_one else comparison.kind

    families = map(_corrected, grouped(compared, family).values())
    order = (TREATMENTS, WORDINGS, ROSTERS, POLICIES).index
    corrected = sorted(chain.from_iterable(families), key=lambda each: order(each.kind))
    return grouped(corrected, attrgetter("kind"))


def contrasted_in(results: AnyResults) -> Contrasted:
    """The cells of a study, as contrasts name them."""
    return Contrasted({cell: runs[0].policies for cell, runs in results.by_cell.items()})


def _beside_noise(
    results: AnyResults, outcome: StudyOutcome, named: Contrasted, found: Comparison
) -> Comparison:
    """A comparison of wordings with its noise floor."""
    of = {named.named(WORDINGS, c): c for c in results.by_cell if c.rounds == found.rounds}
    pair = [of.get((wording, found.where)) for wording in (DEFAULT, NULL)]
    if found.kind != WORDINGS or pair[0] is None or pair[1] is None:
        return found
    null = _of_cells(results, outcome, WORDINGS, "", (DEFAULT, NULL), (pair[0], pair[1]))
    ends = (null.change.difference.low, null.change.difference.high)
    return attrs.evolve(
        found, floor=max((abs(end) for end in ends if end is not None), default=None)
    )


def _of_cells(
    results: AnyResults, outcome: StudyOutcome, kind: str, where: str, names: tuple[str, str],
    cells: tuple[Cell, Cell],
) -> Comparison:  # fmt: skip
    runs = by_seed(*(results.by_cell[cell] for cell in cells))
    pairs = [(outcome.of_run(one), outcome.of_run(other)) for one, other in runs]
    return _pair(kind, where, *names, cells, pairs, [(one.draw, other.draw) for one, other in runs])


def _pair(
    kind: str,
    where: str,
    a: str,
    b: str,
    cells: tuple[Cell, Cell],
    pairs: Sequence[tuple[Value, Value]],
    draws: Sequence[Hashable],
) -> Comparison:
    paired = change(pairs, +1, draws)
    return Comparison(kind, where, cells[0].rounds, a, b, cells, paired, _two_sided(paired))


def _policies(results: AnyResults, outcome: StudyOutcome, cell: Cell) -> Iterator[Comparison]:
    """The policies of a cell, in the same runs."""
    runs = results.by_cell[cell]
    where = f"{cell.roster} under {cell.treatment}"
    for (a, first), (b, second) in combinations(_by_policy(outcome, runs).items(), 2):
        pairs = list(zip(first, second, strict=True))
        yield _pair(POLICIES, where, a, b, (cell, cell), pairs, draws_of(runs))


def _corrected(compared: Sequence[Comparison]) -> list[Comparison]:
    corrected = holm([comparison.p for comparison in compared])
    level = SIGNIFICANT / len(compared)
    return [
        attrs.evolve(
            each, holm=p, tests=len(compared),
            detectable=detectable_beyond(each.change.difference, each.floor)
            if each.kind == WORDINGS else detectable(each.change.difference, level),
        )
        for each, p in zip(compared, corrected, strict=True)
    ]  # fmt: skip


def _two_sided(paired: PairedChange) -> Value:
    if paired.p is None or paired.p_opposite is None:
        return None
    return min(1.0, 2 * min(paired.p, paired.p_opposite))


def seeds_needed(compared: Sequence[Comparison]) -> int | None:
    """How many draws the first of these comparisons needs to be significant; None: it has as many.
    Holm multiplies the smallest p-value by the number of tests.
    """
    needed = seeds_for(2 * min(comparison.tests for comparison in compared))
    return needed if max(comparison.change.n for comparison in compared) < needed else None
