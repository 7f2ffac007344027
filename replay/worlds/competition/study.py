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

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.agents.worlds.competition.arenas import NAMES, NoProgram
from goldrush.agents.worlds.competition.cast import (
    PLANTED,
    POLICIES,
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
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput
from goldrush.kernel.measures import Value, mean
from goldrush.kernel.treatments import BASELINE
from goldrush.kernel.worlds.competition.config import SeasonConfig
from goldrush.kernel.worlds.competition.terms import Role, Shown
from goldrush.replay.levelled import Settings
from goldrush.replay.report.page import NONE, number, p_value, within_bounds
from goldrush.replay.studies import MIXED, Kept, Studies
from goldrush.replay.study.inference import CONFIDENCE, PairedChange
from goldrush.replay.study.judging import (
    AS_EXPECTED,
    NO_CHANGE,
    NOT_SUPPORTED,
    OPPOSITE,
    UNDECIDED,
    Pairs,
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
    STABILITY,
    MeasuredSeason,
    stability,
)

SIZES: Final = (6, LARGE)
RESAMPLES: Final = 2_000

SEASONS_MIN: Final = 8  # with fewer, a bootstrap over seasons understates how much they vary


@attrs.frozen
class SeasonKept:
    """The part of a season's measures that a study keeps: the name of its arena, and `halves_of`
    and `first_totals` of `measures.MeasuredSeason`.
    """

    arena: str
    halves_of: Mapping[int, tuple[float, float]]
    totals: Sequence[Value]


SeasonResult = Result[SeasonConfig, SeasonKept]
SeasonResults = Results[SeasonConfig, SeasonKept]


def kept(measured: MeasuredSeason) -> SeasonKept:
    """The part of a measured season that reports need."""
    return SeasonKept(measured.config.arena.name, measured.halves_of, tuple(measured.first_totals))


def packed(own: SeasonKept) -> object:
    """The values as plain data, for the cache."""
    return own.arena, own.halves_of, own.totals


def unpacked(values: Any) -> SeasonKept:
    """The inverse of `packed`."""
    return SeasonKept(*values)


@attrs.frozen
class Contrast:
    """A criterion: a measure that is expected to be greater under the protocol than in its null.

    Attributes:
        name: its name.
        text: a sentence, without a capital letter and a full stop.
        measure: the name of the measure.
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
        """The name of the null."""
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


Bounds = tuple[float, float]


@attrs.frozen
class ContrastFinding:
    """The measure of a criterion at one size, over so many pairs of seasons (`seeds`): mean values
    under the protocol and its null, the change from null to protocol, its p-values in both
    directions after Holm's correction, and what the test shows (see judging.Finding).
    """

    criterion: str
    measure: str
    workers: int
    seeds: int
    protocol: Value
    null: Value
    change: PairedChange
    p: Value
    p_opposite: Value
    shows: str

    def as_dict(self) -> dict[str, object]:
        """The finding for JSON."""
        values = attrs.asdict(self)
        shows = values.pop("shows")
        return {**values, "right": shows == AS_EXPECTED, "wrong": shows == OPPOSITE}


@attrs.frozen
class ContrastVerdict:
    """The verdict on a criterion over both sizes; `note`: the reason if it is undecided."""

    criterion: str
    findings: Sequence[ContrastFinding]
    verdict: str
    note: str = ""


def verdicts(results: SeasonResults) -> list[ContrastVerdict]:
    """A verdict on each criterion for which the study has pairs of seasons of any size. Holm's
    correction covers all of them, at both sizes.
    """
    pairs = {
        (criterion, workers): found
        for criterion in CRITERIA
        for workers in SIZES
        if (found := _pairs(results, criterion, workers))
    }
    tests = tested({key: (key[0].measure, found, +1) for key, found in pairs.items()})
    judged: dict[Contrast, list[ContrastFinding]] = {}
    for (criterion, workers), test in tests.items():
        nulls, values = zip(*pairs[criterion, workers], strict=True)
        finding = ContrastFinding(
            criterion.name, test.measure, workers, test.change.seeds, mean(values), mean(nulls),
            test.change, test.holm, test.holm_opposite, test.shows,
        )  # fmt: skip
        judged.setdefault(criterion, []).append(finding)
    return [_verdict(results, *of) for of in judged.items()]


def _verdict(
    results: SeasonResults, criterion: Contrast, findings: Sequence[ContrastFinding]
) -> ContrastVerdict:
    def sizes(workers: Iterable[int]) -> str:
        return " and ".join(map(str, sorted(workers)))

    lacks = _control_lacks(results, findings) if criterion.needs_control else ""
    missing = set(SIZES) - {finding.workers for finding in findings}
    verdict, note = verdict_of(outcome_of([finding.shows]) for finding in findings), ""
    if lacks:
        verdict, note = UNDECIDED, lacks
    elif verdict == NOT_SUPPORTED:
        same = [finding.workers for finding in findings if finding.shows == NO_CHANGE]
        if same and all(finding.shows != OPPOSITE for finding in findings):
            note = f"no difference in any season with {sizes(same)} workers"
    elif missing:
        verdict, note = UNDECIDED, f"no seasons with {sizes(missing)} workers"
    elif verdict == UNDECIDED:
        unclear = [f"{f.measure}, {f.workers} workers" for f in findings if f.shows != AS_EXPECTED]
        note = f"not clear: {'; '.join(unclear)}"
    return ContrastVerdict(criterion.name, findings, verdict, note)


def _pairs(results: SeasonResults, criterion: Contrast, workers: int) -> Pairs:
    """The values of the null and of the protocol, by seed: of the shortest seasons that are judged
    and that both have.
    """
    name = criterion.measure
    ours = _by_length(results, criterion, sized(criterion.treatment, workers))
    if criterion.null is None:
        values = [run.run[name] for run in next(iter(ours.values()), ())]
        return [(None if value is None else 0.0, value) for value in values]
    theirs = _by_length(results, criterion, sized(criterion.null, workers))
    pairs = (by_seed(ours[length], theirs[length]) for length in ours if length in theirs)
    shortest = next(filter(None, pairs), [])
    return [(null.run[name], own.run[name]) for own, null in shortest]


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
    """The stability of ranks of each cell without elimination, which selects on both of the halves
    that are compared.
    """
    found = []
    for cell, seasons in results.by_cell.items():
        if results.config(cell).elimination:
            continue
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


STABLE_MIN: Final = 0.5  # the stability of ranks from which a planted difference counts as found
FOUND_SHARE: Final = 0.9  # of the seasons in which those who are better must have more


@attrs.frozen
class Planted:
    """The planted control of a cell: a roster of which the first half is scripted and the others
    act at random, without elimination.

    Attributes:
        seasons: their number.
        stability: the stability of ranks, pooled.
        ahead: the seasons in which the mean total of the scripted workers is above that of the
            others.
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
    """The planted control of each cell of that cast without elimination."""
    found = []
    for cell, runs in results.by_cell.items():
        if cell.roster == PLANTED and not results.config(cell).elimination:
            ahead = sum(map(_is_ahead, runs))
            found.append(Planted(cell, len(runs), pooled(runs), ahead))
    return found


def _is_ahead(run: SeasonResult) -> bool:
    """Whether the scripted workers of a season have a higher mean total than the others."""
    better, others = (
        mean([t for t, name in zip(run.own.totals, run.policies, strict=True) if name == policy])
        for policy in (SCRIPTED, RANDOM)
    )
    return better is not None and others is not None and better > others


def _control_lacks(results: SeasonResults, findings: Sequence[ContrastFinding]) -> str:
    """What is missing of the planted control at the sizes of these findings, or is not found."""
    controls = {control.cell.treatment: control for control in planted(results)}
    for finding in findings:
        treatment = sized(NO_ELIMINATION, finding.workers)
        control = controls.get(treatment)
        if control is None:
            return f"no seasons of the roster {PLANTED} under {treatment}"
        if not control.is_found:
            return f"the planted difference is not found with {finding.workers} workers"
    return ""


def summary_lines(results: SeasonResults) -> list[str]:
    """The verdicts as lines of text, each with its figures; without any, what they need."""
    nulls = {one.name: one.null_name for one in CRITERIA}
    found, lines = verdicts(results), []
    if not found:
        return [f"no verdicts: {needs(results)}"]
    for one in found:
        lines.append(f"{one.criterion}: {one.verdict}{f' ({one.note})' if one.note else ''}")
        lines += [f"  {_figures(finding, nulls[one.criterion])}" for finding in one.findings]
    return lines


def needs(results: SeasonResults) -> str:
    """A sentence on the seasons that a study without verdicts lacks."""
    pairs = [f"{one.treatment} with {one.null}" for one in CRITERIA if one.null is not None]
    return (
        f"a verdict compares seasons of the roster {SCRIPTED} under two treatments, with the same "
        f"seeds: {', '.join(pairs)} (the first from {CRITERIA[0].assignments} assignments on); add "
        f"them to `--roster {SCRIPTED}`"
    )


def values_of(finding: ContrastFinding) -> tuple[str, str]:
    """The value of the protocol and that of its null, as text."""
    return number(finding.protocol), number(finding.null)


def _figures(finding: ContrastFinding, null: str) -> str:
    values = f"{' against '.join(values_of(finding))} ({null})"
    more = f"more in {finding.change.right} of {finding.seeds} seasons"
    return f"{finding.measure}, {finding.workers} workers: {values}, {more}, p {p_value(finding.p)}"


def answers(results: SeasonResults) -> dict[str, object]:
    """The verdicts and the controls for JSON."""
    return {
        "protocol": [
            {
                "criterion": one.criterion,
                "findings": [finding.as_dict() for finding in one.findings],
                "verdict": one.verdict,
                "note": one.note,
            }
            for one in verdicts(results)
        ],
        "control": [attrs.asdict(control) for control in controls(results)],
        "planted": [{**attrs.asdict(one), "found": one.is_found} for one in planted(results)],
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


def _is_same(ours: Settings, theirs: Settings, policies: Sequence[str]) -> bool:
    """Whether two cells have the same seasons. Scripted workers do not read reasons, so it is
    nothing to them which ones they are shown.
    """

    def read(settings: Settings) -> Settings:
        if settings.get("shown") != Shown.NOISE or any(
            policy not in POLICIES for policy in policies
        ):
            return settings
        return {name: value for name, value in settings.items() if name != "shown"}

    return read(ours) == read(theirs)


STUDIES: Final = Studies(
    title="Does the protocol work?",
    config=_config,
    size="workers",
    seats=_seats,
    baselines=(SCRIPTED, RANDOM),
    same=_is_same,
    kept=Kept(kept, packed, unpacked, lambda config: config.arena.name in NAMES),
    answers=answers,
    summary=summary_lines,
    compared=[name for name, measure in MEASURES.items() if measure.column],
)
