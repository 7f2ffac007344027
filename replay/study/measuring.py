"""The measuring of a study's runs, by several processes.

Of each run only the values are kept that comparisons and figures need, so that thousands of runs
fit into memory. They are cached between reports, one file per run, in the user's cache folder
(replay/cache.py). Its key covers all that the measures depend on: the journal's SHA-256 (every
report hashes the journals again), its settings, the roster in the manifest, and goldrush's code.
Nothing is cached with measures of a user, whose functions may read anything.

    file = what the manifest lacks of the result in msgpack, checksum of key and values

A file that is damaged or has another key is ignored. The checksum is no signature: who can write to
the cache folder (by default only the user) can change the figures of a report.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_type_hints

import attrs
import msgspec
from xxhash import xxh3_128, xxh3_128_digest, xxh3_128_hexdigest

from goldrush.agents.seats import MODEL, family_in, matches_label
from goldrush.kernel.codec import encode, pack, unpack
from goldrush.kernel.errors import BadInput, GoldrushError, JournalError, format_value
from goldrush.kernel.files import open_regular
from goldrush.kernel.journal import JournalReader, sha256_in
from goldrush.kernel.measures import Value
from goldrush.replay import cache
from goldrush.replay.data.measures import Measured, Span
from goldrush.replay.data.user_measures import can_be_shared, with_users
from goldrush.replay.journal.forged import reporting_forged
from goldrush.replay.journal.source import warn_of_other_code
from goldrush.replay.journal.usage import taken_by
from goldrush.replay.study.comparisons import equal_runs
from goldrush.replay.study.manifest import read_manifest
from goldrush.replay.study.plan import studied
from goldrush.replay.study.records import K, Manifest, Result, StudyRun, cells_of, points_of
from goldrush.replay.study.results import Results
from goldrush.replay.tools import Tools
from goldrush.replay.workers import map_in_order
from goldrush.version import __version__

if TYPE_CHECKING:
    from goldrush.replay.data.user_functions import UserMeasure

Tried = Result[Any, Any] | GoldrushError  # a measured run, or why it cannot be measured
# The study's folder, its world, the run, the text of its roster, and measures of the user.
_Task = tuple[str, str, StudyRun, str | None, "Sequence[UserMeasure]"]


def results_of(
    folder: str | Path,
    *,
    jobs: int | None = None,
    on_run: Callable[[int, int], None] | None = None,
    users: Sequence[UserMeasure] = (),
) -> Results[Any, Any]:
    """Measure every run of a study. `users`: measures of the user, besides those of the world.

    Raises BadInput if the folder holds no study, the study is not finished, a journal is not the
    one in the manifest, or the world has no measures; WorkerDied if a process that measures dies.
    """
    manifest = read_manifest(folder)
    of = studied(manifest.world)
    with_users(of.measures, users)  # before any run is measured
    if (horizon := of.players.horizon) in [user.name for user in users]:
        raise BadInput(
            f"a measure cannot be called {horizon}, as a column of tables is",
            "give the function another name",
        )
    if left := len(manifest.runs) - len(manifest.played):
        raise BadInput(
            f"the study in {folder} is not finished: {left:,} of {len(manifest.runs):,} runs are "
            "left, or were when it stopped",
            "run the study's command again to continue",
        )
    equal = equal_runs(folder, manifest.runs)
    results = []
    for run, result in measured_runs(folder, manifest, jobs=jobs, on_run=on_run, users=users):
        if isinstance(result, GoldrushError):
            raise result
        results.append(attrs.evolve(result, equal_to=equal.get(run.path)))
    return Results(str(folder), of, manifest, cells_of(results), users)


def measured_runs(
    folder: str | Path,
    manifest: Manifest,
    *,
    jobs: int | None = None,
    on_run: Callable[[int, int], None] | None = None,
    users: Sequence[UserMeasure] = (),
) -> Iterator[tuple[StudyRun, Tried]]:
    """The runs of a study that are played, each measured, or why it cannot be; those of a cell in
    the plan's order. Raises BadInput for a world without studies; WorkerDied.
    """
    texts = manifest.plan["rosters"]
    played = manifest.played
    warn_of_other_code([Path(folder, run.path) for run in played])
    world = studied(manifest.world).name
    tasks = [(str(folder), world, run, texts[run.cell.roster], users) for run in played]
    size = sum(run.bytes or 0 for run in played)
    results = map_in_order(_tried, tasks, jobs if can_be_shared(users) else 1, size)
    for done, (run, result) in enumerate(zip(played, results, strict=True), 1):
        if on_run is not None:
            on_run(done, len(manifest.runs))
        yield run, result
    cache.trim()


def _tried(task: _Task) -> Tried:
    try:
        return _result(task)
    except GoldrushError as error:
        return error


def _result(task: _Task) -> Result[Any, Any]:
    folder, world, run, roster, users = task
    of = studied(world)
    path = Path(folder, run.path)
    again = "run the study's command again, which plays the run again"
    if not path.is_file():
        raise BadInput(f"{path} is missing", again)
    # Hashed before it is read, and again while it is measured, when it may be edited.
    with open_regular(str(path)) as file:
        sha256 = sha256_in(file)
        if sha256 == run.sha256:
            # A user's functions may read what is not in the journals.
            kept = None if users else read_kept(of, run, roster)
            if kept is not None:
                return kept
            reader = JournalReader.over(file.fileno(), str(path), hashed=True)
            with reader, reporting_forged(path):
                measured = with_users(of.measures, users).read(reader)
                sha256 = reader.sha256()
                asks = any(map(is_model, measured.roster))
                taken = taken_by(reader.again()) if asks else ()
    if sha256 != run.sha256:
        raise BadInput(f"{path} is not the journal that the manifest lists", again)
    if not measured.finished:
        raise BadInput(f"{path} is not finished", again)
    _check_begun(of, path, run, roster, measured)
    made = result_of(run, measured, of.studies.kept(measured))
    made = attrs.evolve(made, taken=tuple(taken))
    if not users:
        keep(of, run, roster, made)
    return made


def is_model(policy: str) -> bool:
    """Whether the label of a policy is that of a language model."""
    return family_in(policy) is MODEL


def _check_begun(
    of: Tools, path: Path, run: StudyRun, roster: str | None, measured: Measured[Any]
) -> None:
    """Raises BadInput unless a journal begins as the manifest says, and is not a fork."""
    instead = "restore the manifest, or run the study's command again, which plays the run again"
    if measured.forks:
        raise BadInput(f"{path} is a fork, and not a run of a study", instead)
    if measured.config != run.config:
        raise BadInput(f"the configuration of {path} differs from the manifest", instead)
    names = of.studies.seats(roster, run.config.agents)
    for agent, (name, label) in enumerate(zip(names, measured.roster, strict=True)):
        if not matches_label(name, label):
            raise BadInput(
                f"the roster of {path} differs from {format_value(run.cell.roster)} in the "
                f"manifest: agent {agent} plays {format_value(label)}, not {format_value(name)}",
                instead,
            )


def result_of(run: StudyRun, measured: Measured[Any], kept: K) -> Result[Any, K]:
    """A measured run as studies keep it: its values as a whole, by half and over windows of its
    units, and what its world keeps besides (`kept`).
    """
    halves = [name for name, measure in measured.every.items() if measure.by_half]
    windows = measured.units_of(points_of(run.cell.rounds))
    return Result(
        **attrs.asdict(run, recurse=False),
        units=measured.units,
        run={name: measured.of(name) for name in measured.every},
        still=tuple(measured.still),
        halves={name: measured.compared(name) for name in halves},
        halves_whole={name: measured.compared(name, burn_in=False) for name in halves},
        windows=tuple(windows),
        curves={
            name: tuple(_at(measured, name, span) for span in windows)
            for name in measured.values
            if name in measured.every
        },
        policies=tuple(measured.roster),
        by_agent={name: tuple(values) for name, values in measured.by_agent.items()},
        course=measured.course,
        kept=kept,
    )


def _at(measured: Measured[Any], name: str, span: Span) -> Value:
    """A measure over the units of a window, as the measure defines its value over several units.
    One of the end is that of the last unit.
    """
    measure = measured.every[name]
    if measure.at_end and measure.over is not None:
        return measured.values[name][span.last - 1]
    return measured.over(name, span, len(span))


_CHECKSUM: Final = 16  # bytes
_ROOMS: Final = ("kernel", "agents", "replay")  # the code that measures depend on


def read_kept(of: Tools, run: StudyRun, roster: str | None) -> Result[Any, Any] | None:
    """The cached result of a run; None on a miss."""
    key = _key(of, run, roster)
    file = None if key is None else cache.opened(xxh3_128_hexdigest(key), cache.MEASURES)
    if file is None or key is None:
        return None
    with file:
        data = file.read()
    if xxh3_128_digest(key + data[:-_CHECKSUM]) != data[-_CHECKSUM:]:
        return None
    hints = {**_HINTS, "kept": get_type_hints(of.studies.kept).get("return", type(None))}
    try:
        values = unpack(data[:-_CHECKSUM])
        own = {name: msgspec.convert(values[name], hint) for name, hint in hints.items()}
    except (ValueError, TypeError, LookupError):
        return None
    return Result(**attrs.asdict(run, recurse=False), **own)


def keep(of: Tools, run: StudyRun, roster: str | None, result: Result[Any, Any]) -> None:
    """Cache the result of a run; a no-op if that cannot be done."""
    key = _key(of, run, roster)
    if key is None:
        return
    with suppress(BadInput, JournalError):  # a full disk, another process at the same file
        file = cache.unfinished(xxh3_128_hexdigest(key), cache.MEASURES)
        if file is None:
            return
        data = encode({name: getattr(result, name) for name in _HINTS})
        with file:
            cache.append(file, data + xxh3_128_digest(key + data))
            file.publish(sync=False)


def _key(of: Tools, run: StudyRun, roster: str | None) -> bytes | None:
    """All that the measures of a run depend on; None if that includes code of other packages."""
    if not of.studies.lasts(run.config):
        return None
    config = run.config.as_dict()
    return pack((_CODE, of.name, attrs.astuple(run.cell), roster, run.sha256, config))


def _code() -> tuple[str, str]:
    """The version of goldrush, and a hash of its code and wordings, which may have been edited."""
    package = Path(__file__).parents[2]
    hashed = xxh3_128()
    for room in _ROOMS:
        for where, folders, names in os.walk(package / room, followlinks=True):
            folders.sort()
            for name in sorted(names):
                if name.endswith((".py", ".toml")):
                    source = Path(where, name).read_bytes()
                    hashed.update(pack((os.path.relpath(where, package), name, source)))
    return __version__, hashed.hexdigest()


# As this module is loaded: a process goes on with this code when the files are edited.
_CODE: Final = _code()
# The types of the fields of a result by name, without those that are in the manifest.
_HINTS: Final = {
    name: hint
    for name, hint in get_type_hints(Result).items()
    if name not in attrs.fields_dict(StudyRun)
}
