"""What the page of a run shows of it, as data: Python works all of it out, the script draws it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from goldrush.kernel.errors import JournalError
from goldrush.kernel.journal import UNIT, JournalReader
from goldrush.kernel.measures import Value
from goldrush.replay.data.measures import Measured, Measures
from goldrush.replay.data.sampling import sampled
from goldrush.replay.data.user_measures import with_users
from goldrush.replay.find import open_world, world_option
from goldrush.replay.journal.declared import declared_in
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.rebuild import last_unit
from goldrush.replay.journal.story import names_of
from goldrush.replay.journal.why import Explanation
from goldrush.replay.outcome import of_agents, outcome_of
from goldrush.replay.policies import played
from goldrush.replay.tools import Tools
from goldrush.replay.view.about import facts_of, rosters_of, title_of
from goldrush.replay.view.fields import charts
from goldrush.replay.view.front import POINTS_MAX, OutcomeAt, RunFront, any_of
from goldrush.replay.view.lines import Lines
from goldrush.replay.view.numbers import short
from goldrush.replay.view.walked import Walked

if TYPE_CHECKING:
    from goldrush.replay.data.user_functions import UserMeasure

JOURNAL_MAX: Final = 1 << 23  # bytes of a journal that a page carries


@attrs.frozen(kw_only=True)
class ShownRun:
    """What a page shows of one run.

    Attributes:
        title: the run in a few words.
        facts: about the run, by name.
        first, last: the public numbers of the first and last unit that are shown.
        total: that of the last closed unit.
        whole: all closed units are shown.
        trouble: the error that breaks off the journal, or None.
        forks: of each fork that led to the run, its first unit and what it changed.
        front: what stands at the top of the page.
        rosters: (first unit, the policies of neighbours with their number) of each roster.
        data: what else the script draws, by name; see replay/view/README.md.
        size, sha256: of the journal.
        journal: its bytes; empty above JOURNAL_MAX.
        option: what commands take besides the journal.
    """

    title: str
    facts: Sequence[tuple[str, str]]
    first: int
    last: int
    total: int
    whole: bool
    trouble: str | None
    forks: Sequence[tuple[int, str]]
    front: RunFront
    rosters: Sequence[tuple[int, Sequence[tuple[str, int]]]]
    data: Mapping[str, Any]
    size: int
    sha256: str
    journal: bytes
    option: str

    def as_dict(self) -> dict[str, Any]:
        """What the page's script reads."""
        names = (
            "first", "last", "total", "whole", "trouble", "forks", "rosters", "size", "sha256",
            "option",
        )  # fmt: skip
        return {**{name: getattr(self, name) for name in names}, **self.data}


@reader_of
def policies_of(path: str | Path, tools: Tools) -> Sequence[str]:
    """What each agent plays in a run, as far as its journal can be read: see `policies.played`."""
    with JournalReader(path) as reader:
        declared = declared_in(open_world(reader, tools.world), reader, tools.players.prompts)
    return played(labels for _, labels in declared.labels)


@reader_of
def shown_of(
    path: str | Path,
    tools: Tools,
    units: tuple[int | None, int | None],
    users: Sequence[UserMeasure] = (),
    labels: Sequence[str] | None = None,
) -> ShownRun:
    """What a page shows of a journal. `users`: measures of the user; `labels`: the groups of
    agents, as in `RunFront`; None: by what they play.

    Raises BadInput for units that the journal does not have, and for a score that fails;
    JournalError as reading a journal does.
    """
    view = tools.view
    labels = policies_of(path, tools) if labels is None else labels
    with JournalReader(path) as reader:
        world = open_world(reader, tools.world)
        words = world.vocabulary
        sentences = tools.sentences(path, world.events)()
        lines = Lines(world, sentences, view, _explained(path, tools, units))
        walked = Walked(tools, world, units, lines, labels)
        walked.read(reader)
        content = b"".join(reader.pieces(0, reader.size))
    measures = with_users(tools.measures, users)
    measured = _measured(path, measures, walked.end if walked.trouble else None)
    number, names = words.number, names_of(path)
    first, last = number(walked.first), number(walked.last)
    return ShownRun(
        title=title_of(world, tools, walked),
        facts=facts_of(world, len(content), walked, tools.about(walked.setup)),
        first=first,
        last=last,
        total=number(walked.closed),
        whole=walked.is_all,
        trouble=_without_path(walked.trouble, path),
        forks=[(unit, text) for unit, text, _ in walked.forks],
        front=_front(tools, measured, walked.points, labels, breaks_off=walked.trouble is not None),
        rosters=rosters_of(walked.declared[-1][1]),
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
            **_states(tools, walked),
            "measures": [] if measured is None else _measures(measures, measured, walked),
            "added": {} if view.added is None else view.added(path, first, last),
        },
        size=len(content),
        sha256=sha256(content).hexdigest(),
        journal=content if len(content) <= JOURNAL_MAX else b"",
        option=world_option(tools.name, Path(path).parent) or view.verify_option,
    )


