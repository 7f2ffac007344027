"""Pages of runs: bytes beside the journal's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from goldrush.replay.view.page import write_page
from tests.mining import record
from tests.playing import record as record_season

from .timing import Row

LARGE = {"seed": 3, "agents": 20, "rounds": 500}
RAIDERS = "random*5,greedy-mine*5,raid*5,tit-for-tat-raid*5"


def rows(folder: Path) -> Iterator[Row]:
    """The rows of the table, each measured when it is asked for."""
    record(folder / "default run.journal", {"seed": 7})
    record(folder / "R=500, N=20.journal", LARGE, RAIDERS)
    record_season(folder / "season of 40 on nk.journal", {"seed": 1, "arena": "nk"})
    for path in sorted(folder.glob("*.journal")):
        written = write_page(path, path.with_suffix(".html"))
        size = written.runs[0].size
        over = f"{size:,} bytes; 2 x {(written.size - 2 * size) / 1000:+,.0f} kB"
        times = f"{written.size / size:.2f} x"
        yield (f"page of {path.stem}", "its journal", times, "<= 2 x + 300 kB", over)
