"""The figures of a run: each measure over its units, and what its agents had, by policy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import UNIT, JournalReader
from goldrush.kernel.measures import Value
from goldrush.kernel.walk import Walk
from goldrush.replay.data.measures import AgentMeasure, Measure, Measured, Measures
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.data.sampling import sampled
from goldrush.replay.find import open_world
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.outcome import Standing, standings_of
from goldrush.replay.report.figure import Figure
from goldrush.replay.report.plot import DOTS, LINES, Row, Style, labels_of, styles_of
from goldrush.replay.text import capitalized
from goldrush.replay.tools import Tools

SAMPLES_MAX: Final = 400  # units that are drawn of a run; of a longer one, one in 2, 4, 8, ...


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
    kind, unit = LINES, run.vocabulary.unit
    if isinstance(measure, Measure):
        styles = {measure.title: Style(0, label=measure.title)}
        rows = [
            Row(measure.title, measure.title, run.vocabulary.number(at), value)
            for at in sampled(run.units, SAMPLES_MAX)
            for value in [run.values[measure.name][at - 1]]
        ]
    elif tools.measures.agents_at is None:
        kind, unit = DOTS, ""
        styles, rows = _by_policy(tools, run, measure, [("", run.by_agent[measure.name])])
    else:
        values = _by_unit(run.path, tools, measure.name, run.units)
        at_units = ((run.vocabulary.number(at), of_agents) for at, of_agents in values)
        styles, rows = _by_policy(tools, run, measure, at_units)
    caption = f"{caption_of(tools, measure)} {tools.measures.head(run)}."
    return Figure(
        name=measure.name, shows=caption, kind=kind, rows=rows, styles=styles, x_label=unit
    )


def _by_policy(
    tools: Tools,
    run: Measured[Any],
    measure: AgentMeasure,
    values: Iterable[tuple[str | float, Sequence[Value]]],
) -> tuple[dict[str, Style], list[Row]]:
    """By policy the mean of its agents, and the range if there are several; the highest at the end
    first. A position that is empty is the policy's row.
    """
    ended = standings_of(run.by_agent[measure.name], run.roster)
    names = {standing.policy: _in_full(standing) for standing in ended}
    policies = list(dict.fromkeys(run.roster))
    labels = labels_of(names[policy] for policy in policies)
    styles = {
        policy: attrs.evolve(style, label=labels[names[policy]])
        for policy, style in styles_of(policies, order=tools.hue_order, null=tools.null).items()
    }
    by_policy: dict[str, list[Row]] = {policy: [] for policy in names}
    for at, of_agents in values:
        for standing in standings_of(of_agents, run.roster):
            policy, n = standing.policy, len(standing.agents)
            ends = (standing.lowest, standing.highest) if n > 1 else (None, None)
            row = Row(measure.title, policy, at or names[policy], standing.mean, *ends, n)
            by_policy[policy].append(row)
    return styles, [row for rows in by_policy.values() for row in rows]


def _in_full(standing: Standing) -> str:
    """A policy with the number of its agents, if there are several."""
    count = len(standing.agents)
    return standing.policy if count == 1 else f"{standing.policy} × {count}"


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
