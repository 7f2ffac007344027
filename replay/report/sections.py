"""The tables of a study that are common to all worlds, except those on verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Final

from goldrush.kernel.grouping import grouped
from goldrush.replay.asked.tables import noise_beside
from goldrush.replay.data.measures import AgentMeasure, Measure
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
    SHARES,
    TREATMENTS,
    WORDINGS,
    over_wordings,
    shares_of,
)
from goldrush.replay.study.inference import interval
from goldrush.replay.study.outcomes import Comparison
from goldrush.replay.study.records import Cell
from goldrush.replay.study.results import AnyResult
from goldrush.replay.text import capitalized

_SOURCES: Final = (*SHARES, "decision")
COMPARED_MAX: Final = 60  # rows of a table of comparisons

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
    for standing in study.standings:
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
    return ReportTable.of("outcome", f"{capitalized(study.outcome.title)} by {by}.", rows)


def comparison_tables(study: ReportedStudy) -> Iterator[ReportTable]:
    """All comparisons of the outcome, by kind."""
    for kind, compared in study.comparisons.items():
        shown, more = compared, ""
        if len(compared) > COMPARED_MAX:
            shown = sorted(compared, key=lambda each: 2.0 if each.p is None else each.p)
            shown = shown[:COMPARED_MAX]
            more = f" Those with the smallest p of {len(compared):,}; --json gives all."
        caption = f"{capitalized(kind)} compared in {study.outcome.title}.{more}"
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
        "effect": within_bounds(change.effect),
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
    rows = [
        {
            "model": str(each["model"]), "treatment": cells[0].treatment,
            **study.if_several(cells[0].rounds),
            **{n: "not measured" if (of := each[n]) is None else f"{of:.0%}" for n in _SOURCES},
            **study.failed(*cells),
        }
        for each, cells in variances(study)
    ]  # fmt: skip
    caption = (
        f"The variance of {study.outcome.title} over runs by source, as shares of the sum; of "
        "wordings without controls. Sample: measured by [sample=1]; rest: of a wording under some "
        "seeds. Decision: how often two answers to one differ, measured by reask."
    )
    judged = ReportTable.of("model-verdicts", "Verdicts by model.", [*_by_model(study)])
    return [judged, ReportTable.of("variance", caption, rows)]


def variances(study: ReportedStudy) -> Iterator[tuple[dict[str, object], Sequence[Cell]]]:
    """By model and treatment, with its cells: the shares of the variance (see `shares_of`), and how
    often two answers to a decision that was asked again differ. None: not measured.
    """
    results, subjects = study.results, study.results.subjects
    worded = [cell for cell in study.cells if subjects[cell].wording]
    alike = grouped(worded, lambda cell: (subjects[cell].name, cell.treatment, cell.rounds))
    for (model, treatment, rounds), cells in alike.items():
        runs = [(subjects[cell].wording, run) for cell in cells for run in results.by_cell[cell]]
        values: dict[str, dict[int, float]] = {wording: {} for wording, _ in runs}
        for wording, run in runs:
            if (value := study.outcome.of_run(run)) is not None:
                values[wording][run.seed] = value
        seeds = set.intersection(*map(set, values.values()))
        shares = shares_of({name: [of[s] for s in seeds] for name, of in values.items()})
        if shares is not None:
            of = {"model": model, "treatment": treatment, "rounds": rounds}
            noise = noise_beside(results.folder, {run.path: run.sha256 for _, run in runs})
            yield {**of, **dict(zip(SHARES, shares, strict=True)), "decision": noise}, cells


def _by_model(study: ReportedStudy) -> Iterator[dict[str, Content]]:
    """A row for each claim that was tested of a model under its wordings: of chosen contrasts of
    treatments that b is higher than a, and the criteria of the world.
    """
    compared = study.comparisons.get(TREATMENTS, ()) if study.contrasts else ()
    subjects = study.results.subjects
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


def treatments(study: ReportedStudy) -> Iterator[tuple[str, Cell, ReportTable]]:
    """Each treatment and horizon: its heading, a cell with its settings, the means of its cells.
    Cells that are identical to the baseline by construction are left out.
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
        yield title, cells[0], table


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
