"""Seasons as a subject of studies: casts, and the criteria of the protocol, each a contrast of two
cells of a study, paired by seed.

A criterion compares a measure of the protocol with that of its null: the protocol without one of
its parts, or chance. It is supported if the measure is greater, both with 6 workers and with 12:
p < 0.05 by the one-sided Wilcoxon signed-rank test after Holm's correction over all criteria and
both sizes, and the expected sign in three of four seasons. It is not supported if it passes in the
other direction, or does not differ in any season, with one of these sizes. Source: README, "Does
the protocol work?".
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final

import attrs

from goldrush.agents.worlds.competition.arenas import NAMES, seeded_setting
from goldrush.agents.worlds.competition.cast import (
    PLANTED,
    RANDOM,
    SCRIPTED,
    SILENT,
    cast_of,
)
from goldrush.agents.worlds.competition.players import configured
from goldrush.agents.worlds.competition.treatments import (
    EQUAL_TRIALS,
    INDEPENDENT,
    LARGE,
    NO_ELIMINATION,
    NO_MEMORY,
    NO_STAKES,
    with_more,
)
from goldrush.kernel.measures import Value
from goldrush.kernel.treatments import BASELINE
from goldrush.kernel.worlds.competition.config import SeasonConfig
from goldrush.kernel.worlds.competition.terms import Role
from goldrush.replay.outcome import means_of
from goldrush.replay.studies import MIXED, Studies
from goldrush.replay.study.judging import (
    AS_EXPECTED,
    NOT_SUPPORTED,
    UNDECIDED,
    CriterionVerdict,
    Pairs,
    SizeVerdict,
    Verdicts,
    by_seed,
    outcome_of,
    tested,
    verdict_of,
)
from goldrush.replay.study.records import Cell, Result
from goldrush.replay.study.results import Results
from goldrush.replay.worlds.competition.measures import (
    LEARNING,
    MEASURES,
    MERIT,
    MeasuredSeason,
    stability,
)

SIZES: Final = (6, LARGE)

Halves = Mapping[int, tuple[float, float]]  # `halves_of` of `measures.MeasuredSeason`
SeasonResult = Result[SeasonConfig, Halves]
SeasonResults = Results[SeasonConfig, Halves]


@attrs.frozen
class Contrast:
    """A criterion: a measure that is expected to be greater under the protocol than in its null.

    Attributes:
        text: a sentence, without a capital letter and a full stop.
        treatment: of the protocol.
        null: the treatment of the null; None: the measure is compared with 0, the mean of what
            chance gives.
        assignments: the fewest of a season that is judged.
        needs_control: whether it is judged only where the planted control is found (see Planted).
    """

    name: str
    text: str
    measure: str
    treatment: str = BASELINE
    null: str | None = None
    assignments: int = 1
    needs_control: bool = False

    @property
    def null_name(self) -> str:
        return self.null or "chance"


CRITERIA: Final = (
    Contrast(
        "the table beats its members",
        "conclusions have a larger share of the optimum than those of independent search with as "
        "many trials, in seasons of at least 80 assignments, without elimination and rewards",
        "optimum_share",
        treatment=NO_STAKES,
        null=INDEPENDENT,
        assignments=80,
    ),
    Contrast(
        "the season learns",
        "conclusions are better at later visits of a family of subjects than at the first, beyond "
        "what they are on the same landscapes without memory",
        LEARNING,
        null=NO_MEMORY,
    ),
    Contrast(
        "competition pays",
        "conclusions are better than without elimination and rewards, where dearer seats buy no "
        "trials",
        "percentile",
        treatment=EQUAL_TRIALS,
        null=NO_STAKES,
    ),
    Contrast(
        "scores measure merit",
        "totals without Net Impact follow tested values, more than the same totals permuted within "
        "their tables, where the mean is 0",
        MERIT,
        needs_control=True,
    ),
)


def verdicts(results: SeasonResults) -> Verdicts:
    """A verdict on each criterion for which the study has pairs of seasons of any size. Holm's
    correction covers all of them, at both sizes.
    """
    compared = {
        (criterion, workers): found
        for criterion in CRITERIA
        for workers in SIZES
        if (found := _pairs(results, criterion, workers)) is not None
    }
    tests = tested(
        {key: (key[0].measure, pairs, +1, draws) for key, (_, pairs, draws) in compared.items()}
    )
    by_criterion: dict[Contrast, dict[int, SizeVerdict]] = {}
    for (criterion, workers), test in tests.items():
        cell, *_ = compared[criterion, workers]
        judged = SizeVerdict(criterion.name, workers, cell, [test], outcome_of([test.shows]))
        by_criterion.setdefault(criterion, {})[workers] = judged
    return Verdicts([_verdict(results, *of) for of in by_criterion.items()], needs(results))


def _verdict(
    results: SeasonResults, criterion: Contrast, by_size: Mapping[int, SizeVerdict]
) -> CriterionVerdict:
    verdict = verdict_of(judged.outcome for judged in by_size.values())
    lacks = _control_lacks(results, by_size) if criterion.needs_control else ""
    missing = sorted(set(SIZES) - by_size.keys())
    if missing and not lacks and verdict != NOT_SUPPORTED:
        lacks = f"no seasons with {' and '.join(map(str, missing))} workers"
    if lacks:
        return CriterionVerdict(criterion.name, by_size, UNDECIDED, lacks)
    shown = {workers: judged.findings[0].shows for workers, judged in sorted(by_size.items())}
    others = [f"{n} workers: {shows}" for n, shows in shown.items() if shows != AS_EXPECTED]
    return CriterionVerdict(criterion.name, by_size, verdict, "; ".join(others))


def _pairs(
    results: SeasonResults, criterion: Contrast, workers: int
) -> tuple[Cell, Pairs, Sequence[Hashable]] | None:
    """The values of the null and of the protocol, by seed, with their draws, and the cell of the
    latter: of the shortest seasons that are judged and that both have.
    """
    name, null = criterion.measure, criterion.null
    theirs = {} if null is None else _by_length(results, criterion, sized(null, workers))
    ours = _by_length(results, criterion, sized(criterion.treatment, workers))
    for length, seasons in ours.items():
        cell = seasons[0].cell
        if null is None:
            values = [season.run[name] for season in seasons]
            chance = [None if value is None else 0.0 for value in values]
            return cell, [*zip(chance, values, strict=True)], [season.draw for season in seasons]
        if both := by_seed(seasons, theirs.get(length, ())):
            pairs = [(null.run[name], own.run[name]) for own, null in both]
            return cell, pairs, [(null.draw, own.draw) for own, null in both]
    return None


def _by_length(
    results: SeasonResults, criterion: Contrast, treatment: str
) -> Mapping[int, Sequence[SeasonResult]]:
    """The seasons of scripted workers under a treatment, by the number of assignments, ascending;
    too short ones are left out.
    """
    cells = [
        cell
        for cell in results.by_cell
        if (cell.treatment, cell.roster) == (treatment, SCRIPTED)
        and cell.rounds >= criterion.assignments
    ]
    return {c.rounds: results.by_cell[c] for c in sorted(cells, key=lambda cell: cell.rounds)}


def sized(treatment: str, workers: int) -> str:
    """The name of a treatment with this number of workers, one of SIZES."""
    return treatment if workers == SIZES[0] else with_more(treatment)


def pooled(seasons: Sequence[SeasonResult]) -> Value:
    """The stability of ranks pooled over several seasons; see measures.stability."""
    return stability(pair for season in seasons for pair in season.kept.values())


STABLE_MIN: Final = 0.5  # the stability of ranks from which a planted difference counts as found
FOUND_SHARE: Final = 0.9  # of the seasons in which those who are better must have more


@attrs.frozen
class Planted:
    """The planted control of a cell: a roster of which the first half is scripted and the others
    act at random, without elimination; `ahead`: the seasons in which the mean total of the former
    is higher.
    """

    cell: Cell
    seasons: int
    stability: Value
    ahead: int

    @property
    def is_found(self) -> bool:
        """Whether the scores show the difference that was planted."""
        is_stable = self.stability is not None and self.stability > STABLE_MIN
        return is_stable and self.ahead >= FOUND_SHARE * self.seasons


def planted(results: SeasonResults) -> list[Planted]:
    return [
        Planted(cell, len(runs), pooled(runs), sum(map(_is_ahead, runs)))
        for cell, runs in results.by_cell.items()
        if cell.roster == PLANTED and not results.config(cell).elimination
    ]


def _is_ahead(run: SeasonResult) -> bool:
    """Whether the scripted workers of a season have a higher mean total than the others."""
    means = means_of(run.by_agent["score"], run.policies)
    better, others = means.get(SCRIPTED), means.get(RANDOM)
    return better is not None and others is not None and better > others


def _control_lacks(results: SeasonResults, sizes: Iterable[int]) -> str:
    """What is missing of the planted control at these sizes, or is not found."""
    controls = {control.cell.treatment: control for control in planted(results)}
    for workers in sizes:
        treatment = sized(NO_ELIMINATION, workers)
        control = controls.get(treatment)
        if control is None:
            return f"no seasons of the roster {PLANTED} under {treatment}"
        if not control.is_found:
            return f"the planted difference is not found with {workers} workers"
    return ""


def needs(results: SeasonResults) -> str:
    """A sentence on the seasons that a study without verdicts lacks."""
    pairs = [f"{one.treatment} with {one.null}" for one in CRITERIA if one.null is not None]
    return (
        f"a verdict compares seasons of the roster {SCRIPTED} under two treatments, with the same "
        f"seeds: {', '.join(pairs)} (the first from {CRITERIA[0].assignments} assignments on); add "
        f"them to `--roster {SCRIPTED}`"
    )


def answers(results: SeasonResults) -> dict[str, object]:
    return {"planted": [{**attrs.asdict(one), "found": one.is_found} for one in planted(results)]}


def _seats(roster: str | None, agents: int | None) -> Sequence[str]:
    # Without options, which no seat is known by, as those may name files beside a plan.
    text = None if roster in (None, MIXED) else re.sub(r"\[.*?\]", "", roster)
    default: int = attrs.fields_dict(SeasonConfig)["workers"].default  # type: ignore[assignment]
    workers = default if agents is None else agents
    cast = cast_of(workers, [text] if text else ())
    return [seat.policy for seat in cast if seat.role == Role.WORKER]


def _kept(measured: MeasuredSeason) -> Halves:
    return measured.halves_of


STUDIES: Final = Studies(
    title="Does the protocol work?",
    config=configured,
    size="workers",
    seats=_seats,
    null=RANDOM,
    policies=(SCRIPTED, SILENT),
    baselines=(SCRIPTED, RANDOM),
    kept=_kept,
    lasts=lambda config: config.arena.name in NAMES,
    answers=answers,
    verdicts=verdicts,
    compared=[name for name, measure in MEASURES.items() if measure.column],
    seeded=seeded_setting,
)
