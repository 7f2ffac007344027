"""The report of a study: one page, worked out from its journals alone, in HTML or Markdown."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import attrs

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.files import (
    IsOwn,
    NewFolder,
    Unfinished,
    check_target,
    existing,
    format_reason,
    write_whole,
)
from goldrush.replay.extras import require
from goldrush.replay.report.html import as_html, is_html
from goldrush.replay.report.markdown import as_markdown, is_markdown
from goldrush.replay.report.models import hardly_played
from goldrush.replay.report.pages import Pages, write_pages
from goldrush.replay.studies import Studied, studied
from goldrush.replay.study.manifest import read_manifest
from goldrush.replay.study.results import results_of
from goldrush.replay.study.verdicts import Verdict

HTML, MARKDOWN = FORMATS = ("html", "md")
NAME: Final = "report"
PAGES: Final = (".html", ".htm", ".md", ".markdown")  # what a report may be written over
FIGURES_SUFFIX: Final = "-figures"  # behind the name of a page in Markdown: the folder beside it

# Told what is under way, how much of it is done, and of how much.
OnStep = Callable[[str, int, int], None]


@attrs.frozen
class Reported:
    """A report that is written: the world `of` its study, its `path`, the `verdicts` that stand in
    front of it, a line for each model that `hardly_played`, what the world `says` (Studies), and
    the `pages` of its runs, if they were to be written.
    """

    of: Studied
    path: Path
    verdicts: Sequence[Verdict]
    hardly_played: Sequence[str]
    says: Sequence[str] = ()
    pages: Pages | None = None


def report(
    folder: str | Path,
    out: str | Path | None = None,
    format: str = HTML,
    *,
    jobs: int | None = None,
    force: bool = False,
    pages: bool = False,
    on_step: OnStep | None = None,
) -> Reported:
    """Write the report of the study in `folder`.

    `out`: where (default: `report.html` or `report.md` in the folder). An earlier report is
    replaced, another page only with `force`. Figures of a page in Markdown go into a folder beside
    it, which has its name and `-figures`; those of an earlier report go, others only with `force`.
    `pages`: with the page of each run in a folder `pages` beside it (see write_pages), to which
    points of figures and outlier seeds lead. `jobs` processes measure, and write these. The same
    study gives the same bytes.

    Raises BadInput for a study that cannot be reported on, for a place that cannot be written, and
    without scipy and Jinja; WriteFailed where the system refuses: what was there before is whole
    then, but for Markdown, whose page gets its name before its figures get theirs: a new page may
    stand beside the figures of before, or none, and the same call writes them.
    """
    require("scipy", "a report needs", "stats")
    path = Path(out) if out is not None else Path(folder, f"{NAME}.{format}")
    of = studied(read_manifest(folder).world)  # without a study there is no place to speak of
    is_own = is_html if format == HTML else partial(is_markdown, of.studies.title)
    # As it was given: a Path does not tell `page/` from `page`.
    _check_page(path if out is None else out, force, is_own)
    beside = path.with_name(f"{path.stem}{FIGURES_SUFFIX}") if format == MARKDOWN else None
    replace = force or path.exists()
    if beside is not None:
        _check_figures(beside, replace)

    def tell(what: str) -> Callable[[int, int], None] | None:
        return None if on_step is None else lambda done, every: on_step(what, done, every)

    results = results_of(folder, jobs=jobs, on_run=tell("measuring"))
    from goldrush.replay.report.contents import page_of  # which takes scipy
    from goldrush.replay.report.sections import study_of

    of_runs = None
    if pages:
        of_runs = write_pages(results, path, jobs=jobs, force=force, on_page=tell("writing pages"))
    study = study_of(results, of_runs.hrefs if of_runs else None)
    blocks = page_of(study)
    if beside is None:
        write_whole(str(path), as_html(blocks).encode(), force=force, is_own=is_own)
    else:
        text, figures = as_markdown(blocks, beside.name)
        with (
            Unfinished(str(path), force=force, is_own=is_own) as page,
            NewFolder(str(beside)) as new,
        ):
            page.write(text.encode())
            for name, svg in figures.items():
                new.add(name, svg.encode())
            _check_figures(beside, replace)
            page.publish()  # first, for a page that is there lets its figures be replaced
            new.publish(replace=True)
    judged, own = study.assessment.verdicts(), of.studies.summary(results)
    return Reported(of, path, judged, hardly_played(results), own, of_runs)


def _check_page(path: str | Path, force: bool, is_own: IsOwn) -> None:
    """Raises BadInput for a place where no page can be written."""
    is_there = check_target(str(path), force=force, is_own=is_own)
    if is_there and Path(path).suffix.lower() not in PAGES:  # a study's manifest, say
        raise BadInput(f"{path} is no page", f"give --out a file that ends in {' or '.join(PAGES)}")


def _check_figures(folder: Path, replace: bool) -> None:
    """Raises BadInput where something else than figures would go with those of an earlier page."""
    if not os.path.lexists(folder):
        return
    if not stat.S_ISDIR(os.lstat(folder).st_mode):
        raise BadInput(f"{folder} is not a folder", "give another --out")
    try:
        for name in sorted(os.listdir(folder)):
            mode = os.lstat(folder / name).st_mode
            if not name.endswith(".svg") or not stat.S_ISREG(mode):
                raise BadInput(
                    f"{folder} holds {format_value(name)}, no figure", "give another --out"
                )
    except OSError as error:
        raise BadInput(
            f"cannot read {folder}: {format_reason(error)}", "give another --out"
        ) from None
    if not replace:
        raise existing(str(folder))
