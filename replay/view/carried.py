"""The content of a page for one run: the journal's bytes, a fingerprint of the folded facts for
every unit, and results that take its world's rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.kernel import fold
from goldrush.kernel.codec import fingerprint
from goldrush.kernel.errors import BadInput, DamagedJournal, JournalError, TornTail
from goldrush.kernel.journal import FORK, START, UNIT, JournalReader
from goldrush.kernel.shape import amount
from goldrush.kernel.text import format_count
from goldrush.kernel.walk import DIGESTS, Walk
from goldrush.kernel.world import Event, Vocabulary, World
from goldrush.replay.data.measures import AgentMeasure, Measure, Measured, Measures
from goldrush.replay.data.user_measures import UserMeasure, with_users
from goldrush.replay.find import open_world
from goldrush.replay.journal.declared import Declared, declared_by, fork_changes, labels_of
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.outline import units_of
from goldrush.replay.journal.story import names_of
from goldrush.replay.outcome import outcome_of
from goldrush.replay.tools import Tools, View
from goldrush.replay.view.front import Course, Front, any_of, rosters_of
from goldrush.replay.view.spaced import short
from goldrush.replay.view.spread import POLICIES_MAX
from goldrush.replay.view.told import Told

JOURNAL_MAX: Final = 1 << 23  # bytes of a journal that a page carries
UNITS_MAX: Final = 20_000  # units that a page shows
AGENTS_MAX: Final = 10_000  # agents whose policies it names


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
    front: Front
    computed: Any

    def as_dict(self) -> dict[str, Any]:
        """The part that the page's script reads as data, without the bytes."""
        fields = attrs.asdict(self, recurse=False)
        for name in ("pieces", "shown", "title", "size", "total", "front"):
            del fields[name]
        return fields


@attrs.frozen
class _Walked:
    """The result of a walk over a journal: the wanted units, the offsets of their bytes, and
    declarations with the unit from which each is in force.
    """

    declared: Sequence[tuple[int, Declared]]
    forks: Sequence[tuple[int, str, str]]
    first: int
    last: int
    facts: Any
    prints: str
    start: int  # the offset after START
    since: int  # the offset of the first unit
    until: int  # the offset after the last unit, and after END where that follows
    closed: int  # the last closed unit
    course: Course
    is_all: bool
    trouble: JournalError | None


@reader_of
def carried(
    path: str | Path,
    tools: Tools,
    view: View,
    units: tuple[int | None, int | None],
    users: Sequence[UserMeasure] = (),
) -> Carried:
    """The content of a page for a journal. `users`: measures of the user.

    Raises BadInput for units that the journal does not have; JournalError as reading a journal
    does.
    """
    with JournalReader(path) as reader:
        world = open_world(reader, tools.world)
        told = [type.name for type in world.events if type.text] if view.told is None else view.told
        sentences = Told(world, tools.sentences(path, world.events)(), told)
        course = Course(tools, world.vocabulary)
        walked = _walk(world, reader, view, units, sentences, course)
        number = world.vocabulary.number
        whole = walked.is_all
        pieces = [Piece(0, None, _bytes(reader, 0, walked.until if whole else walked.start))]
        if not whole:
            before = f"{reader.checksum_before(walked.since):016x}"
            pieces.append(Piece(walked.since, before, _bytes(reader, walked.since, walked.until)))
        size = reader.size
    measures = with_users(tools.measures, users)
    measured = None if walked.trouble else _measured(path, measures)
    first, last = number(walked.first), number(walked.last)
    return Carried(
        title=_title(world, tools, walked),
        shown=_shown(world, size, walked),
        names=names_of(path),
        size=size,
        first=first,
        last=last,
        total=number(walked.closed),
        whole=whole,
        trouble=_without_path(walked.trouble, path),
        pieces=pieces,
        setups=[
            (number(unit), {"config": dict(one.settings), "players": list(one.players)})
            for unit, one in (() if whole else walked.declared)
        ],
        forks=[(unit, text) for unit, text, _ in walked.forks],
        facts=walked.facts,
        prints=walked.prints,
        sentences=sentences.as_dict(),
        measures=[] if measured is None else _measures(measures, measured, walked),
        rosters=rosters_of(_labels(walked.declared[-1][1])),
        front=_front(tools, measured, walked),
        computed=None if view.computed is None else view.computed(path, first, last),
    )


