"""The report of a study, computed from its journals alone: one page in HTML or Markdown, with pages
of all runs if wanted, or plain values (`goldrush report --json`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.files import (
    NewFolder,
    Unfinished,
    check_target,
    write_whole,
)
from goldrush.replay.arguments import OnStep
from goldrush.replay.data.user_measures import UserMeasure
from goldrush.replay.extras import require
from goldrush.replay.report.answer import Answer, answer_of
from goldrush.replay.report.failures import hardly_played
from goldrush.replay.report.figure import SVG, check_figures, check_paper, figures_in, write_figures
from goldrush.replay.report.html import as_html, is_html
from goldrush.replay.report.markdown import as_markdown, is_markdown
from goldrush.replay.report.page import Block
from goldrush.replay.report.question import Question
from goldrush.replay.study.comparisons import against_baseline
from goldrush.replay.study.judging import SizeVerdict
from goldrush.replay.study.manifest import read_manifest
from goldrush.replay.study.measuring import results_of
from goldrush.replay.study.outcomes import Comparison
from goldrush.replay.study.plan import studied
from goldrush.replay.study.records import Cell
from goldrush.replay.study.results import Results, cell_as_dict
from goldrush.replay.study.verdicts import Assessment, Verdicts
from goldrush.replay.tools import Tools
from goldrush.replay.view.pages import Pages, write_pages

HTML, MARKDOWN = FORMATS = ("html", "md")
NAME: Final = "report"
FIGURES_SUFFIX: Final = "-figures"  # of the folder of figures of a page in Markdown


@attrs.frozen
class Reported:
    """A written report.

    Attributes:
        sentences: the answer: what was compared, who has the most, and what differs.
        verdicts, summary: those on the criteria, and the world's own lines on them; None: nobody
            asked.
        hardly_played: a line for each such model.
        figures: the names of those written into a folder of their own.
    """

    of: Tools
    path: Path
    sentences: Sequence[str]
    verdicts: Verdicts | None
    hardly_played: Sequence[str]
    summary: Sequence[str] = ()
    pages: Pages | None = None
    figures: Sequence[str] = ()


def report(
    folder: str | Path,
    out: str | Path | None = None,
    format: str = HTML,
    *,
    jobs: int | None = None,
    force: bool = False,
    pages: bool = False,
    figures: str | Path | None = None,
    width: str | None = None,
    question: Question | None = None,
    users: Sequence[UserMeasure] = (),
    on_step: OnStep | None = None,
) -> Reported:
    """Write the report of a study. The same study and versions give the same bytes.

    Figures of a page in Markdown are written to a folder next to it, with the page's name and
    `-figures`.

    Args:
        out: the report; None: `report.html` or `report.md` in the folder.
        force: replace another file that goldrush wrote, and earlier folders of figures.
        pages: also write the page of each run (replay.view.pages), linked from points of figures
            and outlier seeds.
        figures: also write every figure into this folder, for a paper: as PDF, PNG and SVG, with
            its data (CSV) and its caption (text).
        width: of these figures: `single` or `double`, as for `Figure.save`.
        question: what it is asked; None: the outcome of the world.
        users: measures of the user, besides those of the world.

    Raises:
        BadInput: if the study cannot be reported on or the path not be written, and if scipy,
            Jinja, or matplotlib for `figures`, is not installed.
        WriteFailed: an earlier report is then still whole, except that a new page in Markdown may
            have the earlier figures, or none.
    """
    if format not in (HTML, MARKDOWN):
        raise BadInput(
            f"there is no format {format_value(str(format))}", f"give {HTML} or {MARKDOWN}"
        )
    require("scipy", "a report needs", "stats")
    path = Path(out) if out is not None else Path(folder, f"{NAME}.{format}")
    of = studied(read_manifest(folder).world)  # first, for the error of a folder without a study
    is_own = is_html if format == HTML else is_markdown
    # `out` itself, as a Path drops the slash of `page/`.
    check_target(str(path if out is None else out), force=force, is_own=is_own)
    beside = path.with_name(f"{path.stem}{FIGURES_SUFFIX}") if format == MARKDOWN else None
    replace = force or path.exists()
    if beside is not None:
        check_figures(beside, (SVG,), replace=replace)
    if figures is not None:
        check_paper(figures, width, force=force)
    elif width is not None:
        raise BadInput("a width was given without a folder of figures", "give the folder, too")

    def tell(what: str) -> Callable[[int, int], None] | None:
        return None if on_step is None else lambda done, every: on_step(what, done, every)

    results = results_of(folder, jobs=jobs, on_run=tell("measuring"), users=users)
    from goldrush.replay.report.contents import page_of  # which takes scipy
    from goldrush.replay.report.sections import study_of

    study = study_of(results, question=question)
    of_runs = None
    if pages:
        journals = [run.path for run in results.manifest.runs]
        of_runs = write_pages(
            folder, journals, path.parent, jobs=jobs, force=force, on_page=tell("writing pages")
        )
        study = attrs.evolve(study, hrefs=_hrefs(results, of_runs))
    blocks = page_of(study)
    drawn = figures_in(blocks) if figures is not None else []
    if figures is not None:
        write_figures(
            drawn, figures, width=width, force=force, jobs=jobs, on_figure=tell("drawing figures")
        )
    if beside is None:
        write_whole(str(path), as_html(blocks).encode(), force=force, is_own=is_own)
    else:
        _write_markdown(blocks, path, beside, force, replace)
    has_criteria = study.question.criteria
    return Reported(
        of, path, study.answer.sentences, study.assessment.verdicts() if has_criteria else None,
        hardly_played(results), of.studies.summary(results) if has_criteria else (), of_runs,
        [figure.name for figure in drawn],
    )  # fmt: skip


def _write_markdown(
    blocks: Sequence[Block], path: Path, beside: Path, force: bool, replace: bool
) -> None:
    text, figures = as_markdown(blocks, beside.name)
    with (
        Unfinished(str(path), force=force, is_own=is_markdown) as page,
        NewFolder(str(beside)) as new,
    ):
        page.write(text.encode())
        for name, svg in figures.items():
            new.add(name, svg.encode())
        check_figures(beside, (SVG,), replace=replace)
        page.publish()  # first, as an existing page allows its figures to be replaced
        new.publish(replace=True)


def _hrefs(results: Results[Any, Any], pages: Pages) -> dict[tuple[Cell, int], str]:
    """The addresses of pages of runs by cell and seed."""
    return {
        (cell, result.seed): pages.hrefs[result.path]
        for cell, runs in results.by_cell.items()
        for result in runs
    }


def answers(results: Results[Any, Any], question: Question | None = None) -> dict[str, Any]:
    """The answer, the outcome by cell, policy and agent, all comparisons, comparisons of the other
    measures with the baseline, failed answers of models, and the world's own results; with
    `Question.criteria` verdicts and findings by cell (also without a burn-in). Undefined values are
    None. Raises BadInput as `answer_of`.
    """
    question = question or Question()
    answer = answer_of(results, question.outcome)
    return {
        "folder": results.folder,
        "runs": sum(map(len, results.by_cell.values())),
        "answer": list(answer.sentences),
        "outcome": _outcome(answer),
        "comparisons": {
            kind: [_comparison(one) for one in compared]
            for kind, compared in answer.comparisons.items()
        },
        "hardly_played": hardly_played(results),
        "models": [
            {
                **cell_as_dict(results, cell),
                **attrs.asdict(one),
                "hardly_played": one.hardly_played,
            }
            for cell in results.by_cell
            for one in results.failures(cell)
        ],
        **(_criteria(results) if question.criteria else {}),
        "against_baseline": [
            {
                **cell_as_dict(results, one.cell),
                "identical_by_construction": one.identical,
                "differences": {k: attrs.asdict(v) for k, v in one.differences.items()},
            }
            for one in against_baseline(results)
        ],
        **results.of.studies.answers(results),
    }


def _outcome(answer: Answer) -> dict[str, Any]:
    outcome = answer.outcome
    return {
        **attrs.asdict(outcome),
        "standings": [
            {**cell_as_dict(answer.results, one.cell), "policy": one.policy or None,
             **attrs.asdict(one.values)}
            for one in answer.standings
        ],
        "runs": [
            {**attrs.asdict(cell), "seed": run.seed, "value": outcome.of_run(run),
             "agents": list(outcome.of_agents(run))}
            for cell, runs in answer.results.by_cell.items()
            for run in runs
        ],
        "measures": [
            {"name": user.name, "function": user.typed(), "sha256": user.sha256}
            for user in answer.results.users
        ],
    }  # fmt: skip


def _comparison(one: Comparison) -> dict[str, Any]:
    """A comparison with its change, whose one-sided tests stay out: they have no correction."""
    change = attrs.asdict(one.change, filter=lambda field, _: field.name not in _ONE_SIDED)
    fields = attrs.asdict(one, recurse=False)
    del fields["cells"]
    return {**fields, "change": change, "differs": one.differs}


_ONE_SIDED: Final = ("expected", "p", "p_opposite")


def _criteria(results: Results[Any, Any]) -> dict[str, Any]:
    """Verdicts, and findings by cell."""
    assessment = Assessment(results)
    whole = Assessment(results, burn_in=False)
    return {
        "verdicts": [
            {
                "criterion": verdict.criterion,
                "roster": verdict.roster,
                "rounds": verdict.rounds,
                "treatments": [cell.treatment for cell in verdict.cells],
                "verdict": verdict.verdict,
                "note": verdict.note,
            }
            for verdict in assessment.verdicts()
        ],
        "cells": [
            {
                **cell_as_dict(results, cell),
                "criteria": [_judged(one) for one in assessment.judged(cell)],
                "criteria_without_burn_in": [_judged(one) for one in whole.judged(cell)],
            }
            for cell in results.by_cell
        ],
    }


def _judged(judged: SizeVerdict) -> dict[str, Any]:
    return {
        "criterion": judged.criterion,
        "outcome": judged.outcome,
        "note": judged.note,
        "findings": [attrs.asdict(finding) for finding in judged.findings],
    }
