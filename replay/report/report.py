"""The report of a study, computed from its journals alone: one page of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from goldrush.kernel.files import check_target, write_whole
from goldrush.replay.arguments import OnStep
from goldrush.replay.extras import require
from goldrush.replay.report.figure import check_paper, write_figures
from goldrush.replay.report.folder import check_folder
from goldrush.replay.report.page import StudyPage, is_html
from goldrush.replay.report.reported import study_of
from goldrush.replay.report.tables import TABLES, write_tables
from goldrush.replay.study.manifest import read_manifest
from goldrush.replay.study.measuring import results_of
from goldrush.replay.study.plan import studied

if TYPE_CHECKING:
    from goldrush.agents.llm.models import Models
    from goldrush.replay.data.user_functions import UserMeasure

NAME: Final = "report.html"


def report(
    folder: str | Path,
    out: str | Path | None = None,
    *,
    jobs: int | None = None,
    force: bool = False,
    figures: str | Path | None = None,
    tables: str | Path | None = None,
    outcome: str | None = None,
    criteria: bool = False,
    contrasts: Sequence[str] = (),
    users: Sequence[UserMeasure] = (),
    models: Models | None = None,
    names_hosts: bool = False,
    on_step: OnStep = lambda what, done, every: None,
) -> tuple[StudyPage, Path]:
    """Write the report of a study, and return it with its path. The same study and versions give
    the same bytes.

    Args:
        out: the report; None: `report.html` in the folder.
        force: replace another file that goldrush wrote, and earlier folders of figures.
        figures: also write every figure into this folder, for a paper: as PDF and PNG, with its
            data (CSV) and its caption (LaTeX).
        tables: also write every table into this folder, as CSV and LaTeX.
        outcome: the measure that is compared; None: that of the world.
        criteria: add change over time and the criteria of the world.
        contrasts: what is compared, `plain-default`; none: as planned, else all pairs.
        users: measures of the user, besides those of the world.
        models: how language models are reached, for their prices and, if `names_hosts`, hosts.

    Raises:
        BadInput: if the study cannot be reported on or the path not be written, and if scipy,
            Jinja, or matplotlib for `figures`, is not installed.
        WriteFailed: an earlier report is then still whole.
    """
    require("scipy", "a report needs", "stats")
    studied(read_manifest(folder).world)  # first, for the error of a folder without a study
    path = Path(folder, NAME) if out is None else Path(out)
    # `out` itself, as a Path drops the slash of `page/`.
    check_target(str(path if out is None else out), force=force, is_own=is_html)
    if figures is not None:
        check_paper(figures, force=force)
    if tables is not None:
        check_folder(tables, TABLES, force=force)

    results = results_of(folder, jobs=jobs, on_run=partial(on_step, "measuring"), users=users)
    reported = study_of(results, outcome, contrasts, criteria=criteria)
    reported = attrs.evolve(reported, models=models, names_hosts=names_hosts)
    page = StudyPage(reported)
    if figures is not None:
        write_figures(
            list(page.figures.values()), figures, force=force, jobs=jobs,
            on_figure=partial(on_step, "drawing figures"),
        )  # fmt: skip
    if tables is not None:
        write_tables(list(page.tables.values()), tables, force=force)
    write_whole(str(path), page.html().encode(), force=force, is_own=is_html)
    return page, path
