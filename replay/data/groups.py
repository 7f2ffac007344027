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

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import msgspec

from goldrush.kernel.codec import pack
from goldrush.kernel.journal import sha256_of
from goldrush.kernel.measures import Value, mean
from goldrush.kernel.text import format_count
from goldrush.replay.data.measures import AgentMeasure, Measure, Measured
from goldrush.replay.data.run_data import RunData, map_runs
from goldrush.replay.extras import require
from goldrush.replay.journal.declared import unusual
from goldrush.replay.journal.forged import reporting_forged
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
    require("scipy", "intervals need", "stats")
    runs = list(map_runs(_one, paths, jobs, users=users))
    recorded: dict[bytes, set[bytes]] = {}
    for one in runs:
        recorded.setdefault(one.key, set()).add(one.recorded)
    found: dict[bytes, list[_One]] = {}
    for one in runs:
        # A typed setting is taken for a default in the one run whose seed it is equal to: that run
        # is one of those with the same typed setting.
        is_typed = one.recorded in recorded and len(recorded[one.key]) == 1
        found.setdefault(one.recorded if is_typed else one.key, []).append(one)
    distinct = [_distinct(runs) for runs in found.values()]
    equal = equal_journals([[one.path for one in runs] for runs, _ in distinct])
    return [_group(runs, notes, equal) for runs, notes in distinct]


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
    values: Mapping[str, Value]


def _one(run: RunData) -> _One:
    with reporting_forged(run.path):
        kind, key, recorded = _keyed(run)
        measured = run.measured
        known: dict[str, AgentMeasure | Measure] = {}
        if measured.roster:
            known |= run.measures.of_agents
        for name, measure in measured.known.items():
            known[name] = msgspec.structs.replace(measure, of=None, over=None)
        return _One(
            Path(run.path), run.name, kind, key, recorded, sha256_of(run.path),
            run.outline.declared.seed,
            measured.finished, known, {name: _value(measured, name) for name in known},
        )  # fmt: skip


def _value(measured: Measured[Any], name: str) -> Value:
    if name in measured.known and name not in measured.by_agent:
        return measured.of(name)
    return mean(measured.by_agent.get(name, ())) if measured.units else None


def kind_of(run: RunData) -> RunKind:
    """The kind of a run. Raises as measuring it does."""
    return _keyed(run)[0]


def _keyed(run: RunData) -> tuple[RunKind, bytes, bytes]:
    """The kind of a run, and the keys of its group (see _One)."""
    units = run.measured.vocabulary.units
    declared = run.outline.declared
    settings = {**declared.settings, SEED: declared.start.get(SEED)}  # whose defaults they have
    settings = levelled([settings], run.tools.studies.seeded)
    planned = settings.pop(units, None)
    horizon = planned if type(planned) is int and planned else run.measured.units
    own = run.measured.subject
    _, named, roster, _ = run.front
    treatment: str | Mapping[str, Any] | None = named
    if named is None:
        treatment = {**unusual(settings, run.tools.config), **own} or None
    newest = run.world.rules == run.tools.world({}).rules
    world = run.world.name if newest else f"{run.world.name}, rules {run.world.rules}"
    kind = RunKind(world, treatment, roster, horizon, units, declared.forks)

    def key(settings: Mapping[str, object]) -> bytes:
        known = {**settings, **own} if named is None else None
        return pack([world, named, known, roster, horizon, kind.forks])

    return kind, key(settings), key({name: declared.settings[name] for name in settings})


def _distinct(runs: Sequence[_One]) -> tuple[list[_One], list[str]]:
    """The runs of a group, those with the same bytes once, and notes on them."""
    by_sha256: dict[str, _One] = {}
    by_seed: dict[int, _One] = {}
    notes = []
    for one in runs:
        same = by_sha256.setdefault(one.sha256, one)
        if same is not one:
            notes.append(f"{one.name} has the same bytes as {same.name}; counted once")
        elif one.seed is not None and (other := by_seed.setdefault(one.seed, one)) is not one:
            says = f"{one.name} has the seed of {other.name}"
            notes.append(f"{says}; the interval takes them as independent")
    return list(by_sha256.values()), notes


def _group(runs: Sequence[_One], notes: Sequence[str], equal: Mapping[Path, Path]) -> Group:
    """`equal`: of `equal_journals`; such runs are one draw, as in reports."""
    known = {name: measure for one in runs for name, measure in one.known.items()}
    draws = [equal.get(one.path, one.path) for one in runs]
    means = {name: interval([one.values.get(name) for one in runs], draws) for name in known}
    unfinished = sum(not one.finished for one in runs)
    return Group(runs[0].kind, len(runs), unfinished, known, means, notes)
