"""All benchmarks: `python -m tests.bench` prints a table; `--help` lists longer ones.

Every row compares goldrush with a reference measured in the same process, interleaved with it (see
`timing`); rows about whole processes start processes and count their CPU time. A ratio says what
goldrush costs as a multiple of the reference: smaller is better, except in the rows marked
"faster", which say how many times faster goldrush is.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import msgpack

from goldrush.agents.worlds.mining.roster import POLICY_SET
from goldrush.kernel import fold
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.walk import Walk
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.journal.verify import verify
from tests.indexes import cache_apart
from tests.mining import record

from .timing import Row, alternately, cpu_of, in_process, row

SEED = 7
EVENTS_AT_PEER = 2_000
ROOT = Path(__file__).resolve().parents[2]

# The tables that take minutes: a module of the same name has its rows.
OTHERS = {
    "long": "long journals", "scale": "growing runs", "study": "the whole study",
    "season": "a season", "games": "a world as a class",
    "pages": "pages of runs", "programs": "recorded programs",
}  # fmt: skip


@click.command()
@click.option(
    "--repeats", default=15, show_default=True, type=click.IntRange(3, 1000),
    help="Pairs of measurements in a row of the table; others have their own number.",
)  # fmt: skip
def main(repeats: int, **others: bool) -> None:
    """Measure everything and print the table."""
    chosen = [name for name, is_chosen in others.items() if is_chosen]
    if len(chosen) > 1:
        raise click.UsageError("one table at a time")
    click.echo(f"CPython {platform.python_version()}, {os.cpu_count()} cores\n")
    with tempfile.TemporaryDirectory() as name, cache_apart():
        folder = Path(name)
        if chosen:
            table = import_module(f".{chosen[0]}", __package__).rows(folder)
        else:
            table = rows(folder, repeats)
        head = ("what", "against", "measured", "target", "reference: median (quartiles apart)")
        _echo(head)
        for one in table:
            _echo(one)


def _echo(row: Row) -> None:
    click.echo("{:<34} {:<42} {:>14} {:>10}   {}".format(*row).rstrip())


for _name, _what in OTHERS.items():
    click.option(f"--{_name}", is_flag=True, help=f"Measure {_what} instead.")(main)


def rows(folder: Path, repeats: int) -> Iterator[Row]:
    """The rows of the table, each measured when it is asked for."""
    from . import episodes, models, plain

    # Greedy miners rest once every plot is theirs; rounds of the default roster never repeat.
    for name, roster, peers, targets in (
        ("default roster", POLICY_SET.default, plain.MIXED, BUSY),
        ("greedy miners", "greedy-mine", plain.GREEDY, AT_REST),
    ):
        yield (name, "", "", "", "")
        yield from _run_rows(folder, roster, peers, repeats, iter(targets))
    for roster, target in (("greedy-mine", "<= 10"), ("random", "<= 16")):
        yield _bytes_an_event(folder, roster, target)
    run, libraries = str(folder / "short.journal"), "import attrs, msgpack, xxhash, click"
    for what, ours, reference, theirs, target in (
        *((f"goldrush {words[0]}, one round", ["-m", "goldrush", *words, run],
           libraries, ["-c", libraries], "<= 1.9")
          for words in (["record", "--rounds", "1", "--force", "--out"], ["verify"], ["log"])),
        ("import of the kernel", ["-c", "import goldrush.kernel.worlds.mining"],
         "import msgpack, msgspec, attrs, xxhash",
         ["-c", "import msgpack, msgspec, attrs, xxhash"], "<= 1.5"),
        ("goldrush --help", ["-m", "goldrush", "--help"],
         "click's empty command", ["-c", _EMPTY_COMMAND, "--help"], "<= 2"),
    ):  # fmt: skip
        yield _process(what, ours, reference, theirs, target)
    yield from episodes.rows(folder, repeats)
    yield from models.rows(folder)


# What the rows about one run are to reach, in order.
BUSY = ("<= 1.3", "<= 1.05", "<= 6", "<= 1.2", "<= 0.75", ">= 5", ">= 7", ">= 40", ">= 1.6")
AT_REST = ("<= 3", "<= 1", "<= 4", "<= 1.2", "<= 0.5", ">= 15", ">= 25", ">= 50", ">= 2")


def _run_rows(
    folder: Path, roster: str, peers: Sequence[str], repeats: int, targets: Iterator[str]
) -> Iterator[Row]:
    """The rows about one run: recorded, verified, appended and replayed."""
    from . import mesa_model, plain

    path = folder / "run.journal"

    def recording() -> object:
        path.unlink(missing_ok=True)  # to replace a journal waits for the disk besides
        return record(path, {"seed": SEED}, roster)

    recording()
    _check_peers(folder, roster, peers)
    body = path.read_bytes()
    works: Sequence[tuple[str, str, Callable[[], Any], Callable[[], Any]]] = (
        ("record a run", "plain loop", recording, partial(plain.run, SEED, peers)),
        ("record a run", "Mesa with DataCollector", recording,
         partial(mesa_model.run, SEED, peers)),
        ("verify levels 1 and 2", "msgpack's decode of the same bytes",
         partial(verify, path, 2), partial(_decode, body)),
        ("verify level 3", "record", partial(verify, path, 3), recording),
    )  # fmt: skip
    for what, reference, ours, theirs in works:
        yield row(what, reference, in_process(ours, theirs, repeats), next(targets))
    yield _whole_processes(folder, roster, peers, next(targets))
    events = verify(path, 1).events
    yield from _eventsourcing(folder, path, recording, events, repeats, targets)


def _check_peers(folder: Path, roster: str, peers: Sequence[str]) -> None:
    """The three play the same game, or the comparison is worth nothing."""
    from . import mesa_model, plain

    state = record(folder / "checked.journal", {"seed": SEED}, roster, force=True)
    if not (state.owner, state.gold) == plain.run(SEED, peers) == mesa_model.run(SEED, peers):
        raise SystemExit("the peers do not agree with the kernel on the outcome of a run")


def _decode(data: bytes) -> None:
    unpacker = msgpack.Unpacker(use_list=False)
    unpacker.feed(data)
    for _ in unpacker:
        pass


def _eventsourcing(
    folder: Path,
    path: Path,
    recording: Callable[[], Any],
    events: int,
    repeats: int,
    targets: Iterator[str],
) -> Iterator[Row]:
    """Per event, against a library that stores an id, a topic and a time with each."""
    from . import eventsourcing_peer

    n = EVENTS_AT_PEER
    new = Path(tempfile.mkdtemp(dir=folder))
    databases = (str(new / f"peer{number}.sqlite") for number in range(repeats + 1))
    few = max(3, repeats // 3)

    def replaying() -> None:
        with JournalReader(path) as reader:
            for _ in Walk(MINING, reader):
                pass

    for what, peer, ours, reference in (
        ("simulate and append", "eventsourcing append, memory, JSON", recording,
         lambda: eventsourcing_peer.append_memory(n)),
        ("simulate and append", "eventsourcing append, SQLite", recording,
         lambda: eventsourcing_peer.append_sqlite(n, next(databases))),
        ("replay", "eventsourcing, memory, JSON", replaying,
         eventsourcing_peer.prepare_memory(n)),
        ("replay", "eventsourcing, msgspec structs", replaying,
         eventsourcing_peer.prepare_msgspec(n)),
    ):  # fmt: skip
        yield row(what, peer, in_process(ours, reference, few), next(targets), events / n)


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


def _whole_processes(folder: Path, roster: str, peers: Sequence[str], target: str) -> Row:
    new = f"from tempfile import mkdtemp\nnew = mkdtemp(dir={str(folder)!r})"
    run = f"record(f'{{new}}/{{seed}}.journal', {{'seed': seed}}, {roster!r})"
    ours = f"{new}{_HUNDRED.format(run=run)}"
    theirs = _HUNDRED.format(run=f"run(seed, {list(peers)!r})")
    return _process(
        "100 runs, whole process",
        ["-c", f"from tests.mining import record\n{ours}"],
        "the same in Mesa",
        ["-c", "from tests.bench.mesa_model import run" + theirs],
        target,
        repeats=3,
    )


def _process(
    what: str, ours: list[str], reference: str, theirs: list[str], target: str, repeats: int = 11
) -> Row:
    """CPU time of whole processes, interleaved."""
    # Compiled once and not each time, as where it is installed.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def cpu(arguments: list[str]) -> float:
        return cpu_of([sys.executable, *arguments], cwd=ROOT, env=environment, check=True)[0]

    for arguments in (ours, theirs):  # imports compiled
        cpu(arguments)
    pairs = alternately(partial(cpu, ours), partial(cpu, theirs), repeats)
    return row(what, reference, pairs, target)


if __name__ == "__main__":
    main()
