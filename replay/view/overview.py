"""The page of a folder: its runs in a table, small charts of their outcome, how to open each.

The page holds summaries alone: of each run what stands in its row, its standings, and curves of
at most 61 points. It is one file with its script and its style sheet, which its policy allows by
their hashes. It holds no date, and paths relative to itself alone.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs

from goldrush.kernel import files
from goldrush.kernel.errors import unknown
from goldrush.kernel.measures import Value
from goldrush.kernel.text import format_count
from goldrush.kernel.world import Vocabulary
from goldrush.replay.arguments import OnStep
from goldrush.replay.colours import hues_of
from goldrush.replay.data.course import COURSE_MAX
from goldrush.replay.data.measures import AgentMeasure, Measure, Span
from goldrush.replay.find import tools_at, world_option
from goldrush.replay.journal.rebuild import world_at
from goldrush.replay.outcome import amount_of, outcome_from
from goldrush.replay.report.numbers import bounds
from goldrush.replay.study.outcomes import StudyOutcome, outcome_in
from goldrush.replay.study.records import Cell
from goldrush.replay.study.results import measures_in
from goldrush.replay.text import format_number
from goldrush.replay.tools import Tools
from goldrush.replay.view.chart import short
from goldrush.replay.view.folder import FolderRun, FolderRuns, OnRun, runs_in
from goldrush.replay.view.frame import escape_text, framed, joined, json_element
from goldrush.replay.view.pages import Pages, write_pages

if TYPE_CHECKING:
    from goldrush.replay.data.user_functions import UserMeasure

H = TypeVar("H", bound=Hashable)

NAME: Final = "runs.html"
NUMBERS_MAX: Final = 200_000  # numbers of all curves of a page
NO_PAGES: Final[Mapping[str, str]] = {}
GENERATOR: Final = '<meta name="generator" content="goldrush view of a folder">'
_SCRIPTS: Final = (
    "dom.js", "colours.js", "readable.js", "download.js", "chart.js", "command.js", "filter.js",
    "overview.js",
)  # fmt: skip


@attrs.frozen
class Overview:
    """A page that was written: its file, its size in bytes, what is on it, and the pages of its
    runs, if they were written, too.
    """

    path: Path
    size: int
    folder: FolderRuns
    pages: Pages | None = None

    def as_dict(self) -> dict[str, object]:
        """The result for JSON."""
        return {
            "path": str(self.path),
            "size": self.size,
            "runs": len(self.folder.runs),
            "left_out": [attrs.asdict(each) for each in self.folder.left_out],
            "unplayed": self.folder.unplayed,
            "pages": self.pages and str(self.pages.folder),
        }


def write_overview(
    folder: str | Path,
    out: str | Path | None = None,
    *,
    outcome: str | None = None,
    users: Sequence[UserMeasure] = (),
    pages: bool = False,
    jobs: int | None = None,
    force: bool = False,
    on_step: OnStep | None = None,
) -> Overview:
    """Write the page of a folder.

    Args:
        out: the file; None: `runs.html` in the folder. An earlier page there is replaced.
        outcome: the measure that is charted and compared, of agents or of runs; of a world that
            does not have it, and None: the outcome of the world.
        users: measures of the user, shown after those of the world.
        pages: also write the page of each run into the folder `pages` beside it, and link it.
        jobs: number of processes; None: one per processor.
        force: replace another file that goldrush wrote, such as a report.
        on_step: called with what is done, how many, of how many.

    Raises BadInput for a folder without journals, a measure that no world has, and if another file
    is there; WriteFailed if the system refuses to write; WorkerDied.
    """
    path = Path(folder, NAME) if out is None else Path(out)
    files.check_target(str(path if out is None else out), force=force, is_own=is_overview)

    def tell(what: str) -> OnRun | None:
        return None if on_step is None else lambda done, every: on_step(what, done, every)

    folder_runs = runs_in(folder, jobs=jobs, on_run=tell("measuring"), users=users)
    written = None
    if pages:
        written = write_pages(
            folder, [run.path for run in folder_runs.runs], path.parent, jobs=jobs, force=force,
            users=users, on_page=tell("writing pages"),
        )  # fmt: skip
    hrefs = {} if written is None else written.hrefs
    data = overview_of(folder, folder_runs, path.parent, outcome, users, hrefs).encode()
    files.write_whole(str(path), data, force=force, is_own=is_overview)
    return Overview(path, len(data), folder_runs, written)


def is_overview(front: bytes) -> bool:
    """Whether a file with these first bytes is the page of a folder."""
    return files.is_marked(front) and GENERATOR.encode() in front


def overview_of(
    folder: str | Path,
    folder_runs: FolderRuns,
    beside: Path,
    outcome: str | None = None,
    users: Sequence[UserMeasure] = (),
    hrefs: Mapping[str, str] = NO_PAGES,
) -> str:
    """The page of a folder, as HTML, to be written into the folder `beside`. `hrefs`: addresses of
    the pages of its runs, by path.

    Raises BadInput for a measure that no world has.
    """
    by_world: dict[str, list[FolderRun]] = {}
    for run in sorted(folder_runs.runs, key=_place):
        by_world.setdefault(run.world, []).append(run)
    lines = sum(max(1, len(set(run.result.policies))) for run in folder_runs.runs)
    points = max(2, min(COURSE_MAX + 1, NUMBERS_MAX // max(1, lines)))
    worlds = [_World.of(Path(folder), runs, outcome, users, points) for runs in by_world.values()]
    measures = dict.fromkeys(name for world in worlds for name in world.known)
    if outcome is not None and outcome not in measures:
        raise unknown("measure", outcome, measures)
    here = Path(__file__).parent
    script = joined([here / name for name in _SCRIPTS], "overview();")
    sheets = [here / "page.css", here / "overview.css"]
    data = {"worlds": [world.as_dict(beside, Path(folder), hrefs) for world in worlds]}
    parts = {
        "head": _head(worlds, folder_runs),
        "left_out": _left_out(folder_runs),
        "sections": "\n".join(
            _section(world, index, len(worlds)) for index, world in enumerate(worlds)
        ),
    }
    return framed(
        here / "overview.html", parts, title=_title(worlds, folder_runs), generator=GENERATOR,
        script=script, sheets=sheets, data=json_element(data),
    )  # fmt: skip


def _place(run: FolderRun) -> tuple[object, ...]:
    """By what the runs of a world are sorted."""
    seed = -1 if run.seed is None else run.seed
    return *attrs.astuple(run.cell), seed, run.path


@attrs.frozen(kw_only=True)
class _World:
    """The runs of one world, in their cells.

    Attributes:
        known: by name the measures that can be its outcome.
        measure: the outcome; None for a world without measures.
        is_leading: whether the headline of a run begins with what its world says.
        outcome: how the study counts it; None likewise.
        columns: the measures of runs that stand in the table.
        points: of a curve, at most.
        policies: the place of each that plays, in the order in which they are first met.
        axes: the place of each axis that the curves have so far.
    """

    tools: Tools
    words: Vocabulary
    runs: Sequence[FolderRun]
    known: Mapping[str, AgentMeasure | Measure]
    measure: AgentMeasure | Measure | None
    is_leading: bool
    outcome: StudyOutcome | None
    columns: Sequence[StudyOutcome]
    points: int
    policies: Mapping[str, int]
    axes: dict[Sequence[tuple[int, int]], int] = attrs.field(factory=dict)

    @classmethod
    def of(
        cls,
        folder: Path,
        runs: Sequence[FolderRun],
        name: str | None,
        users: Sequence[UserMeasure],
        points: int,
    ) -> _World:
        first = folder / runs[0].path
        tools, world = tools_at(first), world_at(first)
        results = [run.result for run in runs]
        measures = measures_in(tools, results, users)
        known = measures.outcomes
        is_named = name in known
        measure = measures.outcome(tools.name, name if is_named else None) if known else None
        columns = [known[each] for each in measures.of_runs or measures.known]
        return cls(
            tools=tools,
            words=world.vocabulary,
            runs=runs,
            known=known,
            measure=measure,
            is_leading=tools.headline_leads and not is_named,
            outcome=None if measure is None else outcome_in(results, measure),
            columns=[outcome_in(results, each) for each in columns if each != measure],
            points=points,
            policies=_places(label for result in results for label in result.policies),
        )

    def value(self, run: FolderRun) -> Value:
        """The outcome of a run."""
        return None if self.outcome is None else self.outcome.of_run(run.result)

    def as_dict(self, beside: Path, folder: Path, hrefs: Mapping[str, str]) -> dict[str, Any]:
        """For the page's script; texts that many runs share are in lists, as are units."""
        cells: dict[Cell, list[FolderRun]] = {}
        for run in self.runs:
            cells.setdefault(run.cell, []).append(run)
        places = _places(cells)
        rows = [
            {
                "path": os.path.relpath(folder / run.path, beside),
                "cell": places[run.cell],
                "seed": run.seed,
                "units": self.words.number(run.result.units),
                "outcome": short(self.value(run)),
                "values": [short(column.of_run(run.result)) for column in self.columns],
                "page": hrefs.get(run.path, ""),
                "history": " ".join(run.history),
                "isStudied": int(run.is_studied),
                **self._course(run),
            }
            for run in self.runs
        ]
        return {
            "name": self.tools.name,
            "option": world_option(self.tools.name, beside),
            "unit": self.words.unit,
            "units": self.words.units,
            "outcome": self.outcome and _measure(self.outcome),
            "byPolicy": isinstance(self.measure, AgentMeasure),
            "columns": [_measure(column) for column in self.columns],
            "policies": list(self.policies),
            "hues": hues_of(self.policies, self.tools.hue_order, self.tools.null),
            "cells": [self._cell(cell, runs) for cell, runs in cells.items()],
            "axes": list(self.axes),
            "fields": list(rows[0]),
            "runs": [list(row.values()) for row in rows],
        }

    def _course(self, run: FolderRun) -> dict[str, Any]:
        """What became of a run: its headline, its standings, and a line for each policy."""
        if self.outcome is None or self.measure is None:
            return {"headline": "", "standings": [], **self._lines({})}
        result = run.result
        outcome = outcome_from(
            self.measure, result.by_agent, result.policies, self.value(run), result.remarks,
            leads=self.is_leading,
        )  # fmt: skip
        curves = {
            policy: [(span, [value]) for span, value in curve.values()]
            for policy, curve in self.outcome.curves(result).items()
        }
        return {
            "headline": outcome.headline,
            "standings": [
                [self.policies[each.policy], len(each.agents),
                 *map(short, (each.mean, each.lowest, each.highest))]
                for each in outcome.standings
            ],
            **self._lines(curves),
        }  # fmt: skip

    def _cell(self, cell: Cell, runs: Sequence[FolderRun]) -> dict[str, Any]:
        """What the runs of a cell came to, as the study counts it."""
        results, draws = [run.result for run in runs], [run.draw for run in runs]
        curves, note = {}, ""
        if self.outcome is not None:
            found = self.outcome.over_runs(results, draws)
            note = f"{format_count(len(runs), 'run')}, mean {bounds(found)}"
            curves = {
                policy: [(span, [each.mean, each.low, each.high]) for span, each in curve]
                for policy, curve in self.outcome.over_units(results, draws).items()
            }
        return {
            **attrs.asdict(cell),
            "note": note,
            "means": [bounds(column.over_runs(results, draws)) for column in self.columns],
            **self._lines(curves),
        }

    def _lines(
        self, curves: Mapping[str, Sequence[tuple[Span, Sequence[Value]]]]
    ) -> dict[str, Any]:
        """Curves of the same units, thinned: `axis`, the public numbers of the first and the last
        unit of each point; `lines`, by policy, the values at the points, then the ends of bands.
        """
        spans = [span for span, _ in next(iter(curves.values()), ())]
        chosen = _spread(len(spans), self.points)
        number = self.words.number
        axis = tuple((number(spans[at].first), number(spans[at].last)) for at in chosen)
        return {
            "axis": self.axes.setdefault(axis, len(self.axes)),
            "lines": [
                [self.policies.get(policy), *([short(value) for value in values]
                                         for values in zip(*(curve[at][1] for at in chosen),
                                                           strict=True))]
                for policy, curve in curves.items() if chosen
            ],
        }  # fmt: skip


