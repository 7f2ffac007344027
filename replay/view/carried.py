"""The content of a page for one run: the journal's bytes, a fingerprint of the folded facts for
every unit, and results that take its world's rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from goldrush.kernel.errors import JournalError
from goldrush.kernel.journal import UNIT, JournalReader
from goldrush.kernel.measures import Value
from goldrush.replay.data.measures import Measured, Measures
from goldrush.replay.data.sampling import sampled
from goldrush.replay.data.user_measures import with_users
from goldrush.replay.find import open_world
from goldrush.replay.journal.declared import declared_in
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.story import names_of
from goldrush.replay.outcome import of_agents, outcome_of
from goldrush.replay.policies import played
from goldrush.replay.tools import Tools, View
from goldrush.replay.view.about import facts_of, rosters_of, title_of
from goldrush.replay.view.front import POINTS_MAX, OutcomeAt, RunFront, any_of
from goldrush.replay.view.numbers import short
from goldrush.replay.view.page_walk import PageWalk
from goldrush.replay.view.told import Told

if TYPE_CHECKING:
    from goldrush.replay.data.user_functions import UserMeasure


@attrs.frozen
class Piece:
    """Consecutive bytes of a journal: their offset, and the checksum before them in hex (None if
    they begin with the header).
    """

    offset: int
    before: str | None
    bytes: bytes


@attrs.frozen(kw_only=True)
class Carried:
    """The content of a page for one run.

    Attributes:
        shown: facts at the top of the page, by name.
        size: of the journal, in bytes.
        first, last: the public numbers of the first and last unit that are shown.
        total: that of the last closed unit.
        whole: all closed units are shown.
        trouble: the error that breaks off the journal, or None.
        pieces: the bytes of the journal, or of its start and of these units.
        setups: (first unit, settings and players in force), the start's first; empty for a whole
            run, whose journal has them.
        forks: of each fork that led to the run, its first unit and what it changed.
        option: as `Tools.verify_option`.
        facts: the facts before the first unit, from which the page folds.
        prints: the fingerprints of the facts after each unit, 16 hex digits each.
        sentences: see Told.
        measures: name, title, definition, lower limit, whether it is a main one, and a value by
            unit.
        rosters: (first unit, the policies of neighbours with their number) of each roster.
        front: what stands at the top of the page.
    """

    title: str
    shown: Sequence[tuple[str, str]]
    names: Mapping[int, str]
    option: str
    size: int
    first: int
    last: int
    total: int
    whole: bool
    trouble: str | None
    pieces: Sequence[Piece]
    setups: Sequence[tuple[int, Mapping[str, Any]]]
    forks: Sequence[tuple[int, str]]
    facts: Any
    prints: str
    sentences: Mapping[str, Sequence[object]]
    measures: Sequence[Mapping[str, Any]]
    rosters: Sequence[tuple[int, Sequence[tuple[str, int]]]]
    front: RunFront
    computed: Any

    def as_dict(self) -> dict[str, Any]:
        """The part that the page's script reads as data, without the bytes."""
        fields = attrs.asdict(self, recurse=False)
        for name in ("pieces", "shown", "title", "size", "total", "front"):
            del fields[name]
        return fields


@reader_of
def policies_of(path: str | Path, tools: Tools) -> Sequence[str]:
    """What each agent plays in a run, as far as its journal can be read: see `policies.played`."""
    with JournalReader(path) as reader:
        declared = declared_in(open_world(reader, tools.world), reader, tools.players.prompts)
    return played(labels for _, labels in declared.labels)


@reader_of
def carried(
    path: str | Path,
    tools: Tools,
    view: View,
    units: tuple[int | None, int | None],
    users: Sequence[UserMeasure] = (),
    labels: Sequence[str] | None = None,
) -> Carried:
    """The content of a page for a journal. `users`: measures of the user; `labels`: the groups of
    agents, as in `RunFront`; None: by what they play.

    Raises BadInput for units that the journal does not have; JournalError as reading a journal
    does.
    """
    with JournalReader(path) as reader:
        world = open_world(reader, tools.world)
        told = [type.name for type in world.events if type.text] if view.told is None else view.told
        sentences = Told(world, tools.sentences(path, world.events)(), told)
        if labels is None:
            labels = policies_of(path, tools)
        walked = PageWalk(world, tools.measures, view, units, sentences, labels)
        walked.read(reader)
        number = world.vocabulary.number
        whole = walked.is_all
        pieces = [Piece(0, None, _bytes(reader, 0, walked.until if whole else walked.start))]
        if not whole:
            before = f"{reader.checksum_before(walked.since):016x}"
            pieces.append(Piece(walked.since, before, _bytes(reader, walked.since, walked.until)))
        size = reader.size
    measures = with_users(tools.measures, users)
    measured = _measured(path, measures, walked.end if walked.trouble else None)
    first, last = number(walked.first), number(walked.last)
    return Carried(
        title=title_of(world, tools, walked),
        shown=facts_of(world, size, walked, tools.about(walked.setup)),
        names=names_of(path),
        option=tools.verify_option,
        size=size,
        first=first,
        last=last,
        total=number(walked.closed),
        whole=whole,
        trouble=_without_path(walked.trouble, path),
        pieces=pieces,
        setups=[
            (number(unit), {"config": dict(setup.settings), "players": list(setup.players)})
            for unit, setup in (() if whole else walked.declared)
        ],
        forks=[(unit, text) for unit, text, _ in walked.forks],
        facts=walked.facts,
        prints=walked.prints,
        sentences=sentences.as_dict(),
        measures=[] if measured is None else _measures(measures, measured, walked),
        rosters=rosters_of(walked.declared[-1][1]),
        front=_front(tools, measured, walked.points, labels, breaks_off=walked.trouble is not None),
        computed=None if view.computed is None else view.computed(path, first, last),
    )


@reader_of
def front_until(
    path: str | Path, tools: Tools, users: Sequence[UserMeasure], labels: Sequence[str], unit: int
) -> RunFront:
    """The front for the first units of a run, up to this one, without the course of its outcome;
    `users` and `labels`: as for `carried`.

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


def _bytes(reader: JournalReader, start: int, end: int) -> bytes:
    return b"".join(reader.pieces(start, end))


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


def _measures(
    measures: Measures, measured: Measured[Any], walked: PageWalk
) -> list[dict[str, Any]]:
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
