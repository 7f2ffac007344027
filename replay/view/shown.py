"""What the page of a run shows of it, as data: Python works all of it out, the script draws it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from goldrush.kernel.journal import JournalReader
from goldrush.kernel.measures import Value
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
from goldrush.replay.outcome import of_agents, outcome_of
from goldrush.replay.policies import played
from goldrush.replay.tools import Tools
from goldrush.replay.view.chart import Lines, short
from goldrush.replay.view.fields import charts, fields_of, shape_of, spacing
from goldrush.replay.view.front import POINTS_MAX, RunFront
from goldrush.replay.view.lines import EventLines
from goldrush.replay.view.walked import Walked, any_of

if TYPE_CHECKING:
    from goldrush.replay.data.user_functions import UserMeasure

JOURNAL_MAX: Final = 1 << 23  # bytes of a journal that a page carries
AGENTS_MAX: Final = 10_000  # agents whose policies it names

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
        front: what stands at the top of the page.
        data: what else the script draws, by name; see replay/view/README.md.
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
    front: RunFront
    data: Mapping[str, Any]
    size: int
    sha256: str
    journal: bytes
    option: str

    def as_dict(self) -> dict[str, Any]:
        """What the page's script reads."""
        declared = self.outline.declared
        return {
            "first": self.first,
            "last": self.last,
            "forks": declared.history,
            "rosters": [
                (first, _neighbours(labels[:AGENTS_MAX])) for first, labels in declared.labels
            ],
            "size": self.size,
            "sha256": self.sha256,
            "option": self.option,
            **self.data,
        }


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
    labels = policies_of(outline) if groups is None else groups
    lines_of_agents = Lines.of(labels, by_policy=groups is not None)
    with JournalReader(path) as reader:
        world = open_world(reader, tools.world)
        lines = EventLines(
            world, tools.sentences(path, world.events)(), view,
            _explained(tools, path, units, outline),
        )  # fmt: skip
        walked = Walked(tools, world, units, lines, lines_of_agents)
        walked.read(reader)
        content = b"".join(reader.pieces(0, reader.size))
    measures = with_users(tools.measures, users)
    measured = _measured(path, measures, walked.end if walked.trouble else None)
    compared = measured
    if 0 < until < walked.closed:
        compared = measured and measured_until(path, until, users)
    names, number = names_of(path), world.vocabulary.number
    first, last = number(walked.first), number(walked.last)
    trouble = walked.trouble
    front = RunFront(None, labels, lines_of_agents, walked.points)
    front = _front(tools, measured, compared, front, trouble)
    states = _states(tools, walked, outline, Lines.of(labels), measured)
    return ShownRun(
        title=_title(outline, tools, measured),
        outline=outline,
        first=first,
        last=last,
        total=number(walked.closed),
        whole=walked.first == 1 and walked.last == walked.closed,
        trouble=None if trouble is None else str(trouble).removeprefix(f"{path}: "),
        front=front,
        data={
            "names": names,
            "folded": list(view.folded),
            "templates": lines.templates,
            "lines": lines.with_room(walked.lines),
            "left_out": lines.left_out,
            "explained": lines.last_explained,
            "explains": sorted(set(view.explains.values())),
            "unseen": [title for title in view.groups if title in view.drawn],
            "tracks": [{"title": t, "values": counts} for t, counts in walked.tracks.items()],
            "count": max(len(labels), len(names)),
            **states,
            "measures": [] if measured is None else _measures(measures, measured, walked, front),
            "added": {} if view.added is None else view.added(path, first, last),
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


def _neighbours(labels: Sequence[str]) -> list[tuple[str, int]]:
    return [(label, len(list(same))) for label, same in groupby(labels)]


def _states(
    tools: Tools, walked: Walked, outline: Outline, lines: Lines, measured: Measured[Any] | None
) -> dict[str, Any]:
    """The states by field, and the charts of states that measures do not have."""
    view, measures = tools.view, tools.measures
    units = stated = [number for number, _ in walked.states.items()]
    states = [state for _, state in walked.states.items()]
    rosters = outline.declared.labels

    def agents_at(number: int) -> int:
        return next((len(of) for start, of in reversed(rosters) if start <= number), 0)

    agents = [agents_at(unit) for unit in units]
    fields = fields_of(states, agents, view.by_agent)
    before = walked.before
    if states and {name: shape_of(value, agents[0]) for name, value in before.items()} == {
        name: shape_of(value, agents[0]) for name, value in states[0].items()
    }:
        stated = [outline.vocabulary.number(walked.first - 1), *units]
    else:
        before = {}
    ranked = {view.ranks} if measures.of_agents and measures.agents_at is not None else set()
    not_charted = {*view.drawn, *view.identifiers, *ranked}  # the top of the page has the ranks'
    known = {name for name, measure in measures.known.items() if measure.by_unit}
    charted = {
        name: field
        for name, field in fields.items()
        if name not in not_charted
        and not (field.kind == "one" and name in known)
        and not (
            field.kind == "agents"
            and field.numbers
            and _measured_as(measured, units, cast("Sequence[Sequence[Value]]", field.values))
        )
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


def _measured_as(
    measured: Measured[Any] | None, numbers: Iterable[int], rows: Iterable[Any]
) -> list[str]:
    """The measures by unit of a run that have these values of its one agent, where both are
    defined. `numbers`: the public numbers of the units of the rows.
    """
    points = [(number, row[0]) for number, row in zip(numbers, rows, strict=True) if len(row) == 1]
    if measured is None or not points or len(measured.roster) != 1:
        return []
    unit_of = measured.vocabulary.unit_of
    pairs = {
        name: [(short(values[unit_of(number) - 1]), short(value)) for number, value in points]
        for name, values in measured.values.items()
    }
    return [
        name
        for name, of_measure in pairs.items()
        if any(None not in pair for pair in of_measure)
        and all(a == b for a, b in of_measure if None not in (a, b))
    ]


def _explained(
    tools: Tools, path: str | Path, units: Units, outline: Outline
) -> tuple[Iterator[Explanation], Sequence[Explanation]] | None:
    """The explanations of the units, and those of the last one, at which a page opens; None for a
    world without.
    """
    if not tools.view.explains:
        return None
    first, until = units
    closed = outline.vocabulary.number(outline.closed)
    last = closed if until is None else min(until, closed)
    begin = outline.vocabulary.first if first is None else first
    return tools.explain(path, begin, last - 1), tuple(tools.explain(path, last, last))


def _measured(path: str | Path, measures: Measures, end: int | None) -> Measured[Any] | None:
    """The measures of a run; `end`: of a damaged one, the offset after the last whole commit."""
    if not (measures.known or measures.of_agents):
        return None
    with JournalReader(path) as reader, reader.again(end) as whole:
        return measures.read(whole)


def _front(
    tools: Tools,
    measured: Measured[Any] | None,
    compared: Measured[Any] | None,
    front: RunFront,
    trouble: object,
) -> RunFront:
    """The front with the outcome of the units that are compared. `measured`: the whole run."""
    if measured is None or compared is None:
        return front
    known = tools.measures.of_agents
    outcome = outcome_of(tools, compared, breaks_off=trouble is not None)
    values = [
        (known.get(name) or of_agents(compared.known[name]), by_agent)
        for name, by_agent in compared.by_agent.items()
    ]
    front = attrs.evolve(front, outcome=outcome, measures=values)
    if front.points:
        return attrs.evolve(front, charted=_measured_as(measured, *zip(*front.points, strict=True)))
    name, number = outcome.measure.name, measured.vocabulary.number
    series = measured.values.get(name, ())
    points = [(number(at), [short(series[at - 1])]) for at in sampled(len(series), POINTS_MAX)]
    return attrs.evolve(front, lines=None, points=points, charted=[name])


def _measures(
    measures: Measures, measured: Measured[Any], walked: Walked, front: RunFront
) -> list[dict[str, Any]]:
    """The measures by unit, but those that the top of the page charts."""
    values = {
        name: series[walked.first - 1 : walked.last] for name, series in measured.values.items()
    }
    of_units = [name for name in measures.of_units if name in measured.known]
    main = of_units or list(measured.known)
    return [
        {
            "name": name,
            "is_main": name in main,
            "title": measure.title,
            "definition": measure.definition,
            "low": measure.limits[0] if measure.limits[0] > -1e300 else None,
            "values": [short(value) for value in values[name]],
        }
        for name, measure in measured.known.items()
        if measure.by_unit and any_of(values[name]) and name not in front.charted
    ]
