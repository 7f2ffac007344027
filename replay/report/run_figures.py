"""The figures of a run: each measure over its units, and what its agents had, by policy."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import attrs

from goldrush.kernel.errors import BadInput
from goldrush.replay.data.measures import AgentMeasure, Measure, Measures
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.data.sampling import sampled
from goldrush.replay.report.figure import Figure
from goldrush.replay.report.plot import LINES, Row, Style, styles_of
from goldrush.replay.text import capitalized
from goldrush.replay.tools import Tools

SAMPLES_MAX: Final = 400  # units that are drawn of a run; of a longer one, one in 2, 4, 8, ...


def drawable(measures: Measures) -> Measures:
    """Those that can be drawn of a run: measures of agents, and those that a unit has."""
    by_unit = {name: each for name, each in measures.known.items() if each.by_unit}
    return attrs.evolve(measures, known=by_unit)


def caption_of(tools: Tools, measure: AgentMeasure | Measure) -> str:
    """What a figure of this measure shows, with its definition."""
    of_policies = "" if isinstance(measure, Measure) else ", the mean of each policy"
    title, unit = capitalized(measure.title), tools.vocabulary.unit
    return f"{title} by {unit}{of_policies}. {measure.definition}"


def figure_of(tools: Tools, path: str | Path, name: str | None) -> Figure:
    """A figure of a run. `name`: of a measure; None: the outcome of its world.

    Raises BadInput for another name, and for a run without a closed unit; JournalError as reading
    a journal does.
    """
    measure = drawable(tools.measures).outcome(tools.name, name, "figure of a run")
    run = measured_at(path)
    unit, title = run.vocabulary.unit, measure.title
    if not run.units:
        raise BadInput(f"{path} has no closed {unit}", "draw it when it has come to one")
    if isinstance(measure, Measure):
        styles = {title: Style(0, label=title)}
        values = run.values[measure.name]
        rows = [
            Row(title, title, run.vocabulary.number(at), values[at - 1])
            for at in sampled(run.units, SAMPLES_MAX)
        ]
    else:
        styles = styles_of(list(dict.fromkeys(run.roster)), order=tools.hue_order, null=tools.null)
        rows = [
            Row(title, policy, run.vocabulary.number(at), value)
            for policy, means in run.course.means.get(measure.name, {}).items()
            for at, value in zip(run.course.units, means, strict=True)
        ]
    caption = f"{caption_of(tools, measure)} {tools.measures.head(run)}."
    return Figure(
        name=measure.name, shows=caption, kind=LINES, rows=rows, styles=styles, x_label=unit
    )
