"""What the page of a run shows of it, as data: Python works all of it out, the script draws it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import format_count
from goldrush.replay.data.measures import Measured, Measures
from goldrush.replay.data.run_data import measured_until
from goldrush.replay.data.sampling import sampled
from goldrush.replay.data.user_measures import with_users
from goldrush.replay.find import open_world
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.outline import Outline, outline_of
from goldrush.replay.journal.story import names_of
from goldrush.replay.journal.why import Explanation
from goldrush.replay.outcome import RunOutcome, outcome_of
from goldrush.replay.policies import played
from goldrush.replay.tools import Tools
from goldrush.replay.view.chart import Lines, lines_of, short
from goldrush.replay.view.fields import charts, fields_of, shapes_of, spacing
from goldrush.replay.view.lines import EventLines
from goldrush.replay.view.walked import POINTS_MAX, Walked, any_of

if TYPE_CHECKING:
    from goldrush.replay.data.user_functions import UserMeasure

JOURNAL_MAX: Final = 1 << 23  # bytes of a journal that a page carries
AGENTS_MAX: Final = 10_000  # agents whose policies it names
WHY_MAX: Final = 1 << 16  # characters of explanations that it has besides those of the last unit

Units = tuple[int | None, int | None]  # first and last; None: from the start, to the end


@attrs.frozen(kw_only=True)
class ShownRun:
    """What a page shows of one run.

    Attributes:
        title: the run in a few words.
        outline: its settings, players, forks and size.
        first, last: the public numbers of the first and last unit that are shown.
        total: that of the last closed unit.
        whole: all closed units are shown.
        trouble: the error that breaks off the journal, or None.
        labels: the group of each agent: what it plays, of two runs also in which.
        outcome: of the units that are compared; None where none can be told.
        data: what the script draws, by name; see replay/view/README.md.
        size, sha256: of the journal.
        journal: its bytes; empty above JOURNAL_MAX.
        option: what commands take besides the journal.
    """

    title: str
    outline: Outline
    first: int
    last: int
    total: int
    whole: bool
    trouble: str | None
    labels: Sequence[str]
    outcome: RunOutcome | None
    data: Mapping[str, Any]
    size: int
    sha256: str
    journal: bytes
    option: str

    def as_dict(self) -> dict[str, Any]:
        """What the page's script reads."""
        names = ("first", "last", "sha256", "option")
        return {**{name: getattr(self, name) for name in names}, **self.data}


def policies_of(outline: Outline) -> Sequence[str]:
    """What each agent plays in a run: see `policies.played`."""
    return played(labels for _, labels in outline.declared.labels)


@reader_of
def shown_of(
    path: str | Path,
    tools: Tools,
    units: Units,
    users: Sequence[UserMeasure] = (),
    groups: Sequence[str] | None = None,
    until: int = 0,
) -> ShownRun:
    """What a page shows of a journal.

    Args:
        users: measures of the user.
        groups: of one of two runs, by agent, the group that is compared with one of the other.
        until: after which unit they are, numbered from 1; 0: after the last one.

    Raises BadInput for units that the journal does not have, and for a score that fails;
    JournalError as reading a journal does.
    """
    view, outline = tools.view, outline_of(path)
    declared = outline.declared
    labels = policies_of(outline) if groups is None else groups
    lines = lines_of(labels, by_policy=groups is not None)
    whys, explained = _explained(tools, path, units, outline)
    with JournalReader(path) as reader:
        world = open_world(reader, tools.world)
        sentences = EventLines(world, tools.sentences(path, world.events), view, whys)
        walked = Walked(tools, world, units, sentences, lines)
        walked.read(reader)
        content = b"".join(reader.pieces(0, reader.size))
    measures = with_users(tools.measures, users)
    measured = _measured(path, measures, walked.end if walked.trouble else None)
    compared = measured
    if 0 < until < walked.closed:
        compared = measured and measured_until(path, until, users)
    names, number = walked.shown.names or names_of(path), world.vocabulary.number
    first, last = number(walked.first), number(walked.last)
    trouble = walked.trouble
    outcome, by_agent = None, []
    if compared is not None:
        outcome = outcome_of(tools, compared, breaks_off=trouble is not None)
        by_agent = [
            {
                "title": (tools.measures.of_agents.get(name) or compared.known[name]).title,
                "values": [short(value) for value in values],
            }
            for name, values in compared.by_agent.items()
        ]
    chart, charted = _chart(walked, measured, outcome, labels, lines)
    states = _states(tools, walked, outline, lines_of(labels))
    return ShownRun(
        title=_title(outline, tools, measured),
        outline=outline,
        first=first,
        last=last,
        total=number(walked.closed),
        whole=walked.first == 1 and walked.last == walked.closed,
        trouble=None if trouble is None else str(trouble).removeprefix(f"{path}: "),
        labels=labels,
        outcome=outcome,
        data={
            "front": {**chart, "measures": by_agent},
            "forks": declared.history,
            "rosters": [(start, of[:AGENTS_MAX]) for start, of in declared.labels],
            "names": names,
            "folded": list(view.folded),
            "templates": sentences.templates,
            "lines": walked.lines,
            "explained": explained,
            "explains": sorted(set(view.explains.values())),
            "unseen": [title for title in view.groups if title in view.drawn],
            "count": max(len(labels), len(names)),
            **states,
            "measures": [] if measured is None else _measures(measures, measured, walked, charted),
        },
        size=len(content),
        sha256=sha256(content).hexdigest(),
        journal=content if len(content) <= JOURNAL_MAX else b"",
        option=tools.code_option(Path(path).parent) or view.verify_option,
    )


