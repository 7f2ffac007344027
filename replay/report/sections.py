"""The tables of a study that are common to all worlds, except those on verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final

from goldrush.kernel.grouping import grouped
from goldrush.kernel.text import format_count
from goldrush.replay.data.measures import AgentMeasure, Measure
from goldrush.replay.policies import agents_by_policy
from goldrush.replay.report.numbers import (
    MINUS,
    NONE,
    bounds,
    number,
    p_value,
    rounded,
    within_bounds,
)
from goldrush.replay.report.reported import ReportedStudy, defined
from goldrush.replay.report.tables import Content, Marked, ReportTable
from goldrush.replay.study.contrasts import (
    POLICIES,
    ROSTERS,
    TREATMENTS,
    WORDINGS,
    Worded,
    over_wordings,
    shares_of,
)
from goldrush.replay.study.inference import interval
from goldrush.replay.study.outcomes import Comparison, contrasted_in
from goldrush.replay.study.records import Cell
from goldrush.replay.study.results import AnyResult
from goldrush.replay.text import capitalized, cut_middle

COMPARED_MAX: Final = 60  # rows of a table of comparisons
SETTING_MAX: Final = 60  # characters of a setting
SOME: Final = 5  # runs that are named

DIFFERS, NOT_FOUND = "differs", "no difference found"
BEYOND, NOISE = "beyond noise", "not told from noise"
NO_NOISE: Final = "noise not measured: needs [sample=1]"
_PAIRED: Final = {
    TREATMENTS: "roster",
    ROSTERS: "treatment",
    POLICIES: "roster and treatment",
    WORDINGS: "model and treatment",
}


def standings_table(study: ReportedStudy) -> ReportTable:
    """The outcome by treatment, roster and policy."""
    rows: list[dict[str, Content]] = []
    for standing in study.answer.standings:
        cell, policies = standing.cell, study.results.by_cell[standing.cell][0].policies
        agents = policies.count(standing.policy) if standing.policy else len(policies)
        policy = standing.policy or "all agents"
        rows.append(
            {
                **study.of_cell(cell), "policy": policy if study.is_played else "",
                "agents": str(agents or ""), "seeds": f"{standing.values.n}",
                "mean ± 95%": bounds(standing.values),
            }
        )  # fmt: skip
    by = "treatment, roster and policy" if study.is_played else "treatment"
    return ReportTable.of("outcome", f"{capitalized(study.answer.outcome.title)} by {by}.", rows)


def comparison_tables(study: ReportedStudy) -> Iterator[ReportTable]:
    """All comparisons of the outcome, by kind."""
    for kind, compared in study.answer.comparisons.items():
        shown, more = compared, ""
        if len(compared) > COMPARED_MAX:
            shown = sorted(compared, key=lambda each: 2.0 if each.p is None else each.p)
            shown = shown[:COMPARED_MAX]
            more = f" Those with the smallest p of {len(compared):,}; --json gives all."
        caption = f"{capitalized(kind)} compared in {study.answer.outcome.title}.{more}"
        yield ReportTable.of(kind, caption, [_compared(study, each) for each in shown])


def _compared(study: ReportedStudy, comparison: Comparison) -> dict[str, Content]:
    change = comparison.change
    data = "" if change.n == change.seeds else f" ({change.n} of {change.seeds})"
    return {
        _PAIRED[comparison.kind]: comparison.where, **study.if_several(comparison.rounds),
        f"b {MINUS} a": f"{comparison.b} {MINUS} {comparison.a}",
        "seeds": f"{change.n}{data}",
        "mean of a": rounded(change.first), "mean of b": rounded(change.second),
        "difference ± 95%": bounds(change.difference),
        "p": p_value(comparison.p), "Holm": p_value(comparison.holm),
        "effect": within_bounds(change.effect, change.effect_low, change.effect_high),
        "noise": number(comparison.floor, 2) if comparison.kind == WORDINGS else "",
        "detectable": number(comparison.detectable, 2),
        **study.failed(*comparison.cells),
        "result": Marked(_result(comparison)),
    }  # fmt: skip


def _result(comparison: Comparison) -> str:
    if comparison.kind != WORDINGS:
        return DIFFERS if comparison.differs else NOT_FOUND
    if comparison.floor is None:
        return NO_NOISE
    return NOISE if comparison.is_noise else BEYOND


def wording_tables(study: ReportedStudy) -> list[ReportTable]:
    """What models do under all their wordings: verdicts, and the shares of the variance."""
    subjects, outcome = contrasted_in(study.results).subjects, study.answer.outcome
    rows: list[dict[str, Content]] = []
    worded = [cell for cell in study.cells if subjects[cell].wording]
    alike = grouped(worded, lambda cell: (subjects[cell].name, cell.treatment, cell.rounds))
    for (model, treatment, rounds), cells in alike.items():
        seeds = {run.seed for run in study.results.by_cell[cells[0]]}
        values = {}
        for cell in cells:
            of_seed = {run.seed: outcome.of_run(run) for run in study.results.by_cell[cell]}
            values[subjects[cell].wording] = {s: v for s, v in of_seed.items() if v is not None}
            seeds &= values[subjects[cell].wording].keys()
        shares = shares_of({name: [of[s] for s in seeds] for name, of in values.items()})
        if shares is None:
            continue
        seed, wording, sample, rest = (None if s is None else f"{s:.0%}" for s in shares)
        rows.append({
            "model": model, "treatment": treatment, **study.if_several(rounds),
            "seed": seed or "", "wording": wording or "",
            "sample": sample or "not measured: needs [sample=1]",
            "wording under some seeds": rest or "", "decision": "not measured: needs reask",
            **study.failed(*cells),
        })  # fmt: skip
    caption = (
        f"The variance of {outcome.title} over runs by source, as shares of the sum; of wordings "
        "without controls."
    )
    judged = ReportTable.of("model-verdicts", "Verdicts by model.", [*_by_model(study, subjects)])
    return [judged, ReportTable.of("variance", caption, rows)]


def _by_model(
    study: ReportedStudy, subjects: Mapping[Cell, Worded]
) -> Iterator[dict[str, Content]]:
    """A row for each claim that was tested of a model under its wordings: of chosen contrasts of
    treatments that b is higher than a, and the criteria of the world.
    """
    compared = study.answer.comparisons.get(TREATMENTS, ()) if study.answer.contrasts else ()
    claims = [(f"{each.b} > {each.a}", each.cells[0], each.outcome) for each in compared]
    if study.judges:
        claims += [
            (f"{each.criterion}: {each.treatments}", each.cells[0], each.verdict)
            for each in study.assessment.verdicts
        ]
    for (model, claim, rounds), members in grouped(
        [each for each in claims if subjects[each[1]].wording],
        lambda each: (subjects[each[1]].name, each[0], each[1].rounds),
    ).items():
        outcomes = {subjects[cell].wording: outcome for _, cell, outcome in members}
        told = ", ".join(f"{wording}: {outcome}" for wording, outcome in outcomes.items())
        verdict = Marked(over_wordings(outcomes), told)
        yield {"model": model, "claim": claim, **study.if_several(rounds), "verdict": verdict}


def rosters(study: ReportedStudy) -> list[str]:
    """Who plays in each roster that is no policy of that name: "mixed (4 mine, 6 raid)"."""
    played: dict[str, dict[str, None]] = {}
    for cell, runs in study.results.by_cell.items():
        agents = agents_by_policy(runs[0].policies)
        if agents and [*agents] != [cell.roster]:
            text = ", ".join(f"{len(numbers)} {policy}" for policy, numbers in agents.items())
            played.setdefault(cell.roster, {})[text] = None
    return [f"{roster} ({' or '.join(texts)})" for roster, texts in played.items()]


def treatments(study: ReportedStudy) -> Iterator[tuple[str, str, ReportTable]]:
    """Each treatment and horizon: its heading, its settings as text, the means of its cells. Cells
    that are identical to the baseline by construction are left out.
    """
    groups = grouped(study.cells, attrgetter("treatment", "rounds"))
    for at, ((treatment, rounds), cells) in enumerate(groups.items(), 1):
        covariates = dict.fromkeys(it for cell in cells for it in study.covariate(cell).values())
        covariate = [f"{study.of.studies.covariate} {' or '.join(covariates)}"] * bool(covariates)
        title = ", ".join([f"Treatment {treatment}", study.horizon(rounds), *covariate])
        table = ReportTable(
            f"means-{at}", ["measure", *(cell.roster or "mean" for cell in cells)],
            [
                [measure.title, *(_mean(study.results.by_cell[cell], name) for cell in cells)]
                for name, measure in study.results.measures.known.items()
            ]
            + [[name, *(study.failed(cell)[name] for cell in cells)] for name in study.failed()],
            f"Values of whole runs. {title}: mean ± half the 95% interval over seeds; in brackets "
            "the number of seeds with a value, if not all have one.",
        )  # fmt: skip
        yield title, _settings(study, cells[0]), table


def _settings(study: ReportedStudy, cell: Cell) -> str:
    """A treatment as text: its description, and its settings; of others than the first one those
    that differ from it under the same horizon, if it has that one.
    """
    known, first = study.of.treatments.get(cell.treatment), study.cells[0]
    if cell.treatment != first.treatment:
        alike = (it for it in study.cells if it.rounds == cell.rounds)
        first = next((it for it in alike if it.treatment == first.treatment), first)
    says = f"{capitalized(known.description)}. " if known and known.description else ""
    same = {} if cell == first else study.results.settings(first)
    settings = [
        f"{name.replace('_', ' ')} {cut_middle(str(value), SETTING_MAX, ' ... ')}"
        for name, value in study.results.settings(cell).items()
        if value != same.get(name)
    ]
    if same:
        of = f" of {study.horizon(first.rounds)}" if len(study.results.horizons) > 1 else ""
        settings.append(f"{'all else ' if settings else ''}as in {first.treatment}{of}")
    return f"{says}Settings: {', '.join(settings)}."


def _mean(runs: Sequence[AnyResult], name: str) -> str:
    draws = [run.draw for run in runs]
    mean, every = interval([run.run[name] for run in runs], draws), len(set(draws))
    text = bounds(mean)
    return text if mean.n in (0, every) else f"{text} ({mean.n} of {every})"


def measure_tables(study: ReportedStudy) -> list[ReportTable]:
    """The measures with their definitions, and the code of those of the user."""
    known = study.results.measures
    measures: list[AgentMeasure | Measure] = [*known.of_agents.values(), *known.known.values()]
    rows = [{"measure": each.title, "definition": defined(each) or NONE} for each in measures]
    own = [
        {"measure": user.name, "function": user.typed(),
         "SHA-256 of the file": user.sha256 or "not known"}
        for user in study.results.users
    ]  # fmt: skip
    caption = "Measures of the author of this report, computed when it was made."
    return [
        ReportTable.of("measures", "The measures and their definitions.", rows),
        ReportTable.of("own-measures", caption, own),
    ]


def stopped(study: ReportedStudy) -> list[str]:
    """Runs that ended before their horizon, each with its last unit."""
    return [
        f"{run.path} ({study.of.vocabulary.number(run.units)})"
        for run in study.results.runs
        if run.units < run.cell.rounds
    ]


def excluded(study: ReportedStudy) -> list[str]:
    """Runs without a value of the outcome, which count in nothing that is said of it."""
    return [run.path for run in study.results.runs if study.answer.outcome.of_run(run) is None]


def some(names: Sequence[str], what: str) -> str:
    """How many names, and the first of them: "7 runs: a, b, ... and 2 more"."""
    more = [f"and {len(names) - SOME:,} more"] if len(names) > SOME else []
    return f"{format_count(len(names), what)}: {', '.join([*names[:SOME], *more])}"