def _walk(
    world: World[Any],
    reader: JournalReader,
    view: View,
    units: tuple[int | None, int | None],
    told: Told,
    course: Course,
) -> _Walked:
    vocabulary = world.vocabulary
    first = 1 if units[0] is None else vocabulary.unit_of(units[0])
    most = None if units[1] is None else vocabulary.unit_of(units[1])
    declared: list[tuple[int, Declared]] = []
    forks: list[tuple[int, str, str]] = []
    facts: Any = None
    prints: list[str] = []
    trouble: JournalError | None = None
    start = since = until = last = end = closed = 0
    policies: Sequence[str] = ()
    walk = Walk(world, reader, DIGESTS)
    try:
        for commit, state in walk:
            end = commit.end
            if commit.kind in (START, FORK):
                before = declared[-1][1] if declared else None
                event = fold.setup_event(world, reader, commit)
                declared.append((commit.unit + 1, declared_by(world, before, event)))
                policies = labels_of(declared[-1][1].players)
                if before is not None:
                    parent = str(event.fields["parent"])[:16]
                    forks.append((event.unit + 1, _forked(vocabulary, event, before), parent))
            if commit.kind == START:
                start = since = until = end
            if commit.unit >= first:
                told.add(commit)
            if commit.digest is None:
                continue
            if commit.kind == UNIT:
                closed = commit.unit
                course.add(closed, state, policies)
            if commit.kind == FORK and commit.unit == first - 1:
                continue  # it precedes the first unit that is shown, and is carried with it
            if commit.unit < first:
                facts, since = _plain(view, state), end
                continue
            is_shown = commit.kind == UNIT and not _is_full(prints, end - since, commit.unit, most)
            told.close(is_shown)
            if is_shown:
                prints.append(f"{fingerprint(_plain(view, state)):016x}" if view.facts else "")
                last, until = commit.unit, end
    except (TornTail, DamagedJournal) as error:
        if not start:
            raise
        trouble = error  # the units before it are shown
    if not prints:
        raise BadInput(
            f"{reader.path} has no {vocabulary.unit} to show there",
            f"its {vocabulary.units} are {vocabulary.number(1)} to {vocabulary.number(closed)}"
            if closed
            else f"no {vocabulary.unit} of it is closed",
        )
    if trouble is None:
        course.end(closed, walk.state, policies)
    is_all = first == 1 and last == closed
    if is_all:
        until = end  # with END, and pending inputs
    return _Walked(
        declared,
        forks,
        first,
        last,
        facts,
        "".join(prints),
        start,
        since,
        until,
        closed,
        course,
        is_all,
        trouble,
    )


def _is_full(prints: Sequence[str], size: int, unit: int, most: int | None) -> bool:
    """Whether a unit is beyond the wanted ones, or beyond the limits of a page."""
    beyond = most is not None and unit > most
    return beyond or len(prints) >= UNITS_MAX or (size > JOURNAL_MAX and bool(prints))


def _forked(vocabulary: Vocabulary, event: Event, before: Declared) -> str:
    changes = fork_changes(vocabulary, event, before)
    return f"Forked after {vocabulary.unit} {event.unit}: {changes}."


def _bytes(reader: JournalReader, start: int, end: int) -> bytes:
    return b"".join(reader.pieces(start, end))


def _plain(view: View, state: Any) -> Any:
    """The facts as they are in the page: whole numbers as integers, since the page's language does
    not distinguish them.
    """
    return None if view.facts is None else _whole(view.facts(state))