def _places(items: Iterable[H]) -> dict[H, int]:
    """By different item, its place in their order."""
    return {item: place for place, item in enumerate(dict.fromkeys(items))}


def _spread(count: int, most: int) -> list[int]:
    """At most so many of the first `count` numbers, at about equal distances, with both ends."""
    if count <= most:
        return list(range(count))
    return [round(place * (count - 1) / (most - 1)) for place in range(most)]


def _measure(measure: StudyOutcome) -> dict[str, str]:
    return {
        "name": measure.name, "title": measure.title, "definition": measure.definition,
    }  # fmt: skip


def _title(worlds: Sequence[_World], folder_runs: FolderRuns) -> str:
    if len(worlds) == 1:
        return f"{format_count(len(folder_runs.runs), 'run')} of {worlds[0].tools.name}"
    return f"{format_count(len(folder_runs.runs), 'run')} of {format_count(len(worlds), 'world')}"


def _head(worlds: Sequence[_World], folder_runs: FolderRuns) -> str:
    """The headline of the page."""
    if len(worlds) == 1:
        return f"<h1>{_headline(worlds[0])}</h1>\n{_lead(worlds[0], 0)}"
    if not worlds:
        return "<h1>No run in this folder has ended</h1>"
    return f"<h1>{escape(_title(worlds, folder_runs))}</h1>"


