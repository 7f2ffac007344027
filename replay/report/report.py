"""The report of a study: one page, worked out from its journals alone, in HTML or Markdown."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import attrs

from kernel.errors import BadInput
from replay.report.drawing import drawn
from replay.report.html import as_html
from replay.report.markdown import as_markdown
from replay.report.models import hardly_played, models_section, warning
from replay.report.page import Block
from replay.report.sections import (
    Study,
    comparison_section,
    definitions,
    head,
    study_of,
    trade_off_section,
    treatment_sections,
)
from replay.report.theory import theory_section
from replay.report.verdicts import every_treatment, verdict_section
from replay.study.results import results_of
from replay.study.verdicts import Verdict

HTML, MARKDOWN = FORMATS = ("html", "md")
NAME: Final = "report"
PAGES: Final = (".html", ".htm", ".md", ".markdown")  # what a report may be written over
FIGURES_SUFFIX: Final = "-figures"  # behind the name of a page in Markdown: the folder beside it

# Told what is under way, how much of it is done, and of how much.
OnStep = Callable[[str, int, int], None]


@attrs.frozen
class Reported:
    """A report that is written: its `path`, the `verdicts` that stand in front of it, and a line
    for each model that `hardly_played`.
    """

    path: Path
    verdicts: Sequence[Verdict]
    hardly_played: Sequence[str]


def report(
    folder: str | Path,
    out: str | Path | None = None,
    format: str = HTML,
    *,
    jobs: int | None = None,
    force: bool = False,
    on_step: OnStep | None = None,
) -> Reported:
    """Write the report of the study in `folder`.

    `out`: where (default: `report.html` or `report.md` in the folder, which is written anew each
    time); a file that is there is overwritten only with `force`. Figures of a page in Markdown go
    into a folder beside it, which has its name and `-figures`; what was in it goes, with `force` as
    above. `jobs` processes measure and draw. The same study gives the same bytes.

    Raises BadInput for a study that cannot be reported on, for a place that cannot be written, and
    without matplotlib.
    """
    _check_matplotlib()
    path = Path(out) if out is not None else Path(folder, f"{NAME}.{format}")
    beside = path.with_name(f"{path.stem}{FIGURES_SUFFIX}") if format == MARKDOWN else None
    if out is not None:
        _check_place(path, beside, force)
    if beside is not None:
        _check_figures(beside)

    def tell(what: str) -> Callable[[int, int], None] | None:
        return None if on_step is None else lambda done, every: on_step(what, done, every)

    results = results_of(folder, jobs=jobs, on_run=tell("measuring"))
    study = study_of(results)
    blocks = page_of(study, jobs=jobs, on_figure=tell("drawing"))
    try:
        if beside is None:
            text = as_html(blocks)
        else:
            text, figures = as_markdown(blocks, beside.name)
            _write_figures(beside, figures)
        _write(path, text)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}", "give another --out") from None
    return Reported(path, study.assessment.verdicts(), hardly_played(results))


def page_of(
    study: Study,
    *,
    jobs: int | None = None,
    on_figure: Callable[[int, int], None] | None = None,
) -> list[Block]:
    """The page of a study: verdicts first, then what they rest on."""
    parts = [
        *head(study),
        *warning(study.results),
        *verdict_section(study),
        *every_treatment(study),
        *comparison_section(study),
        *trade_off_section(study),
        *theory_section(study.results),
        *treatment_sections(study),
        *models_section(study.results),
        *definitions(),
    ]
    return drawn(parts, jobs, on_figure)


def _check_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise BadInput(
            "a report needs matplotlib", "install it: pip install 'goldrush[stats]'"
        ) from None


def _check_place(path: Path, beside: Path | None, force: bool) -> None:
    if not path.name or path.is_dir():
        raise BadInput(f"{path} is a folder", "give --out a file")
    if not path.parent.is_dir():
        raise BadInput(f"cannot write {path}: there is no such folder", "create it first")
    for place in (path, beside):
        if place is not None and place.exists() and not force:
            raise BadInput(f"{place} exists already", "give another --out, or --force")
    if path.is_file() and path.suffix.lower() not in PAGES:
        raise BadInput(f"{path} is no page", f"give --out a file that ends in {' or '.join(PAGES)}")


def _check_figures(folder: Path) -> None:
    """Raises BadInput where something else than figures would go with those of an earlier page."""
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder} is no folder", "give another --out")
    for file in sorted(folder.iterdir()) if folder.exists() else ():
        if file.suffix != ".svg" or not file.is_file():
            raise BadInput(f"{folder} holds {file.name}, no figure", "give another --out")


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _write_figures(folder: Path, figures: dict[str, str]) -> None:
    """Put the figures where those of an earlier report were."""
    _check_figures(folder)
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        unfinished.mkdir()
        for name, svg in figures.items():
            (unfinished / name).write_text(svg, encoding="utf-8")
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(unfinished, folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
