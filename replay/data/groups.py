"""Means of measures over runs of one kind, with confidence intervals.

Runs are of one kind if they have the same world, treatment, roster, horizon and forks, so that they
differ only in the seed. In a study's folder its manifest names the treatment of a run; elsewhere
all settings but the seed, and those that it decides, must be the same (see replay.levelled). Forks
are the same if they leave their parents after the same unit with the same changes.

Intervals take the runs of a group as independent, but for runs that are equal in every event, which
are one draw, as in reports. Of journals with the same bytes one is counted; of two others with one
seed a note tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from goldrush.kernel.codec import pack
from goldrush.kernel.journal import sha256_of
from goldrush.kernel.measures import Value, mean
from goldrush.kernel.text import format_count
from goldrush.replay.data.columns import REAL, TEXT, WHOLE, Column
from goldrush.replay.data.measures import AgentMeasure, Measure, Measured, Measures
from goldrush.replay.data.run_data import RunData, map_runs
from goldrush.replay.extras import require
from goldrush.replay.journal.declared import unusual
from goldrush.replay.levelled import SEED, levelled
from goldrush.replay.study.comparisons import equal_journals
from goldrush.replay.study.inference import Interval, interval

if TYPE_CHECKING:
    from goldrush.replay.data.user_functions import UserMeasure


@attrs.frozen
class RunKind:
    """The common properties of the runs of a group.

    Attributes:
        world: its name, and its rules unless they are the newest.
        treatment: the treatment of their study; elsewhere the settings that differ from the world's
            defaults, by name (None: there are none, the default configuration).
        roster: the roster; None if it is unknown.
        horizon: the planned number of units; the number of closed units where no setting has it.
        units: the world's noun for its units.
        forks: the facts of the forks that led to each run, without the parent's hash.
    """

    world: str
    treatment: str | Mapping[str, Any] | None
    roster: str | None
    horizon: int
    units: str
    forks: Sequence[Mapping[str, Any]] = ()


@attrs.frozen
class Group:
    """Runs of one kind: how many, and how many are unfinished; by measure of their world, those of
    agents first (a run's value is the mean over its agents at the end), the mean over the runs in
    which it is defined, with its 95% interval by Student's t; and notes on journals that are
    counted once or may not be independent.
    """

    kind: RunKind
    runs: int
    unfinished: int
    known: Mapping[str, AgentMeasure | Measure] = attrs.field(repr=False)
    means: Mapping[str, Interval]
    notes: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            **attrs.asdict(self.kind, recurse=False),
            "runs": self.runs,
            "unfinished": self.unfinished,
            "measures": {name: attrs.asdict(one) for name, one in self.means.items()},
            "notes": list(self.notes),
        }

    def rows(self) -> Iterator[Sequence[Any]]:
        """A row for each measure, in the columns of COLUMNS."""
        kind = self.kind
        front = (kind.world, format_treatment(kind), kind.roster, kind.horizon)
        for name, one in self.means.items():
            yield (*front, name, self.runs, one.n, one.mean, one.low, one.high)


COLUMNS: Final = (
    Column("world", TEXT, "", "the world's name"),
    Column("treatment", TEXT, "", "the study's treatment, else settings not default; forks"),
    Column("roster", TEXT, "", "the roster"),
    Column("horizon", WHOLE, "", "the planned number of rounds (or other units) of a run"),
    Column("measure", TEXT, "", "its name"),
    Column("runs", WHOLE, "", "the number of runs"),
    Column("defined", WHOLE, "", "the number of runs in which the measure is defined"),
    Column("mean", REAL, "", "the mean over these runs"),
    Column("low", REAL, "", "the lower end of its 95% confidence interval"),
    Column("high", REAL, "", "the upper end"),
)


def format_treatment(kind: RunKind) -> str | None:
    """The treatment as text: its name, or `name=value` for each setting; then the number of forks.
    None for the default configuration without forks.
    """
    text = kind.treatment
    if isinstance(text, Mapping):
        text = " ".join(f"{name}={value}" for name, value in text.items())
    forks = format_count(len(kind.forks), "fork") if kind.forks else None
    return ", ".join(filter(None, (text, forks))) or None


def groups(
    paths: Sequence[str | Path], jobs: int | None = None, users: Sequence[UserMeasure] = ()
) -> list[Group]:
    """The groups of runs, in the order of the first run of each; `jobs`, `users`: see map_runs.

    Raises BadInput for a world without measures, and if scipy is not installed, which the intervals
    need; JournalError as reading a journal does; WorkerDied if a process was killed.
    """
    require("scipy", "intervals need", "stats", ", or take --by-run")
    runs = list(map_runs(_one, paths, jobs, users=users))
    recorded: dict[bytes, set[bytes]] = {}
    for one in runs:
        recorded.setdefault(one.key, set()).add(one.recorded)
    found: dict[bytes, _Gathered] = {}
    for one in runs:
        # A typed setting is taken for a default in the one run whose seed it is equal to: that run
        # is one of those with the same typed setting.
        is_typed = one.recorded in recorded and len(recorded[one.key]) == 1
        found.setdefault(one.recorded if is_typed else one.key, _Gathered()).add(one)
    equal = equal_journals([[one.path for one in gathered.runs] for gathered in found.values()])
    return [gathered.group(equal) for gathered in found.values()]


@attrs.frozen
class _One:
    """The part of a measured run that its group needs."""

    path: Path
    name: str
    kind: RunKind
    key: bytes  # of its group
    recorded: bytes  # the same with all settings but the seed as they are recorded
    sha256: str
    seed: int | None
    finished: bool
    known: Mapping[str, AgentMeasure | Measure]  # as of `Group`, without their functions
    values: Sequence[Value]  # of each of them


def _one(run: RunData) -> _One:
    with run.reporting_forged():
        kind, key, recorded = _keyed(run)
        measured = run.measured
        known = _known(run.measures, measured)
        return _One(
            Path(run.path), run.name, kind, key, recorded, sha256_of(run.path), run.front.seed,
            measured.finished, known, [_value(measured, measure) for measure in known.values()],
        )  # fmt: skip


def _known(measures: Measures, measured: Measured[Any]) -> dict[str, AgentMeasure | Measure]:
    """The measures of a run by name, those of agents first, if it has any."""
    of_runs = {
        name: attrs.evolve(measure, of=None, over=None) for name, measure in measured.known.items()
    }
    return {**(measures.of_agents if measured.roster else {}), **of_runs}


def _value(measured: Measured[Any], known: AgentMeasure | Measure) -> Value:
    if known.name in measured.by_agent or not isinstance(known, Measure):
        return mean(measured.by_agent.get(known.name, ())) if measured.units else None
    return measured.of(known.name)


def kind_of(run: RunData) -> RunKind:
    """The kind of a run. Raises as measuring it does."""
    return _keyed(run)[0]


def _keyed(run: RunData) -> tuple[RunKind, bytes, bytes]:
    """The kind of a run, and its keys (see _One)."""
    units = run.world.vocabulary.units
    declared = run.declared
    settings = {**declared.settings, SEED: declared.start.get(SEED)}  # whose defaults they have
    settings = levelled([settings], run.tools.studies.seeded)
    planned = settings.pop(units, None)
    horizon = planned if type(planned) is int and planned else run.measured.units
    own = run.measured.subject
    front = run.front
    treatment: str | Mapping[str, Any] | None = front.treatment
    if treatment is None:
        treatment = {**unusual(settings, run.tools.config), **own} or None
    newest = run.world.rules == run.tools.world({}).rules
    world = run.world.name if newest else f"{run.world.name}, rules {run.world.rules}"
    kind = RunKind(world, treatment, front.roster, horizon, units, declared.forks)

    def key(settings: Mapping[str, Any]) -> bytes:
        known = None if front.treatment is not None else {**settings, **own}
        return pack([kind.world, front.treatment, known, kind.roster, horizon, kind.forks])

    recorded = {name: declared.settings[name] for name in settings}
    return kind, key(settings), key(recorded)


class _Gathered:
    """The runs of a group, those with the same bytes once."""

    def __init__(self) -> None:
        self.runs: list[_One] = []
        self._by_sha256: dict[str, str] = {}
        self._by_seed: dict[int, str] = {}
        self._notes: list[str] = []

    def add(self, one: _One) -> None:
        same = self._by_sha256.setdefault(one.sha256, one.name)
        if same != one.name:
            self._notes.append(f"{one.name} has the same bytes as {same}; counted once")
            return
        if one.seed is not None and self._by_seed.setdefault(one.seed, one.name) != one.name:
            self._notes.append(
                f"{one.name} has the seed of {self._by_seed[one.seed]}; the interval takes them as "
                "independent"
            )
        self.runs.append(one)

    def group(self, equal: Mapping[Path, Path]) -> Group:
        """`equal`: of `equal_journals`; such runs are one draw, as in reports."""
        known = {name: measure for one in self.runs for name, measure in one.known.items()}
        values = [dict(zip(one.known, one.values, strict=True)) for one in self.runs]
        draws = [equal.get(one.path, one.path) for one in self.runs]
        means = {name: interval([of.get(name) for of in values], draws) for name in known}
        unfinished = sum(not one.finished for one in self.runs)
        return Group(self.runs[0].kind, len(self.runs), unfinished, known, means, self._notes)
