"""Seasons as a subject of studies: casts, and the criteria of the protocol, each a contrast of two
cells of a study, paired by seed.

A criterion compares measures of the protocol with those of its null: the protocol without one of
its parts, or with the `random` cast. It is supported if every measure differs as expected, both
with 6 workers and with 12: p < 0.05 by the one-sided Wilcoxon signed-rank test after Holm's
correction over all measures of all criteria of a size, and the expected sign in three of four
seasons. It is not supported if a measure passes in the other direction, or if none of its measures
differs in any season, with one of these sizes. The stability of ranks is pooled over seasons, and
tested by a bootstrap over pairs of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.agents.worlds.competition.arenas import NAMES, NoProgram
from goldrush.agents.worlds.competition.cast import RANDOM, SCRIPTED, SILENT, cast_of
from goldrush.agents.worlds.competition.players import configured
from goldrush.agents.worlds.competition.treatments import (
    INDEPENDENT,
    LARGE,
    NO_MEMORY,
    NO_STAKES,
    with_more,
)
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput
from goldrush.kernel.measures import Value, mean
from goldrush.kernel.treatments import BASELINE
from goldrush.kernel.worlds.competition.config import SeasonConfig
from goldrush.kernel.worlds.competition.terms import Role
from goldrush.replay.report.page import NONE, number, p_value, within_bounds
from goldrush.replay.studies import MIXED, Kept, Studies
from goldrush.replay.study.inference import (
    CONFIDENCE,
    SIGN_SHARE,
    SIGNIFICANT,
    PairedChange,
    change,
    holm,
    smallest_p,
)
from goldrush.replay.study.records import Cell, Result
from goldrush.replay.study.results import Results
from goldrush.replay.worlds.competition.measures import (
    MEASURES,
    SHOWN,
    STABILITY,
    MeasuredSeason,
    stability,
)

SIZES: Final = (6, LARGE)
RESAMPLES: Final = 2_000

SEASONS_MIN: Final = 8  # with fewer, a bootstrap over seasons understates how much they vary

SUPPORTED, NOT_SUPPORTED, UNDECIDED = "supported", "not supported", "undecided"


@attrs.frozen
class SeasonKept:
    """The part of a season's measures that a study keeps.

    Attributes:
        arena: the name of its arena.
        halves_of: see `measures.MeasuredSeason`.
        totals: `first_totals` of `measures.MeasuredSeason`.

    """

    arena: str
    halves_of: Mapping[int, tuple[float, float]]
    totals: Sequence[Value]


SeasonResult = Result[SeasonConfig, SeasonKept]
SeasonResults = Results[SeasonConfig, SeasonKept]


def kept(measured: MeasuredSeason) -> SeasonKept:
    """The part of a measured season that reports need."""
    return SeasonKept(measured.config.arena.name, measured.halves_of, tuple(measured.first_totals))


def packed(own: SeasonKept) -> Any:
    """The values as plain data, for the cache."""
    return own.arena, own.halves_of, own.totals


def unpacked(values: Any) -> SeasonKept:
    """The inverse of `packed`."""
    return SeasonKept(*values)


@attrs.frozen
class Contrast:
    """A criterion: measures that are expected to be greater under the protocol than in its null.

    Attributes:
        name: its name.
        text: a sentence, without a capital letter and a full stop.
        measures: the names of the measures.
        treatment: of the null.
        roster: of the null.
        is_change: whether the changes from the first half of a season to the second are compared,
            instead of the values of whole seasons.

    """

    name: str
    text: str
    measures: Sequence[str]
    treatment: str = BASELINE
    roster: str = SCRIPTED
    is_change: bool = False

    @property
    def null(self) -> str:
        """The name of the null: a treatment or a cast."""
        return self.roster if self.treatment == BASELINE else self.treatment


CRITERIA: Final = (
    Contrast(
        "the table beats its members",
        "conclusions are better than those of independent search with as many trials",
        ("percentile",),
        treatment=INDEPENDENT,
    ),
    Contrast(
        "the season learns",
        "conclusions become better from the first half to the second, beyond what they do on the "
        "same landscapes without memory",
        ("percentile",),
        treatment=NO_MEMORY,
        is_change=True,
    ),
    Contrast(
        "competition pays",
        "conclusions are better than without elimination and rewards",
        ("percentile",),
        treatment=NO_STAKES,
    ),
    Contrast(
        "scores measure merit",
        "totals follow tested values, and ranks are stable, more than among random workers",
        ("validity", STABILITY),
        roster=RANDOM,
    ),
)


Bounds = tuple[float, float]


@attrs.frozen
class ContrastFinding:
    """A measure of a criterion at one size: its change from the null to the protocol over pairs of
    seasons (None: it is pooled), both values (and their 95% intervals, if it is pooled over
    SEASONS_MIN seasons or more), the p-values of both directions after Holm's correction, and
    whether it passes as expected (`right`) or the other way (`wrong`).
    """

    criterion: str
    measure: str
    workers: int
    seeds: int
    protocol: Value
    null: Value
    change: PairedChange | None
    p: Value
    p_opposite: Value
    right: bool = False
    wrong: bool = False
    protocol_interval: Bounds | None = None
    null_interval: Bounds | None = None


@attrs.frozen
class ContrastVerdict:
    """The verdict on a criterion over both sizes; `note`: the reason if it is undecided."""

    criterion: str
    findings: Sequence[ContrastFinding]
    verdict: str
    note: str = ""


def verdicts(results: SeasonResults) -> list[ContrastVerdict]:
    """A verdict on each criterion for which the study has pairs of seasons of any size."""
    found = [finding for workers in SIZES for finding in _findings(results, workers)]
    judged = []
    for criterion in CRITERIA:
        own = [finding for finding in found if finding.criterion == criterion.name]
        if own:
            judged.append(_verdict(criterion, own))
    return judged


def _verdict(criterion: Contrast, findings: Sequence[ContrastFinding]) -> ContrastVerdict:
    missing = set(SIZES) - {finding.workers for finding in findings}
    if any(finding.wrong for finding in findings):
        return ContrastVerdict(criterion.name, findings, NOT_SUPPORTED)
    same = [size for size in SIZES if _is_all_same(f for f in findings if f.workers == size)]
    if same:
        sizes = " and ".join(map(str, same))
        note = f"no difference in any season with {sizes} workers"
        return ContrastVerdict(criterion.name, findings, NOT_SUPPORTED, note)
    if missing:
        sizes = " and ".join(map(str, sorted(missing)))
        note = f"no seasons with {sizes} workers"
        return ContrastVerdict(criterion.name, findings, UNDECIDED, note)
    if all(finding.right for finding in findings):
        return ContrastVerdict(criterion.name, findings, SUPPORTED)
    unclear = [f"{f.measure}, {f.workers} workers" for f in findings if not f.right]
    return ContrastVerdict(criterion.name, findings, UNDECIDED, f"not clear: {'; '.join(unclear)}")


def _is_all_same(findings: Iterable[ContrastFinding]) -> bool:
    """Whether there are data in enough seasons, and no season differs from its null."""
    tested = [f for f in findings if f.protocol is not None and f.null is not None]
    return bool(tested) and all(
        f.change is not None and f.change.is_all_zero and f.change.same >= SIGN_SHARE * f.seeds
        for f in tested
    )


def _findings(results: SeasonResults, workers: int) -> list[ContrastFinding]:
    """The findings at one size, corrected together."""
    tested = [
        _tested(criterion, measure, workers, *cells)
        for criterion in CRITERIA
        if (cells := _cells(results, criterion, workers)) is not None
        for measure in criterion.measures
    ]
    right = holm([finding.p for finding in tested])
    wrong = holm([finding.p_opposite for finding in tested])
    return [
        attrs.evolve(
            finding,
            p=p,
            p_opposite=q,
            right=_passes(finding, p, finding.change.right if finding.change else None),
            wrong=_passes(finding, q, finding.change.wrong if finding.change else None),
        )
        for finding, p, q in zip(tested, right, wrong, strict=True)
    ]


def _passes(finding: ContrastFinding, p: Value, pairs: int | None) -> bool:
    """Whether a measure passes in a direction: by its p-value and by how many of the pairs changed
    in that direction (None: it is pooled, and has no pairs).
    """
    if p is None or p >= SIGNIFICANT:
        return False
    return pairs is None or pairs >= SIGN_SHARE * finding.seeds


def _cells(
    results: SeasonResults, criterion: Contrast, workers: int
) -> tuple[Sequence[SeasonResult], Sequence[SeasonResult]] | None:
    """The seasons of the protocol and of the null, in pairs; None where the study has none."""

    def seasons(treatment: str, roster: str) -> Mapping[int, SeasonResult]:
        name = treatment if workers == SIZES[0] else with_more(treatment)
        found = (
            runs
            for cell, runs in results.by_cell.items()
            if (cell.treatment, cell.roster) == (name, roster)
        )
        return {result.seed: result for result in next(found, ())}

    ours = seasons(BASELINE, SCRIPTED)
    theirs = seasons(criterion.treatment, criterion.roster)
    seeds = [seed for seed in ours if seed in theirs]
    return ([ours[s] for s in seeds], [theirs[s] for s in seeds]) if seeds else None


def _tested(
    criterion: Contrast,
    measure: str,
    workers: int,
    ours: Sequence[SeasonResult],
    theirs: Sequence[SeasonResult],
) -> ContrastFinding:
    if measure == STABILITY:
        return _pooled(criterion, workers, ours, theirs)
    pairs = [
        (_value(null, measure, criterion), _value(own, measure, criterion))
        for null, own in zip(theirs, ours, strict=True)
    ]
    found = change(pairs, +1)
    return ContrastFinding(
        criterion.name,
        measure,
        workers,
        len(pairs),
        mean([own for _, own in pairs]),
        mean([null for null, _ in pairs]),
        found,
        found.p,
        found.p_opposite,
    )


def _value(result: SeasonResult, measure: str, criterion: Contrast) -> Value:
    if not criterion.is_change:
        return result.run[measure]
    first, second = result.halves_whole[measure]
    return None if first is None or second is None else second - first


def _pooled(
    criterion: Contrast,
    workers: int,
    ours: Sequence[SeasonResult],
    theirs: Sequence[SeasonResult],
) -> ContrastFinding:
    """The stability of ranks, pooled over seasons; p by a bootstrap over pairs of seasons."""
    one, other = (_resampled(seasons, workers) for seasons in (ours, theirs))
    differences = [
        a - b for a, b in zip(one, other, strict=True) if a is not None and b is not None
    ]
    p, p_opposite = None, None
    if differences:
        # A bootstrap over few pairs overstates the evidence; a sign test bounds p from below.
        least = smallest_p(len(ours))
        p = max(least, (1 + sum(d <= 0 for d in differences)) / (1 + len(differences)))
        p_opposite = max(least, (1 + sum(d >= 0 for d in differences)) / (1 + len(differences)))
    return ContrastFinding(
        criterion.name, STABILITY, workers, len(ours), pooled(ours), pooled(theirs), None, p,
        p_opposite, protocol_interval=_bounds(one, len(ours)),
        null_interval=_bounds(other, len(ours)),
    )  # fmt: skip


def _resampled(seasons: Sequence[SeasonResult], workers: int) -> list[Value]:
    """The pooled stability of resamples of seasons, the same choices for as many seasons."""
    draws = Draws("bootstrap", workers)
    chosen = ([draws.below(len(seasons)) for _ in seasons] for _ in range(RESAMPLES))
    return [pooled([seasons[index] for index in indices]) for indices in chosen]


def _bounds(resampled: Sequence[Value], seasons: int) -> Bounds | None:
    """The 95% interval of a bootstrap, by percentiles of the defined values; None without any, and
    for fewer seasons than SEASONS_MIN.
    """
    defined = sorted(value for value in resampled if value is not None)
    if seasons < SEASONS_MIN or not defined:
        return None
    cut = round(len(defined) * (1 - CONFIDENCE) / 2)
    return defined[cut], defined[-cut - 1]


@attrs.frozen
class Stability:
    """The stability of ranks of a cell, pooled over its `seasons`, and its 95% interval by a
    bootstrap over seasons; None for fewer than SEASONS_MIN.
    """

    cell: Cell
    seasons: int
    stability: Value
    interval: Bounds | None


def stabilities(results: SeasonResults) -> list[Stability]:
    """The stability of ranks of each cell."""
    found = []
    for cell, seasons in results.by_cell.items():
        known = len(seasons) >= SEASONS_MIN
        resampled = _resampled(seasons, results.config(cell).workers) if known else ()
        bounds = _bounds(resampled, len(seasons))
        found.append(Stability(cell, len(seasons), pooled(seasons), bounds))
    return found


def format_pooled(value: Value, bounds: Bounds | None) -> str:
    """A pooled value with its interval; a dash without one: alone, it would mislead."""
    return NONE if bounds is None else within_bounds(value, *bounds)


def pooled(seasons: Sequence[SeasonResult]) -> Value:
    """The stability of ranks pooled over several seasons; see measures.stability."""
    return stability(pair for season in seasons for pair in season.own.halves_of.values())


@attrs.frozen
class Control:
    """The positive control of a cell with one silent worker: in how many of its `seasons` that
    worker has the lowest mean total of the first roster (`last`).
    """

    cell: Cell
    seasons: int
    last: int


def controls(results: SeasonResults) -> list[Control]:
    """The positive control of each cell with one silent worker."""
    found = []
    for cell, runs in results.by_cell.items():
        if list(runs[0].policies).count(SILENT) == 1:
            silent = list(runs[0].policies).index(SILENT)
            last = sum(_is_last(run.own.totals, silent) for run in runs)
            found.append(Control(cell, len(runs), last))
    return found


def _is_last(totals: Sequence[Value], one: int) -> bool:
    others = [total for index, total in enumerate(totals) if index != one and total is not None]
    own = totals[one]
    return own is not None and all(own < other for other in others)


def summary_lines(results: SeasonResults) -> list[str]:
    """The verdicts as lines of text, each with its figures; without any, what they need."""
    nulls = {one.name: one.null for one in CRITERIA}
    found, lines = verdicts(results), []
    if not found:
        return [f"no verdicts: {needs(results)}"]
    for one in found:
        lines.append(f"{one.criterion}: {one.verdict}{f' ({one.note})' if one.note else ''}")
        lines += [f"  {_figures(finding, nulls[one.criterion])}" for finding in one.findings]
    return lines


def needs(results: SeasonResults) -> str:
    """A sentence on the seasons that a study without verdicts lacks."""
    there = {(cell.treatment, cell.roster) for cell in results.by_cell}
    names = (BASELINE, with_more(BASELINE))
    others = [one.treatment for one in CRITERIA if one.treatment != BASELINE]
    compared = (
        f"a verdict compares seasons of the treatment {BASELINE} and the roster {SCRIPTED} with "
        "seasons of a null that have the same seeds"
    )
    if not any((name, SCRIPTED) in there for name in names):
        return f"{compared}; add `--treatment {BASELINE} --roster {SCRIPTED}`"
    return (
        f"{compared}; add a treatment of {', '.join(others)} to `--roster {SCRIPTED}`, or add "
        f"`--roster {RANDOM}`"
    )


def values_of(finding: ContrastFinding) -> tuple[str, str]:
    """The value of the protocol and that of its null, as text."""
    if finding.change is not None:
        return number(finding.protocol), number(finding.null)
    return (
        format_pooled(finding.protocol, finding.protocol_interval),
        format_pooled(finding.null, finding.null_interval),
    )


def _figures(finding: ContrastFinding, null: str) -> str:
    found = finding.change
    values = f"{' against '.join(values_of(finding))} ({null})"
    if found is None and finding.seeds < SEASONS_MIN:
        values = f"no interval with fewer than {SEASONS_MIN} seasons, so no value"
    more = "" if found is None else f", more in {found.right} of {finding.seeds} seasons"
    return f"{finding.measure}, {finding.workers} workers: {values}{more}, p {p_value(finding.p)}"


def answers(results: SeasonResults) -> dict[str, Any]:
    """The verdicts and the control for JSON."""
    return {
        "protocol": [attrs.asdict(verdict) for verdict in verdicts(results)],
        "control": [attrs.asdict(control) for control in controls(results)],
        "stability": [
            {**attrs.asdict(one.cell), STABILITY: one.stability, "interval": one.interval}
            for one in stabilities(results)
        ],
    }


def _config(settings: Mapping[str, Any]) -> SeasonConfig:
    """The configuration with these settings. Raises BadInput."""
    try:
        return configured(settings)
    except NoProgram as error:
        raise BadInput(
            f"{error.what}, and studies take none",
            "play its seasons one by one: goldrush season --test PROGRAM",
        ) from None


def _seats(roster: str | None, agents: int | None) -> Sequence[str]:
    """The policy of each worker."""
    text = None if roster in (None, MIXED) else roster
    default: int = attrs.fields_dict(SeasonConfig)["workers"].default  # type: ignore[assignment]
    workers = default if agents is None else agents
    cast = cast_of(workers, text.split(",") if text else ())
    return [seat.policy for seat in cast if seat.role == Role.WORKER]


STUDIES: Final = Studies(
    title="Does the protocol work?",
    config=_config,
    size="workers",
    seats=_seats,
    baselines=(SCRIPTED, RANDOM),
    kept=Kept(kept, packed, unpacked, lambda config: config.arena.name in NAMES),
    answers=answers,
    summary=summary_lines,
    curves=[name for name, measure in MEASURES.items() if measure.by_unit],
    compared=SHOWN,
)