def _states(tools: Tools, walked: Walked) -> dict[str, Any]:
    """The states by field, and the charts of states."""
    states, fields = walked.states, walked.fields
    measures = {name for name, measure in tools.measures.known.items() if measure.by_unit}
    drawn = tools.view.drawn
    charted = {name: field for name, field in fields.items() if name not in drawn}
    return {
        "stated": [number for number, _ in states],
        "every": walked.every,
        "fields": [
            {
                "name": name,
                "is_drawn": name in drawn,
                **field.as_dict([state.get(name) for _, state in states]),
            }
            for name, field in fields.items()
        ],
        "ranks": tools.view.ranks,
        "charts": list(charts(charted, walked.series, measures)),
        "spacing": walked.spacing,
    }


def _explained(
    path: str | Path, tools: Tools, units: tuple[int | None, int | None]
) -> tuple[Iterator[Explanation], Sequence[Explanation]] | None:
    """The explanations of the units, and those of the last one, at which a page opens; None for a
    world without.
    """
    if not tools.view.explains:
        return None
    first, until = units
    last = last_unit(path)[0] if until is None else min(until, last_unit(path)[0])
    begin = tools.vocabulary.first if first is None else first
    return tools.explain(path, begin, last - 1), tuple(tools.explain(path, last, last))


@reader_of
def front_until(
    path: str | Path, tools: Tools, users: Sequence[UserMeasure], labels: Sequence[str], unit: int
) -> RunFront:
    """The front for the first units of a run, up to this one, without the course of its outcome;
    `users` and `labels`: as for `shown_of`.

    Raises JournalError as reading a journal does.
    """
    with JournalReader(path) as reader:
        ends = (
            commit.end
            for commit in reader
            if commit.kind == UNIT and commit.digest is not None and commit.unit == unit
        )
        end = next(ends)
    return _front(tools, _measured(path, with_users(tools.measures, users), end), (), labels)


def _without_path(trouble: JournalError | None, path: str | Path) -> str | None:
    """The error in a journal, without its path."""
    return None if trouble is None else str(trouble).removeprefix(f"{path}: ")


def _measured(path: str | Path, measures: Measures, end: int | None) -> Measured[Any] | None:
    """The measures of a run; `end`: of a damaged one, the offset after the last whole commit."""
    if not (measures.known or measures.of_agents):
        return None
    with JournalReader(path) as reader, reader.again(end) as whole:
        return measures.read(whole)


def _front(
    tools: Tools,
    measured: Measured[Any] | None,
    points: Sequence[tuple[int, OutcomeAt]],
    labels: Sequence[str],
    *,
    breaks_off: bool = False,
) -> RunFront:
    known = tools.measures.of_agents
    if measured is None or not (known or tools.measures.known):
        return RunFront(None, labels, points, [])
    values = [
        (known.get(name) or of_agents(measured.known[name]), by_agent)
        for name, by_agent in measured.by_agent.items()
    ]
    outcome = outcome_of(tools, measured, breaks_off=breaks_off)
    whole = [] if points else _whole(measured, outcome.measure.name)
    return RunFront(outcome, labels, points, values, whole)


def _whole(measured: Measured[Any], name: str) -> list[tuple[int, Value]]:
    """The values of a measure of the run by unit, of some units."""
    values = measured.values.get(name, ())
    number = measured.vocabulary.number
    return [(number(unit), values[unit - 1]) for unit in sampled(len(values), POINTS_MAX)]


def _measures(measures: Measures, measured: Measured[Any], walked: Walked) -> list[dict[str, Any]]:
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
        if measure.by_unit and any_of(values[name])
    ]