def _title(outline: Outline, tools: Tools, measured: Measured[Any] | None) -> str:
    """The run on one line, behind its world, unless that line has what was run in the world."""
    if measured is None:
        head = format_count(outline.units, outline.vocabulary.unit)
    else:
        head = tools.measures.head(measured)
    return head if outline.subject else f"{tools.name}: {head}"


def _states(tools: Tools, walked: Walked, outline: Outline, lines: Lines) -> dict[str, Any]:
    """The states by field, and the charts of states that measures do not have."""
    view, measures = tools.view, tools.measures
    samples = walked.states.items()
    stated = [number for number, _ in samples]
    states, agents = [state for _, (state, _) in samples], [count for _, (_, count) in samples]
    fields = fields_of(states, agents)
    before = walked.before
    if states and shapes_of(before, agents[0]) == shapes_of(states[0], agents[0]):
        stated = [outline.vocabulary.number(walked.first - 1), *stated]
    else:
        before = {}
    ranked = {view.ranks} if measures.of_agents and measures.agents_at is not None else set()
    not_charted = {*view.drawn, *view.identifiers, *ranked}  # the top of the page has the ranks'
    known = {name for name, measure in measures.known.items() if measure.by_unit}
    charted = {
        name: field
        for name, field in fields.items()
        if name not in not_charted and not (field.kind == "one" and name in known)
    }
    return {
        "stated": stated,
        "every": walked.states.every,
        "fields": [
            {
                "name": name,
                **field.as_dict(
                    [before[name]] if name in before else [], is_drawn=name in view.drawn
                ),
            }
            for name, field in fields.items()
        ],
        "ranks": view.ranks,
        "charts": list(charts(charted, lines)),
        "spacing": walked.states.every * spacing(len(states)),
    }


def _explained(
    tools: Tools, path: str | Path, units: Units, outline: Outline
) -> tuple[Mapping[int, Sequence[Explanation]], int]:
    """By unit the explanations that a page has: the first ones, and those of the last unit, at
    which it opens; then the last unit of the first ones.
    """
    vocabulary, found = outline.vocabulary, dict[int, Sequence[Explanation]]()
    first, until = units
    last = vocabulary.number(outline.closed)
    last = last if until is None else min(until, last)
    if not tools.view.explains:
        return found, last
    begin, size, explained = vocabulary.first if first is None else first, 0, last
    for unit, each in groupby(tools.explain(path, begin, last - 1), attrgetter("unit")):
        if size > WHY_MAX:
            explained = max(found)
            break
        found[unit] = list(each)
        size += sum(len(str(one)) for one in found[unit])
    found[last] = list(tools.explain(path, last, last))
    return found, explained


def _measured(path: str | Path, measures: Measures, end: int | None) -> Measured[Any] | None:
    """The measures of a run; `end`: of a damaged one, the offset after the last whole commit."""
    if not (measures.known or measures.of_agents):
        return None
    with JournalReader(path) as reader, reader.again(end) as whole:
        return measures.read(whole)


def _chart(
    walked: Walked,
    measured: Measured[Any] | None,
    outcome: RunOutcome | None,
    labels: Sequence[str],
    lines: Lines,
) -> tuple[dict[str, Any], Collection[str]]:
    """The chart of the outcome over the units of the whole run, and the measures of the run that it
    shows. `lines`: of an outcome of agents.
    """
    points, charted, each = walked.points, list[str](), list[dict[str, object]]()
    if points:
        charted = [outcome.measure.name] if outcome is not None and len(labels) == 1 else []
        each = [
            {
                **({"agent": title} if isinstance(title, int) else {"count": len(agents)}),
                "policy": labels[agents[0]],
            }
            for title, agents in lines.items()
        ]
    elif outcome is not None and measured is not None:
        charted, each = [outcome.measure.name], [{"title": outcome.measure.title}]
        number, series = measured.vocabulary.number, measured.values.get(charted[0], ())
        points = [(number(at), [short(series[at - 1])]) for at in sampled(len(series), POINTS_MAX)]
    values = zip(*(row for _, row in points), strict=True)
    chart = {
        "title": "score" if outcome is None else outcome.measure.title,
        "definition": "" if outcome is None else outcome.measure.definition,
        "units": [unit for unit, _ in points],
        "lines": [{**line, "values": of} for line, of in zip(each, values, strict=bool(points))],
    }
    return chart, charted


def _measures(
    measures: Measures, measured: Measured[Any], walked: Walked, charted: Collection[str]
) -> list[dict[str, Any]]:
    """The measures by unit, but those that the top of the page charts."""
    values = {
        name: series[walked.first - 1 : walked.last] for name, series in measured.values.items()
    }
    known = measured.known
    of_units = [name for name in measures.of_runs if name in known and known[name].by_unit]
    main = of_units or known
    return [
        {
            "name": name,
            "is_main": name in main,
            "title": measure.title,
            "definition": measure.definition,
            "low": measure.limits[0] if measure.limits[0] > -1e300 else None,
            "values": [short(value) for value in values[name]],
        }
        for name, measure in known.items()
        if measure.by_unit and any_of(values[name]) and name not in charted
    ]