def _section(world: _World, index: int, count: int) -> str:
    head = f"<h2>{_headline(world)}</h2>\n{_lead(world, index)}" if count > 1 else ""
    label = f' aria-label="{escape_text(world.tools.name)}"'
    return f'<section class="world" id="world-{index}"{label}>{head}</section>'


def _headline(world: _World) -> str:
    """How many runs, and the range of their outcome."""
    runs = f"{format_count(len(world.runs), 'run')} of {escape_text(world.tools.name)}"
    values = [value for run in world.runs if (value := world.value(run)) is not None]
    if not values or world.measure is None:
        return runs
    low, high = format_number(min(values)), format_number(max(values))
    between = low if low == high else f"{low} to {high}"
    if isinstance(world.measure, AgentMeasure):
        return f"{runs}: {escape(amount_of(world.measure, between))} an agent"
    return f"{runs}: {escape_text(world.measure.title)} {between}"


def _lead(world: _World, index: int) -> str:
    """What varies, and the runs at the ends."""
    counts = (
        ("treatment", len({run.cell.treatment for run in world.runs})),
        ("roster", len({run.cell.roster for run in world.runs})),
        ("seed", len({run.seed for run in world.runs})),
    )
    texts = [format_count(count, name) for name, count in counts]
    low, high = (end(run.result.units for run in world.runs) for end in (min, max))
    low, high = world.words.number(low), world.words.number(high)
    length = escape(format_count(high, world.words.unit))
    texts.append(f"{length} each" if low == high else f"{low:,} to {length}")
    parts = [f"{', '.join(texts)}."]
    known = [
        (value, at) for at, run in enumerate(world.runs) if (value := world.value(run)) is not None
    ]
    if known and min(known)[0] != max(known)[0]:
        ends = (("Lowest", min(known)), ("highest", max(known)))
        parts.append("; ".join(_end(world, index, *each) for each in ends) + ".")
    return f'<p class="lead">{" ".join(parts)}</p>'


