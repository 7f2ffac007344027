"""All benchmarks: `python -m tests.bench` prints a table; `--help` lists longer ones.

Every row compares goldrush with a reference measured in the same process, interleaved with it (see
`timing`); rows about whole processes start processes and count their CPU time. A ratio says what
goldrush costs as a multiple of the reference: smaller is better, except in the rows marked
"faster", which say how many times faster goldrush is.
"""

from __future__ import annotations

import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click
import msgpack

from goldrush.agents.worlds.mining.roster import ROSTER_DEFAULT
from goldrush.kernel import fold
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.walk import Walk
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.journal.verify import verify
from tests.indexes import cache_apart
from tests.mining import record

from . import (
    episodes,
    eventsourcing_peer,
    games,
    long,
    mesa_model,
    models,
    pages,
    plain,
    scale,
    season,
    study,
    workers,
)
from .against import rows_against, script_beside
from .timing import paired_ratio

SEED = 7
EVENTS_AT_PEER = 2_000
ROOT = Path(__file__).resolve().parents[2]

Row = tuple[str, str, str, str, str]  # what, against, measured, target, the reference in itself


# The tables that take minutes, by the name of their option.
OTHERS = {
    "long": (long.rows, "Measure long journals instead (minutes)."),
    "scale": (scale.rows, "Measure growing runs instead (minutes)."),
    "study": (study.rows, "Measure the whole study instead (minutes)."),
    "workers": (workers.rows, "Measure what limits many workers instead."),
    "season": (season.rows, "Measure a season instead (minutes)."),
    "games": (games.rows, "Measure a world as a class instead (minutes)."),
    "page": (pages.rows, "Measure pages in a browser instead."),
}


def _options(command: Callable[..., None]) -> Callable[..., None]:
    for name, (_, text) in reversed(OTHERS.items()):
        command = click.option(f"--{name}", is_flag=True, help=text)(command)
    return command


@click.command()
@click.option(
    "--repeats", default=15, show_default=True, type=click.IntRange(3, 1000),
    help="Pairs of measurements in a row of the table; others have their own number.",
)  # fmt: skip
@_options
@click.option(
    "--against", "python", metavar="PYTHON",
    help="Measure the version of goldrush that is installed beside this interpreter instead.",
)  # fmt: skip
def main(repeats: int, python: str | None, **others: bool) -> None:
    """Measure everything and print the table."""
    chosen = [name for name, is_chosen in others.items() if is_chosen]
    if len(chosen) + (python is not None) > 1:
        raise click.UsageError("one table at a time")
    if python is not None and shutil.which(script_beside(python)) is None:
        raise click.UsageError(f"--against: there is no {script_beside(python)}")
    repeated = "" if chosen or python else f", {repeats} repeats"
    click.echo(f"CPython {platform.python_version()}, {os.cpu_count()} cores{repeated}\n")
    with tempfile.TemporaryDirectory() as folder, cache_apart():
        if python is not None:
            table = rows_against(Path(folder), python)
        elif chosen:
            table = OTHERS[chosen[0]][0](Path(folder))
        else:
            table = rows(Path(folder), repeats)
        for what, against, measured, target, reference in table:
            click.echo(f"{what:<34} {against:<42} {measured:>14} {target:>10}   {reference}")


# Whose runs are measured, by name: the roster, and as the peers have it. Greedy miners rest once
# every plot is theirs, and rounds repeat; those of the default roster never do.
RUNS: Final = {
    "default roster": (ROSTER_DEFAULT, plain.MIXED),
    "greedy miners": ("greedy-mine", plain.GREEDY),
}


def rows(folder: Path, repeats: int) -> Iterator[Row]:
    """The rows of the table, each measured when it is asked for."""
    yield ("what", "against", "measured", "target", "reference: median (quartiles apart)")
    for name, (roster, peers) in RUNS.items():
        yield (name, "", "", "", "")
        yield from _run_rows(folder, roster, peers, repeats)
    for roster, target in (("greedy-mine", "<= 10"), ("random", "<= 16")):
        yield _bytes_an_event(folder, roster, target)
    yield _process(
        "import of the kernel",
        ["-c", "import goldrush.kernel.worlds.mining"],
        "import msgpack, attrs, xxhash",
        ["-c", "import msgpack, attrs, xxhash"],
        "<= 1.5",
    )
    yield from episodes.rows(folder, repeats)
    yield from models.rows(folder)
    yield _process("goldrush --help", ["-m", "goldrush", "--help"], "click's empty command",
                   ["-c", _EMPTY_COMMAND, "--help"], "<= 2")  # fmt: skip


def _run_rows(folder: Path, roster: str, peers: Sequence[str], repeats: int) -> Iterator[Row]:
    """The rows about one run: recorded, verified, appended and replayed."""
    path = folder / "run.journal"

    def recording() -> object:
        path.unlink(missing_ok=True)  # to replace a journal waits for the disk besides
        return record(path, {"seed": SEED}, roster)

    recording()
    _check_peers(folder, roster, peers)
    for against, reference, target in (
        ("plain loop", lambda: plain.run(SEED, peers), "<= 3"),
        ("Mesa with DataCollector", lambda: mesa_model.run(SEED, peers), "<= 1"),
    ):
        yield _ratio("record a run", against, recording, reference, repeats, target)
    yield _whole_processes(folder, roster, peers)
    body = path.read_bytes()
    yield _ratio(
        "verify levels 1 and 2",
        "msgpack's decode of the same bytes",
        lambda: verify(path, 2),
        lambda: _decode(body),
        repeats,
        "<= 4",
    )
    yield _ratio("verify level 3", "record", lambda: verify(path, 3), recording, repeats, "<= 1.2")
    yield from _eventsourcing(folder, path, recording, verify(path, 1).events, repeats)