def _whole(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_whole(item) for item in value]
    if type(value) is float and abs(value) < 2**53:
        return amount(value)
    return value


def _title(world: World[Any], tools: Tools, walked: _Walked) -> str:
    declared = walked.declared[-1][1]
    length, of = format_count(walked.closed, world.vocabulary.unit), units_of(tools, declared)
    part = "" if of in (None, walked.closed) else f" of {of:,}"
    seed = "" if declared.seed is None else f", seed {declared.seed}"
    return f"{world.name}: {length}{part}{seed}"


def _shown(world: World[Any], size: int, walked: _Walked) -> list[tuple[str, str]]:
    declared = walked.declared[-1][1]
    first, last, closed = map(world.vocabulary.number, (walked.first, walked.last, walked.closed))
    part = "" if walked.is_all else f" of {closed:,}; goldrush view --at shows others"
    found = [
        ("world", f"{world.name}, rules {world.rules}"),
        (world.vocabulary.units, f"{first:,} to {last:,}{part}"),
        ("seed", str(declared.seed)),
        ("agents", _rosters(world, declared) or str(len(declared.players))),
        ("journal", f"{size:,} bytes"),
        *(("parent", f"SHA-256 {parent}") for _, _, parent in walked.forks),
    ]
    return [(name, text) for name, text in found if text != "None"]


def _rosters(world: World[Any], declared: Declared) -> str:
    """The rosters in force, one after the other."""
    unit = world.vocabulary.unit
    texts = [(first, _agents(labels)) for first, labels in _labels(declared)]
    return "; ".join(
        f"from {unit} {first:,} {text}" if index else text
        for index, (first, text) in enumerate(texts)
        if text
    )


def _agents(labels: Sequence[str]) -> str:
    """Policies with their numbers of agents: `greedy-mine × 15, raid × 5`, the most first."""
    counts = Counter(labels).most_common()
    shown = [label if count == 1 else f"{label} × {count:,}" for label, count in counts]
    left = len(shown) - POLICIES_MAX
    more = [f"{left:,} more"] if left > 0 else []
    return ", ".join([*shown[:POLICIES_MAX], *more])


def _without_path(trouble: JournalError | None, path: str | Path) -> str | None:
    """The error in a journal, without its path."""
    return None if trouble is None else str(trouble).removeprefix(f"{path}: ")


def _labels(declared: Declared) -> list[tuple[int, list[str]]]:
    """The policies of agents, by the first unit of each roster."""
    return [(first, labels_of(players[:AGENTS_MAX])) for first, players in declared.rosters]


def _measured(path: str | Path, measures: Measures) -> Measured[Any] | None:
    if not (measures.known or measures.of_agents):
        return None
    with JournalReader(path) as reader:
        return measures.read(reader)


def _front(tools: Tools, measured: Measured[Any] | None, walked: _Walked) -> Front:
    labels = labels_of(walked.declared[-1][1].players)
    known = tools.measures.of_agents
    if measured is None or not (known or tools.measures.known):
        return Front(None, labels, walked.course.points(), [])
    values = [
        (known.get(name) or _of_user(measured.known[name]), by_agent)
        for name, by_agent in measured.by_agent.items()
    ]
    outcome, points = outcome_of(tools, measured), walked.course.points()
    whole = [] if points else walked.course.whole(measured.values.get(outcome.measure.name, ()))
    return Front(outcome, measured.roster, points, values, whole)


def _of_user(measure: Measure) -> AgentMeasure:
    return AgentMeasure(measure.name, measure.title, measure.definition)


def _measures(measures: Measures, measured: Measured[Any], walked: _Walked) -> list[dict[str, Any]]:
    values = {
        name: series[walked.first - 1 : walked.last] for name, series in measured.values.items()
    }
    main = measures.of_units or list(measured.known)
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
