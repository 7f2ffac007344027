"""The page of a study as one self-contained HTML file, made of its tables, figures and templates.

The prose stands in templates of Jinja: `lead.html`, `study.html`, which a world's own extends, and
`page.html` around both. The page has no scripts, and its Content-Security-Policy allows only the
one style sheet, by its hash, whatever the names on the page contain.
"""

from __future__ import annotations

import platform
import shlex
from collections.abc import Mapping
from functools import cached_property
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from goldrush.agents.given import games
from goldrush.agents.llm.failures import MOSTLY, PLAYED_INSTEAD
from goldrush.kernel.files import MARK, is_marked
from goldrush.kernel.journal import FORMAT
from goldrush.kernel.text import format_count
from goldrush.replay.colours import css_variables
from goldrush.replay.journal.outline import outline_of
from goldrush.replay.journal.source import other_code_among
from goldrush.replay.policies import agents_by_policy
from goldrush.replay.report import failures, figures, models, sections, verdicts
from goldrush.replay.report.figure import Figure
from goldrush.replay.report.numbers import p_value, printable
from goldrush.replay.report.reported import ReportedStudy
from goldrush.replay.report.svg import (
    COLOURS,
    columns_of,
    key_svg,
    panel_svg,
    size_of,
)
from goldrush.replay.report.tables import ReportTable
from goldrush.replay.report.templates import templates
from goldrush.replay.study.inference import EXACT_MAX, seeds_for, smallest_p
from goldrush.replay.study.judging import NOT_SUPPORTED, SUPPORTED, UNDECIDED
from goldrush.replay.text import cut_middle, format_list, format_ranges
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
        from markupsafe import Markup, escape

        template, contents = self.study.of.chapter.template, list[tuple[str, str]]()

        def section(title: str, anchor: str) -> Markup:
            contents.append((anchor, title))
            return Markup(f'<h2 id="{escape(anchor)}">{escape(printable(title))}</h2>')  # noqa: S704

        environment = templates(*([] if template is None else [template.parent]))
        environment.globals.update(self._values(), section=section)
        sheet = css_variables(**COLOURS) + (_HERE / "page.css").read_text(encoding="utf-8")
        return environment.get_template("page.html").render(
            policy=policy(sheet), mark=MARK, generator=_GENERATOR, style=sheet, contents=contents,
            template=template.name if template else "study.html",
        )  # fmt: skip

    def _values(self) -> Mapping[str, Any]:
        """What templates are given; they call what needs no other argument."""
        study, results = self.study, self.study.results
        world, folder = study.of.world({}), results.folder
        paths = [Path(folder, run.path) for run in results.runs]
        return {
            "about": outline_of(paths[0]).about.text,
            "other_code": other_code_among(paths, folder) if games() else "",
            "study": study, "page": self, "figures": self.figures, "tables": self.tables,
            "words": study.of.vocabulary,
            "criteria": study.of.studies.criteria,
            "verdicts": study.assessment.verdicts, "world": study.of.chapter.values(study),
            "coloured": _COLOURED, "agents_by_policy": agents_by_policy,
            "seeds_for": seeds_for, "smallest_p": smallest_p, "p_value": p_value,
            "hardly_played": failures.shortened(failures.hardly_played(results)),
            "mostly": f"{MOSTLY:.0%}", "instead": PLAYED_INSTEAD, "next_table": count(1).__next__,
            "next_figure": count(1).__next__, "download": _download, "columns_of": columns_of,
            "size_of": size_of, "panel_svg": panel_svg, "key_svg": key_svg,
            "lines": lambda text: "\n".join(printable(line) for line in text.split("\n")),
            "listed": format_list, "counted": format_count, "cut": cut_middle,
            "ranges": format_ranges, "quote": shlex.quote,
            "measures": results.measures.known.values(),
            "identical": study.treatments(list(study.same)),
            "exact_max": EXACT_MAX,
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