def _check_peers(folder: Path, roster: str, peers: Sequence[str]) -> None:
    """The three play the same game, or the comparison is worth nothing."""
    state = record(folder / "checked.journal", {"seed": SEED}, roster, force=True)
    if not (state.owner, state.gold) == plain.run(SEED, peers) == mesa_model.run(SEED, peers):
        raise SystemExit("the peers do not agree with the kernel on the outcome of a run")


def _decode(data: bytes) -> None:
    unpacker = msgpack.Unpacker(use_list=False)
    unpacker.feed(data)
    for _ in unpacker:
        pass


def _ratio(
    what: str, against: str, ours: Callable[[], Any], reference: Callable[[], Any],
    repeats: int, target: str, ours_units: int = 1, units: int = 1,
) -> Row:  # fmt: skip
    """A row for the cost of one unit of ours ÷ one unit of the reference (or the inverse)."""
    found = paired_ratio(ours, reference, repeats)
    ratio = found.median_ratio * units / ours_units
    median, apart = found.reference_median_seconds, found.reference_spread_seconds
    spread = f"{median * 1e3:.3f} ms ({apart * 1e3:.3f})"
    if target.startswith(">="):
        return (what, against, f"{1 / ratio:.1f} x faster", target, spread)
    return (what, against, f"{ratio:.2f} x", target, spread)


def _eventsourcing(
    folder: Path, path: Path, recording: Callable[[], Any], events: int, repeats: int
) -> Iterator[Row]:
    """Per event, against a library that stores an id, a topic and a time with each."""
    n = EVENTS_AT_PEER
    new = Path(tempfile.mkdtemp(dir=folder))
    databases = (str(new / f"peer{number}.sqlite") for number in range(repeats + 1))
    few = max(3, repeats // 3)

    def replaying() -> None:
        with JournalReader(path) as reader:
            for _ in Walk(MINING, reader):
                pass

    for what, against, ours, reference, target in (
        ("simulate and append", "eventsourcing append, memory, JSON", recording,
         lambda: eventsourcing_peer.append_memory(n), ">= 15"),
        ("simulate and append", "eventsourcing append, SQLite", recording,
         lambda: eventsourcing_peer.append_sqlite(n, next(databases)), ">= 25"),
        ("replay", "eventsourcing, memory, JSON", replaying,
         eventsourcing_peer.prepare_memory(n), ">= 50"),
        ("replay", "eventsourcing, msgspec structs", replaying,
         eventsourcing_peer.prepare_msgspec(n), ">= 2"),
    ):  # fmt: skip
        yield _ratio(what, against, ours, reference, few, target, events, n)


def _bytes_an_event(folder: Path, roster: str, target: str) -> Row:
    path = folder / f"{roster}.journal"
    record(path, {"seed": SEED}, roster, force=True)
    with JournalReader(path) as reader:
        events = sum(1 for _ in fold.events(MINING, reader))
    size = path.stat().st_size / events
    return ("journal size", f"{roster}, {events:,} events", f"{size:.1f} B/event", target, "")


_EMPTY_COMMAND = "import click\n@click.command()\ndef c():\n '''Nothing.'''\nc()"
_HUNDRED = """
import sys
for seed in range(100):
    {run}
"""


def _whole_processes(folder: Path, roster: str, peers: Sequence[str]) -> Row:
    new = f"from tempfile import mkdtemp\nnew = mkdtemp(dir={str(folder)!r})"
    run = f"record(f'{{new}}/{{seed}}.journal', {{'seed': seed}}, {roster!r})"
    ours = f"{new}{_HUNDRED.format(run=run)}"
    theirs = _HUNDRED.format(run=f"run(seed, {list(peers)!r})")
    return _process(
        "100 runs, whole process",
        ["-c", f"from tests.mining import record\n{ours}"],
        "the same in Mesa",
        ["-c", "from tests.bench.mesa_model import run" + theirs],
        "<= 0.5",
        repeats=3,
    )


def _process(
    what: str, ours: list[str], against: str, theirs: list[str], target: str, repeats: int = 11
) -> Row:
    """CPU time of whole processes, interleaved."""
    for arguments in (ours, theirs):  # imports compiled
        _cpu_of(arguments)
    pairs = [(_cpu_of(ours), _cpu_of(theirs)) for _ in range(repeats)]
    ratio = statistics.median(mine / other for mine, other in pairs)
    other = [other for _, other in pairs]
    quartiles = statistics.quantiles(other, n=4, method="inclusive")
    spread = f"{statistics.median(other) * 1e3:.1f} ms ({(quartiles[2] - quartiles[0]) * 1e3:.1f})"
    return (what, against, f"{ratio:.2f} x", target, spread)


def _cpu_of(arguments: list[str]) -> float:
    # Compiled once and not each time, as where it is installed.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
