"""The page of a folder: its runs in a table, charts of their outcome, how to open each.

The page holds summaries alone: of each run what stands in its row, and curves of those of a
treatment, roster and length together. It is one file with its script and its style sheet, which its
policy allows by their hashes. It holds no date, and paths relative to itself alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import attrs

from goldrush.kernel import files
from goldrush.kernel.errors import unknown
from goldrush.kernel.text import format_count
from goldrush.replay.arguments import OnStep
from goldrush.replay.colours import hues_of
from goldrush.replay.data.measures import AgentMeasure
from goldrush.replay.find import tools_at
from goldrush.replay.journal.rebuild import world_at
from goldrush.replay.outcome import amount_of, standings_of
from goldrush.replay.report.numbers import bounds
from goldrush.replay.study.outcomes import StudyOutcome, outcome_in
from goldrush.replay.study.records import Cell
from goldrush.replay.study.results import measures_in
from goldrush.replay.text import format_number
from goldrush.replay.view.chart import short
from goldrush.replay.view.folder import FolderRun, FolderRuns, runs_in
from goldrush.replay.view.frame import escape_text, framed, joined, packed_json
from goldrush.replay.view.page import is_page

if TYPE_CHECKING:
    from goldrush.replay.data.user_functions import UserMeasure

NAME: Final = "runs.html"
GENERATOR: Final = '<meta name="generator" content="goldrush view of a folder">'
_SCRIPTS: Final = (
    "dom.js", "colours.js", "download.js", "chart.js", "command.js", "filter.js",
    "overview.js",
)  # fmt: skip
_ENDS: Final = ("mean", "low", "high")  # of an interval


@attrs.frozen
class Overview:
    """A page that was written: its file, its size in bytes, and what is on it."""

    path: Path
    size: int
    folder: FolderRuns

    def as_dict(self) -> dict[str, object]:
        """The result for JSON."""
        return {
            "path": str(self.path),
            "size": self.size,
            "runs": len(self.folder.runs),
            "left_out": [{"path": p, "reason": why} for p, why in self.folder.left_out.items()],
        }


def write_overview(
    folder: str | Path,
    out: str | Path | None = None,
    *,
    outcome: str | None = None,
    users: Sequence[UserMeasure] = (),
    jobs: int | None = None,
    force: bool = False,
    on_step: OnStep = lambda what, done, every: None,
) -> Overview:
    """Write the page of a folder.

    Args:
        out: the file; None: `runs.html` in the folder. An earlier page there is replaced.
        outcome: the measure that is charted and compared, of agents or of runs; of a world that
            does not have it, and None: the outcome of the world.
        users: measures of the user, shown after those of the world.
        jobs: number of processes; None: one per processor.
        force: replace another file that goldrush wrote, such as a report.
        on_step: called with what is done, how many, of how many.

    Raises BadInput for a folder without journals, a measure that no world has, and if another file
    is there; WriteFailed if the system refuses to write; WorkerDied.
    """
    path = Path(folder, NAME) if out is None else Path(out)
    files.check_target(str(path if out is None else out), force=force, is_own=is_overview)

    step = partial(on_step, "measuring")
    folder_runs = runs_in(folder, jobs=jobs, on_run=step, users=users)
    by_world: dict[str, list[FolderRun]] = {}
    for run in sorted(folder_runs.runs, key=_order):
        by_world.setdefault(run.world, []).append(run)
    worlds = [_World(Path(folder), runs, outcome, users) for runs in by_world.values()]
    measures = dict.fromkeys(name for world in worlds for name in world.known)
    if outcome is not None and outcome not in measures:
        raise unknown("measure", outcome, measures)
    here = Path(__file__).parent
    data = {"worlds": [world.as_dict(path.parent, Path(folder)) for world in worlds]}
    runs = format_count(len(folder_runs.runs), "run")
    title = f"{runs} of {', '.join(by_world)}" if worlds else "No run in this folder has ended"
    is_one = len(worlds) == 1
    parts = {
        "head": worlds[0].top(1) if is_one else f"<h1>{escape_text(title)}</h1>",
        "left_out": _left_out(folder_runs.left_out),
        "sections": "\n".join(
            f'<section class="world" id="world-{index}" aria-label="{escape_text(name)}">'
            f"{'' if is_one else world.top(2)}</section>"
            for index, (name, world) in enumerate(zip(by_world, worlds, strict=True))
        ),
    }
    page = framed(
        here / "overview.html", parts, title=title, generator=GENERATOR,
        script=joined([here / name for name in _SCRIPTS], "overview();"),
        sheets=[here / "page.css", here / "overview.css"], data=packed_json(data),
    ).encode()  # fmt: skip
    files.write_whole(str(path), page, force=force, is_own=is_overview)
    return Overview(path, len(page), folder_runs)


def is_overview(front: bytes) -> bool:
    """Whether a file with these first bytes is the page of a folder."""
    return files.is_marked(front) and GENERATOR.encode() in front


def _order(run: FolderRun) -> tuple[object, ...]:
    """By what the runs of a world are sorted."""
    seed = -1 if run.seed is None else run.seed
    return *attrs.astuple(run.cell), seed, run.path


class _World:
    """The runs of one world.

    Attributes:
        known: by name the measures that can be its outcome.
        measure: the outcome.
        outcome: how the study counts it.
        columns: the measures of runs that stand in the table.
    """

    def __init__(
        self,
        folder: Path,
        runs: Sequence[FolderRun],
        name: str | None,
        users: Sequence[UserMeasure],
    ) -> None:
        first, results = folder / runs[0].path, [run.result for run in runs]
        self.tools, self.words, self.runs = tools_at(first), world_at(first).vocabulary, runs
        measures = measures_in(self.tools, results, users)
        self.known = known = measures.outcomes
        self.measure = measures.outcome(self.tools.name, name if name in known else None)
        self.outcome = outcome_in(results, self.measure)
        columns = [known[each] for each in measures.of_runs or measures.known]
        self.columns = [outcome_in(results, each) for each in columns if each != self.measure]

    def top(self, level: int) -> str:
        """How many runs, the range of their outcome, and what varies, as HTML."""
        return f'<h{level}>{self._headline()}</h{level}>\n<p class="lead">{self._varied()}</p>'

    def _headline(self) -> str:
        runs = f"{format_count(len(self.runs), 'run')} of {escape_text(self.tools.name)}"
        found = [self.outcome.of_run(run.result) for run in self.runs]
        values = [value for value in found if value is not None]
        if not values:
            return runs
        between = " to ".join(dict.fromkeys(map(format_number, (min(values), max(values)))))
        if isinstance(self.measure, AgentMeasure):
            return f"{runs}: {escape(amount_of(self.measure, between))} an agent"
        return f"{runs}: {escape_text(self.measure.title)} {between}"

    def _varied(self) -> str:
        cells = [run.cell for run in self.runs]
        counts = (
            ("treatment", len({cell.treatment for cell in cells})),
            ("roster", len({cell.roster for cell in cells})),
            ("seed", len({run.seed for run in self.runs})),
        )
        units = [self.words.number(run.result.units) for run in self.runs]
        length = escape(format_count(max(units), self.words.unit))
        is_same = min(units) == max(units)
        texts = [format_count(count, name) for name, count in counts]
        texts.append(f"{length} each" if is_same else f"{min(units):,} to {length}")
        return f"{', '.join(texts)}."

    def as_dict(self, beside: Path, folder: Path) -> dict[str, Any]:
        """For the page's script."""
        cells: dict[Cell, list[FolderRun]] = {}
        for run in self.runs:
            cells.setdefault(run.cell, []).append(run)
        policies = dict.fromkeys(label for run in self.runs for label in run.result.policies)
        places = {cell: place for place, cell in enumerate(cells)}
        return {
            "name": self.tools.name,
            "option": self.tools.code_option(beside),
            "unit": self.words.unit,
            "units": self.words.units,
            "outcome": _measure(self.outcome),
            "byPolicy": isinstance(self.measure, AgentMeasure),
            "columns": [_measure(column) for column in self.columns],
            "hues": hues_of(policies, self.tools.studies),
            "cells": [self._cell(cell, runs) for cell, runs in cells.items()],
            "runs": [
                {
                    "path": os.path.relpath(folder / run.path, beside),
                    "cell": places[run.cell],
                    "page": _page_of(folder / run.path, beside),
                    **self._run(run),
                }
                for run in self.runs
            ],
        }

    def _run(self, run: FolderRun) -> dict[str, Any]:
        """What a run came to."""
        agents = run.result.by_agent.get(self.measure.name, ())
        standings = standings_of(agents, run.result.policies) if agents else []
        return {
            "seed": run.seed,
            "units": self.words.number(run.result.units),
            "outcome": short(self.outcome.of_run(run.result)),
            "values": [short(column.of_run(run.result)) for column in self.columns],
            "history": " ".join(run.history),
            "isStudied": run.is_studied,
            "ahead": standings[0].policy if standings else "",
        }

    def _cell(self, cell: Cell, runs: Sequence[FolderRun]) -> dict[str, Any]:
        """What the runs of a cell came to, as the study counts it, with curves of the same units:
        `spans`, the public numbers of the first and the last unit of each point; `lines`, of each
        policy the means at the points, then the ends of their intervals.
        """
        results, draws = [run.result for run in runs], [run.draw for run in runs]
        found = self.outcome.over_runs(results, draws)
        number = self.words.number
        curves = self.outcome.over_units(results, draws)
        spans = [span for span, _ in next(iter(curves.values()), ())]
        return {
            **attrs.asdict(cell),
            "note": f"{format_count(len(runs), 'run')}, mean {bounds(found)}",
            "spans": [(number(span.first), number(span.last)) for span in spans],
            "lines": [
                [policy, *([short(getattr(each, end)) for _, each in curve] for end in _ENDS)]
                for policy, curve in curves.items() if curve
            ],
        }  # fmt: skip


def _page_of(journal: Path, beside: Path) -> str:
    """The address of the page of a run, if one lies beside its journal; else empty."""
    page = journal.with_suffix(".html")
    if page.is_file():
        with suppress(OSError), page.open("rb") as file:
            if is_page(file.read(files.FRONT)):
                return quote(os.fsencode(os.path.relpath(page, beside)))
    return ""


def _measure(measure: StudyOutcome) -> dict[str, str]:
    names = ("name", "title", "definition")
    return {name: getattr(measure, name) for name in names}


def _left_out(left_out: Mapping[str, str]) -> str:
    """Runs that are not played and files that are no finished runs, with why."""
    if not left_out:
        return ""
    items = "".join(
        f"<li><code>{escape_text(path)}</code>: {escape_text(reason)}</li>"
        for path, reason in left_out.items()
    )
    verb = "is" if len(left_out) == 1 else "are"
    title = f"{format_count(len(left_out), 'file')} {verb} left out"
    return f"<details><summary>{title}</summary><ul>{items}</ul></details>"
