"""The report of a study, computed from its journals alone: one page of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from goldrush.kernel.errors import BadInput
from goldrush.kernel.files import check_target, write_whole
from goldrush.replay.arguments import OnStep
from goldrush.replay.extras import require
from goldrush.replay.report.figure import check_paper, write_figures
from goldrush.replay.report.page import StudyPage, is_html
from goldrush.replay.report.reported import ReportedStudy, StudyQuestion, study_of
from goldrush.replay.report.tables import check_tables, write_tables
from goldrush.replay.study.manifest import read_manifest
from goldrush.replay.study.measuring import results_of
from goldrush.replay.study.plan import studied

if TYPE_CHECKING:
    from goldrush.replay.data.user_functions import UserMeasure

NAME: Final = "report.html"


@attrs.frozen
class Reported:
    """A written report: what it says, its page, and the names of figures and tables that were
    written into folders of their own.
    """

    study: ReportedStudy
    path: Path
    figures: Sequence[str]
    tables: Sequence[str]


def report(
    folder: str | Path,
    out: str | Path | None = None,
    *,
    jobs: int | None = None,
    force: bool = False,
    figures: str | Path | None = None,
    tables: str | Path | None = None,
    width: str | None = None,
    question: StudyQuestion | None = None,
    users: Sequence[UserMeasure] = (),
    on_step: OnStep = lambda what, done, every: None,
) -> Reported:
    """Write the report of a study. The same study and versions give the same bytes.

    Args:
        out: the report; None: `report.html` in the folder.
        force: replace another file that goldrush wrote, and earlier folders of figures.
        figures: also write every figure into this folder, for a paper: as PDF and PNG, with its
            data (CSV) and its caption (LaTeX).
        tables: also write every table into this folder, as CSV and LaTeX.
        width: of these figures: `single` or `double`, as for `Figure.save`.
        question: what it is asked; None: the outcome of the world.
        users: measures of the user, besides those of the world.

    Raises:
        BadInput: if the study cannot be reported on or the path not be written, and if scipy,
            Jinja, or matplotlib for `figures`, is not installed.
        WriteFailed: an earlier report is then still whole.
    """
    path = _target(folder, out, force=force)
    if figures is not None:
        check_paper(figures, width, force=force)
    elif width is not None:
        raise BadInput("a width was given without a folder of figures", "give the folder, too")
    if tables is not None:
        check_tables(tables, force=force)

    results = results_of(folder, jobs=jobs, on_run=partial(on_step, "measuring"), users=users)
    study = study_of(results, question)
    page, names = StudyPage(study), list[str]()
    if figures is not None:
        names = write_figures(
            list(page.figures.values()), figures, width=width, force=force, jobs=jobs,
            on_figure=partial(on_step, "drawing figures"),
        )  # fmt: skip
    of_tables = (
        [] if tables is None else write_tables(list(page.tables.values()), tables, force=force)
    )
    write_whole(str(path), page.html().encode(), force=force, is_own=is_html)
    return Reported(study, path, names, of_tables)


def _target(folder: str | Path, out: str | Path | None, *, force: bool) -> Path:
    """Where the page of a study goes. Raises BadInput for a folder without a study, and for a path
    that cannot be written.
    """
    require("scipy", "a report needs", "stats")
    studied(read_manifest(folder).world)  # first, for the error of a folder without a study
    path = Path(folder, NAME) if out is None else Path(out)
    # `out` itself, as a Path drops the slash of `page/`.
    check_target(str(path if out is None else out), force=force, is_own=is_html)
    return path
