"""The page of a study as one self-contained HTML file, made of its tables, figures and templates.

The prose stands in templates of Jinja: `lead.html`, `study.html`, which a world's own extends, and
`page.html` around both. The page has no scripts, and its Content-Security-Policy allows only the
one style sheet, by its hash, whatever the names on the page contain.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cached_property
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from goldrush.agents.llm.failures import MOSTLY, PLAYED_INSTEAD
from goldrush.kernel.files import MARK, is_marked
from goldrush.kernel.journal import FORMAT
from goldrush.kernel.text import format_count
from goldrush.replay.colours import css_variables
from goldrush.replay.extras import require
from goldrush.replay.journal.outline import outline_of
from goldrush.replay.report import failures, figures, models, sections, verdicts
from goldrush.replay.report.figure import Figure
from goldrush.replay.report.numbers import printable
from goldrush.replay.report.reported import ReportedStudy
from goldrush.replay.report.svg import (
    COLOURS,
    columns_of,
    key_svg,
    panel_svg,
    size_of,
)
from goldrush.replay.report.tables import ReportTable
from goldrush.replay.study.inference import EXACT_MAX
from goldrush.replay.study.judging import NOT_SUPPORTED, SUPPORTED, UNDECIDED
from goldrush.replay.text import format_list, format_ranges
from goldrush.replay.view.frame import policy
from goldrush.version import __version__

_HERE: Final = Path(__file__).parent
_GENERATOR: Final = '<meta name="generator" content="goldrush report">'
_COLOURED: Final = (SUPPORTED, NOT_SUPPORTED, UNDECIDED)  # by a class of the style sheet
_PLAIN: Final = " !$'()*+,-./:;=?@_~"  # what needs no escape in an address that is quoted by "


class StudyPage:
    """The page of a study: its tables and figures by name, in their order, and the page itself."""

    def __init__(self, study: ReportedStudy) -> None:
        self.study = study
        horizons = study.results.horizons
        self.over_time = [figures.over_time(study, rounds) for rounds in horizons]
        self.forests = [figures.forest(study, rounds) for rounds in horizons]
        self.treatments = list(sections.treatments(study))

    @cached_property
    def figures(self) -> dict[str, Figure]:
        every = [
            *figures.outcome_figures(self.study),
            *(figure for drawn in (*self.forests, *self.over_time) for figure in drawn),
            *self.study.of.chapter.figures(self.study),
        ]
        return {figure.name: figure for figure in every}

    @cached_property
    def tables(self) -> dict[str, ReportTable]:
        study = self.study
        every = [
            sections.standings_table(study),
            *sections.comparison_tables(study),
            *sections.wording_tables(study),
            *(verdicts.criteria_tables(study) if study.judges else ()),
            *study.of.chapter.tables(study),
            *(table for *_, table in self.treatments),
            *models.model_tables(study),
            *sections.measure_tables(study),
        ]
        return {table.name: table for table in every if table.rows}

    def html(self) -> str:
        """The page. Raises BadInput if Jinja is not installed."""
        require("jinja2", "a page in HTML needs", "stats")
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
        from markupsafe import Markup, escape

        def seen(value: Any) -> Any:
            """Text with invisible characters escaped, before Jinja escapes markup."""
            return value if isinstance(value, Markup) else printable(str(value))

        template, contents = self.study.of.chapter.template, list[tuple[str, str]]()

        def section(title: str, anchor: str) -> Markup:
            contents.append((anchor, title))
            return Markup(f'<h2 id="{escape(anchor)}">{escape(printable(title))}</h2>')  # noqa: S704

        folders = [_HERE] if template is None else [template.parent, _HERE]
        environment = Environment(
            loader=FileSystemLoader(folders), autoescape=True, finalize=seen,
            undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True,
            lstrip_blocks=True,
        )  # fmt: skip
        environment.globals.update(self._values(), section=section)
        lead = environment.get_template("lead.html").render()
        body = environment.get_template(template.name if template else "study.html").render()
        sheet = css_variables(**COLOURS) + (_HERE / "page.css").read_text(encoding="utf-8")
        return environment.get_template("page.html").render(
            policy=policy(sheet), mark=MARK, generator=_GENERATOR, style=sheet, lead=Markup(lead),  # noqa: S704
            body=Markup(body), contents=contents,  # noqa: S704
        )  # fmt: skip

    def _values(self) -> Mapping[str, Any]:
        """What templates are given; they call what needs no other argument."""
        study, results = self.study, self.study.results
        cells = results.by_cell
        sizes = sorted({len(runs) for runs in cells.values()})
        seeds = sorted({run.seed for run in results.runs})
        world, first = study.of.world({}), results.runs[0]
        return {
            "about": outline_of(Path(results.folder, first.path)).about.text,
            "rosters": sections.rosters(study),
            "study": study, "page": self, "figures": self.figures, "tables": self.tables,
            "answer": study.answer, "words": study.of.vocabulary,
            "criteria": study.of.studies.criteria,
            "verdicts": study.assessment.verdicts, "world": study.of.chapter.values(study),
            "too_few": verdicts.too_few(study), "coloured": _COLOURED,
            "hardly_played": failures.shortened(failures.hardly_played(results)),
            "mostly": f"{MOSTLY:.0%}", "instead": PLAYED_INSTEAD, "next_table": count(1).__next__,
            "next_figure": count(1).__next__, "download": _download, "columns_of": columns_of,
            "size_of": size_of, "panel_svg": panel_svg, "key_svg": key_svg,
            "lines": lambda text: "\n".join(printable(line) for line in text.split("\n")),
            "listed": format_list, "counted": format_count, "some": sections.some,
            "stopped": sections.stopped(study), "excluded": sections.excluded(study),
            "measures": results.measures.known.values(),
            "identical": study.treatments(list(study.answer.same)),
            "exact_max": EXACT_MAX,
            "each": " or ".join([*map(str, sizes[:-1]), format_count(sizes[-1], "run")]),
            "seeds": format_ranges(seeds).replace("-", "–"),
            "versions": f"goldrush {__version__} ({world.name} rules {world.rules}, journal format "
            f"{FORMAT}), Python {platform.python_version()}, scipy {version('scipy')}",
        }  # fmt: skip


def is_html(front: bytes) -> bool:
    return is_marked(front) and _GENERATOR.encode() in front


def _download(figure: Figure) -> str:
    """The data of a figure as an address that holds the whole file, as a page that is sent has no
    files beside it.
    """
    return f"data:text/csv;charset=utf-8,{quote(figure.csv, safe=_PLAIN)}"