def _end(world: _World, index: int, name: str, end: tuple[float, int]) -> str:
    value, at = end
    return f"{name}: {format_number(value)} ({_link(world, index, at)})"


def _link(world: _World, index: int, at: int) -> str:
    run = world.runs[at]
    seed = "" if run.seed is None else f", seed {run.seed}"
    text = f"{run.cell.treatment}, {run.cell.roster}{seed}" if run.is_studied else run.path
    return f'<a data-run="{index}:{at}" href="#">{escape_text(text)}</a>'


def _left_out(folder_runs: FolderRuns) -> str:
    """Files that are no finished runs, with why, and how many runs are not played."""
    count = len(folder_runs.left_out)
    parts = []
    if folder_runs.unplayed:
        are = "is" if folder_runs.unplayed == 1 else "are"
        parts.append(
            f"<p>{format_count(folder_runs.unplayed, 'run')} of the study {are} not played.</p>"
        )
    if count:
        rows = "".join(
            f'<tr><th scope="row"><code>{escape_text(file.path)}</code></th>'
            f"<td>{escape_text(file.reason)}</td>"
            for file in folder_runs.left_out
        )
        verb = "is" if count == 1 else "are"
        parts.append(
            f"<details><summary>{format_count(count, 'file')} {verb} left out</summary>"
            f'<div class="scroll" tabindex="0" role="group" aria-label="Files left out">'
            f'<table class="left-out"><thead><tr><th scope="col">file</th>'
            f'<th scope="col">why it is not in the table</th></tr></thead>'
            f"<tbody>{rows}</tbody></table></div></details>"
        )
    return "\n".join(parts)
