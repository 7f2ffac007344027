"""The figures of a run: each measure over its units, and what its agents had, by policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import UNIT, JournalReader
from goldrush.kernel.measures import Value
from goldrush.kernel.text import format_count
from goldrush.kernel.walk import Walk
from goldrush.replay.data.measures import AgentMeasure, Measure, Measured, Measures
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.data.sampling import sampled
from goldrush.replay.find import open_world
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.outcome import Standing, standings_of
from goldrush.replay.report.figure import Figure
from goldrush.replay.report.marks import HEIGHT, WIDE, Curve, Panel, Point, Sample, Style
from goldrush.replay.report.page import number
from goldrush.replay.report.plot import panel_of, reach
from goldrush.replay.report.styles import labels_of, styles_of
from goldrush.replay.text import capitalized
from goldrush.replay.tools import Tools

SAMPLES_MAX: Final = 400  # units that are drawn of a run; of a longer one, one in 2, 4, 8, ...
_ROW: Final = 24.0  # height of a row, in pixels of a page


def drawable(measures: Measures) -> Measures:
    """Those that can be drawn of a run: measures of agents, and those that a unit has."""
    by_unit = {name: each for name, each in measures.known.items() if each.by_unit}
    return attrs.evolve(measures, known=by_unit)


def caption_of(tools: Tools, measure: AgentMeasure | Measure) -> str:
    """What a figure of this measure shows, with its definition."""
    title = capitalized(measure.title)
    if isinstance(measure, Measure):
        return f"{title} by {tools.vocabulary.unit}. {measure.definition}"
    when = f"by {tools.vocabulary.unit}" if tools.measures.agents_at else "at the end"
    return (
        f"{title} {when}: the mean of the agents of each policy, and their range. "
        f"{measure.definition}"
    )


def figure_of(tools: Tools, path: str | Path, name: str | None) -> Figure:
    """A figure of a run. `name`: of a measure; None: the outcome of its world.

    Raises BadInput for another name, and for a run without a closed unit; JournalError as reading
    a journal does.
    """
    measure = drawable(tools.measures).outcome(tools.name, name, "figure of a run")
    run = measured_at(path)
    if not run.units:
        raise BadInput(
            f"{path} has no closed {tools.vocabulary.unit}", "draw it when it has come to one"
        )
    if isinstance(measure, Measure):
        panel = _of_run(run, measure)
    elif tools.measures.agents_at is None:
        panel = _standings(tools, run, measure)
    else:
        panel = _of_agents(tools, run, measure)
    caption = f"{caption_of(tools, measure)} {tools.measures.head(run)}."
    return Figure(measure.name, caption, [panel], [])


def _of_run(run: Measured[Any], measure: Measure) -> Panel:
    samples = [
        Sample(run.vocabulary.number(unit), value) if value is not None else None
        for unit in sampled(run.units, SAMPLES_MAX)
        for value in [run.values[measure.name][unit - 1]]
    ]
    style = Style("c0", (), "circle", measure.title, measure.name)
    return _over_units(run, measure, [Curve(style, _segments(samples))])


def _of_agents(tools: Tools, run: Measured[Any], measure: AgentMeasure) -> Panel:
    standings = standings_of(run.by_agent[measure.name], run.roster)
    styles = _styles(tools, run, standings)
    samples: dict[str, list[Sample | None]] = {standing.policy: [] for standing in standings}
    for unit, values in _by_unit(run.path, tools, measure.name, run.units):
        for standing in standings_of(values, run.roster):
            samples[standing.policy].append(_sample(run.vocabulary.number(unit), standing))
    curves = [
        Curve(styles[policy], _segments(of_policy), index=index, curves=len(samples), at_end=True)
        for index, (policy, of_policy) in enumerate(samples.items())
        if any(of_policy)
    ]
    return _over_units(run, measure, curves)


@reader_of
def _by_unit(
    path: str | Path, tools: Tools, name: str, units: int
) -> Iterable[tuple[int, Sequence[Value]]]:
    """The values of the agents at the close of the units that are drawn of so many."""
    at = tools.measures.agents_at
    assert at is not None
    drawn, unit = set(sampled(units, SAMPLES_MAX)), 0
    with JournalReader(path) as reader:
        for commit, state in Walk(open_world(reader), reader):
            if commit.kind == UNIT and commit.digest is not None:
                unit += 1
                if unit in drawn:
                    yield unit, at(state)[name]


def _styles(tools: Tools, run: Measured[Any], standings: Sequence[Standing]) -> Mapping[str, Style]:
    """By policy, its hue and, at the end of its line, its name with the number of its agents."""
    names = {standing.policy: _in_full(standing) for standing in standings}
    policies = list(dict.fromkeys(run.roster))
    labels = labels_of(names[policy] for policy in policies)
    styles = styles_of(policies, order=tools.hue_order, null=tools.null)
    return {
        policy: attrs.evolve(style, label=labels[names[policy]]) for policy, style in styles.items()
    }


def _in_full(standing: Standing) -> str:
    """A policy with the number of its agents, if there are several."""
    count = len(standing.agents)
    return standing.policy if count == 1 else f"{standing.policy} × {count}"


def _sample(x: float, standing: Standing) -> Sample | None:
    if standing.mean is None:
        return None
    n = len(standing.agents)
    ends = (standing.lowest, standing.highest) if n > 1 else (None, None)
    return Sample(x, standing.mean, *ends, n)


def _segments(samples: Sequence[Sample | None]) -> list[list[Sample]]:
    """The samples, parted where one is undefined."""
    segments: list[list[Sample]] = [[]]
    for sample in samples:
        if sample is not None:
            segments[-1].append(sample)
        elif segments[-1]:
            segments.append([])
    return [segment for segment in segments if segment]


def _over_units(
    run: Measured[Any], measure: AgentMeasure | Measure, curves: Sequence[Curve]
) -> Panel:
    words = run.vocabulary
    ends = [
        end
        for curve in curves
        for sample in curve.samples
        for end in (sample.y, sample.low, sample.high)
        if end is not None
    ]
    parts = [f"{c.style.name} {number(c.samples[-1].y)}" for c in curves if c.samples]
    alt = f"{measure.title} in the last {words.unit} of {format_count(run.counted, words.unit)}"
    return panel_of(
        measure.title, (words.first, words.number(run.units)), reach(ends), curves,
        f"{alt}: {', '.join(parts) or 'undefined'}", width=WIDE, height=HEIGHT * 1.4,
        x_label=words.unit, whole=True,
    )  # fmt: skip


def _standings(tools: Tools, run: Measured[Any], measure: AgentMeasure) -> Panel:
    """By policy, a row with the mean of its agents and their range."""
    standings = [
        standing
        for standing in standings_of(run.by_agent[measure.name], run.roster)
        if standing.mean is not None
    ]
    styles = _styles(tools, run, standings)
    points = [
        Point(
            styles[standing.policy], standing.mean or 0.0, row, standing.lowest,
            standing.highest, len(standing.agents),
            text=f"{styles[standing.policy].label}: {number(standing.mean)}",
        )
        for row, standing in enumerate(standings)
    ]  # fmt: skip
    ends = [
        end
        for standing in standings
        for end in (standing.lowest, standing.highest)
        if end is not None
    ]
    return panel_of(
        measure.title, reach(ends), (0, 0), points,
        f"{measure.title}: {'; '.join(point.text for point in points) or 'undefined'}",
        rows=[styles[standing.policy].label for standing in standings] or ["undefined"], width=WIDE,
        names=[_in_full(standing) for standing in standings],
        height=44 + _ROW * max(1, len(standings)),
    )  # fmt: skip
